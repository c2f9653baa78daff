"""SVDMClassifier: validates, dispatches, names the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from svdecode._checks import FloatArray, read_samples
from svdecode._threads import threads_for
from svdecode.reduction import reduce_rows
from svdecode.svdm.common import warn_of
from svdecode.svdm.compiling import announce_compilation
from svdecode.svdm.escape import CanEscape
from svdecode.svdm.fitting import Fit, Solving, all_rows_equal, data_scale, make_objective, solve
from svdecode.svdm.labels import encode, hinge_weights
from svdecode.svdm.objective import Objective
from svdecode.svdm.parameters import check_solving, check_weights
from svdecode.svdm.published import ReadsSamples
from svdecode.svdm.solver import Result

announce_compilation()


#: objective, rank of the data, how to solve, random numbers -> best result, what each start ended with
Minimizer = Callable[[Objective, int, Solving, np.random.Generator], tuple[Result, FloatArray]]


class SVDMClassifier(CanEscape, ReadsSamples, BaseEstimator):
    """Support Vector Decomposition Machine: components and the classifiers that read them, in one objective.

    The data are decomposed, X ≈ ZW, while linear classifiers on the coordinates Z predict the labels,
    Y ≈ sign(ZΘ): reconstruction error plus hinge loss plus penalties, minimized over Z, W and Θ. So the
    components are those that describe the data *and* tell the classes apart. Everything behind the
    first pass over the data costs the same for a thousand features as for a million.

    Parameters
    ----------
    n_components : int, default 8
        Dimension of the representation (the papers' l). Above the rank of the data spare coordinates
        are 0.
    formulation : {"balanced", "penalized", "constrained", "boxed", "svm"}, default "balanced"
        Which objective. "constrained": Pereira & Gordon 2006, "penalized": their new formulation,
        "boxed" and "svm": Xi 2007, Parts I and V, "balanced": ours, with a penalty on each block, so
        that minimizers exist and can be certified.
    shrinkage : float, default 0.1
        Weight of the penalties of "balanced" and "penalized" (D), and of Θ in "svm" (λ).
    hinge_weight : float, default 100.0
        Slope of the hinge in "constrained" (D), "boxed" (λ) and "svm" (λC). The hinge of the others
        has weight 1/(nk).
    margin : float, default 1.0
        Margin below which the hinge counts (μ).
    reconstruction_weight : float, default 1.0
        Weight of the reconstruction in "balanced" and "penalized".
    ridge : float, default 0.0
        Ridge on the basis W, in units of ZᵀZ (2006, §2.4.1), in every formulation.
    basis_norm : {"unit", "at_most_one", "free"}, default "unit"
        Rows of W in "boxed" and "svm". Only unit rows make these well posed.
    scale : bool, default True
        Divide the centered data by their root mean square, so that weights mean the same on any data.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, default "linear"
        Inner product between samples. With another than "linear" there are no feature-space results.
    kernel_params : dict, optional
        `gamma`, `degree` and `coef0` of the kernel.
    init : {"svd", "random"} or array of shape (n_samples, n_components), default "svd"
        Coordinates to start from.
    n_init : int, default 1
        Number of starts, of which the best is kept; those after the first are random.
    solver : {"auto", "splitting", "alternating"}, default "auto"
        "alternating" is the papers' block-by-block minimization, which can stop where it should not;
        "splitting" gives the scores a variable of their own, minimizes over all blocks together and
        reaches stationary points. "auto" is "alternating" for `stopping="decrease"` and for "boxed"
        and "svm", else "splitting".
    rebalance : bool, default True
        Let alternation re-balance the factors of "balanced" after each sweep.
    stopping : {"stationary", "decrease"}, default "stationary"
        Stop where the residual of the optimality conditions is at most `tol`, or, the papers' rule,
        where an iteration lowers the objective by less than the share `tol` (theirs are 1e-3 and 1e-4).
    tol : float, default 1e-6
        See `stopping`.
    max_iter : int, default 1000
        Iterations at most; a fit that stops there warns.
    readout : {"joint", "refit", "least_squares"}, default "joint"
        Classify by the discriminants of the fit ("joint"), or by discriminants fitted anew on the training
        samples' label-free coordinates: by the fit's own hinge problem ("refit"), or by a regression of
        the labels ("least_squares"; with `reconstruction_weight=0.1` it often does best).
    class_weight : {None, "balanced"} or dict, default None
        Weight of each class's hinges; "balanced" gives both signs of each problem the same total.
    random_state : int, Generator-like or None, default None
        Seed of random starts.
    callback : callable, optional
        Called after each iteration with its number, the objective and the optimality residual.

    Attributes
    ----------
    classes_ : array
        Class labels; the numbers of the columns for a multi-label y.
    components_ : array of shape (n_components, n_features)
        Basis images W, in units of the input.
    mean_ : array of shape (n_features,)
        Mean image, row 0 of W.
    discriminants_ : array of shape (1 + n_components, k)
        Θ, biases first.
    training_coordinates_ : array of shape (n_samples, n_components)
        Z, which has seen the labels; `transform` of the same samples has not.
    coef_ : array of shape (k, n_features)
        The discriminants taken back to feature space.
    intercept_ : array of shape (k,)
        Its constants: `X @ coef_.T + intercept_` is the decision function ("constrained": while no
        coordinates are confined by their ball).
    objective_ : float
        Objective reached, of the scaled data.
    objective_history_ : array
        Objective after each iteration; the last is `objective_`.
    init_objectives_ : array of shape (n_init,)
        What each start ended with.
    stationarity_ : float
        Residual of the optimality conditions with one multiplier matrix for all blocks, relative to the
        objective; NaN where nothing holds the coordinates ("boxed" and "svm" without unit rows).
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether the stopping rule was met.
    optimality_gap_ : float
        "balanced": how much lower than `objective_` any point can be, at most, whatever its number of
        components (given the weights of the penalties); NaN for the other formulations.
    scale_ : float
        What the centered data were divided by.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    GenSVD : Coordinates as wide in training as they are for new samples.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import SVDMClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["face", "house"], 30)
    >>> X = rng.standard_normal((60, 5000))
    >>> X[y == "face", :300] += 1.0
    >>> model = SVDMClassifier(n_components=3).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2])
    1.0
    >>> model.components_.shape, model.coef_.shape
    ((3, 5000), (1, 5000))
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
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
    ) -> None:
        self.n_components = n_components
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn components and classifiers.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training samples; with `kernel="precomputed"` the kernel matrix.
        y : array of shape (n_samples,) or (n_samples, k)
            Class labels, or a multi-label indicator in {0, 1}. NaN (None) where a label is not known:
            such samples take part in the reconstruction.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples' hinges. All samples count alike in the reconstruction.

        Returns
        -------
        SVDMClassifier
            The fitted object.
        """
        return self._fit(X, y, sample_weight, self._minimize)

    def _fit(self, X: Any, y: Any, sample_weight: Any, minimize: Minimizer) -> Self:
        """Learn by a minimizer of the objective."""
        weights = check_weights(self)
        X = read_samples(self, X, minimum=2)
        n, m = X.shape
        solving = check_solving(self, n)
        targets = encode(y, n)
        entry_weights = hinge_weights(targets, sample_weight, self.class_weight)
        reduction = reduce_rows(X, kernel=self.kernel, **(self.kernel_params or {}))
        if all_rows_equal(reduction):
            raise ValueError("X: found rows that are all equal, expected samples that differ")
        n_features = m if self._is_linear else 1
        scale = data_scale(reduction.coordinates, n_features) if self.scale else 1.0
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        with threads_for(reduction.coordinates.size):
            objective = make_objective(reduction, targets, entry_weights, weights, n_features, scale)
            result, ends = minimize(objective, reduction.rank, solving, rng)
            fit = Fit(objective, result, ends, scale)
            self._set_results(fit, targets)
        warn_of(fit, weights, self._advice)
        self._set_reading(fit, reduction)
        return self

    def _minimize(
        self, objective: Objective, rank: int, solving: Solving, rng: np.random.Generator
    ) -> tuple[Result, FloatArray]:
        """Best of all starts, and what each of them ended with."""
        return solve(objective, min(self.n_components, rank), solving, rng)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)
