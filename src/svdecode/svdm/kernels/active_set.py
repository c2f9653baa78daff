"""Active sets: a support vector machine's exact solution from one that is near.

Which samples lie short of their margin, on it and beyond follows from a nearby pair (θ, λ). With these
sets given the optimality conditions are linear equations, for a ball with one root beside them. On the way
to their solution the objective is piecewise quadratic: where a sample that crosses its margin stops the
descent it joins those on the margin; at the solution, the one whose multiplier is furthest out of its
bounds leaves them.
"""

import numpy as np

from svdecode.svdm.kernels.bounds import BALL, FLOOR, NONE, balanced, dual_value, feasible, primal_value
from svdecode.svdm.kernels.linalg import backward, cholesky, eliminate, forward, kernel, matvec, vecmat

SHORT, ON, BEYOND = 1, 0, -1  # of its margin: λ = c, between, λ = 0
EDGE = 1e-9  # share of c within which a multiplier counts as at its bound
LOOSE = 1e-8  # share of c within which a multiplier on the margin counts as at its bound
LEVEL = 1e-12  # share of the largest pull below which a bias is not pulled
FAR = 1e6  # how far a bias may be sent in one step, in units of its size


@kernel
def _classify(slack, lam, c, stiffness):  # type: ignore[no-untyped-def]
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
def _gather(A, m, c, sets):  # type: ignore[no-untyped-def]
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
    """Hθ = g + A_Eᵀλ_E, A_E θ = m_E.

    A free bias that no sample on its margin holds goes as far as a line search will let it, or stays.
    """
    e, p = A_on.shape
    K, right = np.zeros((p + e, p + e)), np.empty(p + e)
    for j in range(p):
        right[j] = g[j]
        K[j, j] = H[j]
        for row in range(e):
            K[j, p + row] = -A_on[row, j]
            K[p + row, j] = A_on[row, j]
    for row in range(e):
        right[p + row] = m_on[row]
    if e == 0 and H[0] == 0.0:
        K[0, 0] = 1.0
        right[0] = theta[0]
        if abs(g[0]) > LEVEL * np.abs(g).max():
            right[0] += FAR * np.sign(g[0]) * (1.0 + abs(theta[0]))
    ok = eliminate(K, right)
    return right[:p], right[p:], ok


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
def _settle_sides(lam_on, c, sets):  # type: ignore[no-untyped-def]
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
def _middle_bias(A, slack, sets):  # type: ignore[no-untyped-def]
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
def _gap(A, m, c, H, D, constraint, theta, slack, lam):  # type: ignore[no-untyped-def]
    """Duality gap, relative to max(f, 1e-6·max m·Σc)."""
    floor, none = 0.0, np.zeros(H.size)
    value = primal_value(m - slack, m, c, H, none, theta)
    if constraint == NONE and H[0] == 0.0:
        lam = balanced(A, lam)
    for i in range(m.size):
        floor = max(floor, m[i])
    floor *= FLOOR * c.sum()
    bound = dual_value(vecmat(lam, A), m, lam, 0.0, H, none, D, constraint)
    return (value - bound) / max(value, floor)


@kernel
def _descend(A, H, c, theta, slack, target, sets):  # type: ignore[no-untyped-def]
    """Go from θ towards the target down to the lowest point, in place; False if that is the target.

    Samples that cross their margin on the way change sides; the one at which it ends is on its margin.
    """
    direction = target - theta
    closing = matvec(A, direction)
    slope, bend = 0.0, 0.0
    for j in range(theta.size):
        slope += H[j] * theta[j] * direction[j]
        bend += H[j] * direction[j] * direction[j]
    for i in range(c.size):
        if sets[i] == SHORT:
            slope -= c[i] * closing[i]
    t, hit = 1.0, -1
    while True:
        t, hit = 1.0, -1
        for i in range(c.size):
            if (sets[i] == SHORT and closing[i] > 0.0) or (sets[i] == BEYOND and closing[i] < 0.0):
                crossing = max(slack[i] / closing[i], 0.0)
                if crossing < t:
                    t, hit = crossing, i
        if hit < 0 or slope + t * bend >= 0.0:
            break
        slope += c[hit] * abs(closing[hit])
        if slope + t * bend >= 0.0:
            sets[hit] = ON
            break
        sets[hit] = -sets[hit]
    if bend > 0.0 and slope + t * bend > 0.0 and (hit < 0 or sets[hit] != ON):
        t, hit = max(-slope / bend, 0.0), 0
    if hit < 0:
        theta[:] = target
    else:
        theta += t * direction
    return hit >= 0


@kernel
def _worst(lam_on, sets, c):  # type: ignore[no-untyped-def]
    """The sample on its margin whose multiplier is furthest out of [0, c], and on which side; −1 for none."""
    row, worst, side, largest = 0, -1, ON, EDGE
    for i in range(c.size):
        if sets[i] == ON:
            if -lam_on[row] > largest * c[i]:
                worst, side, largest = i, BEYOND, -lam_on[row] / c[i]
            elif lam_on[row] - c[i] > largest * c[i]:
                worst, side, largest = i, SHORT, lam_on[row] / c[i] - 1.0
            row += 1
    return worst, side


@kernel
def active_set(A, m, c, H, constraint, radius, theta, lam, rounds, tol):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ + Σ_i c_i max(m_i − (Aθ)_i, 0) from a solution nearby, exactly.

    Pereira & Gordon 2006, §2.3 (H = 0 in a ball); the new formulation, §2 (H > 0); `balanced` (H₀ = 0:
    bias free). Where all of an interval of biases is optimal its middle is chosen.

    Parameters
    ----------
    A : (n, p) array
        Design, each row already multiplied by its label, bias first.
    m : (n,) array
        Margins.
    c : (n,) array
        Weights, all positive.
    H : (p,) array
        Diagonal of the quadratic: 0 in a ball, else > 0 but for the bias.
    constraint : int
        0 none, 2 ball ‖θ‖ ≤ radius.
    radius : float
        Of the ball.
    theta : (p,) array
        Nearby.
    lam : (n,) array
        Its multipliers.
    rounds : int
        Sets to try at most.
    tol : float
        Largest relative duality gap that counts as solved.

    Returns
    -------
    theta : (p,) array
        The minimizer, where `ok`.
    lam : (n,) array
        Multipliers of the hinges, in [0, c].
    ok : bool
        Whether sets were found at which all conditions hold.
    """
    n, p = A.shape
    largest = 0.0
    for i in range(n):
        largest = max(largest, m[i])
    D = np.full(p, 1.0 / radius if constraint == BALL else 1.0)
    free = constraint == NONE and H[0] == 0.0
    slack = m - matvec(A, theta)
    sets = _classify(slack, lam, c, 1.0 / largest)
    for number in range(rounds):
        A_on, m_on, g = _gather(A, m, c, sets)
        if m_on.size > p:
            break
        if constraint == BALL:
            target, lam_on, ok = _in_ball(A_on, m_on, g, radius)
        else:
            target, lam_on, ok = _unconfined(A_on, m_on, H, g, theta)
        if not ok:
            break
        if number == 0:
            theta = target
            slack = m - matvec(A, theta)
            for i in range(n):
                if sets[i] != ON:
                    sets[i] = SHORT if slack[i] > 0.0 else BEYOND
            continue
        under_way = _descend(A, H, c, theta, slack, target, sets)
        slack = m - matvec(A, theta)
        if under_way:
            continue
        leaving, side = _worst(lam_on, sets, c)
        if leaving >= 0:
            sets[leaving] = side
            continue
        if free and _settle_sides(lam_on, c, sets):
            lam_on = lam_on[:0]
            theta[0] += _middle_bias(A, slack, sets)
        theta = feasible(theta, D, constraint)  # by rounding outside
        lam = _multipliers(c, sets, lam_on)
        slack = m - matvec(A, theta)
        return theta, lam, _gap(A, m, c, H, D, constraint, theta, slack, lam) <= tol
    return theta, lam, False


@kernel
def _multipliers(c, sets, lam_on):  # type: ignore[no-untyped-def]
    """λ: c short of the margin, 0 beyond, between on it."""
    lam, row = np.zeros(c.size), 0
    for i in range(c.size):
        if sets[i] == ON:
            lam[i] = min(max(lam_on[row], 0.0), c[i])
            row += 1
        elif sets[i] == SHORT:
            lam[i] = c[i]
    return lam
