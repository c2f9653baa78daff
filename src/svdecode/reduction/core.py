"""Rows of X -> coordinates in their own span, and back: X − mean = L Qᵀ (Xi 2007, Part III).

Every objective whose terms on W are invariant to rotations of feature space depends on X only
through its inner products. So L (n × r) takes the place of X (n × m), and what was learned on L is
lifted back with Qᵀ (r × m, orthonormal rows). Q itself is kept as weights on the rows of X
(Q = X_cᵀ D, the *dual* form), so that nothing of the size of X is stored beside X.

Routes, for n rows of m features:

gram
    K = X_c X_cᵀ by one BLAS product, K = L Lᵀ by Cholesky's factorization with pivots. It costs
    little beside the product, less than an eigendecomposition of K would, and shows the rank on
    the way. Directions whose singular value is below about 1e-7 of the largest are lost in K and dropped.
lq
    Householder QR of X_cᵀ, then an SVD of the small factor: twice the digits (directions down to
    max(n, m)·eps of the largest), a few times the cost. L = U Σ comes in singular order.
features
    n ≥ m: X_c itself is small enough; L = X_c, Q = I.
kernel
    As gram, with any positive semidefinite kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgeqrf, dgeqrf_lwork, dpstrf, dtrtri

from svdecode._checks import FloatArray, IntArray, as_matrix, check_choice, check_index
from svdecode._threads import threads_for
from svdecode.reduction.folds import GramRows
from svdecode.reduction.kernels import Kernel, KernelRows, check_kernel
from svdecode.reduction.rows import EPS, EPS32, LinearRows, Rows


@dataclass(frozen=True)
class Reduction:
    """Coordinates of rows in their own span, and the way back.

    Attributes
    ----------
    coordinates : array of shape (n, r)
        L: inner products, distances and norms of its rows are those of the (centered) rows of X.
        With zero rank (all rows equal) r is 0.
    rows : Rows
        The data the coordinates stand for.
    dual : array of shape (n, r) or None
        D with Q = X_cᵀ D; None where Q is the identity.
    singular_values : array of shape (r,) or None
        Norms of the columns of L where they are the singular directions ("lq" route), else None.
    discarded_energy : float
        Share of ‖X_c‖² below the rank tolerance, which is not in `coordinates` (0 with zero rank).

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.reduction import reduce_rows
    >>> X = np.random.default_rng(0).standard_normal((6, 1000))
    >>> reduction = reduce_rows(X[:4])
    >>> reduction.rank
    3
    >>> reduction.transform(X[4:]).shape
    (2, 3)
    """

    coordinates: FloatArray
    rows: Rows
    dual: FloatArray | None
    singular_values: FloatArray | None = None
    discarded_energy: float = 0.0

    @property
    def rank(self) -> int:
        """Number of coordinates."""
        return int(self.coordinates.shape[1])

    @property
    def mean(self) -> FloatArray:
        """Origin of the coordinates in feature space (zeros when the rows were not centered)."""
        rows = self.rows.rows if isinstance(self.rows, GramRows) else self.rows
        if not isinstance(rows, LinearRows):
            raise ValueError(
                "kernel: the mean of a kernel's feature space has no coordinates, expected 'linear'"
            )
        return rows.mean

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of new rows: (X − mean) Q.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_new, m)
            New rows; for a precomputed kernel their kernel values with the training rows.

        Returns
        -------
        array of shape (n_new, r)
            Their projections on the span of the training rows.
        """
        if self.dual is not None:
            return self.rows.cross(X) @ self.dual
        assert isinstance(self.rows, LinearRows)
        new = LinearRows(self.rows.check_new(X), center=False)
        return new.centered() - self.rows.mean

    def transform_rows(self, index: IntArray) -> FloatArray:
        """Coordinates of other rows of a shared Gram matrix: no data are read.

        Parameters
        ----------
        index : array of int
            Rows of the matrix that the `SharedGram` was made from.

        Returns
        -------
        array of shape (len(index), r)
            Their projections on the span of the training rows.
        """
        if not isinstance(self.rows, GramRows) or self.dual is None:
            raise ValueError("transform_rows: expected a reduction made by SharedGram.reduce")
        return self.rows.cross_rows(check_index(index, len(self.rows.K))) @ self.dual

    def lift(self, B: FloatArray) -> FloatArray:
        """Directions given in the coordinates, back in feature space: B Qᵀ.

        Parameters
        ----------
        B : array of shape (k, r)
            Rows in coordinates, for instance the basis W of a decomposition of L.

        Returns
        -------
        array of shape (k, m)
            The same directions in feature space. Add `mean` to turn coordinates into samples.
        """
        B = self._check_directions(B)
        return B if self.dual is None else self.rows.combine(B @ self.dual.T)

    def lift_with_mean(self, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Directions back in feature space, and `mean`, reading the data once for both.

        Parameters
        ----------
        B : array of shape (k, r)
            Rows in coordinates.

        Returns
        -------
        directions : array of shape (k, m)
            B Qᵀ.
        mean : array of shape (m,)
            Origin of the coordinates.
        """
        B = self._check_directions(B)
        if self.dual is None or not isinstance(self.rows, LinearRows):
            return self.lift(B), self.mean
        return self.rows.combine_with_mean(B @ self.dual.T)

    def _check_directions(self, B: FloatArray) -> FloatArray:
        B = np.asarray(B, dtype=np.float64)
        if B.ndim != 2 or B.shape[1] != self.rank:
            raise ValueError(f"B: found an array of shape {B.shape}, expected {self.rank} columns")
        return B


def reduce_rows(
    X: Any,
    *,
    center: bool = True,
    kernel: Kernel = "linear",
    method: str = "auto",
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
) -> Reduction:
    """Coordinates of the rows of X in their own span.

    Parameters
    ----------
    X : array, memory map, scipy sparse matrix or frame of shape (n, m)
        Rows are samples. float32 and float64, in either memory order, are read in place; a
        sparse matrix is never densified whole (except that with n ≥ m the coordinates themselves
        are n × m); a memory map is read in blocks of columns.
    center : bool, default True
        Subtract the mean of these rows (and from new rows the same).
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, default "linear"
        Inner product between rows. With "precomputed", X is the (n, n) matrix of its values.
    method : {"auto", "gram", "lq", "features"}, default "auto"
        "auto" is "features" for n ≥ m, else "gram"; see the module's documentation for what
        each costs and resolves. A kernel other than "linear" always goes by "gram".
    gamma : float, optional
        Scale of "rbf" and "polynomial"; 1/m when not given.
    degree : float, default 3
        Degree of "polynomial".
    coef0 : float, default 1
        Constant of "polynomial".

    Returns
    -------
    Reduction
        The coordinates and the way back.

    Notes
    -----
    The rank leaves out what rounding errors can make. By the Gram route: pivots (squared distances of a
    row from the span of those before it) below 4·eps of ‖X‖², the sum over all rows, so about singular
    values below 3e-8 of ‖X‖. By the LQ route: singular values below max(n, m)·eps of the
    largest, that of the mean included. With float32 data both leave out what rounding to float32 has
    made: singular values below 1.2e-7 of ‖X‖. By the features route nothing is left out: r = m.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.reduction import reduce_rows
    >>> X = np.random.default_rng(0).standard_normal((5, 1000))
    >>> reduction = reduce_rows(X)
    >>> reduction.coordinates.shape  # centered: one dimension less than rows
    (5, 4)
    >>> back = reduction.lift(reduction.coordinates) + reduction.mean
    >>> bool(np.allclose(back, X))
    True
    """
    kernel = check_kernel(kernel)
    check_choice(center, "center", (True, False))
    check_choice(method, "method", ("auto", "gram", "lq", "features"))
    X = as_matrix(X)
    if not (isinstance(kernel, str) and kernel == "linear"):
        if method not in ("auto", "gram"):
            raise ValueError(f"method: found {method!r} with kernel {kernel!r}, expected 'gram'")
        return reduce_by_gram(KernelRows(X, kernel, center, gamma=gamma, degree=degree, coef0=coef0))
    rows = LinearRows(X, center)
    if method == "auto":
        method = "features" if X.shape[0] >= X.shape[1] else "gram"
    if method == "features":
        return Reduction(rows.centered(), rows, dual=None)
    if method == "lq":
        if sp.issparse(X):
            raise ValueError("method: found 'lq' with a sparse X, expected 'gram' or 'auto'")
        return reduce_by_lq(rows)
    return reduce_by_gram(rows)


def reduce_by_gram(rows: Rows) -> Reduction:
    """K = L Lᵀ by pivoted Cholesky; Q = X_cᵀ D with D = L₁⁻ᵀ on the r pivot rows."""
    K, noise = rows.gram()
    n, total = len(K), float(np.trace(K))
    largest = float(max(K.max(), -K.min()))
    # K is symmetric: its transpose is K in Fortran's order, which LAPACK overwrites in place
    with threads_for(n * n):
        factor, pivots, rank, _ = dpstrf(
            K if K.flags.f_contiguous else K.T, tol=noise, lower=1, overwrite_a=1
        )
    del K
    if largest <= noise:
        rank = 0
    pivots = pivots - 1
    for j in range(1, rank):
        factor[:j, j] = 0.0
    L, D = np.empty((n, rank)), np.zeros((n, rank))
    L[pivots] = factor[:, :rank]
    if not rows.semidefinite:
        _refuse_indefinite(rows.gram()[0], L)
    if rank:
        with threads_for(rank * rank):
            inverse, _ = dtrtri(factor[:rank, :rank], lower=1)
        del factor
        D[pivots[:rank]] = inverse.T
    left = max(0.0, 1.0 - float(np.vdot(L, L)) / total) if rank else 0.0
    return Reduction(L, rows, D, discarded_energy=left)


def _refuse_indefinite(K: FloatArray, L: FloatArray) -> None:
    """Refuse kernels with negative eigenvalues: L Lᵀ, which has none, cannot reproduce them."""
    off = float(np.abs(K - L @ L.T).max())
    largest = float(np.abs(K).max())
    if off > 1e-7 * largest:
        lowest = float(np.linalg.eigvalsh(K)[0])
        raise ValueError(
            f"kernel: found a kernel matrix with the eigenvalue {lowest:.3g} (largest entry "
            f"{largest:.3g}), expected a positive semidefinite one"
        )


def singular_noise(rows: LinearRows, singular_values: FloatArray) -> float:
    """Bound of a singular value of the (centered) rows that is rounding error.

    Factorizations round to max(n, m)·eps of the largest singular value, that of the mean included;
    values of float32 were rounded before, to eps(float32) of ‖X‖.
    """
    n, m = rows.n_rows, rows.n_features
    mean = float(np.sqrt(n) * np.linalg.norm(rows.mean))
    noise = max(n, m) * EPS * max(float(singular_values[0]), mean)
    if rows.X.dtype == np.float32:
        energy = float(singular_values @ singular_values) + mean**2
        noise = max(noise, EPS32 * energy**0.5)
    return noise


def reduce_by_lq(rows: LinearRows) -> Reduction:
    """X_cᵀ = Q R by Householder reflections, Rᵀ = U Σ Vᵀ: L = U Σ, and D = U Σ⁻¹."""
    Xc = rows.centered()
    n, m = Xc.shape
    work, _ = dgeqrf_lwork(m, n)
    packed = dgeqrf(Xc.T, lwork=int(work), overwrite_a=1)[0]
    R = np.triu(packed[: min(n, m)])
    U, s, _ = np.linalg.svd(R.T, full_matrices=False)
    rank = int((s > singular_noise(rows, s)).sum())
    if rows.center:
        rank = min(rank, n - 1)
    U, s, total = U[:, :rank], s[:rank], float((s**2).sum())
    U = U * np.where(U[np.abs(U).argmax(axis=0), np.arange(rank)] < 0, -1.0, 1.0)
    left = max(0.0, 1.0 - float((s**2).sum()) / total) if rank else 0.0
    return Reduction(U * s, rows, U / s, singular_values=s, discarded_energy=left)
