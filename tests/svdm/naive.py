"""The papers' own route: alternating minimization in full space, every block a convex model for Clarabel.

Nothing here is shared with the package, reduced or made clever: objectives are the table of
MATH.md line by line, on Z with its column of ones, W with the mean image in row 0, Θ with the biases in
row 0. In `boxed` and `svm` row 0 of W is the mean of the data, fixed. The tests hold the package against
it; the benchmarks time it (on reduced data, with `n_features`, for the papers' own speed).
"""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """What a user chooses. `entries` multiply the hinges; `n_features` is m of the data as given."""

    shrinkage: float = 1.0
    hinge_weight: float = 1.0
    margin: float = 1.0
    reconstruction_weight: float = 1.0
    ridge: float = 0.0
    basis_norm: str = "unit"
    n_features: int | None = None
    entries: Any = 1.0


@dataclass(frozen=True)
class Table:
    """One line of the table: factors of the terms, and what confines the blocks."""

    a: float
    hinge: Array
    margin: float
    on_z: float = 0.0
    on_theta: float = 0.0
    on_bias: float = 0.0
    on_w: float = 0.0
    constant: float = 0.0
    z_in_ball: bool = False
    theta_in_ball: bool = False
    theta_in_box: bool = False
    w_rows: str = "free"
    mean_is_fixed: bool = False


def table(formulation: str, X: Array, Y: Array, l: int, **weights: Any) -> Table:
    """The line of a formulation."""
    w = Weights(**weights)
    n, k, m = len(X), Y.shape[1], w.n_features or X.shape[1]
    known = np.abs(Y) * w.entries
    D, weight = w.shrinkage, w.hinge_weight * known
    if formulation == "constrained":
        return Table(1.0, weight, w.margin, on_w=w.ridge, z_in_ball=True, theta_in_ball=True)
    if formulation == "boxed":
        fixed: dict[str, Any] = {"on_w": w.ridge, "w_rows": w.basis_norm, "mean_is_fixed": True}
        return Table(1.0, weight, w.margin, theta_in_box=True, **fixed)
    if formulation == "svm":
        fixed = {"on_w": w.ridge, "w_rows": w.basis_norm, "mean_is_fixed": True}
        return Table(1.0, weight, w.margin, on_theta=D / 2, **fixed)
    a, weight = w.reconstruction_weight / (n * m), known / (n * k)
    if formulation == "penalized":
        on_z, on_theta = D / (n * (1 + l)), D / ((1 + l) * k)
        return Table(a, weight, w.margin, on_z, on_theta, on_theta, a * w.ridge, constant=on_z * n)
    assert formulation == "balanced"
    return Table(a, weight, w.margin, D / (n * l), D / (l * k), 0.0, D / (l * m) + a * w.ridge)


def objective(
    formulation: str, X: Array, Y: Array, Z: Array, W: Array, Theta: Array, **weights: Any
) -> float:
    """Value of a formulation, infinite outside its constraints."""
    t = table(formulation, X, Y, Z.shape[1] - 1, **weights)
    sizes = {
        "ones": np.abs(Z[:, 0] - 1.0),
        "z": np.linalg.norm(Z[:, 1:], axis=1) - 1.0 if t.z_in_ball else np.zeros(1),
        "theta": np.linalg.norm(Theta, axis=0) - 1.0 if t.theta_in_ball else np.zeros(1),
        "box": np.abs(Theta[1:]) - 1.0 if t.theta_in_box else np.zeros(1),
        "bias": np.abs(Theta[0]) if t.theta_in_box else np.zeros(1),
        "mean": np.abs(W[0] - X.mean(axis=0)) if t.mean_is_fixed else np.zeros(1),
        "w": np.linalg.norm(W[1:], axis=1) - 1.0 if t.w_rows != "free" else np.zeros(1),
    }
    if t.w_rows == "unit":
        sizes["w"] = np.abs(sizes["w"])
    if any(excess.max(initial=0.0) > 1e-8 for excess in sizes.values()):
        return float("inf")
    fit = t.a * np.sum((X - Z @ W) ** 2) + np.sum(t.hinge * np.maximum(t.margin - Y * (Z @ Theta), 0.0))
    penalties = t.on_z * np.sum(Z[:, 1:] ** 2) + t.on_w * np.sum(W[1:] ** 2)
    penalties += t.on_theta * np.sum(Theta[1:] ** 2) + t.on_bias * np.sum(Theta[0] ** 2)
    return float(fit + penalties + t.constant)


def start(t: Table, X: Array, l: int) -> tuple[Array, Array]:
    """Z and W of the SVD X_c = UΣVᵀ, made feasible; the W step comes first, so that mostly Z counts.

    `boxed`, `svm`: UΣ, because Vᵀ has unit rows. `constrained`: UΣ over its longest row.
    `balanced`, `penalized`: √n U, columns of unit variance (MATH.md's table of where alternation jams).
    Spare components above the rank are zero in Z.
    """
    U, sigma, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    rank = min(l, int(np.sum(sigma > 1e-10 * sigma[0])))
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    if t.w_rows != "free" or t.mean_is_fixed:
        scale = np.ones(rank)
    elif t.z_in_ball:
        scale = np.full(rank, 1.0 / np.linalg.norm(U * sigma, axis=1).max())
    else:
        scale = np.sqrt(len(X)) / sigma
    Z, W = np.zeros((len(X), 1 + l)), np.zeros((1 + l, X.shape[1]))
    Z[:, 0], W[0] = 1.0, X.mean(axis=0)
    Z[:, 1 : 1 + rank], W[1 : 1 + rank] = U * (sigma * scale), Vt / scale[:, None]
    if t.w_rows == "unit":
        W[1 + rank :] = np.eye(l, X.shape[1])[rank:]
    return Z, W


def _solve(value: cp.Expression, unit: float, constraints: list[cp.Constraint], tol: float) -> None:
    problem = cp.Problem(cp.Minimize(value / unit), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
    assert problem.status in {"optimal", "optimal_inaccurate"}, problem.status


def _hinge(t: Table, Y: Array, scores: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
    """Hinges with explicit slacks."""
    slack = cp.Variable(Y.shape, nonneg=True)
    return cp.sum(cp.multiply(t.hinge, slack)), [slack >= t.margin - cp.multiply(Y, scores)]


def w_step(t: Table, X: Array, Z: Array, W: Array, tol: float) -> Array:
    """Pereira & Gordon §2.4.1: a linear regression. Xi §2.1.4: with rows in the ball; unit rows in turn.

    Unit rows are not convex: each is set to its exact minimizer, v/‖v‖, until a round changes nothing.
    """
    ridge = t.on_w / t.a
    if not t.mean_is_fixed:
        root = np.diag(np.sqrt(np.r_[0.0, np.full(Z.shape[1] - 1, ridge)]))
        padded = np.vstack([X, np.zeros((Z.shape[1], X.shape[1]))])
        return np.linalg.lstsq(np.vstack([Z, root]), padded, rcond=None)[0]
    mean, Z = X.mean(axis=0), Z[:, 1:]
    S, R, rows = Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T @ (X - mean), W[1:].copy()
    if t.w_rows == "free":
        rows = np.linalg.pinv(np.vstack([Z, np.sqrt(ridge) * np.eye(len(S))]))[:, : len(Z)] @ (X - mean)
    elif t.w_rows == "at_most_one":
        V, unit = cp.Variable(rows.shape), float(np.sum((X - mean) ** 2))
        Q, triangle = np.linalg.qr(Z)
        square = cp.sum_squares(Q.T @ (X - mean) - triangle @ V) + ridge * cp.sum_squares(V)
        _solve(square, unit, [cp.norm(V, axis=1) <= 1.0], tol)
        rows = V.value / np.maximum(1.0, np.linalg.norm(V.value, axis=1))[:, None]
    else:
        for _ in range(1000):
            before = rows.copy()
            for i in range(len(rows)):
                v = R[i] - S[i] @ rows + S[i, i] * rows[i]
                rows[i] = v / np.linalg.norm(v) if np.linalg.norm(v) > 1e-12 * S[i, i] else rows[i]
            if np.abs(rows - before).max() < 1e-12:
                break
    return np.vstack([mean, rows])


def theta_step(t: Table, Y: Array, Z: Array, tol: float) -> Array:
    """Pereira & Gordon §2.4.2, the new formulation's SVM, Xi §2.1.2: all labels in one model."""
    Theta = cp.Variable((Z.shape[1], Y.shape[1]))
    value, constraints = _hinge(t, Y, Z @ Theta)
    if t.on_theta > 0:
        value += t.on_theta * cp.sum_squares(Theta[1:]) + t.on_bias * cp.sum_squares(Theta[0])
    if t.theta_in_ball:
        constraints.append(cp.norm(Theta, axis=0) <= 1.0)
    if t.theta_in_box:
        constraints += [cp.abs(Theta) <= 1.0, Theta[0] == 0.0]
    _solve(value, float(np.sum(t.hinge)) * t.margin or t.on_theta or 1.0, constraints, tol)
    out = np.asarray(Theta.value)
    if t.theta_in_ball:
        out = out / np.maximum(1.0, np.linalg.norm(out, axis=0))
    if t.theta_in_box:
        out = np.clip(out, -1.0, 1.0)
        out[0] = 0.0
    return out


def z_step(t: Table, X: Array, Y: Array, W: Array, Theta: Array, tol: float) -> Array:
    """Pereira & Gordon §2.4.3, Xi §2.1.3: all samples in one model."""
    Z = cp.Variable((len(X), len(W) - 1))
    Q, triangle = np.linalg.qr(W[1:].T)
    value, constraints = _hinge(t, Y, Z @ Theta[1:] + Theta[:1])
    value += t.a * cp.sum_squares((X - W[0]) @ Q - Z @ triangle.T) + t.on_z * cp.sum_squares(Z)
    if t.z_in_ball:
        constraints.append(cp.norm(Z, axis=1) <= 1.0)
    unit = t.a * float(np.sum((X - W[0]) ** 2)) + float(np.sum(t.hinge)) * t.margin
    _solve(value, unit, constraints, tol)
    out = np.asarray(Z.value)
    if t.z_in_ball:
        out = out / np.maximum(1.0, np.linalg.norm(out, axis=1))[:, None]
    return np.hstack([np.ones((len(X), 1)), out])


def alternate(
    formulation: str,
    X: Array,
    Y: Array,
    l: int,
    n_sweeps: int,
    *,
    decrease: float = 0.0,
    tol: float = 1e-9,
    Z: Array | None = None,
    **weights: Any,
) -> tuple[Array, Array, Array, list[float]]:
    """Minimize over W, then Θ, then Z, in the 2006 paper's order; factors, and the objective of each sweep.

    Stops after `n_sweeps`, or at the first sweep that gains less than the share `decrease`.
    """
    t = table(formulation, X, Y, l, **weights)
    first, W = start(t, X, l)
    Z = first if Z is None else Z
    history: list[float] = []
    for _ in range(n_sweeps):
        W = w_step(t, X, Z, W, tol)
        Theta = theta_step(t, Y, Z, tol)
        Z = z_step(t, X, Y, W, Theta, tol)
        history.append(objective(formulation, X, Y, Z, W, Theta, **weights))
        if len(history) > 1 and history[-2] - history[-1] < decrease * history[-2]:
            break
    return Z, W, Theta, history
