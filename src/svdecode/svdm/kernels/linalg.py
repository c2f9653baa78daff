"""Small dense linear algebra that never raises, for kernels that run in parallel loops."""

import numpy as np
from numba import njit

kernel = njit(cache=True, nogil=True, fastmath=False, error_model="numpy")
"""The one set of compiler options: strict IEEE arithmetic, no exception on division by zero."""


@kernel
def cholesky(M: np.ndarray, threshold: float, substitute: float) -> int:
    """Cholesky factor of a symmetric positive semidefinite matrix, in place, lower triangle.

    Pivots of at most `threshold` times their diagonal entry are noise. They are replaced by
    `substitute` times that entry (or `substitute` itself where the entry is 0): a tiny number is a
    ridge on that direction, an infinite one takes the direction out of every solve.

    Parameters
    ----------
    M : (p, p) array
        The matrix; on return its lower triangle holds the factor.
    threshold : float
        Relative size below which a pivot is noise.
    substitute : float
        What replaces such a pivot, relative to its diagonal entry.

    Returns
    -------
    int
        How many pivots were replaced.
    """
    p = M.shape[0]
    replaced = 0
    for j in range(p):
        diagonal = M[j, j]
        pivot = diagonal
        for k in range(j):
            pivot -= M[j, k] * M[j, k]
        if not pivot > threshold * diagonal:
            pivot = substitute * diagonal if diagonal > 0.0 else substitute
            replaced += 1
        root = np.sqrt(pivot)
        M[j, j] = root
        for i in range(j + 1, p):
            value = M[i, j]
            for k in range(j):
                value -= M[i, k] * M[j, k]
            M[i, j] = value / root
    return replaced


@kernel
def forward(L: np.ndarray, x: np.ndarray) -> None:
    """Solve L u = x in place, L lower triangular.

    Parameters
    ----------
    L : (p, p) array
        Factor.
    x : (p,) array
        Right-hand side, overwritten by the solution.
    """
    for i in range(L.shape[0]):
        value = x[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value / L[i, i]


@kernel
def backward(L: np.ndarray, x: np.ndarray) -> None:
    """Solve Lᵀ u = x in place, L lower triangular.

    Parameters
    ----------
    L : (p, p) array
        Factor.
    x : (p,) array
        Right-hand side, overwritten by the solution.
    """
    for i in range(L.shape[0] - 1, -1, -1):
        value = x[i] / L[i, i]
        x[i] = value
        for k in range(i):
            x[k] -= L[i, k] * value


@kernel
def eliminate(K: np.ndarray, x: np.ndarray) -> bool:
    """Solve K u = x in place by Gaussian elimination with row pivoting; K is overwritten.

    Parameters
    ----------
    K : (p, p) array
        Any square matrix.
    x : (p,) array
        Right-hand side, overwritten by the solution.

    Returns
    -------
    bool
        Whether K is regular to rounding; else x is meaningless.
    """
    p = K.shape[0]
    for j in range(p):
        chosen, largest = j, 0.0
        for i in range(p):
            size = abs(K[i, j])
            if i >= j and size > abs(K[chosen, j]):
                chosen = i
            largest = max(largest, size)
        if not abs(K[chosen, j]) > 1e-14 * largest:
            return False
        if chosen != j:
            x[j], x[chosen] = x[chosen], x[j]
            for k in range(p):
                K[j, k], K[chosen, k] = K[chosen, k], K[j, k]
        for i in range(j + 1, p):
            ratio = K[i, j] / K[j, j]
            if ratio != 0.0:
                x[i] -= ratio * x[j]
                for k in range(j + 1, p):
                    K[i, k] -= ratio * K[j, k]
    for i in range(p - 1, -1, -1):
        for k in range(i + 1, p):
            x[i] -= K[i, k] * x[k]
        x[i] /= K[i, i]
    return True


@kernel
def matvec(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Product A x.

    Parameters
    ----------
    A : (n, p) array
        Matrix.
    x : (p,) array
        Vector.

    Returns
    -------
    (n,) array
        The product.
    """
    return np.dot(A, x)


@kernel
def vecmat(x: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Product xᵀ A.

    Parameters
    ----------
    x : (n,) array
        Vector.
    A : (n, p) array
        Matrix.

    Returns
    -------
    (p,) array
        The product.
    """
    return np.dot(x, A)
