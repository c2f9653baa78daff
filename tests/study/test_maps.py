"""Weight maps from a store: those of the fitted estimators, without fitting again."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC
from study.studies import EXACT, brain, counted, fits

from svdecode import Study
from svdecode.study import METHODS, Method, coefficients, leave_one_run_out, standardize

LINEAR = {
    "svdm": METHODS["svdm"](sizes=[2], shrinkage=0.1, **EXACT),
    "penalized": METHODS["svdm"](
        sizes=[2], formulation="penalized", shrinkage=0.1, max_iter=10, stopping="decrease"
    ),
    "svd_svm": METHODS["svd_svm"](sizes=[3], C=1.0),
    "linear_svm": METHODS["linear_svm"](C=1.0),
    "pls_da": METHODS["pls_da"](sizes=[2]),
    "ridge": METHODS["ridge"](alpha=1.0),
    "svdm_svm": METHODS["svdm_svm"](sizes=[2], shrinkage=0.1, C=1.0, **EXACT),
    "logistic": Method("", LogisticRegression, fixed={"C": 0.1, "tol": 1e-7, "max_iter": 10_000}),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def normed(maps):
    return maps / np.linalg.norm(maps, axis=1, keepdims=True)


def by_hand(data, method, split_data=None):
    """Coefficients, patterns of each fold's own fit on the voxels."""
    coefs, patterns = [], []
    for split in leave_one_run_out(data):
        own = data if split_data is None else split_data(split)
        X, y = own.X[split.train], own.y[split.train]
        coef = coefficients(method.estimator(method.sizes and method.sizes[0]).fit(X, y))[0]
        scores = X @ coef.T
        pattern = np.array([[np.cov(x, s)[0, 1] for x in X.T] for s in scores.T])
        coefs.append(normed(coef))
        patterns.append(normed(pattern))
    return np.array(coefs), np.array(patterns)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_maps_are_those_of_the_folds_fits(name, n_classes):
    data = brain(n_classes)
    if name != "logistic":  # which then takes far more iterations
        data = replace(data, X=data.X + 50 * np.arange(60))  # means far larger than what varies
    method = LINEAR[name]
    maps = Study(data, {name: method}).run().maps(name)
    coefs, patterns = by_hand(data, method)
    tolerance = 5e-3 if "svm" in name else 1e-4  # LIBSVM stops at a thousandth
    np.testing.assert_allclose(maps.coef, coefs.mean(axis=0), atol=tolerance)
    np.testing.assert_allclose(maps.pattern, patterns.mean(axis=0), atol=tolerance)
    assert maps.n_fits == 5
    assert maps.classes.tolist() == (["face"] if n_classes == 2 else ["cat", "face", "house"])
    if tolerance < 1e-3:
        stability = coefs.mean(axis=0) / coefs.std(axis=0, ddof=1)
        np.testing.assert_allclose(maps.stability, stability, rtol=2e-2, atol=2e-2 * np.abs(stability).max())
        for j, agreement in enumerate(maps.agreement):
            R = np.corrcoef(coefs[:, j])
            assert agreement == pytest.approx(R[np.triu_indices(5, 1)].mean(), abs=1e-3)


@pytest.mark.parametrize("by", ["run", "training"])
def test_maps_of_standardized_columns(by):
    data = brain()
    data = replace(data, X=data.X * np.linspace(0.1, 10, 60))
    maps = Study(data, {"ridge": LINEAR["ridge"]}, standardize=by).run().maps("ridge")
    whole = standardize(data, "run")
    own = (lambda s: whole) if by == "run" else (lambda s: standardize(data, "training", rows=s.train))
    coefs, patterns = by_hand(data, LINEAR["ridge"], own)
    np.testing.assert_allclose(maps.coef, coefs.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(maps.pattern, patterns.mean(axis=0), atol=1e-6)


def test_maps_find_the_voxels_that_differ():
    data = brain(2, m=80, signal=0.0)
    X = data.X.copy()
    X[data.y == "face", :10] += 3.0
    result = Study(replace(data, X=X), METHODS["svdm"](sizes=[1], shrinkage=0.1)).run()
    maps = result.maps("svdm")
    assert set(np.argsort(-maps.pattern[0])[:10]) == set(range(10))  # larger for the second class: positive
    assert maps.stability[0, :10].mean() > 3 * np.abs(maps.stability[0, 10:]).mean()
    assert maps.agreement[0] > 0.8


def test_nothing_is_fitted_for_maps(tmp_path):
    result = Study(brain(), counted(tmp_path / "fits")).run(tmp_path / "study.sqlite")
    before = fits(tmp_path / "fits")
    assert result.maps("ridge").coef.shape == (3, 60)
    again = Study(brain(), counted(tmp_path / "fits")).run(tmp_path / "study.sqlite")
    np.testing.assert_array_equal(again.maps("ridge").coef, result.maps("ridge").coef)
    assert fits(tmp_path / "fits") == before


def test_seeds_are_fits_too():
    method = METHODS["svdm"](sizes=[2], shrinkage=0.1, init="random")
    assert Study(brain(), method, seeds=range(2)).run().maps("svdm").n_fits == 10


def test_a_sparse_matrix():
    data = brain()
    sparse = replace(data, X=sp.csr_array(np.where(np.abs(data.X) > 2, data.X, 0.0)))
    dense = replace(data, X=sparse.X.toarray())
    one, other = (
        Study(d, METHODS["svdm"](sizes=[2], shrinkage=0.1)).run().maps("svdm") for d in (sparse, dense)
    )
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-6)
    np.testing.assert_allclose(one.pattern, other.pattern, atol=1e-6)


@pytest.mark.parametrize(
    "method",
    [
        METHODS["gnb"](),
        METHODS["univariate_selection_svm"](n_voxels=10, C=1.0),  # its weights are not made of the samples
        Method("", LinearSVC, fixed={"penalty": "l1", "C": 0.05, "random_state": 0}),
    ],
)
def test_a_method_without_such_weights_says_so(method):
    result = Study(brain(), {"mine": method}).run()
    with pytest.raises(ValueError, match="method: found 'mine', whose cells keep no coefficients"):
        result.maps("mine")


def test_one_fold_has_no_stability():
    result = Study(brain(), {"ridge": RidgeClassifier()}, "whole_runs", protocol_options={"n_train": 4}).run()
    maps = result.maps("ridge")
    assert (maps.n_fits, maps.stability.any()) == (1, False)
    assert np.isnan(maps.agreement).all()
