"""The Θ step by other means: a cvxpy model solved by Clarabel, and a dual bound in numpy."""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from oracles import solve

Array = NDArray[np.float64]

NONE, BOX, BALL = 0, 1, 2


class Label(NamedTuple):
    """min ½θᵀdiag(H)θ + Σ_i c_i max(margin − (design θ)_i, 0), samples that are on, θ in the constraint."""

    design: Array  # (n, p): y_i [1 z_i]
    c: Array
    margin: float
    H: Array
    constraint: int = NONE
    radius: float = 1.0


class Answer(NamedTuple):
    """The best point found, its value, and a proved lower bound of the minimum."""

    theta: Array
    upper: float
    lower: float


def value(s: Label, theta: Array) -> float:
    """Of a point of the constraint."""
    return float(0.5 * s.H @ theta**2 + s.c @ np.maximum(s.margin - s.design @ theta, 0.0))


def tolerance(s: Label, best: float) -> float:
    """What DESIGN.md calls correct: 1e-6 of the objective, or of 1e-6 of the hinge at zero."""
    return 1e-6 * max(abs(best), 1e-6 * float(s.c.sum()) * s.margin)


def bound(s: Label, lam: Array) -> float:
    """A lower bound of that minimum from any λ in [0, c], tight at the optimal ones.

    margin·Σλ − max_θ (vᵀθ − ½θᵀHθ) with v = designᵀλ. Where H is 0 and nothing holds θ, v must be 0: that
    is the bias, which comes first. What pulls it harder, up or down, is scaled down until they balance.
    """
    lam = np.array(lam)
    if s.constraint == NONE and s.H[0] == 0:
        pull = s.design[:, 0] * lam
        up, down = pull[pull > 0].sum(), -pull[pull < 0].sum()
        lam[pull > 0] *= min(down / up, 1.0) if up > 0 else 0.0
        lam[pull < 0] *= min(up / down, 1.0) if down > 0 else 0.0
    v = np.abs(s.design.T @ lam)
    gain = s.margin * float(lam.sum())
    if s.constraint == BALL:
        assert not s.H.any()
        return gain - s.radius * float(np.linalg.norm(v))
    if s.constraint == BOX:
        assert not s.H.any()
        return gain - s.radius * float(v.sum())
    assert np.all(s.H[1:] > 0)
    curved = s.H > 0
    return gain - 0.5 * float(np.sum(v[curved] ** 2 / s.H[curved]))


def minimum(s: Label) -> Answer:
    """Minimizer of `value`, and what Clarabel's own multipliers prove of it.

    Clarabel works on θ = unit · t with columns of size one and a unit in which t is of order one. Where
    the hinge can be met and its weight is huge, any error of the solver costs weight × error; so the
    answer is the best one over units, soft and, where feasible, hard margins. Only an answer with `upper`
    close to `lower` is evidence.
    """
    sizes = np.sqrt(np.mean(s.design**2, axis=0)) if len(s.c) else np.ones(s.H.size)
    sizes[sizes == 0] = 1.0
    units = [s.margin]
    if s.H.any():
        units.append(
            min(float(s.c.sum()) * float(np.max(sizes**2 / np.where(s.H > 0, s.H, np.inf))), s.margin)
        )
    found = [(np.zeros(s.H.size), 0.0)]
    for unit in {max(unit, 1e-12) for unit in units}:
        for soft in (True, False):
            found += _clarabel(s, unit / sizes, unit, soft)
    values = [value(s, theta) for theta, _ in found]
    best = int(np.argmin(values))
    return Answer(found[best][0], values[best], max(lower for _, lower in found))


def _clarabel(s: Label, units: Array, size: float, soft: bool) -> list[tuple[Array, float]]:
    """Clarabel's point and the lower bound by its multipliers; empty where it finds none."""
    t = cp.Variable(s.H.size)
    curvature = s.H * units**2
    total = float(s.c.sum()) * size
    overall = 1.0 / max(float(curvature.max()) if not soft or total == 0.0 else total, 1e-300)
    objective = 0.5 * overall * cp.sum_squares(cp.multiply(np.sqrt(curvature), t))
    hinges = []
    if len(s.c):  # not every cvxpy has empty variables and constraints
        fits = (s.design * (units / size)) @ t
        if soft:
            slack = cp.Variable(len(s.c), nonneg=True)
            objective += (overall * size * s.c) @ slack
            fits += slack
        hinges = [fits >= s.margin / size]
    limits = []
    if s.constraint == BOX:
        limits = [cp.abs(t) <= s.radius / units]
    elif s.constraint == BALL:
        limits = [cp.norm(cp.multiply(units / s.radius, t)) <= 1.0]
    try:
        solve(objective, hinges + limits)
    except (AssertionError, cp.SolverError):
        return []
    lam = np.clip(hinges[0].dual_value / (overall * size), 0.0, s.c) if hinges else np.zeros(0)
    return [(inside(s, units * t.value), bound(s, lam))]


def inside(s: Label, theta: Array) -> Array:
    """The point of the constraint that a θ outside by rounding stands for."""
    if s.constraint == BOX:
        return np.clip(theta, -s.radius, s.radius)
    if s.constraint == BALL:
        return np.asarray(theta * min(1.0, s.radius / max(float(np.linalg.norm(theta)), 1e-300)))
    return np.asarray(theta)
