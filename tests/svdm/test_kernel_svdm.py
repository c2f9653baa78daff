"""Kernel SVDM: the linear fit on explicit features, at the weights that make the two objectives one."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, data, make, several_labels

from svdecode import SVDMClassifier

pytestmark = pytest.mark.filterwarnings(IGNORE)
POLYNOMIAL = {"kernel": "polynomial", "kernel_params": {"degree": 2, "gamma": 1.0, "coef0": 1.0}}


def monomials(X):
    """φ(x) with φ(x)·φ(y) = (x·y + 1)²: 1, √2 x_i, x_i², √2 x_i x_j."""
    i, j = np.triu_indices(X.shape[1], 1)
    return np.hstack([np.ones((len(X), 1)), np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, i] * X[:, j]])


def curved(n=40, seed=0):
    """Two classes, one around the other, in four features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.where(np.linalg.norm(X, axis=1) > 1.7, "outside", "inside")


def weights(formulation, m, n, l, *, scaled):
    """Weights of the kernel fit, and those of the linear fit on m features, for one objective.

    A kernel has m = 1 and s² = tr K_c/n, explicit features have s² = tr K_c/(nm). `balanced` and
    `penalized` divide by m where it cancels: with `scale` nothing changes. The others do not divide: with
    `scale` the explicit data are √m times as large, so their coordinates (unit rows of W) or their basis
    (unit ball for Z) are, and the reconstruction is m times as large. Without `scale` the data are the
    same, and m appears in `balanced` and `penalized` alone: in a, and in d_W = shrinkage/(lm) + a·ridge.
    """
    root = np.sqrt(m)
    kernel = {"hinge_weight": 30.0, "shrinkage": 0.05, "margin": 3.0 if formulation == "constrained" else 1.0}
    if formulation == "svm":
        kernel["shrinkage"] = 1.0
    linear = dict(kernel)
    if scaled:
        if formulation == "constrained":
            linear["hinge_weight"] *= m
        if formulation == "boxed":
            linear |= {"hinge_weight": 30.0 * root, "margin": root}
        if formulation == "svm":
            linear |= {"hinge_weight": 30.0 * m, "shrinkage": m**2}
    elif formulation in ("balanced", "penalized"):
        linear["reconstruction_weight"] = float(m)
        if formulation == "balanced":
            linear["ridge"] = n * 0.05 / l * (1 - 1 / m)
    factor = m if scaled and formulation in ("constrained", "boxed", "svm") else 1.0
    return kernel, linear, factor


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("readout", ["joint", "refit", "least_squares"])
def test_a_polynomial_kernel_is_the_linear_fit_on_monomials(formulation, scaled, readout):
    X, y = curved()
    new = curved(seed=1)[0]
    m = monomials(X).shape[1]
    on_kernel, on_features, factor = weights(formulation, m, len(X), 3, scaled=scaled)
    params = {"scale": scaled, "readout": readout, **SWEEPS}
    a = make(formulation, 3, **POLYNOMIAL, **on_kernel, **params).fit(X, y)
    b = make(formulation, 3, **on_features, **params).fit(monomials(X), y)
    assert factor * a.objective_ == pytest.approx(b.objective_, rel=1e-8)
    # scores of a hinge are in units of its margin, those of a regression in units of the labels
    units = 1.0 if readout == "least_squares" else a.margin / b.margin
    scores = b.decision_function(monomials(new)) * units
    np.testing.assert_allclose(a.decision_function(new), scores, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_array_equal(a.predict(new), b.predict(monomials(new)))
    # coordinates up to the signs of the start, in their own units
    x, z = np.abs(a.transform(new)), np.abs(b.transform(monomials(new)))
    x, z = x / np.linalg.norm(x, axis=0), z / np.linalg.norm(z, axis=0)
    np.testing.assert_allclose(x, z, atol=1e-6)


def callable_rbf(A, B):
    return rbf_kernel(A, B, gamma=0.3)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_ways_to_name_a_kernel_agree(formulation):
    X, y = curved()
    new = curved(seed=1)[0]
    K, K_new = callable_rbf(X, X), callable_rbf(new, X)
    named = make(formulation, kernel="rbf", kernel_params={"gamma": 0.3}, **SWEEPS).fit(X, y)
    called = make(formulation, kernel=callable_rbf, **SWEEPS).fit(X, y)
    given = make(formulation, kernel="precomputed", **SWEEPS).fit(K, y)
    for other, samples in ((called, new), (given, K_new)):
        assert other.objective_ == pytest.approx(named.objective_, rel=1e-8)
        scores = named.decision_function(new)
        np.testing.assert_allclose(other.decision_function(samples), scores, atol=1e-7 * np.abs(scores).max())
        np.testing.assert_allclose(np.abs(other.transform(samples)), np.abs(named.transform(new)), atol=1e-6)


def test_precomputed_products_are_the_linear_fit():
    """Up to m: the linear fit's weights at m features, by `weights` above."""
    X, y = data(3)
    m = X.shape[1]
    linear = make("balanced", shrinkage=0.1, **SWEEPS).fit(X, y)
    kernel = make("balanced", shrinkage=0.1, kernel="precomputed", **SWEEPS).fit(X @ X.T, y)
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-10)
    assert kernel.scale_ == pytest.approx(np.sqrt(m) * linear.scale_)
    new, _ = data(3, seed=3)
    np.testing.assert_allclose(kernel.decision_function(new @ X.T), linear.decision_function(new), atol=1e-8)


def test_a_kernel_sees_what_no_linear_map_sees():
    X, y = curved(200)
    params = {"solver": "splitting", "stopping": "stationary", "tol": 1e-5, "max_iter": 2000}
    linear = make("balanced", 8, shrinkage=0.1, **params).fit(X[:120], y[:120])
    kernel = make("balanced", 8, shrinkage=0.1, **POLYNOMIAL, **params).fit(X[:120], y[:120])
    assert kernel.score(X[120:], y[120:]) > 0.8 > 0.65 > linear.score(X[120:], y[120:])


def test_a_kernel_takes_several_labels_and_unknown_ones():
    X, y = several_labels()
    model = make("balanced", kernel="rbf", **SWEEPS).fit(X, y)
    assert model.predict(X).shape == (30, 3)
    assert model.transform(X[:4]).shape == (4, 3)


def test_with_a_kernel_there_is_no_feature_space():
    X, y = curved()
    model = make("balanced", kernel="rbf", **SWEEPS).fit(X, y)
    for name in ("components_", "mean_", "coef_", "intercept_"):
        assert not hasattr(model, name)
    assert model.discriminants_.shape == (4, 1)
    with pytest.raises(
        ValueError, match=r"^X: found a kernel matrix of shape \(40, 4\), expected a square one"
    ):
        SVDMClassifier(kernel="precomputed").fit(X, y)
    with pytest.raises(ValueError, match=r"^kernel: found a kernel matrix with the eigenvalue -"):
        SVDMClassifier(kernel="precomputed").fit(X @ X.T - 9 * np.eye(40), y)
    with pytest.raises(ValueError, match=r"^gamma: found -1, expected a finite number above 0"):
        SVDMClassifier(kernel="rbf", kernel_params={"gamma": -1}).fit(X, y)
