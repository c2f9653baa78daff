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
