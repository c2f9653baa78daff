"""The Z step: the low-dimensional coordinates of every sample, given basis and discriminants."""

import numpy as np

from svdecode.svdm.kernels.frames import clear_noise, frame, lifted, null_space, solved, transposed
from svdecode.svdm.kernels.linalg import forward, kernel
from svdecode.svdm.kernels.multipliers import (
    CENTER,
    CURVATURE,
    INVERSE,
    LAM,
    LINEAR,
    MARGIN,
    ROW,
    SLACK,
    WEIGHT,
    ascend,
    factor_face,
    lift_of,
    new_table,
    row_lift,
    row_row,
)
from svdecode.svdm.kernels.multipliers import Z as Z_LINE
from svdecode.svdm.kernels.one_label import EVALUATIONS, FREE, RADIUS_TOL, one_label, one_label_in_ball
from svdecode.svdm.kernels.sample_interior import solve_sample

FAILURES = 3  # of the multipliers at too small a ν


@kernel
def _load(table, i, C, rows, lifts, b, Y, Hw, margin, Lam):  # type: ignore[no-untyped-def]
    """Write sample i and its labels that are on into the table; how many they are."""
    count, lift = 0, lift_of(table)
    center, linear = table.shape[0] - CENTER, table.shape[0] - LINEAR
    for p in range(C.shape[1]):
        table[center, ROW + p] = C[i, p]
        table[linear, ROW + p] = C[i, p]
    for j in range(b.size):
        if Y[i, j] != 0.0 and Hw[i, j] > 0.0:
            table[count, MARGIN] = margin - Y[i, j] * b[j]
            table[count, WEIGHT] = Hw[i, j]
            table[count, LAM] = min(max(Lam[i, j], 0.0), Hw[i, j])
            for p in range(C.shape[1]):
                table[count, ROW + p] = Y[i, j] * rows[j, p]
                table[count, lift + p] = Y[i, j] * lifts[j, p]
            table[count, CURVATURE] = 0.5 * row_lift(table, count, count)
            count += 1
    return count


@kernel
def _store(table, i, Y, Hw, Z, Lam):  # type: ignore[no-untyped-def]
    """Write back z and the multipliers of sample i."""
    count, z = 0, table.shape[0] - Z_LINE
    for p in range(Z.shape[1]):
        Z[i, p] = table[z, ROW + p]
    for j in range(Lam.shape[1]):
        Lam[i, j] = 0.0
        if Y[i, j] != 0.0 and Hw[i, j] > 0.0:
            Lam[i, j] = table[count, LAM]
            count += 1


@kernel
def _set_price(table, count, d, nu):  # type: ignore[no-untyped-def]
    """Everything that depends on the ball's multiplier ν, in the eigenbasis of A."""
    linear, center, inverse = table.shape[0] - LINEAR, table.shape[0] - CENTER, table.shape[0] - INVERSE
    lift = lift_of(table)
    for p in range(d.size):
        table[inverse, ROW + p] = 1.0 / (d[p] + nu)
        table[center, ROW + p] = table[linear, ROW + p] * table[inverse, ROW + p]
    for j in range(count):
        for p in range(d.size):
            table[j, lift + p] = table[j, ROW + p] * table[inverse, ROW + p]
        table[j, CURVATURE] = 0.5 * row_lift(table, j, j)


@kernel
def _slope(table, face, M, step, count):  # type: ignore[no-untyped-def]
    """Derivative of ½‖z(ν)‖² where no multiplier enters or leaves its bounds.

    −zᵀ(A + νI)⁻¹z + ½vᵀG⁻¹v with v_j = lifts_jᵀz and G the Hessian of the free multipliers.
    """
    z, inverse, value = table.shape[0] - Z_LINE, table.shape[0] - INVERSE, 0.0
    for p in range(ROW, lift_of(table)):
        value -= table[z, p] * table[z, p] * table[inverse, p]
    size = factor_face(table, face, M, count)
    for a in range(size):
        step[a] = row_lift(table, z, face[a])
    forward(M[:size, :size], step[:size])
    for a in range(size):
        value += 0.5 * step[a] * step[a]
    return value


@kernel
def _bounds(table, count, d, radius):  # type: ignore[no-untyped-def]
    """Bounds of ν: (A + νI)z is never longer than ‖c‖ + ½Σ_j h_j‖rows_j‖."""
    linear = table.shape[0] - LINEAR
    highest = np.sqrt(row_row(table, linear, linear))
    for j in range(count):
        highest += 0.5 * table[j, WEIGHT] * np.sqrt(row_row(table, j, j))
    highest /= radius
    lowest = 0.0 if d[0] > 0.0 else max(FREE * (d[d.size - 1] + highest), 1e-100)
    return lowest, max(highest, lowest)


@kernel
def _guess(table, count, d, radius, lowest):  # type: ignore[no-untyped-def]
    """ν for the multipliers as they are: the root of 1/‖z(ν)‖ = 1/radius by a few Newton steps."""
    linear, pull = table.shape[0] - LINEAR, table.shape[0] - CENTER
    for p in range(ROW, ROW + d.size):
        table[pull, p] = table[linear, p]
        for j in range(count):
            table[pull, p] += 0.5 * table[j, LAM] * table[j, p]
    nu = lowest
    for _ in range(8):
        square, slope = 0.0, 0.0
        for p in range(d.size):
            part = table[pull, ROW + p] / (d[p] + nu)
            square += part * part
            slope += part * part / (d[p] + nu)
        size = np.sqrt(square)
        if size <= radius * (1.0 + 1e-6):
            break
        nu += (size - radius) / radius * square / slope
    return nu


@kernel
def _by_multipliers(table, face, M, step, count, d, radius):  # type: ignore[no-untyped-def]
    """Solve one sample by λ alone, or λ and the ν with ‖z(ν)‖ = radius, the lowest if that is inside.

    Whether it was solved.
    """
    if not np.isfinite(radius):
        return ascend(table, face, M, step, count)
    lowest, highest = _bounds(table, count, d, radius)
    nu = min(_guess(table, count, d, radius, lowest), highest)
    low, high, size, failures, z = lowest, highest, 0.0, 0, table.shape[0] - Z_LINE
    for evaluation in range(EVALUATIONS):
        _set_price(table, count, d, nu)
        if not ascend(table, face, M, step, count):  # next to singular; most likely ν is larger
            failures += 1
            if failures > FAILURES:
                return False
            low = nu
            nu = np.sqrt(max(low, 1e-8 * high) * high)
            continue
        size = np.sqrt(row_row(table, z, z))
        if abs(size - radius) <= RADIUS_TOL * radius or (size < radius and nu == lowest):
            break
        if size > radius:
            low = nu
        else:
            high = nu
        if high - low <= 4e-16 * high:
            break
        slope = _slope(table, face, M, step, count)
        # Newton's step on 1/‖z(ν)‖, which is all but linear
        nu += (size - radius) / radius * size * size / -slope if slope < 0.0 else high
        if nu <= lowest and low == lowest:
            nu = lowest
        elif not low < nu < high or evaluation % 12 == 11:
            nu = np.sqrt(max(low, 1e-16 * high) * high)
    if size > radius:
        for p in range(ROW, ROW + d.size):
            table[z, p] *= radius / size
    return abs(size - radius) <= 1e-10 * radius or nu == lowest


@kernel
def _problem(table, count, d, T, free):  # type: ignore[no-untyped-def]
    """Design, margins and weights of θ, z = Tθ, from the center where z is free: A is diagonal in θ."""
    design, m, h = np.zeros((count, d.size)), np.empty(count), np.empty(count)
    for j in range(count):
        m[j] = table[j, SLACK] if free else table[j, MARGIN]
        h[j] = table[j, WEIGHT]
        for p in range(d.size):
            for q in range(d.size):
                design[j, p] += table[j, ROW + q] * T[q, p]
    clear_noise(d, design, free)
    return design, m, h


@kernel
def _write(table, T, theta, lam, free):  # type: ignore[no-untyped-def]
    """Write θ and λ of `_problem` into the table."""
    z, center = table.shape[0] - Z_LINE, table.shape[0] - CENTER
    for j in range(lam.size):
        table[j, LAM] = lam[j]
    for p in range(theta.size):
        table[z, ROW + p] = table[center, ROW + p] if free else 0.0
        for q in range(theta.size):
            table[z, ROW + p] += T[p, q] * theta[q]


@kernel
def z_step(C, A, B, b, Y, Hw, margin, radius, Lam_warm, Z_warm=None):  # type: ignore[no-untyped-def]
    """Minimize zᵀAz − 2c_iᵀz + Σ_j Hw_ij max(margin − Y_ij (zᵀB_j + b_j), 0) over ‖z‖ ≤ radius for all i.

    Pereira & Gordon 2006, §2.4.3 (ball); the new formulation, §2 (ridge in A); Xi 2007, §2.1.3 and
    Part V (free). z_i = (A + ν_iI)⁻¹(c_i + ½B(λ_i∘y_i)), so that 2((A + ν_iI)z_i − c_i) = B(λ_i∘y_i)
    to rounding; λ_i by coordinate descent and Newton's method on its face, in one step for one label;
    ν_i, where the ball holds z_i, by a bracketed Newton iteration on 1/‖z(ν)‖ in A's eigenbasis; all of
    z_i by the interior point where the multipliers do not converge (many more labels than coordinates
    and large weights, or a singular A).

    Parameters
    ----------
    C : (n, l) array
        Linear terms, one row c_i a sample.
    A : (l, l) array
        Quadratic, symmetric positive semidefinite. Where it is singular every c_i is in its range; of all
        minimizers of a sample without violated hinges the shortest is returned.
    B : (l, k) array
        Discriminants Θ₁:.
    b : (k,) array
        Biases.
    Y : (n, k) array
        Labels in {−1, 1}; 0 switches an entry off.
    Hw : (n, k) array
        Hinge weights ≥ 0; 0 switches an entry off.
    margin : float
        Hinge margin μ ≥ 0.
    radius : float
        Of the ball, > 0; inf for none.
    Lam_warm : (n, k) array
        Multipliers to start from: zeros, or those of the last step.
    Z_warm : (n, l) array, optional
        Coordinates to start from, where one label in a ball makes use of them.

    Returns
    -------
    Z : (n, l) array
        Minimizers.
    Lam : (n, k) array
        Multipliers, in [0, Hw]; 0 for entries that are off.
    """
    free, k, l = not np.isfinite(radius), b.size, C.shape[1]
    d, T = frame(A, free)
    Z, Lam, rows, inside = C.copy(), Lam_warm.copy(), transposed(B), T
    if free:
        N = null_space(d, T)
        Z, lifts = solved(d, T, N, Z), lifted(d, T, N, rows)
        if N.shape[0] > 0:
            Lam = np.zeros(Lam.shape)  # one that moves z along what costs nothing is next to nothing
    else:
        Z, rows, inside = np.dot(Z, T), np.dot(rows, T), np.eye(l)
        clear_noise(d, Z, free)
        clear_noise(d, rows, free)
        lifts = rows
    if free and k == 1:
        one_label(Z, rows[0], lifts[0], b, Y, Hw, margin, Lam)
        return Z, Lam
    table, face, M, step = new_table(k, l), np.empty(k, dtype=np.int64), np.empty((k, k)), np.empty(k)
    g, row, z = np.zeros(l), np.empty(l), np.zeros(l)
    near = np.zeros(Z.shape)
    if Z_warm is not None:
        near = np.dot(Z_warm, T)
    for i in range(Z.shape[0]):
        if k == 1 and Y[i, 0] != 0.0 and Hw[i, 0] > 0.0:
            for p in range(l):
                row[p], z[p] = Y[i, 0] * rows[0, p], near[i, p]
            target, warm = margin - Y[i, 0] * b[0], min(max(Lam[i, 0], 0.0), Hw[i, 0])
            lam, ok = one_label_in_ball(Z[i], row, d, target, Hw[i, 0], radius, warm, z)
            if ok:
                Z[i], Lam[i, 0] = z, lam
                continue
        count = _load(table, i, Z, rows, lifts, b, Y, Hw, margin, Lam)
        if not _by_multipliers(table, face, M, step, count, d, radius):
            design, m, h = _problem(table, count, d, inside, free)
            for p in range(l):
                g[p] = 0.0 if free else 2.0 * Z[i, p]
            theta, lam = solve_sample(design, m, h, 2.0 * d, g, radius)
            _write(table, inside, theta, lam, free)
        _store(table, i, Y, Hw, Z, Lam)
    return (Z if free else np.dot(Z, transposed(T))), Lam


@kernel
def free_coordinates(C, A, radius):  # type: ignore[no-untyped-def]
    """Minimize z_iᵀAz_i − 2c_iᵀz_i, ‖z_i‖ ≤ radius, for all i: the Z step of samples without labels.

    Parameters
    ----------
    C, A, radius
        As for `z_step`.

    Returns
    -------
    (n, l) array
        Minimizers; where A is singular and there is no ball the shortest, A⁺c_i, as in Xi 2007.
    """
    free, none = not np.isfinite(radius), np.empty((0, 0))
    d, T = frame(A, free)
    if free:
        return solved(d, T, null_space(d, T), C)
    Z, table = np.dot(C.copy(), T), new_table(0, d.size)
    clear_noise(d, Z, free)
    off, face, step = np.empty((Z.shape[0], 0)), np.empty(0, dtype=np.int64), np.empty(0)
    for i in range(Z.shape[0]):
        _load(table, i, Z, none, none, step, off, off, 1.0, off)
        _by_multipliers(table, face, none, step, 0, d, radius)
        _store(table, i, off, off, Z, off)
    return np.dot(Z, transposed(T))
