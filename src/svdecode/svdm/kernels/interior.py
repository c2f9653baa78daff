"""Primal-dual interior point for a weighted hinge with a diagonal quadratic, box or ball."""

import numpy as np

from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel, matvec, vecmat

NONE = 0
BOX = 1
BALL = 2
FLOOR = 1e-6  # objectives below FLOOR · margin · Σc count as that much in relative tolerances
ACCEPTED = 1e-7  # relative gap up to which a solution counts as solved


@kernel
def _newton_matrix(A, E, AE, H, w, v, theta, Q, constraint, M):  # type: ignore[no-untyped-def]
    """M = H + AᵀEA + what the constraint adds, and its Cholesky factor in place."""
    n, p = A.shape
    for i in range(n):
        E[i] = 1.0 / (w[i] / v[i] + w[n + i] / v[n + i])
        for j in range(p):
            AE[i, j] = E[i] * A[i, j]
    np.dot(A.T, AE, M)
    for j in range(p):
        M[j, j] += H[j]
        if constraint == BOX:  # z_u/(u − θ) + z_l/(u + θ)
            M[j, j] += v[2 * n + j] / w[2 * n + j] + v[2 * n + p + j] / w[2 * n + p + j]
    if constraint == BALL:  # νQ + (ν/t)(Qθ)(Qθ)ᵀ
        ratio = v[2 * n] / w[2 * n]
        for j in range(p):
            M[j, j] += v[2 * n] * Q[j]
            for k in range(p):
                M[j, k] += ratio * Q[j] * theta[j] * Q[k] * theta[k]
    cholesky(M, 1e-15, 1e128)


@kernel
def _direction(A, E, M, w, v, theta, Q, constraint, r_d, r_p, r_t, r, dtheta, dw, dv):  # type: ignore[no-untyped-def]
    """One Newton direction for the complementarity right-hand side r."""
    n, p = A.shape
    q = np.empty(n)
    Eq = np.empty(n)
    for i in range(n):  # q = r_s/λ − r_ξ/η + r_p
        q[i] = r[i] / v[i] - r[n + i] / v[n + i] + r_p[i]
        Eq[i] = E[i] * q[i]
    AtEq = vecmat(Eq, A)
    for j in range(p):
        dtheta[j] = AtEq[j] - r_d[j]
        if constraint == BOX:
            dtheta[j] += r[2 * n + p + j] / w[2 * n + p + j] - r[2 * n + j] / w[2 * n + j]
        elif constraint == BALL:
            dtheta[j] -= Q[j] * theta[j] * (r[2 * n] + v[2 * n] * r_t) / w[2 * n]
    forward(M, dtheta)
    backward(M, dtheta)
    Adtheta = matvec(A, dtheta)
    for i in range(n):
        dv[i] = E[i] * (q[i] - Adtheta[i])  # Δλ = E(q − AΔθ)
        dv[n + i] = -dv[i]
        dw[n + i] = (r[n + i] + w[n + i] * dv[i]) / v[n + i]  # Δξ = (r_ξ + ξΔλ)/η
        dw[i] = (r[i] - w[i] * dv[i]) / v[i]  # Δs = (r_s − sΔλ)/λ
    if constraint == BOX:
        for j in range(p):
            dw[2 * n + j] = -dtheta[j]
            dw[2 * n + p + j] = dtheta[j]
        for j in range(2 * n, 2 * n + 2 * p):
            dv[j] = (r[j] - v[j] * dw[j]) / w[j]
    elif constraint == BALL:
        dt = -r_t
        for j in range(p):
            dt -= Q[j] * theta[j] * dtheta[j]
        dw[2 * n] = dt
        dv[2 * n] = (r[2 * n] - v[2 * n] * dt) / w[2 * n]


@kernel
def _longest_step(w, v, dw, dv):  # type: ignore[no-untyped-def]
    """Largest step up to which slacks and multipliers stay nonnegative."""
    step = 1e30
    for i in range(w.size):
        if dw[i] < 0.0:
            step = min(step, -w[i] / dw[i])
        if dv[i] < 0.0:
            step = min(step, -v[i] / dv[i])
    return step


@kernel
def _weighted_square(Q, theta):  # type: ignore[no-untyped-def]
    """Sum of Q_j θ_j²."""
    value = 0.0
    for j in range(theta.size):
        value += Q[j] * theta[j] * theta[j]
    return value


@kernel
def _primal(Atheta, m, c, H, g, theta):  # type: ignore[no-untyped-def]
    """Value of ½θᵀHθ − gᵀθ + Σ c_i max(m_i − (Aθ)_i, 0)."""
    value = 0.0
    for i in range(m.size):
        value += c[i] * max(m[i] - Atheta[i], 0.0)
    for j in range(theta.size):
        value += (0.5 * H[j] * theta[j] - g[j]) * theta[j]
    return value


@kernel
def _dual(Atlam, m, v, H, g, theta, Q, constraint):  # type: ignore[no-untyped-def]
    """Value of Σ m_i λ_i − max_θ (vᵀθ − ½θᵀHθ) with v = Aᵀλ + g, θ in the constraint.

    A free coordinate (H = 0, no constraint) wants v = 0; what is left of it is charged at twice
    the current |θ|, which bounds the error as long as the minimizer is not far larger.
    """
    p = H.size
    value, nu = 0.0, 0.0
    for i in range(m.size):
        value += m[i] * v[i]
    if constraint == BALL:
        nu = v[2 * m.size]
        flat = True
        norm = 0.0
        for j in range(p):
            flat = flat and H[j] == 0.0
            norm += (Atlam[j] + g[j]) ** 2 / Q[j]
        if flat:
            return value - np.sqrt(norm)
        value -= 0.5 * nu
    for j in range(p):
        size = abs(Atlam[j] + g[j])
        if constraint == BALL:
            value -= 0.5 * size * size / (H[j] + nu * Q[j])
        elif constraint == BOX:
            peak = 1.0 / Q[j] if H[j] <= size * Q[j] else size / H[j]
            value -= size * peak - 0.5 * H[j] * peak * peak
        elif H[j] > 0.0:
            value -= 0.5 * size * size / H[j]
        else:
            value -= 2.0 * size * abs(theta[j])
    return value


@kernel
def _start(m, c, Q, constraint):  # type: ignore[no-untyped-def]
    """Slacks w = [s, ξ, …] and multipliers v = [λ, η, …] at θ = 0."""
    n, p = m.size, Q.size
    extra = 2 * p if constraint == BOX else (1 if constraint == BALL else 0)
    w = np.empty(2 * n + extra)
    v = np.empty(2 * n + extra)
    mu = 0.0
    for i in range(n):
        v[i] = min(0.5 * c[i], 1.0)
        v[n + i] = c[i] - v[i]
        w[n + i] = max(m[i], 0.0) + 1.0
        w[i] = w[n + i] - m[i]
        mu += v[i] * w[i] / n
    for j in range(extra):
        w[2 * n + j] = 1.0 / Q[j % p] if constraint == BOX else 0.5
        v[2 * n + j] = mu / w[2 * n + j]
    return w, v


@kernel
def _feasible(theta, Q, constraint):  # type: ignore[no-untyped-def]
    """Take θ back into the box |θ_j| ≤ 1/Q_j or the ball Σ Q_j θ_j² ≤ 1."""
    out = theta.copy()
    if constraint == BOX:
        for j in range(out.size):
            out[j] = min(max(out[j], -1.0 / Q[j]), 1.0 / Q[j])
    elif constraint == BALL:
        norm = np.sqrt(_weighted_square(Q, out))
        if norm > 1.0:
            for j in range(out.size):
                out[j] /= norm
    return out


@kernel
def _residuals(A, m, H, g, w, v, theta, Q, constraint, Atlam, r_d, r_p):  # type: ignore[no-untyped-def]
    """Dual residual r_d, primal residual r_p, and the ball's r_t (returned)."""
    n, p = A.shape
    Atheta = matvec(A, theta)
    for i in range(n):
        r_p[i] = w[i] - (Atheta[i] + w[n + i] - m[i])
    r_t = 0.0
    if constraint == BALL:
        r_t = w[2 * n] - 0.5 * (1.0 - _weighted_square(Q, theta))
    for j in range(p):
        r_d[j] = H[j] * theta[j] - g[j] - Atlam[j]
        if constraint == BOX:
            r_d[j] += v[2 * n + j] - v[2 * n + p + j]
        elif constraint == BALL:
            r_d[j] += v[2 * n] * Q[j] * theta[j]
    return r_t


@kernel
def _complementarity(w, v, dw, dv, r):  # type: ignore[no-untyped-def]
    """Right-hand side r = σμ − wv − ΔwΔv, with Mehrotra's σ = (μ_aff/μ)³ of the step (dw, dv)."""
    step = min(1.0, _longest_step(w, v, dw, dv))
    mu, mu_affine = 0.0, 0.0
    for i in range(w.size):
        mu += w[i] * v[i]
        mu_affine += (w[i] + step * dw[i]) * (v[i] + step * dv[i])
    target = (mu_affine / mu) ** 3 * mu / w.size
    for i in range(w.size):
        r[i] = target - w[i] * v[i] - dw[i] * dv[i]


@kernel
def _move(theta, w, v, dtheta, dw, dv, step):  # type: ignore[no-untyped-def]
    """Take the step; False where it is not finite."""
    for j in range(theta.size):
        change = step * dtheta[j]
        if not np.isfinite(change):
            return False
        theta[j] += change
    for i in range(w.size):
        w[i] += step * dw[i]
        v[i] += step * dv[i]
    return True


@kernel
def _iterate(A, m, c, H, g, Q, constraint, max_iter, tol):  # type: ignore[no-untyped-def]
    """Mehrotra's predictor-corrector on scaled data; returns θ, λ, iterations and relative gap."""
    n, p = A.shape
    w, v = _start(m, c, Q, constraint)
    theta, dtheta = np.zeros(p), np.empty(p)
    dw, dv, r = np.empty(w.size), np.empty(w.size), np.empty(w.size)
    r_d, r_p, E, AE, M = np.empty(p), np.empty(n), np.empty(n), np.empty((n, p)), np.empty((p, p))
    best_theta, best_lam = np.zeros(p), np.zeros(n)
    best_f, best_d, best_gap, stalled, it = np.inf, -np.inf, np.inf, 0, 0
    weight = 0.0
    for i in range(n):
        weight += FLOOR * c[i]
    while True:
        Atlam = vecmat(v[:n], A)
        point = _feasible(theta, Q, constraint)
        f = _primal(matvec(A, point), m, c, H, g, point)
        if f < best_f:
            best_f, best_theta = f, point
        d = _dual(Atlam, m, v, H, g, theta, Q, constraint)
        if d > best_d:
            best_d = d
            best_lam[:] = v[:n]
        gap = (best_f - best_d) / max(abs(best_f), weight)
        stalled = 0 if gap < 0.5 * best_gap else stalled + 1
        best_gap = min(gap, best_gap)
        if not gap > tol or it == max_iter or (stalled >= 8 and gap < 1e-3) or stalled >= 30:
            break
        it += 1
        r_t = _residuals(A, m, H, g, w, v, theta, Q, constraint, Atlam, r_d, r_p)
        _newton_matrix(A, E, AE, H, w, v, theta, Q, constraint, M)
        for corrector in range(2):
            if corrector:
                _complementarity(w, v, dw, dv, r)
                if constraint == BALL:  # the ball's curvature, to second order
                    r_t += 0.5 * _weighted_square(Q, dtheta)
            else:
                for i in range(w.size):
                    r[i] = -w[i] * v[i]
            _direction(A, E, M, w, v, theta, Q, constraint, r_d, r_p, r_t, r, dtheta, dw, dv)
        step = min(1.0, 0.995 * _longest_step(w, v, dw, dv))
        if not _move(theta, w, v, dtheta, dw, dv, step):
            break
    return best_theta, best_lam, it, best_gap


@kernel
def interior_point(A, m, c, H, g, constraint, radius, max_iter, tol):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ − gᵀθ + Σ_i c_i max(m_i − (Aθ)_i, 0), θ free, in a box or in a ball.

    Pereira & Gordon 2006, §2.3 and the new formulation, §2 (their Θ and Z steps), by a primal-dual
    interior point with Mehrotra's predictor-corrector; O(n p²) an iteration.

    Parameters
    ----------
    A : (n, p) array
        Design, each row already multiplied by its label.
    m : (n,) array
        Margins, of any sign.
    c : (n,) array
        Weights, all positive.
    H, g : (p,) array
        Diagonal of the quadratic (≥ 0) and linear term.
    constraint : int
        0 none, 1 box |θ_j| ≤ radius, 2 ball ‖θ‖ ≤ radius.
    radius : float
        Of the box or ball.
    max_iter : int
        Iterations at most.
    tol : float
        Duality gap at which to stop, relative to max(|f|, 1e-6·max|m|·Σc).

    Returns
    -------
    theta : (p,) array
        Minimizer.
    lam : (n,) array
        Multipliers of the hinges, in [0, c].
    n_iter : int
        Iterations used.
    ok : bool
        Whether the relative gap is at most 1e-7.
    """
    n, p = A.shape
    # columns to root mean square 1, margins to 1, weights to Σc = 10: θ = margin · d ∘ θ'
    margin, total = 0.0, 0.0
    for i in range(n):
        margin = max(margin, abs(m[i]))
        total += c[i]
    margin = margin if margin > 0.0 else 1.0
    d, Q, scaled = np.zeros(p), np.empty(p), np.empty((n, p))
    for i in range(n):
        for j in range(p):
            d[j] += A[i, j] * A[i, j]
    for j in range(p):
        d[j] = np.sqrt(n / d[j]) if d[j] > 0.0 else 1.0
        Q[j] = margin * d[j] / radius if constraint == BOX else (margin * d[j] / radius) ** 2
    for i in range(n):
        for j in range(p):
            scaled[i, j] = A[i, j] * d[j]
    unit = 10.0 / total
    theta, lam, n_iter, gap = _iterate(
        scaled, m / margin, c * unit, H * d * d * (margin * unit), g * d * unit,
        Q, constraint, max_iter, tol,
    )  # fmt: skip
    for j in range(p):
        theta[j] *= d[j] * margin
    for i in range(n):
        lam[i] = min(max(lam[i] / unit, 0.0), c[i])
    return theta, lam, n_iter, gap <= ACCEPTED
