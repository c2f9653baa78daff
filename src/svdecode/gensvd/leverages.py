"""What samples look like to the others, read off their leverages."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from svdecode._checks import FloatArray, IntArray
from svdecode.gensvd.spans import Span, plain_span, span_of_differences

#: only directions with leverages this close to 1 are looked at more closely
SUSPICION = 1e-6
#: how many samples are looked at together
CHUNK = 256


def left_out_coordinates(
    V: FloatArray,
    singular_values: FloatArray,
    blocks: list[IntArray],
    *,
    center: bool = False,
    noise: float = 0.0,
    power: int = 1,
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
        The diagonal of Λ, all positive, in falling order.
    blocks : list of arrays of int
        Which samples are left out together.
    center : bool, default False
        Subtract from each block the mean of the samples outside it, and project on the span of
        those samples' deviations from it.
    noise : float, default 0
        Singular values up to this are rounding errors.
    power : int, default 1
        V spans what it should to (noise / smallest singular value) to this power: 1 where it comes from
        the data, 2 from a Gram matrix. A direction is a block's own when it misses the span of
        V by no more; the miss is the root of 1 − leverage.

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
    Q = V * singular_values
    if len(singular_values) == 0:
        return Q, 0
    if not center:
        return _strip(Q, plain_span(V, singular_values, noise, power), blocks)
    Q -= Q.mean(axis=0)
    for block in blocks:
        Q[block] += Q[block].sum(axis=0) / (len(Q) - len(block))  # minus the others' mean: all sum to zero
    return _strip(Q, span_of_differences(V, singular_values, noise, power), blocks)


def _strip(Q: FloatArray, span: Span, blocks: list[IntArray]) -> tuple[FloatArray, int]:
    """Take from each block's samples what the samples outside it do not span."""
    Z = Q.copy()
    alone = np.array([block[0] for block in blocks if len(block) == 1], dtype=np.intp)
    own = alone[_own_samples(span)[alone]]  # for these E = 1
    N = span.directions(span.basis[own].T).T
    if span.common is not None:
        N = _beside(N, span.common)
    N /= np.linalg.norm(N, axis=1, keepdims=True)
    Z[own] -= N * np.einsum("ij,ij->i", Q[own], N)[:, None]
    n_stripped = len(own)
    for block in (block for block in blocks if len(block) > 1):
        E = _own_combinations(span, block)
        if E.shape[1] == 0:
            continue
        n_stripped += 1
        N = span.directions(span.basis[block].T @ E)
        if span.common is not None:
            N = np.column_stack([N, span.common])
        # its rows grow as the singular values fall: the largest first, and pivots, keep the digits
        basis = qr(N[::-1], mode="economic", pivoting=True)[0][::-1]
        Z[block] -= (Z[block] @ basis) @ basis.T
    return Z, n_stripped


def _beside(N: FloatArray, common: FloatArray) -> FloatArray:
    """Rows of N without their part along `common`, the largest entry by elimination, to keep digits."""
    largest = np.abs(common).argmax()
    N = N - np.outer(N[:, largest] / common[largest], common)
    unit = common / np.linalg.norm(common)
    return np.asarray(N - np.outer(N @ unit, unit))


def _own_samples(span: Span) -> np.ndarray:
    """Which samples have leverage 1.

    1 − leverage is the square of what a sample misses of the span. Rounding hides it below 1e-15,
    that is misses below 3e-8; so where a leverage is near 1 the miss itself is computed.
    """
    spanned = span.basis
    n, r = spanned.shape
    if r == n:  # everything is spanned
        return np.ones(n, dtype=bool)
    own = np.zeros(n, dtype=bool)
    suspects = np.flatnonzero(np.einsum("ij,ij->i", spanned, spanned) >= 1 - SUSPICION)
    for start in range(0, len(suspects), CHUNK):
        chunk = suspects[start : start + CHUNK]
        missed = -spanned @ spanned[chunk].T
        missed[chunk, np.arange(len(chunk))] += 1
        own[chunk] = np.linalg.norm(missed, axis=0) <= span.tolerance
    return own


def _own_combinations(span: Span, block: IntArray) -> FloatArray:
    """E: combinations of a block's samples that have leverage 1, as orthonormal columns."""
    spanned = span.basis
    if spanned.shape[0] == spanned.shape[1]:  # everything is spanned
        return np.eye(len(block))
    leverages = spanned[block] @ spanned[block].T
    if _all_below(leverages, 1 - SUSPICION):
        return np.empty((len(block), 0))
    size, E = np.linalg.eigh(leverages)
    E = E[:, size >= 1 - SUSPICION]
    if E.shape[1] == 0:
        return np.asarray(E)
    missed = -spanned @ (spanned[block].T @ E)
    missed[block] += E
    _, size, mix = np.linalg.svd(missed, full_matrices=False)
    return np.asarray(E @ mix[size <= span.tolerance].T)


def _all_below(A: FloatArray, bound: float) -> bool:
    """Whether all eigenvalues of A are below the bound: a factorization tells it at a tenth of the cost."""
    try:
        np.linalg.cholesky(bound * np.eye(len(A)) - A)
    except np.linalg.LinAlgError:
        return False
    return True
