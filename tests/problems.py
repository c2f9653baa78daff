"""Problems with known answers, for every solver that can take them.

A weighted hinge with a diagonal quadratic: minimize ½(θ − center)ᵀdiag(H)(θ − center) + Σ_i c_i
max(margin − (design θ)_i, 0), θ free, in a box or in a ball. With center 0 it is the Θ step of one label,
rows of the design its samples; free or in a ball it is the Z step of one sample, rows its labels.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

NONE, BOX, BALL = 0, 1, 2


class HingeProblem(NamedTuple):
    """A problem and its answer; `minimizer` is None where there are many."""

    name: str
    design: Array
    c: Array
    margin: float
    H: Array
    center: Array
    constraint: int
    radius: float
    minimizer: Array | None
    minimum: float

    def value(self, theta: Array) -> float:
        """Of any θ of the constraint."""
        hinge = np.maximum(self.margin - self.design @ theta, 0.0)
        return float(0.5 * self.H @ (theta - self.center) ** 2 + self.c @ hinge)


def hinge_problems(weight: float) -> list[HingeProblem]:
    """Problems of which the answer is known at any weight."""
    c = weight
    two = min(4 * c, 0.5)  # two points at ±2: θ = 2·Σc, until the margin is met
    one = min(6 * c, 2.0)
    pulled = min(0.2, c)  # λ = clip(slack at the center / rᵀH⁻¹r, 0, c)
    apart = 0.5 * two**2 + 2 * c * (1 - 2 * two)
    flat, ball = {"H": np.zeros(2)}, {"constraint": BALL}
    cube = np.array([[1.0, s, t] for s in (-1.0, 1.0) for t in (-1.0, 1.0)])
    problems = [
        _make("two points", [[2.0], [2.0]], c, [two], apart),
        _make("two points, bias free", [[1.0, 2.0], [-1.0, 2.0]], c, None, apart, H=[0.0, 1.0]),
        _make("same point, both labels", [[1.0, 2.0], [-1.0, -2.0]], c, [0.0, 0.0], 2 * c),
        _make("one class", [[1.0]] * 6, c, [one], 0.5 * one**2 + 6 * c * (2 - one), margin=2.0),
        _make("one class, bias free", [[1.0, 0.3], [1.0, -4.0]], c, None, 0.0, H=[0.0, 1.0]),
        _make("box", cube, c, None, 6 * c, margin=2.0, H=np.zeros(3), constraint=BOX, radius=0.5),
        _make("ball", [[3.0, 4.0]] * 5, c, [0.3, 0.4], 2.5 * c, margin=3.0, radius=0.5, **flat, **ball),
        _make("margin met in the ball", [[3.0, 4.0]] * 5, c, None, 0.0, **flat, **ball),
        _make("center in vain", [[1.2, 1.6]], c, [0.6, 0.8], 8.0, center=[3.0, 4.0], **ball),
        _make("center good enough", [[1.0, 0.0]], c, [2.0, 3.0], 0.0, center=[2.0, 3.0]),
        _make("no discriminant", [[0.0, 0.0]] * 2, c, [2.0, 3.0], 2 * c, center=[2.0, 3.0]),
        _make(
            "one label", [[1.0, 1.0]], c, [0.5 + 0.5 * pulled, 2.0 * pulled],
            1.25 * pulled**2 + c * (0.5 - 2.5 * pulled), H=[2.0, 0.5], center=[0.5, 0.0],
        ),
    ]  # fmt: skip
    if weight >= 1:  # the margin of the hard problem: 1.25 on either side, others far behind
        rows = [[1.25, 0.0], [1.25, 0.0], [40.0, 3.0], [50.0, -9.0]]
        problems.append(_make("known margin", rows, c, [0.8, 0.0], 0.32))
    return problems


def _make(
    name: str,
    design: ArrayLike,
    c: float,
    minimizer: ArrayLike | None,
    minimum: float,
    *,
    margin: float = 1.0,
    H: ArrayLike | None = None,
    center: ArrayLike | None = None,
    constraint: int = NONE,
    radius: float = 1.0,
) -> HingeProblem:
    rows = np.array(design)
    n, p = rows.shape
    answer = None if minimizer is None else np.array(minimizer)
    quadratic = np.ones(p) if H is None else np.array(H)
    origin = np.zeros(p) if center is None else np.array(center)
    return HingeProblem(
        name, rows, np.full(n, c), margin, quadratic, origin, constraint, radius, answer, minimum
    )


class Jam(NamedTuple):
    """d_z z² + d_theta θ² + h max(1 − zθ, 0): one sample, one component, one label, no bias, no data.

    Every zθ = 1 with 2 d_z z² ≤ h and 2 d_theta θ² ≤ h is optimal in z and in θ; the minimum is where
    d_z z² = d_theta θ², if that is less than the h of z = θ = 0.
    """

    d_z: float = 0.05
    d_theta: float = 0.2
    h: float = 1.0

    @property
    def z(self) -> float:
        """Of the minimizer."""
        return float((self.d_theta / self.d_z) ** 0.25)

    @property
    def minimum(self) -> float:
        """Lowest value over z and θ."""
        return min(2.0 * float(np.sqrt(self.d_z * self.d_theta)), self.h)

    def multiplier(self, price: float, size: float) -> float:
        """What the hinge must pull with to hold a factor of that size against its penalty."""
        return 2.0 * price * size**2
