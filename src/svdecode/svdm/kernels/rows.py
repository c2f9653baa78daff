"""Operations on the rows of a matrix, in loops: array expressions on slices take seconds each to compile."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel


@kernel
def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Product A B; the one place that compiles a matrix product.

    Parameters
    ----------
    A : (p, q) array
        Matrix, contiguous.
    B : (q, r) array
        Matrix, contiguous.

    Returns
    -------
    (p, r) array
        The product.
    """
    return np.dot(A, B)


@kernel
def transposed(A: np.ndarray) -> np.ndarray:
    """Contiguous transpose.

    Parameters
    ----------
    A : (p, q) array
        Matrix.

    Returns
    -------
    (q, p) array
        Aᵀ.
    """
    T = np.empty((A.shape[1], A.shape[0]))
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            T[j, i] = A[i, j]
    return T


@kernel
def inner(A: np.ndarray, B: np.ndarray, i: int) -> float:
    """Inner product of the rows i of two matrices.

    Parameters
    ----------
    A : (l, r) array
        Matrix.
    B : (l, r) array
        Matrix.
    i : int
        Row.

    Returns
    -------
    float
        ⟨a_i, b_i⟩.
    """
    total = 0.0
    for c in range(A.shape[1]):
        total += A[i, c] * B[i, c]
    return total


@kernel
def solve_rows(L: np.ndarray, W: np.ndarray) -> None:
    """Solve L Lᵀ V = W in place for a matrix W; an infinite pivot gives a row of zeros.

    Parameters
    ----------
    L : (l, l) array
        Lower triangular factor.
    W : (l, r) array
        Right-hand sides, overwritten by the solution.
    """
    n_rows, r = W.shape
    for i in range(n_rows):
        for k in range(i):
            factor = L[i, k]
            for c in range(r):
                W[i, c] -= factor * W[k, c]
        factor = 1.0 / L[i, i]
        for c in range(r):
            W[i, c] *= factor
    for i in range(n_rows - 1, -1, -1):
        for k in range(i + 1, n_rows):
            factor = L[k, i]
            for c in range(r):
                W[i, c] -= factor * W[k, c]
        factor = 1.0 / L[i, i]
        for c in range(r):
            W[i, c] *= factor


@kernel
def rescale_rows(W: np.ndarray, exactly: bool) -> None:
    """Scale rows into the unit ball, or onto the sphere; a row of zeros becomes a coordinate axis there.

    Parameters
    ----------
    W : (l, r) array
        Matrix, changed in place.
    exactly : bool
        Unit norm, not at most that.
    """
    r = W.shape[1]
    for i in range(W.shape[0]):
        norm = np.sqrt(inner(W, W, i))
        if not 0.0 < norm < np.inf:
            for c in range(r):
                W[i, c] = 1.0 if exactly and c == i % r else 0.0
        elif exactly or norm > 1.0:
            for c in range(r):
                W[i, c] /= norm


@kernel
def spanning_rows(A: np.ndarray, B: np.ndarray, both: bool) -> np.ndarray:
    """Orthonormal rows (and rows of zeros) that span the rows of A, or of A and B: Gram-Schmidt, twice.

    Parameters
    ----------
    A : (l, r) array
        Matrix.
    B : (l, r) array
        Matrix.
    both : bool
        Whether B counts.

    Returns
    -------
    (l, r) or (2l, r) array
        Row i is what row i of A, then of B, adds to the rows before it.
    """
    n_rows, r = A.shape
    Q = np.empty((2 * n_rows if both else n_rows, r))
    for i in range(Q.shape[0]):
        x = Q[i]
        for c in range(r):
            x[c] = A[i, c] if i < n_rows else B[i - n_rows, c]
        before = np.sqrt(np.dot(x, x))
        for k in range(2 * i):
            q = Q[k % i]
            factor = np.dot(q, x)
            for c in range(r):
                x[c] -= factor * q[c]
        norm = np.sqrt(np.dot(x, x))
        for c in range(r):
            x[c] = x[c] / norm if norm > 1e-14 * before else 0.0
    return Q
