"""Samples short of their margin, on it and beyond, and the equations that such sets leave to solve."""

import numpy as np

from svdecode.svdm.kernels.bounds import BALL
from svdecode.svdm.kernels.linalg import backward, cholesky, eliminate, forward, kernel, matvec, vecmat

SHORT, ON, BEYOND = 1, 0, -1  # of its margin: λ = c, between, λ = 0
EDGE = 1e-9  # share of c within which a multiplier counts as at its bound
LOOSE = 1e-8  # share of c within which a multiplier on the margin counts as at its bound
LEVEL = 1e-12  # share of the largest pull below which a bias is not pulled
FAR = 1e6  # how far a bias may be sent in one step, in units of its size


@kernel
def classify(slack, lam, c, stiffness):  # type: ignore[no-untyped-def]
    """Sets that (slack m − Aθ, λ) implies: λ + stiffness · slack short of 0, within [0, c], or above."""
    sets = np.empty(c.size, dtype=np.int64)
    for i in range(c.size):
        pull = lam[i] + stiffness * c[i] * slack[i]
        sets[i] = ON
        if pull >= c[i] * (1.0 - EDGE):
            sets[i] = SHORT
        elif pull <= c[i] * EDGE:
            sets[i] = BEYOND
    return sets


@kernel
def gather(A, m, c, sets):  # type: ignore[no-untyped-def]
    """Rows on the margin, their margins, and g = Σ c_i a_i over those short of it."""
    p, n_on = A.shape[1], 0
    for side in sets:
        n_on += side == ON
    A_on, m_on, g = np.empty((n_on, p)), np.empty(n_on), np.zeros(p)
    row = 0
    for i in range(m.size):
        if sets[i] == ON:
            m_on[row] = m[i]
            for j in range(p):
                A_on[row, j] = A[i, j]
            row += 1
        elif sets[i] == SHORT:
            for j in range(p):
                g[j] += c[i] * A[i, j]
    return A_on, m_on, g


@kernel
def _unconfined(A_on, m_on, H, g, theta):  # type: ignore[no-untyped-def]
    """Hθ = g + A_Eᵀλ_E, A_E θ = m_E: by λ_E (and the bias where it is free), with θ = H⁻¹(g + A_Eᵀλ_E).

    A free bias that no sample on its margin holds goes as far as a line search will let it, or stays.
    """
    e, p = A_on.shape
    free = 1 if H[0] == 0.0 else 0
    out = np.zeros(p)
    for j in range(free, p):
        out[j] = g[j] / H[j]
    if e == 0:
        if free:
            out[0] = theta[0]
            if abs(g[0]) > LEVEL * np.abs(g).max():
                out[0] += FAR * np.sign(g[0]) * (1.0 + abs(theta[0]))
        return out, m_on, True
    K, x = np.zeros((e + free, e + free)), np.zeros(e + free)
    for i in range(e):
        x[i] = m_on[i]
        for j in range(free, p):
            x[i] -= A_on[i, j] * out[j]
        for k in range(i + 1):
            value = 0.0
            for j in range(free, p):
                value += A_on[i, j] * A_on[k, j] / H[j]
            K[i, k] = K[k, i] = value
        if free:
            K[i, e] = K[e, i] = A_on[i, 0]
    if free:
        x[e] = -g[0]
    ok = eliminate(K, x)
    for i in range(e):
        for j in range(free, p):
            out[j] += A_on[i, j] * x[i] / H[j]
    if free:
        out[0] = x[e]
    return out, x[:e], ok


@kernel
def _in_ball(A_on, m_on, g, radius):  # type: ignore[no-untyped-def]
    """νθ = g + A_Eᵀλ_E, A_E θ = m_E, ‖θ‖ = radius: the shortest θ on the margins, and on towards g."""
    e = A_on.shape[0]
    G = np.dot(A_on, A_on.T)
    cholesky(G, 1e-13, 1e128)
    pull = matvec(A_on, g)
    shortest, along = m_on.copy(), pull.copy()
    forward(G, shortest)
    backward(G, shortest)
    forward(G, along)
    backward(G, along)
    theta, direction = vecmat(shortest, A_on), g - vecmat(along, A_on)
    rest, length = radius * radius - np.dot(theta, theta), np.sqrt(np.dot(direction, direction))
    if not (rest > 0.0 and length > 1e-12 * np.sqrt(np.dot(g, g))):
        return theta, shortest, False
    theta += np.sqrt(rest) / length * direction
    nu = length / np.sqrt(rest)
    lam = np.empty(e)
    for row in range(e):
        lam[row] = nu * m_on[row] - pull[row]
    forward(G, lam)
    backward(G, lam)
    return theta, lam, True


@kernel
def solve_sets(A_on, m_on, H, g, constraint, radius, theta):  # type: ignore[no-untyped-def]
    """What the optimality conditions come to with these sets: θ, λ on the margin, whether solved."""
    if constraint == BALL:
        return _in_ball(A_on, m_on, g, radius)
    return _unconfined(A_on, m_on, H, g, theta)


@kernel
def settle_sides(lam_on, c, sets):  # type: ignore[no-untyped-def]
    """Whether no sample holds a free bias; those on their margin, all at a bound of λ, then leave it."""
    row = 0
    for i in range(c.size):
        if sets[i] == ON:
            if LOOSE * c[i] < lam_on[row] < (1.0 - LOOSE) * c[i]:
                return False
            row += 1
    row = 0
    for i in range(c.size):
        if sets[i] == ON:
            sets[i] = SHORT if lam_on[row] > 0.5 * c[i] else BEYOND
            row += 1
    return True


@kernel
def middle_bias(A, slack, sets):  # type: ignore[no-untyped-def]
    """The middle of what a bias may be if every sample is to stay on its side of its margin."""
    low, high = -np.inf, np.inf
    for i in range(slack.size):
        if A[i, 0] != 0.0:
            end = slack[i] / A[i, 0]
            if (A[i, 0] > 0.0) == (sets[i] == SHORT):
                high = min(high, end)
            else:
                low = max(low, end)
    middle = 0.5 * (low + high)
    return middle if np.isfinite(middle) else 0.0


@kernel
def multipliers_of(c, sets, lam_on):  # type: ignore[no-untyped-def]
    """λ: c short of the margin, 0 beyond, between on it."""
    lam, row = np.zeros(c.size), 0
    for i in range(c.size):
        if sets[i] == ON:
            lam[i] = min(max(lam_on[row], 0.0), c[i])
            row += 1
        elif sets[i] == SHORT:
            lam[i] = c[i]
    return lam
