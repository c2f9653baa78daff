"""From rows and labels to a minimized objective: reduction, scale, starts, the best of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svdecode._checks import FloatArray
from svdecode.reduction import Reduction
from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.labels import Targets
from svdecode.svdm.multipliers import applies
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.solver import Callback, Result, minimise
from svdecode.svdm.starts import choose_start

#: what unseen coordinates may cost where only their infimum, 0, is optimal: this share of the objective
UNSEEN_COST = 1e-8
#: relative difference up to which two objectives count as the same
SAME = 1e-6


@dataclass(frozen=True)
class Weights:
    """What a user chooses about the objective; names as in `SVDMClassifier`."""

    formulation: str
    n_components: int
    shrinkage: float
    hinge_weight: float
    margin: float
    reconstruction_weight: float
    ridge: float
    basis_norm: str


@dataclass(frozen=True)
class Solving:
    """What a user chooses about the way to the minimum; names as in `SVDMClassifier`."""

    solver: str
    stopping: str
    tol: float
    max_iter: int
    rebalance: bool
    init: Any
    n_init: int
    callback: Callback | None = None

    def scheme(self, objective: Objective) -> str:
        """Name of the scheme that is meant.

        Parameters
        ----------
        objective : Objective
            The formulation on its data.

        Returns
        -------
        {"multipliers", "anderson", "alternating"}
            "auto" alternates with the papers' stopping rule, and where rows of W are confined (there
            is nothing stationary to reach); else it splits, as "splitting" does, by the method of
            multipliers where that applies.
        """
        by_blocks = self.stopping == "decrease" or not objective.reconstruction.mean_is_free
        if self.solver == "alternating" or (self.solver == "auto" and by_blocks):
            return "alternating"
        return "multipliers" if applies(objective) else "anderson"


@dataclass(frozen=True)
class Fit:
    """The best of all starts, in reduced and scaled coordinates.

    Attributes
    ----------
    objective : Objective
        The formulation as it is published (not the infimum's own form).
    result : Result
        Of the best start; its factors are those of `objective`.
    start_objectives : array
        What each start ended with.
    scale : float
        s: the data in units of the input are s times what was fitted.
    """

    objective: Objective
    result: Result
    start_objectives: FloatArray
    scale: float

    @property
    def is_unheld(self) -> bool:
        """Whether nothing holds the coordinates, so that start and stopping rule define the result.

        `boxed` and `svm` without unit rows: (cZ, W/c, Θ/c) or (cZ, W/c, Θ) lowers the objective for
        ever. (`penalized` and `constrained` have an infimum that can be computed.)
        """
        z = self.objective.z
        return not self.objective.attained and z.ridge == 0 and not np.isfinite(z.radius)


def data_scale(coordinates: FloatArray, n_features: int) -> float:
    """s = √(‖X_c‖²_F/(nm)), 1 where all rows are equal.

    Parameters
    ----------
    coordinates : array of shape (n, r)
        Centered rows in reduced coordinates.
    n_features : int
        m; 1 for a kernel.

    Returns
    -------
    float
        The scale.
    """
    square = float(np.vdot(coordinates, coordinates)) / (len(coordinates) * n_features)
    return float(np.sqrt(square)) if square > 0 else 1.0


def all_rows_equal(reduction: Reduction) -> bool:
    """Tell whether there is nothing to decompose: what is left by the mean is rounding error at most.

    Parameters
    ----------
    reduction : Reduction
        Of the training rows.

    Returns
    -------
    bool
        True where all rows are the same.
    """
    L = reduction.coordinates
    # a Gram matrix has shed its rounding errors; n ≥ m features stand as they are
    noise = 4 * np.finfo(float).eps * np.abs(reduction.mean).max() if reduction.dual is None else 0.0
    return float(np.abs(L).max(initial=0.0)) <= noise


def make_objective(
    reduction: Reduction,
    targets: Targets,
    entry_weights: FloatArray,
    weights: Weights,
    n_features: int,
    scale: float,
) -> Objective:
    """Put the formulation on reduced data.

    Parameters
    ----------
    reduction : Reduction
        Of the training rows.
    targets : Targets
        Their labels.
    entry_weights : array of shape (n, k)
        Weights of the hinges.
    weights : Weights
        The hyper-parameters.
    n_features : int
        m; 1 for a kernel.
    scale : float
        s.

    Returns
    -------
    Objective
        The sum of terms.
    """
    return FORMULATIONS[weights.formulation](
        Problem(
            np.ascontiguousarray(reduction.coordinates / scale),
            targets.Y,
            entry_weights,
            n_features,
            weights.n_components,
            weights.shrinkage,
            weights.hinge_weight,
            weights.margin,
            weights.reconstruction_weight,
            weights.ridge,
            weights.basis_norm,
        )
    )


def infimum(objective: Objective, n_components: int) -> Objective:
    """The objective whose minimum is the infimum of one that is not attained.

    Where W costs nothing and there are more coordinates than labels, those that no discriminant
    sees shrink to nothing: in the limit they fit X freely and cost nothing.

    Parameters
    ----------
    objective : Objective
        `penalized` or `constrained`.
    n_components : int
        Number of coordinates.

    Returns
    -------
    Objective
        With its last l − min(k, l) coordinates unseen.
    """
    seen = min(objective.Y.shape[1], n_components)
    return replace(objective, n_unseen=n_components - seen)


def as_published(objective: Objective, factors: Factors) -> Factors:
    """Factors of the infimum's form as factors of the published objective, [S, εF] and [W_S; W_F/ε].

    Parameters
    ----------
    objective : Objective
        The infimum's form.
    factors : Factors
        A point of it.

    Returns
    -------
    Factors
        The published objective is at most about 1e-8 of itself higher there.
    """
    seen = factors.Z.shape[1] - objective.n_unseen
    Z, W = factors.Z.copy(), factors.W.copy()
    F = Z[:, seen:]
    if np.isfinite(objective.z.radius):
        # inside the ball together: ‖s‖² + ‖εf‖² ≤ radius²
        epsilon = (
            np.sqrt(UNSEEN_COST) * objective.z.radius / max(float(np.linalg.norm(F, axis=1).max()), 1e-300)
        )
        lengths = np.linalg.norm(Z[:, :seen], axis=1)
        room = np.sqrt(np.maximum(objective.z.radius**2 - epsilon**2 * (F**2).sum(axis=1), 0.0))
        Z[:, :seen] *= np.minimum(1.0, room / np.maximum(lengths, 1e-300))[:, None]
    else:
        cost = objective.z.ridge * float(np.vdot(F, F))
        epsilon = np.sqrt(UNSEEN_COST * objective.value(factors) / cost) if cost > 0 else 1.0
    Z[:, seen:] *= epsilon
    W[seen:] /= epsilon
    return factors._replace(Z=Z, W=W)


def solve(
    objective: Objective, n_components: int, solving: Solving, rng: np.random.Generator
) -> tuple[Result, FloatArray]:
    """Minimize from every start and keep the best.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.
    n_components : int
        Number of coordinates, at most the rank.
    solving : Solving
        Scheme, stopping rule and starts.
    rng : Generator
        Source of random starts.

    Returns
    -------
    result : Result
        The best one.
    start_objectives : array
        What each start ended with.
    """
    target, scheme = objective, solving.scheme(objective)
    if not objective.attained and scheme != "alternating" and objective.w.constraint == 0:
        target = infimum(objective, n_components)
    best: Result | None = None
    ends = []
    for attempt in range(solving.n_init):
        start = choose_start(
            target, solving.init, n_components, rng, attempt, with_labels=scheme == "multipliers"
        )
        result = _go(target, start, scheme, solving)
        if result.target.n_unseen:
            result = _published(objective, result)
        ends.append(result.objective)
        if best is None or result.objective < best.objective:
            best = result
    assert best is not None
    return best, np.array(ends)


def _go(target: Objective, start: Factors, scheme: str, solving: Solving) -> Result:
    """One scheme from one start; where the method of multipliers gets stuck, the other splitting too."""

    def by(scheme: str) -> Result:
        return minimise(
            target,
            Factors(*(block.copy() for block in start)),
            solver=scheme,
            stopping=solving.stopping,
            tol=solving.tol,
            max_iter=solving.max_iter,
            rebalance=solving.rebalance,
            callback=solving.callback,
        )

    result = by(scheme)
    if result.converged or scheme != "multipliers" or result.n_iter >= solving.max_iter:
        return result
    other = by("anderson")
    same = abs(other.objective - result.objective) <= SAME * abs(result.objective)
    return other if (other.converged and same) or other.objective < result.objective else result


def _published(objective: Objective, result: Result) -> Result:
    factors = as_published(result.target, result.factors)
    value = objective.value(factors)
    return replace(
        result,
        factors=factors,
        objective=value,
        history=np.maximum(np.append(result.history[:-1], value), value),
    )
