"""The front door: coordinates of rows in their own span, and back."""

import numpy as np
import pytest
from geometry import assert_reduces, centered
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.reduction import reduce_rows

METHODS = ["gram", "lq", "features"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", [(6, 40), (12, 12), (30, 7), (1, 9), (2, 1), (9, 1), (1, 1)])
def test_geometry_and_way_back(method, center, shape):
    rng = np.random.default_rng(3)
    X, X_new = rng.standard_normal(shape), rng.standard_normal((4, shape[1]))
    reduction = reduce_rows(X, center=center, method=method)
    assert_reduces(reduction, X, X_new, center=center)
    if method != "features":
        assert reduction.rank == min(shape[0] - center, shape[1])


@pytest.mark.parametrize(
    ("shape", "method"), [((6, 40), "gram"), ((40, 6), "features"), ((6, 6), "features")]
)
def test_auto_takes_the_cheap_route(shape, method):
    X = np.random.default_rng(0).standard_normal(shape)
    auto, named = reduce_rows(X), reduce_rows(X, method=method)
    np.testing.assert_array_equal(auto.coordinates, named.coordinates)
    assert (auto.dual is None) == (method == "features")


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    n=st.integers(1, 12), m=st.integers(1, 30), rank=st.integers(0, 12),
    center=st.booleans(), method=st.sampled_from(METHODS), seed=st.integers(0, 10**6),
    duplicates=st.booleans(), exponent=st.integers(-6, 6),
)  # fmt: skip
def test_any_rank_any_scale(n, m, rank, center, method, seed, duplicates, exponent):
    rng = np.random.default_rng(seed)
    scale = 10.0**exponent
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) * scale
    if duplicates and n > 2:
        X[1] = X[0]
    reduction = reduce_rows(X, center=center, method=method)
    expected = np.linalg.matrix_rank(centered(X) if center else X, tol=1e-10 * scale)
    if method != "features":
        assert reduction.rank == expected
    lifted = reduction.lift(reduction.coordinates) + reduction.mean
    np.testing.assert_allclose(lifted, X, atol=1e-8 * scale * max(rank, 1))


@pytest.mark.parametrize("method", ["gram", "lq"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [2, 5, 700])
def test_rows_that_are_all_equal_have_rank_zero(method, dtype, n):
    """Whatever the mean of n equal numbers rounds to."""
    X = np.tile(1e3 * np.random.default_rng(0).standard_normal(60).astype(dtype), (n, 1))
    reduction = reduce_rows(X, method=method)
    assert reduction.coordinates.shape == (n, 0)
    assert reduction.discarded_energy == 0
    np.testing.assert_array_equal(reduction.lift(np.zeros((2, 0))), np.zeros((2, 60)))
    np.testing.assert_allclose(reduction.mean, X[0], rtol=1e-12)
    assert reduction.transform(X).shape == (n, 0)
    assert reduce_rows(X, method=method, center=False).rank == 1


@pytest.mark.parametrize("method", METHODS)
def test_zeros_have_rank_zero(method):
    reduction = reduce_rows(np.zeros((4, 9)), method=method, center=False)
    assert reduction.rank == (9 if method == "features" else 0)
    assert not reduction.coordinates.any()
    assert not reduction.transform(np.ones((2, 9)))[:, : reduction.rank].any() or method == "features"


@pytest.mark.parametrize("method", ["gram", "lq"])
def test_a_large_common_image_costs_no_digits(method):
    """Raw scanner units: a mean of 1e4 with deviations of 1 leaves the deviations' geometry exact."""
    rng = np.random.default_rng(0)
    deviations = rng.standard_normal((8, 500))
    image = 1e4 * rng.random(500)
    reduction = reduce_rows(deviations + image, method=method)
    L = reduction.coordinates
    assert L.shape[1] == 7
    exact = centered(deviations) @ centered(deviations).T
    # adding the image has rounded each entry by up to 1e4·eps
    np.testing.assert_allclose(L @ L.T, exact, atol=1e-11 * exact.max())
    np.testing.assert_allclose(reduction.lift(L), centered(deviations), atol=1e-9)
    new = rng.standard_normal((3, 500))
    expected = (new - deviations.mean(axis=0)) @ centered(deviations).T
    np.testing.assert_allclose(reduction.transform(new + image) @ L.T, expected, atol=1e-9 * exact.max())


def test_energy_below_the_rank_tolerance_is_reported():
    rng = np.random.default_rng(8)
    strong, weak = rng.standard_normal((2, 6, 100))
    X = np.outer(np.arange(6.0), strong[0]) + 1e-9 * weak
    reduction = reduce_rows(X, method="gram")
    assert reduction.rank == 1
    assert 0 <= reduction.discarded_energy < 1e-15
    assert reduce_rows(X, method="lq").rank == 5


@pytest.mark.parametrize("method", ["gram", "lq"])
def test_the_rank_tolerance_lies_where_the_documentation_says(method):
    """Singular values a little above the documented bound are kept, a little below dropped."""
    rng = np.random.default_rng(5)
    U, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    Q, _ = np.linalg.qr(rng.standard_normal((300, 5)))
    bound = {"gram": 3e-8, "lq": 300 * np.finfo(float).eps}[method]
    for factor, rank in ((30, 5), (1 / 30, 4)):
        X = U * np.array([1, 1, 1, 1, factor * bound]) @ Q.T
        assert reduce_rows(X, method=method, center=False).rank == rank


@pytest.mark.parametrize("method", ["gram", "lq"])
def test_rounding_to_float32_makes_no_directions(method):
    """Subject means removed in float32: each subject's rows sum to rounding errors of 1e-7, not to 0."""
    X = np.random.default_rng(6).standard_normal((24, 2000)).astype(np.float32)
    for first in range(0, 24, 4):
        X[first : first + 4] -= X[first : first + 4].mean(axis=0)
    assert np.abs(X[:4].sum(axis=0)).max() > 0
    assert reduce_rows(X, method=method, center=False).rank == 18
    assert reduce_rows(X.astype(np.float64), method="lq", center=False).rank == 24


def test_singular_order_and_values_of_the_lq_route():
    X = np.random.default_rng(7).standard_normal((6, 50))
    reduction = reduce_rows(X, method="lq")
    s = np.linalg.svd(centered(X), compute_uv=False)[:5]
    np.testing.assert_allclose(reduction.singular_values, s, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(reduction.coordinates, axis=0), s, rtol=1e-12)
    assert reduce_rows(X, method="gram").singular_values is None


def test_the_data_are_left_as_they_were():
    X = np.random.default_rng(9).standard_normal((6, 40)) + 1e4
    for stored in (X, np.asfortranarray(X), X.astype(np.float32)):
        before = stored.copy()
        for method in METHODS:
            reduction = reduce_rows(stored, method=method)
            reduction.transform(stored)
            reduction.lift(np.ones((1, reduction.rank)))
        np.testing.assert_array_equal(stored, before)
