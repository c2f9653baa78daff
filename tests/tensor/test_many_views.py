"""The estimators on three views and more: equality with the SVM, missing views, classes, storage."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from svdecode import DecomposedTensorSVC, TensorDecomposition, TensorSVC
from svdecode.tensor import retrieve
from svdecode.tensor.multiway import combine

COLUMNS = (5, 30, 4)
VIEWS = [slice(0, 5), slice(5, 35), slice(35, 39)]
BOTH = pytest.mark.parametrize("decomposition", ["cp", "tucker"])


def samples(n=50, k=2, seed=0):
    """Three views of noise, and classes by the product of their first columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, sum(COLUMNS)))
    score = X[:, 0] * X[:, 5] * X[:, 35]
    return X, score.argsort().argsort() * k // n


@pytest.fixture(autouse=True)
def _quiet():
    """CP of noise may take long to settle; what is tested here holds of any factors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@BOTH
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", ["linear", "rbf", "polynomial"]])
def test_all_projections_give_the_decision_of_the_tensor_svm(decomposition, k, kernel):
    X, y = samples(k=k)
    X_new = samples(seed=1)[0]
    svm = TensorSVC(VIEWS, kernel=kernel).fit(X, y)
    model = TensorDecomposition(VIEWS, n_projections="max", kernel=kernel, decomposition=decomposition)
    model.fit(X, y)
    expected = svm.decision_function(X_new).reshape(len(X_new), -1)
    features = [model.transform(X_new, view=v) for v in range(3)]
    by_class = [np.split(F, expected.shape[1], axis=1) for F in features]
    for j, b in enumerate(svm.intercept_):
        core = None if model.core_ is None else model.core_ if k == 2 else model.core_[j]
        f = combine([F[j] for F in by_class], core) + b
        np.testing.assert_allclose(f, expected[:, j], atol=1e-8 * np.abs(expected).max())


@BOTH
def test_weights_of_linear_views_make_the_weight_tensor(decomposition):
    X, y = samples()
    model = TensorDecomposition(VIEWS, n_projections="max", decomposition=decomposition).fit(X, y)
    blocks = [X[:, v] - X[:, v].mean(axis=0) for v in VIEWS]
    W = np.einsum("i,ia,ib,ic->abc", model.dual_coef_[0], *blocks)
    a, b, c = model.weights_
    if model.core_ is None:
        rebuilt = np.einsum("ta,tb,tc->abc", a, b, c)
    else:
        rebuilt = np.einsum("stu,sa,tb,uc->abc", model.core_, a, b, c)
    np.testing.assert_allclose(rebuilt, W, atol=1e-9 * np.abs(W).max())


@BOTH
@pytest.mark.parametrize("k", [2, 3])
def test_samples_that_lack_views_are_read_by_those_they_have(decomposition, k):
    """Scores equal LIBSVM's on the product of the projections of the views that are there, listed naively."""
    X, y = samples(k=k)
    X_new, kept = samples(20, seed=2)[0], ([0, 1, 2], [0], [2], [0, 2], [1, 2])
    model = DecomposedTensorSVC(VIEWS, n_projections=4, decomposition=decomposition, random_state=0)
    model.fit(X, y)
    missing = X_new.copy()
    for i in range(20):
        for v in set(range(3)) - set(kept[i % 5]):
            missing[i, VIEWS[v]] = np.nan
    scores = model.decision_function(missing).reshape(20, -1)
    project = model.decomposition_.transform
    signs = [np.where(y == c, 1, -1) for c in (range(3) if k == 3 else [1])]
    for p, views in enumerate(kept):
        rows = np.arange(20) % 5 == p
        for j, c in enumerate(signs):
            train = [np.split(project(X, view=v), len(signs), axis=1)[j] for v in views]
            new = [np.split(project(X_new[rows], view=v), len(signs), axis=1)[j] for v in views]
            svm = SVC(kernel="precomputed").fit(np.prod([F @ F.T for F in train], axis=0), c)
            expected = svm.decision_function(
                np.prod([G @ F.T for F, G in zip(train, new, strict=True)], axis=0)
            )
            np.testing.assert_allclose(scores[rows, j], expected, atol=1e-7 * np.abs(expected).max())


@BOTH
def test_one_view_is_enough_where_it_is_asked_for(decomposition):
    X, y = samples()
    model = DecomposedTensorSVC(VIEWS, n_projections=3, use=2, decomposition=decomposition, random_state=0)
    model.fit(X, y)
    alone = [None, None, X[:, VIEWS[2]]]
    np.testing.assert_array_equal(model.predict(X), model.predict(alone))
    with pytest.raises(ValueError, match="use: found 3, expected one of 'paired', 0, 1, 2"):
        DecomposedTensorSVC(VIEWS, use=3).fit(X, y)


@BOTH
def test_what_only_three_views_tell_together_is_learned(decomposition):
    """Classes are the sign of a product of three columns, of which a pair of views knows nothing."""
    X, y = samples(400)
    X_new, y_new = samples(400, seed=3)
    model = DecomposedTensorSVC(VIEWS, n_projections=1, decomposition=decomposition, random_state=0)
    found = model.fit(X, y).score(X_new, y_new)
    assert found > 0.7  # three standard errors of 400 guesses: 0.575
    assert found > TensorSVC(VIEWS).fit(X, y).score(X_new, y_new) + 0.1  # which has 600 products to weigh
    assert TensorSVC([5, 30]).fit(X[:, :35], y).score(X_new[:, :35], y_new) < 0.575
    for weights in model.decomposition_.weights_:  # the column that matters carries the direction
        assert np.abs(weights[0]).argmax() == 0


def test_precomputed_kernels_give_the_same():
    X, y = samples()
    X_new = samples(seed=4)[0]
    kernels = [rbf_kernel(X[:, v]) for v in VIEWS]
    new = [rbf_kernel(X_new[:, v], X[:, v], gamma=1 / X[:, v].shape[1]) for v in VIEWS]
    direct = DecomposedTensorSVC(VIEWS, n_projections=3, kernel="rbf", random_state=0).fit(X, y)
    given = DecomposedTensorSVC([50] * 3, n_projections=3, kernel="precomputed", random_state=0)
    given.fit(kernels, y)
    np.testing.assert_allclose(given.decision_function(new), direct.decision_function(X_new), atol=1e-7)


def test_two_views_ignore_the_kind_of_decomposition():
    X, y = samples()
    views = [VIEWS[0], VIEWS[1]]
    one, other = (
        TensorDecomposition(views, n_projections=3, decomposition=kind).fit(X, y) for kind in ("cp", "tucker")
    )
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert other.core_ is None


def test_a_bound_takes_the_view_that_asks_for_most():
    X, y = samples(80)
    X = np.hstack([X, samples(80, seed=5)[0]])
    views = [slice(35, 60), slice(5, 35), slice(60, 78)]
    asked = [
        TensorDecomposition([views[0], views[v]]).fit(X, y).bound_values("bound").argmin() + 1 for v in (1, 2)
    ]
    assert asked[0] != asked[1]
    for order in ([0, 1, 2], [0, 2, 1]):
        model = TensorDecomposition([views[v] for v in order], n_projections="bound", random_state=0)
        assert model.fit(X, y).n_projections_ == max(asked)


def test_a_lasso_chooses_among_pairs_only():
    X, y = samples()
    model = TensorDecomposition(VIEWS, n_projections="lasso").fit(X, y)
    most = TensorDecomposition(VIEWS, n_projections="max").fit(X, y)
    assert 1 <= model.n_projections_ < most.n_projections_
    with pytest.raises(ValueError, match="n_projections: found 'lasso' with decomposition='tucker'"):
        TensorDecomposition(VIEWS, n_projections="lasso", decomposition="tucker").fit(X, y)
    with pytest.raises(ValueError, match="decomposition: found 'svd', expected one of 'cp', 'tucker'"):
        TensorDecomposition(VIEWS, decomposition="svd").fit(X, y)


@BOTH
def test_clones_and_stored_models_do_the_same(decomposition):
    X, y = samples(k=3)
    model = DecomposedTensorSVC(VIEWS, n_projections=2, decomposition=decomposition, random_state=0).fit(X, y)
    for twin in (clone(model).fit(X, y), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))


def test_retrieval_across_any_pair_of_views():
    X, y = samples(k=3)
    model = TensorDecomposition(VIEWS, n_projections=3, random_state=0).fit(X[:40], y[:40])
    new = X[40:].copy()
    new[:, VIEWS[0]] = np.nan
    found = retrieve(model, new, X[:40], y[40:], y[:40], view=2, training_view=1, k=3)
    scores = model.transform(X[40:], view=2) @ model.transform(X[:40], view=1).T
    assert found.accuracy == np.mean(y[:40][scores.argmax(axis=1)] == y[40:])
