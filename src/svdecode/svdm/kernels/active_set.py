"""Active sets: a support vector machine's exact solution from one that is near.

Which samples lie short of their margin, on it and beyond follows from a nearby pair (θ, λ). With these
sets given the optimality conditions are linear equations, for a ball with one root beside them. On the way
to their solution the objective is piecewise quadratic: where a sample that crosses its margin stops the
descent it joins those on the margin; at the solution, the one whose multiplier is furthest out of its
bounds leaves them.
"""

import numpy as np

from svdecode.svdm.kernels.bounds import BALL, FLOOR, NONE, balanced, dual_value, feasible, primal_value
from svdecode.svdm.kernels.linalg import kernel, matvec, vecmat
from svdecode.svdm.kernels.margin_sets import (
    BEYOND,
    EDGE,
    ON,
    SHORT,
    classify,
    gather,
    middle_bias,
    multipliers_of,
    settle_sides,
    solve_sets,
)

STILL = 1e-13  # share of the hinges that a way down has to gain, to first order


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
    """Go from θ towards the target down to the lowest point, in place; False if these sets have no lower.

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
    pulled = 0.0
    for i in range(c.size):
        if sets[i] == SHORT:
            pulled += c[i] * slack[i]
    if slope >= -STILL * (pulled + abs(slope)):  # there, but for rounding
        theta[:] = target
        slack -= closing
        return False
    t, hit, crossed = 1.0, -1, False
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
        sets[hit], crossed = -sets[hit], True
    if bend > 0.0 and slope + t * bend > 0.0 and (hit < 0 or sets[hit] != ON):
        t, hit = max(-slope / bend, 0.0), 0
    if hit < 0:
        theta[:] = target
    else:
        theta += t * direction
    slack -= t * closing
    return hit >= 0 or crossed


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
    p = A.shape[1]
    D = np.full(p, 1.0 / radius if constraint == BALL else 1.0)
    free = constraint == NONE and H[0] == 0.0
    theta, slack, sets = _begin(A, m, c, H, constraint, radius, theta, lam)
    for _ in range(rounds):
        A_on, m_on, g = gather(A, m, c, sets)
        if m_on.size > p:
            break
        target, lam_on, ok = solve_sets(A_on, m_on, H, g, constraint, radius, theta)
        if not ok:
            break
        if _descend(A, H, c, theta, slack, target, sets):
            continue
        leaving, side = _worst(lam_on, sets, c)
        if leaving >= 0:
            sets[leaving] = side
            continue
        slack = m - matvec(A, theta)
        if free and settle_sides(lam_on, c, sets):
            lam_on = lam_on[:0]
            theta[0] += middle_bias(A, slack, sets)
        theta = feasible(theta, D, constraint)  # by rounding outside
        lam = multipliers_of(c, sets, lam_on)
        slack = m - matvec(A, theta)
        return theta, lam, _gap(A, m, c, H, D, constraint, theta, slack, lam) <= tol
    return theta, lam, False


@kernel
def _begin(A, m, c, H, constraint, radius, theta, lam):  # type: ignore[no-untyped-def]
    """θ, slack and sets to begin with: the solution of the sets that λ implies, or θ if that is lower."""
    largest = 0.0
    for i in range(m.size):
        largest = max(largest, m[i])
    theta, none = theta.copy(), np.zeros(H.size)
    slack = m - matvec(A, theta)
    sets = classify(slack, lam, c, 1.0 / largest)
    A_on, m_on, g = gather(A, m, c, sets)
    lower = False
    if m_on.size <= H.size:
        target, _, ok = solve_sets(A_on, m_on, H, g, constraint, radius, theta)
        at_target = matvec(A, target)
        of_target = primal_value(at_target, m, c, H, none, target)
        lower = ok and of_target <= primal_value(m - slack, m, c, H, none, theta)
        if lower:
            theta, slack = target, m - at_target
    for i in range(m.size):
        if sets[i] != ON or not lower:
            sets[i] = SHORT if slack[i] > 0.0 else BEYOND
    return theta, slack, sets
