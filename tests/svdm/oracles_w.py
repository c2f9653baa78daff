"""The W step by other means: a cvxpy model solved by Clarabel, and a dual bound by least squares."""

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from oracles import solve

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


def square(Z: Array, L: Array, ridge: float, W: Array) -> float:
    """‖L − ZW‖² + ridge·‖W‖², from the data, not from their products."""
    return float(np.sum((L - Z @ W) ** 2) + ridge * np.sum(W**2))


def tolerance(best: float, L: Array) -> float:
    """1e-6 of the minimum, or of 1e-6 of the value at zero."""
    return 1e-6 * max(best, 1e-6 * float(np.sum(L**2)))


def rounding(Z: Array, L: Array, W: Array) -> float:
    """By how much `square` of W errs: each residual by (l + 2)·eps of the terms it sums.

    Where coordinates are large and rows cancel, that is far more than eps of the value. A rounded W
    does as much.
    """
    residual = np.abs(L - Z @ W)
    error = (len(W) + 2) * EPS * (np.abs(L) + np.abs(Z) @ np.abs(W))
    return float(np.sum(2.0 * residual * error + error**2))


def told(Z: Array, W: Array) -> float:
    """What a rounding of ZᵀZ, by eps·‖z_i‖‖z_j‖ an entry, changes of `square`: the step is told no more."""
    return EPS * float(np.linalg.norm(Z, axis=0) @ np.linalg.norm(W, axis=1)) ** 2


def within_minimum(Z: Array, L: Array, ridge: float) -> tuple[Array, float]:
    """Minimizer and minimum of `square` with rows of W within the unit ball.

    Solved for G = ΣVᵀW with Z = UΣVᵀ, in units in which L has norm one, because Clarabel fails on
    ill-conditioned Z itself.
    """
    unit = float(np.linalg.norm(L)) or 1.0
    norms = np.sqrt(np.sum(Z**2, axis=0) + ridge)
    norms[norms == 0.0] = 1.0
    U, sigma, Vt = np.linalg.svd(Z / norms)
    sigma = np.append(sigma, np.zeros(len(Vt) - len(sigma)))
    scale = np.where(sigma > 1e-13 * sigma.max(), sigma, 1.0)
    G = cp.Variable((Z.shape[1], L.shape[1]))
    W = cp.multiply((unit / norms)[:, None], (Vt.T / scale) @ G)
    residual = L / unit - (U[:, : len(sigma)] * (sigma / scale)) @ G
    solve(cp.sum_squares(residual) + ridge / unit**2 * cp.sum_squares(W), [cp.norm(W, axis=1) <= 1.0])
    inside = W.value / np.maximum(1.0, np.linalg.norm(W.value, axis=1))[:, None]
    return inside, square(Z, L, ridge, inside)


def within_bound(Z: Array, L: Array, ridge: float, W: Array) -> float:
    """A lower bound of that minimum, tight at a minimizer W.

    Any multipliers ν ≥ 0 give one: min over all W of square + Σ ν_i (‖w_i‖² − 1), a least-squares
    problem. Here ν_i = ⟨−½ gradient_i, w_i⟩, and a little more against directions of pure rounding.
    """
    n_rows = Z.shape[1]
    nu = np.maximum(np.sum((Z.T @ (L - Z @ W) - ridge * W) * W, axis=1), 0.0)
    unit = max(square(Z, L, ridge, W), 1e-6 * float(np.sum(L**2))) / n_rows
    bounds = []
    for extra in (0.0, 1e-12, 1e-10, 1e-8):
        A = np.vstack([Z, np.diag(np.sqrt(ridge + nu + extra * unit))])
        B = np.vstack([L, np.zeros_like(W)])
        norms = np.linalg.norm(A, axis=0)
        norms[norms == 0.0] = 1.0
        V = np.linalg.lstsq(A / norms, B, rcond=EPS)[0]
        bounds.append(float(np.sum((B - A / norms @ V) ** 2) - np.sum(nu + extra * unit)))
    return max(bounds)
