"""SVDMClassifier and SVDMClassifierCV among scikit-learn's: checks, pipelines, searches, storage."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, data, make, several_labels

from svdecode import SVDMClassifier, SVDMClassifierCV, TraceNormSVDM
from svdecode.svdm import TRUSTED_TYPES

pytestmark = pytest.mark.filterwarnings(IGNORE)
FAST = {"solver": "alternating", "stopping": "decrease", "tol": 1e-3}
NOT_IN_THE_RECONSTRUCTION = (
    "sample_weight weighs hinges; all samples count alike in the reconstruction and in n, so that a row of "
    "weight 0 is one with an unknown label, not one that is absent"
)
EXPECTED_TO_FAIL = {
    "check_sample_weight_equivalence_on_dense_data": NOT_IN_THE_RECONSTRUCTION,
    "check_sample_weight_equivalence_on_sparse_data": NOT_IN_THE_RECONSTRUCTION,
}
WITHOUT_A_BIAS = {
    "check_class_weight_classifiers": "`boxed` has no bias, so that a class cannot win by its weight alone"
}


def expected_to_fail(estimator):
    if isinstance(estimator, SVDMClassifierCV):
        return {}
    return EXPECTED_TO_FAIL | (WITHOUT_A_BIAS if estimator.formulation == "boxed" else {})


CHECKED = [SVDMClassifier()]  # whatever its defaults are
CHECKED += [make(formulation, 2, **FAST) for formulation in FORMULATIONS]
CHECKED += [
    make("balanced", 2, solver="splitting", stopping="stationary", tol=1e-4, max_iter=300, readout="refit"),
    make("penalized", 2, kernel="rbf", **FAST),
]
CHECKED += [TraceNormSVDM(), TraceNormSVDM(0.3, kernel="rbf", tol=1e-4)]
SEARCHES = [
    SVDMClassifierCV((1, 2), shrinkages=(0.1,), cv=2, formulation="balanced", **FAST),
    SVDMClassifierCV((2,), hinge_weights=(1.0, 10.0), cv=3, formulation="constrained", **FAST),
]


@pytest.mark.filterwarnings(
    "ignore:Can't check dok sparse matrix", "ignore:.* of the .* fits did not converge"
)
@pytest.mark.filterwarnings("ignore:The least populated class")
@parametrize_with_checks(CHECKED + SEARCHES, expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def grouped(k=3, n=60):
    X, y = data(k, n=n)
    return X, y, np.repeat(np.arange(6), n // 6)


def test_in_a_pipeline_and_a_grid_search():
    X, y, groups = grouped()
    pipeline = make_pipeline(StandardScaler(), make("balanced", **FAST))
    grid = {"svdmclassifier__n_components": [1, 4], "svdmclassifier__shrinkage": [0.03, 0.3]}
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert search.best_score_ > 0.5
    assert search.score(X, y) > 0.7
    first = search.best_estimator_
    np.testing.assert_allclose(first[1].transform(first[0].transform(X)), first.transform(X), atol=1e-12)


def test_as_a_step_before_another_classifier():
    X, y, _ = grouped()
    pipeline = make_pipeline(make("balanced", **FAST), StandardScaler()).fit(X, y)
    assert pipeline.transform(X).shape == (60, 3)


def test_cross_validate_with_groups():
    X, y, groups = grouped()
    model = make("balanced", **FAST)
    out = cross_validate(model, X, y, groups=groups, cv=LeaveOneGroupOut(), return_estimator=True)
    by_hand = [
        clone(model).fit(X[groups != g], y[groups != g]).score(X[groups == g], y[groups == g])
        for g in range(6)
    ]
    np.testing.assert_array_equal(out["test_score"], by_hand)


def test_cross_validation_with_unknown_labels():
    """scikit-learn's splitters want known labels; with groups or given splits nothing stands in the way."""
    X, y, groups = grouped()
    hidden = np.where(np.arange(60) % 7 == 0, np.nan, np.unique(y, return_inverse=True)[1])
    scores = cross_val_score(make("balanced", **FAST), X, hidden, groups=groups, cv=GroupKFold(3))
    assert np.isfinite(scores).all()
    assert scores.mean() > 0.5


@pytest.mark.parametrize("k", [2, 3])
def test_calibrated(k):
    X, y, _ = grouped(k)
    model = CalibratedClassifierCV(make("balanced", **FAST), cv=3).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert np.mean(model.classes_[chances.argmax(axis=1)] == y) > 0.6


def test_metadata_are_routed():
    X, y, groups = grouped()
    weight = np.linspace(0.1, 2, 60)
    params = {"n_components": (1, 3), "shrinkages": (0.1, 1.0), **FAST}
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = make("balanced", **FAST).set_fit_request(sample_weight=True)
        inside = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), weighted)
        inside.fit(X, y, sample_weight=weight)
        searching = SVDMClassifierCV(**params).set_fit_request(groups=True)
        outer = cross_validate(
            searching, X, y, params={"groups": groups}, cv=GroupKFold(3).set_split_request(groups=True),
            return_estimator=True,
        )  # fmt: skip
    direct = make("balanced", **FAST).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    assert inside[1].objective_ == direct.objective_
    # the inner splits leave out one of the four groups that the outer ones have left
    assert [search.n_splits_ for search in outer["estimator"]] == [4, 4, 4]


def test_set_output_and_feature_names():
    X, y, groups = grouped()
    X = pd.DataFrame(X, columns=[f"voxel {j}" for j in range(X.shape[1])])
    model = make("balanced", 2, **FAST).set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == ["svdmclassifier0", "svdmclassifier1"]
    assert list(model.get_feature_names_out()) == ["svdmclassifier0", "svdmclassifier1"]
    assert list(model.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[X.columns[::-1]])
    search = (
        SVDMClassifierCV(2, shrinkages=0.1, **FAST).set_output(transform="pandas").fit(X, y, groups=groups)
    )
    assert list(search.transform(X).columns) == ["svdmclassifiercv0", "svdmclassifiercv1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the refitted model knows the names too
        search.predict(X)
    pd.testing.assert_frame_equal(search.fit_transform(X, y, groups=groups), search.transform(X))


def rbf(A, B):
    return rbf_kernel(A, B, gamma=0.01)


STORED = {
    "two classes": (make("balanced", **FAST), data(2), False),
    "several labels": (make("svm", **FAST), several_labels(), False),
    "in the ball": (make("constrained", **SWEEPS), data(3), False),
    "above the rank": (make("penalized", 40, **FAST), data(3), False),
    "refit": (make("boxed", readout="refit", **FAST), data(2), False),
    "kernel": (make("balanced", kernel="rbf", **FAST), data(2), True),
    "trace norm": (TraceNormSVDM(0.3), data(3), False),
    "search": (SVDMClassifierCV((1, 2), shrinkages=(0.1, 1.0), **FAST), data(3), False),
}


@pytest.mark.parametrize("case", STORED)
def test_a_fit_survives_copying_and_storing(case, tmp_path):
    model, (X, y), needs_reduction = STORED[case]
    model = clone(model).fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    asked = set(skops.io.get_untrusted_types(file=tmp_path / "model.skops"))
    assert asked <= set(TRUSTED_TYPES)
    assert any("reduction" in name for name in asked) == needs_reduction
    for again in (
        pickle.loads(pickle.dumps(model)),
        skops.io.load(tmp_path / "model.skops", trusted=list(TRUSTED_TYPES)),
        clone(model).fit(X, y),
    ):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        assert again.get_params().keys() == model.get_params().keys()


def test_every_trusted_type_exists_and_is_needed(tmp_path):
    X, y = data(2)
    types = set()
    for kernel in ("linear", "rbf"):
        model = SVDMClassifierCV(1, shrinkages=0.1, kernel=kernel, **FAST).fit(X, y)
        skops.io.dump(model, tmp_path / "model.skops")
        types |= set(skops.io.get_untrusted_types(file=tmp_path / "model.skops"))
    skops.io.dump(TraceNormSVDM(max_iter=5).fit(X, y), tmp_path / "model.skops")
    types |= set(skops.io.get_untrusted_types(file=tmp_path / "model.skops"))
    assert types == set(TRUSTED_TYPES)


def test_a_linear_fit_does_not_carry_the_data_along():
    X, y = data(2, n=40, m=5000)
    model = make("balanced", 2, **FAST).fit(X, y)
    assert len(pickle.dumps(model)) < X.nbytes / 4


def test_a_callable_kernel_is_stored_by_its_name():
    X, y = data(2)
    model = make("balanced", kernel=rbf_kernel, **FAST).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    # a matrix may come back in another memory order, which changes the last digit of products
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-10)


def test_the_search_knows_every_parameter_with_the_same_default():
    one = inspect.signature(SVDMClassifier).parameters
    search = inspect.signature(SVDMClassifierCV).parameters
    for name, parameter in one.items():
        if name not in ("n_components", "shrinkage", "hinge_weight"):
            assert search[name].default == parameter.default, name
    assert not set(one) - set(search) - {"shrinkage", "hinge_weight"}
    # all but the dimensions by keyword: names are the interface
    kinds = [p.kind for p in (*one.values(), *search.values()) if p.name != "n_components"]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds)
