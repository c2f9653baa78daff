"""Kernels of views: the rows of each view as vectors of its kernel's feature space.

They are centered by the training rows, as section 2 of the paper assumes, unless a view says otherwise: a
product of kernels that are not centered may hold each view by itself, beside the products of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray, as_matrix, check_choice
from svdecode.reduction.kernels import Kernel, KernelRows, check_kernel
from svdecode.reduction.rows import LinearRows, Rows
from svdecode.tensor.views import Mask, is_list_of_matrices, present_rows, read_views


@dataclass(frozen=True)
class KernelSettings:
    """Kernel of one view and its parameters, as `svdecode.reduction.kernel_matrix` takes them.

    Attributes
    ----------
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable
        The kernel.
    gamma : float or None
        Scale of "rbf" and "polynomial".
    degree, coef0 : float
        Of "polynomial".
    center : bool
        Whether the mean of the training rows is the feature space's origin.
    """

    kernel: Kernel
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    center: bool = True

    @property
    def is_linear(self) -> bool:
        """Whether the feature space is that of the columns."""
        return isinstance(self.kernel, str) and self.kernel == "linear"

    @property
    def is_precomputed(self) -> bool:
        """Whether the columns are kernel values already."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def rows(self, block: Any) -> Rows:
        """Rows of a view in the kernel's feature space."""
        block = as_matrix(block)
        if self.is_linear:
            return LinearRows(block, self.center)
        return KernelRows(
            block, self.kernel, self.center, gamma=self.gamma, degree=self.degree, coef0=self.coef0
        )


def kernel_settings(n_views: int, **arguments: Any) -> tuple[KernelSettings, ...]:
    """One kernel a view: each argument holds for all views, or is a list with an entry a view."""
    lists = []
    for name, value in arguments.items():
        if not isinstance(value, list | tuple):
            lists.append([value] * n_views)
        elif len(value) != n_views:
            raise ValueError(
                f"{name}: found a list of {len(value)}, expected one for each of {n_views} views"
            )
        else:
            lists.append(list(value))
    each = [
        KernelSettings(**dict(zip(arguments, values, strict=True))) for values in zip(*lists, strict=True)
    ]
    for setting in each:
        check_kernel(setting.kernel)
        check_choice(setting.center, "center", (True, False))
    return tuple(each)


@dataclass(frozen=True)
class ViewKernels:
    """Training samples of all views, in the feature spaces of their kernels.

    Attributes
    ----------
    rows : tuple of Rows
        A view each; `rows[v].gram()` is its (centered) kernel matrix and what rounding makes of it,
        `rows[v].cross(new)` the kernel values of new rows.
    columns : tuple of int arrays
        Columns of each view in X.
    """

    rows: tuple[Rows, ...]
    columns: tuple[IntArray, ...]

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.rows)

    @property
    def n_samples(self) -> int:
        """Number of training samples."""
        return self.rows[0].n_rows

    def grams(self) -> list[FloatArray]:
        """Kernel matrices of the training samples, a view each."""
        return [K for K, _ in self.grams_and_noise()]

    def grams_and_noise(self) -> list[tuple[FloatArray, float]]:
        """As `grams`, each with the largest pivot that rounding errors can make in it."""
        return [rows.gram() for rows in self.rows]

    def cross(self, blocks: list[Any], view: int) -> tuple[FloatArray, Mask]:
        """Kernel values of new rows with the training rows in one view, and which rows have that view.

        Rows that lack the view are NaN.
        """
        block = blocks[view]
        if block is None:
            n_new = next(other.shape[0] for other in blocks if other is not None)
            return np.full((n_new, self.n_samples), np.nan), np.zeros(n_new, dtype=bool)
        columns = self.columns[view] if block.shape[1] == len(self.columns[view]) else None
        present = present_rows(block, np.arange(block.shape[1]) if columns is None else columns)
        if present.all():
            return self.rows[view].cross(block), present
        values = np.full((block.shape[0], self.n_samples), np.nan)
        if present.any():
            values[present] = self.rows[view].cross(block[present])
        return values, present


def _on_disk(X: Any, view: int) -> bool:
    """Whether a view is (part of) a memory map."""
    return isinstance(X[view] if isinstance(X, list | tuple) else X, np.memmap)


def _own(block: Any) -> Any:
    """A copy of what may lie in the user's memory: new samples are compared with it long after the fit."""
    return np.array(block, order="K") if isinstance(block, np.ndarray) else block.copy()


def _given(kernel: Any) -> str:
    """Name of the kernels that `views` holds, whose default, "linear", says nothing of them."""
    for name in kernel if isinstance(kernel, list | tuple) else [kernel]:
        if callable(name) or name not in ("linear", "precomputed"):
            raise ValueError(
                f"kernel: found {name!r} with kernel matrices for views, expected 'precomputed' (or columns "
                "of X for views)"
            )
    return "precomputed"


def training_views(estimator: Any, X: Any, views: Any, **arguments: Any) -> ViewKernels:
    """Read the training samples of an estimator (see `read_views`), which must have all their views.

    The other arguments are those of `KernelSettings`, for all views or as lists.
    """
    blocks, columns = read_views(estimator, X, views, reset=True)
    if is_list_of_matrices(views):
        arguments["kernel"] = _given(arguments.get("kernel", "linear"))
    settings = kernel_settings(len(blocks), **arguments)
    rows = []
    for v, (block, chosen, setting) in enumerate(zip(blocks, columns, settings, strict=True)):
        present = present_rows(block, chosen)
        if not present.all():
            i = int(np.argmin(present))
            raise ValueError(
                f"X: found NaN in every column of view {v} in row {i}, expected all views of the "
                "training samples"
            )
        if not setting.is_precomputed and not _on_disk(X, v):
            block = _own(block)
        rows.append(setting.rows(block))
    return ViewKernels(tuple(rows), columns)


def in_columns(rows: Rows, weights: FloatArray) -> FloatArray | None:
    """Weighted sums of a view's training rows, as weights of its columns; None where there are no such.

    Parameters
    ----------
    rows : Rows
        Training rows of the view.
    weights : array of shape (k, n)
        Weights of the rows, a sum a row.

    Returns
    -------
    array of shape (k, m_v) or None
        For a linear kernel the sums themselves. A polynomial of degree 1, γ⟨x, x'⟩ + coef0, gives the
        slopes γ Σ_i w_i x_i; the constant is left out.
    """
    if isinstance(rows, LinearRows):
        return rows.combine(weights)
    if isinstance(rows, KernelRows) and rows.kernel == "polynomial" and rows.degree == 1:
        if rows.center:
            weights = weights - weights.mean(axis=1, keepdims=True)
        return np.asarray(rows.gamma * rows.linear.combine(weights))
    return None
