"""SVDMClassifierCV: number of components and weights chosen by cross-validation, in one batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_choice, read_samples
from svdecode.reduction import SharedGram
from svdecode.svdm.batch import Batch, run_batch
from svdecode.svdm.candidates import Folds, make_candidates, make_folds, sizes_of, tabulate
from svdecode.svdm.common import KernelClassifier
from svdecode.svdm.estimator import SVDMClassifier
from svdecode.svdm.fitting import Weights
from svdecode.svdm.labels import Labels, accuracy, decide, encode, read_labels
from svdecode.svdm.parameters import check_solving, check_weights


class SVDMClassifierCV(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelClassifier, MetaEstimatorMixin, BaseEstimator
):
    """Support Vector Decomposition Machine with its dimension and weights chosen by cross-validation.

    All folds share one Gram matrix: the data are read once, however large the grid is. Each cell is
    the fit that `SVDMClassifier` would make of the fold's training rows.

    Parameters
    ----------
    n_components : iterable of int, default (2, 4, 8, 16)
        Dimensions to try.
    shrinkages : iterable of float, optional
        Values of `shrinkage` to try; (0.01, 0.03, 0.1, 0.3, 1) where the formulation has it.
    hinge_weights : iterable of float, optional
        Values of `hinge_weight` to try; (1e2, 1e3, 1e4, 1e5) where the formulation has it.
    cv : int, splitter or iterable, optional
        How to split. With `groups` given the default leaves one group out at a time, and an integer
        keeps groups together; without, the default is stratified five-fold.
    refit : bool, default True
        Fit the best combination on all samples.
    n_jobs : int, optional
        Threads for the folds, as in joblib.
    formulation : {"balanced", "penalized", "constrained", "boxed", "svm"}, default "balanced"
        Which objective. "constrained": Pereira & Gordon 2006, "penalized": their new formulation,
        "boxed" and "svm": Xi 2007, Parts I and V, "balanced": ours, with a penalty on each block, so
        that minimizers exist and can be certified.
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
        Coordinates to start from; an array has the columns of the largest `n_components`.
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
    best_params_ : dict
        `n_components` and the weights with the highest mean accuracy; of equals, the fewest
        components, then the strongest shrinkage and the lowest hinge weight.
    best_score_ : float
        Their mean accuracy.
    best_index_ : int
        Their place in `cv_results_`.
    best_estimator_ : SVDMClassifier
        Fitted on all samples, with `refit`.
    cv_results_ : dict of arrays
        In the layout of `GridSearchCV`.
    n_splits_ : int
        Number of folds.
    n_iter_ : int
        Iterations of `best_estimator_`.
    classes_ : array
        Class labels.

    See Also
    --------
    SVDMClassifier : One fit.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import SVDMClassifierCV
    >>> rng = np.random.default_rng(0)
    >>> y, runs = np.tile(["face", "house"], 20), np.repeat(np.arange(4), 10)
    >>> X = rng.standard_normal((40, 1000))
    >>> X[y == "face", :200] += 1.0
    >>> search = SVDMClassifierCV(n_components=(2, 4), shrinkages=(0.1, 1.0)).fit(X, y, groups=runs)
    >>> search.best_score_, len(search.cv_results_["params"]), search.n_splits_
    (1.0, 4, 4)
    """

    def __init__(
        self,
        n_components: Iterable[int] = (2, 4, 8, 16),
        *,
        shrinkages: Iterable[float] | None = None,
        hinge_weights: Iterable[float] | None = None,
        cv: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
        formulation: str = "balanced",
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
        self.shrinkages = shrinkages
        self.hinge_weights = hinge_weights
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.formulation = formulation
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

    def fit(self, X: Any, y: Any, groups: Any = None) -> SVDMClassifierCV:
        """Choose, and fit the choice on all samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Samples.
        y : array of shape (n_samples,) or (n_samples, k)
            Class labels or a multi-label indicator. Rows without a known label are trained on, not scored.
        groups : array of shape (n_samples,), optional
            Samples with the same label (a run, a subject) are kept on the same side of each split.

        Returns
        -------
        SVDMClassifierCV
            The fitted object.
        """
        sizes = sizes_of(self.n_components)
        fixed = check_weights(SVDMClassifier(sizes[-1], **self._fixed()))
        candidates = make_candidates(fixed, sizes, self.shrinkages, self.hinge_weights)
        check_choice(self.refit, "refit", (True, False))
        given, X = X, read_samples(self, X, minimum=2)
        n, m = X.shape
        solving = check_solving(self._model(candidates[-1]), n)
        targets = encode(y, n)
        y = read_labels(y, n)
        folds = make_folds(self.cv, targets, groups)
        batch = Batch(
            SharedGram(X, self.kernel, **(self.kernel_params or {})),
            y,
            m if self._is_linear else 1,
            solving,
            bool(self.scale),
            (self.readout,),
            None,
            self.class_weight,
            int(check_random_state(self.random_state).randint(2**31)),
        )
        self._set_results(batch, folds, candidates)
        self.classes_, self.n_splits_ = targets.classes, len(folds)
        if self.refit:
            self.best_estimator_ = self._model(candidates[self.best_index_]).fit(given, y)
            self.n_iter_ = self.best_estimator_.n_iter_
        return self

    def _fixed(self) -> dict[str, Any]:
        searched = ("n_components", "shrinkage", "hinge_weight")
        return {
            name: getattr(self, name) for name in SVDMClassifier._get_param_names() if name not in searched
        }

    def _model(self, weights: Weights) -> SVDMClassifier:
        l, fixed = weights.n_components, self._fixed()
        if not isinstance(self.init, str) and l < max(sizes_of(self.n_components)):
            fixed["init"] = np.asarray(self.init)[:, :l]
        return SVDMClassifier(l, shrinkage=weights.shrinkage, hinge_weight=weights.hinge_weight, **fixed)

    def _set_results(self, batch: Batch, folds: Folds, candidates: list[Weights]) -> None:
        accuracies = np.full((len(candidates), len(folds)), np.nan)
        seconds = np.zeros((2, *accuracies.shape))
        open_ends = 0
        for cell in run_batch(batch, folds, candidates, n_jobs=self.n_jobs):
            targets, scores = cell.targets, cell.scores[self.readout]
            guess = decide(scores, targets.classes, multilabel=targets.multilabel)
            place = cell.candidate, cell.fold
            accuracies[place] = accuracy(batch.y[folds[cell.fold][1]], guess)
            seconds[:, *place] = cell.seconds
            open_ends += not cell.fit.result.converged
        if np.isnan(accuracies).all():
            raise ValueError(
                "y: found no known label among the test rows, expected some in one fold at least"
            )
        if open_ends:
            warnings.warn(
                f"{open_ends} of the {accuracies.size} fits did not converge: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.cv_results_ = tabulate(candidates, accuracies, seconds)
        self.best_index_ = int(np.argmax(self.cv_results_["mean_test_score"]))
        self.best_params_: dict[str, Any] = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])

    @property
    def _best(self) -> SVDMClassifier:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                "refit=False: there is no fitted classifier, only best_params_ and cv_results_"
            )
        return self.best_estimator_

    @property
    def _n_features_out(self) -> int:
        return int(self._best.n_components)

    def predict(self, X: Any) -> Labels:
        """Labels of samples, by the best combination.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            Classes, or a multi-label indicator.
        """
        return self._best.predict(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of samples, by the best combination.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            As `SVDMClassifier.decision_function` gives them.
        """
        return self._best.decision_function(X)

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of samples, by the best combination.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples, n_components)
            As `SVDMClassifier.transform` gives them.
        """
        return self._best.transform(X)
