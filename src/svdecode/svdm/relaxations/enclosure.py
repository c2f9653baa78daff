"""The convex enclosure: four planes around each product, in bounds that shrink (Xi 2007, 4.2.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.modelling import Model, Relaxed, check_size
from svdecode.svdm.relaxations.regions import Bounds, bounds_around
from svdecode.svdm.relaxations.scheme import Relaxation
from svdecode.svdm.relaxations.taylor import within


class Enclosure(Relaxation):
    """s between McCormick's planes in place of zv, with bounds (1 ± α) around the last iterate.

    The planes leave s the range (1 ± α²)z⁰v⁰ at the center of the bounds: what the model gains by that alone,
    with no factor moved, is of second order in α, like the error of the Taylor step.

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
        """Solve the enclosure in bounds of half-width α around `factors`."""
        region = bounds_around(self.factors, alpha, self.choices.floor)
        return solve_enclosure(self.objective, self.factors, region, self.choices.unit_rows)


def solve_enclosure(
    objective: Objective, around: Factors, bounds: Bounds, unit_rows: str = "ball"
) -> Relaxed:
    """Minimize the objective with each product between its four planes.

    With "ball" its value is a lower bound of the objective at all factors inside the bounds.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    around : Factors
        Gives the shapes, what is fixed, and the point of the tangent planes.
    bounds : Bounds
        Of the entries of Z and [W Θ].
    unit_rows : {"ball", "tangent"}
        What stands for ‖w_i‖ = 1.

    Returns
    -------
    Relaxed
        The optimum.
    """
    check_size(objective, around.Z.shape[1])
    model = Model(objective, around, unit_rows)
    n, width = len(around.Z), model.V.shape[1]
    stand_ins = [model.cp.Variable((n, width)) for _ in around.W]
    model.constraints += within(model, bounds)
    for k, s in enumerate(stand_ins):
        low, high = planes(
            model.Z[:, [k]], model.V[[k], :],
            (bounds.z_low[:, [k]], bounds.z_high[:, [k]]), (bounds.v_low[[k]], bounds.v_high[[k]]),
        )  # fmt: skip
        model.constraints += [s >= plane for plane in low] + [s <= plane for plane in high]

    def products(Z: FloatArray, V: FloatArray) -> FloatArray:  # noqa: ARG001
        return np.stack([s.value for s in stand_ins])

    return model.solve(sum(stand_ins[1:], start=stand_ins[0]), products)


def planes(
    x: Any, y: Any, x_bounds: tuple[FloatArray, FloatArray], y_bounds: tuple[FloatArray, FloatArray]
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Four planes around the products xy of a column and a row (Xi 2007, (11)–(14); McCormick).

    Parameters
    ----------
    x, y : (n, 1) and (1, m) arrays or cvxpy expressions
        The factors.
    x_bounds, y_bounds : pairs of arrays
        Lower and upper bounds of x and y, in their shapes.

    Returns
    -------
    below, above : pairs of (n, m) arrays or cvxpy expressions
        Affine in x and y; xy lies between them wherever x and y lie within their bounds, and on two of them
        wherever x or y is at a bound.
    """
    (xl, xu), (yl, yu) = x_bounds, y_bounds
    below = (xl @ y + x @ yl - xl @ yl, xu @ y + x @ yu - xu @ yu)
    above = (xl @ y + x @ yu - xl @ yu, xu @ y + x @ yl - xu @ yl)
    return below, above
