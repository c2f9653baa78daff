"""Objective = a sum of terms, on factors (Z, W, Θ): a‖X − ZW‖² + Σ h max(μ − Y∘(ZΘ), 0) + penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.stationarity import residuals
from svdecode.svdm.terms import Bias, Hinge, Penalty, Reconstruction


class Factors(NamedTuple):
    """Where a fit is: X ≈ 1 w₀ + ZW, scores P = ZΘ + 1 b.

    The columns and rows that the notation counts as number 0 (the ones of Z, the mean image of W,
    the biases of Θ) stand beside the blocks, because most penalties leave them out.
    """

    Z: FloatArray
    """Coordinates, (n, l), without the column of ones."""
    W: FloatArray
    """Basis, (l, r)."""
    mean: FloatArray
    """w₀, row 0 of the basis, (r,)."""
    Theta: FloatArray
    """Discriminants, (l, k)."""
    bias: FloatArray
    """b, row 0 of the discriminants, (k,)."""

    def scores(self) -> FloatArray:
        """P = ZΘ + 1b.

        Returns
        -------
        array of shape (n, k)
            Scores of the training samples.
        """
        return np.asarray(self.Z @ self.Theta + self.bias)


class Numbers(NamedTuple):
    """An objective's numbers as the compiled steps take them."""

    a: float
    mean_is_free: bool
    margin: float
    z_ridge: float
    z_radius: float
    theta_ridge: float
    theta_constraint: int
    theta_radius: float
    has_bias: bool
    bias_ridge: float
    w_ridge: float
    w_rows: int


@dataclass(frozen=True)
class Objective:
    """A formulation on given data: everything that is minimized over Z, W and Θ.

    Attributes
    ----------
    X : array of shape (n, r)
        Rows in reduced coordinates, centered, over the scale s.
    Y : array of shape (n, k)
        Labels in {−1, 1}, 0 where unknown.
    reconstruction, hinge, z, theta, bias, w
        The terms.
    constant : float
        What the formulation adds that depends on no variable (`penalized` penalizes Z's ones).
    name : str
        Of the formulation.
    attained : bool
        Whether the infimum is reached. Where W costs nothing, a coordinate that no discriminant
        sees may shrink to nothing while its basis image grows without bound.
    n_unseen : int
        In the infimum's own form (`infimum`): how many of the last coordinates carry no penalty
        and no discriminant.
    rho : float
        Largest weight ρ that the splitting gives to the distance of scores and stand-ins.
    first_share : float
        With which share of ρ it begins.
    """

    X: FloatArray
    Y: FloatArray
    reconstruction: Reconstruction
    hinge: Hinge
    z: Penalty
    theta: Penalty
    bias: Bias
    w: Penalty
    constant: float = 0.0
    name: str = ""
    attained: bool = True
    n_unseen: int = 0
    rho: float = 1.0
    first_share: float = 1.0

    def numbers(self) -> Numbers:
        """Answers of the terms, for the compiled steps.

        Returns
        -------
        Numbers
            A tuple of plain numbers.
        """
        return Numbers(
            float(self.reconstruction.weight), bool(self.reconstruction.mean_is_free),
            float(self.hinge.margin), float(self.z.ridge), float(self.z.radius),
            float(self.theta.ridge), int(self.theta.constraint), float(self.theta.radius),
            bool(self.bias.present), float(self.bias.ridge), float(self.w.ridge), int(self.w.constraint),
        )  # fmt: skip

    def value(self, factors: Factors) -> float:
        """Sum of all terms; infinite where a block is outside its constraint.

        Parameters
        ----------
        factors : Factors
            Where to evaluate.

        Returns
        -------
        float
            The objective.
        """
        Z, W, mean, Theta, bias = factors
        confined = np.vstack([bias, Theta]) if self.bias.confined else Theta
        outside = self.theta.value(confined) - self.theta.ridge * float(np.vdot(confined, confined))
        return (
            self.reconstruction.value(self.X - mean - Z @ W)
            + self.hinge.value(self.Y * factors.scores())
            + self.z.value(Z[:, : Z.shape[1] - self.n_unseen])
            + self.theta.ridge * float(np.vdot(Theta, Theta))
            + (outside if np.isinf(outside) else 0.0)
            + self.bias.ridge * float(np.vdot(bias, bias))
            + self.w.value(W)
            + self.constant
        )

    def stationarity(self, factors: Factors, multipliers: FloatArray, value: float | None = None) -> float:
        """How far from a stationary point, with one multiplier matrix for all blocks.

        The largest of the blocks' residuals (gradient of the Lagrangian times the size of the
        block; for a confined block, what a step inside the constraint could still gain to first
        order) and of the hinge's complementarity, over the objective. Zero exactly at stationary
        points. That each block alone is optimal proves nothing: two blocks may need different
        multipliers for that.

        Parameters
        ----------
        factors : Factors
            Where to evaluate.
        multipliers : array of shape (n, k)
            λ in [0, h] of the hinges.
        value : float, optional
            The objective there, where it is known.

        Returns
        -------
        float
            The residual, relative to the objective.
        """
        value = self.value(factors) if value is None else value
        worst = residuals(
            self.X, self.Y, self.hinge.weights, self.numbers(), self.n_unseen, *factors, multipliers
        ).max()
        return float(worst) / max(abs(value), np.finfo(float).tiny)
