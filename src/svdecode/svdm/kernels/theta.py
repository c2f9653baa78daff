"""The Θ step: one linear support vector machine per label on the low-dimensional coordinates."""

import numpy as np

from svdecode.svdm.kernels.active_set import active_set
from svdecode.svdm.kernels.bounds import BALL, NONE
from svdecode.svdm.kernels.dual_descent import hinge_coordinate_descent
from svdecode.svdm.kernels.interior import interior_point
from svdecode.svdm.kernels.linalg import kernel

SWEEPS = 20  # of coordinate descent before the interior point takes over,
PATIENCE = 1e-3  # or fewer: relative gap wanted after five sweeps, a tenth of it after five more
MAX_ITER = 200
TOL = 1e-12
TIED = 1e-9  # share of the margin
WARM_ROUNDS = 25  # of active sets, from the multipliers of the last step,
ROUNDS = 10  # or from a solution to TOL


@kernel
def _one_sided(A, y, index, margin, H, constraint):  # type: ignore[no-untyped-def]
    """Value of θ_0 that meets every margin at no cost, or 0 where there is none.

    With one class and a free bias the minimizers are unbounded and the interior point diverges.
    """
    if constraint != NONE or H[0] != 0.0:
        return 0.0
    smallest, sign = np.inf, 0.0
    for i in index:
        value = y[i] * A[i, 0]
        if value == 0.0 or value * sign < 0.0:
            return 0.0
        sign = 1.0 if value > 0.0 else -1.0
        smallest = min(smallest, abs(value))
    return sign * margin / smallest * (1.0 + 1e-15)


@kernel
def hinge_interior_point(A, y, c, margin, H, constraint, radius, max_iter, tol):  # type: ignore[no-untyped-def]
    """Minimize ½θᵀdiag(H)θ + Σ_i c_i max(margin − y_i (Aθ)_i, 0), θ free, in a box or in a ball.

    Pereira & Gordon 2006, §2.3 (ball); the new formulation, §2 (H = 1); Xi 2007, (3) (box) and
    Part V (H_0 = 0: bias free).

    Parameters
    ----------
    A : (n, p) array
        Design matrix, with its column of ones where there is a bias.
    y : (n,) array
        Labels in {−1, 1}; 0 switches a sample off.
    c : (n,) array
        Hinge weights ≥ 0; 0 switches a sample off.
    margin : float
        Hinge margin μ ≥ 0.
    H : (p,) array
        Diagonal of the quadratic, ≥ 0.
    constraint : int
        0 none, 1 box |θ_j| ≤ radius, 2 ball ‖θ‖ ≤ radius.
    radius : float
        Of the box or ball.
    max_iter : int
        Iterations at most.
    tol : float
        Duality gap at which to stop, relative to max(f, 1e-6·margin·Σc).

    Returns
    -------
    theta : (p,) array
        Minimizer; of all minimizers 0 if every sample is off or the margin is 0.
    lam : (n,) array
        Multipliers of the hinges, in [0, c]; 0 for samples that are off.
    n_iter : int
        Iterations used.
    ok : bool
        Whether the relative gap is at most 1e-7.
    """
    p = A.shape[1]
    lam, theta = np.zeros(y.size), np.zeros(p)
    index = _switched_on(y, c)
    if index.size == 0 or margin <= 0.0:
        return theta, lam, 0, True
    theta[0] = _one_sided(A, y, index, margin, H, constraint)
    if theta[0] != 0.0:
        return theta, lam, 0, True
    signed, margins, weights = _signed(A, y, c, margin, index)
    theta, lam_on, n_iter, ok = interior_point(
        signed, margins, weights, H, np.zeros(p), constraint, radius, max_iter, tol
    )
    lam[index] = lam_on
    return theta, lam, n_iter, ok


@kernel
def _switched_on(y, c):  # type: ignore[no-untyped-def]
    """Samples that count."""
    index = np.empty(y.size, dtype=np.int64)
    n_on = 0
    for i in range(y.size):
        if y[i] != 0.0 and c[i] > 0.0:
            index[n_on] = i
            n_on += 1
    return index[:n_on]


@kernel
def _signed(A, y, c, margin, index):  # type: ignore[no-untyped-def]
    """Rows times their labels, margins and weights of the samples that count."""
    signed, weights = np.empty((index.size, A.shape[1])), np.empty(index.size)
    for row in range(index.size):
        i = index[row]
        weights[row] = c[i]
        for j in range(A.shape[1]):
            signed[row, j] = y[i] * A[i, j]
    return signed, np.full(index.size, margin), weights


@kernel
def _by_active_sets(A, y, c, margin, H, constraint, radius, theta, lam, rounds):  # type: ignore[no-untyped-def]
    """Put the exact solution in the place of (θ, λ) nearby; False, and nothing changed, if it is too far."""
    index = _switched_on(y, c)
    if index.size == 0 or margin <= 0.0 or _one_sided(A, y, index, margin, H, constraint) != 0.0:
        return False
    signed, margins, weights = _signed(A, y, c, margin, index)
    better, lam_on, ok = active_set(
        signed, margins, weights, H, constraint, radius, theta, lam[index], rounds, TOL
    )
    if ok:
        theta[:] = better
        lam[index] = lam_on
    return ok


@kernel
def _is_tied(A, y, margin, theta):  # type: ignore[no-untyped-def]
    """Whether most samples lie on their margin: active sets would take them one by one.

    The Z step puts samples there, all with λ within its bounds.
    """
    ties, count = 0, 0
    for i in range(y.size):
        slack, count = margin, count + (y[i] != 0.0)
        for j in range(theta.size):
            slack -= y[i] * A[i, j] * theta[j]
        ties += y[i] != 0.0 and abs(slack) <= TIED * margin
    return ties > max(count // 2, theta.size)


@kernel
def theta_step(A, Y, C, margin, H, constraint, radius, lam_warm, Theta_warm=None):  # type: ignore[no-untyped-def]
    """Minimize ½θ_jᵀdiag(H)θ_j + Σ_i C_ij max(margin − Y_ij (AΘ)_ij, 0) for every label j.

    Active sets from the last step's solution, in a ball or without constraint; where there is none or they
    do not get there, at most 20 sweeps of dual coordinate descent if every H_j > 0, or else the interior
    point, and active sets take what that found to rounding.

    Parameters
    ----------
    A : (n, p) array
        Design matrix, with its column of ones where there is a bias.
    Y : (n, k) array
        Labels in {−1, 1}; 0 switches an entry off.
    C : (n, k) array
        Hinge weights ≥ 0.
    margin : float
        Hinge margin μ ≥ 0.
    H : (p,) array
        Diagonal of the quadratic, ≥ 0.
    constraint : int
        0 none, 1 box |θ| ≤ radius, 2 ball ‖θ_j‖ ≤ radius.
    radius : float
        Of the box or ball.
    lam_warm : (n, k) array
        Multipliers to start from: zeros, or those of the last step.
    Theta_warm : (p, k) array, optional
        The last step's minimizers, at which active sets start.

    Returns
    -------
    Theta : (p, k) array
        Minimizers.
    Lam : (n, k) array
        Multipliers, in [0, C].
    """
    n, p = A.shape
    k = Y.shape[1]
    Theta, Lam = np.zeros((p, k)), np.zeros((n, k))
    y, c, lam = np.empty(n), np.empty(n), np.empty(n)
    max_iter = int(MAX_ITER)  # int(): a constant would be compiled in, once more
    descends = constraint == NONE and np.min(H) > 0.0
    free_bias = constraint == NONE and H[0] == 0.0 and p > 1 and np.min(H[1:]) > 0.0
    has_sets = descends or (constraint == BALL and np.max(H) == 0.0)
    has_sets = has_sets or (free_bias and np.all(A[:, 0] != 0.0))
    for label in range(k):
        for i in range(n):
            y[i], c[i] = Y[i, label], C[i, label]
            lam[i] = min(max(lam_warm[i, label], 0.0), c[i]) if y[i] != 0.0 else 0.0
        converged, exact = False, False
        if has_sets and (constraint == BALL or np.any(lam)):
            theta, solved = np.zeros(p), lam.copy()
            if Theta_warm is not None:
                theta[:] = Theta_warm[:, label]
            if constraint == BALL or not _is_tied(A, y, margin, theta):
                exact = _by_active_sets(
                    A, y, c, margin, H, constraint, radius, theta, solved, int(WARM_ROUNDS)
                )
        if descends and not exact:
            theta, solved, _, converged = hinge_coordinate_descent(
                A, y, c, margin, H, lam, SWEEPS, PATIENCE, TOL
            )
        if not (converged or exact):
            theta, solved, _, _ = hinge_interior_point(A, y, c, margin, H, constraint, radius, max_iter, TOL)
        if has_sets and not exact:
            _by_active_sets(A, y, c, margin, H, constraint, radius, theta, solved, int(ROUNDS))
        Theta[:, label] = theta
        Lam[:, label] = solved
    return Theta, Lam
