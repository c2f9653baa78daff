"""Back onto the bilinear surface: from stand-ins of products to factors (Xi 2007, Part VII, 7.2)."""

from __future__ import annotations

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.modelling import Relaxed
from svdecode.svdm.terms import BALL, BOX, NORM_AT_MOST_ONE, NORM_ONE

MAX_PASSES = 200
STANDSTILL = 1e-10  # relative change of the factors in a pass


def project(objective: Objective, relaxed: Relaxed) -> Factors:
    """Nearest point of the surface: a local minimum of the sum, over all products, of squared distances.

    min Σ_k ‖S_k − z_k v_k‖² + ‖z_k − z⁰_k‖² + ‖v_k − v⁰_k‖²  over z_k and v_k = [w_k θ_k], where S, z⁰ and v⁰
    are the relaxed optimum. In turn over Z and [W Θ], from z⁰ and v⁰: each is a mean, so that rows of W go
    to the nearest row of their norm and entries of Θ to the box exactly. Balls on rows of Z and columns of
    Θ, which no objective of Xi's has, are met by scaling.

    Parameters
    ----------
    objective : Objective
        Says what confines the blocks.
    relaxed : Relaxed
        Optimum of a convex model.

    Returns
    -------
    Factors
        Inside all constraints; mean image and bias as they were.
    """
    S, (Z0, W0, mean, Theta0, bias) = relaxed.products, relaxed.factors
    r = W0.shape[1]
    V0 = np.hstack([W0, Theta0])
    Z, V = Z0.copy(), V0.copy()
    for _ in range(MAX_PASSES):
        before = np.concatenate([Z.ravel(), V.ravel()])
        Z = (Z0 + np.einsum("kij,kj->ik", S, V)) / (1 + (V**2).sum(axis=1))
        _confine_rows(Z, objective.z.radius)
        V = (V0 + np.einsum("kij,ik->kj", S, Z)) / (1 + (Z**2).sum(axis=0))[:, None]
        _confine_basis(objective, V[:, :r])
        bias = _confine_discriminants(objective, V[:, r:], relaxed.factors.bias)
        after = np.concatenate([Z.ravel(), V.ravel()])
        if np.linalg.norm(after - before) <= STANDSTILL * np.linalg.norm(after):
            break
    return Factors(
        np.ascontiguousarray(Z), np.ascontiguousarray(V[:, :r]), mean.copy(),
        np.ascontiguousarray(V[:, r:]), bias.copy(),
    )  # fmt: skip


def drop(objective: Objective, relaxed: Relaxed) -> Factors:
    """Factors of the relaxed optimum as they are, its products forgotten (Xi 2007, 6.4).

    Where rows of W have to have norm one, they are scaled to it and their coordinates against it, so that
    ZW stays.

    Parameters
    ----------
    objective : Objective
        Says what confines the blocks.
    relaxed : Relaxed
        Optimum of a convex model.

    Returns
    -------
    Factors
        Inside all constraints.
    """
    factors = Factors(*(block.copy() for block in relaxed.factors))
    if objective.w.constraint == NORM_ONE:
        sizes = np.linalg.norm(factors.W, axis=1)
        sizes[sizes == 0] = 1.0
        factors.Z[:] *= sizes
    _confine_rows(factors.Z, objective.z.radius)
    _confine_basis(objective, factors.W)
    bias = _confine_discriminants(objective, factors.Theta, factors.bias)
    return factors._replace(bias=bias.copy())


def _confine_rows(Z: FloatArray, radius: float) -> None:
    """Rows of Z into their ball, in place."""
    if np.isfinite(radius):
        Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True) / radius, 1.0)


def _confine_basis(objective: Objective, W: FloatArray) -> None:
    """Rows of W to norm one, or at most one, in place."""
    norms = np.linalg.norm(W, axis=1, keepdims=True)
    if objective.w.constraint == NORM_ONE:
        W[norms[:, 0] == 0, 0] = 1.0  # all rows are as near to 0
        W /= np.where(norms == 0, 1.0, norms)
    elif objective.w.constraint == NORM_AT_MOST_ONE:
        W /= np.maximum(norms, 1.0)


def _confine_discriminants(objective: Objective, Theta: FloatArray, bias: FloatArray) -> FloatArray:
    """Θ into its box or ball, in place; the bias that goes with it."""
    radius = objective.theta.radius
    if objective.theta.constraint == BOX:
        np.clip(Theta, -radius, radius, out=Theta)
    elif objective.theta.constraint == BALL:
        square = (Theta**2).sum(axis=0) + (bias**2 if objective.bias.confined else 0.0)
        excess = np.maximum(np.sqrt(square) / radius, 1.0)
        Theta /= excess
        bias = bias / excess if objective.bias.confined else bias
    return bias
