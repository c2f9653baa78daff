"""The Z step where there is one label: its multiplier has a closed form, a ball's is one root."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

FREE = 1e-25  # least ν where A is singular, relative to A and the forces on z
RADIUS_TOL = 1e-13
EVALUATIONS = 100  # of ‖z(ν)‖ at most


@kernel
def one_label(Z, row, lift, b, Y, Hw, margin, Lam):  # type: ignore[no-untyped-def]
    """Move Z, the centers, in place, by the closed form for one label: λ = clip(slack / curvature, 0, h)."""
    curvature = 0.0
    for p in range(row.size):
        curvature += 0.5 * row[p] * lift[p]
    for i in range(Z.shape[0]):
        y, weight, lam = Y[i, 0], Hw[i, 0], 0.0
        if y != 0.0 and weight > 0.0:
            slack = margin - y * b[0]
            for p in range(row.size):
                slack -= y * row[p] * Z[i, p]
            lam = weight if slack > 0.0 else 0.0
            if curvature > 0.0:
                lam = min(max(slack / curvature, 0.0), weight)
        for p in range(row.size):
            Z[i, p] += 0.5 * lam * y * lift[p]
        Lam[i, 0] = lam


@kernel
def _at_price(c, row, d, nu, target, h, z):  # type: ignore[no-untyped-def]
    """Coordinates z of one sample at the ball's multiplier ν, in place; λ, ‖z‖ and the slope of ½‖z‖²."""
    reach, curvature = 0.0, 0.0
    for p in range(d.size):
        z[p] = 1.0 / (d[p] + nu)  # for the loop below
        reach += row[p] * c[p] * z[p]
        curvature += 0.5 * row[p] * row[p] * z[p]
    slack = target - reach
    lam = h if slack > 0.0 else 0.0
    if curvature > 0.0:
        lam = min(max(slack / curvature, 0.0), h)
    square, slope, along = 0.0, 0.0, 0.0
    for p in range(d.size):
        inverse = z[p]
        z[p] = inverse * (c[p] + 0.5 * lam * row[p])
        square += z[p] * z[p]
        slope -= z[p] * z[p] * inverse
        along += row[p] * inverse * z[p]
    if 0.0 < lam < h:
        slope += 0.5 * along * along / curvature
    return lam, np.sqrt(square), slope


@kernel
def _price_at(c, row, d, lam, z):  # type: ignore[no-untyped-def]
    """νz² as the optimality of z and λ has it, zᵀ(c + ½λ·row − Dz)."""
    value = 0.0
    for p in range(z.size):
        value += z[p] * (c[p] + 0.5 * lam * row[p] - d[p] * z[p])
    return value


@kernel
def one_label_in_ball(c, row, d, target, h, radius, lam, z):  # type: ignore[no-untyped-def]
    """Minimize zᵀdiag(d)z − 2cᵀz + h·max(target − rowᵀz, 0) over ‖z‖ ≤ radius for one sample.

    Pereira & Gordon 2006, §2.4.3 with k = 1: z = (D + νI)⁻¹(c + ½λ·row), λ = clip(slack / curvature, 0, h),
    ν from a bracketed Newton iteration on 1/‖z(ν)‖.

    Parameters
    ----------
    c : (l,) array
        Linear term.
    row : (l,) array
        Discriminant times the label.
    d : (l,) array
        Quadratic, ≥ 0, ascending.
    target : float
        Margin less what the bias gives.
    h : float
        Weight of the hinge, ≥ 0.
    radius : float
        Of the ball.
    lam : float
        λ to start from.
    z : (l,) array
        Coordinates to start from; overwritten by the minimizer.

    Returns
    -------
    lam : float
        Multiplier of the hinge.
    ok : bool
        Whether it was solved.
    """
    l = d.size
    force, of_row, pull = 0.0, 0.0, 0.0
    for p in range(l):
        force += c[p] * c[p]
        of_row += row[p] * row[p]
        pull += (c[p] + 0.5 * lam * row[p]) ** 2
    highest = (np.sqrt(force) + 0.5 * h * np.sqrt(of_row)) / radius
    lowest = 0.0 if d[0] > 0.0 else max(FREE * (d[l - 1] + highest), 1e-100)
    highest = max(highest, lowest)
    nu = max(np.sqrt(pull) / radius - d[l - 1], _price_at(c, row, d, lam, z) / (radius * radius))
    nu = min(max(nu, lowest), highest)
    low, high, size = lowest, highest, 0.0
    for evaluation in range(EVALUATIONS):
        lam, size, slope = _at_price(c, row, d, nu, target, h, z)
        if abs(size - radius) <= RADIUS_TOL * radius or (size < radius and nu == lowest):
            break
        if size > radius:
            low = nu
        else:
            high = nu
        if high - low <= 4e-16 * high:
            break
        # Newton's step on 1/‖z(ν)‖, which is all but linear
        nu += (size - radius) / radius * size * size / -slope if slope < 0.0 else high
        if nu <= lowest and low == lowest:
            nu = lowest
        elif not low < nu < high or evaluation % 12 == 11:
            nu = np.sqrt(max(low, 1e-16 * high) * high)
    ok = abs(size - radius) <= 1e-10 * radius or nu == lowest
    if size > radius:
        for p in range(l):
            z[p] *= radius / size
    return lam, ok
