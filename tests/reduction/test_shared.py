"""A fold's reduction is a sub-block of one Gram matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from geometry import assert_reduces
from sklearn.metrics.pairwise import laplacian_kernel

from svdecode.reduction import SharedGram, reduce_rows

TRAIN, TEST = np.array([0, 3, 4, 5, 9, 12, 13, 19]), np.array([1, 2, 18])


def data(offset=50.0):
    rng = np.random.default_rng(6)
    return rng.standard_normal((20, 300)) + offset * rng.random(300)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "precomputed", laplacian_kernel])
def test_a_fold_is_a_sub_block_of_the_full_gram_matrix(kernel):
    X = data()
    params = {"gamma": 1e-3} if kernel in ("rbf", "polynomial") else {}
    stored = laplacian_kernel(X) if kernel == "precomputed" else X
    train, test = (
        (stored[np.ix_(rows, TRAIN)] if kernel == "precomputed" else X[rows]) for rows in (TRAIN, TEST)
    )
    shared = SharedGram(stored, kernel, **params)
    fold = shared.reduce(TRAIN)
    alone = reduce_rows(train, kernel=kernel, method="gram", **params)
    assert fold.rank == alone.rank == 7
    L, M = fold.coordinates, alone.coordinates
    energy = np.vdot(L, L)
    np.testing.assert_allclose(L @ L.T, M @ M.T, atol=1e-11 * energy)
    expected = alone.transform(test) @ M.T
    np.testing.assert_allclose(fold.transform_rows(TEST) @ L.T, expected, atol=1e-10 * energy)
    new = stored[TEST] if kernel == "precomputed" else X[TEST]
    np.testing.assert_allclose(fold.transform(new) @ L.T, expected, atol=1e-10 * energy)


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, sp.csr_matrix, lambda X: X.astype(np.float32)]
)
def test_a_fold_goes_back_to_feature_space(form):
    X = form(data())
    dense = X.toarray() if sp.issparse(X) else X
    fold = SharedGram(X).reduce(TRAIN)
    assert_reduces(fold, dense[TRAIN], dense[TEST])
    np.testing.assert_allclose(fold.transform_rows(TEST), fold.transform(dense[TEST]), atol=1e-8)


def test_a_mask_chooses_the_same_rows_as_their_numbers():
    shared = SharedGram(data())
    mask = np.isin(np.arange(20), TRAIN)
    np.testing.assert_array_equal(shared.reduce(mask).coordinates, shared.reduce(TRAIN).coordinates)


def test_test_rows_do_not_move_the_fold():
    """Nothing of the test rows enters: whatever they hold, the fold's geometry is the same."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((10, 100))
    other = X.copy()
    other[7:] = 30 * rng.standard_normal((3, 100))
    L, M = (SharedGram(rows).reduce(np.arange(7)).coordinates for rows in (X, other))
    np.testing.assert_allclose(L @ L.T, M @ M.T, atol=1e-11 * 900)


def test_a_fold_far_from_the_other_rows_keeps_its_digits():
    """Two subjects 1e6 apart, trained on one of them: the common sub-block has lost what tells rows apart."""
    rng = np.random.default_rng(8)
    deviations = rng.standard_normal((12, 400))
    X = deviations + 1e6 * (np.arange(12) < 6)[:, None]
    fold = SharedGram(X).reduce(np.arange(6))
    own = deviations[:6] - deviations[:6].mean(axis=0)
    assert fold.rank == 5
    L = fold.coordinates
    np.testing.assert_allclose(L @ L.T, own @ own.T, atol=1e-8)
    np.testing.assert_allclose(fold.transform_rows(np.arange(6)), L, atol=1e-7)
    assert SharedGram(X).reduce([2]).rank == 0


def test_rounding_in_the_full_matrix_makes_no_directions_of_a_fold():
    """Rows that span 4 directions, under an image with 600 times their energy."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((14, 4)) @ rng.standard_normal((4, 800)) + 50 * rng.standard_normal(800)
        assert SharedGram(X).reduce(np.arange(9)).rank == 4


def test_folds_of_an_indefinite_kernel_are_refused():
    shared = SharedGram(np.diag([1.0, 1, 1, -1, 1]), "precomputed")
    with pytest.raises(ValueError, match="kernel: found a kernel matrix with the eigenvalue -"):
        shared.reduce([0, 3, 4])
    assert shared.reduce([0, 1, 4]).rank == 2


def test_what_is_no_fold_is_refused():
    shared = SharedGram(data())
    for index, found in (
        ([], "shape \\(0,\\)"), ([20], "row 20"), ([-1], "row -1"), ([0.5], "dtype float64"),
        (np.ones(19, bool), "a mask of shape \\(19,\\)"), (np.zeros(20, bool), "shape \\(0,\\)"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"index: found .*{found}"):
            shared.reduce(index)
    with pytest.raises(ValueError, match="index: found row 20, expected 0 to 19"):
        shared.reduce(TRAIN).transform_rows([20])
    with pytest.raises(ValueError, match="transform_rows: expected a reduction made by SharedGram"):
        reduce_rows(data()).transform_rows([0])
