"""Folds: rows whose inner products stand in a Gram matrix that was computed once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray
from svdecode.reduction.kernels import KernelRows
from svdecode.reduction.rows import LinearRows, center_cross, double_center

#: below this share of energy left by the fold's own mean, the sub-block has lost six digits
CANCELLATION = 1e-6


class GramRows:
    """A fold: chosen rows whose inner products are a sub-block of a Gram matrix that is there already.

    Parameters
    ----------
    K : array of shape (n, n)
        Gram matrix of all rows.
    index : array of int
        The rows of the fold.
    rows : LinearRows or KernelFold
        The same rows, for products with data that are not in `K`.
    noise : float
        The largest pivot that rounding errors can make in `K`.
    """

    center = True  # by the mean of the fold's rows

    def __init__(
        self, K: FloatArray, index: IntArray, rows: LinearRows | KernelFold, noise: float = 0.0
    ) -> None:
        self.K = K
        self.index = index
        self.rows = rows
        self.noise = noise

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.index)

    @property
    def semidefinite(self) -> bool:
        """Whether the inner products are such by construction."""
        return self.rows.semidefinite

    @property
    def own(self) -> FloatArray:
        """The fold's block of K, a copy."""
        return self.K[np.ix_(self.index, self.index)]

    @cached_property
    def _lies_far(self) -> bool:
        """Whether the fold's mean is so far from that of all rows that the data must be read again."""
        K = self.own
        left = float(np.trace(double_center(K.copy())))
        return isinstance(self.rows, LinearRows) and left < CANCELLATION * float(np.trace(K))

    def gram(self) -> tuple[FloatArray, float]:
        """Return the fold's centered block of K, and the largest pivot that rounding errors can make."""
        if self._lies_far:
            assert isinstance(self.rows, LinearRows)
            return self.rows.gram()
        K = double_center(self.own)
        return K, self.noise * len(self.index) / len(self.K)

    def cross_rows(self, index: IntArray) -> FloatArray:
        """Return inner products of other rows of K with the fold's, centered by the fold's mean."""
        if self._lies_far:
            assert isinstance(self.rows, LinearRows)
            return self.rows.cross(self.rows.X[index])
        return center_cross(self.K[np.ix_(index, self.index)], self.own)

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of new rows with the fold's."""
        return self.rows.cross(X_new)

    def combine(self, D: FloatArray) -> FloatArray:
        """Return weighted sums of the fold's (centered) rows."""
        return self.rows.combine(D)


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

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is positive semidefinite whatever its parameters are."""
        return self.rows.semidefinite

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of φ(x) for new rows with the fold's (both centered)."""
        values = self.rows.cross(X_new)[:, self.index]
        return center_cross(values, self.rows.K[np.ix_(self.index, self.index)])

    def combine(self, D: FloatArray) -> FloatArray:
        """Refuse, as `KernelRows.combine` does."""
        return self.rows.combine(D)
