"""Folds: rows whose inner products stand in a Gram matrix that was computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray
from svdecode.reduction.kernels import KernelRows
from svdecode.reduction.rows import center_cross, double_center


class GramRows:
    """A fold: chosen rows whose inner products are a sub-block of a Gram matrix that is there already.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix of all rows.
    index : array of int
        The rows of the fold.
    center : bool
        Whether the mean of the fold's rows is the origin.
    rows : LinearRows or KernelRows
        The same rows, for products with data that are not in `K`.
    """

    def __init__(self, K: FloatArray, index: IntArray, center: bool, rows: Any) -> None:
        self.K = K
        self.index = index
        self.center = center
        self.rows = rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.index)

    @property
    def own(self) -> FloatArray:
        """The fold's block of K, a copy."""
        return self.K[np.ix_(self.index, self.index)]

    def gram(self) -> tuple[FloatArray, float]:
        """Return the fold's (centered) block of K, and the energy that rounding errors scale with."""
        K = self.own
        raw = float(np.trace(K))
        return (double_center(K) if self.center else K), raw

    def cross_rows(self, index: IntArray) -> FloatArray:
        """Return inner products of other rows of K with the fold's, centered by the fold's mean."""
        values = self.K[np.ix_(index, self.index)]
        return center_cross(values, self.own) if self.center else values

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of new rows with the fold's."""
        return np.asarray(self.rows.cross(X_new))

    def combine(self, D: FloatArray) -> FloatArray:
        """Return weighted sums of the fold's (centered) rows."""
        return np.asarray(self.rows.combine(D))


class KernelFold:
    """Products of new data with some rows of a kernel.

    Parameters
    ----------
    rows : KernelRows
        All rows.
    index : array of int
        Those of the fold.
    """

    def __init__(self, rows: KernelRows, index: IntArray) -> None:
        self.rows, self.index = rows, index

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of φ(x) for new rows with the fold's (both centered)."""
        values = self.rows.cross(X_new)[:, self.index]
        return center_cross(values, self.rows.K[np.ix_(self.index, self.index)])

    def combine(self, D: FloatArray) -> FloatArray:
        """Refuse, as `KernelRows.combine` does."""
        return self.rows.combine(D)
