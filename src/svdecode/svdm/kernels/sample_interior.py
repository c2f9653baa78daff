"""One sample of the Z step where its multipliers alone do not converge: interior point, then polished."""

import numpy as np

from svdecode.svdm.kernels.bounds import BALL, NONE
from svdecode.svdm.kernels.interior import interior_point
from svdecode.svdm.kernels.linalg import kernel

MAX_ITER = 200
TOL = 1e-12
RIDGE = 1e-10  # of directions that cost nothing, relative to the hinges; polishing takes it back
KINK = 1e-6  # slacks up to this, relative to what they are the difference of, are zero
POLISHES = 6
PIVOT = 1e-13  # equations that add less than this, relative to their size, repeat others


@kernel
def _eliminate(K, x):  # type: ignore[no-untyped-def]
    """Solve Kδ = x in place, with complete pivoting; δ = 0 where K, its columns of size one, is singular."""
    q = x.size
    order, solution = np.arange(q), np.zeros(q)
    rank = q
    for a in range(q):
        row, column = a, a
        for i in range(a, q):
            for j in range(a, q):
                if abs(K[i, j]) > abs(K[row, column]):
                    row, column = i, j
        if abs(K[row, column]) <= PIVOT:
            rank = a
            break
        for j in range(q):
            K[a, j], K[row, j] = K[row, j], K[a, j]
        for i in range(q):
            K[i, a], K[i, column] = K[i, column], K[i, a]
        x[a], x[row] = x[row], x[a]
        order[a], order[column] = order[column], order[a]
        for i in range(a + 1, q):
            ratio = K[i, a] / K[a, a]
            x[i] -= ratio * x[a]
            for j in range(a + 1, q):
                K[i, j] -= ratio * K[a, j]
    for a in range(rank - 1, -1, -1):
        value = x[a]
        for j in range(a + 1, rank):
            value -= K[a, j] * solution[order[j]]
        solution[order[a]] = value / K[a, a]
    for a in range(q):
        x[a] = solution[a]


@kernel
def _solve_equilibrated(K, x):  # type: ignore[no-untyped-def]
    """Solve Kδ = x in place, rows and columns first brought to size one."""
    q = x.size
    scale = np.ones(q)
    for i in range(q):
        largest = 0.0
        for j in range(q):
            largest = max(largest, abs(K[i, j]))
        if largest > 0.0:
            x[i] /= largest
            for j in range(q):
                K[i, j] /= largest
    for j in range(q):
        largest = 0.0
        for i in range(q):
            largest = max(largest, abs(K[i, j]))
        if largest > 0.0:
            scale[j] = 1.0 / largest
            for i in range(q):
                K[i, j] /= largest
    _eliminate(K, x)
    for j in range(q):
        x[j] *= scale[j]


@kernel
def _missed_by(design, m, h, H, g, radius, theta, lam, nu, r, slack):  # type: ignore[no-untyped-def]
    """Fill in the gradient r and the slacks; how much in all the optimality conditions are missed by."""
    missed, norm, length = 0.0, 0.0, 0.0
    for p in range(theta.size):
        r[p] = (H[p] + 2.0 * nu) * theta[p] - g[p]
        length += theta[p] * theta[p]
    for j in range(lam.size):
        slack[j] = m[j]
        for p in range(theta.size):
            slack[j] -= design[j, p] * theta[p]
            r[p] -= design[j, p] * lam[j]
        missed += h[j] * max(slack[j], 0.0) - lam[j] * slack[j]
    for p in range(theta.size):
        norm += r[p] * r[p]
    if nu > 0.0:
        missed += nu * abs(radius * radius - length)
    return missed + np.sqrt(norm * length)


@kernel
def _put_at_bounds(design, m, h, theta, lam, slack, free):  # type: ignore[no-untyped-def]
    """Mark labels whose hinge is at its kink as free, and put the multipliers of all others at a bound."""
    for j in range(m.size):
        scale = abs(m[j])
        for p in range(theta.size):
            scale += abs(design[j, p] * theta[p])
        free[j] = abs(slack[j]) <= KINK * scale
        if not free[j]:
            lam[j] = h[j] if slack[j] > 0.0 else 0.0


@kernel
def _polish(design, h, H, radius, theta, lam, nu, r, slack, free):  # type: ignore[no-untyped-def]
    """One Newton step, in place, on the optimality conditions of the face; the new ν.

    A free multiplier that leaves its box is put at the bound, and is free no longer.
    """
    k, l = design.shape
    q = l + np.sum(free) + (1 if nu > 0.0 else 0)
    K, x, a, length = np.zeros((q, q)), np.empty(q), l, 0.0
    for p in range(l):
        K[p, p] = H[p] + 2.0 * nu
        x[p] = -r[p]
        length += theta[p] * theta[p]
        if nu > 0.0:
            K[p, q - 1], K[q - 1, p] = 2.0 * theta[p], theta[p]
    if nu > 0.0:
        x[q - 1] = 0.5 * (radius * radius - length)
    for j in range(k):
        if free[j]:
            x[a] = slack[j]
            for p in range(l):
                K[p, a], K[a, p] = -design[j, p], design[j, p]
            a += 1
    _solve_equilibrated(K, x)
    for p in range(l):
        theta[p] += x[p]
    a = l
    for j in range(k):
        if free[j]:
            lam[j] = min(max(lam[j] + x[a], 0.0), h[j])
            free[j] = 0.0 < lam[j] < h[j]
            a += 1
    return max(nu + x[q - 1], 1e-300) if nu > 0.0 else 0.0


@kernel
def _price(design, H, g, radius, theta, lam):  # type: ignore[no-untyped-def]
    """ν of Hθ − g − designᵀλ + 2νθ = 0 on the ball's surface; 0 inside."""
    length, nu = 0.0, 0.0
    for p in range(theta.size):
        pull = g[p] - H[p] * theta[p]
        for j in range(lam.size):
            pull += lam[j] * design[j, p]
        length += theta[p] * theta[p]
        nu += 0.5 * pull * theta[p] / (radius * radius)
    return max(nu, 0.0) if length > (1.0 - KINK) * radius * radius else 0.0


@kernel
def _with_ridge(design, m, h, H):  # type: ignore[no-untyped-def]
    """H with a trifle where it is 0, so that every dual point bounds the minimum."""
    out, total, margin = H.copy(), 0.0, 0.0
    for j in range(m.size):
        total += h[j]
        margin = max(margin, abs(m[j]))
    for p in range(H.size):
        square = 0.0
        for j in range(m.size):
            square += design[j, p] * design[j, p]
        if margin > 0.0:
            out[p] = max(H[p], RIDGE * total * square / (m.size * margin * margin))
    return out


@kernel
def solve_sample(design, m, h, H, g, radius):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ − gᵀθ + Σ_j h_j max(m_j − (design θ)_j, 0) over ‖θ‖ ≤ radius, which may be inf.

    The interior point finds the face; Newton's method on its optimality conditions, which are well
    posed for singular H, then takes z and λ to rounding. The better one is returned.

    Parameters
    ----------
    design : (k, l) array
        Discriminants, each already multiplied by its label.
    m, h : (k,) array
        Margins, and hinge weights, all positive.
    H, g : (l,) array
        Diagonal of the quadratic (≥ 0) and linear term.
    radius : float
        Of the ball, or inf.

    Returns
    -------
    theta : (l,) array
        Minimizer.
    lam : (k,) array
        Multipliers, in [0, h].
    """
    constraint, max_iter = NONE, int(MAX_ITER)  # int(): a constant would be compiled in, once more
    if np.isfinite(radius):
        constraint = BALL
    ridged = _with_ridge(design, m, h, H)
    theta, lam, _, _ = interior_point(design, m, h, ridged, g, constraint, radius, max_iter, TOL)
    nu = _price(design, H, g, radius, theta, lam) if np.isfinite(radius) else 0.0
    r, slack, free = np.empty(H.size), np.empty(m.size), np.empty(m.size, dtype=np.bool_)
    best_theta, best_lam = theta.copy(), lam.copy()
    best = _missed_by(design, m, h, H, g, radius, theta, lam, nu, r, slack)
    _put_at_bounds(design, m, h, theta, lam, slack, free)
    for _ in range(POLISHES):
        missed = _missed_by(design, m, h, H, g, radius, theta, lam, nu, r, slack)
        if missed < best:
            best, best_theta, best_lam = missed, theta.copy(), lam.copy()
        nu = _polish(design, h, H, radius, theta, lam, nu, r, slack, free)
    return best_theta, best_lam
