"""TensorDecomposition: the SVD of the weights, Proposition 1, the paper's listing, degenerate data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor.naive_tensor import as_printed, centered_kernels, fitted_svm, same_up_to_signs
from tensor.two_views import gaussian, pictures_and_scans

from svdecode import TensorDecomposition, TensorSVC
from svdecode.tensor.decomposition import decompose

SHAPES = {
    "both wide": (40, 60, 50),
    "both narrow": (60, 6, 4),
    "mixed": (50, 80, 3),
    "mixed the other way": (50, 4, 80),
    "square": (30, 30, 30),
}


def split(X, m_x):
    return X[:, :m_x], X[:, m_x:]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("T", [1, 2, "max"])
def test_equals_the_svd_of_the_weight_matrix(shape, T):
    n, m_x, m_y = SHAPES[shape]
    X, y = gaussian(n, m_x, m_y)
    model = TensorDecomposition([m_x, m_y], n_projections=T).fit(X, y)
    x, z = (part - part.mean(axis=0) for part in split(X, m_x))
    signed, bias = fitted_svm((x @ x.T) * (z @ z.T), y)
    W = x.T @ (signed[:, None] * z)
    U, s, Vt = np.linalg.svd(W, full_matrices=False)
    rank = int((s > 1e-12 * s[0]).sum())
    T = rank if T == "max" else T
    assert model.n_projections_ == T
    np.testing.assert_allclose(model.singular_values_, s[:T], rtol=1e-9)
    beta, gamma = model.dual_weights_
    wx, wy = model.weights_
    assert wx.shape == (T, m_x)
    assert wy.shape == (T, m_y)
    np.testing.assert_allclose(beta.T @ x, wx, atol=1e-10)
    np.testing.assert_allclose(gamma.T @ z, wy, atol=1e-10 * s[0])
    signs = same_up_to_signs(wx.T, U[:, :T], 1e-8)
    np.testing.assert_allclose(wy.T, Vt[:T].T * s[:T] * signs, atol=1e-9 * s[0])
    np.testing.assert_allclose(model.dual_coef_[0], signed, atol=1e-12)
    np.testing.assert_allclose(model.intercept_[0], bias)


def test_equals_the_papers_own_listing():
    X, y = gaussian(40, 60, 12)
    (Kx, _), (Ky, _) = (centered_kernels(part, part[:1], "linear") for part in split(X, 60))
    signed, _ = fitted_svm(Kx * Ky, y)
    beta, gamma, upsilon = as_printed(Kx, Ky, signed, 5)
    model = TensorDecomposition([60, 12], n_projections=5).fit(X, y)
    np.testing.assert_allclose(model.singular_values_, upsilon, rtol=1e-9)
    signs = same_up_to_signs(model.dual_weights_[0], beta, 1e-9)
    np.testing.assert_allclose(model.dual_weights_[1], gamma * signs, atol=1e-9)


def proposition_one(X, y, m_x, kernels, new, C=1.0):
    """f without its bias by scikit-learn, and by projections at full T."""
    pairs = [
        centered_kernels(a, b, k) for a, b, k in zip(split(X, m_x), split(new, m_x), kernels, strict=True)
    ]
    signed, _ = fitted_svm(pairs[0][0] * pairs[1][0], y, C)
    f = (pairs[0][1] * pairs[1][1]) @ signed
    model = TensorDecomposition([m_x, X.shape[1] - m_x], kernel=list(kernels), C=C, n_projections="max")
    model.fit(X, y)
    return f, (model.transform(new, view=0) * model.transform(new, view=1)).sum(axis=1)


@pytest.mark.parametrize("second", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("first", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("data", ["wide", "narrow", "pictures"])
def test_proposition_1(first, second, data):
    if data == "pictures":  # rank-deficient: every picture is there ten times
        X, y = pictures_and_scans()
        m_x = 40
    else:
        m_x = 50 if data == "wide" else 3
        X, y = gaussian(60, m_x, 30 if data == "wide" else 2)
    rng = np.random.default_rng(1)
    new = np.vstack([X[:10], X[10:30] + rng.standard_normal((20, X.shape[1])), 3 * X[:5]])
    f, decomposed = proposition_one(X, y, m_x, (first, second), new)
    np.testing.assert_allclose(decomposed, f, atol=1e-8 * max(1.0, np.abs(f).max()))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.integers(4, 25),
    st.integers(1, 12),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([0.01, 1.0, 100.0]),
)
def test_proposition_1_on_random_shapes(n, m_x, m_y, duplicates, C):
    X, y = gaussian(n, m_x, m_y, seed=n + 31 * m_x + 57 * m_y)
    if duplicates:
        X[n // 2 :] = X[: n - n // 2]
    new = np.random.default_rng(0).standard_normal((6, m_x + m_y))
    f, decomposed = proposition_one(X, y, m_x, ("linear", "rbf"), new, C)
    np.testing.assert_allclose(decomposed, f, atol=1e-8 * max(1.0, np.abs(f).max()))


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_units_of_the_views(unit):
    """With a hard margin, columns in another unit change nothing but the unit of the weights."""
    X, y = pictures_and_scans()
    one = TensorDecomposition([40, 15], n_projections=4, C=1e15, tol=1e-8).fit(X, y)
    X[:, :40] *= unit
    other = TensorDecomposition([40, 15], n_projections=4, C=1e15, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(other.weights_[0], one.weights_[0], atol=1e-5)
    np.testing.assert_allclose(other.weights_[1] * unit, one.weights_[1], atol=1e-5 * one.singular_values_[0])


def test_precomputed_kernels_in_every_form():
    X, y = pictures_and_scans()
    x, z = split(X, 40)
    grams, new = [x @ x.T, z @ z.T], [x[:7] @ x.T, z[:7] @ z.T]
    wanted = TensorDecomposition([40, 15], n_projections=3).fit(X, y)
    expected = wanted.transform(X[:7])
    forms = {
        "side by side": ([120, 120], np.hstack(grams), np.hstack(new)),
        "slices": ([slice(0, 120), slice(120, 240)], np.hstack(grams), np.hstack(new)),
        "a list": ([120, 120], grams, new),
        "in views": (grams, None, new),
        "in views, X side by side": (grams, np.hstack(grams), np.hstack(new)),
    }
    for views, K, K_new in forms.values():
        model = TensorDecomposition(views, n_projections=3, kernel="precomputed").fit(K, y)
        np.testing.assert_allclose(model.transform(K_new), expected, atol=1e-10)
        assert model.weights_ == [None, None]
    mixed = TensorDecomposition([40, 120], n_projections=3, kernel=["linear", "precomputed"])
    mixed.fit([x, grams[1]], y)
    np.testing.assert_allclose(mixed.transform([x[:7], None], view=0), wanted.transform(X[:7], view=0))
    np.testing.assert_allclose(mixed.weights_[0], wanted.weights_[0])
    assert mixed.weights_[1] is None


@pytest.mark.parametrize("chosen", [3, "bound", "max", "lasso"])
def test_more_than_two_classes(chosen):
    X, y = pictures_and_scans(k=3, n_pictures=12)
    model = TensorDecomposition([40, 15], n_projections=chosen, kernel=["linear", "rbf"]).fit(X, y)
    T = model.n_projections_
    assert model.weights_[0].shape == (3, T, 40)
    assert model.transform(X).shape == (120, 2 * 3 * T)
    if chosen == "max":  # every class's projections make the decision function of its SVM
        x, z = (model.transform(X, view=v).reshape(120, 3, T) for v in range(2))
        svm = TensorSVC([40, 15], kernel=["linear", "rbf"]).fit(X, y)
        np.testing.assert_allclose(
            (x * z).sum(axis=2) + model.intercept_, svm.decision_function(X), atol=1e-9
        )
    if chosen != "lasso":
        for j in range(3):
            one = TensorDecomposition([40, 15], n_projections=chosen, kernel=["linear", "rbf"]).fit(X, y == j)
            own = one.n_projections_
            np.testing.assert_allclose(model.weights_[0][j, :own], one.weights_[0], atol=1e-8)
            assert not model.weights_[0][j, own:].any()


def test_signs_and_their_fallback():
    X, y = gaussian(50, 30, 20)
    model = TensorDecomposition([30, 20], n_projections="max").fit(X, y)
    x = model.transform(X, view=0)
    contrast = model.dual_coef_[0] @ x  # Σ α_i c_i φ̂_x(x_i)
    assert (contrast > 0).all()
    order = np.random.default_rng(0).permutation(50)
    again = TensorDecomposition([30, 20], n_projections="max", tol=1e-10).fit(X[order], y[order])
    tight = TensorDecomposition([30, 20], n_projections="max", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(again.weights_[0][:5], tight.weights_[0][:5], atol=1e-5)
    # an exclusive or: all four sums are zero, the largest dual weight decides
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    odd = TensorDecomposition([1, 1], n_projections=1).fit(signs, signs[:, 0] * signs[:, 1] > 0)
    beta = odd.dual_weights_[0][:, 0]
    assert beta[np.abs(beta).argmax()] > 0


# degenerate data


def test_one_view_is_constant():
    X, y = pictures_and_scans()
    X[:, 40:] = 3.0
    model = TensorDecomposition([40, 15], n_projections="max").fit(X, y)
    assert model.n_projections_ == 1
    assert not model.weights_[0].any()
    assert not model.singular_values_.any()
    assert TensorDecomposition([40, 15]).fit(X, y).n_projections_ == 1
    assert TensorDecomposition([40, 15], n_projections="lasso").fit(X, y).n_projections_ == 1
    assert not model.transform(X).any()


def test_more_projections_than_the_rank():
    X, y = pictures_and_scans()
    full = TensorDecomposition([40, 15], n_projections="max").fit(X, y)
    model = TensorDecomposition([40, 15], n_projections=100).fit(X, y)
    rank = full.n_projections_
    assert rank == 11  # twelve pictures, centered
    assert model.n_projections_ == 100
    assert model.weights_[0].shape == (100, 40)
    np.testing.assert_array_equal(model.dual_weights_[0][:, :rank], full.dual_weights_[0])
    for dual in model.dual_weights_:
        assert not dual[:, rank:].any()


def test_every_row_twice():
    X, y = gaussian(20, 30, 30)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    model = TensorDecomposition([30, 30], n_projections="max").fit(X, y)
    assert model.n_projections_ == 19
    f = (model.transform(X, view=0) * model.transform(X, view=1)).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(f, TensorSVC([30, 30]).fit(X, y).decision_function(X), atol=1e-10)


def test_a_view_that_is_missing():
    X, y = pictures_and_scans()
    model = TensorDecomposition([40, 15], n_projections=3).fit(X, y)
    expected, new = model.transform(X), X.copy()
    new[::2, 40:] = np.nan
    new[1::3, :40] = np.nan
    found = model.transform(new)
    has = np.column_stack([~np.isnan(new[:, 0])] * 3 + [~np.isnan(new[:, 40])] * 3)
    np.testing.assert_allclose(found[has], expected[has])
    assert np.isnan(found[~has]).all()
    np.testing.assert_allclose(model.transform([X[:, :40], None], view=0), expected[:, :3])
    np.testing.assert_array_equal(model.transform([X[:, :40], None])[:, 3:], np.nan)
    new[0, 3] = np.inf
    assert np.isfinite(model.transform(new, view=1)[1]).all()  # the first view is not looked at
    with pytest.raises(ValueError, match="X: found infinity in row 0, column 3"):
        model.transform(new, view=0)


def test_a_fit_does_not_change_with_the_users_array():
    X, y = pictures_and_scans()
    new = X[:9].copy()
    models = [
        TensorDecomposition([40, 15], n_projections=3).fit(X, y),
        TensorDecomposition([40, 15], n_projections=3, kernel="rbf").fit([X[:, :40], X[:, 40:]], y),
    ]
    expected = [model.transform(new) for model in models]
    X[:] = 0
    for model, values in zip(models, expected, strict=True):
        np.testing.assert_array_equal(model.transform(new), values)


def lost(kernels, signed, duals):
    """‖W − Wᵀ‖²/‖W‖² of two views, from kernel values."""
    Kx, Ky = kernels
    whole = signed @ (Kx * Ky) @ signed
    cross = signed @ ((Kx @ duals[0]) * (Ky @ duals[1])).sum(axis=1)
    own = ((duals[0].T @ Kx @ duals[0]) * (duals[1].T @ Ky @ duals[1])).sum()
    return (whole - 2 * cross + own) / whole


@pytest.mark.parametrize("T", [3, 10])
def test_the_svd_loses_less_than_the_papers_truncation(T):
    """The paper sums over the T leading eigenvectors of Kʸ; here over all: Wᵀ is the best of its rank."""
    X, y = gaussian(60, 50, 30)
    kernels = [centered_kernels(part, part[:1], "linear")[0] for part in split(X, 50)]
    signed, _ = fitted_svm(kernels[0] * kernels[1], y)
    eigenvalues, U = np.linalg.eigh(kernels[1])
    leading = (U[:, -T:] * eigenvalues[-T:]) @ U[:, -T:].T
    beta, _, _ = as_printed(kernels[0], leading, signed, T)
    first = lost(kernels, signed, (beta, signed[:, None] * (kernels[0] @ beta)))
    assert lost(kernels, signed, decompose(kernels, signed, T).duals) < 0.9 * first


def test_digits_that_the_squares_lose():
    """Proposition 1 in Gaussian kernels, by AᵀKˣA as the paper has it and by a matrix with W's values."""
    X, y = gaussian(60, 3, 2)
    kernels = [centered_kernels(part, part[:1], "rbf")[0] for part in split(X, 3)]
    signed, _ = fitted_svm(kernels[0] * kernels[1], y)
    f = (kernels[0] * kernels[1]) @ signed
    ours = decompose(kernels, signed)
    listed = as_printed(*kernels, signed, ours.rank)
    errors = [
        np.abs(((kernels[0] @ beta) * (kernels[1] @ gamma)).sum(axis=1) - f).max()
        for beta, gamma in (ours.duals, listed[:2])
    ]
    assert errors[0] < 1e-13
    assert 1e-12 < errors[1] < 1e-8
