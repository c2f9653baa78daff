"""Rows of a matrix as vectors of a feature space that is never written out.

A `Rows` object answers the only questions the reduction asks of data: the inner products of its
rows (`gram`), those with new rows (`cross`), and weighted sums of its rows (`combine`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from svdecode._checks import FloatArray, IntArray, as_matrix, refuse_non_finite

#: bytes of a block of columns in float64: small against the 64 MB that a reduction may take
BLOCK_BYTES = 16 * 2**20
#: below this share of energy left, centering K instead of X would lose more than three digits
CANCELLATION = 1e-3


class Rows(Protocol):
    """What the reduction asks of data."""

    center: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def gram(self) -> tuple[FloatArray, float]:
        """Inner products of the (centered) rows, and the energy that their rounding errors scale with."""

    def cross(self, X_new: Any) -> FloatArray:
        """Inner products of new rows with these, both centered by the mean of these."""

    def combine(self, D: FloatArray) -> FloatArray:
        """Weighted sums D of the (centered) rows, in feature space."""


def double_center(K: FloatArray) -> FloatArray:
    """Turn the Gram matrix of rows into that of the centered rows, in place."""
    mean = K.mean(axis=0)
    K -= mean
    K -= mean[:, None] - mean.mean()
    return K


def center_cross(cross: FloatArray, K: FloatArray) -> FloatArray:
    """Center inner products of new rows with training rows whose own (uncentered) Gram matrix is K."""
    mean = K.mean(axis=0)
    return np.asarray(cross - cross.mean(axis=1, keepdims=True) - mean + mean.mean())


def column_blocks(X: Any, height: int, index: IntArray | None = None) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of columns of X in float64, each at most `BLOCK_BYTES` for `height` rows."""
    width = max(1, BLOCK_BYTES // (8 * height))
    if sp.issparse(X):
        X = X.tocsc()
    for start in range(0, X.shape[1], width):
        columns = slice(start, min(start + width, X.shape[1]))
        part = X[:, columns].toarray() if sp.issparse(X) else X[:, columns]
        yield columns, np.ascontiguousarray(part if index is None else part[index], dtype=np.float64)


class LinearRows:
    """Rows of a numeric matrix: numpy array or memory map of either order, or scipy sparse.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The data, float32 or float64. Products are accumulated in float64.
    center : bool
        Whether the mean of the rows is the origin.
    index : array of int, optional
        Restricts to these rows of `X` (a fold), which are not copied.
    """

    def __init__(self, X: Any, center: bool, index: IntArray | None = None) -> None:
        self.X = X
        self.center = center
        self.index = index

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0]) if self.index is None else len(self.index)

    @property
    def n_features(self) -> int:
        """Dimension of the feature space."""
        return int(self.X.shape[1])

    @cached_property
    def mean(self) -> FloatArray:
        """Mean of the rows (computed when first asked for), or zeros when nothing is centered."""
        if not self.center:
            return np.zeros(self.n_features)
        if sp.issparse(self.X):
            share = np.full((1, self.n_rows), 1 / self.n_rows)
            return np.asarray(self._in_all_rows(share) @ self.X).ravel()
        if self.X.dtype == np.float64 and self.index is None:
            return np.asarray(self.X.mean(axis=0))
        return np.concatenate([block.mean(axis=0) for _, block in self._blocks()])

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        return column_blocks(self.X, self.X.shape[0], self.index)

    def _in_all_rows(self, D: FloatArray) -> FloatArray:
        """Weights on the chosen rows, as weights on all rows of X."""
        if self.index is None:
            return D
        everywhere = np.zeros((len(D), self.X.shape[0]))
        np.add.at(everywhere.T, self.index, D.T)
        return np.asarray(everywhere)

    def gram(self) -> tuple[FloatArray, float]:
        """Return K = X_c X_cᵀ in float64, and the energy that its rounding errors scale with."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._plain_gram()
            raw = float(np.trace(K))
        if not np.isfinite(raw):
            refuse_non_finite(self.X)
        if not self.center:
            return K, raw
        K = double_center(K)
        left = float(np.trace(K))
        if left >= CANCELLATION * raw:
            return K, raw
        # an image common to all rows: center before multiplying. What the subtraction rounds off,
        # eps·|x| an entry, enters K squared
        K = self._block_gram(centered=True)
        return K, max(float(np.trace(K)), np.finfo(np.float64).eps * raw)

    def _plain_gram(self) -> FloatArray:
        X = self.X
        if sp.issparse(X):
            rows = X if self.index is None else X[self.index]
            return np.asarray((rows @ rows.T).toarray(), dtype=np.float64)
        lies_ready = self.index is None and X.dtype == np.float64
        if lies_ready and (X.flags.c_contiguous or X.flags.f_contiguous):
            return np.asarray(X @ X.T)  # numpy makes this one BLAS syrk on the data as they lie
        return self._block_gram(centered=False)

    def _block_gram(self, *, centered: bool) -> FloatArray:
        n = self.n_rows
        K = np.zeros((n, n), order="F")
        for _, block in self._blocks():
            if centered:
                block = block - block.mean(axis=0)
            # upper triangle of K += block blockᵀ; block.T is in Fortran's order, so nothing is copied
            K = dsyrk(1.0, block.T, beta=1.0, c=K, trans=1, overwrite_c=1)
        for i in range(1, n):
            K[i, :i] = K[:i, i]
        return K

    def centered(self) -> FloatArray:
        """Return X_c in full, a new float64 array in C order."""
        out = np.empty((self.n_rows, self.n_features))
        with np.errstate(over="ignore", invalid="ignore"):
            for columns, block in self._blocks():
                out[:, columns] = block - block.mean(axis=0) if self.center else block
        if not np.isfinite(out).all():
            refuse_non_finite(self.X)
        return out

    def cross(self, X_new: Any) -> FloatArray:
        """Return (X_new − mean)(X − mean)ᵀ, a block of columns at a time."""
        new = self.check_new(X_new)
        out = np.zeros((new.shape[0], self.n_rows))
        blocks = zip(self._blocks(), column_blocks(new, self.X.shape[0]), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            for (columns, own), (_, other) in blocks:
                out += (other - self.mean[columns]) @ (own - self.mean[columns]).T
        if not np.isfinite(out).all():
            refuse_non_finite(new)
        return out

    def check_new(self, X_new: Any) -> Any:
        """Return new rows as a matrix with as many features as these."""
        new = as_matrix(X_new)
        if new.shape[1] != self.n_features:
            raise ValueError(
                f"X: found {new.shape[1]} features, expected {self.n_features} as in the training data"
            )
        return new

    def combine(self, D: FloatArray) -> FloatArray:
        """Return D (X − mean)."""
        weights = self._in_all_rows(D)
        if sp.issparse(self.X):
            out = np.asarray((self.X.T @ weights.T).T, dtype=np.float64)
        elif self.X.dtype == np.float64:
            out = weights @ self.X
        else:
            out = np.empty((len(D), self.n_features))
            for columns, block in column_blocks(self.X, self.X.shape[0]):
                out[:, columns] = weights @ block
        return out - np.outer(D.sum(axis=1), self.mean) if self.center else out
