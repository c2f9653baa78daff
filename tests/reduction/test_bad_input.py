"""Bad input: one line that names the argument, what was found and what was expected."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from svdecode.reduction import SharedGram, kernel_matrix, reduce_rows


def with_value(X, value):
    X = X.copy()
    X[2, 3] = value
    return X


def with_nan(X):
    return with_value(X, np.nan)


def product(A, B):
    return A @ B.T


NAN = "X: found NaN in row 2, column 3, expected finite numbers"
SHAPE = r"X: found an array of shape \(%s\), expected "
NO_NUMBERS = "X: found values that are no numbers .*expected numbers"

#: what becomes of good data (5 × 8), and the line that says so
BAD_DATA = {
    "NaN": (with_nan, NAN),
    "NaN, Fortran order": (lambda X: np.asfortranarray(with_nan(X)), NAN),
    "NaN, float32": (lambda X: with_nan(X).astype(np.float32), NAN),
    "NaN, sparse": (lambda X: sp.csr_matrix(with_nan(X)), NAN),
    "NaN, frame": (lambda X: pd.DataFrame(with_nan(X)), NAN),
    "NaN, tall": (lambda X: with_nan(X).T, "X: found NaN in row 3, column 2, expected finite numbers"),
    "infinity": (lambda X: with_value(X, -np.inf), "X: found infinity in row 2, column 3, expected finite"),
    "overflow": (lambda X: 1e200 * X, "X: found values so large .*expected numbers below about 1e150"),
    "overflow, tall": (lambda X: 1e200 * X.T, "X: found values so large .*expected numbers below about"),
    "underflow": (lambda X: 1e-160 * X, "X: found values so small .*expected numbers above about 1e-140"),
    "underflow, tall": (lambda X: 1e-160 * X.T, "X: found values so small .*expected numbers above about"),
    "underflow, sparse": (lambda X: sp.csr_matrix(1e-170 * X), "X: found values so small .*expected numbers"),
    "masked": (lambda X: np.ma.masked_equal(X, X[2, 3]), "X: found a masked entry in row 2, column 3, exp"),
    "one dimension": (lambda X: X[0], SHAPE % "8,"),
    "three dimensions": (lambda X: X[None], SHAPE % "1, 5, 8"),
    "no rows": (lambda X: X[:0], SHAPE % "0, 8"),
    "no columns": (lambda X: X[:, :0], SHAPE % "5, 0"),
    "no rows, sparse": (lambda X: sp.csr_matrix(X)[:0], SHAPE % "0, 8"),
    "text": (lambda _: np.full((3, 2), "a"), NO_NUMBERS),
    "objects": (lambda _: [[1, None], [2, "x"]], NO_NUMBERS),
    "ragged": (lambda _: [[1, 2], [3]], NO_NUMBERS),
    "dates": (lambda _: np.full((3, 2), "2020-01-01", "M8[D]"), NO_NUMBERS),
    "complex": (lambda X: X * 1j, "X: found complex numbers, expected real ones"),
    "complex, sparse": (lambda X: sp.csr_matrix(X * 1j), "X: found complex numbers, expected real ones"),
    "text column": (
        lambda X: pd.DataFrame({"v1": X[:, 0], "who": list("abcde")}),
        r"X: found columns that are no numbers \(who\), expected numbers",
    ),
}

#: parameters of a kernel with good data
BAD_KERNELS = {
    "name": ({"kernel": "rfb"}, "kernel: found 'rfb', expected one of 'linear'"),
    "gamma": ({"kernel": "rbf", "gamma": -1.0}, "gamma: found -1, expected a finite number above 0"),
    "degree": ({"kernel": "polynomial", "degree": 0}, "degree: found 0, expected a finite number above 0"),
    "coef0": ({"kernel": "polynomial", "coef0": "one"}, "coef0: found 'one', expected a finite number"),
    "fractional power of a negative number": (
        {"kernel": "polynomial", "degree": 0.5, "coef0": 0},
        "kernel: found NaN or infinity among the values of 'polynomial', expected finite numbers",
    ),
    "shape": ({"kernel": lambda *_: 1.0}, r"kernel: found values of shape \(\) .*expected \(5, 5\)"),
    "values": ({"kernel": lambda A, B: product(A, B) * np.nan}, "kernel: found NaN or infinity among"),
    "not square": (
        {"kernel": "precomputed"},
        r"X: found a kernel matrix of shape \(5, 8\), expected a square",
    ),
}


def good_data():
    return np.random.default_rng(9).standard_normal((5, 8))


def assert_refuses(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_named(case):
    make, message = BAD_DATA[case]
    X = make(good_data())
    assert_refuses(lambda: reduce_rows(X), message)
    assert_refuses(lambda: SharedGram(X), message)


@pytest.mark.parametrize(
    "params", [{"method": "lq"}, {"kernel": "rbf"}, {"kernel": "polynomial"}, {"kernel": product}]
)
def test_not_a_number_is_found_by_every_route(params):
    assert_refuses(lambda: reduce_rows(with_nan(good_data()), **params), NAN)


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_bad_kernels_are_named(case):
    params, message = BAD_KERNELS[case]
    assert_refuses(lambda: reduce_rows(good_data(), **params), message)
    assert_refuses(lambda: SharedGram(good_data(), **params), message)


def test_bad_kernel_matrices_are_named():
    X = good_data()
    K = product(X, X)
    assert_refuses(lambda: reduce_rows(with_nan(K), kernel="precomputed"), NAN)
    K[1, 0] += 1
    assert_refuses(lambda: reduce_rows(K, kernel="precomputed"), "X: .*not symmetric, expected K = Kᵀ")
    assert_refuses(lambda: kernel_matrix(X, X, "precomputed"), "kernel: found 'precomputed', expected one")


def test_bad_methods_are_named():
    X = good_data()
    assert_refuses(lambda: reduce_rows(X, method="qr"), "method: found 'qr', expected one of 'auto'")
    assert_refuses(lambda: reduce_rows(X, kernel="rbf", method="lq"), "method: found 'lq' .*expected 'gram'")
    assert_refuses(lambda: reduce_rows(X, center="no"), "center: found 'no', expected one of True, False")
    sparse = sp.csr_matrix(X)
    assert_refuses(lambda: reduce_rows(sparse, method="lq"), "method: found 'lq' with a sparse X, expected")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, np.float32])
@pytest.mark.parametrize(
    "params", [{}, {"kernel": "rbf"}, {"method": "lq"}, {"method": "features"}, {"center": False}]
)
def test_new_rows_that_are_not_finite_are_refused(params, form, value):
    X = good_data()
    X[:, 3] = 0  # so that no product meets the value
    new = form(with_value(X, value)[1:])
    kind = "NaN" if np.isnan(value) else "infinity"
    trainings = (X,) if params.get("method") == "lq" else (X, sp.csr_matrix(X))
    for training in trainings:
        reduction = reduce_rows(training, **params)
        assert_refuses(lambda r=reduction: r.transform(new), f"X: found {kind} in row 1, column 3, expected")


def test_new_rows_with_other_features_are_refused():
    X = good_data()
    for reduction, m in ((reduce_rows(X), 8), (reduce_rows(X.T), 5), (reduce_rows(X, kernel="rbf"), 8)):
        assert_refuses(
            lambda r=reduction: r.transform(np.zeros((2, 3))), f"X: found 3 features, expected {m}"
        )
    kernel = reduce_rows(np.eye(4), kernel="precomputed")
    message = "X: found 3 kernel values with the training rows, expected 4"
    assert_refuses(lambda: kernel.transform(np.zeros((2, 3))), message)


@pytest.mark.parametrize("shape", [(2, 9), (4,), (1, 2, 4)])
@pytest.mark.parametrize("method", ["gram", "features"])
def test_directions_with_other_coordinates_are_refused(method, shape):
    reduction = reduce_rows(good_data(), method=method)
    assert_refuses(
        lambda: reduction.lift(np.ones(shape)),
        rf"B: found an array of shape .* expected {reduction.rank} columns",
    )


def test_a_kernel_has_no_way_back():
    X = good_data()
    for reduction in (reduce_rows(X, kernel="rbf"), SharedGram(X, "rbf").reduce(np.arange(4))):
        B = np.ones((1, reduction.rank))
        assert_refuses(lambda r=reduction, B=B: r.lift(B), "kernel: found 'rbf', .*expected 'linear'")
        assert_refuses(lambda r=reduction: r.mean, "kernel: .*expected 'linear'")
