"""Kernel matrices factored, K = L Lᵀ: samples as coordinates in their own span, of the kernel's rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf

from svdecode._checks import FloatArray
from svdecode._threads import threads_for
from svdecode.reduction.rows import EPS

#: negative eigenvalues up to this share are rounding errors of whoever made the kernel
INDEFINITE = 1e-6


def factor(K: FloatArray, noise: float = 0.0, *, check: bool = False) -> FloatArray:
    """L (n × r) with K = L Lᵀ, by Cholesky's factorization with pivots.

    Parameters
    ----------
    K : array of shape (n, n)
        Positive semidefinite matrix; it is not changed.
    noise : float
        Pivots that rounding errors can make.
    check : bool
        Whether to refuse a matrix that has negative eigenvalues.

    Returns
    -------
    array of shape (n, r)
        Coordinates of the samples in their own span.
    """
    n, diagonal = len(K), K.diagonal()
    noise = max(noise, 4 * EPS * float(np.abs(diagonal).sum()))
    if not diagonal.max(initial=0.0) > noise:
        rank, L = 0, np.zeros((n, 0))
    else:
        with threads_for(n * n // 4):  # a third of the work of a product
            packed, pivots, rank, _ = dpstrf(K.T, tol=noise, lower=1)
        L = np.empty((n, rank))
        L[pivots - 1] = np.tril(packed[:, :rank])
    if check:
        _refuse_indefinite(K, L)
    return L


def _refuse_indefinite(K: FloatArray, L: FloatArray) -> None:
    """Refuse a kernel that has negative eigenvalues, which L Lᵀ cannot reproduce (random probes show it)."""
    probes = np.random.default_rng(0).standard_normal((len(K), 4))
    size = float(np.abs(K).max(initial=0.0)) * np.sqrt(len(K))
    if float(np.abs(K @ probes - L @ (L.T @ probes)).max(initial=0.0)) > INDEFINITE * size:
        raise indefinite(K, float(np.linalg.eigvalsh(K)[0]))


def indefinite(K: FloatArray, lowest: float) -> ValueError:
    """Return the refusal of a kernel matrix by its lowest eigenvalue."""
    return ValueError(
        f"kernel: found a kernel matrix with the eigenvalue {lowest:.3g} (largest entry "
        f"{np.abs(K).max():.3g}), expected a positive semidefinite one"
    )


class Factors(Sequence[FloatArray]):
    """L of each view's kernel matrix, computed when it is first asked for.

    Parameters
    ----------
    kernels : list of arrays of shape (n, n)
        Kernel matrices.
    noises : list of float, optional
        Pivots that rounding errors can make, of each.
    """

    def __init__(self, kernels: Sequence[FloatArray], noises: Sequence[float] | None = None) -> None:
        self.kernels = kernels
        self.noises = [0.0] * len(kernels) if noises is None else noises
        self.found: dict[int, FloatArray] = {}

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[v] for v in range(len(self))[index]]
        view = range(len(self))[index]
        if view not in self.found:
            self.found[view] = factor(self.kernels[view], self.noises[view])
        return self.found[view]

    def check(self, view: int) -> None:
        """Refuse a kernel that has negative eigenvalues."""
        self.found[view] = factor(self.kernels[view], self.noises[view], check=True)
