"""The W step: the basis as a regression on the coordinates, its rows free, within the unit ball or on it.

Loops instead of array expressions throughout: assignments to slices take seconds each to compile.
"""

import numpy as np

from svdecode.svdm.kernels.ball_rows import duality_gap, within_interior_point
from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel
from svdecode.svdm.kernels.rows import (
    inner,
    product,
    rescale_rows,
    solve_rows,
    spanning_rows,
    transposed,
)

FREE = 0
WITHIN = 1
UNIT = 2

EPS = 2.220446049250313e-16
SAFE = 1e-8  # relative pivot down to which the order of the columns does not matter
DIRECT = 4  # cycles over the rows before the problem moves into the row space of R
CYCLES = 200  # of block descent for unit rows
DECREASE = 1e-10  # relative decrease of a cycle at which unit rows stop
SWEEPS = 60  # of block descent for rows within the ball; then the interior point takes over
NEGLIGIBLE = 1e-14  # relative decrease still to come at which rows within the ball stop
ACCEPTED = 1e-12  # relative duality gap up to which they need no interior point


@kernel
def _pivoted_cholesky(M, order):  # type: ignore[no-untyped-def]
    """Cholesky factor in place, each time of the column that those before it explain least.

    Rows and columns move along with `order`. Columns explained to rounding get infinite pivots,
    which leave them out of every solve. Returns the number of the others.
    """
    n_rows = M.shape[0]
    sizes = np.empty(n_rows)
    for j in range(n_rows):
        sizes[j] = M[j, j] if M[j, j] > 0.0 else 1.0
    for k in range(n_rows):
        best = k
        for j in range(k + 1, n_rows):
            if M[j, j] / sizes[j] > M[best, best] / sizes[best]:
                best = j
        if not M[best, best] > 4.0 * n_rows * EPS * sizes[best]:
            for i in range(k, n_rows):
                for j in range(k, i):
                    M[i, j] = 0.0
                M[i, i] = np.inf
            return k
        order[k], order[best] = order[best], order[k]
        sizes[k], sizes[best] = sizes[best], sizes[k]
        for j in range(n_rows):
            M[k, j], M[best, j] = M[best, j], M[k, j]
        for j in range(n_rows):
            M[j, k], M[j, best] = M[j, best], M[j, k]
        M[k, k] = np.sqrt(M[k, k])
        for i in range(k + 1, n_rows):
            M[i, k] /= M[k, k]
        for i in range(k + 1, n_rows):
            for j in range(k + 1, n_rows):
                M[i, j] -= M[i, k] * M[j, k]
    return n_rows


@kernel
def _least_norm(L, M, W):  # type: ignore[no-untyped-def]
    """Turn the minimizer without the columns left out of the factor into the one of least norm.

    A column left out is a combination c of the others, so that [−c; 1] spans a direction that
    changes nothing. These directions N are projected out of W; NᵀN = I + CᵀC.
    """
    n_rows, r = W.shape
    C = np.zeros((n_rows, n_rows))
    for d in range(n_rows):
        if L[d, d] == np.inf:
            for j in range(n_rows):
                C[d, j] = M[d, j]
            forward(L, C[d])
            backward(L, C[d])
    across = transposed(C)
    G = product(C, across)
    for d in range(n_rows):
        G[d, d] += 1.0
    cholesky(G, 0.0, 1.0)
    V = product(C, W)
    solve_rows(G, V)
    change = product(across, V)
    for d in range(n_rows):
        for c in range(r):
            W[d, c] = V[d, c] if L[d, d] == np.inf else W[d, c] - change[d, c]


@kernel
def _nearly_singular(M, R):  # type: ignore[no-untyped-def]
    """MW = R with columns in the order of what they add; False if some add nothing but rounding."""
    n_rows, r = R.shape
    order = np.arange(n_rows)
    L, moved, V, W = M.copy(), M.copy(), R.copy(), R.copy()
    rank = _pivoted_cholesky(L, order)
    for i in range(n_rows):
        for j in range(n_rows):
            moved[i, j] = M[order[i], order[j]]
        for c in range(r):
            V[i, c] = R[order[i], c]
    solve_rows(L, V)
    if rank < n_rows:
        _least_norm(L, moved, V)
    for i in range(n_rows):
        for c in range(r):
            W[order[i], c] = V[i, c]
    return W, rank == n_rows


@kernel
def _free(S, R, ridge):  # type: ignore[no-untyped-def]
    """(S + ridge·I) W = R; where that is singular to rounding its solution of least norm, and False."""
    M, W = S.copy(), R.copy()
    empty = 0
    for j in range(S.shape[0]):
        M[j, j] += ridge
        if M[j, j] == 0.0:
            empty += 1
    L = M.copy()
    if cholesky(L, SAFE, np.inf) > empty:
        return _nearly_singular(M, R)
    solve_rows(L, W)
    return W, True


@kernel
def cycle(S, R, ridge, rows, W, v):  # type: ignore[no-untyped-def]
    """One pass over the rows, each set to its exact minimizer with the others fixed.

    With v = R_i − Σ_{j≠i} S_ij w_j the row minimizes (S_ii + ridge)‖w‖² − 2⟨v, w⟩: on the sphere
    v/‖v‖, in the ball v/max(S_ii + ridge, ‖v‖). A v of nothing but rounding leaves a unit row alone.

    Parameters
    ----------
    S : (l, l) array
        ZᵀZ.
    R : (l, r) array
        ZᵀL.
    ridge : float
        Ridge.
    rows : int
        WITHIN or UNIT.
    W : (l, r) array
        Feasible basis, changed in place.
    v : (r,) array
        Work space.

    Returns
    -------
    decrease : float
        By how much the objective fell: a sum of squares, free of cancellation.
    size : float
        Size of the objective's terms, Σ_i S_ii ‖w_i‖² + |⟨r_i, w_i⟩|.
    """
    n_rows, r = W.shape
    decrease, size = 0.0, 0.0
    for i in range(n_rows):
        for c in range(r):
            v[c] = R[i, c]
        noise = np.sqrt(inner(R, R, i))
        for j in range(n_rows):
            factor = S[i, j] if j != i else 0.0
            noise += abs(factor)
            for c in range(r):
                v[c] -= factor * W[j, c]
        norm = np.sqrt(np.dot(v, v))
        if rows == UNIT and norm <= 4.0 * EPS * noise:
            continue
        curvature = S[i, i] + ridge if rows == WITHIN else 0.0
        divisor = max(curvature, norm)
        inverse = 1.0 / divisor if divisor > 0.0 else 0.0
        before, after, change, fit = 0.0, 0.0, 0.0, 0.0
        for c in range(r):
            old, new = W[i, c], v[c] * inverse
            before += old * old
            after += new * new
            fit += new * R[i, c]
            change += (new - old) ** 2
            W[i, c] = new
        decrease += divisor * change + (divisor - curvature) * max(1.0 - before, 0.0)
        size += S[i, i] * after + abs(fit)
    return decrease, size


@kernel
def _descend(S, R, ridge, rows, W, cycles):  # type: ignore[no-untyped-def]
    """Cycle over the rows until the rest is negligible; False if it is not within that many cycles.

    Within the ball the rest is extrapolated from the rate of the last two cycles, and a rate too
    slow for the cycles allowed ends the attempt.
    """
    v, last = np.empty(W.shape[1]), np.inf
    for k in range(cycles):
        decrease, size = cycle(S, R, ridge, rows, W, v)
        if rows == UNIT:
            if decrease <= DECREASE * size:
                return True
            continue
        negligible = NEGLIGIBLE * size
        rate, last = decrease / last, decrease
        if decrease <= 0.1 * negligible:
            return True
        if k < 3:
            continue
        if rate >= 1.0:
            return False
        rest = decrease * rate / (1.0 - rate)
        if rest <= negligible:
            return True
        if np.log(rest / negligible) > (k - cycles) * np.log(rate):
            return False
    return False


@kernel
def _certified(S, R, ridge, W):  # type: ignore[no-untyped-def]
    """W, if its rows within the ball are optimal; else what the interior point makes of the problem."""
    n_rows, r = W.shape
    nu = np.empty(n_rows)
    V = product(S, W)
    for i in range(n_rows):  # ‖v‖ − S_ii − ridge is the multiplier that makes row i stationary
        for c in range(r):
            V[i, c] = R[i, c] - V[i, c] + S[i, i] * W[i, c]
        nu[i] = max(np.sqrt(inner(V, V, i)) - S[i, i] - ridge, 0.0)
    gap = duality_gap(S, R, ridge, W, nu)
    if gap <= ACCEPTED:
        return W
    V, smaller, _ = within_interior_point(S, R, ridge)
    return W if gap <= smaller else V


@kernel
def _constrained(S, R, ridge, rows, W):  # type: ignore[no-untyped-def]
    """Rows within the ball or on the sphere, from a feasible W, which is overwritten.

    Where that is smaller the work moves into the row space of R (and of W for unit rows, which may
    need room that R does not span, and for which a few cycles may do).
    """
    n_rows, r = W.shape
    Q, reduced = W, False
    cycles = CYCLES if rows == UNIT else SWEEPS
    wide = r > (2 * n_rows if rows == UNIT else n_rows)
    for attempt in range(2):
        if wide and (rows == WITHIN or attempt == 1):
            Q = spanning_rows(R, W, rows == UNIT)
            across = transposed(Q)
            R, W, reduced = product(R, across), product(W, across), True
        done = _descend(S, R, ridge, rows, W, cycles if reduced or not wide else DIRECT)
        if done or reduced or not wide:
            break
    if rows == WITHIN:
        W = _certified(S, R, ridge, W)
    return product(W, Q) if reduced else W


@kernel
def w_step(S, R, ridge, rows, W_warm):  # type: ignore[no-untyped-def]
    """Minimize tr(WᵀSW) − 2⟨R, W⟩ + ridge·‖W‖²_F over the basis W.

    That is ‖L − ZW‖² + ridge·‖W‖² up to a constant: Pereira & Gordon 2006, §2.4.1 (rows free, with
    its tiny ridge term); Xi 2007, §2.1.4 (rows free, (17) within the ball, (16) of unit norm).

    Parameters
    ----------
    S : (l, l) array
        ZᵀZ, positive semidefinite.
    R : (l, r) array
        ZᵀL.
    ridge : float
        Ridge ≥ 0.
    rows : int
        FREE, the minimizer of least norm where there are several; WITHIN, ‖w_i‖ ≤ 1, a convex
        problem solved to a certified gap; UNIT, ‖w_i‖ = 1, not convex: from `W_warm` down until a
        cycle over the rows, each set to its exact minimizer, gains nothing.
    W_warm : (l, r) array
        Where to start, scaled to be feasible; FREE ignores it.

    Returns
    -------
    (l, r) array
        The basis.
    """
    if rows != UNIT:
        W, inside = _free(S, R, ridge)
        for i in range(W.shape[0]):
            inside = inside and inner(W, W, i) <= 1.0
        if rows == FREE or inside:
            return W
    W = W_warm.copy()
    rescale_rows(W, rows == UNIT)
    W = _constrained(S, R, ridge, rows, W)
    rescale_rows(W, rows == UNIT)
    return W
