"""New samples: their coordinates without labels, and their scores.

z* minimizes the same problem as a training sample's z, without its hinge:
a‖x − w₀ − zW‖² + z_ridge‖z‖², in the ball where the formulation has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.alternation import discriminant_step
from svdecode.svdm.kernels.coordinates import free_coordinates
from svdecode.svdm.objective import Factors, Objective

DEPENDENT = 1e-8  # singular value of coordinates, relative to the largest, up to which it is rounding


def reader(objective: Objective, factors: Factors) -> dict[str, Any]:
    """What reading new samples takes of a fit, in plain numbers (a stored model needs no type for it).

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.

    Returns
    -------
    dict
        "weight": a; "quadratic": A = aWWᵀ + z_ridge I; "radius": of the ball that confines z, or infinite.
    """
    a = float(objective.reconstruction.weight)
    A = a * (factors.W @ factors.W.T) + objective.z.ridge * np.eye(len(factors.W))
    return {"weight": a, "quadratic": A, "radius": float(objective.z.radius)}


def coordinates(reader: dict[str, Any], inner: FloatArray) -> FloatArray:
    """Coordinates of samples whose labels are not known.

    Parameters
    ----------
    reader : dict
        Made by `reader`.
    inner : array of shape (n_new, l)
        Inner products (x − w₀)Wᵀ of the new samples with the basis images.

    Returns
    -------
    array of shape (n_new, l)
        z* = argmin zAzᵀ − 2a·inner·zᵀ of each.
    """
    C = np.ascontiguousarray(reader["weight"] * inner)
    return np.asarray(free_coordinates(C, reader["quadratic"], reader["radius"]))


def linear_map(reader: dict[str, Any]) -> FloatArray:
    """The l × l matrix M with z* = inner @ M, exact where no ball confines z*.

    Parameters
    ----------
    reader : dict
        Made by `reader`.

    Returns
    -------
    array of shape (l, l)
        M = a A⁻¹, or with the pseudo-inverse where A is singular.
    """
    return coordinates({**reader, "radius": float("inf")}, np.eye(len(reader["quadratic"])))


def refit(objective: Objective, factors: Factors) -> Factors:
    """Discriminants fitted anew on the training samples' label-free coordinates.

    A training sample's z has seen its label, a new sample's has not (the 2006 paper's combination
    of a linear SVM with SVDM's features).

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.

    Returns
    -------
    Factors
        With other Θ and bias.
    """
    Z = coordinates(reader(objective, factors), (objective.X - factors.mean) @ factors.W.T)
    Theta, bias = factors.Theta.copy(), factors.bias.copy()
    Lam = np.zeros(objective.Y.shape)
    discriminant_step(objective.Y, objective.hinge.weights, objective.numbers(), Z, Theta, bias, Lam)
    return factors._replace(Theta=Theta, bias=bias)


def as_fitted(objective: Objective, factors: Factors) -> Factors:  # noqa: ARG001
    """The discriminants of the fit itself, which read coordinates that have seen the labels.

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.

    Returns
    -------
    Factors
        The same.
    """
    return factors


def regress(objective: Objective, factors: Factors) -> Factors:
    """Discriminants by least squares of the labels on the training samples' label-free coordinates.

    Each label by itself, entries weighted as its hinges are; the shortest solution where several are.

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.

    Returns
    -------
    Factors
        With other Θ and bias.
    """
    Z = coordinates(reader(objective, factors), (objective.X - factors.mean) @ factors.W.T)
    Theta, bias = np.zeros(factors.Theta.shape), np.zeros(factors.bias.shape)
    roots = np.sqrt(objective.hinge.weights * (objective.Y != 0))
    for j, root in enumerate(roots.T):
        total = float(root @ root)
        if total == 0.0:
            continue
        center, middle = root**2 @ Z / total, float(root**2 @ objective.Y[:, j]) / total
        Theta[:, j] = np.linalg.lstsq(
            root[:, None] * (Z - center), root * (objective.Y[:, j] - middle), rcond=DEPENDENT
        )[0]
        bias[j] = middle - center @ Theta[:, j]
    return factors._replace(Theta=Theta, bias=bias)


#: who reads the coordinates of new samples
READOUTS: Mapping[str, Callable[[Objective, Factors], Factors]] = MappingProxyType(
    {"joint": as_fitted, "refit": refit, "least_squares": regress}
)
