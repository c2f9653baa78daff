"""Primal-dual interior point for a regression whose rows of coefficients stay within the unit ball."""

import numpy as np

from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel
from svdecode.svdm.kernels.rows import inner, product, rescale_rows, solve_rows, transposed

EPS = 2.220446049250313e-16
GAP = 1e-13  # relative duality gap at which to stop
MAX_ITER = 100
CLOSE = 1e-3  # gap below which no progress means that rounding has been reached,
STALLED = 8  # after so many iterations


@kernel
def duality_gap(S, R, ridge, W, nu):  # type: ignore[no-untyped-def]
    """Duality gap of a feasible W and multipliers ν ≥ 0, relative to the size of the objective.

    With M = S + diag(ridge + ν) and E = R − MW it is Σ ν_i (1 − ‖w_i‖²) + tr(EᵀM⁻¹E), a sum of
    squares without cancellation, over ⟨R, W⟩ + Σ ν_i, which at the minimum is minus the objective.
    M⁻¹ has a ridge of the size of rounding: where M is singular but for that, rows of length one can
    still gain, so that an E along such directions must not pass for nothing.

    Parameters
    ----------
    S : (l, l) array
        Gram matrix of the coordinates.
    R : (l, r) array
        Product of coordinates and data.
    ridge : float
        Ridge.
    W : (l, r) array
        Rows of norm at most one.
    nu : (l,) array
        Multipliers of ‖w_i‖² ≤ 1.

    Returns
    -------
    float
        At least the relative distance of the objective from its minimum.
    """
    n_rows, r = W.shape
    M = S.copy()
    for i in range(n_rows):
        M[i, i] += ridge + nu[i]
    E = product(M, W)
    for i in range(n_rows):
        for c in range(r):
            E[i, c] = R[i, c] - E[i, c]
    V = E.copy()
    for i in range(n_rows):
        M[i, i] += 4.0 * n_rows * EPS * M[i, i]
    cholesky(M, EPS, np.inf)
    solve_rows(M, V)
    gap, size = 0.0, 1e-300
    for i in range(n_rows):
        gap += nu[i] * max(1.0 - inner(W, W, i), 0.0) + inner(E, V, i)
        size += nu[i] + inner(R, W, i)
    return gap / abs(size)


@kernel
def _direction(T, A, W, nu, t, F, p, q):  # type: ignore[no-untyped-def]
    """Newton direction of W, ν and the slacks t from T = M⁻¹ and the factor A of T∘WWᵀ + diag(t/ν).

    M dW + dν∘W = −F, dt + ⟨w, dw⟩ = −p, t dν + ν dt = −q. Also the step up to which ν, t ≥ 0.
    """
    n_rows, r = W.shape
    TF = product(T, F)
    dnu, dt, V = np.empty(n_rows), np.empty(n_rows), np.empty((n_rows, r))
    for i in range(n_rows):
        dnu[i] = p[i] - q[i] / nu[i] - inner(W, TF, i)
    forward(A, dnu)
    backward(A, dnu)
    longest = 1e30
    for i in range(n_rows):
        dt[i] = -(q[i] + t[i] * dnu[i]) / nu[i]
        if dnu[i] < 0.0:
            longest = min(longest, -nu[i] / dnu[i])
        if dt[i] < 0.0:
            longest = min(longest, -t[i] / dt[i])
        for c in range(r):
            V[i, c] = -F[i, c] - dnu[i] * W[i, c]
    return product(T, V), dnu, dt, longest


@kernel
def _newton_system(C, R, W, nu, t, p, q):  # type: ignore[no-untyped-def]
    """T = M⁻¹, the factor A of T∘WWᵀ + diag(t/ν), F = MW − R, and the residuals p and q, in place."""
    n_rows, r = W.shape
    L, T = C.copy(), np.eye(n_rows)
    for i in range(n_rows):
        L[i, i] += nu[i]
    F = product(L, W)
    cholesky(L, EPS, 4.0 * n_rows * EPS)
    solve_rows(L, T)
    A = product(W, transposed(W))
    for i in range(n_rows):
        p[i], q[i] = t[i] - 0.5 * (1.0 - A[i, i]), nu[i] * t[i]
        for c in range(r):
            F[i, c] -= R[i, c]
        for j in range(n_rows):
            A[i, j] *= T[i, j]
        A[i, i] += t[i] / nu[i]
    cholesky(A, EPS, 1.0)
    return T, A, F


@kernel
def within_interior_point(S, R, ridge):  # type: ignore[no-untyped-def]
    """Minimize tr(WᵀSW) − 2⟨R, W⟩ + ridge·‖W‖² with rows within the unit ball; Xi 2007, (15) and (17).

    One multiplier ν_i and slack t_i for each ½(‖w_i‖² − 1) ≤ 0, Mehrotra's predictor and corrector,
    M = C + diag(ν) with C = S + ridge·I and a ridge at rounding level, which makes W unique.

    Parameters
    ----------
    S : (l, l) array
        Gram matrix of the coordinates.
    R : (l, r) array
        Product of coordinates and data.
    ridge : float
        Ridge.

    Returns
    -------
    W : (l, r) array
        The feasible iterate of the smallest duality gap.
    gap : float
        That gap, relative to the objective.
    n_iter : int
        Iterations used.
    """
    n_rows, r = R.shape
    C, W, nu, t = S.copy(), R.copy(), np.empty(n_rows), np.empty(n_rows)
    p, q = np.empty(n_rows), np.empty(n_rows)
    largest = 0.0
    for i in range(n_rows):
        largest = max(largest, S[i, i] + ridge)
    for i in range(n_rows):
        C[i, i] += ridge + 4.0 * n_rows * EPS * S[i, i]
        if C[i, i] == 0.0:  # an empty coordinate: any curvature will do
            C[i, i] = largest
        norm = np.sqrt(inner(R, R, i))
        for c in range(r):
            W[i, c] /= max(C[i, i], 2.0 * norm)
        nu[i] = 0.5 * norm + 1e-12 * C[i, i]
        t[i] = 0.5 * (1.0 - inner(W, W, i))
    best, smallest, stalled, n_iter = W, np.inf, 0, 0
    while n_iter < MAX_ITER:
        inside = W.copy()
        rescale_rows(inside, False)
        gap = duality_gap(C, R, 0.0, inside, nu)
        stalled += 1 if gap < CLOSE else 0
        if gap < smallest:
            best, smallest, stalled = inside, gap, 0
        if smallest <= GAP or stalled == STALLED:
            break
        T, A, F = _newton_system(C, R, W, nu, t, p, q)
        for corrector in range(2):
            dW, dnu, dt, longest = _direction(T, A, W, nu, t, F, p, q)
            if corrector:
                break
            a = min(1.0, longest)
            mu, ahead = 0.0, 0.0
            for i in range(n_rows):
                mu += nu[i] * t[i] / n_rows
                ahead += (nu[i] + a * dnu[i]) * (t[i] + a * dt[i]) / n_rows
            for i in range(n_rows):
                p[i] += 0.5 * a * a * inner(dW, dW, i)
                q[i] += a * a * dnu[i] * dt[i] - mu * (ahead / mu) ** 3
                for c in range(r):
                    F[i, c] += a * a * dnu[i] * dW[i, c]
        n_iter += 1
        a = min(1.0, 0.995 * longest)
        for i in range(n_rows):
            nu[i] += a * dnu[i]
            t[i] += a * dt[i]
            for c in range(r):
                W[i, c] += a * dW[i, c]
    return best, smallest, n_iter
