"""SVDMDecoder: images in, labels and images out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from svdecode._checks import check_choice, check_groups
from svdecode.imaging import masked
from svdecode.imaging.decoding import ImageClassifier


class SVDMDecoder(ImageClassifier):
    """Support Vector Decomposition Machine on brain images: images in, labels and maps out.

    Images are read within a mask by nilearn's maskers and classified by one `SVDMClassifier`: all classes
    share one low-dimensional representation. Its weights can be chosen inside, by leaving out one run after
    another.

    Parameters
    ----------
    n_components : int or iterable of int, default=8
        Dimension of the representation (the papers' l); of several the best is chosen.
    mask : path, nibabel image, NiftiMasker, SurfaceImage, SurfaceMasker or None, default=None
        Where to look. A masker's own parameters are used. None computes one from the images.
    standardize : {"training", "zscore_sample", "psc", True, False, None}, default="training"
        "training": by the mean and standard deviation of each voxel over the training images, for new
        images too. "zscore_sample" (True) and "psc" are nilearn's: the images of each call by their own,
        within runs; what is predicted of an image then depends on those that come with it.
    smoothing_fwhm : float or None, default=None
        Smoothing of volumes, in mm.
    target_affine : array or None, default=None
        Resample volumes to this affine. Without it, images on another grid than the mask's are refused.
    target_shape : tuple or None, default=None
        And to this shape.
    mask_strategy : {"background", "epi", "whole-brain-template"}, default="background"
        How a mask of volumes is computed.
    shrinkages : iterable of float or None, default=None
        Values of `shrinkage` to choose among, as `SVDMClassifierCV` does.
    hinge_weights : iterable of float or None, default=None
        Values of `hinge_weight` to choose among.
    cv : int, splitter, iterable or None, default=None
        How to choose; None leaves out one run after another, where runs are given.
    n_jobs : int or None, default=None
        Processes of the choice.
    formulation : {"balanced", "penalized", "constrained", "boxed", "svm"}, default="balanced"
        Which objective; this and all below as in `SVDMClassifier`.
    shrinkage : float, default=0.1
        Weight of the penalties.
    hinge_weight : float, default=100.0
        Slope of the hinge, for the formulations that have one.
    margin : float, default=1.0
        Margin below which the hinge counts.
    reconstruction_weight : float, default=1.0
        Weight of the reconstruction.
    ridge : float, default=0.0
        Ridge on the basis.
    basis_norm : {"unit", "at_most_one", "free"}, default="unit"
        Rows of the basis in "boxed" and "svm".
    scale : bool, default=True
        Divide the centered data by their root mean square.
    kernel : {"linear", "rbf", "polynomial"} or callable, default="linear"
        Inner product between samples. Only the linear one has maps.
    kernel_params : dict or None, default=None
        Parameters of the kernel.
    init : {"svd", "random"} or array, default="svd"
        Where the fit starts.
    n_init : int, default=1
        Number of starts.
    solver : {"auto", "splitting", "alternating"}, default="auto"
        How it is minimized.
    rebalance : bool, default=True
        Let alternation re-balance the factors.
    stopping : {"stationary", "decrease"}, default="stationary"
        When it stops.
    tol : float, default=1e-6
        See `stopping`.
    max_iter : int, default=1000
        Iterations at most.
    readout : {"joint", "refit", "least_squares"}, default="joint"
        Which discriminants read new samples.
    class_weight : {None, "balanced"} or dict, default=None
        Weight of each class's hinges.
    random_state : int, RandomState or None, default=None
        Seed of random starts.
    callback : callable or None, default=None
        Called after each iteration.
    memory : joblib.Memory, path or None, default=None
        Where the masker keeps what it has read.
    memory_level : int, default=0
        How much of it.
    verbose : int, default=0
        1 tells the steps, 2 lets the masker speak, 3 tells how the fit ended.

    Attributes
    ----------
    best_params_ : dict or None
        What was chosen, where there was a choice.
    classes_ : array
        Class labels.
    coef_ : array of shape (k, n_elements)
        Weights of the voxels, of the standardized values; one row for two classes. None without a linear
        kernel, as the maps below.
    coef_img_ : dict of images
        For each class the map of its weights; of two classes one is the other's negative.
    components_img_ : image
        The basis images, a volume each.
    estimator_ : SVDMClassifier
        The fit.
    intercept_ : array of shape (k,)
        Constants of the decision function.
    mask_img_ : image
        The mask.
    masker_ : NiftiMasker or SurfaceMasker
        What reads images.
    mean_ : array of shape (n_elements,) or None
        What is subtracted from new images, with `standardize="training"`.
    n_elements_ : int
        Number of voxels.
    pattern_img_ : dict of images
        For each class the pattern that its score picks up: how voxels vary with it (Haufe et al. 2014).
        Weights also cancel noise, patterns show where the signal is.
    scale_ : array of shape (n_elements,) or None
        What new images are divided by, with `standardize="training"`.
    search_ : SVDMClassifierCV or None
        The choice, with its table `cv_results_`.

    See Also
    --------
    SVDMClassifier : The same on arrays.
    read_dataset : Images as an array with labels.

    Examples
    --------
    >>> from svdecode import SVDMDecoder
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> data = load_haxby2001_slice()
    >>> train = data.select(data.runs <= 8)
    >>> decoder = SVDMDecoder(32, mask=data.mask, shrinkages=(0.3, 1.0))
    >>> decoder = decoder.fit(train.image(train.X), train.y, train.runs)
    >>> test = data.select(data.runs > 8)
    >>> decoder.score(test.image(test.X), test.y) > 0.5
    True
    >>> decoder.coef_img_["face"].shape, decoder.components_img_.shape
    ((40, 20, 1), (40, 20, 1, 32))
    """

    def __init__(
        self,
        n_components: int | Iterable[int] = 8,
        *,
        mask: Any = None,
        standardize: Any = "training",
        smoothing_fwhm: float | None = None,
        target_affine: Any = None,
        target_shape: Any = None,
        mask_strategy: str = "background",
        shrinkages: Iterable[float] | None = None,
        hinge_weights: Iterable[float] | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        formulation: str = "balanced",
        shrinkage: float = 0.1,
        hinge_weight: float = 100.0,
        margin: float = 1.0,
        reconstruction_weight: float = 1.0,
        ridge: float = 0.0,
        basis_norm: str = "unit",
        scale: bool = True,
        kernel: str | Callable[..., Any] = "linear",
        kernel_params: dict[str, Any] | None = None,
        init: Any = "svd",
        n_init: int = 1,
        solver: str = "auto",
        rebalance: bool = True,
        stopping: str = "stationary",
        tol: float = 1e-6,
        max_iter: int = 1000,
        readout: str = "joint",
        class_weight: Any = None,
        random_state: Any = None,
        callback: Callable[[int, float, float], None] | None = None,
        memory: Any = None,
        memory_level: int = 0,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.mask = mask
        self.standardize = standardize
        self.smoothing_fwhm = smoothing_fwhm
        self.target_affine = target_affine
        self.target_shape = target_shape
        self.mask_strategy = mask_strategy
        self.shrinkages = shrinkages
        self.hinge_weights = hinge_weights
        self.cv = cv
        self.n_jobs = n_jobs
        self.formulation = formulation
        self.shrinkage = shrinkage
        self.hinge_weight = hinge_weight
        self.margin = margin
        self.reconstruction_weight = reconstruction_weight
        self.ridge = ridge
        self.basis_norm = basis_norm
        self.scale = scale
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.rebalance = rebalance
        self.stopping = stopping
        self.tol = tol
        self.max_iter = max_iter
        self.readout = readout
        self.class_weight = class_weight
        self.random_state = random_state
        self.callback = callback
        self.memory = memory
        self.memory_level = memory_level
        self.verbose = verbose

    def fit(self, imgs: Any, y: Any, runs: Any = None) -> SVDMDecoder:
        """Read images and learn from them.

        Parameters
        ----------
        imgs : volumes or surfaces, in memory or their paths; a list or a single 4-D image
            Training images.
        y : array of shape (n_samples,)
            Class labels, or a multi-label indicator, as `SVDMClassifier` takes them.
        runs : array of shape (n_samples,), optional
            Run of each image: left out together in choosing weights, standardized together.

        Returns
        -------
        SVDMDecoder
            The fitted object.
        """
        check_choice(self.standardize, "standardize", masked.STANDARDIZATIONS)
        images = masked.images_of(imgs)
        self.masker_ = masked.make_masker(self, images)
        self.mask_img_ = self.masker_.mask_img_
        X = masked.read_rows(self, self.masker_, images)
        self.n_elements_ = X.shape[1]
        self._say(1, f"{len(X)} images of {X.shape[1]} voxels")
        if y is None:
            raise ValueError(
                "y: found None, expected labels (requires y to be passed, but the target y is None)"
            )
        if len(y) != len(X):
            raise ValueError(
                f"y: found {len(y)} labels, expected one for each of the {len(X)} images (inconsistent "
                "numbers of samples)"
            )
        units = None if runs is None else check_groups(runs, len(X), "runs")
        self.mean_ = self.scale_ = None
        if isinstance(self.standardize, str) and self.standardize == "training":
            self.mean_, spread = X.mean(axis=0), X.std(axis=0)
            # a voxel that varies by rounding alone is constant
            self.scale_ = np.where(spread > 1e-10 * np.abs(self.mean_), spread, 1.0)
        X = self._standardized(X, units)
        self._fit_rows(X, y, runs)
        self._set_maps(X)
        return self
