"""Kernels: rows as vectors of the feature space that a kernel defines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from svdecode._checks import FloatArray, as_matrix, refuse_non_finite
from svdecode.reduction.rows import center_cross, double_center

Kernel: TypeAlias = str | Callable[..., Any]
KERNELS = ("linear", "rbf", "polynomial", "precomputed")


def check_kernel(kernel: Any) -> Kernel:
    """Return `kernel` if it is a known name or a callable."""
    if callable(kernel) or (isinstance(kernel, str) and kernel in KERNELS):
        return kernel  # type: ignore[no-any-return]
    names = ", ".join(repr(name) for name in KERNELS)
    raise ValueError(f"kernel: found {kernel!r}, expected one of {names} or a callable")


def kernel_matrix(
    A: Any,
    B: Any,
    kernel: Kernel,
    *,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
) -> FloatArray:
    """Kernel values between the rows of A and the rows of B, in float64.

    Parameters
    ----------
    A, B : arrays or sparse matrices of shapes (n_a, m), (n_b, m)
        Two sets of rows.
    kernel : {"linear", "rbf", "polynomial"} or callable
        A callable takes the two matrices and returns all values at once.
    gamma : float, optional
        Scale of "rbf", exp(−gamma ‖a − b‖²), and of "polynomial", (gamma aᵀb + coef0)^degree;
        1/m when not given.
    degree : float, default 3
        Degree of "polynomial".
    coef0 : float, default 1
        Constant of "polynomial".

    Returns
    -------
    array of shape (n_a, n_b)
        The kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.reduction import kernel_matrix
    >>> A = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> kernel_matrix(A, A, "polynomial", degree=2, gamma=1, coef0=1)
    array([[ 4.,  1.],
           [ 1., 25.]])
    """
    if callable(kernel):
        values = np.asarray(kernel(A, B), dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"kernel: the callable returned shape {values.shape}, "
                f"expected {(A.shape[0], B.shape[0])} (all pairs of rows at once)"
            )
        return values
    A, B = (M if sp.issparse(M) else np.asarray(M, dtype=np.float64) for M in (A, B))
    if kernel == "rbf":
        return np.asarray(rbf_kernel(A, B, gamma=gamma))
    if kernel == "polynomial":
        return np.asarray(polynomial_kernel(A, B, degree=degree, gamma=gamma, coef0=coef0))
    return np.asarray(linear_kernel(A, B, dense_output=True))


class KernelRows:
    """Rows as vectors φ(x) of a kernel's feature space.

    Parameters
    ----------
    X : matrix of shape (n, m), or the (n, n) kernel matrix itself for "precomputed"
        Training rows.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable
        See `kernel_matrix`.
    center : bool
        Whether the mean of the φ(x) is the origin.
    **params : float
        `gamma`, `degree`, `coef0` of `kernel_matrix`.
    """

    def __init__(self, X: Any, kernel: Kernel, center: bool, **params: Any) -> None:
        self.X = X
        self.kernel = kernel
        self.center = center
        self.params = params
        self.K = self._check(X, "X") if kernel == "precomputed" else self._values(X, X, "X")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.K)

    def _values(self, A: Any, B: Any, name: str) -> FloatArray:
        values = kernel_matrix(A, B, self.kernel, **self.params)
        if not np.isfinite(values).all():
            refuse_non_finite(A, name)
        return values

    def _check(self, K: Any, name: str) -> FloatArray:
        K = np.asarray(K.toarray() if sp.issparse(K) else K, dtype=np.float64)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"{name}: found a kernel matrix of shape {K.shape}, expected a square one")
        if not np.isfinite(K).all():
            refuse_non_finite(K, name)
        if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10 * np.abs(K).max()):
            raise ValueError(f"{name}: found a kernel matrix that is not symmetric, expected K = Kᵀ")
        return np.asarray(K)

    def gram(self) -> tuple[FloatArray, float]:
        """Return the (centered) kernel matrix, and the energy that its rounding errors scale with."""
        K = (self.K + self.K.T) / 2
        raw = float(np.trace(K))
        return (double_center(K) if self.center else K), raw

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of φ(x) for new rows with the training rows' (both centered)."""
        new = as_matrix(X_new)
        n_expected = self.X.shape[1]
        if new.shape[1] != n_expected:
            what = "kernel values with the training rows" if self.kernel == "precomputed" else "features"
            raise ValueError(f"X: found {new.shape[1]} {what}, expected {n_expected}")
        if self.kernel == "precomputed":
            values = np.asarray(new.toarray() if sp.issparse(new) else new, dtype=np.float64)
            if not np.isfinite(values).all():
                refuse_non_finite(new)
        else:
            values = self._values(new, self.X, "X")
        return center_cross(values, self.K) if self.center else values

    def combine(self, D: FloatArray) -> FloatArray:  # noqa: ARG002
        """Refuse: weighted sums of φ(x) have no coordinates."""
        raise ValueError(
            f"kernel: {self.kernel!r} has no feature space to go back to; "
            "expected kernel='linear' (or use the dual weights)"
        )
