"""The convex problem behind `balanced`, solved directly: Douglas & Rachford's splitting with acceleration.

    min over M₁, M₂, b of  a‖X − M₁‖² + Σ h max(μ − Y∘(M₂ + 1b), 0) + 2‖[αM₁, βM₂]‖_*

with α² = d_Z d_W and β² = d_Z d_Θ: what `balanced` comes down to at any number of components (Srebro's
relaxation, which Pereira & Gordon 2006, §2.6, name as future work). The trace norm's proximal step
soft-thresholds singular values, so that the rank follows from the weight; the hinge's is entry by entry. No
factors, no starts, no local optima: whatever the number of components, this does not stop before the optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.convex import dual_value, leading_directions, scales
from svdecode.svdm.kernels.splitting import anderson, hinge_proximal
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.solver import Callback, Result, iterate

APPLICATIONS = 5  # of the map in one iteration: a value and a bound cost as much as an application
RELAXATION = 1.6
MEMORY = 10  # of Anderson's mixture
STEEPNESS = 2.0  # largest ρ, in units of the hinge's weight over the margin
ROUNDING = 1e-9  # relative rise of a residual that does not count as one


def solve_trace_norm(
    objective: Objective, *, tol: float = 1e-6, max_iter: int = 1000, callback: Callback | None = None
) -> tuple[Result, float]:
    """Minimize `balanced` over all numbers of components.

    Parameters
    ----------
    objective : Objective
        `balanced` on its data.
    tol : float
        Duality gap at which to stop, relative to the objective.
    max_iter : int
        Iterations at most, of five applications of the map each.
    callback : callable, optional
        Called after each iteration with its number, the objective and the relative gap.

    Returns
    -------
    result : Result
        With as many components as the optimum has.
    bound : float
        Lower bound of the objective at any factors.
    """
    scheme = TraceNormSplitting(objective)
    result = iterate(scheme, tol=tol, max_iter=max_iter, callback=callback)
    if not result.converged:
        gap = (result.objective - scheme.bound) / max(abs(result.objective), np.finfo(float).tiny)
        result = replace(result, message=f"{result.message}, the duality gap is {gap:.1e} of the objective")
    return result, scheme.bound


class TraceNormSplitting:
    """One singular value decomposition and one entry-by-entry step in turn, accelerated.

    The state V stands for N = [αM₁, βM₂]. At ρ = 2aβ²/α² reconstruction and trace norm are one proximal
    step, and only V₂ moves. Where the hinge would want smaller steps than that (a heavy reconstruction) the
    reconstruction goes to the other side, and all of V moves. Anderson's mixture is taken where the residual
    does not rise, else the plain step, which converges by itself.

    Parameters
    ----------
    objective : Objective
        `balanced` on its data.
    """

    monotone, patience, stalled = False, 2, ""

    def __init__(self, objective: Objective) -> None:
        o = self.objective = objective
        self.alpha, self.beta = scales(o)
        self.curvature = 2 * o.reconstruction.weight / self.alpha**2
        weights = o.hinge.weights[o.hinge.weights > 0]
        steepest = STEEPNESS * (float(weights.mean()) if weights.size else 1.0) / o.hinge.margin
        self.rho = min(self.curvature * self.beta**2, steepest)
        self.absorbed = self.rho == self.curvature * self.beta**2
        self.threshold = 2 * self.beta**2 / self.rho
        self._data = self.alpha * o.X
        self._r = o.X.shape[1]
        self._V = np.hstack([self._data, self.beta * o.hinge.margin * o.Y])
        self._moving = slice(self._r if self.absorbed else 0, None)
        size = self._V[:, self._moving].size
        self._points, self._steps = np.zeros((MEMORY, size)), np.zeros((MEMORY, size))
        self._n_past, self._last = 0, np.inf
        self._plain: FloatArray | None = None
        self.bound, self._value = -np.inf, np.inf
        self.multipliers = np.zeros(o.Y.shape)
        self.factors = self._shrink(self._V)[0]

    def step(self) -> float:
        """Some applications of the map, and where they got to."""
        for _ in range(APPLICATIONS):
            V = self._V
            self.factors, S = self._shrink(V)
            self._advance(RELAXATION * self._towards_hinge(V, S))
        self._value = self.objective.value(self.factors)
        self.bound = max(self.bound, dual_value(self.objective, self.factors, self.multipliers))
        return self._value

    def stationarity(self) -> float:
        """Duality gap, relative to the objective."""
        return max(self._value - self.bound, 0.0) / max(abs(self._value), np.finfo(float).tiny)

    def run(self, tol: float, max_iter: int) -> None:
        """There is no compiled loop: nearly all time goes to singular value decompositions."""

    def _shrink(self, V: FloatArray) -> tuple[Factors, FloatArray]:
        """Proximal step of the trace norm (and of the reconstruction), as factors and as V-like matrix."""
        o, r = self.objective, self._r
        mean = V.mean(axis=0)
        mean[:r] = 0.0  # X is centered, and so is all that comes of it
        C = V - mean
        sizes, U, right = leading_directions(C, self.threshold)
        if sizes[0] <= self.threshold:
            sizes, U, right = sizes[:0], U[:, :0], right[:0]
        kept = sizes - self.threshold
        roots = np.sqrt(kept)
        S = (U * kept) @ right
        factors = Factors(
            U * (roots / np.sqrt(o.z.ridge)),
            right[:, :r] * (roots / np.sqrt(o.w.ridge))[:, None],
            np.zeros(r),
            right[:, r:] * (roots / np.sqrt(o.theta.ridge))[:, None],
            mean[r:] / self.beta,
        )
        return factors, S + mean

    def _towards_hinge(self, V: FloatArray, S: FloatArray) -> FloatArray:
        """What the proximal step of the hinge (and of the reconstruction) adds to S."""
        o, r = self.objective, self._r
        reflected = 2 * S - V
        P, self.multipliers = hinge_proximal(
            reflected[:, r:] / self.beta, o.Y, o.hinge.weights, o.hinge.margin, self.rho
        )
        step = np.zeros(V.shape)
        step[:, r:] = self.beta * P - S[:, r:]
        if not self.absorbed:
            weight = self.rho / self.beta**2
            fit = (self.curvature * self._data + weight * reflected[:, :r]) / (self.curvature + weight)
            step[:, :r] = fit - S[:, :r]
        return step

    def _advance(self, step: FloatArray) -> None:
        """The accelerated step; or back to the last plain one, where acceleration led astray."""
        size = float(np.linalg.norm(step))
        if self._plain is not None and not size <= self._last * (1 + ROUNDING):
            self._V, self._plain = self._plain, None
            self._n_past, self._last = 0, np.inf
            return
        self._last, self._plain = size, self._V + step
        moving = self._moving
        mixed, self._n_past = anderson(
            self._V[:, moving].ravel(), step[:, moving].ravel(), self._points, self._steps, self._n_past
        )
        self._V = self._plain.copy()
        self._V[:, moving] = mixed.reshape(self._V[:, moving].shape)
