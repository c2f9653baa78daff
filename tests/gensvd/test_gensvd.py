"""GenSVD against the leave-one-out SVDs that it stands for, written naively."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

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
        B = B[:, t > 1e-10 * s[0]]
        Z[:, out] = B @ (B.T @ (Q[:, out] - mean))
    return U[:, :r], s[:r], Vt[:r].T, Z.T


def fit_quietly(X, groups=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return GenSVD(**params).fit(X, groups=groups)


def assert_is_naive(X, groups, center):
    U, s, V, Z = naive(X, groups, center)
    model = fit_quietly(X, groups, center=center)
    r, scale = len(s), s[0]
    assert model.rank_ == r
    expected = np.sqrt((Z**2).sum(axis=0))
    # a repeated singular value leaves its vectors free to rotate; the test data have none
    np.testing.assert_allclose(model.generalized_singular_values_[:r], expected, atol=1e-9 * scale)
    np.testing.assert_allclose(model.singular_values_[:r], s, rtol=1e-9, atol=1e-12 * scale)
    np.testing.assert_allclose(np.abs(model.left_out_coordinates_[:, :r]), np.abs(Z), atol=1e-9 * scale)
    np.testing.assert_allclose(np.abs(model.components_[:r]), np.abs(U.T), atol=1e-7)
    n = len(X)
    np.testing.assert_allclose(
        model.explained_variance_[:r], expected**2 / (n - center), atol=1e-9 * scale**2
    )
    if not center:
        np.testing.assert_allclose(
            np.abs(model.training_coordinates_[:, :r]), np.abs(V * expected), atol=1e-8 * scale
        )


def make_data(kind, n, m, rng):
    X = rng.standard_normal((n, m)) * rng.uniform(0.5, 2, m)
    if kind == "rank-deficient":
        rank = max(2, min(n, m) // 2)
        X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    elif kind == "duplicates":
        X[n // 2] = X[0]
    elif kind == "offset":
        X += 5
    elif kind == "subject-centered":
        for first in range(0, n, 3):
            X[first : first + 3] -= X[first : first + 3].mean(axis=0)
    elif kind == "centered":
        X -= X.mean(axis=0)
    elif kind == "constant feature":
        X[:, 0] = 1.0
    return X


KINDS = [
    "plain", "rank-deficient", "duplicates", "offset", "subject-centered", "centered", "constant feature"
]  # fmt: skip


@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    kind=st.sampled_from(KINDS), n=st.integers(4, 14), m=st.integers(3, 40),
    center=st.booleans(), grouped=st.booleans(), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_equals_the_naive_procedure(kind, n, m, center, grouped, seed):
    rng = np.random.default_rng(seed)
    X = make_data(kind, n, m, rng)
    groups = np.arange(n) // 3 if grouped else None
    assert_is_naive(X, groups, center)


@pytest.mark.parametrize("center", [False, True])
def test_uneven_and_unordered_groups(center):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((15, 60))
    groups = np.array(list("abacabbbcddaaea"))
    assert_is_naive(X, groups, center)


def test_basis_of_the_centered_data():
    """The same z, seen in the principal axes of the centered data."""
    X = np.random.default_rng(1).standard_normal((10, 50)) + 3
    model = GenSVD(center=True, basis="centered").fit(X)
    U, s, _, _ = naive(X - X.mean(axis=0))
    np.testing.assert_allclose(np.abs(model.components_[:9]), np.abs(U.T), atol=1e-9)
    np.testing.assert_allclose(model.singular_values_[:9], s, rtol=1e-10)
    for j in range(10):
        others = np.delete(X, j, axis=0)
        rest = others - others.mean(axis=0)
        project = np.linalg.pinv(rest) @ rest
        z = (X[j] - others.mean(axis=0)) @ project @ model.components_.T
        np.testing.assert_allclose(model.left_out_coordinates_[j], z, atol=1e-9)


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


def test_centered_training_and_new_coordinates_share_their_origin():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((20, 300)) + 10
    model = GenSVD(3, center=True).fit(X)
    np.testing.assert_allclose(model.training_coordinates_.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(model.transform(X.mean(axis=0, keepdims=True)), 0, atol=1e-10)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0))


def test_fewer_and_more_components_than_the_rank():
    X = np.random.default_rng(7).standard_normal((6, 40))
    full, few, many = (GenSVD(k).fit(X) for k in (None, 2, 9))
    np.testing.assert_allclose(few.generalized_singular_values_, full.generalized_singular_values_[:2])
    np.testing.assert_allclose(few.training_coordinates_, full.training_coordinates_[:, :2])
    assert full.components_.shape == (6, 40)
    assert many.components_.shape == (9, 40)
    assert not many.components_[6:].any()
    np.testing.assert_allclose(many.explained_variance_ratio_.sum(), 1)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-10)


@pytest.mark.parametrize("convert", [np.asfortranarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_storage_does_not_matter(convert):
    X = np.random.default_rng(8).standard_normal((9, 70)).astype(np.float32).astype(np.float64)
    a, b = GenSVD().fit(X), GenSVD().fit(convert(X))
    np.testing.assert_allclose(a.generalized_singular_values_, b.generalized_singular_values_, rtol=1e-7)
    np.testing.assert_allclose(a.training_coordinates_, b.training_coordinates_, atol=1e-6)
    np.testing.assert_allclose(a.transform(X), b.transform(convert(X)), rtol=1e-5, atol=1e-4)


def test_set_output_and_feature_names():
    X = pd.DataFrame(np.random.default_rng(9).standard_normal((6, 9)), columns=[f"v{j}" for j in range(9)])
    model = GenSVD(2).set_output(transform="pandas").fit(X)
    out = model.transform(X)
    assert list(out.columns) == ["gensvd0", "gensvd1"] == list(model.get_feature_names_out())


BAD = {
    "n_components 0": ({"n_components": 0}, {}, "n_components: found 0, expected an integer of at least 1"),
    "n_components 2.5": ({"n_components": 2.5}, {}, "n_components: found 2.5"),
    "basis": ({"basis": "pca"}, {}, "basis: found 'pca'"),
    "basis without center": ({"basis": "centered"}, {}, "basis: found 'centered' with center=False"),
    "center": ({"center": "yes"}, {}, "center: found 'yes'"),
    "groups length": ({}, {"groups": [1, 2]}, "groups: found 2 labels, expected one for each of the 6 rows"),
    "one group": ({}, {"groups": [1] * 6}, "groups: found one group only"),
    "groups 2-D": ({}, {"groups": np.ones((6, 2))}, "groups: found an array of shape"),
    "groups NaN": ({}, {"groups": [1, 1, np.nan, 2, 2, 2]}, "groups: found no label in row 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    params, fit_params, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        GenSVD(**params).fit(np.random.default_rng(10).standard_normal((6, 20)), **fit_params)


def test_bad_data_are_named():
    X = np.random.default_rng(11).standard_normal((6, 20))
    model = GenSVD().fit(X)
    with pytest.raises(ValueError, match="Z: found an array of shape"):
        model.inverse_transform(np.ones((2, 3)))
    frame = pd.DataFrame({"a": range(6), "name": list("uvwxyz")})
    with pytest.raises(ValueError, match=r"X: found columns that are no numbers \(name\)"):
        GenSVD().fit(frame)
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN \(first in row 1, column 2\)"):
        GenSVD().fit(X)


def test_scree_plot():
    rng = np.random.default_rng(12)
    model = GenSVD(4).fit(rng.standard_normal((10, 90)))
    ax = model.scree_plot(rng.standard_normal((30, 90)))
    heights = [line.get_ydata() for line in ax.get_lines() if len(line.get_ydata()) == 4]
    assert len(heights) == 3
    np.testing.assert_allclose(heights[0], model.singular_values_ / np.sqrt(10))
    np.testing.assert_allclose(heights[1], np.sqrt(model.explained_variance_))


ON_PURPOSE = (
    "fit_transform returns corrected coordinates, as TargetEncoder does: each sample is compared with the "
    "mean of the others, so even well-posed data are scaled by n / (n − 1)"
)
# Without mean removal no exception is needed: scikit-learn compares fit_transform(X) with
# fit(X).transform(X) on 30 × 3 data, which are well-posed, and there GenSVD is plain SVD. On ill-posed
# data the two differ on purpose (test_fit_transform_is_the_corrected_coordinates).
EXPECTED_TO_FAIL = {
    "check_transformer_general": ON_PURPOSE,
    "check_transformer_data_not_an_array": ON_PURPOSE,
}


@pytest.mark.filterwarnings("ignore:no sample has a direction")
@parametrize_with_checks(
    [GenSVD(), GenSVD(center=True, basis="centered")],
    expected_failed_checks=lambda model: EXPECTED_TO_FAIL if model.center else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
