"""SVDMClassifierCV: number of components and weights chosen by cross-validation, in one batch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import LeaveOneGroupOut, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import (
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_frame,
    check_groups,
    check_number,
)
from svdecode.reduction import SharedGram
from svdecode.svdm.batch import Batch, run_batch
from svdecode.svdm.estimator import SVDMClassifier
from svdecode.svdm.fitting import Weights
from svdecode.svdm.labels import Labels, encode
from svdecode.svdm.parameters import check_solving, check_weights

#: grids that are searched when none is given
SHRINKAGES = (0.01, 0.03, 0.1, 0.3, 1.0)
HINGE_WEIGHTS = (1e2, 1e3, 1e4, 1e5)
#: which weights a formulation has
SEARCHED = {
    "balanced": ("shrinkage",),
    "penalized": ("shrinkage",),
    "constrained": ("hinge_weight",),
    "boxed": ("hinge_weight",),
    "svm": ("shrinkage", "hinge_weight"),
}


def _is_refitted(search: Any) -> bool:
    if not hasattr(search, "best_estimator_"):
        raise AttributeError(
            "refit=False: there is no fitted classifier, only `best_params_` and `cv_results_`"
        )
    return True


class SVDMClassifierCV(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
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
        How to split. With `groups` given the default leaves one group out at a time, else it is
        stratified five-fold.
    refit : bool, default True
        Fit the best combination on all samples.
    n_jobs : int, optional
        Threads for the folds, as in joblib.
    formulation, margin, reconstruction_weight, ridge, basis_norm, scale, kernel, kernel_params, \
init, n_init, solver, rebalance, stopping, tol, max_iter, readout, class_weight, random_state, callback
        As for `SVDMClassifier`, the same for all fits.

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
        candidates = self._candidates()
        check_choice(self.refit, "refit", (True, False))
        check_frame(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        n, m = X.shape
        targets = encode(y, n)
        y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        y = y.ravel() if not targets.multilabel else y
        folds = self._folds(X, y, groups)
        model = self._model(candidates[0])
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        batch = Batch(
            SharedGram(X, self.kernel, **(self.kernel_params or {})),
            y,
            m if linear else 1,
            check_solving(model, n),
            bool(self.scale),
            (self.readout,),
            None,
            self.class_weight,
            int(check_random_state(self.random_state).randint(2**31)),
        )
        accuracy, seconds = self._accuracies(batch, folds, candidates, y)
        self._set_results(accuracy, seconds, candidates)
        self.classes_, self.n_splits_ = targets.classes, len(folds)
        if self.refit:
            self.best_estimator_ = self._model(candidates[self.best_index_]).fit(X, y)
        return self

    def _candidates(self) -> list[Weights]:
        """All combinations, the simplest first: of equals the first is chosen."""
        sizes = sorted({check_count(l, "n_components") for l in _listed(self.n_components, "n_components")})
        probe = check_weights(SVDMClassifier(sizes[0], **self._fixed()))
        searched = SEARCHED[probe.formulation]
        grids = {
            "shrinkage": self._grid("shrinkages", SHRINKAGES, "shrinkage" in searched, reverse=True),
            "hinge_weight": self._grid(
                "hinge_weights", HINGE_WEIGHTS, "hinge_weight" in searched, reverse=False
            ),
        }
        return [
            replace(probe, n_components=l, shrinkage=s, hinge_weight=h)
            for l in sizes
            for s in grids["shrinkage"]
            for h in grids["hinge_weight"]
        ]

    def _grid(self, name: str, usual: tuple[float, ...], is_used: bool, *, reverse: bool) -> list[float]:
        given = getattr(self, name)
        if not is_used:
            if given is not None:
                raise ValueError(
                    f"{name}: found {given!r}, expected None ({self.formulation!r} has no such weight)"
                )
            return [1.0]
        values = usual if given is None else _listed(given, name)
        return sorted({check_number(v, name, positive=name == "shrinkages") for v in values}, reverse=reverse)

    def _fixed(self) -> dict[str, Any]:
        names = SVDMClassifier._get_param_names()
        return {
            name: getattr(self, name)
            for name in names
            if name not in ("n_components", "shrinkage", "hinge_weight")
        }

    def _model(self, weights: Weights) -> SVDMClassifier:
        return SVDMClassifier(
            weights.n_components,
            shrinkage=weights.shrinkage,
            hinge_weight=weights.hinge_weight,
            **self._fixed(),
        )

    def _folds(self, X: Any, y: Labels, groups: Any) -> list[tuple[IntArray, IntArray]]:
        if groups is not None:
            groups = check_groups(groups, X.shape[0])
            if self.cv is None and groups.max() == 0:
                raise ValueError("groups: found one group only, expected at least two")
        cv = (
            LeaveOneGroupOut()
            if self.cv is None and groups is not None
            else check_cv(self.cv, y, classifier=True)
        )
        return [(np.asarray(a), np.asarray(b)) for a, b in cv.split(np.zeros(len(y)), y, groups)]

    def _accuracies(
        self, batch: Batch, folds: list[tuple[IntArray, IntArray]], candidates: list[Weights], y: Labels
    ) -> tuple[FloatArray, FloatArray]:
        accuracy = np.zeros((len(candidates), len(folds)))
        seconds = np.zeros_like(accuracy)
        last = time.perf_counter()
        for cell in run_batch(batch, folds, candidates, n_jobs=self.n_jobs):
            truth = y[folds[cell.fold][1]]
            guess = cell.targets.predict(cell.scores[self.readout])
            right = (guess == truth).all(axis=1) if truth.ndim == 2 else guess == truth
            known = np.array(
                [value == value and value is not None for value in truth.reshape(len(truth), -1)[:, 0]]
            )
            accuracy[cell.candidate, cell.fold] = right[known].mean() if known.any() else np.nan
            now = time.perf_counter()
            seconds[cell.candidate, cell.fold], last = now - last, now
        return accuracy, seconds

    def _set_results(self, accuracy: FloatArray, seconds: FloatArray, candidates: list[Weights]) -> None:
        mean = np.nanmean(accuracy, axis=1)
        params = [
            {"n_components": c.n_components} | {name: getattr(c, name) for name in SEARCHED[c.formulation]}
            for c in candidates
        ]
        self.cv_results_: dict[str, Any] = {
            "mean_fit_time": seconds.mean(axis=1),
            "std_fit_time": seconds.std(axis=1),
            **{
                f"param_{name}": np.ma.MaskedArray([p[name] for p in params], mask=False)
                for name in params[0]
            },
            "params": params,
            **{f"split{i}_test_score": accuracy[:, i] for i in range(accuracy.shape[1])},
            "mean_test_score": mean,
            "std_test_score": np.nanstd(accuracy, axis=1),
            "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
        }
        self.best_index_ = int(np.argmax(mean))
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(mean[self.best_index_])

    @available_if(_is_refitted)
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
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_is_refitted)
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
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_is_refitted)
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
        check_is_fitted(self)
        return self.best_estimator_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.classifier_tags.multi_label = True
        return tags


def _listed(values: Any, name: str) -> list[Any]:
    """An iterable parameter as a list that is not empty; a single number counts as one value."""
    if isinstance(values, str) or values is None:
        raise ValueError(f"{name}: found {values!r}, expected values to try")
    out = [values] if np.ndim(values) == 0 and not isinstance(values, Iterable) else list(values)
    if not out:
        raise ValueError(f"{name}: found no value, expected at least one to try")
    return out
