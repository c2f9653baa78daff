"""One Gram matrix for all folds of a cross-validation: the data are read once."""

from __future__ import annotations

from typing import Any

from svdecode._checks import as_matrix, check_index
from svdecode.reduction.core import Reduction, reduce_by_gram
from svdecode.reduction.folds import GramRows, KernelFold
from svdecode.reduction.kernels import Kernel, KernelRows, check_kernel
from svdecode.reduction.rows import LinearRows


class SharedGram:
    """One Gram matrix for all folds: a fold's reduction is a sub-block of it.

    Parameters
    ----------
    X : array, memory map, sparse matrix or frame of shape (n, m)
        All rows, those of every fold.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, default "linear"
        Inner product between rows.
    gamma, degree, coef0 : float
        Parameters of the kernel, as for `reduce_rows`.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.reduction import SharedGram
    >>> X = np.random.default_rng(0).standard_normal((6, 500))
    >>> shared = SharedGram(X)
    >>> fold = shared.reduce([0, 1, 2, 3])
    >>> fold.coordinates.shape, fold.transform_rows([4, 5]).shape
    ((4, 3), (2, 3))
    """

    def __init__(
        self,
        X: Any,
        kernel: Kernel = "linear",
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.kernel = check_kernel(kernel)
        self.X = as_matrix(X)
        self._kernel_rows: KernelRows | None = None
        if isinstance(kernel, str) and kernel == "linear":
            # any common shift leaves centered folds as they are; this one keeps the digits
            self.K, self._noise = LinearRows(self.X, center=True).gram()
        else:
            self._kernel_rows = KernelRows(
                self.X, self.kernel, center=False, gamma=gamma, degree=degree, coef0=coef0
            )
            self.K, self._noise = self._kernel_rows.gram()

    def reduce(self, index: Any) -> Reduction:
        """Reduction of some rows, centered by their own mean.

        Parameters
        ----------
        index : array of int or of bool
            The rows of the fold.

        Returns
        -------
        Reduction
            As `reduce_rows(X[index])` would give it, up to a rotation of the coordinates; its
            `transform_rows` places other rows of X without reading them.
        """
        index = check_index(index, len(self.K))
        own = (
            LinearRows(self.X, center=True, index=index)
            if self._kernel_rows is None
            else KernelFold(self._kernel_rows, index)
        )
        return reduce_by_gram(GramRows(self.K, index, own, self._noise))
