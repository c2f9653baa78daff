"""New samples: their coordinates without labels, and their scores.

z* minimizes the same problem as a training sample's z, without its hinge:
a‖x − w₀ − zW‖² + z_ridge‖z‖², in the ball where the formulation has one.
"""

from __future__ import annotations

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.alternation import discriminant_step
from svdecode.svdm.kernels.coordinates import free_coordinates
from svdecode.svdm.objective import Factors, Objective


def coordinates(objective: Objective, factors: Factors, inner: FloatArray) -> FloatArray:
    """Coordinates of samples whose labels are not known.

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.
    inner : array of shape (n_new, l)
        Inner products (x − w₀)Wᵀ of the new samples with the basis images.

    Returns
    -------
    array of shape (n_new, l)
        z* of each.
    """
    a = objective.reconstruction.weight
    A = a * (factors.W @ factors.W.T) + objective.z.ridge * np.eye(len(factors.W))
    return np.asarray(free_coordinates(np.ascontiguousarray(a * inner), A, objective.z.radius))


def linear_map(objective: Objective, factors: Factors) -> FloatArray:
    """The l × l matrix M with z* = M (x − w₀)Wᵀ, exact where no ball confines z*.

    Parameters
    ----------
    objective : Objective
        The fitted formulation.
    factors : Factors
        The fit.

    Returns
    -------
    array of shape (l, l)
        M, transposed: z* = inner @ M.
    """
    a = objective.reconstruction.weight
    A = a * (factors.W @ factors.W.T) + objective.z.ridge * np.eye(len(factors.W))
    return np.asarray(free_coordinates(a * np.eye(len(A)), A, np.inf))


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
    Z = coordinates(objective, factors, (objective.X - factors.mean) @ factors.W.T)
    Theta, bias = factors.Theta.copy(), factors.bias.copy()
    Lam = np.zeros(objective.Y.shape)
    discriminant_step(objective.Y, objective.hinge.weights, objective.numbers(), Z, Theta, bias, Lam)
    return factors._replace(Theta=Theta, bias=bias)
