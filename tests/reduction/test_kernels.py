"""Coordinates in a kernel's feature space."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from svdecode.reduction import SharedGram, kernel_matrix, reduce_rows

RNG_SEED = 4


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "precomputed", laplacian_kernel])
def test_kernel_coordinates_have_the_kernels_inner_products(kernel, center):
    rng = np.random.default_rng(RNG_SEED)
    X, X_new = rng.standard_normal((9, 14)), rng.standard_normal((5, 14))
    params = {"gamma": 0.03, "degree": 2, "coef0": 1.0} if kernel in ("rbf", "polynomial") else {}
    both = np.vstack([X, X_new])
    K_both = {
        "linear": lambda: both @ both.T,
        "rbf": lambda: np.exp(-0.03 * ((both[:, None] - both[None]) ** 2).sum(axis=2)),
        "polynomial": lambda: (0.03 * both @ both.T + 1) ** 2,
        "precomputed": lambda: laplacian_kernel(both),
        laplacian_kernel: lambda: laplacian_kernel(both),
    }[kernel]()
    K, cross = K_both[:9, :9], K_both[9:, :9]
    data, new = (K, cross) if kernel == "precomputed" else (X, X_new)
    reduction = reduce_rows(data, kernel=kernel, center=center, method="gram", **params)
    L = reduction.coordinates
    H = np.eye(9) - center / 9
    np.testing.assert_allclose(L @ L.T, H @ K @ H, atol=1e-13 * np.trace(K))
    expected = (cross - center * K.mean(axis=0)) @ H
    np.testing.assert_allclose(reduction.transform(new) @ L.T, expected, atol=1e-11 * np.trace(K))
    np.testing.assert_allclose(reduction.transform(data), L, atol=1e-11 * np.sqrt(np.trace(K)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_named_kernels_are_scikit_learns(kernel, form, dtype):
    rng = np.random.default_rng(11)
    A, B = (rng.standard_normal((n, 6)).astype(dtype) for n in (4, 7))
    A64, B64 = A.astype(float), B.astype(float)
    expected = {
        "linear": lambda g: A64 @ B64.T,
        "rbf": lambda g: rbf_kernel(A64, B64, gamma=g),
        "polynomial": lambda g: polynomial_kernel(A64, B64, degree=2, gamma=g, coef0=2),
    }[kernel]
    for gamma in (None, 0.7):
        values = kernel_matrix(form(A), form(B), kernel, degree=2, gamma=gamma, coef0=2)
        np.testing.assert_allclose(values, expected(gamma), rtol=1e-12, atol=1e-13)


def test_rbf_of_a_row_with_itself_is_one():
    """Far from the origin too, where distances from inner products would lose their digits."""
    X = np.random.default_rng(12).standard_normal((6, 40)) + 1e5
    K = kernel_matrix(X, X, "rbf", gamma=0.01)
    np.testing.assert_array_equal(K.diagonal(), 1.0)
    exact = np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(K, exact, rtol=1e-12)


def test_polynomial_kernel_equals_explicit_features():
    rng = np.random.default_rng(5)
    X, X_new = rng.standard_normal((8, 2)), rng.standard_normal((3, 2))

    def features(A):  # (aᵀb + 1)² = φ(a)ᵀφ(b)
        a, b = A.T
        root = np.sqrt(2)
        return np.column_stack([np.ones(len(A)), root * a, root * b, a**2, b**2, root * a * b])

    by_kernel = reduce_rows(X, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0)
    explicit = reduce_rows(features(X), method="gram")
    assert by_kernel.rank == explicit.rank == 5
    distances = [
        np.linalg.norm(r.transform(new)[:, None] - r.coordinates[None], axis=2)
        for r, new in ((by_kernel, X_new), (explicit, features(X_new)))
    ]
    np.testing.assert_allclose(*distances, rtol=1e-9)


def test_duplicates_and_equal_rows_under_a_kernel():
    X = np.random.default_rng(6).standard_normal((7, 30))
    X[3] = X[0]
    assert reduce_rows(X, kernel="rbf").rank == 5
    assert reduce_rows(X, kernel="rbf", center=False).rank == 6
    assert reduce_rows(np.tile(X[0], (4, 1)), kernel="rbf").rank == 0
    assert reduce_rows(X[:1], kernel="polynomial").rank == 0
    assert reduce_rows(X[:1], kernel="polynomial", center=False).rank == 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n", [10, 60, 150])
def test_centering_leaves_no_direction_of_its_own(n, kernel):
    """Rounding errors of the mean must not look like a direction: they add up in the last pivot."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 1000)) + 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(1000)
        gamma = 10.0 ** rng.uniform(-4, -3)
        doubled = np.vstack([X, X[:2]])
        shared = SharedGram(np.vstack([doubled, X]), kernel, gamma=gamma)
        reductions = [reduce_rows(rows, kernel=kernel, gamma=gamma) for rows in (X, doubled)]
        reductions += [shared.reduce(np.arange(n_rows)) for n_rows in (n, n + 2)]
        assert [reduction.rank for reduction in reductions] == [n - 1] * 4


def test_float32_kernel_values_are_those_of_the_same_numbers_in_float64():
    X = np.random.default_rng(7).standard_normal((6, 300)).astype(np.float32)
    for kernel in ("rbf", "polynomial"):
        single, double = (reduce_rows(A, kernel=kernel).coordinates for A in (X, X.astype(float)))
        np.testing.assert_allclose(single @ single.T, double @ double.T, atol=1e-13)


INDEFINITE = {
    "one negative": np.diag([1.0, 1, 1, 1, -1]),
    "zero diagonal": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "negative": -np.eye(3),
    "hidden below the diagonal": np.array([[1.0, 2.0], [2.0, 1.0]]),
}


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("name", INDEFINITE)
def test_indefinite_kernels_are_refused(name, center):
    with pytest.raises(ValueError, match="kernel: found a kernel matrix with the eigenvalue -"):
        reduce_rows(INDEFINITE[name], kernel="precomputed", center=center)


def test_indefinite_callable_is_refused():
    X = np.random.default_rng(8).standard_normal((5, 8))
    with pytest.raises(ValueError, match="kernel: found a kernel matrix with the eigenvalue -"):
        reduce_rows(X, kernel=lambda A, B: -(A @ B.T))
