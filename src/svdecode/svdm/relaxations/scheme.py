"""One iteration further by a convex model in a region around the last iterate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svdecode._checks import FloatArray, check_choice, check_number
from svdecode.svdm.kernels.alternation import discriminant_step
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.modelling import NotSolvedError, Relaxed, check_size
from svdecode.svdm.relaxations.projection import drop, project
from svdecode.svdm.relaxations.regions import judge

LEAST_ALPHA = 1e-6  # below, nothing is expected of a smaller region
PRECISION = 1e-8  # share of the objective that the solver cannot tell from nothing


@dataclass(frozen=True)
class Choices:
    """How a model's optimum becomes the next iterate.

    Attributes
    ----------
    alpha : float
        Half-width of the first region, relative to each entry; Xi's α.
    shrink : float
        By which α is multiplied after each iteration where `accept` is "always": her "non-increase
        function of iteration number".
    floor : float
        Least size that an entry counts as, relative to its block's root mean square. Xi has 0.
    accept : {"ratio", "always"}
        Take a step if the true objective falls by a fair share of what the model predicted, and let α follow
        from that; or take every step, as published.
    projection : {"surface", "none"}
        Part VII's projection onto the bilinear surface, or the model's factors as they are, as in Part IV.
    unit_rows : {"tangent", "ball"}
        What stands for ‖w_i‖ = 1: the tangent plane, or Xi's ‖w_i‖ ≤ 1.
    """

    alpha: float = 0.5
    shrink: float = 0.8
    floor: float = 0.1
    accept: str = "ratio"
    projection: str = "surface"
    unit_rows: str = "tangent"

    def __post_init__(self) -> None:
        """Refuse what is no choice."""
        check_number(self.alpha, "alpha", positive=True)
        check_number(self.shrink, "shrink", positive=True)
        if self.shrink > 1:
            raise ValueError(f"shrink: found {self.shrink:g}, expected at most 1")
        check_number(self.floor, "floor")
        check_choice(self.accept, "accept", ("ratio", "always"))
        check_choice(self.projection, "projection", ("surface", "none"))
        check_choice(self.unit_rows, "unit_rows", ("tangent", "ball"))

    def candidate(self, objective: Objective, relaxed: Relaxed) -> Factors:
        """Factors that a relaxed optimum stands for.

        Parameters
        ----------
        objective : Objective
            What is minimized.
        relaxed : Relaxed
            Optimum of a convex model.

        Returns
        -------
        Factors
            Inside the constraints.
        """
        return (project if self.projection == "surface" else drop)(objective, relaxed)


#: as in Parts IV and VI
PUBLISHED = Choices(floor=0.0, accept="always", projection="none", unit_rows="ball")


def with_discriminants(objective: Objective, start: Factors) -> Factors:
    """Give a start its discriminants, where it has none: regions relative to Θ = 0 hold nothing else.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Overwritten.

    Returns
    -------
    Factors
        The start, after a Θ step if Θ was 0.
    """
    if not start.Theta.any():
        o = objective
        discriminant_step(
            o.Y, o.hinge.weights, o.numbers(), start.Z, start.Theta, start.bias, np.zeros(o.Y.shape)
        )
    return start


class Relaxation:
    """What the enclosure and the Taylor step share: solve a model in a region, come back, judge.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    start : Factors
        Where from; without discriminants it is given those of a Θ step. Overwritten.
    choices : Choices
        How a model's optimum becomes the next iterate.
    """

    patience = 3

    def __init__(self, objective: Objective, start: Factors, choices: Choices | None = None) -> None:
        check_size(objective, start.Z.shape[1])
        self.objective, self.choices = objective, choices or Choices()
        self.factors = with_discriminants(objective, start)
        self.alpha = self.choices.alpha
        self.multipliers: FloatArray = np.zeros(objective.Y.shape)
        self.stalled = ""
        self.predicted = np.inf
        """Value of the last model."""
        self._value = objective.value(self.factors)

    @property
    def monotone(self) -> bool:
        """Only where steps are judged."""
        return self.choices.accept == "ratio"

    def relax(self, alpha: float) -> Relaxed:
        """Solve the convex model in the region of half-width α around `factors`.

        Parameters
        ----------
        alpha : float
            Relative to each entry.

        Returns
        -------
        Relaxed
            Its optimum.
        """
        raise NotImplementedError

    def step(self) -> float:
        """One step that is taken, or every smaller region tried in vain."""
        while not self.stalled:
            try:
                relaxed = self.relax(self.alpha)
            except NotSolvedError as error:
                self.stalled = str(error)
                break
            candidate = self.choices.candidate(self.objective, relaxed)
            value = self.objective.value(candidate)
            self.predicted = relaxed.value
            if self._judged(value):
                self.factors, self._value, self.multipliers = candidate, value, relaxed.multipliers
                break
            self.multipliers = relaxed.multipliers
        return self._value

    def _judged(self, value: float) -> bool:
        """Whether the candidate is taken; α and `stalled` follow."""
        if not self.monotone:
            self.alpha *= self.choices.shrink
            if self.alpha < LEAST_ALPHA:
                self.stalled = "the region has shrunk to nothing"
            return True
        promised = self._value - self.predicted
        if promised <= PRECISION * abs(self._value):
            self.stalled = "the convex model promises no decrease"
            return False
        taken, self.alpha = judge(self.alpha, (self._value - value) / promised, 1.0)
        if self.alpha < LEAST_ALPHA:
            self.stalled = "the convex model's optima do not lower the objective, however small the region"
        return taken

    def run(self, tol: float, max_iter: int) -> None:  # noqa: ARG002
        """No compiled loop."""
        return

    def stationarity(self) -> float:
        """Stationarity at the multipliers of the last model."""
        return self.objective.stationarity(self.factors, self.multipliers)
