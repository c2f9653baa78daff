"""The hinge multipliers of one sample: a small box-constrained quadratic program.

Minimize zᵀAz − 2cᵀz + Σ_j h_j max(m_j − rows_jᵀz, 0) by its dual: z = center + ½ Σ_j λ_j lifts_j with
lifts_j = A⁻¹rows_j, 0 ≤ λ ≤ h, the Hessian ½ rowsᵀlifts of rank ≤ l.

One table holds all there is to know of a sample, so that nothing is allocated, and few references are
counted, per sample. Line j < k is a label: seven numbers, its row and its lift, both filled up with
zeros to a multiple of four. Four more lines hold vectors, in the columns of the rows.
"""

import numpy as np

from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel

MARGIN, WEIGHT, SLACK, LAM, CURVATURE, ROW = 0, 1, 2, 3, 4, 5  # columns; the lifts follow the rows
Z, CENTER, LINEAR, INVERSE, LINES = 4, 3, 2, 1, 4  # lines, counted from the end

PASSES = 60  # of coordinate descent at most
FACES = 8  # visited after a pass at most
REFRESHES = 4  # of z from the multipliers, which takes out what the passes left of rounding
STILL = 1e-13  # relative slack below which a multiplier no longer moves
STALLED = 1e-9  # below this, a pass that does not halve the slack is at the limit of rounding
PIVOT = 1e-13  # relative pivot up to which a row depends on those before
DEPENDENT = 1e64  # what the root of such a pivot becomes
TOL = 1e-11  # duality gap, relative to the value of the hinge problem
ROUNDING = 4e-15  # of a hinge, relative to the numbers it is the difference of


@kernel
def new_table(k, l):  # type: ignore[no-untyped-def]
    """Table for k labels and l coordinates."""
    return np.zeros((k + LINES, ROW + 8 * ((l + 3) // 4)))


@kernel
def lift_of(table):  # type: ignore[no-untyped-def]
    """First column of the lifts."""
    return (table.shape[1] + ROW) // 2


@kernel
def row_row(table, i, j):  # type: ignore[no-untyped-def]
    """Inner product of the rows of lines i and j, in four chains that do not wait for each other."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for p in range(ROW, lift_of(table), 4):
        s0 += table[i, p] * table[j, p]
        s1 += table[i, p + 1] * table[j, p + 1]
        s2 += table[i, p + 2] * table[j, p + 2]
        s3 += table[i, p + 3] * table[j, p + 3]
    return (s0 + s1) + (s2 + s3)


@kernel
def row_lift(table, i, j):  # type: ignore[no-untyped-def]
    """Inner product of the row of line i and the lift of line j."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    width = lift_of(table) - ROW
    for p in range(ROW, ROW + width, 4):
        s0 += table[i, p] * table[j, p + width]
        s1 += table[i, p + 1] * table[j, p + width + 1]
        s2 += table[i, p + 2] * table[j, p + width + 2]
        s3 += table[i, p + 3] * table[j, p + width + 3]
    return (s0 + s1) + (s2 + s3)


@kernel
def _add(table, half, j):  # type: ignore[no-untyped-def]
    """z += half · lift_j, `half` being half a change of λ_j."""
    z, width = table.shape[0] - Z, lift_of(table) - ROW
    for p in range(ROW, ROW + width):
        table[z, p] += half * table[j, p + width]


@kernel
def _start(table, count):  # type: ignore[no-untyped-def]
    """Fill in the slack at the center; whether any hinge is violated there. Where none is, λ = 0."""
    center = table.shape[0] - CENTER
    violated = False
    for j in range(count):
        table[j, SLACK] = table[j, MARGIN] - row_row(table, j, center)
        violated = violated or table[j, SLACK] > 0.0
    if count == 1 or not violated:  # one label: in closed form, without the rounding of a far start
        for j in range(count):
            table[j, LAM] = 0.0
    return violated


@kernel
def _from_multipliers(table, count):  # type: ignore[no-untyped-def]
    """z = center + ½ Σ_j λ_j lift_j."""
    z, center = table.shape[0] - Z, table.shape[0] - CENTER
    for p in range(ROW, lift_of(table)):
        table[z, p] = table[center, p]
    for j in range(count):
        if table[j, LAM] != 0.0:
            _add(table, 0.5 * table[j, LAM], j)


@kernel
def _pass(table, count):  # type: ignore[no-untyped-def]
    """Maximize the dual over one λ_j after the other; the largest relative slack that moved one."""
    z, largest = table.shape[0] - Z, 0.0
    for j in range(count):
        fit = row_row(table, j, z)
        slack, old, weight = table[j, MARGIN] - fit, table[j, LAM], table[j, WEIGHT]
        new = weight if slack > 0.0 else 0.0
        if table[j, CURVATURE] > 0.0:
            new = min(max(old + slack / table[j, CURVATURE], 0.0), weight)
        if new != old:
            table[j, LAM] = new
            _add(table, 0.5 * (new - old), j)
            largest = max(largest, abs(slack) / (abs(table[j, MARGIN]) + abs(fit)))
    return largest


@kernel
def factor_face(table, face, M, count):  # type: ignore[no-untyped-def]
    """Collect the free multipliers and factor their Hessian ½ rows·liftsᵀ; how many they are.

    A multiplier whose row depends on the ones before is taken out of every solve. 0 where there
    are more than two for each coordinate: the face is then far from the one of the solution.
    """
    size = 0
    for j in range(count):
        if 0.0 < table[j, LAM] < table[j, WEIGHT]:
            face[size] = j
            size += 1
    if size > 2 * (lift_of(table) - ROW):
        return 0
    for b in range(size):
        for a in range(b):
            M[b, a] = 0.5 * row_lift(table, face[a], face[b])
        M[b, b] = table[face[b], CURVATURE]
    cholesky(M[:size, :size], PIVOT, DEPENDENT**2)
    return size


@kernel
def _walk(table, face, step, size, length):  # type: ignore[no-untyped-def]
    """Move the free multipliers by length·step or until one is at its bound; whether one is."""
    blocking = -1
    for a in range(size):
        j = face[a]
        room = table[j, WEIGHT] - table[j, LAM] if step[a] > 0.0 else table[j, LAM]
        if abs(step[a]) * length > room:
            length, blocking = room / abs(step[a]), a
    for a in range(size):
        j = face[a]
        old, weight = table[j, LAM], table[j, WEIGHT]
        new = min(max(old + length * step[a], 0.0), weight)
        if a == blocking:
            new = weight if step[a] > 0.0 else 0.0
        table[j, LAM] = new
        _add(table, 0.5 * (new - old), j)
    return blocking >= 0


@kernel
def _along_null_space(table, face, M, step, size):  # type: ignore[no-untyped-def]
    """Walk along a direction of the free multipliers that does not move z; whether to a bound."""
    z, steepest, gain = table.shape[0] - Z, -1, 0.0
    for a in range(size):
        if M[a, a] >= DEPENDENT:
            slack = table[face[a], MARGIN] - row_row(table, face[a], z)
            if abs(slack) > abs(gain):
                steepest, gain = a, slack
    if steepest < 0:
        return False
    sign = 1.0 if gain > 0.0 else -1.0
    for a in range(steepest):
        step[a] = -sign * M[steepest, a]
    step[steepest] = sign
    backward(M[:steepest, :steepest], step[:steepest])
    return _walk(table, face, step, steepest + 1, 1e300)


@kernel
def _newton_on_face(table, face, M, step, count):  # type: ignore[no-untyped-def]
    """Newton step of the dual in the free multipliers; whether it ended at a bound, on a smaller face."""
    size = factor_face(table, face, M, count)
    if size < 2:
        return False
    z = table.shape[0] - Z
    for a in range(size):
        step[a] = table[face[a], MARGIN] - row_row(table, face[a], z)
    forward(M[:size, :size], step[:size])
    backward(M[:size, :size], step[:size])
    if _walk(table, face, step, size, 1.0):
        return True
    return _along_null_space(table, face, M, step, size)


@kernel
def _certified(table, count):  # type: ignore[no-untyped-def]
    """Whether λ and z have a negligible duality gap."""
    z = table.shape[0] - Z
    gap, value, near, noise = 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        fit = row_row(table, j, z)
        slack, size = table[j, MARGIN] - fit, abs(table[j, MARGIN]) + abs(fit)
        hinge = table[j, WEIGHT] * max(slack, 0.0)
        gap += hinge - table[j, LAM] * slack
        value += hinge + 0.5 * table[j, LAM] * (table[j, SLACK] - slack)
        near += hinge + 0.5 * table[j, LAM] * size  # the same where the center is far away
        noise += table[j, WEIGHT] * size
    return gap <= TOL * min(value, near) + ROUNDING * noise


@kernel
def ascend(table, face, M, step, count):  # type: ignore[no-untyped-def]
    """Maximize the dual from the multipliers in the table; sets λ and z.

    Coordinate descent finds the face, Newton's method the optimum on it: two or three passes where
    k ≤ l. With many more labels than coordinates and large weights it may not converge.

    Parameters
    ----------
    table : (k + 4, 5 + 2w) array
        A sample, see the module; w is l filled up to a multiple of four.
    face : (k,) int array
        Workspace.
    M : (k, k) array
        Workspace.
    step : (k,) array
        Workspace.
    count : int
        How many lines of the table are labels.

    Returns
    -------
    bool
        Whether λ and z are optimal up to rounding or 1e-11 of the value.
    """
    violated = _start(table, count)
    passes, last = 0, np.inf
    for _ in range(REFRESHES):
        _from_multipliers(table, count)
        if not violated:
            return True
        while passes < PASSES:
            passes += 1
            largest = _pass(table, count)
            if count == 1:
                return True
            if largest <= STILL or (largest <= STALLED and largest > 0.5 * last):
                break
            last = largest
            for _ in range(FACES):
                if not _newton_on_face(table, face, M, step, count):
                    break
        _from_multipliers(table, count)
        if _certified(table, count):
            return True
    return False
