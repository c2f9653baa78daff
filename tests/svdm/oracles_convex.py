"""The trace-norm problem behind `balanced` as a semidefinite model, solved by Clarabel."""

import cvxpy as cp
import numpy as np


def trace_norm_optimum(Xs, Y, shrinkage, l, margin=1.0, weights=1.0, a=1.0, ridge=0.0):
    """min over M₁, M₂, b, w₀ of a‖X − 1w₀ − M₁‖² + hinge(M₂ + 1b) + the least penalties with Z[W Θ] = M.

    d_Z‖Z‖² + d_W‖W‖² + d_Θ‖Θ‖² is at least 2‖[√(d_Z d_W) M₁, √(d_Z d_Θ) M₂]‖_*, with equality for some Z.
    """
    n, m = Xs.shape
    k = Y.shape[1]
    d_z, d_w, d_theta = shrinkage / (n * l), shrinkage / (l * m) + a * ridge / (n * m), shrinkage / (l * k)
    U, s, _ = np.linalg.svd(Xs - Xs.mean(axis=0), full_matrices=False)
    C = (U * s)[:, s > 1e-10 * s[0]]  # the same problem in fewer columns
    fit, scores = cp.Variable(C.shape), cp.Variable((n, k))
    mean, bias = cp.Variable((1, C.shape[1])), cp.Variable((1, k))
    slack = cp.Variable((n, k), nonneg=True)
    ones = np.ones((n, 1))
    value = (
        cp.sum_squares(C - ones @ mean - fit) * (a / (n * m))
        + cp.sum(cp.multiply(np.abs(Y) * weights / (n * k), slack))
        + 2 * cp.normNuc(cp.hstack([np.sqrt(d_z * d_w) * fit, np.sqrt(d_z * d_theta) * scores]))
    )
    problem = cp.Problem(cp.Minimize(value), [slack >= margin - cp.multiply(Y, scores + ones @ bias)])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert problem.status == "optimal"
    return float(problem.value)


def indicator(y):
    return np.where(np.isnan(y), 0.0, 2 * np.nan_to_num(y) - 1)
