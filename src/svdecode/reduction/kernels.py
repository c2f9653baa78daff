"""Kernels: rows as vectors of the feature space that a kernel defines.

The named kernels are functions of inner products and distances, which `LinearRows` computes in
float64 and in blocks: data on disk, sparse or of float32 are no more copied here than there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from svdecode._checks import FloatArray, as_matrix, check_number, refuse_non_finite
from svdecode.reduction.rows import EPS, LinearRows, center_cross, double_center

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
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ValueError("kernel: found 'precomputed', expected one that can be computed")
    rows = KernelRows(as_matrix(B, "B"), kernel, center=False, gamma=gamma, degree=degree, coef0=coef0)
    return rows.cross(A)


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
    gamma, degree, coef0 : float
        As for `kernel_matrix`.
    """

    def __init__(
        self,
        X: Any,
        kernel: Kernel,
        center: bool,
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
    ) -> None:
        self.X = X
        self.kernel = check_kernel(kernel)
        self.center = center
        self.gamma = 1 / X.shape[1] if gamma is None else check_number(gamma, "gamma", positive=True)
        self.degree = check_number(degree, "degree", positive=True)
        self.coef0 = check_number(coef0, "coef0", minimum=-np.inf)
        # distances do not depend on the origin; at the mean they keep their digits
        self.linear = LinearRows(X, center=kernel == "rbf")
        self.K = self._own()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def semidefinite(self) -> bool:
        """Whether the kernel is positive semidefinite whatever its parameters are."""
        return self.kernel in ("linear", "rbf")

    def _own(self) -> FloatArray:
        """Kernel matrix of the training rows."""
        if callable(self.kernel):
            return self._called(self.X)
        if self.kernel == "precomputed":
            return self._check_precomputed()
        products = self.linear.gram()[0]
        norms = products.diagonal()
        return self._finite(self._of_products(products, norms, norms), self.X)

    def _called(self, new: Any) -> FloatArray:
        assert callable(self.kernel)
        values = np.asarray(self.kernel(new, self.X), dtype=np.float64)
        expected = (new.shape[0], self.X.shape[0])
        if values.shape != expected:
            raise ValueError(
                f"kernel: found values of shape {values.shape} from the callable, "
                f"expected {expected} (all pairs of rows at once)"
            )
        return self._finite(values, new)

    def _finite(self, values: FloatArray, new: Any) -> FloatArray:
        """Return finite values; blame the data where they are not finite, else the kernel."""
        if not np.isfinite(values).all():
            stored = new.data if sp.issparse(new) else new
            if not np.isfinite(stored).all():
                refuse_non_finite(new)
            raise ValueError(
                f"kernel: found NaN or infinity among the values of {self.kernel!r}, expected finite numbers"
            )
        return values

    def _of_products(self, products: FloatArray, norms_a: FloatArray, norms_b: FloatArray) -> FloatArray:
        """Kernel values from inner products of rows a with rows b, and their squared norms."""
        if self.kernel == "linear":
            return products
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel == "polynomial":
                return np.asarray((self.gamma * products + self.coef0) ** self.degree)
            sums = norms_a[:, None] + norms_b
            distances = sums - 2 * products
            distances[distances <= 8 * EPS * sums] = 0.0  # what rounding leaves of the distance to itself
            return np.asarray(np.exp(-self.gamma * distances))

    def _check_precomputed(self) -> FloatArray:
        K = np.array(self.X.toarray() if sp.issparse(self.X) else self.X, dtype=np.float64)
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"X: found a kernel matrix of shape {K.shape}, expected a square one")
        if not np.isfinite(K).all():
            refuse_non_finite(K)
        if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10 * np.abs(K).max()):
            raise ValueError("X: found a kernel matrix that is not symmetric, expected K = Kᵀ")
        return K

    def gram(self) -> tuple[FloatArray, float]:
        """Return the (centered) kernel matrix, and the largest pivot that rounding errors can make in it."""
        K = (self.K + self.K.T) / 2
        noise = 4 * EPS * float(np.abs(K.diagonal()).sum())
        return (double_center(K) if self.center else K), noise

    def cross(self, X_new: Any) -> FloatArray:
        """Return inner products of φ(x) for new rows with the training rows' (both centered)."""
        new = as_matrix(X_new)
        n_expected = self.X.shape[1]
        if new.shape[1] != n_expected:
            what = "kernel values with the training rows" if self.kernel == "precomputed" else "features"
            raise ValueError(f"X: found {new.shape[1]} {what}, expected {n_expected}")
        values = self._cross(new)
        return center_cross(values, self.K) if self.center else values

    def _cross(self, new: Any) -> FloatArray:
        if callable(self.kernel):
            return self._called(new)
        if self.kernel == "precomputed":
            values = np.asarray(new.toarray() if sp.issparse(new) else new, dtype=np.float64)
            return self._finite(values, new)
        products = self.linear.cross(new)
        if self.kernel != "rbf":
            return self._finite(self._of_products(products, products[:, 0], products[0]), new)
        return self._finite(self._of_products(products, self.linear.norms(new), self._norms), new)

    @cached_property
    def _norms(self) -> FloatArray:
        return self.linear.norms(self.X)

    def combine(self, D: FloatArray) -> FloatArray:  # noqa: ARG002
        """Refuse: weighted sums of φ(x) have no coordinates."""
        raise ValueError(
            f"kernel: found {self.kernel!r}, which has no feature space to go back to; "
            "expected 'linear' (or use the dual weights)"
        )
