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

from svdecode._checks import LEAST_ENERGY, FloatArray, IntArray, as_matrix, check_energy, refuse_non_finite
from svdecode.reduction.blocks import column_blocks

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)
#: below this share of energy left, centering K instead of X would lose more than three digits
CANCELLATION = 1e-3


class Rows(Protocol):
    """What the reduction asks of data."""

    center: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def semidefinite(self) -> bool:
        """Whether the inner products are such by construction (a user's kernel may have none)."""

    def gram(self) -> tuple[FloatArray, float]:
        """Inner products of the (centered) rows, a new array, and the pivot that rounding errors can make."""

    def cross(self, X_new: Any) -> FloatArray:
        """Inner products of new rows with these, both centered by the mean of these."""

    def combine(self, D: FloatArray) -> FloatArray:
        """Weighted sums D of the (centered) rows, in feature space."""


def double_center(K: FloatArray) -> FloatArray:
    """Turn the Gram matrix of rows into that of the centered rows, in place.

    Twice: what one pass rounds off a row's sum is eps times the entries *before* it, and up to n of these
    add up in the last pivot, which ought to be zero.
    """
    for _ in range(2):
        mean = K.mean(axis=0)
        K -= mean
        K -= mean[:, None] - mean.mean()
    return K


def center_cross(cross: FloatArray, K: FloatArray) -> FloatArray:
    """Center inner products of new rows with training rows whose own (uncentered) Gram matrix is K."""
    mean = K.mean(axis=0)
    return np.asarray(cross - cross.mean(axis=1, keepdims=True) - mean + mean.mean())


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

    semidefinite = True

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
            return self._in_features(np.full((1, self.n_rows), 1 / self.n_rows)).ravel()
        if self.X.dtype == np.float64 and self.index is None:
            return np.asarray(self.X.mean(axis=0))
        return np.concatenate([block.mean(axis=0) for _, block in self._blocks()])

    def _blocks(self, height: int | None = None) -> Iterator[tuple[slice, FloatArray]]:
        return column_blocks(self.X, height, self.index)

    def gram(self) -> tuple[FloatArray, float]:
        """Return K = X_c X_cᵀ in float64, and the largest pivot that rounding errors can make in it."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = self._plain_gram()
            raw = float(np.trace(K))
        self._check_energy(raw)
        if not self.center:
            return K, self._noise(raw, raw)
        K = double_center(K)
        left = float(np.trace(K))
        if left >= CANCELLATION * raw:
            return K, self._noise(raw, raw)
        # an image common to all rows: center before multiplying. What the mean of a block rounds off is
        # the same in all its rows, so centering K as well removes it
        K = double_center(self._block_gram(centered=True))
        return K, self._noise(raw, float(np.trace(K)))

    def _check_energy(self, energy: float) -> None:
        if not LEAST_ENERGY <= energy < np.inf:
            check_energy(energy, self.X if self.index is None else self.X[self.index])

    def _noise(self, raw: float, left: float) -> float:
        """Bound of a pivot that is rounding error, for rows of energy ‖X‖² = raw, and left once centered.

        Products round to eps·left, and up to n of them add up in a pivot. Centering rounds
        every entry by eps times itself, which enters squared; so do values that were rounded to float32.
        """
        stored = EPS32 if self.X.dtype == np.float32 else EPS
        return float(max(4 * EPS * max(left, EPS * raw), stored**2 * raw))

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
                block -= block.mean(axis=0)
            # upper triangle of K += block blockᵀ; dsyrk wants Fortran's order, and copies nothing that has it
            if block.flags.f_contiguous:
                K = dsyrk(1.0, block, beta=1.0, c=K, overwrite_c=1)
            else:
                K = dsyrk(1.0, block.T, beta=1.0, c=K, trans=1, overwrite_c=1)
        for i in range(1, n):
            K[i, :i] = K[:i, i]
        return K

    def centered(self) -> FloatArray:
        """Return X_c in full, a new float64 array in C order."""
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(self.X):
                out = np.empty((self.n_rows, self.n_features))
                for columns, block in self._blocks():
                    out[:, columns] = block
            else:
                out = np.array(self.X if self.index is None else self.X[self.index], np.float64, order="C")
            self._check_energy(float(np.vdot(out, out)))
            if self.center:
                out -= out.mean(axis=0)
        return out

    def cross(self, X_new: Any) -> FloatArray:
        """Return (X_new − mean)(X − mean)ᵀ."""
        new = self.check_new(X_new)
        with np.errstate(over="ignore", invalid="ignore"):
            out = self._sparse_cross(new) if sp.issparse(self.X) else self._block_cross(new)
        if not np.isfinite(out).all() or (sp.issparse(new) and not np.isfinite(new.data).all()):
            refuse_non_finite(new)
        return out

    def _block_cross(self, new: Any) -> FloatArray:
        out = np.zeros((new.shape[0], self.n_rows))
        height = max(new.shape[0], self.n_rows)
        for (columns, own), (_, other) in zip(self._blocks(height), column_blocks(new, height), strict=True):
            if self.center:
                own -= self.mean[columns]
                other -= self.mean[columns]
            out += other @ own.T
        return out

    def _sparse_cross(self, new: Any) -> FloatArray:
        """Return the same by a sparse product, unless an image common to all rows would cost digits."""
        rows = self.X if self.index is None else self.X[self.index]
        offset = self.n_rows * float(self.mean @ self.mean)
        energy = float(rows.data @ rows.data)
        if energy - offset < CANCELLATION * energy:
            return self._block_cross(new)
        out = new @ rows.T
        out = np.asarray(out.toarray() if sp.issparse(out) else out)
        out -= np.asarray(new @ self.mean)[:, None] + (rows @ self.mean - self.mean @ self.mean)
        return np.asarray(out)

    def norms(self, X_new: Any) -> FloatArray:
        """Return ‖x − mean‖² for any rows."""
        new = self.check_new(X_new)
        out = np.zeros(new.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            for columns, block in column_blocks(new):
                block -= self.mean[columns]
                out += np.einsum("ij,ij->i", block, block)
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
        # with weights that sum to zero the mean drops out, and X is read once
        return self._in_features(D - D.mean(axis=1, keepdims=True) if self.center else D)

    def combine_with_mean(self, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return D (X − mean) and the mean, both from one pass over X."""
        if not self.center or "mean" in self.__dict__:
            return self.combine(D), self.mean
        ones = np.full((1, self.n_rows), 1 / self.n_rows)
        both = self._in_features(np.vstack([D - D.mean(axis=1, keepdims=True), ones]))
        self.mean = both[-1]
        return both[:-1], self.mean

    def _in_features(self, weights: FloatArray) -> FloatArray:
        """Weighted sums of the rows as they are."""
        if self.index is not None:
            everywhere = np.zeros((len(weights), self.X.shape[0]))
            np.add.at(everywhere.T, self.index, weights.T)
            weights = everywhere
        if sp.issparse(self.X):
            return np.asarray((self.X.T @ weights.T).T, dtype=np.float64)
        if self.X.dtype == np.float64:
            return np.asarray(weights @ self.X)
        out = np.empty((len(weights), self.n_features))
        for columns, block in column_blocks(self.X):
            out[:, columns] = weights @ block
        return out
