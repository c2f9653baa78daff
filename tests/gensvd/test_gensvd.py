"""GenSVD against the leave-one-out SVDs that it stands for, written naively."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from svdecode import GenSVD

EPS = np.finfo(float).eps


def naive(X, groups=None, center=False):
    """The listings of the paper's section 2, literally: an SVD for each sample (group) left out."""
    U, s, Vt = np.linalg.svd(X.T, full_matrices=False)
    r = int((s > max(X.shape) * EPS * s[0]).sum())
    Q = s[:r, None] * Vt[:r]
    n = Q.shape[1]
    groups = np.arange(n) if groups is None else np.asarray(groups)
    Z = np.zeros_like(Q)
    for g in np.unique(groups):
        out, others = groups == g, Q[:, groups != g]
        mean = others.mean(axis=1, keepdims=True) if center else 0.0
        B, t, _ = np.linalg.svd(others - mean, full_matrices=False)
        B = B[:, t > 1e-12 * s[0]]
        Z[:, out] = B @ (B.T @ (Q[:, out] - mean))
    return U[:, :r], s[:r], Vt[:r].T, Z.T


def fit_quietly(X, groups=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return GenSVD(**params).fit(X, groups=groups)


def assert_same_projections(model, X, groups, center):
    """Whatever the basis: each z, taken back to feature space, is the naive one, to 1e-9 relative."""
    U, s, _, Z = naive(X, groups, center)
    assert model.rank_ == len(s)
    np.testing.assert_allclose(model.singular_values_[: len(s)], s, rtol=1e-9)
    expected = Z @ U.T
    found = model.left_out_coordinates_ @ model.components_
    size = max(np.linalg.norm(expected), 1e-4 * s[0])  # where nothing at all is left, rounding errors are
    assert np.linalg.norm(found - expected) <= 1e-9 * size
    found_energy = (model.generalized_singular_values_**2).sum()
    assert found_energy == pytest.approx((expected**2).sum(), rel=1e-9, abs=1e-12 * s[0] ** 2)
    n = len(X)
    np.testing.assert_allclose(
        model.explained_variance_, model.generalized_singular_values_**2 / (n - center)
    )


def has_simple_values(X):
    s = naive(X)[1]
    return (-np.diff(s, append=0.0)).min() > 1e-4 * s[0]


def assert_same_components(model, X, groups, center):
    """With simple singular values each vector is unique but for its sign, and each λ̂ with it."""
    U, s, V, Z = naive(X, groups, center)
    r = len(s)
    expected = np.sqrt((Z**2).sum(axis=0))
    size = max(expected.max(), 1e-4 * s[0])
    np.testing.assert_allclose(model.generalized_singular_values_[:r], expected, rtol=1e-9, atol=1e-10 * size)
    np.testing.assert_allclose(np.abs(model.components_[:r]), np.abs(U.T), atol=1e-9)
    np.testing.assert_allclose(
        np.abs(model.training_coordinates_[:, :r]), np.abs(V * expected), atol=1e-9 * size
    )


def orthonormal(rows, columns, rng):
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def make_data(kind, n, m, rng):
    X = rng.standard_normal((n, m)) * rng.uniform(0.5, 2, m)
    k = min(n, m)
    if kind == "rank-deficient":
        rank = max(2, k // 2)
        X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    elif kind == "duplicates":
        X[n // 2] = X[0]
    elif kind == "offset":
        X += 5
    elif kind == "large offset":
        X += 1e3 * rng.standard_normal(m)
    elif kind == "subject-centered":
        for first in range(0, n, 3):
            X[first : first + 3] -= X[first : first + 3].mean(axis=0)
    elif kind == "centered":
        X -= X.mean(axis=0)
    elif kind == "constant feature":
        X[:, 0] = 1.0
    elif kind == "almost constant feature":
        X[:, 0] = 1 + 1e-7 * rng.standard_normal(n)
    elif kind == "repeated singular values":
        X = 3 * orthonormal(n, k, rng) @ orthonormal(m, k, rng).T
    elif kind == "from 1 to 1e-5":
        X = orthonormal(n, k, rng) * np.logspace(0, -5, k) @ orthonormal(m, k, rng).T
    elif kind == "a spike":
        X[0] *= 1e4
    return X


KINDS = [
    "plain", "rank-deficient", "duplicates", "offset", "large offset", "subject-centered", "centered",
    "constant feature", "almost constant feature", "repeated singular values", "from 1 to 1e-5", "a spike",
]  # fmt: skip
SIMPLE = ["plain", "duplicates", "offset", "subject-centered", "constant feature"]
SHAPES = {"n": st.integers(4, 14), "m": st.integers(3, 40), "seed": st.integers(0, 10**6)}
MODES = {"center": st.booleans(), "grouped": st.booleans()}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, derandomize=True, max_examples=60)
@given(**SHAPES, **MODES)
def test_equals_the_naive_procedure(kind, n, m, center, grouped, seed):
    X = make_data(kind, n, m, np.random.default_rng(seed))
    groups = np.arange(n) // 3 if grouped else None
    assert_same_projections(fit_quietly(X, groups, center=center), X, groups, center)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(kind=st.sampled_from(SIMPLE), **SHAPES, **MODES)
def test_each_component_equals_the_naive_one(kind, n, m, center, grouped, seed):
    X = make_data(kind, n, m, np.random.default_rng(seed))
    assume(has_simple_values(X))
    groups = np.arange(n) // 3 if grouped else None
    assert_same_components(fit_quietly(X, groups, center=center), X, groups, center)


@pytest.mark.parametrize("center", [False, True])
def test_uneven_and_unordered_groups(center):
    X = np.random.default_rng(0).standard_normal((15, 60))
    groups = np.array(list("abacabbbcddaaea"))
    model = fit_quietly(X, groups, center=center)
    assert_same_projections(model, X, groups, center)
    assert_same_components(model, X, groups, center)


@pytest.mark.parametrize("shape", [(2, 1), (2, 9), (9, 1), (3, 3)])
@pytest.mark.parametrize("center", [False, True])
def test_smallest_shapes(shape, center):
    X = np.random.default_rng(1).standard_normal(shape)
    assert_same_projections(fit_quietly(X, center=center), X, None, center)


@pytest.mark.parametrize("center", [False, True])
def test_all_but_one_sample_in_one_group(center):
    X = np.random.default_rng(2).standard_normal((7, 30))
    groups = np.array([0, 1, 1, 1, 1, 1, 1])
    assert_same_projections(fit_quietly(X, groups, center=center), X, groups, center)


@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e6])
def test_a_huge_sample_is_not_taken_for_one_with_its_own_direction(ratio):
    """Its leverage is 1 − ratio⁻²; the others span everything all the same."""
    X = np.random.default_rng(3).standard_normal((60, 5))
    X[3] *= ratio
    model = fit_quietly(X)
    assert model.n_stripped_ == 0
    np.testing.assert_allclose(model.generalized_singular_values_, model.singular_values_, rtol=1e-9)


def test_basis_of_the_centered_data():
    """The same z, seen in the principal axes of the centered data."""
    X = np.random.default_rng(1).standard_normal((10, 50)) + 3
    model = GenSVD(center=True, basis="centered").fit(X)
    U, s, V, _ = naive(X - X.mean(axis=0))
    np.testing.assert_allclose(np.abs(model.components_[:9]), np.abs(U.T), atol=1e-9)
    np.testing.assert_allclose(model.singular_values_[:9], s, rtol=1e-10)
    Z = np.empty((10, 9))
    for j in range(10):
        others = np.delete(X, j, axis=0)
        rest = others - others.mean(axis=0)
        project = np.linalg.pinv(rest) @ rest
        Z[j] = (X[j] - others.mean(axis=0)) @ project @ model.components_[:9].T
    np.testing.assert_allclose(model.left_out_coordinates_[:, :9], Z, atol=1e-9)
    coordinates = np.abs(model.training_coordinates_[:, :9])
    np.testing.assert_allclose(coordinates, np.abs(V) * np.linalg.norm(Z, axis=0), atol=1e-9)


def test_bias_of_ill_posed_data_and_its_correction():
    """Section 1.1: K equal variances σ², N < K: training variance Kσ²/N per coordinate, test σ².

    GenSVD must land near σ², where plain SVD is off by K/N = 20.
    """
    rng = np.random.default_rng(2)
    N, K, sigma2 = 40, 800, 4.0
    X, X_new = (np.sqrt(sigma2) * rng.standard_normal((n, K)) for n in (N, 2000))
    model = GenSVD().fit(X)
    training = (model.singular_values_**2).mean() / N
    test = (model.transform(X_new) ** 2).mean()
    corrected = model.explained_variance_.mean()
    # Σλ²/N² has mean Kσ²/N and relative standard deviation √(2/(NK)) = 0.8 %
    assert training == pytest.approx(K / N * sigma2, rel=0.04)
    assert test == pytest.approx(sigma2, rel=0.03)
    assert corrected == pytest.approx(sigma2, rel=0.10)
    assert (model.training_coordinates_**2).mean() == pytest.approx(corrected)


def test_re_estimates_of_about_equal_variances():
    """As documented: right on average, and |λ − H/λ| each, with H the harmonic mean of the λ²."""
    model = GenSVD().fit(np.random.default_rng(3).standard_normal((40, 2000)))
    s = model.singular_values_
    predicted = np.abs(s - 1 / (s**-2).mean() / s)
    scale = np.sqrt(len(s))  # σ = 1
    np.testing.assert_allclose(model.generalized_singular_values_, predicted, atol=0.35 * scale)
    assert model.generalized_singular_values_[[0, -1]].min() > 1.4 * scale
    assert model.generalized_singular_values_[15:25].max() < 0.6 * scale


def test_subject_means_make_leave_one_out_useless_and_groups_help():
    """Each scan is minus the sum of its subject's others: leave-one-out strips nothing, and says so."""
    rng = np.random.default_rng(3)
    subjects = np.repeat(np.arange(8), 4)
    X = make_data("plain", 32, 400, rng)
    for subject in range(8):
        X[subjects == subject] -= X[subjects == subject].mean(axis=0)
    with pytest.warns(UserWarning, match="`groups`"):
        alone = GenSVD().fit(X)
    assert alone.rank_ == 24
    assert alone.n_stripped_ == 0
    np.testing.assert_allclose(alone.generalized_singular_values_, alone.singular_values_, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grouped = GenSVD().fit(X, groups=subjects)
    assert grouped.n_stripped_ == 8
    new = rng.standard_normal((400, 400)) * X.std(axis=0)
    spread = np.sqrt((grouped.transform(new) ** 2).mean(axis=0))[:24]
    plain, corrected = (
        np.linalg.norm(s[:24] / np.sqrt(32) - spread)
        for s in (grouped.singular_values_, grouped.generalized_singular_values_)
    )
    assert corrected < plain / 3


def test_subject_means_removed_in_float32_are_seen_as_such():
    """They leave rounding errors, not zeros, which must not pass for directions of single scans."""
    X = np.random.default_rng(4).standard_normal((32, 4000)).astype(np.float32)
    subjects = np.repeat(np.arange(8), 4)
    for subject in range(8):
        X[subjects == subject] -= X[subjects == subject].mean(axis=0)
    with pytest.warns(UserWarning, match="`groups`"):
        alone = GenSVD().fit(X)
    assert alone.rank_ == 24
    grouped = GenSVD().fit(X, groups=subjects)
    assert grouped.n_stripped_ == 8
    exact = X.astype(float)
    for subject in range(8):
        exact[subjects == subject] -= exact[subjects == subject].mean(axis=0)
    expected = GenSVD().fit(exact, groups=subjects).generalized_singular_values_
    np.testing.assert_allclose(grouped.generalized_singular_values_, expected, atol=1e-5 * expected[0])


@pytest.mark.filterwarnings("ignore:no sample")
def test_well_posed_data_are_left_alone():
    X = np.random.default_rng(4).standard_normal((60, 5))
    with pytest.warns(UserWarning, match="leverage 1"):
        model = GenSVD().fit(X)
    np.testing.assert_allclose(model.generalized_singular_values_, model.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(model.training_coordinates_, model.transform(X), atol=1e-12)


def test_fit_transform_is_the_corrected_coordinates():
    X = np.random.default_rng(5).standard_normal((12, 80))
    model = GenSVD(n_components=4)
    Z = model.fit_transform(X)
    np.testing.assert_array_equal(Z, model.training_coordinates_)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=0), model.generalized_singular_values_)
    plain = model.transform(X)
    ratio = model.generalized_singular_values_ / model.singular_values_
    np.testing.assert_allclose(Z, plain * ratio, atol=1e-12)
    assert np.abs(Z - plain).max() > 1  # not what transform returns


def test_scree_plot():
    rng = np.random.default_rng(12)
    model = GenSVD(4).fit(rng.standard_normal((10, 90)))
    X_new = rng.standard_normal((30, 90))
    for X_test, n_lines in ((None, 2), (X_new, 3)):
        ax = model.scree_plot(X_test)
        heights = [line.get_ydata() for line in ax.get_lines() if len(line.get_ydata()) == 4]
        assert len(heights) == n_lines
        np.testing.assert_allclose(heights[0], model.singular_values_ / np.sqrt(10))
        np.testing.assert_allclose(heights[1], np.sqrt(model.explained_variance_))
    np.testing.assert_allclose(heights[2], np.sqrt(((X_new @ model.components_.T) ** 2).mean(axis=0)))
