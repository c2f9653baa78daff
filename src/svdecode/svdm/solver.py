"""minimise(): the only outer loop. Schemes plug in; the result knows how good it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.multipliers import MethodOfMultipliers
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.schemes import Alternation, AndersonSplitting, Scheme

Callback = Callable[[int, float, float], None]


@dataclass(frozen=True)
class Result:
    """Where a minimization ended, and how good that is.

    Attributes
    ----------
    factors : Factors
        Z, W, Θ and the two rows that stand beside them.
    multipliers : array of shape (n, k)
        λ in [0, h] of the hinges.
    objective : float
        At `factors`.
    history : array
        Objective after each iteration, the best so far; it never rises.
    stationarity : float
        Residual with `multipliers` in all blocks, relative to the objective.
    n_iter : int
        Iterations used.
    converged : bool
        Whether the stopping rule was met.
    message : str
        Why it ended.
    target : Objective
        The form of the objective that was minimized in the end: on the way to an infimum a
        coordinate may have been given up (`n_unseen`).
    """

    factors: Factors
    multipliers: FloatArray
    objective: float
    history: FloatArray
    stationarity: float
    n_iter: int
    converged: bool
    message: str
    target: Objective


def make_scheme(objective: Objective, start: Factors, solver: str, *, rebalance: bool, tol: float) -> Scheme:
    """Scheme of that name, ready to go.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Where from; overwritten.
    solver : {"multipliers", "anderson", "alternating"}
        Which scheme.
    rebalance : bool
        Whether alternation re-balances.
    tol : float
        Stationarity that is wanted.

    Returns
    -------
    Scheme
        At its start.
    """
    if solver == "alternating":
        return Alternation(objective, start, rebalance=rebalance)
    if solver == "multipliers":
        return MethodOfMultipliers(objective, start, tol=tol)
    return AndersonSplitting(objective, start)


def minimise(
    objective: Objective,
    start: Factors,
    *,
    solver: str = "multipliers",
    stopping: str = "stationary",
    tol: float = 1e-6,
    max_iter: int = 1000,
    rebalance: bool = True,
    callback: Callback | None = None,
) -> Result:
    """Minimize an objective from a start.

    Parameters
    ----------
    objective : Objective
        The sum of terms.
    start : Factors
        Where from; overwritten.
    solver : {"multipliers", "anderson", "alternating"}
        The scheme.
    stopping : {"stationary", "decrease"}
        Until the stationarity residual is at most `tol`, or until an iteration lowers the objective
        by less than the share `tol`.
    tol : float
        See `stopping`.
    max_iter : int
        Iterations at most.
    rebalance : bool
        Whether alternation re-balances the factors.
    callback : callable, optional
        Called after each iteration with its number, the objective and the stationarity residual
        (NaN where it was not needed).

    Returns
    -------
    Result
        The best point that was seen.
    """
    scheme = make_scheme(objective, start, solver, rebalance=rebalance, tol=tol)
    if callback is None and stopping == "decrease":  # nobody looks on: all in one go, where that can be
        done = scheme.run(tol, max_iter)
        if done is not None:
            kept = _Kept()
            kept.offer(scheme, done[0][-1])
            message = DECREASE if done[1] else f"max_iter={max_iter} iterations were not enough"
            return kept.result(list(done[0]), len(done[0]), message)
    return iterate(scheme, stopping=stopping, tol=tol, max_iter=max_iter, callback=callback)


def iterate(
    scheme: Scheme,
    *,
    stopping: str = "stationary",
    tol: float = 1e-6,
    max_iter: int = 1000,
    callback: Callback | None = None,
) -> Result:
    """Go on with a scheme until the stopping rule is met: the outer loop.

    Parameters
    ----------
    scheme : Scheme
        At its start.
    stopping, tol, max_iter, callback
        As for `minimise`.

    Returns
    -------
    Result
        The best point that was seen.
    """
    history: list[float] = []
    kept, message, n_iter = _Kept(), f"max_iter={max_iter} iterations were not enough", 0
    for n_iter in range(1, max_iter + 1):
        value = scheme.step()
        residual = scheme.stationarity() if _is_due(n_iter, scheme, stopping) else float("nan")
        kept.offer(scheme, value)
        history.append(min(history[-1], value) if history else value)
        if callback is not None:
            callback(n_iter, history[-1], residual)
        if residual <= tol:
            message = STATIONARY
            kept.settle(scheme, value, tol)
            break
        if stopping == "decrease" and _decreases_less(history, tol, scheme.patience):
            message = DECREASE
            break
        if scheme.stalled:
            message = STATIONARY if scheme.stationarity() <= tol else scheme.stalled
            break
    return kept.result(history, n_iter, message)


STATIONARY = "stationary"
DECREASE = "the objective decreased by less than tol"


def _is_due(n_iter: int, scheme: Scheme, stopping: str) -> bool:
    """Whether to pay for a residual now: splitting has one at hand, alternation's is looked at rarely."""
    return stopping == "stationary" and (not scheme.monotone or n_iter % 5 == 0)


def _decreases_less(history: list[float], share: float, patience: int) -> bool:
    """Whether the last `patience` iterations lowered the objective by less than a share of it."""
    if len(history) <= patience:
        return False
    before, now = history[-1 - patience], history[-1]
    return before - now <= share * abs(before)


class _Kept:
    """The best point so far."""

    def __init__(self) -> None:
        self.value = np.inf
        self.factors: Factors | None = None
        self.multipliers: FloatArray | None = None

    def offer(self, scheme: Scheme, value: float) -> None:
        """Keep the scheme's point if it is the best one."""
        if scheme.monotone or value < self.value or self.factors is None:
            self.value = value
            self.factors = Factors(*(block.copy() for block in scheme.factors))
            self.multipliers = None if scheme.monotone else scheme.multipliers.copy()
            self._scheme, self._objective = scheme, scheme.objective

    def settle(self, scheme: Scheme, value: float, tol: float) -> None:
        """At a stationary point: the kept one if the final multipliers prove it stationary too, else this."""
        assert self.factors is not None
        if scheme.monotone:
            return
        if value > self.value and scheme.objective.stationarity(self.factors, scheme.multipliers) <= tol:
            self.multipliers = scheme.multipliers.copy()
        else:
            self.value, self.factors = value, Factors(*(block.copy() for block in scheme.factors))
            self._objective = scheme.objective
            self.multipliers = scheme.multipliers.copy()

    def result(self, history: list[float], n_iter: int, message: str) -> Result:
        """Put together what the loop returns."""
        assert self.factors is not None
        objective = self._objective
        multipliers = self._scheme.multipliers if self.multipliers is None else self.multipliers
        value = objective.value(self.factors)
        return Result(
            self.factors,
            multipliers,
            value,
            # a stationary point may lie a rounding above the best one that was met on the way
            np.maximum(np.append(history[:-1], value), value),
            objective.stationarity(self.factors, multipliers, value),
            n_iter,
            message in (STATIONARY, DECREASE),
            message,
            objective,
        )
