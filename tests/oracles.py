"""Independent answers: convex models in cvxpy solved by Clarabel, objectives recomputed in numpy.

Hinges are written with explicit slacks: several solvers behind cvxpy report "optimal" with a wrong
answer for `sum(pos(1 - Y * A @ w))`.
"""

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TIGHT = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13, "max_iter": 200}


def solve(objective: cp.Expression, constraints: list[cp.Constraint]) -> None:
    """Minimize with Clarabel as far as it gets; raise where it finds no solution at all."""
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, **TIGHT)
    assert problem.status in {"optimal", "optimal_inaccurate"}, problem.status


def hinge_value(
    theta: Array, design: Array, margins: Array, weights: Array, H: Array, center: Array
) -> float:
    """Value of ½(θ − center)ᵀdiag(H)(θ − center) + Σ weights · max(margins − design θ, 0)."""
    hinge = np.maximum(margins - design @ theta, 0.0)
    return float(0.5 * H @ (theta - center) ** 2 + weights @ hinge)


def hinge_minimum(
    design: Array,
    margins: Array,
    weights: Array,
    H: Array,
    center: Array,
    constraint: str = "none",
    radius: float = 1.0,
) -> tuple[Array, float]:
    """Minimizer and minimum of `hinge_value`, θ free, in a box or in a ball.

    Solved in units in which the margins and the sum of the weights are of order one. Where the
    hinge can be met and its weight is huge, any error of the solver costs weight × error; so the
    answer is the better one of the soft problem and, where feasible, the hard-margin problem.
    """
    on = weights > 0
    design, margins, weights = design[on], margins[on], weights[on]
    p = H.size
    theta, slack = cp.Variable(p), cp.Variable(margins.size, nonneg=True)
    unit = 1.0 / max(weights.sum(), 1e-300)
    limits: list[cp.Constraint] = []
    if constraint == "box":
        limits = [cp.abs(theta) <= radius]
    elif constraint == "ball":
        limits = [cp.norm(theta) <= radius]
    root = np.sqrt(0.5 * H * unit)
    quadratic = cp.sum_squares(cp.multiply(root, theta - center))
    candidates = []
    fits = design @ theta
    for soft in (True, False):
        fixed = [fits + slack >= margins] if soft else [fits >= margins]
        objective = quadratic + (unit * weights) @ slack if soft else quadratic / max(root.max() ** 2, 1e-300)
        try:
            solve(objective, fixed + limits)
        except (AssertionError, cp.SolverError):
            assert not soft
            continue
        candidates.append(_inside(theta.value, constraint, radius))
    values = [hinge_value(t, design, margins, weights, H, center) for t in candidates]
    best = int(np.argmin(values))
    return candidates[best], values[best]


def _inside(theta: Array, constraint: str, radius: float) -> Array:
    if constraint == "box":
        return np.clip(theta, -radius, radius)
    if constraint == "ball":
        return theta * min(1.0, radius / max(float(np.linalg.norm(theta)), 1e-300))
    return np.asarray(theta)


def tolerance(best: float, weights: Array, margin: float) -> float:
    """What DESIGN.md calls correct: 1e-6 of the objective, or of 1e-6 of the hinge at zero."""
    return 1e-6 * max(abs(best), 1e-6 * float(weights.sum()) * margin)
