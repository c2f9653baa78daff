"""The weight tensor in an orthonormal basis of each of its modes: the core, and nothing larger.

From mode v the tensor W = Σ_i a_i φ_1(x_i) ⊗ … ⊗ φ_V(x_i) is the weight matrix of two views, view v and all
others under the product of their kernels, so its singular vectors follow from n × n matrices (a
higher-order SVD).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svdecode._checks import FloatArray

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Modes:
    """What W uses of each view.

    Attributes
    ----------
    duals : list of arrays of shape (n, r_v)
        Orthonormal directions of a view's feature space, Σ_i duals[i, t] φ_v(x_i), by decreasing share of W.
    core : array of shape (r_1, …, r_V)
        W in these directions.
    discarded : float
        Bound on the share of ‖W‖² outside them; 0 where none was left out.
    """

    duals: list[FloatArray]
    core: FloatArray
    discarded: float


def reduce_modes(kernels: Sequence[FloatArray], a: FloatArray, *, largest_core: int, least: int = 1) -> Modes:
    """Find the directions of each mode, and the core in them.

    Parameters
    ----------
    kernels : list of arrays of shape (n, n)
        Gram matrices.
    a : array of shape (n,)
        Coefficients.
    largest_core : int
        Most numbers in the core: the directions with the smallest singular values are left out until it fits.
    least : int
        Directions that each mode has to keep (all, where it has fewer).

    Returns
    -------
    Modes
        Directions and core.
    """
    factors = [square_root(K) for K in kernels]
    duals, spectra = [], []
    for v, (U, root) in enumerate(factors):
        R = U_times(square_root(product([K for u, K in enumerate(kernels) if u != v])))
        P, singular, _ = np.linalg.svd(U_times((U, root)).T @ (a[:, None] * R), full_matrices=False)
        rank = int((singular > max(len(a), 1) * EPS * singular[0]).sum()) if singular.size else 0
        duals.append((U / root) @ P[:, :rank])
        spectra.append(singular[:rank])
    ranks = fitting_ranks(spectra, largest_core, least)
    duals = [D[:, :r] for D, r in zip(duals, ranks, strict=True)]
    energy = sum(float((s**2).sum()) for s in spectra) / len(spectra)
    lost = sum(float((s[r:] ** 2).sum()) for s, r in zip(spectra, ranks, strict=True))
    return Modes(
        duals, core_of([K @ D for K, D in zip(kernels, duals, strict=True)], a), lost / (energy or 1)
    )


def product(kernels: Sequence[FloatArray]) -> FloatArray:
    """Return the kernel of the tensor product: entrywise."""
    return np.asarray(np.prod(np.stack(kernels), axis=0))


def square_root(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors of a Gram matrix and the square roots of their eigenvalues, those above rounding."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept = values > len(K) * EPS * max(float(values[-1]), 0.0)
    return vectors[:, kept], np.sqrt(values[kept])


def U_times(factor: tuple[FloatArray, FloatArray]) -> FloatArray:  # noqa: N802
    """Return U Λ^½."""
    return factor[0] * factor[1]


def fitting_ranks(spectra: Sequence[FloatArray], largest_core: int, least: int) -> list[int]:
    """Numbers of directions that fit into the core and leave out as little of W as one at a time can."""
    ranks = [len(s) for s in spectra]
    floors = [min(least, r) for r in ranks]
    if np.prod(floors, dtype=float) > largest_core:
        shape = " × ".join(str(r) for r in floors)
        raise ValueError(
            f"n_projections: found {least}, for which the core of {len(ranks)} views would have {shape} "
            f"numbers, expected at most {largest_core} of them: ask for fewer projections"
        )
    while np.prod(ranks, dtype=float) > largest_core:
        tails = [s[r - 1] if r > f else np.inf for s, r, f in zip(spectra, ranks, floors, strict=True)]
        ranks[int(np.argmin(tails))] -= 1
    return ranks


def core_of(features: Sequence[FloatArray], a: FloatArray) -> FloatArray:
    """Return Σ_i a_i ⊗_v features_v[i], written slice by slice: no array larger than the result is made."""
    *rest, before, last = features
    core = np.empty(tuple(F.shape[1] for F in features))
    for index in np.ndindex(*(F.shape[1] for F in rest)):
        weights = a.copy()
        for F, t in zip(rest, index, strict=True):
            weights *= F[:, t]
        core[index] = (before * weights[:, None]).T @ last
    return core
