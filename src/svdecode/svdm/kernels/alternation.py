"""One sweep of alternating minimization: W, then Θ, then Z, each exactly (Pereira & Gordon 2006, §2.4)."""

import numpy as np

from svdecode.svdm.kernels.basis import w_step
from svdecode.svdm.kernels.coordinates import z_step
from svdecode.svdm.kernels.linalg import kernel
from svdecode.svdm.kernels.stationarity import objective_value
from svdecode.svdm.kernels.theta import theta_step

ROUNDING = 1e-15  # relative error of an eigenvalue


@kernel
def basis_step(X, numbers, Z, W, mean):  # type: ignore[no-untyped-def]
    """W step, in place: min a‖X − 1w₀ − ZW‖² + w_ridge‖W‖², rows of W as they must be.

    X is centered, so a free w₀ is −z̄W, and what is left is the same problem with Z centered.
    """
    l = Z.shape[1]
    shift = np.zeros(l)
    if numbers.mean_is_free:
        for j in range(l):
            shift[j] = Z[:, j].mean()
    centered = Z - shift
    transposed = np.ascontiguousarray(centered.T)
    S = np.dot(transposed, centered)
    R = np.dot(transposed, X)
    W[:] = w_step(S, R, numbers.w_ridge / numbers.a, numbers.w_rows, W)
    mean[:] = -np.dot(shift, W)


@kernel
def scale_start(numbers, Z):  # type: ignore[no-untyped-def]
    """Coordinates as large as the penalty or the ball on them wants a start to be, in place."""
    n, l = Z.shape
    if np.isfinite(numbers.z_radius):
        longest = 1e-300
        for i in range(n):
            longest = max(longest, np.sqrt((Z[i] ** 2).sum()))
        Z *= numbers.z_radius / longest
    elif numbers.z_ridge > 0.0:
        for j in range(l):
            norm = np.sqrt((Z[:, j] ** 2).sum())
            if norm > 0.0:
                Z[:, j] *= np.sqrt(n) / norm


@kernel
def design(Z, has_bias):  # type: ignore[no-untyped-def]
    """[1 Z] where there is a bias, else Z."""
    if not has_bias:
        return Z.copy()
    out = np.ones((Z.shape[0], Z.shape[1] + 1))
    out[:, 1:] = Z
    return out


@kernel
def theta_quadratic(numbers, l):  # type: ignore[no-untyped-def]
    """Diagonal of the quadratic of Θ's problem, ½θᵀHθ, bias first where there is one."""
    first = 1 if numbers.has_bias else 0
    out = np.full(l + first, 2.0 * numbers.theta_ridge)
    if numbers.has_bias:
        out[0] = 2.0 * numbers.bias_ridge
    return out


@kernel
def discriminant_step(Y, H, numbers, Z, Theta, bias, Lam):  # type: ignore[no-untyped-def]
    """Θ step, in place: a linear support vector machine for each label."""
    A = design(Z, numbers.has_bias)
    quadratic = theta_quadratic(numbers, Z.shape[1])
    warm = np.zeros((A.shape[1], Theta.shape[1]))
    warm[warm.shape[0] - Theta.shape[0] :] = Theta
    if numbers.has_bias:
        warm[0] = bias
    solved, multipliers = theta_step(
        A, Y, H, numbers.margin, quadratic, numbers.theta_constraint, numbers.theta_radius, Lam, warm
    )
    if numbers.has_bias:
        bias[:] = solved[0]
        Theta[:] = solved[1:]
    else:
        Theta[:] = solved
    Lam[:] = multipliers


@kernel
def z_quadratic(X, numbers, W, mean):  # type: ignore[no-untyped-def]
    """Z's quadratic zᵀAz − 2cᵀz: A = aWWᵀ + z_ridge I and the rows c_i = a W(x_i − w₀)."""
    transposed = np.ascontiguousarray(W.T)
    A = numbers.a * np.dot(W, transposed)
    for j in range(W.shape[0]):
        A[j, j] += numbers.z_ridge
    C = numbers.a * (np.dot(X, transposed) - np.dot(mean, transposed))
    return A, C


@kernel
def coordinate_step(X, Y, H, numbers, Z, W, mean, Theta, bias, Lam):  # type: ignore[no-untyped-def]
    """Z step, in place: all samples at once, each an SVM-like problem with A in common."""
    A, C = z_quadratic(X, numbers, W, mean)
    solved, multipliers = z_step(C, A, Theta, bias, Y, H, numbers.margin, numbers.z_radius, Lam, Z)
    Z[:] = solved
    Lam[:] = multipliers


@kernel
def rebalance(Z, W, mean, Theta, bias, d_z, d_w, d_theta):  # type: ignore[no-untyped-def]
    """Take the three penalties to their minimum over all (ZM, M⁻¹W, M⁻¹Θ) and shifts of Z, in place.

    Center Z; then with Σ² the eigenvalues of d_Z·ZᵀZ times (d_W WWᵀ + d_Θ ΘΘᵀ), both Gram matrices
    become Σ: the factors U√Σ and √ΣVᵀ of √d_Z·Z [√d_W W, √d_Θ Θ] = UΣVᵀ, without its large SVD.
    """
    l = Z.shape[1]
    for j in range(l):
        shift = Z[:, j].mean()
        for i in range(Z.shape[0]):
            Z[i, j] -= shift
        mean += shift * W[j]
        bias += shift * Theta[j]
    G = d_z * np.dot(np.ascontiguousarray(Z.T), Z)
    K = d_w * np.dot(W, np.ascontiguousarray(W.T)) + d_theta * np.dot(Theta, np.ascontiguousarray(Theta.T))
    to_new, to_old = balancing(G, K)
    Z[:] = np.dot(Z, to_new)
    W[:] = np.dot(to_old, W)
    Theta[:] = np.dot(to_old, Theta)


@kernel
def balancing(G, K):  # type: ignore[no-untyped-def]
    """M and M⁻¹ such that MᵀGM = M⁻¹KM⁻ᵀ = Σ is diagonal, largest first.

    Eigenvalues below rounding are lifted to it: M stays invertible, so ZM and M⁻¹W have the same
    product, and what dead directions cost is of the order of rounding.
    """
    l = G.shape[0]
    sizes, U = np.linalg.eigh(G)
    if not sizes[l - 1] > 0.0:
        return np.eye(l), np.eye(l)
    root = np.sqrt(np.maximum(sizes, ROUNDING * sizes[l - 1]))
    half = U * root  # G = half halfᵀ
    squares, V = np.linalg.eigh(np.dot(np.ascontiguousarray(half.T), np.dot(K, half)))
    if not squares[l - 1] > 0.0:
        return np.eye(l), np.eye(l)
    ordered = np.ascontiguousarray(V[:, ::-1])
    scale = np.maximum(squares[::-1], ROUNDING * squares[l - 1]) ** 0.25  # √Σ
    to_new = np.dot(U / root, ordered) * scale  # M = half⁻ᵀ V √Σ
    to_old = np.dot(np.ascontiguousarray((ordered / scale).T), np.ascontiguousarray(half.T))
    return to_new, to_old


@kernel
def sweep(X, Y, H, numbers, Z, W, mean, Theta, bias, Lam_theta, Lam_z, balances):  # type: ignore[no-untyped-def]
    """One sweep over the blocks, in place; the objective never rises.

    Parameters
    ----------
    X : (n, r) array
        Centered rows in reduced coordinates.
    Y, H : (n, k) arrays
        Labels, and hinge weights (0 where a label is 0).
    numbers : Numbers
        Of the objective.
    Z, W, mean, Theta, bias : arrays
        The factors, overwritten.
    Lam_theta, Lam_z : (n, k) arrays
        Multipliers of the Θ and the Z step, to start from; overwritten.
    balances : bool
        Whether to re-balance the factors after the sweep (`balanced` only).

    Returns
    -------
    float
        The objective after the sweep, without its constant.
    """
    basis_step(X, numbers, Z, W, mean)
    discriminant_step(Y, H, numbers, Z, Theta, bias, Lam_theta)
    coordinate_step(X, Y, H, numbers, Z, W, mean, Theta, bias, Lam_z)
    if balances:
        rebalance(Z, W, mean, Theta, bias, numbers.z_ridge, numbers.w_ridge, numbers.theta_ridge)
    return objective_value(X, Y, H, numbers, 0, Z, W, mean, Theta, bias)


@kernel
def alternate(  # type: ignore[no-untyped-def]
    X, Y, H, numbers, constant, Z, W, mean, Theta, bias, Lam_theta, Lam_z, balances, tol, history
):
    """Sweeps until one lowers the objective by at most the share `tol`, in place.

    Parameters
    ----------
    X, Y, H, numbers, Z, W, mean, Theta, bias, Lam_theta, Lam_z, balances
        As for `sweep`.
    constant : float
        What the formulation adds that depends on no variable.
    tol : float
        Share of the objective.
    history : (max_iter,) array
        Overwritten by the objective after each sweep, the lowest so far.

    Returns
    -------
    n_iter : int
        Sweeps made.
    converged : bool
        Whether the rule was met.
    """
    for n in range(history.size):
        value = constant + sweep(X, Y, H, numbers, Z, W, mean, Theta, bias, Lam_theta, Lam_z, balances)
        history[n] = value if n == 0 else min(value, history[n - 1])
        if n > 0 and history[n - 1] - history[n] <= tol * abs(history[n - 1]):
            return n + 1, True
    return history.size, False
