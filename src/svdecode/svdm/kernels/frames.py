"""Coordinates in which the quadratic of the Z step is diagonal, and what of it is singular."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

RANK = 1e-14  # eigenvalues up to l times this, relative to the largest, are zero
SEEN = 1e-9  # how much of a vector, relative to it, may lie in the null space by rounding
NOISE = 1e-13  # the same where a ball keeps it from growing
FREE = 1e-25  # curvature given to directions that cost nothing, relative to the largest


@kernel
def frame(A, scales):  # type: ignore[no-untyped-def]
    """Eigenvalues d and vectors T (columns) with A⁻¹ = T diag(d)⁻¹ Tᵀ; d = 0 where it is rounding.

    With `scales`, T are the eigenvectors of DAD, D = diag(A)^{-1/2}, times D: the condition is then
    all but the smallest that a scaling of the coordinates can give. Without, T is orthogonal.

    Parameters
    ----------
    A : (l, l) array
        Symmetric, positive semidefinite.
    scales : bool
        Whether to scale.

    Returns
    -------
    d : (l,) array
        Ascending.
    T : (l, l) array
        Vectors.
    """
    l = A.shape[0]
    D, S, T = np.ones(l), np.empty((l, l)), np.empty((l, l))
    for p in range(l):
        if scales and A[p, p] > 0.0:
            D[p] = 1.0 / np.sqrt(A[p, p])
        for q in range(p + 1):
            S[p, q] = D[p] * A[p, q] * D[q]
            S[q, p] = S[p, q]
    if not np.isfinite(np.sum(S)):  # eigh would raise
        return np.full(l, np.nan), np.full((l, l), np.nan)
    d, V = np.linalg.eigh(S)
    for q in range(l):
        if d[q] <= RANK * l * d[l - 1]:
            d[q] = 0.0
        for p in range(l):
            T[p, q] = D[p] * V[p, q]
    return d, T


@kernel
def transposed(X):  # type: ignore[no-untyped-def]
    """Contiguous transpose."""
    out = np.empty((X.shape[1], X.shape[0]))
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j, i] = X[i, j]
    return out


@kernel
def _dot(X, i, Y, j):  # type: ignore[no-untyped-def]
    """Inner product of row i of X and row j of Y."""
    value = 0.0
    for p in range(X.shape[1]):
        value += X[i, p] * Y[j, p]
    return value


@kernel
def _drop(N, upto, X, first, last):  # type: ignore[no-untyped-def]
    """Take the span of the first orthonormal rows of N out of some rows of X, in place."""
    for i in range(first, last):
        for a in range(upto):
            size = _dot(X, i, N, a)
            for p in range(N.shape[1]):
                X[i, p] -= size * N[a, p]


@kernel
def null_space(d, T):  # type: ignore[no-untyped-def]
    """Orthonormal rows that span what costs nothing, by repeated Gram-Schmidt."""
    size = 0
    while size < d.size and d[size] == 0.0:  # eigenvalues ascend
        size += 1
    N = transposed(T)[:size].copy()
    for a in range(size):
        for _ in range(3):
            _drop(N, a, N, a, a + 1)
            length = np.sqrt(_dot(N, a, N, a))
            for p in range(d.size):
                N[a, p] /= length
    return N


@kernel
def solved(d, T, N, X):  # type: ignore[no-untyped-def]
    """Rows A⁺x of the rows x of X: of all minimizers of zᵀAz − 2xᵀz the shortest."""
    out = X.copy()
    _drop(N, N.shape[0], out, 0, out.shape[0])
    out = np.dot(out, T)
    for i in range(out.shape[0]):
        for p in range(d.size):
            out[i, p] = out[i, p] / d[p] if d[p] > 0.0 else 0.0
    out = np.dot(out, transposed(T))
    _drop(N, N.shape[0], out, 0, out.shape[0])
    return out


@kernel
def lifted(d, T, N, rows):  # type: ignore[no-untyped-def]
    """Rows A⁻¹b of the rows b, where directions that cost nothing cost next to nothing."""
    out = solved(d, T, N, rows)
    price = FREE * (d[d.size - 1] if d[d.size - 1] > 0.0 else 1.0)
    for j in range(rows.shape[0]):
        seen = 0.0
        for a in range(N.shape[0]):
            seen += _dot(rows, j, N, a) ** 2
        if seen > SEEN**2 * _dot(rows, j, rows, j):
            for a in range(N.shape[0]):
                size = _dot(rows, j, N, a) / price
                for p in range(d.size):
                    out[j, p] += size * N[a, p]
    return out


@kernel
def clear_noise(d, X, free):  # type: ignore[no-untyped-def]
    """Clear, in place, what rounding left of the rows of X where d is 0; more of it where z is free."""
    level = SEEN if free else NOISE
    for i in range(X.shape[0]):
        total, null = 0.0, 0.0
        for p in range(d.size):
            total += X[i, p] ** 2
            if d[p] == 0.0:
                null += X[i, p] ** 2
        if null <= level**2 * total:
            for p in range(d.size):
                if d[p] == 0.0:
                    X[i, p] = 0.0
