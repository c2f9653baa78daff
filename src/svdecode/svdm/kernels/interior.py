"""Primal-dual interior point for a weighted hinge with a diagonal quadratic, box or ball."""

import numpy as np

from svdecode.svdm.kernels.bounds import BALL, BOX, FLOOR, NONE, balanced, dual_value, feasible, primal_value
from svdecode.svdm.kernels.cone import LINES, RIGHT, add_cone, cone_direction, cone_rhs, cone_step, scale_cone
from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel, matvec, vecmat

ACCEPTED = 1e-7  # relative gap up to which a solution counts as solved
LONG = 0.9  # steps of this length need no further corrector
CORRECTORS = 1  # of centrality, after Gondzio, where steps are shorter; more do not pay
SPREAD = 10.0  # how far from the target complementarity products may be without correction
STALLS = 3  # iterations without half the gap: steps become cautious,
CAUTION = 0.3  # and go for at least this share of μ
STALLED = 20  # iterations without half the gap: the limit of rounding


@kernel
def _newton_matrix(A, E, AE, H, w, v, D, constraint, table, eta, M):  # type: ignore[no-untyped-def]
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
    if constraint == BALL:
        add_cone(table, eta, D, M)
    cholesky(M, 1e-15, 1e128)


@kernel
def _direction(A, E, M, w, v, D, constraint, table, eta, r_d, r_p, r, dtheta, dw, dv):  # type: ignore[no-untyped-def]
    """One Newton direction for the complementarity right-hand side r (the ball's is in its table)."""
    n, p = A.shape
    q, Eq = np.empty(n), np.empty(n)
    for i in range(n):  # q = r_s/λ − r_ξ/η + r_p
        q[i] = r[i] / v[i] - r[n + i] / v[n + i] + r_p[i]
        Eq[i] = E[i] * q[i]
    AtEq = vecmat(Eq, A)
    for j in range(p):
        dtheta[j] = AtEq[j] - r_d[j]
        if constraint == BOX:
            dtheta[j] += r[2 * n + p + j] / w[2 * n + p + j] - r[2 * n + j] / w[2 * n + j]
        elif constraint == BALL:
            dtheta[j] += D[j] * table[RIGHT, j + 1]
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
        cone_direction(table, eta, D, dtheta, dw[2 * n :], dv[2 * n :])


@kernel
def _longest_step(w, v, dw, dv, linear):  # type: ignore[no-untyped-def]
    """Largest step up to which slacks and multipliers stay nonnegative, those of a ball in its cone."""
    step = 1e30
    for i in range(linear):
        if dw[i] < 0.0:
            step = min(step, -w[i] / dw[i])
        if dv[i] < 0.0:
            step = min(step, -v[i] / dv[i])
    if linear < w.size:
        step = min(step, cone_step(w[linear:], dw[linear:]), cone_step(v[linear:], dv[linear:]))
    return step


@kernel
def _start(m, c, D, constraint):  # type: ignore[no-untyped-def]
    """Slacks w = [s, ξ, …] and multipliers v = [λ, η, …] at θ = 0."""
    n, p = m.size, D.size
    extra = 2 * p if constraint == BOX else (p + 1 if constraint == BALL else 0)
    w, v = np.zeros(2 * n + extra), np.zeros(2 * n + extra)
    mu = 0.0
    for i in range(n):
        v[i] = min(0.5 * c[i], 1.0)
        v[n + i] = c[i] - v[i]
        w[n + i] = max(m[i], 0.0) + 1.0
        w[i] = w[n + i] - m[i]
        mu += v[i] * w[i] / n
    for j in range(1 if constraint == BALL else extra):  # the ball's s = (1, 0), z = (μ, 0)
        w[2 * n + j] = 1.0 / D[j % p] if constraint == BOX else 1.0
        v[2 * n + j] = mu / w[2 * n + j]
    return w, v


@kernel
def _residuals(Atheta, m, H, g, w, v, theta, D, constraint, Atlam, r_d, r_p):  # type: ignore[no-untyped-def]
    """Dual residual r_d and primal residual r_p."""
    n, p = m.size, theta.size
    for i in range(n):
        r_p[i] = w[i] - (Atheta[i] + w[n + i] - m[i])
    for j in range(p):
        r_d[j] = H[j] * theta[j] - g[j] - Atlam[j]
        if constraint == BOX:
            r_d[j] += v[2 * n + j] - v[2 * n + p + j]
        elif constraint == BALL:
            r_d[j] -= D[j] * v[2 * n + 1 + j]


@kernel
def _target(w, v, dw, dv, linear):  # type: ignore[no-untyped-def]
    """Mehrotra's σμ, σ = (μ_aff/μ)³ of the affine step (dw, dv), and μ."""
    step = min(1.0, _longest_step(w, v, dw, dv, linear))
    mu, mu_affine = 0.0, 0.0
    for i in range(w.size):
        mu += w[i] * v[i]
        mu_affine += (w[i] + step * dw[i]) * (v[i] + step * dv[i])
    degree = linear + (1 if linear < w.size else 0)  # the whole ball counts as one
    return (mu_affine / mu) ** 3 * mu / degree, mu / degree


@kernel
def _centralize(w, v, dw, dv, target, step, linear, r):  # type: ignore[no-untyped-def]
    """Move r so that products wv a bit further along the direction come near the target (Gondzio 1996)."""
    ahead = min(1.0, 1.08 * step + 0.08)
    for i in range(linear):
        product = (w[i] + ahead * dw[i]) * (v[i] + ahead * dv[i])
        wanted = min(max(product, target / SPREAD), target * SPREAD)
        r[i] += max(wanted - product, -SPREAD * target)


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
def _advance(A, H, w, v, theta, D, constraint, table, stalls, r_d, r_p, r, E, AE, M):  # type: ignore[no-untyped-def]
    """One iteration: predictor, corrector, where steps are short centrality; False if it is not finite."""
    p = A.shape[1]
    linear = w.size if constraint != BALL else 2 * A.shape[0]
    ball_w, ball_v = w[linear:], v[linear:]
    dtheta, dw, dv = np.empty(p), np.empty(w.size), np.empty(w.size)
    other, dw_other, dv_other = np.empty(p), np.empty(w.size), np.empty(w.size)
    eta = scale_cone(ball_w, ball_v, table) if constraint == BALL else 1.0
    _newton_matrix(A, E, AE, H, w, v, D, constraint, table, eta, M)
    for i in range(linear):
        r[i] = -w[i] * v[i]
    if constraint == BALL:
        cone_rhs(table, eta, 0.0, dw[linear:], dv[linear:], 0.0)
    _direction(A, E, M, w, v, D, constraint, table, eta, r_d, r_p, r, dtheta, dw, dv)
    target, mu = _target(w, v, dw, dv, linear)
    second = 1.0
    if stalls:  # second-order terms of steps that cannot be taken whole can make it cycle
        target, second = max(target, CAUTION * mu), 0.0
    for i in range(linear):
        r[i] = target - w[i] * v[i] - second * dw[i] * dv[i]
    if constraint == BALL:
        cone_rhs(table, eta, target, dw[linear:], dv[linear:], second)
    _direction(A, E, M, w, v, D, constraint, table, eta, r_d, r_p, r, dtheta, dw, dv)
    step = min(1.0, 0.995 * _longest_step(w, v, dw, dv, linear))
    for _ in range(CORRECTORS):
        if not step < LONG:
            break
        _centralize(w, v, dw, dv, target, step, linear, r)
        _direction(A, E, M, w, v, D, constraint, table, eta, r_d, r_p, r, other, dw_other, dv_other)
        longer = min(1.0, 0.995 * _longest_step(w, v, dw_other, dv_other, linear))
        if not longer > 1.01 * step:
            break
        step = longer
        dtheta, other = other, dtheta
        dw, dw_other = dw_other, dw
        dv, dv_other = dv_other, dv
    return _move(theta, w, v, dtheta, dw, dv, step)


@kernel
def _iterate(A, m, c, H, g, D, constraint, max_iter, tol):  # type: ignore[no-untyped-def]
    """Mehrotra's predictor-corrector on scaled data; returns θ, λ, iterations and relative gap."""
    n, p = A.shape
    w, v = _start(m, c, D, constraint)
    theta, table = np.zeros(p), np.empty((LINES, p + 1))
    r, r_d, r_p = np.empty(w.size), np.empty(p), np.empty(n)
    E, AE, M = np.empty(n), np.empty((n, p)), np.empty((p, p))
    best_theta, best_lam = np.zeros(p), np.zeros(n)
    best_f, best_d, mark, stalled, it = np.inf, -np.inf, np.inf, 0, 0
    weight, bias_free = 0.0, constraint == NONE and H[0] == 0.0 and g[0] == 0.0
    for i in range(n):
        weight += FLOOR * c[i]
    while True:
        Atlam, Atheta = vecmat(v[:n], A), matvec(A, theta)
        point = feasible(theta, D, constraint)
        f = primal_value(Atheta if constraint == NONE else matvec(A, point), m, c, H, g, point)
        if f < best_f:
            best_f, best_theta = f, point
        if bias_free:
            lam = balanced(A, v[:n])
            d = dual_value(vecmat(lam, A), m, lam, 0.0, H, g, D, constraint)
        else:
            lam = v[:n]
            d = dual_value(Atlam, m, lam, v[2 * n] if constraint == BALL else 0.0, H, g, D, constraint)
        if d > best_d:
            best_d = d
            for i in range(n):
                best_lam[i] = lam[i]
        gap, stalled = best_f - best_d, stalled + 1
        if gap < 0.5 * mark:
            mark, stalled = gap, 0
        if not gap > tol * max(abs(best_f), weight) or it == max_iter or stalled == STALLED:
            break
        it += 1
        _residuals(Atheta, m, H, g, w, v, theta, D, constraint, Atlam, r_d, r_p)
        if not _advance(A, H, w, v, theta, D, constraint, table, stalled >= STALLS, r_d, r_p, r, E, AE, M):
            break
    return best_theta, best_lam, it, gap / max(abs(best_f), weight)


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
    d, D, scaled = np.zeros(p), np.empty(p), np.empty((n, p))
    for i in range(n):
        for j in range(p):
            d[j] += A[i, j] * A[i, j]
    for j in range(p):
        d[j] = np.sqrt(n / d[j]) if d[j] > 0.0 else 1.0
        D[j] = margin * d[j] / radius  # box |Dθ'| ≤ 1, ball ‖Dθ'‖ ≤ 1
    for i in range(n):
        for j in range(p):
            scaled[i, j] = A[i, j] * d[j]
    unit = 10.0 / total
    theta, lam, n_iter, gap = _iterate(
        scaled, m / margin, c * unit, H * d * d * (margin * unit), g * d * unit,
        D, constraint, max_iter, tol,
    )  # fmt: skip
    for j in range(p):
        theta[j] *= d[j] * margin
    for i in range(n):
        lam[i] = min(max(lam[i] / unit, 0.0), c[i])
    return theta, lam, n_iter, gap <= ACCEPTED
