"""Splitting with acceleration: the scores get a variable of their own, so that nothing can jam.

T (n × k) stands in place of the scores. One application of the map: the factors that fit X and T
best at weight ρ (a smooth problem, all blocks together), then the proximal step of the hinge, then
an over-relaxed step of T towards where the two agree, accelerated by Anderson's method.
"""

import numpy as np

from svdecode.svdm.kernels.alternation import balancing, basis_step, design, theta_quadratic, z_quadratic
from svdecode.svdm.kernels.coordinates import free_coordinates
from svdecode.svdm.kernels.linalg import kernel
from svdecode.svdm.kernels.stationarity import BALL, BOX, objective_value

RELAXATION = 1.6
TINY = 1e-300


@kernel
def _box_least_squares(G, C, radius, start):  # type: ignore[no-untyped-def]
    """Rows θ_j of min θᵀGθ − 2c_jᵀθ with |θ| ≤ radius, by coordinate descent."""
    out = start.copy()
    k, p = C.shape
    for j in range(k):
        for _ in range(200):
            largest, scale = 0.0, TINY
            for i in range(p):
                rest = C[j, i]
                for q in range(p):
                    if q != i:
                        rest -= G[i, q] * out[j, q]
                new = out[j, i]
                if G[i, i] > 0.0:
                    new = min(max(rest / G[i, i], -radius), radius)
                largest = max(largest, abs(new - out[j, i]))
                scale = max(scale, abs(new))
                out[j, i] = new
            if largest <= 1e-12 * scale:
                break
    return out


@kernel
def _fit_discriminants(T, rho, numbers, n_unseen, Z, Theta, bias):  # type: ignore[no-untyped-def]
    """Θ and b of min (ρ/2)‖T − 1b − SΘ‖² + penalties, in place."""
    seen = Z.shape[1] - n_unseen
    A = design(np.ascontiguousarray(Z[:, :seen]), numbers.has_bias)
    quadratic = theta_quadratic(numbers, seen)
    transposed = np.ascontiguousarray(A.T)
    G = 0.5 * rho * np.dot(transposed, A)
    for j in range(quadratic.size):
        G[j, j] += 0.5 * quadratic[j]
    C = 0.5 * rho * np.ascontiguousarray(np.dot(transposed, T).T)
    if numbers.theta_constraint == BOX:
        solved = _box_least_squares(G, C, numbers.theta_radius, np.ascontiguousarray(Theta[:seen].T))
    elif numbers.theta_constraint == BALL:
        solved = free_coordinates(C, G, numbers.theta_radius)
    else:
        solved = free_coordinates(C, G, np.inf)
    if numbers.has_bias:
        bias[:] = solved[:, 0]
        Theta[:seen] = solved[:, 1:].T
    else:
        Theta[:seen] = solved.T


@kernel
def _fit_coordinates(X, T, rho, numbers, n_unseen, Z, W, mean, Theta, bias):  # type: ignore[no-untyped-def]
    """Z of min a‖X − 1w₀ − ZW‖² + (ρ/2)‖T − 1b − ZΘ‖² + penalties, in place.

    Unseen coordinates F cost nothing beyond the fit: they are eliminated first (Schur's complement).
    """
    A, C = z_quadratic(X, numbers, W, mean)
    A += 0.5 * rho * np.dot(Theta, np.ascontiguousarray(Theta.T))
    C += 0.5 * rho * np.dot(T - bias, np.ascontiguousarray(Theta.T))
    l = A.shape[0]
    seen = l - n_unseen
    if n_unseen == 0:
        Z[:] = free_coordinates(C, A, numbers.z_radius)
        return
    for j in range(seen, l):
        A[j, j] -= numbers.z_ridge
    A_ff, A_sf = np.ascontiguousarray(A[seen:, seen:]), np.ascontiguousarray(A[:seen, seen:])
    C_f = np.ascontiguousarray(C[:, seen:])
    through = free_coordinates(A_sf, A_ff, np.inf)  # A_sf A_ff⁻¹
    A_s = np.ascontiguousarray(A[:seen, :seen]) - np.dot(through, np.ascontiguousarray(A_sf.T))
    C_s = np.ascontiguousarray(C[:, :seen]) - np.dot(C_f, np.ascontiguousarray(through.T))
    S = free_coordinates(C_s, A_s, numbers.z_radius)
    Z[:, :seen] = S
    Z[:, seen:] = free_coordinates(C_f - np.dot(S, A_sf), A_ff, np.inf)


@kernel
def balance(numbers, n_unseen, Z, W, mean, Theta, bias):  # type: ignore[no-untyped-def]
    """Spread norms over the factors as the penalties like it best, where that is allowed; in place."""
    l = Z.shape[1]
    seen = l - n_unseen
    if np.isfinite(numbers.z_radius) or numbers.theta_constraint != 0 or numbers.w_rows != 0:
        pass
    elif numbers.z_ridge > 0.0 and numbers.theta_ridge > 0.0:
        if numbers.mean_is_free and numbers.bias_ridge == 0.0:
            for j in range(l):
                shift = Z[:, j].mean()
                for i in range(Z.shape[0]):
                    Z[i, j] -= shift
                mean += shift * W[j]
                bias += shift * Theta[j]
        S, W_s = np.ascontiguousarray(Z[:, :seen]), np.ascontiguousarray(W[:seen])
        Theta_s = np.ascontiguousarray(Theta[:seen])
        G = numbers.z_ridge * np.dot(np.ascontiguousarray(S.T), S)
        K = numbers.theta_ridge * np.dot(Theta_s, np.ascontiguousarray(Theta_s.T))
        if numbers.w_ridge > 0.0:
            K += numbers.w_ridge * np.dot(W_s, np.ascontiguousarray(W_s.T))
        to_new, to_old = balancing(G, K)
        Z[:, :seen] = np.dot(S, to_new)
        W[:seen] = np.dot(to_old, W_s)
        Theta[:seen] = np.dot(to_old, Theta_s)
    for j in range(seen, l):  # unseen coordinates: any scale does; unit images are well conditioned
        size = np.sqrt(np.dot(W[j], W[j]))
        if size > 0.0:
            W[j] /= size
            Z[:, j] *= size


@kernel
def prepare(X, T, rho, numbers, n_unseen, Z, W, mean, Theta, bias):  # type: ignore[no-untyped-def]
    """W, Θ and b that fit given coordinates, in place."""
    basis_step(X, numbers, Z, W, mean)
    _fit_discriminants(T, rho, numbers, n_unseen, Z, Theta, bias)
    balance(numbers, n_unseen, Z, W, mean, Theta, bias)


@kernel
def smooth_fit(X, T, rho, numbers, n_unseen, Z, W, mean, Theta, bias, slack, max_passes):  # type: ignore[no-untyped-def]
    """Factors of min a‖X − 1w₀ − ZW‖² + (ρ/2)‖T − 1b − ZΘ‖² + penalties, warm, in place.

    Least-squares passes over the blocks, re-balanced, until a pass gains less than a hundredth of
    (ρ/2)·slack², which is what the splitting itself still has to gain.

    Parameters
    ----------
    X : (n, r) array
        Centered rows in reduced coordinates.
    T : (n, k) array
        What stands for the scores.
    rho : float
        ρ.
    numbers, n_unseen, Z, W, mean, Theta, bias
        As for `residuals`.
    slack : float
        Distance ‖P − S‖ of the last iteration.
    max_passes : int
        Passes at most.

    Returns
    -------
    int
        Passes used.
    """
    off = np.zeros(T.shape)
    before = np.inf
    for passes in range(max_passes):
        _fit_coordinates(X, T, rho, numbers, n_unseen, Z, W, mean, Theta, bias)
        balance(numbers, n_unseen, Z, W, mean, Theta, bias)
        basis_step(X, numbers, Z, W, mean)
        _fit_discriminants(T, rho, numbers, n_unseen, Z, Theta, bias)
        value = objective_value(X, T, off, numbers, n_unseen, Z, W, mean, Theta, bias)
        value += 0.5 * rho * ((T - bias - np.dot(Z, Theta)) ** 2).sum()
        gained = before - value
        if gained <= max(0.005 * rho * slack * slack, 1e-15 * value):
            return passes + 1
        before = value
    return max_passes


@kernel
def hinge_proximal(V, Y, H, margin, rho):  # type: ignore[no-untyped-def]
    """Proximal step of the hinge at weight ρ, and its multipliers λ = ρ Y∘(P − V)."""
    P, Lam = V.copy(), np.zeros(V.shape)
    for i in range(V.shape[0]):
        for j in range(V.shape[1]):
            if Y[i, j] != 0.0 and H[i, j] > 0.0:
                short = margin - Y[i, j] * V[i, j]
                move = min(max(short, 0.0), H[i, j] / rho)
                P[i, j] += Y[i, j] * move
                Lam[i, j] = min(rho * move, H[i, j])
    return P, Lam


@kernel
def anderson(point, step, past_points, past_steps, n_past):  # type: ignore[no-untyped-def]
    """Anderson's type II mixture of the last steps: point + step − Σ γ_q Δ(point + step)_q.

    Parameters
    ----------
    point, step : (N,) arrays
        Where the map was applied, and what it added.
    past_points, past_steps : (memory, N) arrays
        Earlier ones, oldest first; shifted and filled in place.
    n_past : int
        How many of them are filled.

    Returns
    -------
    next : (N,) array
        Where to apply the map next.
    n_past : int
        How many earlier ones are filled now.
    """
    memory = past_points.shape[0]
    plain = point + step
    out = plain.copy()
    if n_past > 0:
        D = np.empty((step.size, n_past))
        E = np.empty((step.size, n_past))
        for q in range(n_past):
            last = q + 1 == n_past
            D[:, q] = (step if last else past_steps[q + 1]) - past_steps[q]
            E[:, q] = (plain if last else past_points[q + 1] + past_steps[q + 1]) - (
                past_points[q] + past_steps[q]
            )
        Q, R = np.linalg.qr(D)
        gamma = np.dot(np.ascontiguousarray(Q.T), step)
        largest = np.abs(np.diag(R)).max()
        for q in range(n_past - 1, -1, -1):
            for p in range(q + 1, n_past):
                gamma[q] -= R[q, p] * gamma[p]
            gamma[q] = gamma[q] / R[q, q] if abs(R[q, q]) > 1e-10 * largest else 0.0
        out -= np.dot(E, gamma)
    if n_past == memory:
        past_points[:-1] = past_points[1:].copy()
        past_steps[:-1] = past_steps[1:].copy()
        n_past = memory - 1
    past_points[n_past] = point
    past_steps[n_past] = step
    return out, n_past + 1
