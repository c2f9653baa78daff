"""The SVD of data by the cheapest route that has the digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from svdecode._checks import FloatArray
from svdecode.reduction import Reduction, reduce_rows
from svdecode.reduction.core import singular_noise
from svdecode.reduction.rows import LinearRows

#: with all singular values above this share of the largest, a Gram matrix costs at most four digits
WELL_CONDITIONED = 1e-2
#: up to this many features a sample one SVD is cheaper than a Gram matrix that turns out to lack digits
WIDE = 2
#: singular values below this share of the largest are lost in a Gram matrix
LOST_IN_GRAM = 1e-7


@dataclass(frozen=True)
class SingularBasis:
    """X (or X centered) = V Λ Uᵀ, without the rounding errors among the singular values.

    Attributes
    ----------
    V : array of shape (n, r)
        Left singular vectors.
    singular_values : array of shape (r,)
        Λ, in falling order.
    noise : float
        Singular values up to this would be rounding errors.
    power : int
        V spans what it should to (noise / smallest singular value) to this power.
    """

    V: FloatArray
    singular_values: FloatArray
    noise: float
    power: int
    _reduction: Reduction
    _rotation: FloatArray

    def components(self, n_components: int) -> FloatArray:
        """First rows of Uᵀ."""
        return self._reduction.lift(self._rotation[:n_components])


def singular_basis(X: Any, *, center: bool, on_disk: bool) -> SingularBasis:
    """SVD of the rows of X.

    Tall data, and those about square, are decomposed as they are. Of wide data the Gram matrix is
    tried first, which costs a tenth of a thin SVD; a QR factorization follows where it shows
    directions of less than a hundredth of the largest, or none where there should be one. Sparse data
    and data on disk stay with it.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Samples.
    center : bool
        Whether to subtract their mean.
    on_disk : bool
        Whether X must not be copied.

    Returns
    -------
    SingularBasis
        Its singular vectors and values.
    """
    n, m = X.shape
    in_memory = not (on_disk or sp.issparse(X))
    if n >= m or (in_memory and m <= WIDE * n):
        reduction = reduce_rows(X, center=center, method="features")
        return _from_coordinates(reduction, LinearRows(X, center))
    reduction = reduce_rows(X, center=center, method="gram")
    if not in_memory:
        return _from_coordinates(reduction)
    if _may_have_digits(reduction.coordinates, n - center):
        basis = _from_coordinates(reduction)
        if basis.singular_values[-1] >= WELL_CONDITIONED * basis.singular_values[0]:
            return basis
    return _from_factorization(reduce_rows(X, center=center, method="lq"), LinearRows(X, center))


def _may_have_digits(L: FloatArray, n_expected: int) -> bool:
    """Whether a Gram matrix has shown all directions that there can be, and its last pivot none that is weak.

    The largest singular value is at least the norm of a row, the smallest at most that of a column, and
    the last column of the pivoted factor holds but its pivot.
    """
    if not 0 < L.shape[1] == n_expected:
        return False
    longest = np.sqrt(np.einsum("ij,ij->i", L, L).max())
    return bool(np.linalg.norm(L[:, -1]) >= WELL_CONDITIONED * longest)


def _from_factorization(reduction: Reduction, rows: LinearRows) -> SingularBasis:
    """What a QR factorization has found already."""
    s = reduction.singular_values
    assert s is not None
    noise = singular_noise(rows, s) if len(s) else 0.0
    V = reduction.coordinates / s
    return SingularBasis(V, s, noise, 1, reduction, np.eye(len(s)))


def _from_coordinates(reduction: Reduction, rows: LinearRows | None = None) -> SingularBasis:
    """SVD of coordinates: of the data themselves (`rows`), or of the factor of a Gram matrix."""
    V, s, rotation = np.linalg.svd(reduction.coordinates, full_matrices=False)
    noise = LOST_IN_GRAM * float(s.max(initial=0.0)) if rows is None else singular_noise(rows, s)
    kept = s > noise
    signs = np.where(V[np.abs(V).argmax(axis=0), np.arange(len(s))] < 0, -1.0, 1.0)
    V, s, rotation = (V * signs)[:, kept], s[kept], (rotation * signs[:, None])[kept]
    return SingularBasis(V, s, noise, 2 if rows is None else 1, reduction, rotation)
