"""The Z step: the low-dimensional coordinates of every sample, given basis and discriminants."""

import numpy as np

from svdecode.svdm.kernels.interior import BALL, NONE, interior_point
from svdecode.svdm.kernels.linalg import forward, kernel
from svdecode.svdm.kernels.multipliers import ascend, factor_face, inner, new_sample

RANK = 1e-14  # eigenvalues up to l times this, relative to the largest, are zero
SEEN = 1e-9  # how much of a vector, relative to it, may lie in the null space by rounding
FREE = 1e-25  # curvature given to directions that cost nothing, relative to all there is
RADIUS_TOL = 1e-13
EVALUATIONS = 100  # of ‖z(ν)‖
MAX_ITER = 200
TOL_INTERIOR = 1e-12


@kernel
def _frame(A, scales):  # type: ignore[no-untyped-def]
    """Vectors T (columns) and eigenvalues d with A⁻¹ = T diag(d)⁻¹ Tᵀ; d = 0 where it is rounding.

    With `scales`, T are the eigenvectors of DAD, D = diag(A)^{-1/2}, times D: the condition is then
    all but the smallest that a scaling of the coordinates can give. Without, T is orthogonal.
    """
    l = A.shape[0]
    D, S, T = np.ones(l), np.empty((l, l)), np.empty((l, l))
    for p in range(l):
        if scales and A[p, p] > 0.0:
            D[p] = 1.0 / np.sqrt(A[p, p])
        for q in range(p + 1):
            S[p, q] = D[p] * A[p, q] * D[q]
            S[q, p] = S[p, q]
    d, V = np.linalg.eigh(S)
    for q in range(l):
        if d[q] <= RANK * l * d[l - 1]:
            d[q] = 0.0
        for p in range(l):
            T[p, q] = D[p] * V[p, q]
    return d, T


@kernel
def _transposed(X):  # type: ignore[no-untyped-def]
    """Contiguous transpose."""
    out = np.empty((X.shape[1], X.shape[0]))
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j, i] = X[i, j]
    return out


@kernel
def _drop(N, X, upto):  # type: ignore[no-untyped-def]
    """Take the span of the first orthonormal rows of N out of every row of X."""
    for i in range(X.shape[0]):
        for a in range(upto):
            size = inner(X, i, N[a])
            for p in range(N.shape[1]):
                X[i, p] -= size * N[a, p]


@kernel
def _null_space(d, T):  # type: ignore[no-untyped-def]
    """Orthonormal rows that span what costs nothing, by Gram-Schmidt, twice."""
    size = 0
    while size < d.size and d[size] == 0.0:  # eigenvalues ascend
        size += 1
    N = np.empty((size, d.size))
    for a in range(size):
        for p in range(d.size):
            N[a, p] = T[p, a]
        for _ in range(3):
            _drop(N, N[a : a + 1], a)
            length = np.sqrt(inner(N, a, N[a]))
            for p in range(d.size):
                N[a, p] /= length
    return N


@kernel
def _solved(d, T, N, X):  # type: ignore[no-untyped-def]
    """Rows A⁺x of the rows x of X."""
    inside = X.copy()
    _drop(N, inside, N.shape[0])
    parts = np.dot(inside, T)
    for i in range(parts.shape[0]):
        for p in range(d.size):
            parts[i, p] = parts[i, p] / d[p] if d[p] > 0.0 else 0.0
    out = np.dot(parts, _transposed(T))
    _drop(N, out, N.shape[0])
    return out


@kernel
def _lifts(d, T, N, rows):  # type: ignore[no-untyped-def]
    """Rows A⁻¹b of the rows b, where directions that cost nothing cost next to nothing."""
    out = _solved(d, T, N, rows)
    price = FREE * max(d[d.size - 1], 1e-100)
    for j in range(rows.shape[0]):
        seen = 0.0
        for a in range(N.shape[0]):
            seen += inner(rows, j, N[a]) ** 2
        if seen > SEEN**2 * inner(rows, j, rows[j]):
            for a in range(N.shape[0]):
                size = inner(rows, j, N[a]) / price
                for p in range(d.size):
                    out[j, p] += size * N[a, p]
    return out


@kernel
def _clear_noise(d, X):  # type: ignore[no-untyped-def]
    """Clear, in place, what rounding left of the rows of X where d is 0."""
    for i in range(X.shape[0]):
        total, null = 0.0, 0.0
        for p in range(d.size):
            total += X[i, p] ** 2
            if d[p] == 0.0:
                null += X[i, p] ** 2
        if null <= SEEN**2 * total:
            for p in range(d.size):
                if d[p] == 0.0:
                    X[i, p] = 0.0


@kernel
def _load(s, i, rows, lifts, b, Y, Hw, margin, Lam):  # type: ignore[no-untyped-def]
    """Collect the labels of sample i that are on; how many they are."""
    count = 0
    for j in range(b.size):
        if Y[i, j] != 0.0 and Hw[i, j] > 0.0:
            s.margins[count] = margin - Y[i, j] * b[j]
            s.weights[count] = Hw[i, j]
            s.lam[count] = min(max(Lam[i, j], 0.0), Hw[i, j])
            for p in range(s.z.size):
                s.rows[count, p] = Y[i, j] * rows[j, p]
                s.lifts[count, p] = Y[i, j] * lifts[j, p]
            s.curvature[count] = 0.5 * inner(rows, j, lifts[j])
            count += 1
    return count


@kernel
def _set_price(s, count, d, C, i, nu):  # type: ignore[no-untyped-def]
    """Everything that depends on the ball's multiplier ν, in the eigenbasis of A."""
    for p in range(d.size):
        s.inverse[p] = 1.0 / (d[p] + nu)
        s.center[p] = C[i, p] * s.inverse[p]
    for j in range(count):
        for p in range(d.size):
            s.lifts[j, p] = s.rows[j, p] * s.inverse[p]
        s.curvature[j] = 0.5 * inner(s.rows, j, s.lifts[j])


@kernel
def _slope(s, count):  # type: ignore[no-untyped-def]
    """Derivative of ½‖z(ν)‖² where no multiplier enters or leaves its bounds.

    −zᵀ(A + νI)⁻¹z + ½vᵀG⁻¹v with v_j = lifts_jᵀz and G the Hessian of the free multipliers.
    """
    value = 0.0
    for p in range(s.z.size):
        value -= s.z[p] * s.z[p] * s.inverse[p]
    size = factor_face(s, count)
    step = s.step[:size]
    for a in range(size):
        step[a] = inner(s.lifts, s.face[a], s.z)
    forward(s.matrix[:size, :size], step)
    for a in range(size):
        value += 0.5 * step[a] * step[a]
    return value


@kernel
def _norm(z):  # type: ignore[no-untyped-def]
    value = 0.0
    for p in range(z.size):
        value += z[p] * z[p]
    return np.sqrt(value)


@kernel
def _reach(s, count, d, C, i, radius):  # type: ignore[no-untyped-def]
    """Bounds of ν: (A + νI)z is never longer than ‖c‖ + ½Σ_j h_j‖rows_j‖."""
    highest = 0.0
    for j in range(count):
        highest += 0.5 * s.weights[j] * _norm(s.rows[j])
    highest = (highest + _norm(C[i])) / radius
    lowest = 0.0 if d[0] > 0.0 else max(FREE * (d[d.size - 1] + highest), 1e-100)
    return lowest, max(highest, lowest)


@kernel
def _on_ball(s, count, d, C, i, radius, nu, lowest, highest):  # type: ignore[no-untyped-def]
    """Find the ν ≥ lowest with ‖z(ν)‖ = radius, or < radius at `lowest`; whether it was found."""
    low, high, size = lowest, highest, 0.0
    for evaluation in range(EVALUATIONS):
        _set_price(s, count, d, C, i, nu)
        if not ascend(s, count):
            return False
        size = _norm(s.z)
        if abs(size - radius) <= RADIUS_TOL * radius or (size < radius and nu == lowest):
            break
        low, high = (nu, high) if size > radius else (low, nu)
        if high - low <= 4e-16 * high:
            break
        slope = _slope(s, count)
        # Newton's step on 1/‖z(ν)‖, which is all but linear
        nu += (size - radius) / radius * size * size / -slope if slope < 0.0 else high
        if nu <= lowest and low == lowest:
            nu = lowest
        elif not low < nu < high or evaluation % 12 == 11:
            nu = np.sqrt(max(low, 1e-16 * high) * high)
    if size > radius:
        for p in range(s.z.size):
            s.z[p] *= radius / size
    return abs(size - radius) <= 1e-10 * radius or size < radius


@kernel
def _interior(s, count, d, T, C, i, radius):  # type: ignore[no-untyped-def]
    """All of z by the interior point, in coordinates that make A diagonal; whether it was solved."""
    l = d.size
    g, design = np.zeros(l), np.empty((count, l))
    m, c = s.slack[:count].copy(), s.weights[:count].copy()
    ball = np.isfinite(radius)
    for j in range(count):
        for p in range(l):
            design[j, p] = s.rows[j, p] if ball else 0.0
            for q in range(0 if ball else l):
                design[j, p] += s.rows[j, q] * T[q, p]
    constraint = NONE
    if ball:
        constraint = BALL
        for p in range(l):
            g[p] = 2.0 * C[i, p]
        for j in range(count):
            m[j] = s.margins[j]
    max_iter = int(MAX_ITER)
    theta, lam, _, ok = interior_point(design, m, c, 2.0 * d, g, constraint, radius, max_iter, TOL_INTERIOR)
    for j in range(count):
        s.lam[j] = lam[j]
    for p in range(l):
        s.z[p] = theta[p] if ball else s.center[p] + inner(T, p, theta)
    return ok


@kernel
def _price_of(s, count, d, C, i, radius):  # type: ignore[no-untyped-def]
    """ν of 2(Az − c) − Bλ + 2νz = 0."""
    nu = 0.0
    for p in range(d.size):
        pull = C[i, p] - d[p] * s.z[p]
        for j in range(count):
            pull += 0.5 * s.lam[j] * s.rows[j, p]
        nu += pull * s.z[p] / (radius * radius)
    return nu


@kernel
def _guess(s, count, d, C, i, radius, lowest):  # type: ignore[no-untyped-def]
    """ν for the multipliers as they are: the root of 1/‖z(ν)‖ = 1/radius by a few Newton steps."""
    for p in range(d.size):
        s.center[p] = C[i, p]
        for j in range(count):
            s.center[p] += 0.5 * s.lam[j] * s.rows[j, p]
    nu = lowest
    for _ in range(8):
        square, slope = 0.0, 0.0
        for p in range(d.size):
            part = s.center[p] / (d[p] + nu)
            square += part * part
            slope += part * part / (d[p] + nu)
        size = np.sqrt(square)
        if size <= radius * (1.0 + 1e-6):
            break
        nu += (size - radius) / radius * square / slope
    return nu


@kernel
def _solve(s, count, d, C, i, radius, nu):  # type: ignore[no-untyped-def]
    """One sample by its multipliers, from those in `s` and a guess of ν; whether it was solved."""
    if not np.isfinite(radius):
        return ascend(s, count)
    lowest, highest = _reach(s, count, d, C, i, radius)
    if nu < 0.0:
        nu = _guess(s, count, d, C, i, radius, lowest)
    return _on_ball(s, count, d, C, i, radius, min(max(nu, lowest), highest), lowest, highest)


@kernel
def _solve_or_interior(s, count, d, T, C, i, radius):  # type: ignore[no-untyped-def]
    """One sample; where its multipliers do not converge, from those of the interior point."""
    ok, nu = False, -1.0
    lam, z = s.lam, s.z
    for attempt in range(2):
        if _solve(s, count, d, C, i, radius, nu):
            return True
        if attempt == 0:
            ok = _interior(s, count, d, T, C, i, radius)
            lam, z = s.lam.copy(), s.z.copy()
            nu = max(_price_of(s, count, d, C, i, radius), 0.0) if np.isfinite(radius) else 0.0
    for j in range(count):
        s.lam[j] = lam[j]
    for p in range(d.size):
        s.z[p] = z[p]
    return ok


@kernel
def _store(s, i, Y, Hw, Z, Lam):  # type: ignore[no-untyped-def]
    """Write back z and the multipliers of sample i."""
    for p in range(s.z.size):
        Z[i, p] = s.z[p]
    count = 0
    for j in range(Lam.shape[1]):
        Lam[i, j] = 0.0
        if Y[i, j] != 0.0 and Hw[i, j] > 0.0:
            Lam[i, j] = s.lam[count]
            count += 1


@kernel
def z_step(C, A, B, b, Y, Hw, margin, radius, Lam_warm):  # type: ignore[no-untyped-def]
    """The Z step."""
    ball = np.isfinite(radius)
    d, T = _frame(A, not ball)
    s = new_sample(b.size, d.size)
    Z, Lam, rows = C, Lam_warm.copy(), _transposed(B)
    if ball:
        Z, rows = np.dot(Z, T), np.dot(rows, T)
        _clear_noise(d, Z)
        _clear_noise(d, rows)
        lifts = rows
    else:
        N = _null_space(d, T)
        Z, lifts = _solved(d, T, N, Z), _lifts(d, T, N, rows)
    for i in range(Z.shape[0]):
        count = _load(s, i, rows, lifts, b, Y, Hw, margin, Lam)
        for p in range(d.size):
            s.center[p] = Z[i, p]
        _solve_or_interior(s, count, d, T, Z, i, radius)
        _store(s, i, Y, Hw, Z, Lam)
    if ball:
        Z = np.dot(Z, _transposed(T))
    return Z, Lam


@kernel
def free_coordinates(C, A, radius):  # type: ignore[no-untyped-def]
    """The Z step without hinges."""
    n, l = C.shape
    off = np.zeros((n, 1))
    Z, _ = z_step(C, A, np.zeros((l, 1)), np.zeros(1), off, off, 1.0, radius, off)
    return Z
