"""One split by ordinary estimators: what a loop over scikit-learn's own objects gives."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from study.studies import brain, by_hand, haxby2011, inner_of

from svdecode import Study
from svdecode.study import METHODS, Method, leave_one_run_out, standardize, svd_gnb, svd_svm

#: of few components C below 0.1 leaves the choice to the digits that LIBSVM stops at
C = (0.1, 1.0, 10.0)
ALPHAS = (1000.0, 100.0, 10.0, 1.0)


def grid_searches(data, model, grid):
    """What GridSearchCV chooses and predicts in each outer run, inner runs inside."""
    out = []
    for split in leave_one_run_out(data):
        X, y, runs = data.X[split.train], data.y[split.train], data.runs[split.train]
        search = GridSearchCV(model, grid, cv=LeaveOneGroupOut()).fit(X, y, groups=runs)
        out.append((search.best_params_, search.best_score_, search.predict(data.X[split.test])))
    return out


def agree(cells, searches, prefix=""):
    assert len(cells) == len(searches)
    for cell, (chosen, inner, predictions) in zip(cells, searches, strict=True):
        assert {f"{prefix}{name}": value for name, value in cell.chosen.items()} == chosen
        assert cell.extra["inner_accuracy"] == pytest.approx(inner, abs=1e-12)
        np.testing.assert_array_equal(cell.predictions, predictions)


@pytest.mark.parametrize("source", ["simulated", "haxby2011"])
def test_grid_search_by_runs(source):
    data = brain(signal=0.5) if source == "simulated" else haxby2011()
    if source == "haxby2011":
        data = data.select(data.runs <= 5)
    ridge = partial(RidgeClassifier, solver="cholesky")
    study = Study(
        data,
        {
            "ridge": Method("ridge", RidgeClassifier, {"alpha": ALPHAS}, fixed={"solver": "cholesky"}),
            "on rows": Method(
                "r", RidgeClassifier, {"alpha": ALPHAS}, fixed={"solver": "cholesky"}, needs="rows"
            ),
        },
    )
    result = study.run()
    expected = grid_searches(data, ridge(), {"alpha": ALPHAS})
    agree(list(result.cells("ridge")), expected)
    agree(list(result.cells("on rows")), expected)
    assert len({chosen["alpha"] for chosen, _, _ in expected}) > 1


def test_grid_search_over_numbers_of_components():
    """choose_size=True: sizes and weights are chosen together, as GridSearchCV over a pipeline does."""
    data = brain(signal=0.5)
    method = METHODS["svd_svm"](sizes=[2, 4, 8], C=C)
    result = Study(data, method, choose_size=True).run()
    inside = [cell for cell in result.cells() if cell.n_components is None]
    expected = grid_searches(data, method.estimator(), method.param_grid())
    searches = [
        ({"n_components": p["reduce__n_components"], "C": p["classify__C"]}, s, said)
        for p, s, said in expected
    ]
    # of equal means GridSearchCV takes the first in its own order: only unequal ones must agree
    for cell, (chosen, inner, predictions) in zip(inside, searches, strict=True):
        assert cell.extra["inner_accuracy"] == pytest.approx(inner, abs=1e-12)
        assert set(cell.chosen) == set(chosen)
        if dict(cell.chosen) == chosen:
            np.testing.assert_array_equal(cell.predictions, predictions)
    assert any(dict(c.chosen) == s[0] for c, s in zip(inside, searches, strict=True))
    assert len(inside) == 5
    assert len(result.table) == 4 * 5


def test_sizes_are_reported_each_by_itself():
    data = brain(signal=0.5)
    result = Study(data, METHODS["svd_svm"](sizes=[2, 4], C=C)).run()
    splits = leave_one_run_out(data)
    for size in (2, 4):
        hand = by_hand(
            data.X, data.y, splits, [{"C": c} for c in C], partial(svd_svm, size), inner_of(data, splits)
        )
        cells = [cell for cell in result.cells() if cell.n_components == size]
        for cell, (chosen, predictions, scores) in zip(cells, hand, strict=True):
            assert dict(cell.chosen) == chosen
            np.testing.assert_array_equal(cell.predictions, predictions)
            np.testing.assert_allclose(cell.scores, scores, rtol=0, atol=1e-6 * np.abs(scores).max())


def test_standardized_by_training_rows_as_in_a_pipeline():
    """Also inside: the scaler of each inner fold sees its own training rows only."""
    data = brain(signal=0.5)
    data = replace(data, X=data.X * np.linspace(0.1, 10, 60) + np.arange(60))
    method = {"ridge": Method("ridge", RidgeClassifier, {"alpha": ALPHAS})}
    pipeline = make_pipeline(StandardScaler(), RidgeClassifier())
    expected = grid_searches(data, pipeline, {"ridgeclassifier__alpha": ALPHAS})
    cells = list(Study(data, method, standardize="training").run().cells())
    agree(cells, expected, "ridgeclassifier__")
    plain = list(Study(data, method).run().cells())
    assert any((a.scores != b.scores).any() for a, b in zip(cells, plain, strict=True))


@pytest.mark.parametrize("by", ["run", "subject"])
def test_standardized_by_runs_or_subjects_first(by):
    data = brain(n_runs=6, subjects=np.repeat([1, 2, 3], 18))
    protocol = "leave_one_run_out" if by == "run" else "leave_one_subject_out"
    one = Study(data, {"ridge": RidgeClassifier()}, protocol, standardize=by).run()
    other = Study(standardize(data, by), {"ridge": RidgeClassifier()}, protocol).run()
    for a, b in zip(one.cells(), other.cells(), strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)


def test_any_classifier_of_scikit_learn_is_a_method():
    data = brain(2)
    models = {
        "logistic": LogisticRegression(C=0.1),
        "scaled": make_pipeline(StandardScaler(), LinearSVC(dual=True, random_state=0)),
    }
    result = Study(data, models).run()
    for split in leave_one_run_out(data):
        for name, model in models.items():
            (cell,) = (c for c in result.cells(name) if c.fold == split.name)
            model.fit(data.X[split.train], data.y[split.train])
            np.testing.assert_array_equal(cell.predictions, model.predict(data.X[split.test]))
            np.testing.assert_allclose(cell.scores, model.decision_function(data.X[split.test]))
            assert cell.classes.tolist() == ["cat", "face"]
    (cell,) = Study(data, svd_gnb(4), "whole_runs", protocol_options={"n_train": 4}).run().cells()
    assert cell.scores.shape[0] == 9


def test_labels_of_test_rows_change_nothing_that_is_chosen_or_predicted():
    """The one thing that a study must never do; the tests break it once to see that they would see it."""
    data = brain(n_runs=4, signal=0.5)
    methods = [
        METHODS["svdm"](sizes=[2], shrinkage=(1.0, 0.3, 0.1), tol=1e-4),
        METHODS["svd_svm"](sizes=[2, 4], C=C),
    ]
    last = data.runs == 4
    shuffled = data.y.copy()
    shuffled[last] = shuffled[last][np.random.default_rng(0).permutation(last.sum())]
    assert (shuffled != data.y).any()

    def chosen(y, **more):
        result = Study(
            replace(data, y=y),
            methods,
            "whole_runs",
            protocol_options={"n_train": 3},
            choose_size=True,
            **more,
        ).run()
        return [(dict(c.chosen), c.extra["inner_accuracy"], c.predictions.tolist()) for c in result.cells()]

    for more in ({}, {"standardize": "training"}, {"choice": "one_standard_error"}):
        assert chosen(data.y, **more) == chosen(shuffled, **more)
    trained = data.y.copy()
    trained[~last] = np.roll(trained[~last], 1)
    assert chosen(data.y) != chosen(trained)


def test_a_leak_would_be_seen(monkeypatch):
    """Inner folds that read the test rows: the same comparison fails then."""
    from svdecode.study import Split, Splits
    from svdecode.study.prepared import Prepared

    data = brain(n_runs=4, signal=0.2)

    def leaking(self, number):
        split = self.splits[number]
        return Splits("inner", (Split(split.train, split.test, "leak"),), data.n_samples)

    monkeypatch.setattr(Prepared, "inner", leaking)
    found = []
    for seed in range(6):
        y = data.y.copy()
        last = data.runs == 4
        y[last] = y[last][np.random.default_rng(seed).permutation(last.sum())]
        method = METHODS["svd_svm"](sizes=[3], C=(0.001, 0.1, 100.0))
        (cell,) = (
            Study(replace(data, y=y), method, "whole_runs", protocol_options={"n_train": 3}).run().cells()
        )
        found.append((cell.chosen["C"], cell.extra["inner_accuracy"]))
    assert len(set(found)) > 1


def test_just_below_perfect_reads_what_was_fitted():
    """Pereira & Gordon 2006, 3.2: accuracies on the secondary training sets."""
    data = brain(signal=0.3)
    candidates = [{"C": c} for c in (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)]
    method = METHODS["svd_svm"](sizes=[16], C=[c["C"] for c in candidates])
    cells = list(Study(data, method, choice="just_below_perfect").run().cells())
    splits = leave_one_run_out(data)
    for cell, split in zip(cells, splits, strict=True):
        means = []
        for c in candidates:
            fitted = [
                (svd_svm(16, **c).fit(data.X[f.train], data.y[f.train]), f)
                for f in inner_of(data, splits)(split)
            ]
            means.append(np.mean([m.score(data.X[f.train], data.y[f.train]) for m, f in fitted]))
        below = [m for m in means if m < 1 - 1e-9]
        assert max(means) > 0.9
        assert cell.chosen == candidates[means.index(max(below))]
        assert cell.extra["inner_accuracy"] == pytest.approx(max(below))


def test_several_labels_by_an_ordinary_classifier():
    rng = np.random.default_rng(0)
    data = brain(2)
    y = np.column_stack([data.y == "cat", rng.random(data.n_samples) < 0.5]).astype(int)
    many = replace(data, y=y)
    result = Study(many, {"ridge": Method("ridge", RidgeClassifier, {"alpha": (100.0, 1.0)})}).run()
    for cell, split in zip(result.cells(), leave_one_run_out(many), strict=True):
        model = RidgeClassifier(**cell.chosen).fit(many.X[split.train], y[split.train])
        np.testing.assert_array_equal(cell.predictions, model.predict(many.X[split.test]))
        assert cell.accuracy == (cell.predictions == y[split.test]).all(axis=1).mean()


def test_errors_say_where():
    data = brain()
    data.X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN.*\(ridge, simulated, run 1\)"):
        Study(data, {"ridge": RidgeClassifier()}).run()


def test_warnings_of_convergence_become_a_column():
    models = {"short": LogisticRegression(max_iter=1), "long": LogisticRegression(max_iter=1000)}
    table = Study(brain(), models).run().table
    assert not table.loc[table["method"] == "short", "converged"].any()
    assert table.loc[table["method"] == "long", "converged"].all()
