"""A weighted hinge with a diagonal quadratic, box or ball: its value, and its dual, which proves a minimum."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

NONE = 0
BOX = 1
BALL = 2
FLOOR = 1e-6  # objectives below FLOOR · margin · Σc count as that much in relative tolerances


@kernel
def weighted_square(H, theta):  # type: ignore[no-untyped-def]
    """Sum of H_j θ_j²."""
    value = 0.0
    for j in range(theta.size):
        value += H[j] * theta[j] * theta[j]
    return value


@kernel
def primal_value(Atheta, m, c, H, g, theta):  # type: ignore[no-untyped-def]
    """Value of ½θᵀHθ − gᵀθ + Σ c_i max(m_i − (Aθ)_i, 0)."""
    value = 0.0
    for i in range(m.size):
        value += c[i] * max(m[i] - Atheta[i], 0.0)
    for j in range(theta.size):
        value += (0.5 * H[j] * theta[j] - g[j]) * theta[j]
    return value


@kernel
def dual_value(Atlam, m, v, H, g, theta, D, constraint):  # type: ignore[no-untyped-def]
    """Value of Σ m_i λ_i − max_θ (vᵀθ − ½θᵀHθ) with v = Aᵀλ + g, θ in the constraint.

    A free coordinate (H = 0, no constraint) wants v = 0; what is left of it is charged at twice
    the current |θ|, which bounds the error as long as the minimizer is not far larger.
    """
    p = H.size
    value, nu = 0.0, 0.0
    for i in range(m.size):
        value += m[i] * v[i]
    if constraint == BALL:
        nu = v[2 * m.size]
        flat = True
        norm = 0.0
        for j in range(p):
            flat = flat and H[j] == 0.0
            norm += ((Atlam[j] + g[j]) / D[j]) ** 2
        if flat:
            return value - np.sqrt(norm)
        value -= 0.5 * nu
    for j in range(p):
        size = abs(Atlam[j] + g[j])
        if constraint == BALL:
            value -= 0.5 * size * size / (H[j] + nu * D[j] * D[j])
        elif constraint == BOX:
            peak = 1.0 / D[j] if H[j] <= size * D[j] else size / H[j]
            value -= size * peak - 0.5 * H[j] * peak * peak
        elif H[j] > 0.0:
            value -= 0.5 * size * size / H[j]
        else:
            value -= 2.0 * size * abs(theta[j])
    return value


@kernel
def feasible(theta, D, constraint):  # type: ignore[no-untyped-def]
    """Take θ back into the box |D_j θ_j| ≤ 1 or the ball ‖Dθ‖ ≤ 1."""
    out = theta.copy()
    if constraint == BOX:
        for j in range(out.size):
            out[j] = min(max(out[j], -1.0 / D[j]), 1.0 / D[j])
    elif constraint == BALL:
        norm = 0.0
        for j in range(out.size):
            norm += (D[j] * out[j]) ** 2
        if norm > 1.0:
            for j in range(out.size):
                out[j] /= np.sqrt(norm)
    return out
