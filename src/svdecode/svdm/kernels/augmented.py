"""The augmented Lagrangian of the split scores, as a smooth function of all blocks together.

Scores T are split from S = ZΘ + 1b as in `splitting`, and eliminated again: what is left of each hinge is
its smooth envelope at weight ρ, shifted by its multiplier. W and w₀ are eliminated too (a regression on Z).
"""

from typing import NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.kernels.linalg import cholesky, kernel
from svdecode.svdm.kernels.rows import product, solve_rows, transposed

DEPENDENT = 1e-14  # relative pivot at which a coordinate counts as a combination of others


class Task(NamedTuple):
    """An objective, multipliers and weights: everything the augmented Lagrangian depends on but x."""

    X: FloatArray
    square: float
    """‖X‖²."""
    Y: FloatArray
    H: FloatArray
    numbers: tuple[float, ...]
    n_unseen: int
    Lam: FloatArray
    """Multipliers of the hinges, (n, k)."""
    rho: float


@kernel
def parts(x, task, l):  # type: ignore[no-untyped-def]
    """Views of x = [Z, Θ, b]."""
    n, k = task.Y.shape
    return x[: n * l].reshape(n, l), x[n * l : n * l + l * k].reshape(l, k), x[n * l + l * k :]


@kernel
def best_basis(Z, task):  # type: ignore[no-untyped-def]
    """Z without its mean, which w₀ = −z̄W takes, R = ZᵀX and W = (ZᵀZ + ridge I)⁻¹R."""
    n, l = Z.shape
    centered = Z.copy()
    for j in range(l):
        mean = 0.0
        for i in range(n):
            mean += Z[i, j]
        for i in range(n):
            centered[i, j] -= mean / n
    across = transposed(centered)
    G = product(across, centered)
    for j in range(l):
        G[j, j] += task.numbers.w_ridge / task.numbers.a
    cholesky(G, DEPENDENT, np.inf)
    R = product(across, task.X)
    W = R.copy()
    solve_rows(G, W)
    return centered, R, W


@kernel
def _inner(A, B):  # type: ignore[no-untyped-def]
    """Inner product of two matrices."""
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            total += A[i, j] * B[i, j]
    return total


@kernel
def _fit_of_best(Z, task):  # type: ignore[no-untyped-def]
    """min over W of a‖X − ZW‖² + w_ridge‖W‖², and its gradient in Z."""
    a = task.numbers.a
    centered, R, W = best_basis(Z, task)
    across = transposed(W)
    G_z = product(centered, product(W, across))
    G_z -= product(task.X, across)
    G_z *= 2.0 * a
    return a * (task.square - _inner(R, W)), G_z


@kernel
def _hinges(S, task, D):  # type: ignore[no-untyped-def]
    """Sum of the envelopes at the scores S; D gets the derivatives −Y∘λ⁺, λ⁺ = clip(λ + ρ(μ − Y∘S), 0, h)."""
    value, rho = 0.0, task.rho
    for i in range(S.shape[0]):
        for j in range(S.shape[1]):
            D[i, j] = 0.0
            y, old = task.Y[i, j], task.Lam[i, j]
            if y != 0.0 and task.H[i, j] > 0.0:
                shifted = task.numbers.margin - y * S[i, j] + old / rho
                new = min(max(rho * shifted, 0.0), task.H[i, j])
                value += new * shifted - 0.5 * (new * new + old * old) / rho
                D[i, j] = -y * new
    return value


@kernel
def evaluate(x, task, l, g):  # type: ignore[no-untyped-def]
    """Augmented Lagrangian at x = [Z, Θ, b], and its gradient into g.

    Parameters
    ----------
    x : (N,) array
        The blocks.
    task : Task
        The objective, multipliers and weights.
    l : int
        Number of coordinates.
    g : (N,) array
        Overwritten by the gradient.

    Returns
    -------
    float
        The value.
    """
    Z, Theta, b = parts(x, task, l)
    G_z, G_theta, g_b = parts(g, task, l)
    numbers, seen = task.numbers, l - task.n_unseen
    value, of_fit = _fit_of_best(Z, task)
    S, D = product(Z, Theta), np.empty(task.Y.shape)
    for i in range(S.shape[0]):
        for j in range(b.size):
            S[i, j] += b[j]
    value += _hinges(S, task, D)
    G_z[:, :] = of_fit
    G_z += product(D, transposed(Theta))
    G_theta[:, :] = product(transposed(Z), D)
    for j in range(seen):
        for i in range(Z.shape[0]):
            value += numbers.z_ridge * Z[i, j] * Z[i, j]
            G_z[i, j] += 2.0 * numbers.z_ridge * Z[i, j]
        for c in range(b.size):
            value += numbers.theta_ridge * Theta[j, c] * Theta[j, c]
            G_theta[j, c] += 2.0 * numbers.theta_ridge * Theta[j, c]
    for j in range(seen, l):
        for c in range(b.size):
            G_theta[j, c] = 0.0
    for c in range(b.size):
        g_b[c] = 0.0
        if numbers.has_bias:
            g_b[c] = 2.0 * numbers.bias_ridge * b[c]
            value += numbers.bias_ridge * b[c] * b[c]
            for i in range(Z.shape[0]):
                g_b[c] += D[i, c]
    return value


@kernel
def curvatures(x, task, l):  # type: ignore[no-untyped-def]
    """A diagonal near the Hessian's, as if all hinges were at the curved part of their envelopes.

    Parameters
    ----------
    x, task, l
        As for `evaluate`.

    Returns
    -------
    (N,) array
        Positive numbers.
    """
    Z, Theta, b = parts(x, task, l)
    out = np.full(x.size, 1e-100)
    C_z, C_theta, c_b = parts(out, task, l)
    numbers, seen = task.numbers, l - task.n_unseen
    W = best_basis(Z, task)[2]
    for j in range(l):
        size = _inner(W[j : j + 1], W[j : j + 1])
        for i in range(Z.shape[0]):
            C_z[i, j] += 2.0 * (numbers.a * size + (numbers.z_ridge if j < seen else 0.0))
            for c in range(b.size):
                if task.Y[i, c] != 0.0 and task.H[i, c] > 0.0:
                    C_z[i, j] += task.rho * Theta[j, c] * Theta[j, c]
                    C_theta[j, c] += task.rho * Z[i, j] * Z[i, j]
        for c in range(b.size):
            C_theta[j, c] += 2.0 * numbers.theta_ridge
    for c in range(b.size):
        c_b[c] += 2.0 * numbers.bias_ridge
        for i in range(Z.shape[0]):
            if task.Y[i, c] != 0.0 and task.H[i, c] > 0.0:
                c_b[c] += task.rho
    return out
