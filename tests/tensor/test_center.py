"""Kernels that are not centered: what their products keep, by scikit-learn's kernels and matrices by hand."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from tensor.naive_tensor import KERNELS, centered_kernels, same_up_to_signs
from tensor.two_views import gaussian

from svdecode import DecomposedTensorSVC, KernelCCA, TensorDecomposition, TensorSVC
from svdecode.tensor import ConcatenatedSVC, KernelCCASVC
from svdecode.tensor.multiway import combine

VIEWS = [6, 4]
#: 1 + γ⟨x, x'⟩
ONE_AND_ALL = {"kernel": "polynomial", "degree": 1, "coef0": 1, "center": False}


def samples(k=2):
    """Training and new rows of two views whose means are far from zero."""
    X, y = gaussian(80, *VIEWS, k=k)
    X += np.linspace(-1, 2, 10)
    return X[:50], y[:50], X[50:]


def by_hand(X, new, kernel, center):
    """Kernel values of each view's training rows, and of new rows with them."""
    pairs = []
    for columns, name, is_centered in zip((slice(0, 6), slice(6, 10)), kernel, center, strict=True):
        x, other = X[:, columns], new[:, columns]
        if is_centered:
            pairs.append(centered_kernels(x, other, name))
        else:
            options = KERNELS[name](x.shape[1])
            pairs.append((pairwise_kernels(x, **options), pairwise_kernels(other, x, **options)))
    return zip(*pairs, strict=True)


def split(X):
    return np.split(X, [6], axis=1)


def with_ones(X):
    """A column of ones beside the features of each view, these divided by the root of their number."""
    return np.hstack([block for x in split(X) for block in (np.ones((len(X), 1)), x / np.sqrt(x.shape[1]))])


def means_alone():
    """Training and test samples of classes that differ by their means, alike in both views."""
    y = np.arange(400) % 2
    X = np.random.default_rng(0).standard_normal((400, 50)) + y[:, None]
    return X[:200], y[:200], X[200:], y[200:]


@pytest.mark.parametrize("center", [False, [True, False], [False, True], [False, False]])
@pytest.mark.parametrize("kernel", [("linear", "rbf"), ("polynomial", "linear")])
def test_each_view_says_whether_it_is_centered(kernel, center):
    X, y, new = samples()
    flags = center if isinstance(center, list) else [center] * 2
    (Kx, Ky), (Nx, Ny) = by_hand(X, new, kernel, flags)
    expected = SVC(kernel="precomputed").fit(Kx * Ky, y).decision_function(Nx * Ny)
    model = TensorSVC(VIEWS, kernel=list(kernel), center=center).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("n_projections", [2, "max"])
@pytest.mark.parametrize("use", ["paired", 0, 1])
def test_one_and_all_is_one_and_the_inner_products(use, n_projections):
    """The named kernel, matrices 1 + XXᵀ/m, and a column of ones beside the features are the same."""
    X, y, new = samples()
    settings = {"use": use, "n_projections": n_projections, "center": False}
    named = DecomposedTensorSVC(VIEWS, **settings | ONE_AND_ALL).fit(X, y).decision_function(new)
    pairs = [
        (1 + x @ x.T / x.shape[1], 1 + z @ x.T / x.shape[1])
        for x, z in zip(split(X), split(new), strict=True)
    ]
    matrices = DecomposedTensorSVC([50, 50], kernel="precomputed", **settings).fit([K for K, _ in pairs], y)
    np.testing.assert_allclose(matrices.decision_function([N for _, N in pairs]), named, atol=1e-8)
    columns = DecomposedTensorSVC([7, 5], **settings).fit(with_ones(X), y)
    np.testing.assert_allclose(columns.decision_function(with_ones(new)), named, atol=1e-8)


def test_a_missing_view_leaves_the_other_and_its_one():
    """A kernel of ones in place of 1 + γ⟨y, y'⟩ is a new y at zero."""
    X, y, new = samples()
    model = TensorSVC(VIEWS, **ONE_AND_ALL).fit(X, y)
    at_zero, lacking = new.copy(), new.copy()
    at_zero[:, 6:] = 0
    lacking[:, 6:] = np.nan
    np.testing.assert_allclose(model.decision_function(lacking), model.decision_function(at_zero), atol=1e-10)


@pytest.mark.parametrize(
    "make", [TensorSVC, DecomposedTensorSVC, lambda v, **more: KernelCCASVC(v, regularization=0.5, **more)]
)
def test_means_are_seen(make):
    """Where centered products are at chance; 200 guesses have a standard error of 0.035."""
    X, y, new, y_new = means_alone()
    assert abs(make([40, 10]).fit(X, y).score(new, y_new) - 0.5) < 0.15
    assert make([40, 10], **ONE_AND_ALL).fit(X, y).score(new, y_new) > 0.95
    assert make([40, 10], kernel="rbf", center=False).fit(X, y).score(new, y_new) > 0.95


@pytest.mark.parametrize("k", [2, 3])
def test_the_decomposition_of_what_is_not_centered(k):
    """W in the features (1, x) and (1, y), which the tensor SVM weighs, and Proposition 1."""
    X, y, new = samples(k)
    model = TensorDecomposition(VIEWS, n_projections="max", **ONE_AND_ALL).fit(X, y)
    parts = np.split(with_ones(X), [7], axis=1)
    for j, signed in enumerate(model.dual_coef_):
        W = parts[0].T @ (signed[:, None] * parts[1])
        s = np.linalg.svd(W, compute_uv=False)
        found = np.atleast_2d(model.singular_values_)[j]
        np.testing.assert_allclose(found[: len(s)], s, atol=1e-9 * s[0])
        svm = TensorSVC(VIEWS, **ONE_AND_ALL).fit(X, y).decision_function(new).reshape(len(new), -1)[:, j]
        x, z = (np.split(model.transform(new, view=v), len(model.dual_coef_), axis=1)[j] for v in (0, 1))
        f = (x * z).sum(axis=1) + model.intercept_[j]
        np.testing.assert_allclose(f, svm, atol=1e-8 * np.abs(svm).max())


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
def test_three_views_that_are_not_centered(decomposition):
    """All projections together are the tensor SVM's decision."""
    X, y, new = samples()
    views, settings = [3, 3, 4], ONE_AND_ALL
    svm = TensorSVC(views, **settings).fit(X, y)
    model = TensorDecomposition(views, n_projections="max", decomposition=decomposition, **settings).fit(X, y)
    f = combine([model.transform(new, view=v) for v in range(3)], model.core_) + model.intercept_
    scores = svm.decision_function(new)
    np.testing.assert_allclose(f, scores, atol=1e-8 * np.abs(scores).max())


def test_a_bound_reads_the_eigenvalues_of_the_kernel_as_it_is():
    X, y, _ = samples()
    K = 1 + X[:, 6:] @ X[:, 6:].T / 4
    eigenvalues = np.linalg.eigvalsh(K)[::-1][:5]
    t = np.arange(1, 6)
    expected = 1 - np.cumsum(eigenvalues) / np.trace(K) + 2 * (1 + np.sqrt(t)) / np.sqrt(50)
    model = TensorDecomposition(VIEWS, **ONE_AND_ALL).fit(X, y)
    np.testing.assert_allclose(model.bound_values(), expected, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("make", [TensorDecomposition, KernelCCA])
def test_degree_one_has_weights_in_the_columns(make, center, k):
    """The slopes of the projections, one view linear and one of degree 1; other degrees have none."""
    X, y, new = samples(k)
    model = make(VIEWS, kernel=["linear", "polynomial"], degree=1, gamma=0.3, center=center).fit(X, y)
    for v, rows in enumerate(split(new)):
        weights = model.weights_[v].reshape(-1, rows.shape[1])
        differences = np.diff(model.transform(new, view=v), axis=0)
        np.testing.assert_allclose(np.diff(rows, axis=0) @ weights.T, differences, atol=1e-9)
    assert make(VIEWS, kernel="polynomial", degree=2, center=center).fit(X, y).weights_ == [None, None]


@pytest.mark.parametrize("make", [DecomposedTensorSVC, KernelCCASVC])
def test_degree_one_has_maps(make):
    X, y, new = samples(3)
    model = make(VIEWS, **ONE_AND_ALL).fit(X, y)
    for v, rows in enumerate(split(new)):
        alone = [rows if u == v else None for u in (0, 1)]
        differences = np.diff(model.decision_function(alone), axis=0)
        np.testing.assert_allclose(np.diff(rows, axis=0) @ model.coef_[v].T, differences, atol=1e-9)


def test_kernel_cca_of_second_moments():
    """The generalized eigenproblem on kernels as they are."""
    X, _, _ = samples()
    c, n = 0.3, 50
    x, z = split(X)
    A = np.zeros((10, 10))
    A[:6, 6:] = x.T @ z / (n - 1)
    B = np.zeros((10, 10))
    B[:6, :6], B[6:, 6:] = ((1 - c) * part.T @ part / (n - 1) + c * np.eye(part.shape[1]) for part in (x, z))
    values, vectors = eigh(A + A.T, B)
    model = KernelCCA(VIEWS, regularization=c, center=False).fit(X)
    np.testing.assert_allclose(model.correlations_, values[::-1][:4], atol=1e-10)
    for weights, rows in zip(model.weights_, (slice(0, 6), slice(6, 10)), strict=True):
        same_up_to_signs(weights.T, np.sqrt(2) * vectors[rows, ::-1][:, :4], atol=1e-8)
    assert not np.allclose(
        model.correlations_, KernelCCA(VIEWS, regularization=c).fit(X).correlations_, atol=0.01
    )


def test_the_concatenated_svm_does_not_care():
    """A sum of kernels, centered or not, is the same SVM: its dual weights sum to zero."""
    X, y, new = samples()
    expected = SVC(kernel="precomputed", tol=1e-10).fit(X @ X.T, y).decision_function(new @ X.T)
    model = ConcatenatedSVC(VIEWS, tol=1e-10).fit(X, y)
    # LIBSVM holds kernel values in single precision
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-4 * np.abs(expected).max())
    assert "center" not in model.get_params()


@pytest.mark.parametrize(
    "make", [TensorSVC, TensorDecomposition, DecomposedTensorSVC, KernelCCA, KernelCCASVC]
)
def test_nonsense_is_refused(make):
    X, y, _ = samples()
    with pytest.raises(ValueError, match=r"center: found 'no', expected one of True, False"):
        make(VIEWS, center="no").fit(X, y)
    with pytest.raises(ValueError, match=r"center: found a list of 3, expected one for each of 2 views"):
        make(VIEWS, center=[True, False, True]).fit(X, y)
