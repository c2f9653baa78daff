"""Ways to go one iteration further: alternating minimization, and splitting with acceleration."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.alternation import alternate, sweep
from svdecode.svdm.kernels.splitting import anderson, hinge_proximal, prepare, smooth_fit
from svdecode.svdm.kernels.stationarity import objective_value
from svdecode.svdm.objective import Factors, Objective

STANDSTILL = 1e-13  # share of the objective: a sweep that lowers it by less has stopped moving
RETIRED = 1e-4  # a discriminant's relative size below which its coordinate counts as unseen
PATIENCE = 60  # iterations that it must stay there
MEMORY = 10  # of Anderson's mixture
RELAXATION = 1.6  # of the proximal step
MAX_PASSES = 30  # of least squares over the blocks in one iteration


class Scheme(Protocol):
    """What the outer loop asks of a scheme."""

    objective: Objective
    factors: Factors
    monotone: bool
    """Whether no step raises the objective."""
    patience: int
    """Over how many iterations a decrease of the objective is judged."""

    @property
    def multipliers(self) -> FloatArray:
        """Multipliers of the hinges that belong to `factors`."""

    @property
    def stalled(self) -> str:
        """Why no further iteration would gain anything; empty while one may."""

    def step(self) -> float:
        """Go one iteration further and return the objective at `factors`."""

    def stationarity(self) -> float:
        """How far `factors` are from a stationary point."""

    def run(self, tol: float, max_iter: int) -> tuple[FloatArray, bool] | None:
        """Iterate until the objective decreases by at most the share `tol`, all in compiled code.

        The objective after each iteration, and whether the rule was met; None where the scheme has no
        such loop.
        """


class Alternation:
    """W, then Θ, then Z, each exactly (Pereira & Gordon 2006, §2.4; Xi 2007, Part II).

    The objective never rises, but a point that no block can improve need not be stationary: Θ and Z
    may each want multipliers that the other does not.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Overwritten.
    rebalance : bool
        Re-balance after each sweep where all three penalties are quadratic (`balanced`).
    """

    monotone, patience = True, 1

    def __init__(self, objective: Objective, start: Factors, *, rebalance: bool) -> None:
        self._gain = np.inf
        self._value = np.inf
        self.objective = objective
        self.numbers = objective.numbers()
        self.factors = start
        self.balances = rebalance and can_rebalance(objective)
        self._of_theta = np.zeros(objective.Y.shape)
        self._of_z = np.zeros(objective.Y.shape)

    def step(self) -> float:
        """One sweep over the blocks."""
        o = self.objective
        value = sweep(
            o.X, o.Y, o.hinge.weights, self.numbers, *self.factors, self._of_theta, self._of_z, self.balances
        )
        value = float(value) + o.constant
        self._gain, self._value = self._value - value, value
        return value

    def run(self, tol: float, max_iter: int) -> tuple[FloatArray, bool]:
        """All sweeps in one go."""
        o, history = self.objective, np.empty(max_iter)
        n_iter, converged = alternate(
            o.X, o.Y, o.hinge.weights, self.numbers, o.constant, *self.factors,
            self._of_theta, self._of_z, self.balances, tol, history,
        )  # fmt: skip
        return history[:n_iter], bool(converged)

    @property
    def stalled(self) -> str:
        """A sweep moved nothing: each block is optimal, given the others."""
        jammed = self._gain <= STANDSTILL * abs(self._value)
        return "no single block can be improved, but the point is not stationary" if jammed else ""

    @property
    def multipliers(self) -> FloatArray:
        """Those of the Θ or of the Z step, whichever explain all blocks better."""
        value = self.objective.value(self.factors)
        candidates = (self._of_z, self._of_theta)
        return min(candidates, key=lambda lam: self.objective.stationarity(self.factors, lam, value))

    def stationarity(self) -> float:
        """Stationarity at the better one of the two steps' multipliers."""
        return self.objective.stationarity(self.factors, self.multipliers)


def can_rebalance(objective: Objective) -> bool:
    """Tell whether all invertible recombinations of the components keep the fit and its constraints.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.

    Returns
    -------
    bool
        True where Z, W and Θ have quadratic penalties alone, and bias and mean image are free.
    """
    quadratic = min(objective.z.ridge, objective.w.ridge, objective.theta.ridge) > 0
    confined = objective.w.constraint or objective.theta.constraint or np.isfinite(objective.z.radius)
    free = objective.bias.present and objective.bias.ridge == 0 and objective.reconstruction.mean_is_free
    return bool(quadratic and not confined and free)


class AndersonSplitting:
    """Scores T as a variable of their own: a smooth fit and the hinge's proximal step in turn.

    Douglas & Rachford's splitting with Anderson's acceleration. Unlike the method of multipliers it takes
    every formulation, but where few coordinates and weak penalties make the smooth problem far from
    convex it may run round in circles.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Overwritten.
    """

    monotone, patience, stalled = False, 5, ""

    def __init__(self, objective: Objective, start: Factors) -> None:
        self.objective = objective
        self.numbers = objective.numbers()
        self.factors = start
        n, k = objective.Y.shape
        self.T = objective.hinge.margin * objective.Y
        self.multipliers = np.zeros((n, k))
        self.rho_limit = objective.rho
        self.rho = objective.rho * objective.first_share
        self._points = np.zeros((MEMORY, n * k))
        self._steps = np.zeros((MEMORY, n * k))
        self._forget()
        self._slack = float(np.linalg.norm(self.T))
        self._iteration = self._idle = 0
        prepare(objective.X, self.T, self.rho, self.numbers, objective.n_unseen, *start)

    def _forget(self) -> None:
        self._n_past, self._last, self._halved, self._since = 0, np.inf, np.inf, 0

    def step(self) -> float:
        """One application of the map, and the accelerated step of T."""
        o = self.objective
        smooth_fit(o.X, self.T, self.rho, self.numbers, o.n_unseen, *self.factors, self._slack, MAX_PASSES)
        S = self.factors.scores()
        P, self.multipliers = hinge_proximal(2 * S - self.T, o.Y, o.hinge.weights, o.hinge.margin, self.rho)
        self._advance(S, RELAXATION * (P - S))
        self._retire()
        value = objective_value(o.X, o.Y, o.hinge.weights, self.numbers, o.n_unseen, *self.factors)
        return float(value) + o.constant

    def _advance(self, S: FloatArray, step: FloatArray) -> None:
        size = float(np.linalg.norm(step))
        mixed, self._n_past = anderson(self.T.ravel(), step.ravel(), self._points, self._steps, self._n_past)
        self.T = mixed.reshape(S.shape) if size <= self._last else self.T + step
        self._last = self._slack = size
        self._iteration += 1
        self._since += 1
        if size < self._halved / 2:
            self._halved, self._since = size, 0
        if self._iteration > 25 and self._since >= 12 and self.rho < self.rho_limit:
            old, self.rho = self.rho, min(2 * self.rho, self.rho_limit)
            self.T = S + (self.T - S) * (old / self.rho)
            self._forget()

    def _retire(self) -> None:
        """Count a coordinate that the discriminants have given up as unseen, where W costs nothing.

        The infimum takes what they do not use for the reconstruction alone.
        """
        o = self.objective
        if o.attained or o.z.ridge == 0:
            return
        seen = self.factors.Z.shape[1] - o.n_unseen
        sizes = np.linalg.norm(self.factors.Theta[:seen], axis=1)
        self._idle = self._idle + 1 if seen > 1 and sizes[-1] < RETIRED * sizes[0] else 0
        if self._idle >= PATIENCE:
            self._idle = 0
            self.factors.Theta[seen - 1] = 0.0
            self.objective = replace(o, n_unseen=o.n_unseen + 1)

    def run(self, tol: float, max_iter: int) -> None:  # noqa: ARG002
        """No compiled loop."""
        return

    def stationarity(self) -> float:
        """Stationarity at the proximal step's multipliers."""
        return self.objective.stationarity(self.factors, self.multipliers)
