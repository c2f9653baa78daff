"""TensorSVC, DTS and the paper's baselines: as scikit-learn's SVC has them on kernels made by hand."""

import numpy as np
import pytest
from sklearn.svm import SVC
from tensor.naive_tensor import as_printed, centered_kernels, fitted_svm
from tensor.two_views import gaussian, pictures_and_scans

from svdecode import DecomposedTensorSVC, KernelCCA, TensorSVC
from svdecode.tensor import ConcatenatedSVC, KernelCCASVC

VIEWS = [40, 15]


def halves(k=2, **options):
    """Training and test samples, the first also as centered kernels by hand."""
    X, y = pictures_and_scans(n=160, k=k, n_pictures=24, **options)
    return X[:80], y[:80], X[80:], y[80:]


def by_hand(X, new, kernels=("linear", "linear")):
    blocks = [(X[:, :40], new[:, :40]), (X[:, 40:], new[:, 40:])]
    pairs = [centered_kernels(a, b, k) for (a, b), k in zip(blocks, kernels, strict=True)]
    return [K for K, _ in pairs], [K for _, K in pairs]


@pytest.mark.parametrize("C", [1e-4, 1.0])
@pytest.mark.parametrize("kernels", [("linear", "linear"), ("rbf", "polynomial")])
def test_tensor_svm(kernels, C):
    X, y, new, _ = halves()
    (Kx, Ky), (Nx, Ny) = by_hand(X, new, kernels)
    expected = SVC(kernel="precomputed", C=C).fit(Kx * Ky, y)
    model = TensorSVC(VIEWS, kernel=list(kernels), C=C).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), expected.decision_function(Nx * Ny), atol=1e-10)
    np.testing.assert_array_equal(model.predict(new), expected.predict(Nx * Ny))


def test_a_missing_view_is_a_kernel_of_ones():
    X, y, new, _ = halves()
    (Kx, Ky), (Nx, Ny) = by_hand(X, new)
    svm = SVC(kernel="precomputed").fit(Kx * Ky, y)
    model = TensorSVC(VIEWS).fit(X, y)
    new = new.copy()
    new[:30, 40:] = np.nan
    new[50:, :40] = np.nan
    Ny[:30] = 1
    Nx[50:] = 1
    np.testing.assert_allclose(model.decision_function(new), svm.decision_function(Nx * Ny), atol=1e-10)
    alone = model.decision_function([new[:30, :40], None])
    np.testing.assert_allclose(alone, svm.decision_function(Nx[:30]), atol=1e-10)


@pytest.mark.parametrize("make", [TensorSVC, DecomposedTensorSVC, ConcatenatedSVC, KernelCCASVC])
def test_more_classes_one_against_the_rest(make):
    X, y, new, y_new = halves(k=3)
    names = np.array(["cat", "dog", "hat"])
    model = make(VIEWS).fit(X, names[y])
    scores = model.decision_function(new)
    assert scores.shape == (80, 3)
    for j in range(3):
        np.testing.assert_allclose(scores[:, j], make(VIEWS).fit(X, y == j).decision_function(new), atol=1e-8)
    np.testing.assert_array_equal(model.predict(new), names[scores.argmax(axis=1)])
    assert model.score(new, names[y_new]) > 0.6


@pytest.mark.parametrize("T", [3, "max"])
@pytest.mark.parametrize("use", ["paired", 0, 1])
@pytest.mark.parametrize("scale", [False, True])
def test_decomposed_tensor_svm(use, T, scale):
    X, y, new, _ = halves()
    kernels, crosses = by_hand(X, new)
    signed, _ = fitted_svm(kernels[0] * kernels[1], y)
    duals = as_printed(*kernels, signed, 15 if T == "max" else T)[:2]
    chosen = range(2) if use == "paired" else [use]
    train = np.prod([kernels[v] @ duals[v] @ (kernels[v] @ duals[v]).T for v in chosen], axis=0)
    test = np.prod([crosses[v] @ duals[v] @ (kernels[v] @ duals[v]).T for v in chosen], axis=0)
    size = np.mean(np.diag(train)) if scale else 1.0
    expected = SVC(kernel="precomputed").fit(train / size, y).decision_function(test / size)
    model = DecomposedTensorSVC(VIEWS, use=use, n_projections=T, scale=scale).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-7)


def test_dts_where_a_view_is_missing():
    X, y, new, y_new = halves()
    paired = DecomposedTensorSVC(VIEWS, n_projections="max").fit(X, y)
    alone = [DecomposedTensorSVC(VIEWS, n_projections="max", use=v).fit(X, y) for v in range(2)]
    both = paired.decision_function(new)
    assert not np.allclose(both, alone[0].decision_function(new), atol=0.01)
    expected, spoiled = both.copy(), new.copy()
    spoiled[:30, 40:] = np.nan
    expected[:30] = alone[0].decision_function(new[:30])
    spoiled[50:, :40] = np.nan
    expected[50:] = alone[1].decision_function(new[50:])
    np.testing.assert_allclose(paired.decision_function(spoiled), expected, atol=1e-9)
    spoiled = new.copy()
    spoiled[:, 40:] = np.nan  # what a scan needs no picture for
    np.testing.assert_allclose(alone[0].decision_function(spoiled), alone[0].decision_function(new))
    assert alone[0].score(spoiled, y_new) > 0.8
    with pytest.raises(
        ValueError, match="NaN in every column of view 1 in row 0, expected that view, on which"
    ):
        alone[1].predict(spoiled)
    with pytest.raises(ValueError, match="use: found 'both'"):
        DecomposedTensorSVC(VIEWS, use="both").fit(X, y)


def test_dts_keeps_what_the_tensor_svm_does():
    """Section 5.1.1: recombined, all projections are as good as what was decomposed."""
    hits = []
    for seed in range(8):
        X, y, new, y_new = halves(seed=seed)
        models = TensorSVC(VIEWS), DecomposedTensorSVC(VIEWS), DecomposedTensorSVC(VIEWS, n_projections="max")
        hits.append([model.fit(X, y).predict(new) == y_new for model in models])
    tensor, bound, every = np.array(hits).transpose(1, 0, 2).reshape(3, -1)
    assert 0.7 < tensor.mean() < 0.98
    for dts in (bound, every):
        differ = tensor != dts
        # McNemar: of the samples on which they differ, as many go one way as the other, within two deviations
        assert abs((tensor & differ).sum() - (dts & differ).sum()) <= 2 * np.sqrt(differ.sum())


@pytest.mark.parametrize("make", [ConcatenatedSVC, DecomposedTensorSVC, KernelCCASVC])
def test_maps(make):
    """Weights in the columns of a view are those of the scores of that view."""
    X, y, new, _ = halves(k=3)
    model = make(VIEWS).fit(X, y)
    for v, columns in enumerate([slice(0, 40), slice(40, 55)]):
        assert model.coef_[v].shape == (3, columns.stop - columns.start)
        alone = new.copy()
        alone[:, slice(0, 40) if v else slice(40, 55)] = np.nan
        centered = new[:, columns] - X[:, columns].mean(axis=0)
        difference = model.decision_function(alone) - centered @ model.coef_[v].T
        np.testing.assert_allclose(difference, np.broadcast_to(difference[0], difference.shape), atol=1e-8)
    one = make(VIEWS, kernel=["linear", "rbf"]).fit(X, y)
    assert one.coef_[1] is None
    if make is not ConcatenatedSVC:
        assert make(VIEWS, use=1).fit(X, y).coef_[0] is None


def test_concatenated_views():
    X, y, new, _ = halves()
    mean = X.mean(axis=0)
    expected = SVC(kernel="linear").fit(X - mean, y)
    model = ConcatenatedSVC(VIEWS).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(new), expected.decision_function(new - mean), atol=1e-8
    )
    np.testing.assert_allclose(np.hstack(model.coef_), expected.coef_, atol=1e-8)


@pytest.mark.parametrize("use", ["paired", 0, 1])
def test_svm_on_canonical_projections(use):
    X, y, new, _ = halves()
    cca = KernelCCA(VIEWS, regularization=0.3, normalize=True).fit(X)
    chosen = range(2) if use == "paired" else [use]
    train = [cca.transform(X, view=v) for v in chosen]
    test = [cca.transform(new, view=v) for v in chosen]
    expected = SVC(kernel="precomputed").fit(np.prod([F @ F.T for F in train], axis=0), y)
    scores = expected.decision_function(np.prod([N @ F.T for N, F in zip(test, train, strict=True)], axis=0))
    model = KernelCCASVC(VIEWS, use=use, regularization=0.3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), scores, atol=1e-7)


# what the paper found beside (5.1.2), and what centering does


def concatenated_and_alone(unit, C=1.0):
    """Relative distance of the scans' weights in an SVM on both views from those of an SVM on scans alone."""
    X, y = pictures_and_scans(n=84, n_pictures=84, n_voxels=3000, n_features=50, noise=3.0)
    X[:, 3000:] *= unit
    both = ConcatenatedSVC([3000, 50], C=C, tol=1e-10).fit(X, y).coef_[0][0]
    alone = SVC(kernel="linear", C=C, tol=1e-10).fit(X[:, :3000] - X[:, :3000].mean(axis=0), y).coef_[0]
    return np.linalg.norm(both - alone) / np.linalg.norm(alone)


def test_the_concatenated_svms_brain_weights():
    """They are the brain-only SVM's in the limit of small features beside them, and not in general.

    The paper found them identical. The distance goes with the share of the second view in the kernel, that is
    with the square of the features' unit. They are the same, too, where all dual weights are at their bound.
    """
    distances = {unit: concatenated_and_alone(unit) for unit in (10.0, 1.0, 0.1, 0.01, 1e-6)}
    assert distances[10.0] > 0.03
    assert 50 < distances[10.0] / distances[1.0] < 200
    assert 50 < distances[1.0] / distances[0.1] < 200
    assert 50 < distances[0.1] / distances[0.01] < 200
    assert distances[1e-6] < 1e-10
    assert concatenated_and_alone(10.0, C=1e-9) < 1e-10


def test_classes_that_differ_by_their_means_alone():
    """Classes at ±(μ, ν) have the same products: a tensor kernel of centered views cannot tell them apart."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.standard_normal((400, 50)) + y[:, None]
    for model in (TensorSVC([40, 10]), DecomposedTensorSVC([40, 10], n_projections="max")):
        assert abs(model.fit(X[:200], y[:200]).score(X[200:], y[200:]) - 0.5) < 0.15
    assert ConcatenatedSVC([40, 10]).fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.98
    one = DecomposedTensorSVC([40, 10], n_projections="max", use=1).fit(X[:200], y[:200])
    assert one.score(X[200:], y[200:]) > 0.85  # each view's projections still hold its means
    product = gaussian(400, 5, 5)
    assert TensorSVC([5, 5]).fit(*product).score(*product) > 0.9
