"""KernelCCA: the generalized eigenproblem written down, the classical special cases, degenerate data."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.cross_decomposition import PLSSVD
from tensor.naive_tensor import centered_kernels, same_up_to_signs
from tensor.two_views import pictures_and_scans

from svdecode import KernelCCA


def correlated(n=60, m_x=8, m_y=5, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 3))
    x = shared @ rng.standard_normal((3, m_x)) + rng.standard_normal((n, m_x))
    y = shared @ rng.standard_normal((3, m_y)) + rng.standard_normal((n, m_y))
    return np.hstack([x, y])


def generalized_eigenproblem(Kx, Ky, cx, cy, n_samples):
    """All dual weights: [0 KxKy; KyKx 0]/(n − 1) v = ρ [(1 − c)K²/(n − 1) + cK] v, for K of full rank."""
    n = len(Kx)
    zero = np.zeros_like(Kx)
    left = np.block([[zero, Kx @ Ky], [Ky @ Kx, zero]]) / (n_samples - 1)
    right = scipy.linalg.block_diag(
        (1 - cx) * Kx @ Kx / (n_samples - 1) + cx * Kx, (1 - cy) * Ky @ Ky / (n_samples - 1) + cy * Ky
    )
    values, vectors = scipy.linalg.eigh(left, right)
    order = np.argsort(-values)[:n]
    return values[order], vectors[:n, order] * np.sqrt(2), vectors[n:, order] * np.sqrt(2)


@pytest.mark.parametrize("c", [0.1, 0.9, (0.3, 0.6)])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_equals_the_generalized_eigenproblem(kernel, c):
    """To 1e-6 up to sign, in kernels of full rank (n − 1, for centered ones)."""
    X = correlated(40, 60, 50)
    blocks = X[:, :60], X[:, 60:]
    (Kx, _), (Ky, _) = (centered_kernels(part, part[:1], kernel) for part in blocks)
    cx, cy = c if isinstance(c, tuple) else (c, c)
    # the constant vector is in neither kernel: a basis of the rest makes both definite
    Q = scipy.linalg.null_space(np.ones((1, 40)))
    values, beta, gamma = generalized_eigenproblem(Q.T @ Kx @ Q, Q.T @ Ky @ Q, cx, cy, 40)
    model = KernelCCA([60, 50], kernel=kernel, regularization=list(c) if isinstance(c, tuple) else c).fit(X)
    assert model.n_components_ == 39
    np.testing.assert_allclose(model.correlations_, values, atol=1e-9)
    for t in range(39):
        sign = np.sign(model.dual_weights_[0][:, t] @ Q @ beta[:, t])
        np.testing.assert_allclose(model.dual_weights_[0][:, t], sign * Q @ beta[:, t], atol=1e-6)
        np.testing.assert_allclose(model.dual_weights_[1][:, t], sign * Q @ gamma[:, t], atol=1e-6)


def test_without_regularization_it_is_canonical_correlation():
    X = correlated(200)
    x, y = (part - part.mean(axis=0) for part in (X[:, :8], X[:, 8:]))
    Qx, Qy = np.linalg.qr(x)[0], np.linalg.qr(y)[0]
    expected = np.linalg.svd(Qx.T @ Qy)[1]
    model = KernelCCA([8, 5], regularization=0).fit(X)
    np.testing.assert_allclose(model.correlations_, expected, atol=1e-10)
    px, py = model.transform(X, view=0), model.transform(X, view=1)
    np.testing.assert_allclose(px.T @ px / 199, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(px.T @ py / 199, np.diag(expected), atol=1e-9)


def test_with_all_of_it_it_is_partial_least_squares():
    X = correlated(50)
    x, y = X[:, :8], X[:, 8:]
    peer = PLSSVD(n_components=5, scale=False).fit(x, y)
    model = KernelCCA([8, 5], regularization=1).fit(X)
    same_up_to_signs(model.weights_[0].T, peer.x_weights_, 1e-9)
    same_up_to_signs(model.weights_[1].T, peer.y_weights_, 1e-9)


@pytest.mark.parametrize("c", [0.0, 0.2, 1.0])
def test_constraints_and_objective_in_rank_deficient_kernels(c):
    X, _ = pictures_and_scans()
    (Kx, _), (Ky, _) = (centered_kernels(part, part[:1], "linear") for part in (X[:, :40], X[:, 40:]))
    model = KernelCCA([40, 15], regularization=c).fit(X)
    assert model.n_components_ == 11
    for K, dual in ((Kx, model.dual_weights_[0]), (Ky, model.dual_weights_[1])):
        size = dual.T @ ((1 - c) * K @ K / 119 + c * K) @ dual
        np.testing.assert_allclose(size, np.eye(11), atol=1e-8)
    cross = model.dual_weights_[0].T @ Kx @ Ky @ model.dual_weights_[1] / 119
    np.testing.assert_allclose(cross, np.diag(model.correlations_), atol=1e-8 * model.correlations_[0])


def test_three_views_solve_the_generalized_eigenproblem():
    X = np.hstack([correlated(60), correlated(60, seed=1)[:, :6]])
    model = KernelCCA([8, 5, 6], regularization=[0.1, 0.5, 0.3]).fit(X)
    blocks = np.split(X - X.mean(axis=0), [8, 13], axis=1)
    left = np.hstack(blocks).T @ np.hstack(blocks) / 59
    right = []
    for part, c in zip(blocks, (0.1, 0.5, 0.3), strict=True):
        right.append((1 - c) * part.T @ part / 59 + c * np.eye(part.shape[1]))
    left -= scipy.linalg.block_diag(*(part.T @ part / 59 for part in blocks))
    values, vectors = scipy.linalg.eigh(left, scipy.linalg.block_diag(*right))
    np.testing.assert_allclose(model.correlations_, values[::-1][:5] / 2, atol=1e-10)
    found = np.hstack(model.weights_).T
    same_up_to_signs(found, vectors[:, ::-1][:, :5] * np.sqrt(3), 1e-8)


def test_normalized_it_does_not_depend_on_the_unit():
    X = correlated()
    one = KernelCCA([8, 5], regularization=0.3, normalize=True).fit(X)
    Z = X * np.repeat([1e3, 1e-2], [8, 5])
    other = KernelCCA([8, 5], regularization=0.3, normalize=True).fit(Z)
    np.testing.assert_allclose(other.correlations_, one.correlations_, rtol=1e-9)
    np.testing.assert_allclose(other.transform(Z), one.transform(X), atol=1e-8)
    assert not np.allclose(KernelCCA([8, 5], regularization=0.3).fit(Z).correlations_, one.correlations_)


def test_new_samples_and_a_view_that_is_missing():
    X = correlated(90)
    model = KernelCCA([8, 5], n_components=2).fit(X[:60])
    wx, wy = model.weights_
    mean = X[:60].mean(axis=0)
    expected = np.hstack([(X[60:, :8] - mean[:8]) @ wx.T, (X[60:, 8:] - mean[8:]) @ wy.T])
    np.testing.assert_allclose(model.transform(X[60:]), expected, atol=1e-10)
    new = X[60:].copy()
    new[:, 8:] = np.nan
    np.testing.assert_allclose(model.transform(new, view=0), expected[:, :2], atol=1e-10)
    assert np.isnan(model.transform(new)[:, 2:]).all()
    names = model.get_feature_names_out()
    assert list(names) == ["kernelcca_view0_0", "kernelcca_view0_1", "kernelcca_view1_0", "kernelcca_view1_1"]


def test_degenerate_views():
    X = correlated()
    X[:, 8:] = 2.0
    model = KernelCCA([8, 5]).fit(X)
    assert model.n_components_ == 1
    assert not model.correlations_.any()
    assert not model.transform(X).any()
    spare = KernelCCA([8, 5], n_components=20).fit(correlated())
    assert spare.weights_[0].shape == (20, 8)
    assert not spare.weights_[0][5:].any()
    assert not spare.correlations_[5:].any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("regularization", -0.1),
        ("regularization", 1.5),
        ("regularization", [0.1, 0.2, 0.3]),
        ("n_components", 0),
        ("normalize", "yes"),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"^{name}: found "):
        KernelCCA([8, 5], **{name: value}).fit(correlated())
