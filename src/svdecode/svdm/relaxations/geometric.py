"""Geometric programming: logarithms of positive blocks as variables (Xi 2007, 4.2.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.modelling import NotSolvedError, Relaxed, check_size, load_cvxpy, run
from svdecode.svdm.relaxations.projection import drop
from svdecode.svdm.relaxations.scheme import PRECISION, Choices
from svdecode.svdm.terms import BALL, BOX, NORM_AT_MOST_ONE, NORM_ONE

#: smallest entry of Z, W and Θ: logarithms must not run away
LEAST = 1e-4
#: exponentials that a model may have: an exponential cone each
MAX_EXPONENTIALS = 4_000
#: largest change of a logarithm in a step: exponentials of very different sizes are hard on the solver
REACH = 2.0
#: of the solver: exponential cones are less exact than the others
ACCURACY = 1e-7


class GeometricProgram:
    """Products as exponentials of sums of logarithms, H ≥ Σ_k exp(log Z_ik + log W_kj).

    Of H = ZW that is the half which is convex, and alone it holds nothing: H = X and Z = W = Θ = 0 satisfy it
    (`condense=False`, as published). With `condense` the other half is kept too, with each exponential
    replaced by its tangent at the last iterate, which lies below it. The model then lies above the objective
    and touches it, and no step raises the objective; its optimum is on the bilinear surface, nothing has to
    be projected. (Where rows of W have norm one, the model has them at most one, and a step that rescaling
    spoils is not taken.)

    Parameters
    ----------
    objective : Objective
        What is minimized: positive data as they are, with a mean image fixed at 0 (`boxed`, `svm`).
    start : Factors
        Where from; entries of Z, W and Θ below `LEAST` are lifted to it. Overwritten.
    condense : bool
        Whether to keep the half that is not convex, condensed.
    choices : Choices
        Of which `projection` counts: with "surface" the stand-ins of the published form are projected.
    """

    patience = 3

    def __init__(
        self, objective: Objective, start: Factors, *, condense: bool = True, choices: Choices | None = None
    ) -> None:
        check_positive(objective)
        check_size(objective, start.Z.shape[1], MAX_EXPONENTIALS)
        for block in (start.Z, start.W, start.Theta):
            np.maximum(block, LEAST, out=block)
        self.objective, self.condense, self.choices = objective, condense, choices or Choices()
        self.factors = drop(objective, Relaxed(start, np.empty(0), np.empty(0), 0.0))
        self.multipliers: FloatArray = np.zeros(objective.Y.shape)
        self.stalled = ""
        self.predicted = np.inf
        """Value of the last model."""
        self._value = objective.value(self.factors)

    @property
    def monotone(self) -> bool:
        """Where the model lies above the objective."""
        return self.condense

    def step(self) -> float:
        """Solve the model, condensed at the last iterate."""
        try:
            relaxed = solve_geometric(self.objective, self.factors, condense=self.condense)
        except NotSolvedError as error:
            self.stalled = str(error)
            return self._value
        self.multipliers, self.predicted = relaxed.multipliers, relaxed.value
        if not self.condense:
            self.factors = self.choices.candidate(self.objective, relaxed)
            self._value = self.objective.value(self.factors)
            self.stalled = "the model does not depend on the last iterate"
            return self._value
        candidate = drop(self.objective, relaxed)
        value = self.objective.value(candidate)
        if value < self._value:
            if self._value - value <= PRECISION * abs(value):
                self.stalled = "the convex model promises no decrease"
            self.factors, self._value = candidate, value
        else:
            self.stalled = "the convex model's optimum does not lower the objective"
        return self._value

    def run(self, tol: float, max_iter: int) -> None:  # noqa: ARG002
        """No compiled loop."""
        return

    def stationarity(self) -> float:
        """Stationarity, in all blocks free of signs, at the multipliers of the last model."""
        return self.objective.stationarity(self.factors, self.multipliers)


def check_positive(objective: Objective) -> None:
    """Refuse data that a product of positive blocks cannot fit, and a mean image that is free.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.
    """
    lowest = float(objective.X.min(initial=0.0))
    if lowest < 0:
        raise ValueError(
            f"X: found {lowest:.3g}, expected no negative entry (geometric programming has positive blocks "
            "alone; give the data as they are, neither centered nor reduced)"
        )
    if objective.reconstruction.mean_is_free:
        raise ValueError(
            f"formulation: found {objective.name!r}, expected 'boxed' or 'svm' (a free mean image centers "
            "the data, and geometric programming needs them positive)"
        )


class _Logs(NamedTuple):
    """Changes of the logarithms of Z and V = [W Θ], the bias, and what the model is made of."""

    U: Any
    T: Any
    bias: Any
    total: Any
    """Σ_k Z_ik V_kj, convex in U and T, (n, r + k)."""
    tangent: Any
    """The same to first order."""
    Z_squares: Any
    V_squares: Any


def solve_geometric(objective: Objective, around: Factors, *, condense: bool = True) -> Relaxed:
    """Minimize the objective over positive blocks by their logarithms.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    around : Factors
        Positive; where the half that is not convex is condensed.
    condense : bool
        Whether to keep that half.

    Returns
    -------
    Relaxed
        The optimum. Without that half its products are those of the factors, lifted in proportion to where
        fit and hinge cost least.
    """
    cp, o = load_cvxpy(), objective
    (n, r), k = o.X.shape, o.Y.shape[1]
    logs = _variables(cp, o, around)
    over = cp.Variable((n, r), nonneg=True)
    slack = cp.Variable((n, k), nonneg=True)
    negative, positive = (o.Y < 0).astype(float), (o.Y > 0).astype(float)
    shifted = o.hinge.margin * np.abs(o.Y) - cp.multiply(o.Y, np.ones((n, 1)) @ logs.bias)
    raised = shifted + cp.multiply(negative, logs.total[:, r:])
    constraints = [over >= logs.total[:, :r] - o.X, *_confined(cp, o, logs, around)]
    errors = cp.sum_squares(over)
    if condense:
        under = cp.Variable((n, r), nonneg=True)
        constraints += [under >= o.X - logs.tangent[:, :r], cp.abs(logs.U) <= REACH, cp.abs(logs.T) <= REACH]
        errors += cp.sum_squares(under)
        met = slack >= raised - cp.multiply(positive, logs.tangent[:, r:])
    else:  # P ≥ ΣE lets P be as large as a label +1 wants it
        met = slack >= cp.multiply(negative, raised)
    cost = (
        o.reconstruction.weight * errors
        + cp.sum(cp.multiply(o.hinge.weights, slack))
        + o.z.ridge * cp.sum(logs.Z_squares)
        + o.w.ridge * cp.sum(logs.V_squares[:, :r])
        + o.theta.ridge * cp.sum(logs.V_squares[:, r:])
        + o.bias.ridge * cp.sum_squares(logs.bias)
    )
    value = run(cp, cost, [met, *constraints], ACCURACY) + o.constant
    Z, V = around.Z * np.exp(logs.U.value), np.hstack([around.W, around.Theta]) * np.exp(logs.T.value)
    factors = Factors(
        np.ascontiguousarray(Z), np.ascontiguousarray(V[:, :r]), around.mean.copy(),
        np.ascontiguousarray(V[:, r:]), np.ravel(logs.bias.value).copy(),
    )  # fmt: skip
    multipliers = np.clip(np.reshape(met.dual_value, (n, k)), 0.0, o.hinge.weights)
    return Relaxed(factors, _stand_ins(o, factors, condense=condense), multipliers, value)


def _variables(cp: Any, objective: Objective, around: Factors) -> _Logs:
    """Changes of the logarithms of Z and [W Θ], and what the constraints are made of."""
    V0 = np.hstack([around.W, around.Theta])
    (n, l), width = around.Z.shape, V0.shape[1]
    U, T = cp.Variable((n, l)), cp.Variable((l, width))
    has_bias = objective.bias.present
    bias = (
        cp.Variable((1, V0.shape[1] - objective.X.shape[1])) if has_bias else cp.Constant(around.bias[None])
    )
    total, tangent = 0, 0
    for j in range(l):
        exponent = U[:, [j]] @ np.ones((1, width)) + np.ones((n, 1)) @ T[[j], :]
        there = around.Z[:, [j]] * V0[[j]]
        total += cp.multiply(there, cp.exp(exponent))
        tangent += cp.multiply(there, 1 + exponent)
    squares = cp.multiply(around.Z**2, cp.exp(2 * U)), cp.multiply(V0**2, cp.exp(2 * T))
    return _Logs(U, T, bias, total, tangent, *squares)


def _confined(cp: Any, objective: Objective, logs: _Logs, around: Factors) -> list[Any]:
    """Constraints of the blocks, all convex in logarithms but unit rows, which become at most one."""
    o, r, V0 = objective, objective.X.shape[1], np.hstack([around.W, around.Theta])
    out = [np.log(LEAST / around.Z) <= logs.U, np.log(LEAST / V0) <= logs.T]
    if np.isfinite(o.z.radius):
        out.append(cp.sum(logs.Z_squares, axis=1) <= o.z.radius**2)
    if o.w.constraint in (NORM_ONE, NORM_AT_MOST_ONE):
        out.append(cp.sum(logs.V_squares[:, :r], axis=1) <= 1)
    if o.theta.constraint == BOX:
        out.append(logs.T[:, r:] <= np.log(o.theta.radius / around.Theta))
    if o.theta.constraint == BALL:
        square = cp.sum(logs.V_squares[:, r:], axis=0)
        if o.bias.confined:
            square += cp.square(logs.bias[0])
        out.append(square <= o.theta.radius**2)
    return out


def _stand_ins(objective: Objective, factors: Factors, *, condense: bool) -> FloatArray:
    """Products of the factors; without the condensed half, their sums lifted to where they cost least."""
    V = np.hstack([factors.W, factors.Theta])
    products = np.asarray(factors.Z.T[:, :, None] * V[:, None, :])
    if condense:
        return products
    wanted = np.where(objective.Y > 0, objective.hinge.margin - factors.bias, 0.0)
    total = products.sum(axis=0)
    return np.asarray(products * (np.maximum(np.hstack([objective.X, wanted]), total) / total))
