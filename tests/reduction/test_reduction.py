"""The front door: coordinates of rows in their own span, and back, whatever the data come as."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from svdecode.reduction import SharedGram, kernel_matrix, reduce_rows
from svdecode.reduction import rows as rows_module

METHODS = ["gram", "lq", "features"]


def centered(X):
    return np.asarray(X, dtype=float) - np.asarray(X, dtype=float).mean(axis=0)


def assert_reduces(reduction, X, X_new, *, center=True, rtol=1e-9):
    """Same geometry as the rows, orthonormal basis, exact way back, same projections of new rows."""
    X, X_new = np.asarray(X, dtype=float), np.asarray(X_new, dtype=float)
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    Xc, Nc = X - mean, X_new - mean
    scale = np.abs(Xc).max() + np.abs(mean).max() * 1e-6
    L = reduction.coordinates
    np.testing.assert_allclose(L @ L.T, Xc @ Xc.T, atol=rtol * scale**2 * X.shape[1])
    Q = reduction.lift(np.eye(reduction.rank))
    if reduction.dual is not None:
        np.testing.assert_allclose(Q @ Q.T, np.eye(reduction.rank), atol=1e-7)
    np.testing.assert_allclose(reduction.lift(L), Xc, atol=rtol * scale)
    np.testing.assert_allclose(reduction.mean, mean, rtol=1e-6, atol=rtol * scale)
    np.testing.assert_allclose(reduction.transform(X_new), Nc @ Q.T, atol=rtol * scale * X.shape[1])
    np.testing.assert_allclose(reduction.transform(X), L, atol=rtol * scale * X.shape[1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(6, 40), (12, 12), (30, 7), (1, 9), (2, 1), (9, 1)])
def test_geometry_and_way_back(method, center, shape):
    rng = np.random.default_rng(3)
    X, X_new = rng.standard_normal(shape), rng.standard_normal((4, shape[1]))
    assert_reduces(reduce_rows(X, center=center, method=method), X, X_new, center=center)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    n=st.integers(1, 12), m=st.integers(1, 30), rank=st.integers(0, 12),
    center=st.booleans(), method=st.sampled_from(METHODS), seed=st.integers(0, 10**6),
    duplicates=st.booleans(), exponent=st.integers(-6, 6),
)  # fmt: skip
def test_any_rank_any_scale(n, m, rank, center, method, seed, duplicates, exponent):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) * 10.0**exponent
    if duplicates and n > 2:
        X[1] = X[0]
    reduction = reduce_rows(X, center=center, method=method)
    expected = np.linalg.matrix_rank(centered(X) if center else X, tol=1e-10 * 10.0**exponent)
    if method != "features":
        assert reduction.rank == expected
    np.testing.assert_allclose(
        reduction.lift(reduction.coordinates) + reduction.mean, X, atol=1e-8 * 10.0**exponent * max(rank, 1)
    )


@pytest.mark.parametrize("method", ["gram", "lq"])
def test_rows_that_are_all_equal_have_rank_zero(method):
    X = np.full((5, 30), 0.1)
    reduction = reduce_rows(X, method=method)
    assert reduction.coordinates.shape == (5, 0)
    np.testing.assert_allclose(reduction.lift(np.zeros((2, 0))), np.zeros((2, 30)))
    np.testing.assert_allclose(reduction.mean, 0.1)
    assert reduction.transform(X).shape == (5, 0)
    assert reduce_rows(X, method=method, center=False).rank == 1


@pytest.mark.parametrize("method", ["gram", "lq"])
def test_a_large_common_image_costs_no_digits(method):
    """Raw scanner units: a mean of 1e4 with deviations of 1 leaves the deviations' geometry exact."""
    rng = np.random.default_rng(0)
    deviations = rng.standard_normal((8, 500))
    X = deviations + 1e4 * rng.random(500)
    L = reduce_rows(X, method=method).coordinates
    assert L.shape[1] == 7
    exact = centered(deviations) @ centered(deviations).T
    np.testing.assert_allclose(L @ L.T, exact, rtol=1e-8, atol=1e-8 * exact.max())


def storages(X, tmp_path):
    path = tmp_path / "X.dat"
    on_disk = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    on_disk[:] = X
    on_disk.flush()
    columns = [f"v{j}" for j in range(X.shape[1])]
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "memmap": np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape),
        "csr": sp.csr_matrix(X),
        "csc array": sp.csc_array(X),
        "pandas": pd.DataFrame(X, columns=columns),
        "polars": pl.DataFrame(X, schema=columns),
        "list": X.tolist(),
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 50), (30, 6)])
def test_every_storage_gives_the_same_reduction(tmp_path, monkeypatch, dtype, shape):
    monkeypatch.setattr(rows_module, "BLOCK_BYTES", 8 * 7 * 11)  # several blocks, the last one smaller
    rng = np.random.default_rng(1)
    X = (rng.standard_normal(shape) * (rng.random(shape) < 0.4) + 0.5 * (rng.random(shape) < 0.1)).astype(
        dtype
    )
    X_new = rng.standard_normal((3, shape[1])).astype(dtype)
    for name, stored in storages(X, tmp_path).items():
        for method in ("auto", "gram"):
            reduction = reduce_rows(stored, method=method)
            assert reduction.coordinates.dtype == np.float64, name
            assert_reduces(reduction, X, X_new)


def test_float32_is_accumulated_in_float64(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((10, 4000)).astype(np.float32)
    L = reduce_rows(X, center=False).coordinates
    exact = X.astype(np.float64) @ X.astype(np.float64).T
    np.testing.assert_allclose(L @ L.T, exact, rtol=1e-12, atol=1e-11 * exact.max())


def test_sparse_data_are_never_densified_whole(monkeypatch):
    X = sp.random(40, 20_000, density=1e-3, random_state=0, format="csr")

    def refuse(*args, **kwargs):
        raise AssertionError("the whole matrix was densified")

    monkeypatch.setattr(
        type(X),
        "toarray",
        lambda self, *a, **k: (
            refuse() if self.shape == X.shape else np.asarray(sp.coo_matrix(self).todense())
        ),
    )
    reduction = reduce_rows(X)
    lifted = reduction.lift(reduction.coordinates[:1]) + reduction.mean
    np.testing.assert_allclose(lifted[0], np.asarray(X[[0]].todense())[0], atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "precomputed", rbf_kernel])
def test_kernel_coordinates_have_the_kernels_inner_products(kernel):
    rng = np.random.default_rng(4)
    X, X_new = rng.standard_normal((9, 4)), rng.standard_normal((5, 4))
    params = {"gamma": 0.3, "degree": 2, "coef0": 1.0} if kernel in ("rbf", "polynomial") else {}
    if kernel == "precomputed":
        both = rbf_kernel(np.vstack([X, X_new]))
        K, cross, data, new = both[:9, :9], both[9:, :9], both[:9, :9], both[9:, :9]
    else:
        K, cross = kernel_matrix(X, X, kernel, **params), kernel_matrix(X_new, X, kernel, **params)
        data, new = X, X_new
    for center in (False, True):
        reduction = reduce_rows(data, kernel=kernel, center=center, method="gram", **params)
        H = np.eye(9) - center / 9
        expected = H @ K @ H
        np.testing.assert_allclose(reduction.coordinates @ reduction.coordinates.T, expected, atol=1e-10)
        expected_cross = (cross - center * K.mean(axis=0)) @ H
        np.testing.assert_allclose(
            reduction.transform(new) @ reduction.coordinates.T, expected_cross, atol=1e-8
        )


def test_polynomial_kernel_equals_explicit_features():
    rng = np.random.default_rng(5)
    X, X_new = rng.standard_normal((8, 2)), rng.standard_normal((3, 2))

    def features(A):  # (aᵀb + 1)² = φ(a)ᵀφ(b)
        root = np.sqrt(2)
        return np.column_stack([
            np.ones(len(A)), root * A[:, 0], root * A[:, 1],
            A[:, 0] ** 2, A[:, 1] ** 2, root * A[:, 0] * A[:, 1],
        ])  # fmt: skip

    by_kernel = reduce_rows(X, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0)
    explicit = reduce_rows(features(X), method="gram")
    assert by_kernel.rank == explicit.rank == 5
    distances = [
        np.linalg.norm(r.transform(new)[:, None] - r.coordinates[None], axis=2)
        for r, new in ((by_kernel, X_new), (explicit, features(X_new)))
    ]
    np.testing.assert_allclose(*distances, rtol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_fold_is_a_sub_block_of_the_full_gram_matrix(kernel):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((20, 300)) + 50 * rng.random(300)
    params = {"gamma": 1e-2} if kernel == "rbf" else {}
    shared = SharedGram(X, kernel, **params)
    train, test = np.array([0, 3, 4, 5, 9, 12, 13, 19]), np.array([1, 2, 18])
    fold = shared.reduce(train)
    alone = reduce_rows(X[train], kernel=kernel, **params)
    assert fold.rank == alone.rank == 7
    np.testing.assert_allclose(
        fold.coordinates @ fold.coordinates.T, alone.coordinates @ alone.coordinates.T, rtol=1e-9, atol=1e-9
    )
    for coordinates in (fold.transform_rows(test), fold.transform(X[test])):
        np.testing.assert_allclose(
            coordinates @ fold.coordinates.T, alone.transform(X[test]) @ alone.coordinates.T, atol=1e-7
        )
    if kernel == "linear":
        np.testing.assert_allclose(fold.lift(fold.coordinates) + fold.mean, X[train], atol=1e-8)
        mask = np.isin(np.arange(20), train)
        np.testing.assert_array_equal(shared.reduce(mask).coordinates, fold.coordinates)


def test_test_rows_do_not_move_the_fold():
    """Nothing of the test rows enters: whatever they hold, the fold's geometry is the same."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((10, 100))
    other = X.copy()
    other[7:] = 30 * rng.standard_normal((3, 100))
    L, M = (SharedGram(data).reduce(np.arange(7)).coordinates for data in (X, other))
    np.testing.assert_allclose(L @ L.T, M @ M.T, atol=1e-9 * 900)


def test_energy_below_the_rank_tolerance_is_reported():
    rng = np.random.default_rng(8)
    strong, weak = rng.standard_normal((2, 6, 100))
    X = np.outer(np.arange(6.0), strong[0]) + 1e-9 * weak
    reduction = reduce_rows(X, method="gram")
    assert reduction.rank == 1
    assert 0 <= reduction.discarded_energy < 1e-15
    assert reduce_rows(X, method="lq").rank == 5


BAD = {
    "NaN": (lambda X: np.where(X[2, 3] == X, np.nan, X), {}, r"X contains NaN \(first in row 2, column 3\)"),
    "infinity": (lambda X: np.where(X[0, 0] == X, np.inf, X), {}, r"X contains infinity"),
    "overflow": (lambda X: 1e200 * X, {}, r"X: values are so large"),
    "one dimension": (lambda X: X[0], {}, r"X: found an array of shape \(8,\), expected two dimensions"),
    "empty": (lambda X: X[:0], {}, r"X: found an array of shape \(0, 8\), expected at least one sample"),
    "text": (lambda X: np.full((3, 2), "a"), {}, r"X: found values that are no numbers"),
    "complex": (lambda X: X * 1j, {}, r"X: found complex numbers"),
    "text column": (
        lambda X: pd.DataFrame({"v1": X[:, 0], "who": list("abcde")}), {}, r"X: found columns .*\(who\)"
    ),
    "kernel name": (lambda X: X, {"kernel": "rfb"}, r"kernel: found 'rfb', expected one of 'linear'"),
    "method": (lambda X: X, {"method": "qr"}, r"method: found 'qr', expected one of 'auto'"),
    "not square": (lambda X: X, {"kernel": "precomputed"}, r"X: found a kernel matrix of shape \(5, 8\)"),
    "not symmetric": (lambda X: X[:, :5], {"kernel": "precomputed"}, r"X: .*not symmetric"),
    "indefinite": (
        lambda X: np.diag([1.0, 1, 1, 1, -1]), {"kernel": "precomputed", "center": False},
        r"kernel: .*eigenvalue -1",
    ),
    "callable": (lambda X: X, {"kernel": lambda a, b: 1.0}, r"kernel: the callable returned shape"),
    "sparse lq": (lambda X: sp.csr_matrix(X), {"method": "lq"}, r"method: found 'lq' with a sparse X"),
    "sparse NaN": (lambda X: sp.csr_matrix(np.where(X[2, 3] == X, np.nan, X)), {}, r"X contains NaN"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_bad_input_names_the_argument(case):
    make, params, message = BAD[case]
    X = np.random.default_rng(9).standard_normal((5, 8))
    with pytest.raises(ValueError, match=message):
        reduce_rows(make(X), **params)


def test_new_rows_with_other_features_are_refused():
    X = np.random.default_rng(10).standard_normal((5, 8))
    for reduction in (reduce_rows(X), reduce_rows(X.T), reduce_rows(X, kernel="rbf")):
        with pytest.raises(ValueError, match=r"X: found 3 features, expected [85]"):
            reduction.transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="kernel"):
        reduce_rows(X, kernel="rbf").lift(np.ones((1, 4)))
    with pytest.raises(ValueError, match="kernel"):
        _ = reduce_rows(X, kernel="rbf").mean
    with pytest.raises(ValueError, match="X contains NaN"):
        reduce_rows(X).transform(np.full((1, 8), np.nan))


def test_polynomial_values_are_scikit_learns():
    A = np.random.default_rng(11).standard_normal((4, 3))
    np.testing.assert_allclose(
        kernel_matrix(A, A, "polynomial", degree=2, gamma=0.5, coef0=2), polynomial_kernel(A, A, 2, 0.5, 2)
    )
