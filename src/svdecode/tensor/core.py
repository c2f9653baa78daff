"""The core of a weight tensor, factored: CP and Tucker by tensorly, two views by the SVD that the core is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from svdecode._checks import FloatArray
from svdecode.tensor.modes import EPS, Modes

MAX_SWEEPS = 2000
TOL = 1e-7  # decrease of the relative error in a sweep
CORNER = 64  # directions of each mode, at most, while starts are compared (more only for more components)
RIDGE = 1e-12  # of the least squares problems, for components that have become alike


def as_they_stand(kernels: Sequence[FloatArray], a: FloatArray) -> list[FloatArray]:
    """CP with a component a support vector, which is W itself; the last view carries a and the lengths."""
    lengths = [np.sqrt(np.maximum(np.diagonal(K), 0)) for K in kernels[:-1]]
    unit = [np.divide(1.0, s, out=np.zeros_like(s), where=s > 0) for s in lengths]
    sizes = a * np.prod(lengths, axis=0)
    order = np.argsort(-np.abs(sizes) * np.sqrt(np.maximum(np.diagonal(kernels[-1]), 0)), kind="stable")
    return [np.diag(s)[:, order] for s in (*unit, sizes)]


def svd(modes: Modes, n_components: int | None) -> list[FloatArray]:
    """Two views: w_x = v_t and w_y = W'v_t."""
    D, E = modes.duals
    T = len(modes.core) if n_components is None else min(n_components, len(modes.core))
    return [D[:, :T], E @ modes.core[:T].T]


def cp(modes: Modes, T: int, random_state: Any, n_init: int) -> list[FloatArray]:
    """Return T components of the core, the largest first: the best of `n_init` starts.

    There are fewer where fewer hold all of it: as many as the core has fibers, of the mode with the fewest.
    The starts run on the leading corner of the core, which is much cheaper, and the best one goes on to all
    of it.
    """
    T = min(T, *(modes.core.size // max(r, 1) for r in modes.core.shape))
    size = float(np.linalg.norm(modes.core))
    if size == 0:  # a view that is constant: W = 0
        return [np.zeros((len(D), 1)) for D in modes.duals]
    core = modes.core / size
    side = min(3 * T, max(T, CORNER))
    corner = core[tuple(slice(side) for _ in core.shape)]
    runs = [_parafac(corner, T, "random" if start else "svd", random_state) for start in range(n_init)]
    factors, _, converged = min(runs, key=lambda run: run[1])
    if corner.shape != core.shape:
        wide = [np.pad(F, ((0, r - len(F)), (0, 0))) for F, r in zip(factors, core.shape, strict=True)]
        factors, _, converged = _parafac(core, T, (np.ones(T), wide), random_state)
    if not converged:
        warnings.warn(
            f"CP with {T} components has not settled in {MAX_SWEEPS} sweeps: components may be about to "
            "cancel each other; fewer n_projections or decomposition='tucker' have no such trouble",
            ConvergenceWarning,
            stacklevel=2,
        )
    lengths = np.array([np.linalg.norm(F, axis=0) for F in factors])
    sizes = size * lengths.prod(axis=0)
    order = np.argsort(-sizes, kind="stable")
    factors = [(F / np.where(s > 0, s, 1.0))[:, order] for F, s in zip(factors, lengths, strict=True)]
    factors[-1] = factors[-1] * sizes[order]
    return [D @ F for D, F in zip(modes.duals, factors, strict=True)]


def _parafac(core: FloatArray, T: int, init: Any, random_state: Any) -> tuple[list[FloatArray], float, bool]:
    """Alternate least squares by tensorly: factors of equal lengths, relative error, whether it settled."""
    fresh = isinstance(init, str)
    with warnings.catch_warnings():  # a mode of fewer directions than T is filled up at random
        warnings.filterwarnings("ignore", message="Trying to compute SVD")
        (weights, factors), errors = import_tensorly().parafac(
            core,
            T,
            n_iter_max=MAX_SWEEPS,
            init=init,
            tol=TOL,
            l2_reg=RIDGE,
            random_state=random_state,
            normalize_factors=fresh,
            return_errors=True,
        )
    shared = np.abs(weights) ** (1 / core.ndim)
    balanced = [np.asarray(F) * shared for F in factors]
    balanced[-1] = balanced[-1] * np.sign(weights)
    return balanced, float(errors[-1]), len(errors) < MAX_SWEEPS


def tucker(modes: Modes, n_components: int | None) -> tuple[list[FloatArray], FloatArray]:
    """Return at most so many directions of each view and the core; the last view carries the size."""
    ranks = [r if n_components is None else min(n_components, r) for r in modes.core.shape]
    duals, core = modes.duals, modes.core
    if tuple(ranks) != core.shape:
        _, factors = import_tensorly().tucker(core, ranks, init="svd", tol=TOL, n_iter_max=MAX_SWEEPS)
        bases = [
            np.linalg.qr(np.asarray(F))[0] for F in factors
        ]  # tensorly's are orthonormal to seven digits
        duals = [D @ Q for D, Q in zip(duals, bases, strict=True)]
        for Q in bases:  # each turns the first axis into the last: after all of them the order is as it was
            core = np.tensordot(core, Q, axes=(0, 0))
    sizes = np.sqrt((core**2).sum(axis=tuple(range(core.ndim - 1))))
    order = np.argsort(-sizes, kind="stable")
    sizes[sizes <= EPS * sizes.max(initial=0.0)] = 1.0  # more directions than the other views' can pair with
    return [*duals[:-1], (duals[-1] * sizes)[:, order]], np.asarray((core / sizes)[..., order])


def import_tensorly() -> Any:
    """Return tensorly's decompositions, or say which extra brings them."""
    try:
        from tensorly import decomposition
    except ImportError as error:
        raise ImportError(
            "more than two views need tensorly, which the extra [tensor] brings: "
            "pip install 'svdecode[tensor]'"
        ) from error
    return decomposition
