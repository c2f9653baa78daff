"""The Θ step: one linear support vector machine per label on the low-dimensional coordinates."""

import numpy as np

from svdecode.svdm.kernels.bounds import FLOOR, NONE, weighted_square
from svdecode.svdm.kernels.interior import interior_point
from svdecode.svdm.kernels.linalg import kernel, vecmat

SWEEPS = 20  # of coordinate descent before the interior point takes over,
PATIENCE = 1e-3  # or fewer: relative gap wanted after five sweeps, a tenth of it after five more
MAX_ITER = 200
TOL = 1e-12


@kernel
def _one_sided(A, y, index, margin, H, constraint):  # type: ignore[no-untyped-def]
    """Value of θ_0 that meets every margin at no cost, or 0 where there is none.

    With one class and a free bias the minimizers are unbounded and the interior point diverges.
    """
    if constraint != NONE or H[0] != 0.0:
        return 0.0
    smallest, sign = np.inf, 0.0
    for i in index:
        value = y[i] * A[i, 0]
        if value == 0.0 or value * sign < 0.0:
            return 0.0
        sign = 1.0 if value > 0.0 else -1.0
        smallest = min(smallest, abs(value))
    return sign * margin / smallest * (1.0 + 1e-15)


@kernel
def hinge_interior_point(A, y, c, margin, H, constraint, radius, max_iter, tol):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ + Σ_i c_i max(margin − y_i (Aθ)_i, 0), θ free, in a box or in a ball.

    Pereira & Gordon 2006, §2.3 (ball); the new formulation, §2 (H = 1); Xi 2007, (3) (box) and
    Part V (H_0 = 0: bias free).

    Parameters
    ----------
    A : (n, p) array
        Design matrix, with its column of ones where there is a bias.
    y : (n,) array
        Labels in {−1, 1}; 0 switches a sample off.
    c : (n,) array
        Hinge weights ≥ 0; 0 switches a sample off.
    margin : float
        Hinge margin μ ≥ 0.
    H : (p,) array
        Diagonal of the quadratic, ≥ 0.
    constraint : int
        0 none, 1 box |θ_j| ≤ radius, 2 ball ‖θ‖ ≤ radius.
    radius : float
        Of the box or ball.
    max_iter : int
        Iterations at most.
    tol : float
        Duality gap at which to stop, relative to max(f, 1e-6·margin·Σc).

    Returns
    -------
    theta : (p,) array
        Minimizer; of all minimizers 0 if every sample is off or the margin is 0.
    lam : (n,) array
        Multipliers of the hinges, in [0, c]; 0 for samples that are off.
    n_iter : int
        Iterations used.
    ok : bool
        Whether the relative gap is at most 1e-7.
    """
    p = A.shape[1]
    lam = np.zeros(y.size)
    index = np.empty(y.size, dtype=np.int64)
    n_on = 0
    for i in range(y.size):
        if y[i] != 0.0 and c[i] > 0.0:
            index[n_on] = i
            n_on += 1
    theta = np.zeros(p)
    if n_on == 0 or margin <= 0.0:
        return theta, lam, 0, True
    theta[0] = _one_sided(A, y, index[:n_on], margin, H, constraint)
    if theta[0] != 0.0:
        return theta, lam, 0, True
    signed = np.empty((n_on, p))
    weights = np.empty(n_on)
    for row in range(n_on):
        i = index[row]
        weights[row] = c[i]
        for j in range(p):
            signed[row, j] = y[i] * A[i, j]
    margins = np.full(n_on, margin)
    theta, lam_on, n_iter, ok = interior_point(
        signed, margins, weights, H, np.zeros(p), constraint, radius, max_iter, tol
    )
    for row in range(n_on):
        lam[index[row]] = lam_on[row]
    return theta, lam, n_iter, ok


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


@kernel
def theta_step(A, Y, C, margin, H, constraint, radius, lam_warm):  # type: ignore[no-untyped-def]
    """Minimize ½θ_jᵀdiag(H)θ_j + Σ_i C_ij max(margin − Y_ij (AΘ)_ij, 0) for every label j.

    At most 20 warm sweeps of dual coordinate descent where every H_j > 0 and there is no
    constraint; the interior point where they promise no convergence or do not apply.

    Parameters
    ----------
    A : (n, p) array
        Design matrix, with its column of ones where there is a bias.
    Y : (n, k) array
        Labels in {−1, 1}; 0 switches an entry off.
    C : (n, k) array
        Hinge weights ≥ 0.
    margin : float
        Hinge margin μ ≥ 0.
    H : (p,) array
        Diagonal of the quadratic, ≥ 0.
    constraint : int
        0 none, 1 box |θ| ≤ radius, 2 ball ‖θ_j‖ ≤ radius.
    radius : float
        Of the box or ball.
    lam_warm : (n, k) array
        Multipliers to start from: zeros, or those of the last step.

    Returns
    -------
    Theta : (p, k) array
        Minimizers.
    Lam : (n, k) array
        Multipliers, in [0, C].
    """
    n, p = A.shape
    k = Y.shape[1]
    Theta, Lam = np.zeros((p, k)), np.zeros((n, k))
    y, c, lam = np.empty(n), np.empty(n), np.empty(n)
    max_iter = int(MAX_ITER)  # int(): a constant would be compiled in, once more
    descends = constraint == NONE and np.min(H) > 0.0
    for label in range(k):
        for i in range(n):
            y[i], c[i], lam[i] = Y[i, label], C[i, label], lam_warm[i, label]
        converged = False
        if descends:
            theta, solved, _, converged = hinge_coordinate_descent(
                A, y, c, margin, H, lam, SWEEPS, PATIENCE, TOL
            )
        if not converged:
            theta, solved, _, _ = hinge_interior_point(A, y, c, margin, H, constraint, radius, max_iter, TOL)
        for j in range(p):
            Theta[j, label] = theta[j]
        for i in range(n):
            Lam[i, label] = solved[i]
    return Theta, Lam
