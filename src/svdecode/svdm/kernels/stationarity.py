"""Value of the objective, and how far a point is from a stationary one, in compiled code."""

import numpy as np

from svdecode.svdm.kernels.linalg import kernel

BOX, BALL = 1, 2
NORM_AT_MOST_ONE, NORM_ONE = 1, 2


@kernel
def _size(M):  # type: ignore[no-untyped-def]
    """Frobenius norm."""
    total = 0.0
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            total += M[i, j] * M[i, j]
    return np.sqrt(total)


@kernel
def _by_component(M, G, rows):  # type: ignore[no-untyped-def]
    """Σ_j ‖m_j‖‖g_j‖ over components, which stand in rows or columns.

    Component by component, it does not depend on how norms are spread over Z and W.
    """
    total = 0.0
    if rows:
        for j in range(M.shape[0]):
            total += np.sqrt((M[j] ** 2).sum() * (G[j] ** 2).sum())
    else:
        for j in range(M.shape[1]):
            total += np.sqrt((M[:, j] ** 2).sum() * (G[:, j] ** 2).sum())
    return total


@kernel
def _ball_gain(row, gradient, radius):  # type: ignore[no-untyped-def]
    """What a move inside the ball could gain to first order: ⟨g, z⟩ + radius·‖g‖."""
    inner, norm = 0.0, 0.0
    for j in range(row.size):
        inner += gradient[j] * row[j]
        norm += gradient[j] * gradient[j]
    return max(inner + radius * np.sqrt(norm), 0.0)


@kernel
def _of_z(Z, G, radius):  # type: ignore[no-untyped-def]
    if not np.isfinite(radius):
        return _by_component(Z, G, False)
    total = 0.0
    for i in range(Z.shape[0]):
        total += _ball_gain(Z[i], G[i], radius)
    return total


@kernel
def _of_w(W, G, rows):  # type: ignore[no-untyped-def]
    if rows == NORM_ONE:  # what of the gradient is tangent to the sphere
        total = 0.0
        for i in range(W.shape[0]):
            total += _size((G[i] - np.dot(G[i], W[i]) * W[i]).reshape(1, -1))
        return total
    if rows == NORM_AT_MOST_ONE:
        total = 0.0
        for i in range(W.shape[0]):
            total += _ball_gain(W[i], G[i], 1.0)
        return total
    return _by_component(W, G, True)


@kernel
def _of_theta(Theta, bias, G, g_bias, numbers):  # type: ignore[no-untyped-def]
    """Residuals of Θ and of the bias."""
    l, k = Theta.shape
    if numbers.theta_constraint == BALL:
        column, gradient = np.empty(l + 1), np.empty(l + 1)
        total = 0.0
        for j in range(k):
            column[0], gradient[0] = bias[j], g_bias[j]
            column[1:], gradient[1:] = Theta[:, j], G[:, j]
            total += _ball_gain(column, gradient, numbers.theta_radius)
        return total, 0.0
    of_bias = 0.0
    if numbers.has_bias:
        of_bias = np.abs(g_bias).sum()
    if numbers.theta_constraint == BOX:
        total = 0.0
        for i in range(l):
            for j in range(k):
                total += max(G[i, j] * Theta[i, j] + numbers.theta_radius * abs(G[i, j]), 0.0)
        return total, of_bias
    return _by_component(Theta, G, True), of_bias


@kernel
def residuals(X, Y, H, numbers, n_unseen, Z, W, mean, Theta, bias, Lam):  # type: ignore[no-untyped-def]
    """Residuals of the blocks at one matrix of multipliers λ, in units of the objective.

    Parameters
    ----------
    X : (n, r) array
        Centered rows in reduced coordinates.
    Y, H : (n, k) arrays
        Labels, and hinge weights.
    numbers : Numbers
        Of the objective.
    n_unseen : int
        How many of the last coordinates carry no penalty and no discriminant.
    Z, W, mean, Theta, bias : arrays
        The factors.
    Lam : (n, k) array
        Multipliers in [0, H].

    Returns
    -------
    (5,) array
        Of Z, W, Θ, the bias, and the hinge's complementarity.
    """
    n, l = Z.shape
    seen = l - n_unseen
    a = numbers.a
    R = X - mean - np.dot(Z, W)
    signed = Y * Lam
    G_z = -2.0 * a * np.dot(R, W.T)
    G_z[:, :seen] += 2.0 * numbers.z_ridge * Z[:, :seen]
    G_z -= np.dot(signed, Theta.T)
    G_w = -2.0 * a * np.dot(Z.T, R) + 2.0 * numbers.w_ridge * W
    G_theta = 2.0 * numbers.theta_ridge * Theta - np.dot(Z.T, signed)
    for i in range(seen, l):
        G_theta[i] = 0.0
    g_bias = 2.0 * numbers.bias_ridge * bias - signed.sum(axis=0)
    out = np.empty(5)
    if n_unseen > 0:
        S, G_s = np.ascontiguousarray(Z[:, :seen]), np.ascontiguousarray(G_z[:, :seen])
        F, G_f = np.ascontiguousarray(Z[:, seen:]), np.ascontiguousarray(G_z[:, seen:])
        out[0] = max(_of_z(S, G_s, numbers.z_radius), _by_component(F, G_f, False))
    else:
        out[0] = _of_z(Z, G_z, numbers.z_radius)
    out[1] = _of_w(W, G_w, numbers.w_rows)
    out[2], out[3] = _of_theta(Theta, bias, G_theta, g_bias, numbers)
    margins = Y * (np.dot(Z, Theta) + bias)
    gap = 0.0
    for i in range(n):
        for j in range(Y.shape[1]):
            slack = numbers.margin - margins[i, j]
            if Y[i, j] != 0.0:
                gap += H[i, j] * max(slack, 0.0) - Lam[i, j] * slack
    out[4] = abs(gap)
    return out


@kernel
def objective_value(X, Y, H, numbers, n_unseen, Z, W, mean, Theta, bias):  # type: ignore[no-untyped-def]
    """Sum of all terms but the constant; constraints are taken to hold.

    Parameters
    ----------
    X, Y, H, numbers, n_unseen, Z, W, mean, Theta, bias
        As for `residuals`.

    Returns
    -------
    float
        The objective.
    """
    n, l = Z.shape
    seen = l - n_unseen
    R = np.dot(Z, W)
    P = np.dot(Z, Theta)
    value, squares = 0.0, 0.0
    for i in range(n):
        for j in range(X.shape[1]):
            rest = X[i, j] - mean[j] - R[i, j]
            squares += rest * rest
        for j in range(Y.shape[1]):
            value += H[i, j] * max(numbers.margin - Y[i, j] * (P[i, j] + bias[j]), 0.0)
    value += numbers.a * squares
    value += numbers.z_ridge * _size(Z[:, :seen]) ** 2 + numbers.w_ridge * _size(W) ** 2
    value += numbers.theta_ridge * _size(Theta) ** 2
    for j in range(bias.size):
        value += numbers.bias_ridge * bias[j] * bias[j]
    return value
