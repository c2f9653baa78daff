"""SVDMClassifierCV: the whole grid by one batch, in GridSearchCV's layout, at GridSearchCV's numbers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit, KFold, LeaveOneGroupOut, StratifiedKFold
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, WEIGHTS, data, make, several_labels

from svdecode import SVDMClassifierCV

pytestmark = pytest.mark.filterwarnings(IGNORE)
#: a fixed number of sweeps: where a rule stops may hang on the last digit, which routes do not share
FAST = SWEEPS
GRIDS = {
    "balanced": {"shrinkages": (0.03, 0.3)},
    "penalized": {"shrinkages": (0.03, 0.3)},
    "constrained": {"hinge_weights": (1.0, 30.0)},
    "boxed": {"hinge_weights": (10.0, 100.0)},
    "svm": {"shrinkages": (10.0, 100.0), "hinge_weights": (30.0, 100.0)},
}


def grouped(k=3, n=48):
    X, y = data(k, n=n)
    return X, y, np.tile(np.arange(4), n // 4)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("readout", ["joint", "refit", "least_squares"])
def test_it_is_grid_search(formulation, readout):
    X, y, groups = grouped()
    fixed = {"margin": WEIGHTS[formulation].get("margin", 1.0), "readout": readout, **FAST}
    ours = SVDMClassifierCV((1, 3), formulation=formulation, **GRIDS[formulation], **fixed)
    ours.fit(X, y, groups=groups)
    grid = {name.removesuffix("s"): sorted(values) for name, values in GRIDS[formulation].items()}
    theirs = GridSearchCV(
        make(formulation, **fixed), {"n_components": [1, 3], **grid}, cv=LeaveOneGroupOut()
    ).fit(X, y, groups=groups)
    found, expected = ours.cv_results_, theirs.cv_results_
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert type(found[name]) is type(value), name
        assert np.shape(found[name]) == np.shape(value), name
    place = {tuple(sorted(p.items())): i for i, p in enumerate(expected["params"])}
    order = [place[tuple(sorted(p.items()))] for p in found["params"]]
    assert sorted(order) == list(range(len(order)))
    for name in [*(f"split{i}_test_score" for i in range(4)), "mean_test_score", "std_test_score"]:
        np.testing.assert_allclose(found[name], expected[name][order], atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(found["rank_test_score"], expected["rank_test_score"][order])
    for name in ours.best_params_:
        np.testing.assert_array_equal(found[f"param_{name}"], [p[name] for p in found["params"]])
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.n_splits_ == theirs.n_splits_ == 4
    # the choice, fitted on all samples
    single = make(formulation, **ours.best_params_, **fixed).fit(X, y)
    assert ours.best_estimator_.objective_ == single.objective_
    assert ours.n_iter_ == single.n_iter_
    np.testing.assert_array_equal(ours.predict(X), single.predict(X))
    np.testing.assert_array_equal(ours.decision_function(X), single.decision_function(X))
    np.testing.assert_array_equal(ours.transform(X), single.transform(X))
    assert ours.score(X, y) == single.score(X, y)
    np.testing.assert_array_equal(ours.classes_, single.classes_)


def test_of_equals_the_simplest_is_chosen():
    """Classes so far apart that every combination is right: few components, strong shrinkage, a low hinge."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 20)
    X = rng.standard_normal((40, 30)) + 20 * y[:, None]
    search = SVDMClassifierCV((3, 1, 2), shrinkages=(0.01, 0.1, 0.03), formulation="balanced", **FAST).fit(
        X, y
    )
    assert search.best_score_ == 1.0
    assert search.best_params_ == {"n_components": 1, "shrinkage": 0.1}
    search = SVDMClassifierCV((2, 1), hinge_weights=(3e4, 1e4), formulation="constrained", **FAST).fit(X, y)
    assert search.best_params_ == {"n_components": 1, "hinge_weight": 1e4}


def test_groups_are_left_out_together():
    """Every group has a pattern that names its labels: splits that tear groups apart look perfect."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(12), 4))
    y = rng.permutation([0, 1] * 6)[groups]
    X = rng.standard_normal((12, 200))[groups] + 0.3 * rng.standard_normal((48, 200))
    params = {"n_components": (10,), "shrinkages": (0.1,), "formulation": "balanced", **FAST}
    torn = SVDMClassifierCV(**params, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert torn.best_score_ > 0.9
    for cv, n_splits in ((None, 12), (4, 4), (GroupShuffleSplit(3, random_state=0), 3)):
        whole = SVDMClassifierCV(**params, cv=cv).fit(X, y, groups=groups)
        assert whole.n_splits_ == n_splits
        assert whole.best_score_ < 0.75


@pytest.mark.parametrize(
    "cv", [None, 3, StratifiedKFold(3), KFold(3, shuffle=True, random_state=0), [(range(30), range(30, 48))]]
)
def test_ways_to_split(cv):
    X, y, _ = grouped()
    params = {"shrinkages": (0.1,), "formulation": "balanced", **FAST}
    search = SVDMClassifierCV((2,), cv=cv, **params).fit(X, y)
    reference = GridSearchCV(make("balanced", 2, **FAST), {"shrinkage": [0.1]}, cv=cv or 5).fit(X, y)
    assert search.best_score_ == pytest.approx(reference.best_score_)
    assert search.n_splits_ == reference.n_splits_


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_any_number_of_threads_gives_the_same_numbers(n_jobs):
    X, y, groups = grouped()
    params = {
        "shrinkages": (0.03, 0.3),
        "formulation": "balanced",
        "random_state": 0,
        "init": "random",
        **FAST,
    }
    one, many = (
        SVDMClassifierCV((1, 4), n_jobs=j, **params).fit(X, y, groups=groups) for j in (None, n_jobs)
    )
    for name, value in one.cv_results_.items():
        if "_time" not in name and name != "params":
            np.testing.assert_array_equal(many.cv_results_[name], value, err_msg=name)
    np.testing.assert_array_equal(many.best_estimator_.coef_, one.best_estimator_.coef_)


def test_unknown_labels_are_trained_on_and_not_scored():
    X, y, groups = grouped(2)
    hidden = np.where(np.arange(48) % 5 == 0, None, y.astype(object))
    params = {"shrinkages": (0.03, 0.3), "formulation": "balanced", **FAST}
    search = SVDMClassifierCV((1, 3), **params).fit(X, hidden, groups=groups)
    for i, p in enumerate(search.cv_results_["params"]):
        for g in range(4):
            model = make("balanced", **p, **FAST).fit(X[groups != g], hidden[groups != g])
            test = (groups == g) & (np.arange(48) % 5 != 0)
            expected = np.mean(model.predict(X[test]) == y[test])
            assert search.cv_results_[f"split{g}_test_score"][i] == pytest.approx(expected)
    # without groups too: numbers, words, and a splitter that is stratified
    for labels in (hidden, np.where(hidden == None, np.nan, y == "dog")):  # noqa: E711
        assert SVDMClassifierCV((2,), shrinkages=0.1, cv=3, **FAST).fit(X, labels).best_score_ > 0.6
    # a fold without a known label does not count
    none_in_one = np.where(groups == 2, None, y.astype(object))
    search = SVDMClassifierCV((1, 3), **params).fit(X, none_in_one, groups=groups)
    assert np.isnan(search.cv_results_["split2_test_score"]).all()
    assert np.isfinite(search.best_score_)


def test_several_labels():
    X, y = several_labels(n=48)
    search = SVDMClassifierCV((1, 3), shrinkages=(0.03, 0.3), cv=KFold(3), **FAST).fit(X, y)
    model = make("balanced", **search.best_params_, **FAST)
    scores = []
    for train, test in KFold(3).split(X):
        guess = model.fit(X[train], y[train]).predict(X[test])
        off = np.isnan(y[test])
        right = (off | (guess == y[test])).all(axis=1)
        scores.append(right[~off.all(axis=1)].mean())
    assert search.best_score_ == pytest.approx(np.mean(scores))
    assert search.predict(X).shape == (48, 3)


def test_dimensions_above_the_rank_of_a_fold():
    X, y = data(2, n=12)
    search = SVDMClassifierCV((2, 50), shrinkages=(0.1,), cv=3, formulation="balanced", **FAST).fit(X, y)
    assert [p["n_components"] for p in search.cv_results_["params"]] == [2, 50]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_given_start_serves_all_dimensions():
    X, y, groups = grouped()
    start = np.random.default_rng(0).standard_normal((48, 3))
    params = {"shrinkages": (0.1,), "formulation": "balanced", **FAST}
    search = SVDMClassifierCV((3, 1), init=start, **params).fit(X, y, groups=groups)
    l = search.best_params_["n_components"]
    single = make("balanced", l, init=start[:, :l], **FAST).fit(X, y)
    assert search.best_estimator_.objective_ == single.objective_


@pytest.mark.parametrize("form", [sp.csr_matrix, np.float32, pd.DataFrame])
def test_storage_does_not_matter(form):
    X, y, groups = grouped()
    X = np.round(8 * X)
    params = {"n_components": (1, 3), "shrinkages": (0.03, 0.3), "formulation": "balanced", **FAST}
    a, b = (SVDMClassifierCV(**params).fit(x, y, groups=groups) for x in (X, form(X)))
    np.testing.assert_array_equal(b.cv_results_["mean_test_score"], a.cv_results_["mean_test_score"])


def test_a_precomputed_kernel_is_cut_into_folds():
    X, y, groups = grouped()
    params = {"n_components": (1, 3), "shrinkages": (0.1,), "formulation": "balanced", **FAST}
    linear = SVDMClassifierCV(**params).fit(X, y, groups=groups)
    kernel = SVDMClassifierCV(**params, kernel="precomputed").fit(X @ X.T, y, groups=groups)
    for i in range(4):
        name = f"split{i}_test_score"
        np.testing.assert_array_equal(kernel.cv_results_[name], linear.cv_results_[name])


def test_without_a_refit_there_is_no_classifier():
    X, y, _ = grouped()
    search = SVDMClassifierCV((1,), shrinkages=(0.1,), refit=False, **FAST).fit(X, y)
    assert search.best_params_["n_components"] == 1
    assert not hasattr(search, "best_estimator_")
    for method in (search.predict, search.transform, search.decision_function):
        with pytest.raises(NotFittedError, match=r"refit=False: there is no fitted classifier"):
            method(X)
    with pytest.raises(NotFittedError):
        SVDMClassifierCV().predict(X)


def test_fits_that_did_not_converge_are_counted():
    X, y, _ = grouped()
    with pytest.warns(ConvergenceWarning, match="6 of the 6 fits did not converge: raise max_iter") as caught:
        SVDMClassifierCV((1, 3), shrinkages=0.1, cv=3, refit=False, max_iter=1, tol=1e-12).fit(X, y)
    assert caught[0].filename == __file__


def test_usual_grids_are_used_where_none_is_given():
    X, y = data(2, n=20)
    search = SVDMClassifierCV((1,), formulation="balanced", cv=2, **FAST).fit(X, y)
    assert len(search.cv_results_["params"]) == 5
    search = SVDMClassifierCV((1,), formulation="constrained", cv=2, **FAST).fit(X, y)
    assert set(search.best_params_) == {"n_components", "hinge_weight"}


BAD = {
    "n_components 0": ({"n_components": (2, 0)}, "n_components: found 0, expected an integer of at least 1"),
    "n_components 1.5": ({"n_components": (1.5,)}, "n_components: found 1.5, expected an integer of"),
    "n_components none": ({"n_components": ()}, "n_components: found no value, expected at least one to try"),
    "n_components str": ({"n_components": "all"}, "n_components: found 'all', expected values to try"),
    "shrinkages 0": ({"shrinkages": (0.1, 0)}, "shrinkages: found 0, expected a finite number above 0"),
    "shrinkages none": ({"shrinkages": []}, "shrinkages: found no value, expected at least one to try"),
    "hinge_weights": (
        {"formulation": "balanced", "hinge_weights": (1,)},
        r"hinge_weights: found \(1,\), expected None \('balanced' has no such weight\)",
    ),
    "hinge_weights < 0": (
        {"formulation": "boxed", "hinge_weights": -1.0}, "hinge_weights: found -1, expected a finite number",
    ),
    "shrinkages boxed": (
        {"formulation": "boxed", "shrinkages": (1,)}, r"shrinkages: found \(1,\), expected None \('boxed'",
    ),
    "refit": ({"refit": "loss"}, "refit: found 'loss', expected one of True, False"),
    "cv": ({"cv": "five"}, "cv: found 'five', expected an integer, a splitter or splits"),
    "formulation": ({"formulation": "pca"}, "formulation: found 'pca', expected one of"),
    "tol": ({"tol": -1}, "tol: found -1, expected a finite number above 0"),
    "init": ({"init": np.ones((48, 1))}, r"init: found an array of shape \(48, 1\), expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named(case):
    X, y, _ = grouped()
    params, message = BAD[case]
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        SVDMClassifierCV(**({"n_components": (2, 3)} | params)).fit(X, y)
    assert "\n" not in str(caught.value)


def test_bad_data_are_named():
    X, y, _ = grouped(2)
    search = SVDMClassifierCV((1,), shrinkages=0.1, formulation="balanced", **FAST)
    with pytest.raises(ValueError, match=r"^groups: found one group only, expected at least two"):
        search.fit(X, y, groups=np.zeros(48))
    with pytest.raises(
        ValueError, match=r"^groups: found 3 labels, expected one for each of the 48 rows of X"
    ):
        search.fit(X, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match=r"^y: found one class only \('a'\), expected at least two classes"):
        search.fit(X, ["a"] * 48)
    # two runs, each with one class: what is left to train on has one class only
    with pytest.raises(
        ValueError, match=r"^y: found one class only \('dog'\), .* \(training rows of fold 0\)$"
    ):
        search.fit(X, np.repeat(["cat", "dog"], 24), groups=np.repeat([1, 2], 24))
    X[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"^X: found NaN in row 3, column 5, expected finite numbers$"):
        search.fit(X, y)
    one_split = SVDMClassifierCV((1,), shrinkages=0.1, cv=[(np.arange(24), np.arange(24, 48))], **FAST)
    half = np.where(np.arange(48) < 24, y.astype(object), None)
    with pytest.raises(ValueError, match=r"^y: found no known label among the test rows"):
        one_split.fit(np.nan_to_num(X), half)
