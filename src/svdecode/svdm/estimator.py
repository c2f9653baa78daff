"""SVDMClassifier: validates, dispatches, names the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, read_samples, refuse_non_finite
from svdecode._threads import threads_for
from svdecode.reduction import Reduction, reduce_rows
from svdecode.svdm.common import KernelClassifier, warn_of
from svdecode.svdm.compiling import announce_compilation
from svdecode.svdm.convex import optimality_gap
from svdecode.svdm.fitting import Fit, Solving, all_rows_equal, data_scale, make_objective, solve
from svdecode.svdm.labels import Labels, Targets, decide, encode, hinge_weights
from svdecode.svdm.objective import Objective
from svdecode.svdm.parameters import check_solving, check_weights
from svdecode.svdm.reading import READOUTS, coordinates, linear_map, reader
from svdecode.svdm.solver import Result

announce_compilation()


class SVDMClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelClassifier, BaseEstimator):
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVDMClassifier:
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
            result, ends = self._minimize(objective, reduction.rank, solving, rng)
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

    def _set_results(self, fit: Fit, targets: Targets) -> None:
        """What the fit says of itself."""
        result = fit.result
        self.classes_ = targets.classes
        self.objective_ = result.objective
        self.objective_history_ = result.history
        self.init_objectives_ = fit.start_objectives
        self.stationarity_ = float("nan") if fit.is_unheld else result.stationarity
        self.optimality_gap_ = optimality_gap(fit.objective, result.factors, result.multipliers)
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.scale_ = fit.scale
        self._multilabel = targets.multilabel

    def _set_reading(self, fit: Fit, reduction: Reduction) -> None:
        """What new samples need: plain arrays, for a kernel the reduction too; and the spare coordinates."""
        factors = fit.result.factors
        read = READOUTS[self.readout](fit.objective, factors)
        self._reader = reader(fit.objective, read)
        spare = (0, self._n_features_out - len(read.W))
        self.training_coordinates_ = np.pad(factors.Z, ((0, 0), spare))
        self.discriminants_ = np.pad(np.vstack([read.bias, read.Theta]), (spare, (0, 0)))
        self._reduction: Reduction | None = None
        if not self._is_linear:
            self._reduction, self._basis, self._origin = reduction, read.W, read.mean
            return
        lifted, mean = reduction.lift_with_mean(fit.scale * np.vstack([read.W, read.mean]))
        self.components_ = np.pad(lifted[:-1], (spare, (0, 0))) if spare[1] else lifted[:-1]
        self.mean_ = mean + lifted[-1]
        to_scores = linear_map(self._reader) @ read.Theta / fit.scale**2
        self.coef_ = to_scores.T @ lifted[:-1]
        self.intercept_ = read.bias - self.coef_ @ self.mean_

    def _coordinates(self, X: Any) -> FloatArray:
        """Label-free coordinates, without the spare ones."""
        check_is_fitted(self)
        X = read_samples(self, X, reset=False)
        if self._reduction is not None:
            inner = (self._reduction.transform(X) / self.scale_ - self._origin) @ self._basis.T
        else:
            images = self.components_[: len(self._reader["quadratic"])]
            with np.errstate(over="ignore", invalid="ignore"):
                inner = np.asarray(X @ images.T - self.mean_ @ images.T) / self.scale_**2
            if not np.isfinite(inner).all():
                refuse_non_finite(X)
        return coordinates(self._reader, inner)

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of samples, without their labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples (for "precomputed", their kernel values with the training samples).

        Returns
        -------
        array of shape (n_samples, n_components)
            z* = argmin of the objective over z without the hinge.
        """
        Z = self._coordinates(X)
        return np.pad(Z, ((0, 0), (0, self._n_features_out - Z.shape[1])))

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            z*Θ + b; one column a class, a single score for two classes.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> FloatArray:
        Z = self._coordinates(X)
        return np.asarray(Z @ self.discriminants_[1 : 1 + Z.shape[1]] + self.discriminants_[0])

    def predict(self, X: Any) -> Labels:
        """Labels of samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            Classes, or a multi-label indicator.
        """
        return decide(self._scores(X), self.classes_, multilabel=self._multilabel)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)
