"""Where a fit starts: singular vectors, random coordinates, or coordinates that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.alternation import basis_step, scale_start
from svdecode.svdm.objective import Factors, Objective


def singular_start(objective: Objective, n_components: int, *, with_labels: bool = False) -> FloatArray:
    """Coordinates UΣ of the largest singular directions: of the data, or of data and labels side by side.

    Of the data: Pereira & Gordon 2006, §2.4; Xi 2007, 2.1.1. With the labels, [X, cY], c such that they
    weigh as much as the data: what `balanced` comes down to when the hinge gives way to a square.

    Parameters
    ----------
    objective : Objective
        Holds the reduced data and the labels.
    n_components : int
        At most the rank of the data.
    with_labels : bool
        Whether the labels count.

    Returns
    -------
    array of shape (n, l)
        UΣ, largest first.
    """
    X = _beside_labels(objective) if with_labels else objective.X
    n, r = X.shape
    if r < n:
        _, V = eigh(X.T @ X, subset_by_index=[r - n_components, r - 1])
        return np.asarray(X @ V[:, ::-1])
    squares, U = eigh(X @ X.T, subset_by_index=[n - n_components, n - 1])
    return np.asarray(U[:, ::-1] * np.sqrt(np.maximum(squares[::-1], 0.0)))


def _beside_labels(objective: Objective) -> FloatArray:
    Y = np.where(objective.hinge.weights > 0, objective.Y, 0.0)
    Y = Y - Y.mean(axis=0)
    size = np.linalg.norm(Y)
    return np.hstack([objective.X, Y * (np.linalg.norm(objective.X) / size if size > 0 else 0.0)])


def random_start(objective: Objective, n_components: int, rng: np.random.Generator) -> FloatArray:
    """Coordinates with independent normal entries, as large as the singular start's.

    Parameters
    ----------
    objective : Objective
        Holds the reduced data.
    n_components : int
        Number of coordinates.
    rng : Generator
        Source of randomness.

    Returns
    -------
    array of shape (n, l)
        Random coordinates.
    """
    n, r = objective.X.shape
    size = np.linalg.norm(objective.X) / np.sqrt(n * max(min(n, r), 1))
    return np.asarray(size * rng.standard_normal((n, n_components)))


def starting_factors(objective: Objective, Z: FloatArray) -> Factors:
    """Scale coordinates as the formulation wants them, and fit W to them.

    `balanced` and `penalized`: coordinates of unit variance; `constrained`: the longest row has norm one;
    `boxed` and `svm`: the coordinates that belong to basis images of norm one.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.
    Z : array of shape (n, l)
        Coordinates.

    Returns
    -------
    Factors
        With Θ = 0.
    """
    Z = np.array(Z, dtype=np.float64, order="C")
    l = Z.shape[1]
    k, r = objective.Y.shape[1], objective.X.shape[1]
    factors = Factors(Z, np.zeros((l, r)), np.zeros(r), np.zeros((l, k)), np.zeros(k))
    numbers = objective.numbers()
    scale_start(numbers, Z)
    if objective.w.constraint:
        _unit_rows(objective, factors)
    basis_step(objective.X, numbers, *factors[:3])
    return factors


def _unit_rows(objective: Objective, factors: Factors) -> None:
    """Rows of W of norm one that fit Z as they are, and Z rescaled to match; in place."""
    free = np.linalg.lstsq(factors.Z, objective.X, rcond=None)[0]
    sizes = np.linalg.norm(free, axis=1)
    sizes[sizes == 0] = 1.0
    factors.W[:] = free / sizes[:, None]
    factors.Z[:] = factors.Z * sizes


def choose_start(
    objective: Objective,
    init: Any,
    n_components: int,
    rng: np.random.Generator,
    attempt: int,
    *,
    with_labels: bool = False,
) -> Factors:
    """Start number `attempt`: the first is `init`, the others are random.

    Parameters
    ----------
    objective : Objective
        The formulation on its data.
    init : {"svd", "random"} or array of shape (n, l)
        As the estimator takes it.
    n_components : int
        Number of coordinates.
    rng : Generator
        Source of randomness.
    attempt : int
        Counts from 0.
    with_labels : bool
        Whether "svd" means data and labels side by side.

    Returns
    -------
    Factors
        Where to start.
    """
    if attempt or (isinstance(init, str) and init == "random"):
        Z = random_start(objective, n_components, rng)
    elif isinstance(init, str):
        Z = singular_start(objective, n_components, with_labels=with_labels)
    else:
        Z = np.asarray(init, dtype=np.float64)[:, :n_components]
    return starting_factors(objective, Z)
