"""Terms of the objective: a value, and the numbers that a block step or a certificate asks of it.

A penalty on a block B adds ridge·‖B‖² and may confine B. The compiled steps know no classes: they
are handed `ridge`, `constraint` (one of the codes below) and `radius`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svdecode._checks import FloatArray

#: what confines a block; the numbers are those of the compiled steps
FREE, BOX, BALL = 0, 1, 2  # of the columns of Θ
ANY_NORM, NORM_AT_MOST_ONE, NORM_ONE = 0, 1, 2  # of the rows of W
#: how far outside its constraint a block may lie by rounding
SLACK = 1e-9


@dataclass(frozen=True)
class Reconstruction:
    """Squared error of X ≈ ZW, a‖X − ZW‖²_F.

    Parameters
    ----------
    weight : float
        The factor a.
    mean_is_free : bool
        Whether row 0 of W, the mean image, is a variable; else it is the mean of the training rows.
    """

    weight: float
    mean_is_free: bool = True

    def value(self, residual: FloatArray) -> float:
        """Value at X − ZW.

        Parameters
        ----------
        residual : array of shape (n, r)
            X − ZW, in feature space or in reduced coordinates.

        Returns
        -------
        float
            The squared error, weighted.
        """
        return self.weight * float(np.vdot(residual, residual))


@dataclass(frozen=True)
class Hinge:
    """Hinge loss of the scores P, Σ_ij h_ij max(μ − Y_ij P_ij, 0).

    Parameters
    ----------
    weights : array of shape (n, k)
        h, 0 where an entry is switched off.
    margin : float
        μ.
    """

    weights: FloatArray
    margin: float

    def value(self, margins: FloatArray) -> float:
        """Value at the margins ρ = Y∘P.

        Parameters
        ----------
        margins : array of shape (n, k)
            Y∘P.

        Returns
        -------
        float
            The weighted sum.
        """
        return float(np.vdot(self.weights, np.maximum(self.margin - margins, 0.0)))


@dataclass(frozen=True)
class Penalty:
    """A quadratic on a block, ridge·‖B‖², and nothing that confines it.

    Parameters
    ----------
    ridge : float, default 0
        Weight of the squared norm.
    """

    ridge: float = 0.0

    @property
    def constraint(self) -> int:
        """Code of what confines the block."""
        return FREE

    @property
    def radius(self) -> float:
        """Radius of what confines the block."""
        return float("inf")

    def excess(self, block: FloatArray) -> float:  # noqa: ARG002
        """How far the block lies outside its constraint.

        Parameters
        ----------
        block : array
            Z, Θ or W, without the column or row of ones' partners where these are exempt.

        Returns
        -------
        float
            0 inside.
        """
        return 0.0

    def value(self, block: FloatArray) -> float:
        """Value at a block: infinite outside the constraint.

        Parameters
        ----------
        block : array
            The block.

        Returns
        -------
        float
            ridge·‖block‖².
        """
        if self.excess(block) > SLACK:
            return float("inf")
        return self.ridge * float(np.vdot(block, block))


@dataclass(frozen=True)
class RowBall(Penalty):
    """Rows in a ball, ‖z_i‖₂ ≤ radius (Pereira & Gordon 2006, (2), on Z)."""

    limit: float = 1.0

    @property
    def radius(self) -> float:
        """Radius of the ball."""
        return self.limit

    def excess(self, block: FloatArray) -> float:
        """Largest norm of a row beyond the radius."""
        return max(float(np.linalg.norm(block, axis=1).max(initial=0.0)) - self.limit, 0.0)


@dataclass(frozen=True)
class ColumnBall(Penalty):
    """Columns in a ball, ‖θ_j‖₂ ≤ radius (Pereira & Gordon 2006, (2), on Θ with its bias)."""

    limit: float = 1.0

    @property
    def constraint(self) -> int:
        """Code of the ball."""
        return BALL

    @property
    def radius(self) -> float:
        """Radius of the ball."""
        return self.limit

    def excess(self, block: FloatArray) -> float:
        """Largest norm of a column beyond the radius."""
        return max(float(np.linalg.norm(block, axis=0).max(initial=0.0)) - self.limit, 0.0)


@dataclass(frozen=True)
class Box(Penalty):
    """Entries in a box, |Θ_ij| ≤ radius (Xi 2007, (4))."""

    limit: float = 1.0

    @property
    def constraint(self) -> int:
        """Code of the box."""
        return BOX

    @property
    def radius(self) -> float:
        """Half of the box's width."""
        return self.limit

    def excess(self, block: FloatArray) -> float:
        """Largest entry beyond the radius."""
        return max(float(np.abs(block).max(initial=0.0)) - self.limit, 0.0)


@dataclass(frozen=True)
class UnitRows(Penalty):
    """Rows of norm one, ‖w_i‖₂ = 1 (Xi 2007, (3)): not convex."""

    @property
    def constraint(self) -> int:
        """Code of unit rows."""
        return NORM_ONE

    def excess(self, block: FloatArray) -> float:
        """Largest distance of a row's norm from one."""
        return float(np.abs(np.linalg.norm(block, axis=1) - 1.0).max(initial=0.0))


@dataclass(frozen=True)
class RowsAtMostOne(Penalty):
    """Rows of norm at most one, ‖w_i‖₂ ≤ 1 (Xi 2007, (17))."""

    @property
    def constraint(self) -> int:
        """Code of rows of norm at most one."""
        return NORM_AT_MOST_ONE

    def excess(self, block: FloatArray) -> float:
        """Largest norm of a row beyond one."""
        return max(float(np.linalg.norm(block, axis=1).max(initial=0.0)) - 1.0, 0.0)


@dataclass(frozen=True)
class Bias:
    """Row 0 of Θ.

    Parameters
    ----------
    present : bool, default True
        Whether there is a bias; else row 0 of Θ is 0 (Xi 2007, Part I).
    ridge : float, default 0
        Weight of its square.
    confined : bool, default False
        Whether it counts in what confines the columns of Θ.
    """

    present: bool = True
    ridge: float = 0.0
    confined: bool = False
