"""The Z step by other means: a cvxpy model solved by Clarabel, and a dual bound by least squares."""

from typing import NamedTuple

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from oracles import solve

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


class Sample(NamedTuple):
    """min ‖F(z − center)‖² + Σ_j h_j max(margin − y_j (zᵀB_j + b_j), 0), ‖z‖ ≤ radius, labels that are on."""

    F: Array
    center: Array
    rows: Array  # (k, l): y_j B_j
    margins: Array  # margin − y_j b_j
    h: Array
    margin: float
    radius: float


def hinge(s: Sample, z: Array) -> float:
    return float(s.h @ np.maximum(s.margins - s.rows @ z, 0.0))


def value(s: Sample, z: Array) -> float:
    """Of a point of the ball."""
    return float(np.sum((s.F @ (z - s.center)) ** 2)) + hinge(s, z)


def tolerance(s: Sample, best: float) -> float:
    """What DESIGN.md calls correct: 1e-6 of the objective, or of 1e-6 of the hinge at zero; or rounding.

    The step is told A = FᵀF and A·center, rounded: forces wrong by some eps·‖A‖‖center‖, which cost their
    square over the least curvature.
    """
    sigma = np.linalg.svd(s.F, compute_uv=False)
    sigma = sigma[sigma > 1e-13 * sigma.max(initial=0.0)]
    force = 4.0 * EPS * float(np.sum(sigma**2)) * float(np.linalg.norm(s.center))
    rounding = (force / float(sigma.min())) ** 2 if sigma.size else 0.0
    return max(1e-6 * max(best, 1e-6 * float(s.h.sum()) * s.margin), rounding)


class Answer(NamedTuple):
    """The best point found, its value, and a proved lower bound of the minimum."""

    z: Array
    upper: float
    lower: float


def minimum(s: Sample) -> Answer:
    """Minimizer of `value`, and what Clarabel's own multipliers prove of it.

    Clarabel works on z = origin + unit · t, with units in which what moves z is of order one; where
    hinges can be met and weigh a lot, its error times their weight is large, so that the answer is the
    best one over units, soft and, where feasible, hard margins. It is often less exact than 1e-6, so that
    only an answer with `upper` close to `lower` is evidence.
    """
    stiffness = float(np.linalg.norm(s.F, axis=0).max(initial=0.0)) or 1.0
    lengths = np.linalg.norm(s.rows, axis=1)
    steps = [float(s.h @ lengths) / stiffness**2]
    if lengths.any():
        steps.append(float(np.max(np.abs(s.margins - s.rows @ s.center))) / float(lengths.max()))
    if np.isfinite(s.radius):
        steps.append(s.radius)
    answers = [(_inside(s, s.center), 0.0)]
    for unit in {max(step, 1e-12) for step in steps}:
        for soft in (True, False):
            answers += _clarabel(s, unit, stiffness, soft)
    values = [value(s, z) for z, _ in answers]
    best = int(np.argmin(values))
    return Answer(answers[best][0], values[best], max(lower for _, lower in answers))


def _clarabel(s: Sample, unit: float, stiffness: float, soft: bool) -> list[tuple[Array, float]]:
    """Clarabel's point and the lower bound by its multipliers; empty where it finds none."""
    origin = s.center if not np.isfinite(s.radius) else _inside(s, s.center)
    t = cp.Variable(len(s.center))
    scale = max((unit * stiffness) ** 2, 1e-300)
    residual = (s.F * (unit / np.sqrt(scale))) @ t + s.F @ (origin - s.center) / np.sqrt(scale)
    size = float(np.abs(s.rows).max(initial=0.0)) * unit or 1.0
    need = (s.margins - s.rows @ origin) / size
    weights = s.h * (size / scale)
    overall = 1.0 / max(float(weights.sum()), 1.0)
    objective = overall * cp.sum_squares(residual)
    ball = [cp.norm(origin / unit + t) <= s.radius / unit] if np.isfinite(s.radius) else []
    hinges = []
    if len(s.h):  # not every cvxpy has empty variables and constraints
        fits = (s.rows * (unit / size)) @ t
        if soft:
            slack = cp.Variable(len(s.h), nonneg=True)
            objective += (overall * weights) @ slack
            fits += slack
        hinges = [fits >= need]
    try:
        solve(objective, hinges + ball)
    except (AssertionError, cp.SolverError):
        return []
    dual = scale / overall  # multipliers of the problem as it was
    lam = np.clip(hinges[0].dual_value * (dual / size), 0.0, s.h) if hinges else np.zeros(0)
    nu = max(float(ball[0].dual_value), 0.0) * dual / (2.0 * unit * s.radius) if ball else 0.0
    return [(_inside(s, origin + unit * t.value), bound(s, lam, nu))]


def _inside(s: Sample, z: Array) -> Array:
    return np.asarray(z * min(1.0, s.radius / max(float(np.linalg.norm(z)), 1e-300)))


def bound(s: Sample, lam: Array, nu: float) -> float:
    """A lower bound of that minimum from any λ in [0, h] and ν ≥ 0, tight at the optimal ones.

    min over all z of the quadratic + Σ λ_j (margins_j − rows_jᵀz) + ν(‖z‖² − radius²) is, with
    e = z − center, K = [F; √ν I], Kᵀw = ½ rowsᵀλ and a = [0; −√ν center], a least-squares problem:
    ‖Ke − (a + w)‖² − 2aᵀw − ‖w‖². Where K is singular and λ pulls along its null space, all that is
    left is −inf.
    """
    l = len(s.center)
    K = np.vstack([s.F, np.sqrt(nu) * np.eye(l)])
    norms = np.linalg.norm(K, axis=0)
    norms[norms == 0.0] = 1.0
    a = np.concatenate([np.zeros(len(s.F)), -np.sqrt(nu) * s.center])
    pull = 0.5 * (s.rows.T @ lam) / norms
    U, sigma, Vt = np.linalg.svd(K / norms, full_matrices=False)
    if sigma.size and sigma[-1] > 1e-13 * sigma[0]:  # QR keeps more digits
        Q, R = np.linalg.qr(K / norms)
        w = Q @ np.linalg.solve(R.T, pull)
    else:
        seen = sigma > 1e-13 * sigma.max(initial=0.0)
        Q, along = U[:, seen], Vt[seen] @ pull
        if np.linalg.norm(pull - Vt[seen].T @ along) > 1e-12 * np.linalg.norm(pull):
            return -np.inf
        w = Q @ (along / sigma[seen])
    residual = a - Q @ (Q.T @ a)  # w is in the range of K
    constant = float(lam @ (s.margins - s.rows @ s.center))
    ball = nu * s.radius**2 if nu > 0 else 0.0
    return constant + float(residual @ residual) - 2.0 * float(a @ w) - float(w @ w) - ball
