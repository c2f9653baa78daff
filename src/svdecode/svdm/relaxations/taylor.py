"""The Taylor step in a trust region: products to first order around the last iterate (Xi 2007, 4.2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.modelling import Model, Relaxed
from svdecode.svdm.relaxations.regions import Bounds, bounds_around
from svdecode.svdm.relaxations.scheme import Relaxation


class Taylor(Relaxation):
    """z⁰v⁰ + z⁰Δv + Δz v⁰ in place of zv, with |Δz| ≤ α|z⁰| and |Δv| ≤ α|v⁰| (Xi 2007, (18)–(25)).

    What is left out, ΔzΔv, is of second order: the model is not a bound of the objective, but in a region
    small enough it foretells the decrease as exactly as one wants.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Where from; overwritten.
    choices : Choices
        How a model's optimum becomes the next iterate.
    """

    def relax(self, alpha: float) -> Relaxed:
        """Solve the linearized model in the region of half-width α around `factors`."""
        region = bounds_around(self.factors, alpha, self.choices.floor)
        return solve_taylor(self.objective, self.factors, region, self.choices.unit_rows)


def solve_taylor(
    objective: Objective, around: Factors, bounds: Bounds, unit_rows: str = "tangent"
) -> Relaxed:
    """Minimize the objective with its products linearized at a point.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    around : Factors
        Where to linearize.
    bounds : Bounds
        The trust region.
    unit_rows : {"tangent", "ball"}
        What stands for ‖w_i‖ = 1.

    Returns
    -------
    Relaxed
        The optimum.
    """
    model = Model(objective, around, unit_rows)
    Z0 = around.Z
    V0 = np.hstack([around.W, around.Theta])
    model.constraints += within(model, bounds)

    def products(Z: FloatArray, V: FloatArray) -> FloatArray:
        left, right = Z0.T[:, :, None], V0[:, None, :]
        return left * V[:, None, :] + (Z - Z0).T[:, :, None] * right

    return model.solve(Z0 @ model.V + (model.Z - Z0) @ V0, products)


def within(model: Model, bounds: Bounds) -> list[Any]:
    """Constraints that keep a model's blocks in their bounds.

    Parameters
    ----------
    model : Model
        With its variables.
    bounds : Bounds
        Of Z and [W Θ].

    Returns
    -------
    list
        Of cvxpy's constraints.
    """
    return [
        bounds.z_low <= model.Z,
        bounds.z_high >= model.Z,
        bounds.v_low <= model.V,
        bounds.v_high >= model.V,
    ]
