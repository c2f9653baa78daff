"""Dual coordinate descent for a weighted hinge with a diagonal quadratic: LIBLINEAR's hinge problem."""

import numpy as np

from svdecode.svdm.kernels.bounds import FLOOR, weighted_square
from svdecode.svdm.kernels.linalg import kernel, vecmat


@kernel
def _inner(x, z):  # type: ignore[no-untyped-def]
    """Inner product, without the overhead of a library call on short vectors."""
    value = 0.0
    for j in range(x.size):
        value += x[j] * z[j]
    return value


@kernel
def _from_multipliers(A, y, H_inv, lam):  # type: ignore[no-untyped-def]
    """The minimizer that belongs to multipliers, θ = H⁻¹Aᵀ(y∘λ)."""
    theta = vecmat(y * lam, A)
    for j in range(theta.size):
        theta[j] *= H_inv[j]
    return theta


@kernel
def _relative_gap(A, y, c, margin, H, theta, lam):  # type: ignore[no-untyped-def]
    """Duality gap of θ = H⁻¹Aᵀ(y∘λ), relative to max(f, 1e-6·margin·Σc)."""
    gap, value, total = 0.0, 0.0, 0.0
    for i in range(y.size):
        if y[i] != 0.0 and c[i] > 0.0:
            slack = margin - y[i] * _inner(A[i], theta)
            hinge = c[i] * max(slack, 0.0)
            value += hinge
            gap += hinge - lam[i] * slack
            total += c[i]
    value += 0.5 * weighted_square(H, theta)
    return gap / max(value, FLOOR * margin * total)


@kernel
def hinge_coordinate_descent(A, y, c, margin, H, lam, max_sweeps, patience, tol):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ + Σ_i c_i max(margin − y_i (Aθ)_i, 0), every H_j > 0, by its dual.

    The new formulation, §2, which is LIBLINEAR's hinge problem (Hsieh et al. 2008, algorithm 1):
    min ½‖H^{-1/2} Aᵀ(y∘λ)‖² − margin·Σλ over 0 ≤ λ ≤ c, one λ_i at a time, in shuffled order.

    Parameters
    ----------
    A : (n, p) array
        Design matrix, with its column of ones where there is a bias.
    y : (n,) array
        Labels in {−1, 1}; 0 switches a sample off.
    c : (n,) array
        Hinge weights ≥ 0.
    margin : float
        Hinge margin μ ≥ 0.
    H : (p,) array
        Diagonal of the quadratic, > 0.
    lam : (n,) array
        Multipliers to start from, clipped to [0, c].
    max_sweeps : int
        Sweeps at most.
    patience : float
        Relative duality gap above which to give up after five sweeps; a tenth of it after ten, and so
        on. inf for never.
    tol : float
        Duality gap at which to stop, relative to max(f, 1e-6·margin·Σc).

    Returns
    -------
    theta : (p,) array
        H⁻¹Aᵀ(y∘λ).
    lam : (n,) array
        Multipliers, in [0, c].
    n_sweeps : int
        Sweeps used.
    converged : bool
        Whether the relative duality gap is at most `tol`.
    """
    n, p = A.shape
    lam = lam.copy()
    curvature, H_inv = np.empty(n), 1.0 / H
    order = np.empty(n, dtype=np.int64)
    n_on = 0
    for i in range(n):
        lam[i] = min(max(lam[i], 0.0), c[i]) if y[i] != 0.0 else 0.0
        if y[i] != 0.0 and c[i] > 0.0:
            order[n_on] = i
            n_on += 1
            curvature[i] = weighted_square(H_inv, A[i])
    theta = _from_multipliers(A, y, H_inv, lam)
    state = np.uint64(1)
    for sweep in range(max_sweeps):
        largest = 0.0
        for slot in range(n_on):
            # a fixed linear congruential generator: a shuffle that is the same in any thread
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            other = slot + np.int64((state >> np.uint64(33)) % np.uint64(n_on - slot))
            order[slot], order[other] = order[other], order[slot]
            i = order[slot]
            slack = margin - y[i] * _inner(A[i], theta)
            target = c[i] if slack > 0.0 else 0.0
            if curvature[i] > 0.0:
                target = min(max(lam[i] + slack / curvature[i], 0.0), c[i])
            change = (target - lam[i]) * y[i]
            if change != 0.0:
                lam[i] = target
                largest = max(largest, abs(slack))
                for j in range(p):
                    theta[j] += change * A[i, j] * H_inv[j]
        due = (sweep + 1) % 5 == 0
        if due or largest <= 1e-2 * margin:  # otherwise not worth a pass over the data
            theta = _from_multipliers(A, y, H_inv, lam)
            gap = _relative_gap(A, y, c, margin, H, theta, lam)
            if gap <= tol:
                return theta, lam, sweep + 1, True
            if due and gap > patience:
                return theta, lam, sweep + 1, False
        if due:
            patience *= 0.1
    return _from_multipliers(A, y, H_inv, lam), lam, max_sweeps, False
