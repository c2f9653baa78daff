"""What the convex models share: variables, fit, hinges with slacks, penalties, and the call of the solver."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.terms import BALL, BOX, NORM_AT_MOST_ONE, NORM_ONE

#: products Z_ik·[W Θ]_kj of a model: an enclosure of 10 000 takes a second, one of 30 000 half a minute
MAX_PRODUCTS = 20_000
TOLERANCE = 1e-9  # of the solver


class Relaxed(NamedTuple):
    """Optimum of a convex model, where a product need not be the product of its factors."""

    factors: Factors
    """Z, W and Θ as the model has them, inside their (convex) constraints up to the solver's accuracy."""
    products: FloatArray
    """Stand-ins of the products Z_ik·[W Θ]_kj, (l, n, r + k)."""
    multipliers: FloatArray
    """λ in [0, h] of the hinges, (n, k)."""
    value: float
    """The model's objective."""


def load_cvxpy() -> Any:
    """Import cvxpy when a model is made, and say what to install where it is missing.

    Returns
    -------
    module
        The module.
    """
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "the convex relaxations need cvxpy and clarabel: pip install 'svdecode[oracle]'"
        ) from error
    return cvxpy


def check_size(objective: Objective, n_components: int, limit: int = MAX_PRODUCTS) -> None:
    """Refuse what is too large to be modelled product by product.

    Parameters
    ----------
    objective : Objective
        Holds the reduced data.
    n_components : int
        Number of coordinates.
    limit : int
        Products at most.
    """
    (n, r), k = objective.X.shape, objective.Y.shape[1]
    found = n * n_components * (r + k)
    if found > limit:
        raise ValueError(
            f"X: found {n} samples, {r} reduced features, {k} labels and {n_components} components, "
            f"{found} products, expected at most {limit} (a convex model holds each of them)"
        )


class Model:
    """Blocks of one objective as variables; row 0 of W and Θ are variables where the formulation has them.

    Parameters
    ----------
    objective : Objective
        What is relaxed.
    around : Factors
        Gives the shapes, and the mean image and the bias where these are fixed.
    unit_rows : {"ball", "tangent"}
        What stands for ‖w_i‖ = 1, which is not convex: ‖w_i‖ ≤ 1 (Xi 2007, (8) and (25)), or the plane that
        touches the sphere at the last w_i. (Only the former is a relaxation.)
    """

    def __init__(self, objective: Objective, around: Factors, unit_rows: str = "ball") -> None:
        self.cp = cp = load_cvxpy()
        self.objective, self.around = objective, around
        (n, r), (l, k) = objective.X.shape, around.Theta.shape
        self.Z, self.V = cp.Variable((n, l)), cp.Variable((l, r + k))
        self.W, self.Theta = self.V[:, :r], self.V[:, r:]
        free_mean, has_bias = objective.reconstruction.mean_is_free, objective.bias.present
        self.mean = cp.Variable((1, r)) if free_mean else cp.Constant(around.mean[None])
        self.bias = cp.Variable((1, k)) if has_bias else cp.Constant(around.bias[None])
        self.constraints: list[Any] = [*self._confined(), *self._rows(unit_rows)]

    def _confined(self) -> list[Any]:
        """Convex constraints on Z and Θ."""
        cp, o, out = self.cp, self.objective, []
        if np.isfinite(o.z.radius):
            out.append(cp.norm(self.Z, axis=1) <= o.z.radius)
        if o.theta.constraint == BOX:
            out.append(cp.abs(self.Theta) <= o.theta.radius)
        if o.theta.constraint == BALL:
            column = cp.vstack([self.bias, self.Theta]) if o.bias.confined else self.Theta
            out.append(cp.norm(column, axis=0) <= o.theta.radius)
        return out

    def _rows(self, unit_rows: str) -> list[Any]:
        """What confines the rows of W, or stands for it."""
        code, W0 = self.objective.w.constraint, self.around.W
        if code == NORM_ONE and unit_rows == "tangent":
            return [self.cp.sum(self.cp.multiply(W0, self.W - W0), axis=1) == 0]
        if code in (NORM_ONE, NORM_AT_MOST_ONE):
            return [self.cp.norm(self.W, axis=1) <= 1]
        return []

    def solve(self, total: Any, products: Any) -> Relaxed:
        """Minimize the objective with `total` in the place of Z[W Θ].

        Parameters
        ----------
        total : cvxpy expression of shape (n, r + k)
            Sum of the stand-ins over components; affine.
        products : callable
            From the optimal Z and [W Θ] to the stand-ins, (l, n, r + k).

        Returns
        -------
        Relaxed
            The optimum.
        """
        cp, o = self.cp, self.objective
        n, r = o.X.shape
        ones = np.ones((n, 1))
        slack = cp.Variable(o.Y.shape, nonneg=True)
        scores = total[:, r:] + ones @ self.bias
        met = slack >= o.hinge.margin - cp.multiply(o.Y, scores)
        cost = (
            o.reconstruction.weight * cp.sum_squares(o.X - ones @ self.mean - total[:, :r])
            + cp.sum(cp.multiply(o.hinge.weights, slack))
            + o.z.ridge * cp.sum_squares(self.Z)
            + o.w.ridge * cp.sum_squares(self.W)
            + o.theta.ridge * cp.sum_squares(self.Theta)
            + o.bias.ridge * cp.sum_squares(self.bias)
        )
        value = run(cp, cost, [met, *self.constraints]) + o.constant
        Z, V = np.array(self.Z.value), np.array(self.V.value)
        factors = Factors(
            np.ascontiguousarray(Z), np.ascontiguousarray(V[:, :r]), np.ravel(self.mean.value).copy(),
            np.ascontiguousarray(V[:, r:]), np.ravel(self.bias.value).copy(),
        )  # fmt: skip
        multipliers = np.clip(np.reshape(met.dual_value, o.Y.shape), 0.0, o.hinge.weights)
        return Relaxed(factors, np.asarray(products(Z, V)), multipliers, value)


class NotSolvedError(RuntimeError):
    """The solver ended without a solution."""


def run(cp: Any, cost: Any, constraints: list[Any], tolerance: float = TOLERANCE) -> float:
    """Solve a model by Clarabel.

    Parameters
    ----------
    cp : module
        Of `load_cvxpy`.
    cost : cvxpy expression
        What is minimized.
    constraints : list
        Of cvxpy's constraints.
    tolerance : float
        Of the solver.

    Returns
    -------
    float
        The optimal value.
    """
    problem = cp.Problem(cp.Minimize(cost), constraints)
    names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": a step is judged by what it gains
        try:
            problem.solve(solver=cp.CLARABEL, **dict.fromkeys(names, tolerance))
        except cp.error.SolverError as error:
            raise NotSolvedError(f"the convex model was not solved: {error}") from error
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise NotSolvedError(f"the convex model was not solved: {problem.status}")
    return float(problem.value)
