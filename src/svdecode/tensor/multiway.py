"""More than two views: the weight tensor of the tensor-kernel SVM, decomposed in dual variables.

    W = Σ_i a_i φ_1(x_i) ⊗ … ⊗ φ_V(x_i),   a_i = α_i c_i,   f(x) = ⟨W, φ_1(x) ⊗ … ⊗ φ_V(x)⟩

is the question that Hardoon & Shawe-Taylor 2009 leave open (section 6). `svdecode.tensor.modes` makes it a
core of r_1 × … × r_V numbers, the only tensor that is ever written out, and tensorly decomposes the core:

    CP        W ≈ Σ_t b_1^t ⊗ … ⊗ b_V^t             f(x) ≈ Σ_t Π_v φ̂_v(x)_t
    Tucker    W ≈ Σ g_{s…t} b_1^s ⊗ … ⊗ b_V^t       f(x) ≈ Σ g_{s…t} φ̂_1(x)_s … φ̂_V(x)_t

with b_v^t = Σ_i dual_v[i, t] φ_v(x_i) and φ̂_v(x)_t = ⟨b_v^t, φ_v(x)⟩. The b of all views but the last have
length 1; the last view carries the size, as the paper's w_y = W'v does. For two views both are the SVD,
that is, the paper.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from svdecode._checks import FloatArray
from svdecode.tensor.core import as_they_stand, cp, svd, tucker
from svdecode.tensor.decomposition import Decomposition
from svdecode.tensor.decomposition import decompose as decompose_two
from svdecode.tensor.modes import product, reduce_modes

DECOMPOSITIONS = ("cp", "tucker")
LARGEST_CORE = 2**22  # numbers: 32 MB, 161 directions of each of three views


@dataclass(frozen=True)
class Multiway(Decomposition):
    """A decomposed weight tensor: dual weights of every view, all with T columns.

    Attributes
    ----------
    duals : tuple of arrays of shape (n_samples, T)
        Dual weights of each view. For Tucker, views of fewer directions have columns of zeros at the end.
    strengths : array of shape (T,)
        Sizes of the last view's b, descending.
    core : array of shape (T, …, T), optional
        Tucker's core, by the features; None for CP and two views, where it is the identity.
    explained : float
        1 − ‖W − W̃‖²/‖W‖², from the kernels, so that it counts what the reduction left out too.
    reduced_shape : tuple of int
        Shape of the core that was decomposed.
    discarded : float
        Bound on the share of ‖W‖² that this core leaves out; 0 where all directions fitted in.
    """

    core: FloatArray | None = None
    explained: float = 1.0
    reduced_shape: tuple[int, ...] = ()
    discarded: float = 0.0

    def take(self, chosen: Any) -> Multiway:
        """Only some of the projections; `explained` stays what all explain."""
        index = np.arange(self.rank)[chosen]
        part = super().take(index)
        core = None if self.core is None else self.core[np.ix_(*[index] * self.core.ndim)]
        return replace(self, duals=part.duals, strengths=part.strengths, core=core)

    def padded(self, n_projections: int) -> Multiway:
        """As many projections as asked for: the first, or spare ones of zeros."""
        spare = n_projections - self.rank
        if spare <= 0:
            return self.take(slice(n_projections))
        wide = super().padded(n_projections)
        core = None if self.core is None else np.pad(self.core, [(0, spare)] * self.core.ndim)
        return replace(self, duals=wide.duals, strengths=wide.strengths, core=core)


def combine(features: Sequence[FloatArray], core: FloatArray | None = None) -> FloatArray:
    """Return f: Σ_t Π_v φ̂_v(x)_t, or with a core Σ g_{s…t} φ̂_1(x)_s … φ̂_V(x)_t, for each row."""
    if core is None:
        return np.asarray(np.prod(np.stack(features), axis=0).sum(axis=1))
    values = np.tensordot(features[0], core, axes=1)
    for F in features[1:]:
        values = np.einsum("nt,nt...->n...", F, values)
    return np.asarray(values)


def decompose(
    kernels: Sequence[FloatArray],
    coefficients: FloatArray,
    n_components: int | None = None,
    *,
    decomposition: str = "cp",
    random_state: Any = None,
    n_init: int = 5,
    largest_core: int = LARGEST_CORE,
) -> Multiway:
    """Decompose Σ_i a_i ⊗_v φ_v(x_i) without its feature spaces.

    Parameters
    ----------
    kernels : list of arrays of shape (n_samples, n_samples)
        A positive semidefinite Gram matrix a view.
    coefficients : array of shape (n_samples,)
        a_i = α_i c_i, zero off the support vectors.
    n_components : int, optional
        Components of CP, or directions of each view for Tucker (fewer where W uses fewer). By default as
        many as make W itself: for CP the support vectors, for Tucker each mode's rank.
    decomposition : {"cp", "tucker"}
        Which. Two views have the SVD either way, in which CP's components are unique.
    random_state : int, RandomState or None
        Seed of CP's random starts.
    n_init : int
        Number of CP's starts, the first from the modes' own directions.
    largest_core : int
        Most numbers in the core; see `svdecode.tensor.modes.reduce_modes`.

    Returns
    -------
    Multiway
        Dual weights, core and quality.
    """
    used = np.flatnonzero(coefficients)
    small, a = [np.ascontiguousarray(K[np.ix_(used, used)]) for K in kernels], coefficients[used]
    core: FloatArray | None = None
    n_views = len(kernels)
    if decomposition == "cp" and n_views > 2 and (n_components is None or n_components >= len(a)):
        duals = as_they_stand(small, a)  # W is a sum over support vectors: nothing is to be found
        shape, discarded = (len(a),) * n_views, 0.0
    else:
        modes = reduce_modes(small, a, largest_core=largest_core, least=n_components or 1)
        shape, discarded = modes.core.shape, modes.discarded
        if n_views == 2:
            duals = svd(modes, n_components)
        elif decomposition == "cp":
            duals = cp(modes, n_components or 1, check_random_state(random_state), n_init)
        else:
            duals, core = tucker(modes, n_components)
    features = [K @ D for K, D in zip(small, duals, strict=True)]
    duals, features, core = _signed(a, duals, features, core)
    explained = _explained(small, a, duals, features, core)
    T = max(D.shape[1] for D in duals)
    whole = [np.zeros((len(coefficients), T)) for _ in duals]
    for D, E in zip(whole, duals, strict=True):
        D[used, : E.shape[1]] = E
    if core is not None:
        core = np.pad(core, [(0, T - r) for r in core.shape])
    lengths = np.sqrt(np.maximum((duals[-1] * features[-1]).sum(axis=0), 0))
    strengths = np.pad(lengths, (0, T - len(lengths)))
    return Multiway(tuple(whole), strengths, core, explained, shape, discarded)


def decompose_views(
    kernels: Sequence[FloatArray],
    signed: FloatArray,
    n_projections: int | None,
    *,
    factors: Sequence[FloatArray],
    decomposition: str,
    random_state: Any,
) -> Decomposition:
    """Decompose for an estimator: two views by the paper's section 3, more by CP or Tucker.

    Parameters
    ----------
    kernels : list of arrays of shape (n, n)
        Centered kernel matrices.
    signed : array of shape (n,)
        α_i c_i.
    n_projections : int, optional
        How many are wanted, by default all.
    factors : list of arrays
        L of each kernel, which two views take.
    decomposition : {"cp", "tucker"}
        For more than two views.
    random_state : int, RandomState or None
        Seed of CP's random starts.

    Returns
    -------
    Decomposition
        Dual weights; a `Multiway` for more than two views.
    """
    if len(kernels) == 2:
        return decompose_two(kernels, signed, n_projections, factors=factors)
    found = decompose(kernels, signed, n_projections, decomposition=decomposition, random_state=random_state)
    if n_projections is None and found.discarded > 0:
        shape = " × ".join(map(str, found.reduced_shape))
        warnings.warn(
            f"n_projections: all were asked for, and the core is limited to {shape} numbers, which leave "
            f"out at most {found.discarded:.1e} of the squared length of the weights",
            UserWarning,
            stacklevel=2,
        )
    return found


def stacked_cores(parts: Sequence[Decomposition]) -> FloatArray | None:
    """Cores of the decompositions of all classes, padded alike: a class first where there are several."""
    cores = [part.core for part in parts if isinstance(part, Multiway) and part.core is not None]
    if not cores:
        return None
    return cores[0] if len(cores) == 1 else np.stack(cores)


def _signed(
    a: FloatArray, duals: list[FloatArray], features: list[FloatArray], core: FloatArray | None
) -> tuple[list[FloatArray], list[FloatArray], FloatArray | None]:
    """Fix signs as for two views: Σ_i a_i φ̂_v(x_i)_t ≥ 0; without a core the last view makes up for it."""
    signs = []
    for F in features:
        total = a @ F
        clear = np.abs(total) > 1e-9 * (np.abs(a) @ np.abs(F))
        largest = F[np.abs(F).argmax(axis=0), np.arange(F.shape[1])]
        signs.append(np.where(np.where(clear, total, largest) < 0, -1.0, 1.0))
    if core is None:
        signs[-1] = np.prod(signs[:-1], axis=0)
    else:
        for v, s in enumerate(signs):
            core = core * s.reshape([-1 if u == v else 1 for u in range(core.ndim)])
    duals, features = ([M * s for M, s in zip(which, signs, strict=True)] for which in (duals, features))
    return duals, features, core


def _explained(
    kernels: Sequence[FloatArray],
    a: FloatArray,
    duals: list[FloatArray],
    features: list[FloatArray],
    core: FloatArray | None,
) -> float:
    """Return 1 − ‖W − W̃‖²/‖W‖², with ⟨W, W̃⟩ = Σ_i a_i f̃(x_i) and ‖W̃‖² from the products of the b."""
    whole = float(a @ product(kernels) @ a)
    if not whole > 0:
        return 1.0
    grams = [D.T @ F for D, F in zip(duals, features, strict=True)]
    if core is None:
        own = float(product(grams).sum())
    else:
        values = core
        for G in grams:
            values = np.tensordot(values, G, axes=(0, 0))
        own = float((core * values).sum())
    return 1 - (whole - 2 * float(a @ combine(features, core)) + own) / whole
