"""A weighted hinge with a diagonal quadratic, box or ball: its value, and the dual that proves a minimum."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

NONE = 0
BOX = 1
BALL = 2
FLOOR = 1e-6  # objectives below FLOOR · margin · Σc count as that much in relative tolerances
FAR = 1e3  # how far a minimizer may go, in units of the margin, where nothing else says so


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
def balanced(A, lam):  # type: ignore[no-untyped-def]
    """λ with A₀ᵀλ = 0, as a free bias wants it: the side that pulls harder scaled down."""
    up, down = 0.0, 0.0
    for i in range(lam.size):
        pull = A[i, 0] * lam[i]
        up += max(pull, 0.0)
        down += max(-pull, 0.0)
    of_up = min(down / up, 1.0) if up > 0.0 else 1.0
    of_down = min(up / down, 1.0) if down > 0.0 else 1.0
    out = np.empty(lam.size)
    for i in range(lam.size):
        out[i] = lam[i] * (of_up if A[i, 0] > 0.0 else of_down)
    return out


@kernel
def dual_value(Atlam, m, lam, nu, H, g, D, constraint):  # type: ignore[no-untyped-def]
    """Value of Σ m_i λ_i − max_θ (vᵀθ − ½θᵀHθ) with v = Aᵀλ + g, θ in the constraint.

    ν is the ball's multiplier. A free bias (H₀ = 0, no constraint) wants v₀ = 0 and `balanced`
    multipliers. Another free coordinate is taken not to go further than `FAR`.
    """
    p = H.size
    value, norm, flat = 0.0, 0.0, True
    for i in range(m.size):
        value += m[i] * lam[i]
    for j in range(p):
        flat = flat and H[j] == 0.0
        norm += ((Atlam[j] + g[j]) / D[j]) ** 2
    if constraint == BALL and flat:
        return value - np.sqrt(norm)
    if constraint == BALL:
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
        elif j > 0:
            value -= FAR * size
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
