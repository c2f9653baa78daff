"""What a reduction promises, said once for all tests of it."""

import numpy as np


def centered(X):
    X = np.asarray(X, dtype=float)
    return X - X.mean(axis=0)


def assert_reduces(reduction, X, X_new, *, center=True):
    """Same geometry as the rows, orthonormal basis, exact way back, same projections of new rows."""
    X, X_new = np.asarray(X, dtype=float), np.asarray(X_new, dtype=float)
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    Xc, Nc = X - mean, X_new - mean
    energy = max(np.linalg.norm(Xc), 1e-12 * np.linalg.norm(X)) ** 2
    L = reduction.coordinates
    assert L.dtype == np.float64
    np.testing.assert_allclose(L @ L.T, Xc @ Xc.T, atol=1e-13 * energy)
    Q = reduction.lift(np.eye(reduction.rank))
    if reduction.dual is not None:
        np.testing.assert_allclose(Q @ Q.T, np.eye(reduction.rank), atol=1e-9)
    scale = np.sqrt(energy)
    np.testing.assert_allclose(reduction.lift(L), Xc, atol=1e-10 * scale)
    np.testing.assert_allclose(reduction.mean, mean, atol=1e-13 * np.abs(X).max())
    np.testing.assert_allclose(reduction.transform(X_new), Nc @ Q.T, atol=1e-10 * np.linalg.norm(Nc))
    np.testing.assert_allclose(reduction.transform(X), L, atol=1e-10 * scale)
