"""The method of multipliers: an iteration minimizes the augmented Lagrangian, then moves the multipliers."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.alternation import basis_step
from svdecode.svdm.kernels.augmented import Task
from svdecode.svdm.kernels.descent import descend
from svdecode.svdm.kernels.splitting import balance, prepare
from svdecode.svdm.objective import Factors, Objective

WIDTH = 3.0  # of the first envelope, relative to the margin: near a square, which has fewer local optima
GROWTH = 4.0  # of ρ where an iteration did not bring the hinges' conditions closer by SLOW
SLOW = 0.3
FIRST_TOL = 0.1  # of the first descent
AHEAD = 0.3  # how far below its limit an error should be
EVALUATIONS = 3000  # of one descent
FAINT = (
    0.03  # root mean square of a coordinate's scores, over the margin, up to which it may do better unseen
)
EARLY = 0.01  # relative accuracy of the blocks before which nothing is given up
STUCK = 6  # iterations that gained nothing


def applies(objective: Objective) -> bool:
    """Tell whether the method can take an objective: nothing confined, mean image and bias not fixed.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.

    Returns
    -------
    bool
        True for `balanced` and `penalized`.
    """
    confined = objective.w.constraint or objective.theta.constraint or np.isfinite(objective.z.radius)
    return not confined and objective.reconstruction.mean_is_free and objective.bias.present


class MethodOfMultipliers:
    """Scores split from ZΘ + 1b with multipliers λ, and all blocks minimized together (Hestenes; Powell).

    λ ← clip(λ + ρ(μ − Y∘S), 0, h) after each descent. ρ begins so small that the hinge is smooth on the
    scale of the margin, and grows where that does not close the gap.

    Parameters
    ----------
    objective : Objective
        What is minimized; `applies` to it.
    start : Factors
        Overwritten.
    tol : float
        Stationarity that is wanted in the end.
    multipliers : array of shape (n, k), optional
        λ of a fit that `start` goes on from; without them `start` gives coordinates alone.
    """

    monotone, patience = False, 2

    def __init__(
        self, objective: Objective, start: Factors, *, tol: float, multipliers: FloatArray | None = None
    ) -> None:
        self.objective, self.factors = objective, start
        self.n_evaluations = self._idle = 0
        self._tol, self._inner_tol, self._gap, self._value = tol, FIRST_TOL, np.inf, np.inf
        o, numbers = objective, objective.numbers()
        if multipliers is None:
            prepare(o.X, o.hinge.margin * o.Y, o.rho, numbers, o.n_unseen, *start)
            multipliers = np.zeros(o.Y.shape)
        self._task = Task(
            o.X, float(np.vdot(o.X, o.X)), o.Y, o.hinge.weights, cast("tuple[float, ...]", numbers),
            o.n_unseen, multipliers.copy(), float(o.hinge.weights.max()) / (WIDTH * o.hinge.margin),
        )  # fmt: skip

    @property
    def multipliers(self) -> FloatArray:
        """Multipliers of the hinges that belong to `factors`."""
        return self._task.Lam

    @property
    def stalled(self) -> str:
        """The last iterations gained nothing: ill conditioning is in the way."""
        return "the objective stands still at working precision" if self._idle >= STUCK else ""

    def step(self) -> float:
        """One descent, then the next multipliers."""
        Z, W, mean, Theta, bias = self.factors
        l = Z.shape[1]
        x = np.concatenate([Z.ravel(), Theta.ravel(), bias])
        used = descend(x, self._task, l, self._inner_tol, EVALUATIONS)
        self.n_evaluations += used
        Z[:], Theta[:] = x[: Z.size].reshape(Z.shape), x[Z.size : Z.size + Theta.size].reshape(Theta.shape)
        bias[:] = x[Z.size + Theta.size :]
        basis_step(self.objective.X, self.objective.numbers(), Z, W, mean)
        value = self.objective.value(self.factors)
        if self._inner_tol <= EARLY:
            value = self._give_up_a_coordinate(value)
        balance(self.objective.numbers(), self.objective.n_unseen, *self.factors)
        self._move_multipliers(value)
        self._idle = self._idle + 1 if abs(value - self._value) <= 1e-12 * value else 0
        self._value = value
        return value

    def _give_up_a_coordinate(self, value: float) -> float:
        """Where W costs nothing, let the faintest coordinate be unseen if that costs less; the value then.

        Seen by next to no discriminant it would shrink for ever, its image growing (`fitting.infimum`).
        """
        o, seen = self.objective, self.factors.Z.shape[1] - self.objective.n_unseen
        if o.w.ridge > 0 or seen == 0:
            return value
        turned = Factors(*(block.copy() for block in self.factors))
        U = np.linalg.svd(turned.Theta[:seen])[0]
        turned.Z[:, :seen], turned.Theta[:seen] = turned.Z[:, :seen] @ U, U.T @ turned.Theta[:seen]
        scores = np.outer(turned.Z[:, seen - 1], turned.Theta[seen - 1])
        if np.linalg.norm(scores) > FAINT * o.hinge.margin * np.sqrt(scores.size):
            return value
        turned.Theta[seen - 1] = 0.0
        basis_step(o.X, o.numbers(), turned.Z, turned.W, turned.mean)
        fewer = replace(o, n_unseen=o.n_unseen + 1)
        cost = fewer.value(turned)
        if not cost < value:
            return value
        self.objective, self._task = fewer, self._task._replace(n_unseen=fewer.n_unseen)
        for block, new in zip(self.factors, turned, strict=True):
            block[:] = new
        return cost

    def _move_multipliers(self, value: float) -> None:
        """λ ← clip(λ + ρ(μ − Y∘S), 0, h); ρ and the next descent's accuracy follow the gap that is left."""
        t, o = self._task, self.objective
        slack = np.where(o.Y != 0, o.hinge.margin - o.Y * self.factors.scores(), 0.0)
        Lam = np.clip(t.Lam + t.rho * slack, 0.0, t.H)
        gap = abs(float((t.H * np.maximum(slack, 0.0) - Lam * slack).sum())) / max(abs(value), 1e-300)
        late = gap > SLOW * self._gap and gap > AHEAD * self._tol
        self._task = t._replace(Lam=Lam, rho=t.rho * (GROWTH if late else 1.0))
        self._gap = gap
        self._inner_tol = max(min(AHEAD * self._inner_tol, AHEAD * gap), AHEAD * self._tol)

    def run(self, tol: float, max_iter: int) -> None:  # noqa: ARG002
        """No compiled loop."""
        return

    def stationarity(self) -> float:
        """Stationarity at the next multipliers."""
        return self.objective.stationarity(self.factors, self.multipliers)
