"""Views: every way of saying which columns they are, samples that lack one, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tensor.two_views import pictures_and_scans

from svdecode import DecomposedTensorSVC, KernelCCA, TensorDecomposition, TensorSVC
from svdecode.tensor import KernelCCASVC, retrieve
from svdecode.tensor.views import view_columns

X, Y = pictures_and_scans()
NAMES = [f"voxel {j}" for j in range(40)] + [f"pixel {j}" for j in range(15)]
SAME = {
    "counts": [40, 15],
    "numpy counts": np.array([40, 15]),
    "slices": [slice(0, 40), slice(40, None)],
    "negative": [slice(None, -15), range(-15, 0)],
    "ranges": (range(40), range(40, 55)),
    "numbers": [list(range(40)), np.arange(40, 55)],
    "masks": [np.arange(55) < 40, np.arange(55) >= 40],
    "names": [NAMES[:40], NAMES[40:]],
    "an index": [pd.Index(NAMES[:40]), pd.Index(NAMES[40:])],
}


@pytest.mark.parametrize("case", SAME)
def test_ways_of_saying_the_same(case):
    columns = view_columns(SAME[case], 55, NAMES)
    np.testing.assert_array_equal(columns[0], np.arange(40))
    np.testing.assert_array_equal(columns[1], np.arange(40, 55))
    frame = pd.DataFrame(X, columns=NAMES)
    expected = TensorSVC([40, 15]).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(TensorSVC(SAME[case]).fit(frame, Y).decision_function(frame), expected)


def test_other_orders_and_spare_columns():
    order = np.random.default_rng(0).permutation(55)
    places = np.argsort(order)
    expected = TensorSVC([slice(0, 20), slice(40, 50)]).fit(X, Y).decision_function(X)
    spoiled = X.copy()
    spoiled[:, 30] = np.nan  # of no view
    model = TensorSVC([places[:20], places[40:50]]).fit(spoiled[:, order], Y)
    np.testing.assert_allclose(model.decision_function(spoiled[:, order]), expected, atol=1e-10)
    frame = pd.DataFrame(X, columns=NAMES)[[NAMES[j] for j in order]]
    model = TensorSVC([NAMES[:20], NAMES[40:50]]).fit(frame, Y)
    np.testing.assert_allclose(model.decision_function(frame), expected, atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", ["polynomial", "linear"]])
def test_types_of_matrices(kernel):
    model = TensorSVC([40, 15], kernel=kernel)
    rounded = np.round(X, 1)
    expected = model.fit(rounded, Y).decision_function(rounded)
    single = rounded.astype(np.float32)
    for other in (
        np.asfortranarray(rounded),
        sp.csr_matrix(rounded),
        sp.csc_array(rounded),
        rounded.tolist(),
    ):
        np.testing.assert_allclose(model.fit(other, Y).decision_function(other), expected, atol=1e-9)
    np.testing.assert_allclose(model.fit(single, Y).decision_function(single), expected, atol=1e-3)
    apart = [rounded[:, :40], sp.csr_matrix(rounded[:, 40:])]
    np.testing.assert_allclose(model.fit(apart, Y).decision_function(apart), expected, atol=1e-9)


def test_a_fit_on_a_list_forgets_the_names_of_an_earlier_one():
    frame = pd.DataFrame(X, columns=NAMES)
    for model in (TensorSVC([40, 15]), DecomposedTensorSVC([40, 15]), KernelCCA([40, 15])):
        model.fit(frame, Y)
        assert list(model.feature_names_in_) == NAMES
        model.fit([X[:, :40], X[:, 40:]], Y)
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == 55


REFUSED = {
    "no list": (3, "views: found 3, expected a list"),
    "text": ("brain", "views: found 'brain', expected a list"),
    "one view": ([slice(0, 4)], r"views: found 1 view\(s\), expected at least two"),
    "counts that do not add up": ([40, 16], r"views: found counts \[40, 16\] \(sum 56\)"),
    "a count of zero": ([55, 0], "views: found counts"),
    "no column": ([slice(0, 40), slice(60, 80)], r"views\[1\]: found no column of the 55"),
    "a column that is not there": ([[0, 1], [54, 55]], r"views\[1\]: found column 55, expected 0 to 54"),
    "a short mask": ([np.ones(4, bool), [3]], r"views\[0\]: found a mask of shape \(4,\)"),
    "names without a frame": ([["a"], ["b"]], r"views\[0\]: found column names, expected X to be a frame"),
    "fractions": ([[0.5, 1.5], [3]], r"views\[0\]: found"),
    "nothing": ([None, [3]], r"views\[0\]: found"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_views(case):
    views, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        TensorSVC(views).fit(X, Y)


def test_refused_names_and_lists():
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ValueError, match=r"views\[1\]: found the name 'pixel 99', expected a column of X"):
        TensorSVC([NAMES[:4], ["pixel 99"]]).fit(frame, Y)
    with pytest.raises(ValueError, match="X: found a list of 3 matrices, expected one for each of 2 views"):
        TensorSVC([40, 15]).fit([X, X, X], Y)
    with pytest.raises(ValueError, match="X: found None in place of a view"):
        TensorSVC([40, 15]).fit([X, None], Y)
    with pytest.raises(ValueError, match=r"X: found views of \[119, 120\] rows"):
        TensorSVC([40, 15]).fit([X, X[1:]], Y)
    with pytest.raises(ValueError, match="kernel: found a list of 3, expected one for each of 2 views"):
        TensorSVC([40, 15], kernel=["rbf"] * 3).fit(X, Y)
    with pytest.raises(ValueError, match="kernel: found 'sigmoid'"):
        TensorSVC([40, 15], kernel=["rbf", "sigmoid"]).fit(X, Y)
    model = TensorSVC([40, 15]).fit([X[:, :40], X[:, 40:]], Y)
    with pytest.raises(ValueError, match="X: found 39 features, expected 40"):
        model.predict([X[:, :39], X[:, 40:]])


def test_refused_values():
    model = TensorSVC([40, 15]).fit(X, Y)
    bad = X.copy()
    bad[3, 44] = np.nan
    with pytest.raises(ValueError, match="X: found NaN in row 3, column 44, expected finite numbers"):
        model.predict(bad)
    with pytest.raises(ValueError, match="X: found NaN in row 3, column 44"):
        TensorSVC([40, 15]).fit(bad, Y)
    bad[3, 40:] = np.nan
    with pytest.raises(
        ValueError, match="X: found NaN in every column of view 1 in row 3, expected all views"
    ):
        TensorSVC([40, 15]).fit(bad, Y)
    bad[3] = np.nan
    with pytest.raises(ValueError, match="X: found NaN in every column of all views in row 3"):
        model.predict(bad)
    bad[3] = -np.inf
    with pytest.raises(ValueError, match="X: found infinity in row 3, column 0"):
        model.predict(bad)
    huge = X.copy()
    huge[5, :2] = 1e308  # finite, though its sum is not
    with pytest.raises(ValueError, match="X: found values so large"):
        model.predict(huge)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y: found None"),
        (Y[:-1], "y: found 119 labels, expected one for each of the 120 rows"),
        (np.zeros(120), "y: found one class only"),
        (np.where(Y == 0, np.nan, 1.0), "y: found NaN"),
        (np.linspace(0, 1, 120), "y: found no class labels"),
    ],
)
def test_refused_labels(y, message):
    with pytest.raises(ValueError, match=message):
        TensorSVC([40, 15]).fit(X, y)


def test_a_kernel_with_negative_eigenvalues_is_refused():
    K = X[:, :40] @ X[:, :40].T
    model = TensorDecomposition([40, 120], kernel=["linear", "precomputed"])
    with pytest.raises(ValueError, match="kernel: found a kernel matrix with the eigenvalue -"):
        model.fit([X[:, :40], -K], Y)


@pytest.mark.parametrize("v", [0, 1])
def test_kernel_cca_refuses_it_too(v):
    """It keeps positive eigenvalues alone, and would find nothing."""
    kernels = [X[:, :40] @ X[:, :40].T, X[:, 40:] @ X[:, 40:].T]
    kernels[v] = -kernels[v]
    with pytest.raises(
        ValueError, match=r"found a kernel matrix with the eigenvalue -.* positive semidefinite"
    ):
        KernelCCA(kernels).fit(None)


def test_matrices_in_place_of_views_are_kernels():
    """Whether or not `kernel` says so; data are no kernels."""
    kernels = [X[:, :40] @ X[:, :40].T, X[:, 40:] @ X[:, 40:].T]
    expected = TensorSVC([40, 15]).fit(X, Y).decision_function(X)
    for kernel in ("linear", "precomputed", ["precomputed", "precomputed"]):
        scores = TensorSVC(kernels, kernel=kernel).fit(None, Y).decision_function(kernels)
        np.testing.assert_allclose(scores, expected, atol=1e-9)
    with pytest.raises(
        ValueError, match="kernel: found 'rbf' with kernel matrices for views, expected 'precom"
    ):
        TensorSVC(kernels, kernel="rbf").fit(None, Y)
    with pytest.raises(
        ValueError, match=r"found a kernel matrix of shape \(120, 40\), expected a square one"
    ):
        TensorSVC([X[:, :40], X[:, 40:]]).fit(None, Y)


def test_what_else_is_refused_in_words():
    model = TensorSVC([40, 15]).fit(X, Y)
    with pytest.raises(ValueError, match="X: found None in place of every view"):
        model.predict([None, None])
    with pytest.raises(ValueError, match="y: found 2 columns of labels, expected one label a row"):
        TensorSVC([40, 15]).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="model: found TensorSVC, which has no projections"):
        retrieve(model, X, X, Y, Y)
    with pytest.raises(ValueError, match=r"names \(or whole numbers of columns for all views\)"):
        TensorSVC([40.0, 15.0]).fit(X, Y)


@pytest.mark.parametrize("make", [DecomposedTensorSVC, KernelCCASVC])
def test_any_view_may_be_used_alone(make):
    views = [slice(0, 20), slice(20, 40), slice(40, 55)]
    model = make(views, use=2).fit(X, Y)
    spoiled = np.hstack([-X[:, :40], X[:, 40:]])
    alone = model.decision_function([None, None, X[:, 40:]])
    np.testing.assert_array_equal(alone, model.decision_function(spoiled))
    assert np.ptp(alone) > 0
    with pytest.raises(ValueError, match="use: found 3, expected one of 'paired', 0, 1, 2"):
        make(views, use=3).fit(X, Y)
