"""The convex problem behind `balanced`, and how far a fit is from its optimum.

With columns scaled by the roots of their penalties, the least that the three penalties cost over all
factors with Z [W Θ] = M is a trace norm of M (Srebro's relaxation, which Pereira & Gordon 2006, §2.6,
name as future work). So `balanced` can lie no lower than that convex problem, whose dual is

    max ⟨R, X_c⟩ − ‖R‖²/(4a) + μ Σλ   s.t.  1ᵀR = 0, 1ᵀ(Y∘λ) = 0, 0 ≤ λ ≤ h, ‖[R/α, Y∘λ/β]‖₂ ≤ 2

with α² = d_Z d_W and β² = d_Z d_Θ. Any feasible (R, λ) bounds every possible objective from below.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.schemes import can_rebalance


def optimality_gap(objective: Objective, factors: Factors, multipliers: FloatArray) -> float:
    """How much lower than a fit the objective can be at most, for any factors of any rank.

    The fit's residual and multipliers, made feasible, are a point of the dual.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.
    factors : Factors
        The fit.
    multipliers : array of shape (n, k)
        λ in [0, h] of its hinges.

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
    """Value of the dual at a fit's residual and multipliers, made feasible.

    Parameters
    ----------
    objective, factors, multipliers
        As for `optimality_gap`.

    Returns
    -------
    float
        A lower bound of the convex problem, and so of the objective at any factors.
    """
    a, h = objective.reconstruction.weight, objective.hinge.weights
    R = 2 * a * (objective.X - factors.Z @ factors.W)
    R -= R.mean(axis=0)
    signed = balanced_multipliers(np.clip(multipliers, 0.0, h) * objective.Y)
    alpha = np.sqrt(objective.z.ridge * objective.w.ridge)
    beta = np.sqrt(objective.z.ridge * objective.theta.ridge)
    size = spectral_norm(np.hstack([R / alpha, signed / beta]))
    on = signed != 0
    # both are multiplied by the c that is best of those that keep them feasible
    limit = min(
        2 / max(size, 1e-300), np.divide(h, np.abs(signed), where=on, out=np.full(h.shape, np.inf)).min()
    )
    gain = float(np.vdot(R, objective.X)) + objective.hinge.margin * float(np.abs(signed).sum())
    square = float(np.vdot(R, R)) / (4 * a)
    if gain <= 0 or not np.isfinite(limit):
        return objective.constant
    c = min(limit, gain / (2 * square)) if square > 0 else limit
    return float(c * gain - c**2 * square + objective.constant)


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
    last = len(gram) - 1
    largest = eigh(gram, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0]
    return float(np.sqrt(max(largest, 0.0)))
