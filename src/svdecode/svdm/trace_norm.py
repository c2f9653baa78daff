"""TraceNormSVDM: the estimator on the convex problem, whose number of components follows from the weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.convex_solver import solve_trace_norm
from svdecode.svdm.estimator import SVDMClassifier
from svdecode.svdm.fitting import Fit, Solving
from svdecode.svdm.labels import Targets
from svdecode.svdm.objective import Objective
from svdecode.svdm.solver import Result


class TraceNormSVDM(SVDMClassifier):
    """Support Vector Decomposition Machine without local optima: the rank follows from the shrinkage.

    The "balanced" objective minimized over all numbers of components. Its penalties on coordinates, basis
    and discriminants then amount to a trace norm, 2‖[αM₁, βM₂]‖_* of what is fitted to data (M₁) and scores
    (M₂), and the problem is convex: no number of components, no starts, and a duality gap that proves the
    result. α² = shrinkage²/(nm), β² = shrinkage²/(nk).
    `TraceNormSVDM(shrinkage=s)` is the optimum of `SVDMClassifier(l, shrinkage=l * s)` wherever l is at least
    `rank_`, and a lower bound of its objective for any l.

    Parameters
    ----------
    shrinkage : float, default 0.1
        Weight of each component's penalties, ‖z‖²/n + ‖w‖²/m + ‖θ‖²/k. The larger, the fewer components.
    margin : float, default 1.0
        Margin below which the hinge counts (μ).
    reconstruction_weight : float, default 1.0
        Weight of the reconstruction.
    ridge : float, default 0.0
        Ridge on the basis W, in units of ZᵀZ.
    scale : bool, default True
        Divide the centered data by their root mean square, so that weights mean the same on any data.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, default "linear"
        Inner product between samples. With another than "linear" there are no feature-space results.
    kernel_params : dict, optional
        `gamma`, `degree` and `coef0` of the kernel.
    tol : float, default 1e-6
        Duality gap at which to stop, relative to the objective.
    max_iter : int, default 1000
        Iterations at most; a fit that stops there warns.
    readout : {"joint", "refit", "least_squares"}, default "joint"
        Who classifies, as for `SVDMClassifier`.
    class_weight : {None, "balanced"} or dict, default None
        Weight of each class's hinges; "balanced" gives both signs of each problem the same total.
    callback : callable, optional
        Called after each iteration with its number, the objective and the relative duality gap.

    Attributes
    ----------
    rank_ : int
        Number of components; 0 where the penalties leave nothing but mean and bias.
    classes_ : array
        Class labels; the numbers of the columns for a multi-label y.
    components_ : array of shape (rank, n_features)
        Basis images W, in units of the input, the most important first.
    mean_ : array of shape (n_features,)
        Mean image, row 0 of W.
    discriminants_ : array of shape (1 + rank, k)
        Θ, biases first.
    training_coordinates_ : array of shape (n_samples, rank)
        Z, which has seen the labels; `transform` of the same samples has not.
    coef_ : array of shape (k, n_features)
        The discriminants taken back to feature space.
    intercept_ : array of shape (k,)
        Its constants: `X @ coef_.T + intercept_` is the decision function.
    objective_ : float
        Objective reached, of the scaled data.
    objective_history_ : array
        Objective after each iteration; the last is `objective_`.
    optimality_gap_ : float
        How much lower than `objective_` the optimum can be, at most.
    stationarity_ : float
        Residual of the optimality conditions, relative to the objective.
    n_iter_ : int
        Iterations, of five steps each.
    converged_ : bool
        Whether the gap got to `tol`.
    scale_ : float
        What the centered data were divided by.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    SVDMClassifier : The same with a chosen number of components.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import SVDMClassifier, TraceNormSVDM
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["face", "house"], 30)
    >>> X = rng.standard_normal((60, 5000))
    >>> X[y == "face", :300] += 1.0
    >>> model = TraceNormSVDM(shrinkage=0.15).fit(X[::2], y[::2])
    >>> model.rank_, model.score(X[1::2], y[1::2])
    (29, 1.0)
    >>> proved = model.objective_ - model.optimality_gap_  # no SVDM with these penalties lies lower
    >>> bool(proved <= SVDMClassifier(5, shrinkage=5 * 0.15).fit(X[::2], y[::2]).objective_)
    True
    """

    # what a convex problem leaves nobody to choose; one component, because shrinkage is a component's
    n_components, formulation, hinge_weight, basis_norm = 1, "balanced", 1.0, "unit"
    init, n_init, random_state = "svd", 1, None
    solver, rebalance, stopping = "auto", True, "stationary"
    _advice = "Raise max_iter or tol"

    def __init__(
        self,
        shrinkage: float = 0.1,
        *,
        margin: float = 1.0,
        reconstruction_weight: float = 1.0,
        ridge: float = 0.0,
        scale: bool = True,
        kernel: str | Callable[..., Any] = "linear",
        kernel_params: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        readout: str = "joint",
        class_weight: Any = None,
        callback: Callable[[int, float, float], None] | None = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.margin = margin
        self.reconstruction_weight = reconstruction_weight
        self.ridge = ridge
        self.scale = scale
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.readout = readout
        self.class_weight = class_weight
        self.callback = callback

    def _minimize(
        self,
        objective: Objective,
        rank: int,  # noqa: ARG002
        solving: Solving,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> tuple[Result, FloatArray]:
        """The optimum, whatever its rank."""
        result, self._bound = solve_trace_norm(
            objective, tol=solving.tol, max_iter=solving.max_iter, callback=solving.callback
        )
        return result, np.array([result.objective])

    def _set_results(self, fit: Fit, targets: Targets) -> None:
        """What the fit says of itself; the gap is to the best bound that was met on the way."""
        super()._set_results(fit, targets)
        del self.init_objectives_  # there are no starts
        self.optimality_gap_ = max(fit.result.objective - self._bound, 0.0)
        self.rank_ = len(fit.result.factors.W)

    def add_component(self, X: Any, y: Any, sample_weight: Any = None) -> NoReturn:  # noqa: ARG002
        """Nothing can be added: the optimum has all the components that are worth their penalties.

        Parameters
        ----------
        X : object
            Not looked at.
        y : object
            Not looked at.
        sample_weight : object, optional
            Not looked at.
        """
        raise ValueError("shrinkage: found that it sets the rank, expected a lower one for more components")

    @property
    def _n_features_out(self) -> int:
        return int(self.rank_)
