"""L-BFGS on the augmented Lagrangian: down in all blocks at once, so that no block can wait for another."""

import numpy as np

from svdecode.svdm.kernels.augmented import curvatures, evaluate, parts
from svdecode.svdm.kernels.linalg import kernel

MEMORY = 12  # pairs of steps and changes of the gradient
ARMIJO, WOLFE = 1e-4, 0.9
ROUNDING = 1e-13  # relative; below it values tell nothing, and slopes have to
TRIALS = 30  # of a step's length
LEAST = 1e-3  # curvature of a variable, relative to the largest of its block


@kernel
def _sizes(M, G, rows):  # type: ignore[no-untyped-def]
    """Σ ‖m_j‖‖g_j‖ over the components, which stand in rows or columns."""
    total = 0.0
    for j in range(M.shape[0] if rows else M.shape[1]):
        size, force = 0.0, 0.0
        for i in range(M.shape[1] if rows else M.shape[0]):
            m, g = (M[j, i], G[j, i]) if rows else (M[i, j], G[i, j])
            size += m * m
            force += g * g
        total += np.sqrt(size * force)
    return total


@kernel
def residual(x, g, task, l):  # type: ignore[no-untyped-def]
    """Largest of the blocks' residuals, as `stationarity.residuals` has them.

    Parameters
    ----------
    x, g : (N,) arrays
        Point and gradient.
    task : Task
        The objective, multipliers and weights.
    l : int
        Number of coordinates.

    Returns
    -------
    float
        In units of the objective.
    """
    Z, Theta, _ = parts(x, task, l)
    G_z, G_theta, g_b = parts(g, task, l)
    return max(_sizes(Z, G_z, False), _sizes(Theta, G_theta, True), np.abs(g_b).sum())


@kernel
def _scaling(x, task, l):  # type: ignore[no-untyped-def]
    """Inverse curvatures; a variable with little curvature of its own is held by its block."""
    out = curvatures(x, task, l)
    n, k = task.Y.shape
    for start, stop in ((0, n * l), (n * l, n * l + l * k), (n * l + l * k, x.size)):
        floor = LEAST * np.max(out[start:stop])
        for c in range(start, stop):
            out[c] = 1.0 / max(out[c], floor)
    return out


@kernel
def _direction(g, scaling, steps, changes, first, filled, out):  # type: ignore[no-untyped-def]
    """L-BFGS's two loops: out = −(inverse Hessian) g."""
    alpha = np.empty(MEMORY)
    out[:] = g
    for q in range(filled - 1, -1, -1):
        p = (first + q) % MEMORY
        alpha[q] = np.dot(steps[p], out) / np.dot(steps[p], changes[p])
        for c in range(out.size):
            out[c] -= alpha[q] * changes[p, c]
    factor = 1.0
    if filled > 0:
        p, weighted = (first + filled - 1) % MEMORY, 0.0
        for c in range(out.size):
            weighted += changes[p, c] * changes[p, c] * scaling[c]
        factor = np.dot(steps[p], changes[p]) / weighted
    for c in range(out.size):
        out[c] *= factor * scaling[c]
    for q in range(filled):
        p = (first + q) % MEMORY
        beta = alpha[q] - np.dot(changes[p], out) / np.dot(steps[p], changes[p])
        for c in range(out.size):
            out[c] += beta * steps[p, c]
    for c in range(out.size):
        out[c] = -out[c]


@kernel
def _search(x, value, slope, d, task, l, new_x, new_g):  # type: ignore[no-untyped-def]
    """A step along d that meets the weak Wolfe conditions, by bisection.

    Where the decrease drowns in rounding the slope tells as much (Hager & Zhang 2005). Returns the
    value there (NaN where none was found) and the evaluations used.
    """
    low, high, length = 0.0, np.inf, 1.0
    for trial in range(1, TRIALS + 1):
        for c in range(x.size):
            new_x[c] = x[c] + length * d[c]
        new_value = evaluate(new_x, task, l, new_g)
        new_slope = np.dot(new_g, d)
        fell = new_value <= value + ARMIJO * length * slope
        flat = new_value <= value + ROUNDING * abs(value) and new_slope <= (2.0 * ARMIJO - 1.0) * slope
        if not (fell or flat):
            high = length
        elif new_slope < WOLFE * slope:
            low = length
        else:
            return new_value, trial
        length = 0.5 * (low + high) if high < np.inf else 2.0 * low
    return np.nan, TRIALS


@kernel
def descend(x, task, l, tol, max_evaluations):  # type: ignore[no-untyped-def]
    """Minimize the augmented Lagrangian, in place.

    Parameters
    ----------
    x : (N,) array
        Where from, [Z, Θ, b]; overwritten.
    task : Task
        The objective, multipliers and weights.
    l : int
        Number of coordinates.
    tol : float
        Residual of the blocks, relative to the value, at which to stop.
    max_evaluations : int
        Evaluations at most, of the value with its gradient.

    Returns
    -------
    int
        Evaluations used.
    """
    g, new_x, new_g, d = np.empty(x.size), np.empty(x.size), np.empty(x.size), np.empty(x.size)
    steps, changes = np.empty((MEMORY, x.size)), np.empty((MEMORY, x.size))
    scaling = _scaling(x, task, l)
    value = evaluate(x, task, l, g)
    used, first, filled = 1, 0, 0
    while used < max_evaluations and residual(x, g, task, l) > tol * abs(value):
        _direction(g, scaling, steps, changes, first, filled, d)
        slope = np.dot(g, d)
        new_value, trials = np.nan, 0
        if slope < 0.0:
            new_value, trials = _search(x, value, slope, d, task, l, new_x, new_g)
        used += trials
        if not np.isfinite(new_value):
            if filled == 0:
                break
            filled = 0  # forget, and try the scaled gradient
            continue
        p = (first + filled) % MEMORY
        for c in range(x.size):
            steps[p, c] = new_x[c] - x[c]
            changes[p, c] = new_g[c] - g[c]
            x[c], g[c] = new_x[c], new_g[c]
        if filled < MEMORY:
            filled += 1
        else:
            first = (first + 1) % MEMORY
        value = new_value
    return used
