"""The convex problem behind `balanced`, and how far a fit is from its optimum.

With columns scaled by the roots of their penalties, the least that the three penalties cost over all
factors with Z [W Θ] = M is a trace norm of M (Srebro's relaxation, which Pereira & Gordon 2006, §2.6,
name as future work). So `balanced` can lie no lower than that convex problem, whose dual is

    max ⟨R, X_c⟩ − ‖R‖²/(4a) + μ Σλ   s.t.  1ᵀR = 0, 1ᵀ(Y∘λ) = 0, 0 ≤ λ ≤ h, ‖[R/α, Y∘λ/β]‖₂ ≤ 2

with α² = d_Z d_W and β² = d_Z d_Θ. Any feasible (R, λ) bounds every possible objective from below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.schemes import can_rebalance

#: relative excess of a norm over 2 from which singular values are looked at one by one
EXCEEDS = 1e-8
POWERS = 20  # iterations that make a direction where no digits are asked for


class Certificate(NamedTuple):
    """What the dual point that belongs to a fit tells of it."""

    bound: float
    """Lower bound of the objective at any factors, of any rank."""
    slope: float
    """Change of the objective, to first order, for a unit that a new component costs in penalties: 1 − ½ the
    norm of the dual matrix. Negative where some component is worth its cost."""
    coordinates: FloatArray
    """The component that is worth most: z, (n,), of norm such that z, w and θ cost one unit."""
    image: FloatArray
    """w, (r,), in reduced coordinates."""
    discriminants: FloatArray
    """θ, (k,)."""


def certify(
    objective: Objective, factors: Factors, multipliers: FloatArray, *, thorough: bool = True
) -> Certificate:
    """Bound how much lower than a fit the objective can be, and find the component that it lacks most.

    The fit's residual and multipliers are a point of the dual, but for its matrix [R/α, Y∘λ/β]: where that
    has a singular value above 2, its singular vectors are a component that lowers the objective (while the
    others follow, so that margins that are met stay met). To be feasible such singular values become 2, or
    all of the point is scaled down: the better of the two is the bound.

    Parameters
    ----------
    objective : Objective
        `balanced` on its data.
    factors : Factors
        The fit.
    multipliers : array of shape (n, k)
        λ in [0, h] of its hinges.
    thorough : bool
        Whether to look at singular values one by one. A point that is not stationary, whose bound is loose
        in any case, does without: scaling alone costs a third, and the direction comes of power iterations.

    Returns
    -------
    Certificate
        Bound and direction.
    """
    point = _DualPoint.of(objective, factors, multipliers)
    sizes, left, right = leading_directions(point.matrix, 2.0) if thorough else one_direction(point.matrix)
    bound = point.value(objective, float(sizes[0]))
    if thorough and sizes[0] > 2 * (1 + EXCEEDS):
        within = point.lowered(objective, sizes, left, right)
        bound = max(bound, within.value(objective, spectral_norm(within.matrix)))
    r = point.R.shape[1]
    return Certificate(
        bound,
        1 - float(sizes[0]) / 2,
        left[:, 0] / np.sqrt(2 * objective.z.ridge),
        right[0, :r] / np.sqrt(2 * objective.w.ridge),
        right[0, r:] / np.sqrt(2 * objective.theta.ridge),
    )


def optimality_gap(objective: Objective, factors: Factors, multipliers: FloatArray) -> float:
    """How much lower than a fit the objective can be at most, for any factors of any rank.

    Parameters
    ----------
    objective, factors, multipliers
        As for `certify`.

    Returns
    -------
    float
        Objective minus dual value, absolute, at least 0; NaN where the formulation has no such convex
        problem (all but `balanced`).
    """
    if not can_rebalance(objective):
        return float("nan")
    return max(objective.value(factors) - dual_value(objective, factors, multipliers), 0.0)


def dual_value(objective: Objective, factors: Factors, multipliers: FloatArray) -> float:
    """Lower bound of the objective at any factors: that of `certify`, for who wants no direction.

    Parameters
    ----------
    objective, factors, multipliers
        As for `certify`.

    Returns
    -------
    float
        Value of the dual at a feasible point.
    """
    return certify(objective, factors, multipliers).bound


class _DualPoint(NamedTuple):
    """R with columns that sum to 0, Y∘λ likewise, and [R/α, Y∘λ/β]."""

    R: FloatArray
    signed: FloatArray
    matrix: FloatArray

    @classmethod
    def of(cls, objective: Objective, factors: Factors, multipliers: FloatArray) -> _DualPoint:
        """R = 2a(X_c − ZW) and λ of a fit."""
        R = 2 * objective.reconstruction.weight * (objective.X - factors.Z @ factors.W)
        return cls.made(objective, R - R.mean(axis=0), multipliers)

    @classmethod
    def made(cls, objective: Objective, R: FloatArray, multipliers: FloatArray) -> _DualPoint:
        """Of a centered R, and λ that becomes feasible but for the norm."""
        signed = balanced_multipliers(np.clip(multipliers, 0.0, objective.hinge.weights) * objective.Y)
        alpha, beta = scales(objective)
        return cls(R, signed, np.hstack([R / alpha, signed / beta]))

    def lowered(
        self, objective: Objective, sizes: FloatArray, left: FloatArray, right: FloatArray
    ) -> _DualPoint:
        """Singular values above 2 lowered to 2; what that does to λ made feasible again."""
        lowered = self.matrix - (left * np.maximum(sizes - 2.0, 0.0)) @ right
        (alpha, beta), r = scales(objective), self.R.shape[1]
        R = alpha * lowered[:, :r]
        return self.made(objective, R - R.mean(axis=0), beta * lowered[:, r:] * objective.Y)

    def value(self, objective: Objective, size: float) -> float:
        """Value of the dual at cR and cλ, for the c that is best of those that keep them feasible."""
        h, on = objective.hinge.weights, self.signed != 0
        room = np.divide(h, np.abs(self.signed), where=on, out=np.full(h.shape, np.inf)).min()
        limit = min(2 / max(size, 1e-300), room)
        gain = float(np.vdot(self.R, objective.X))
        gain += objective.hinge.margin * float(np.abs(self.signed).sum())
        square = float(np.vdot(self.R, self.R)) / (4 * objective.reconstruction.weight)
        if gain <= 0 or not np.isfinite(limit):
            return objective.constant
        c = min(limit, gain / (2 * square)) if square > 0 else limit
        return float(c * gain - c**2 * square + objective.constant)


def scales(objective: Objective) -> tuple[float, float]:
    """α = √(d_Z d_W) and β = √(d_Z d_Θ): what fit and scores are multiplied by in the trace norm.

    Parameters
    ----------
    objective : Objective
        `balanced` on its data.

    Returns
    -------
    alpha, beta : float
        Both positive.
    """
    d_z = objective.z.ridge
    return float(np.sqrt(d_z * objective.w.ridge)), float(np.sqrt(d_z * objective.theta.ridge))


def balanced_multipliers(signed: FloatArray) -> FloatArray:
    """Y∘λ with columns that sum to 0: the heavier sign of each label scaled down.

    Parameters
    ----------
    signed : array of shape (n, k)
        Y∘λ.

    Returns
    -------
    array of shape (n, k)
        The same, balanced.
    """
    up, down = np.maximum(signed, 0.0), np.maximum(-signed, 0.0)
    heavy, light = up.sum(axis=0), down.sum(axis=0)
    least = np.minimum(heavy, light)
    up *= np.divide(least, heavy, out=np.zeros_like(least), where=heavy > 0)
    down *= np.divide(least, light, out=np.zeros_like(least), where=light > 0)
    return np.asarray(up - down)


def spectral_norm(B: FloatArray) -> float:
    """Largest singular value, from the smaller one of the two Gram matrices.

    Parameters
    ----------
    B : array of shape (p, q)
        A matrix.

    Returns
    -------
    float
        Its norm as a map.
    """
    gram = B @ B.T if B.shape[0] <= B.shape[1] else B.T @ B
    # all of them: where they lie as close together as at an optimum, LAPACK's search for one of them fails
    return float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))


def one_direction(B: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Largest singular value, and vectors that nearly belong to it, in the form of `leading_directions`.

    Parameters
    ----------
    B : array of shape (p, q)
        A matrix.

    Returns
    -------
    sizes, left, right
        Of one singular value.
    """
    left = B @ B[np.argmax((B**2).sum(axis=1))]
    for _ in range(POWERS):
        left = B @ (B.T @ (left / max(float(np.linalg.norm(left)), 1e-300)))
    left /= max(float(np.linalg.norm(left)), 1e-300)
    right = B.T @ left
    right /= max(float(np.linalg.norm(right)), 1e-300)
    return np.array([spectral_norm(B)]), left[:, None], right[None]


def leading_directions(B: FloatArray, least: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular values above a threshold with their vectors, from the smaller Gram matrix.

    Parameters
    ----------
    B : array of shape (p, q)
        A matrix.
    least : float
        The threshold; where none is above, the largest one is returned still.

    Returns
    -------
    sizes : array of shape (rank,)
        Singular values, largest first.
    left : array of shape (p, rank)
        Left singular vectors.
    right : array of shape (rank, q)
        Right ones, in rows.
    """
    wide = B.shape[0] <= B.shape[1]
    squares, vectors = np.linalg.eigh(B @ B.T if wide else B.T @ B)
    sizes = np.sqrt(np.maximum(squares[::-1], 0.0))
    rank = max(int(np.count_nonzero(sizes > least)), 1)
    sizes, vectors = sizes[:rank], vectors[:, ::-1][:, :rank]
    scale = np.maximum(sizes, 1e-300)
    if wide:
        return sizes, vectors, (vectors.T @ B) / scale[:, None]
    return sizes, (B @ vectors) / scale, np.ascontiguousarray(vectors.T)
