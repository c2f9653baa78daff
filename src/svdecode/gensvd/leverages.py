"""What samples look like to the others, read off their leverages."""

from __future__ import annotations

import numpy as np

from svdecode._checks import FloatArray, IntArray

#: a leverage this close to 1 is 1: rounding moves it by about 1e-15 times the number of samples
LEVERAGE_TOLERANCE = 1e-12
#: below this distance from the span of V the constant vector is in it
SPAN_TOLERANCE = 1e-7


def left_out_coordinates(
    V: FloatArray, singular_values: FloatArray, blocks: list[IntArray], *, center: bool = False
) -> tuple[FloatArray, int]:
    """Project each block of samples on the span of all samples outside it.

    Paper, section 2: z_j = B_{−j} B_{−j}ᵀ q_j with B_{−j} from the SVD of Q_{−j}, the samples in
    their own SVD basis without the j-th (or the block that holds it). Here B_{−j} is never
    computed: N = Λ⁻¹ V_bᵀ E, with E the eigenvectors of the block's leverages V_b V_bᵀ to the
    eigenvalue 1, spans what is orthogonal to all samples outside b, and z = q − N N⁺ q.

    Parameters
    ----------
    V : array of shape (n, r)
        Left singular vectors of X (its rows are samples), so that q_j = Λ v_j.
    singular_values : array of shape (r,)
        The diagonal of Λ, all positive.
    blocks : list of arrays of int
        Which samples are left out together.
    center : bool, default False
        Subtract from each block the mean of the samples outside it, and project on the span of
        those samples' deviations from it.

    Returns
    -------
    Z : array of shape (n, r)
        Row j is z_j.
    n_stripped : int
        Number of blocks that have a direction of their own.

    Examples
    --------
    Of the samples (1, 0) and (1, 1) each keeps its projection on the other.

    >>> import numpy as np
    >>> from svdecode.gensvd import left_out_coordinates
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> V, singular_values, rotation = np.linalg.svd(X)
    >>> Z, n_stripped = left_out_coordinates(V, singular_values, [np.array([0]), np.array([1])])
    >>> bool(np.allclose(Z @ rotation, [[0.5, 0.5], [1.0, 0.0]])), n_stripped
    (True, 2)
    """
    n = len(V)
    Q = V * singular_values
    Z = Q.copy()
    basis, constant = _with_constant(V) if center else (V, None)
    total = Q.sum(axis=0)
    n_stripped = 0
    for block in blocks:
        if center:
            Z[block] -= (total - Q[block].sum(axis=0)) / (n - len(block))
        own = _own_directions(basis[block])
        n_stripped += own.shape[1] > 0
        N = _orthogonal_to_others(own, constant, singular_values)
        if N.shape[1]:
            Z[block] -= (Z[block] @ N) @ N.T
    return Z, n_stripped


def _with_constant(V: FloatArray) -> tuple[FloatArray, tuple[FloatArray, float]]:
    """V with the part of the constant vector 1/√n that V does not span as one more column."""
    ones = np.full(len(V), 1 / np.sqrt(len(V)))
    c = V.T @ ones
    rest = ones - V @ c
    d = float(np.linalg.norm(rest))
    if d <= SPAN_TOLERANCE:
        return V, (c, 0.0)
    return np.column_stack([V, rest / d]), (c, d)


def _own_directions(V_b: FloatArray) -> FloatArray:
    """F = V_bᵀ E, with E the eigenvectors of V_b V_bᵀ to the eigenvalue 1."""
    if len(V_b) == 1:
        has_own = np.vdot(V_b, V_b) >= 1 - LEVERAGE_TOLERANCE
        return np.asarray(V_b.T if has_own else np.zeros((V_b.shape[1], 0)))
    leverages, E = np.linalg.eigh(V_b @ V_b.T)
    return np.asarray(V_b.T @ E[:, leverages >= 1 - LEVERAGE_TOLERANCE])


def _orthogonal_to_others(
    F: FloatArray, constant: tuple[FloatArray, float] | None, singular_values: FloatArray
) -> FloatArray:
    """Orthonormal basis of all directions v that the others lack (that are constant on the others)."""
    r = len(singular_values)
    if constant is not None:
        c, d = constant
        # d > 0: V had the column (1̂ − Vc)/d appended; else 1̂ = Vc, and v₀ = Λ⁻¹c is constant on all
        F = F[:r] - np.outer(c, F[r]) / d if d > 0 else np.column_stack([F, c])
    if not F.shape[1]:
        return F
    N = F / singular_values[:, None]  # N = Λ⁻¹ V_bᵀ E
    U, s, _ = np.linalg.svd(N / np.linalg.norm(N, axis=0), full_matrices=False)
    return np.asarray(U[:, s > 1e-9 * s[0]])
