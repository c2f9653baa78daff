"""The ball of the interior point: s = (1, Dθ) in the second-order cone, and multipliers z in it too.

Scaled after Nesterov and Todd: a symmetric W with Wz = W⁻¹s = λ. A slack t = ½(1 − ‖Dθ‖²) with one
multiplier is smaller, but its Newton directions can cycle where the ball is far from flat.
"""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

AXIS, POINT, RIGHT, WORK = 0, 1, 2, 3  # rows of the cone's table: w̄, λ, right-hand side W⁻¹u, workspace
LINES = 4


@kernel
def _square(x):  # type: ignore[no-untyped-def]
    """x₀² − ‖x₁:‖², as (x₀ − ‖x₁:‖)(x₀ + ‖x₁:‖), which keeps the digits at the cone's surface."""
    norm = 0.0
    for j in range(1, x.size):
        norm += x[j] * x[j]
    norm = np.sqrt(norm)
    return (x[0] - norm) * (x[0] + norm)


@kernel
def _apply(axis, eta, sign, x, out):  # type: ignore[no-untyped-def]
    """Wx (sign 1) or W⁻¹x (sign −1); eta is W's scale, or its inverse. x and out may be the same."""
    inner = 0.0
    for j in range(1, x.size):
        inner += axis[j] * x[j]
    first = axis[0] * x[0] + sign * inner
    rest = sign * x[0] + inner / (1.0 + axis[0])
    for j in range(1, x.size):
        out[j] = eta * (x[j] + rest * axis[j])
    out[0] = eta * first


@kernel
def scale_cone(s, z, table):  # type: ignore[no-untyped-def]
    """Fill in W's axis and the scaled point, λ = Wz; the scale η of W = η(…)."""
    axis = table[AXIS]
    root_s, root_z = np.sqrt(_square(s)), np.sqrt(_square(z))
    inner = 0.0
    for j in range(s.size):
        inner += (s[j] / root_s) * (z[j] / root_z)
    gamma = np.sqrt(0.5 * (1.0 + inner))
    for j in range(s.size):
        mirrored = z[j] / root_z if j == 0 else -z[j] / root_z
        axis[j] = 0.5 * (s[j] / root_s + mirrored) / gamma
    eta = np.sqrt(root_s / root_z)
    _apply(axis, eta, 1.0, z, table[POINT])
    return eta


@kernel
def add_cone(table, eta, D, M):  # type: ignore[no-untyped-def]
    """M += D [W⁻²]₁₁ D, with [W⁻²]₁₁ = (I + 2 w̄₁w̄₁ᵀ)/η²."""
    axis = table[AXIS]
    for j in range(D.size):
        M[j, j] += (D[j] / eta) ** 2
        for k in range(D.size):
            M[j, k] += 2.0 * (axis[j + 1] * D[j] / eta) * (axis[k + 1] * D[k] / eta)


@kernel
def cone_rhs(table, eta, target, ds, dz, second):  # type: ignore[no-untyped-def]
    """W⁻¹u with λ∘u = target·e − λ∘λ − second·(W⁻¹ds)∘(Wdz), into the table."""
    axis, point, right, work = table[AXIS], table[POINT], table[RIGHT], table[WORK]
    inner = 0.0
    for j in range(point.size):
        right[j] = 2.0 * point[0] * point[j]
        inner += point[j] * point[j]
    right[0] = inner
    for j in range(point.size):
        right[j] = -right[j]
    right[0] += target
    if second > 0.0:
        scaled = np.empty(point.size)
        _apply(axis, 1.0 / eta, -1.0, ds, work)
        _apply(axis, eta, 1.0, dz, scaled)
        for j in range(point.size):
            right[0] -= second * work[j] * scaled[j]
        for j in range(1, point.size):
            right[j] -= second * (work[0] * scaled[j] + scaled[0] * work[j])
    inner = 0.0
    for j in range(1, point.size):
        inner += point[j] * right[j]
    first = (point[0] * right[0] - inner) / _square(point)
    for j in range(1, point.size):
        right[j] = (right[j] - first * point[j]) / point[0]
    right[0] = first
    _apply(axis, 1.0 / eta, -1.0, right, right)


@kernel
def cone_direction(table, eta, D, dtheta, ds, dz):  # type: ignore[no-untyped-def]
    """ds = (0, D dθ) and dz = W⁻¹u − W⁻²ds, with W⁻² = (2 Jw̄(Jw̄)ᵀ − J)/η²."""
    axis, right = table[AXIS], table[RIGHT]
    inner = 0.0
    ds[0] = 0.0
    for j in range(D.size):
        ds[j + 1] = D[j] * dtheta[j]
        inner += axis[j + 1] * ds[j + 1]
    dz[0] = right[0] + 2.0 * axis[0] * inner / (eta * eta)
    for j in range(1, ds.size):
        dz[j] = right[j] - (2.0 * axis[j] * inner + ds[j]) / (eta * eta)


@kernel
def cone_step(x, dx):  # type: ignore[no-untyped-def]
    """Largest step up to which x + step·dx stays in the cone: the least positive root of its square."""
    a, b = dx[0] * dx[0], x[0] * dx[0]
    for j in range(1, x.size):
        a -= dx[j] * dx[j]
        b -= x[j] * dx[j]
    c = _square(x)
    inside = b * b - a * c
    if inside < 0.0:
        return 1e30
    below = np.sqrt(inside) - b
    return c / below if below > 0.0 else 1e30
