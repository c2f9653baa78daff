"""Tables and tests of a study, against the functions of statistics on its predictions, and by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import confusion_matrix
from study.studies import brain, counted

from svdecode import Study
from svdecode.study import METHODS, Method, leave_one_run_out
from svdecode.study.statistics import (
    ResampledT,
    SignFlip,
    accuracy_interval,
    compare_with_null,
    corrected_resampled_t,
    count_arrangements,
    sign_flip,
)

TWO = {"strong": RidgeClassifier(1000.0), "weak": RidgeClassifier(0.01)}


def people(n=4, **more):
    """Several subjects with runs of their own, in one data set."""
    parts = [brain(seed=s, n_runs=4, per_run=6, **more) for s in range(n)]
    X, y, runs = (np.concatenate([getattr(p, name) for p in parts]) for name in ("X", "y", "runs"))
    return replace(parts[0], X=X, y=y, runs=runs, subjects=np.repeat(["a", "b", "c", "d"][:n], 24))


@pytest.fixture(scope="module")
def result():
    methods = [METHODS["svdm"](sizes=[4, 1], shrinkage=(0.3, 0.1)), METHODS["ridge"](alpha=1.0)]
    return Study(brain(n_runs=11, per_run=6), methods, n_inner=2, choose_size=True).run()


def test_tables_are_in_the_order_of_the_study(result):
    table = result.table
    assert table["fold"].tolist()[:11] == [f"run {i + 1}" for i in range(11)]  # not run 1, run 10, run 2
    assert table["method"].tolist() == ["svdm"] * 33 + ["ridge"] * 11
    assert table["n_components"].tolist()[:33:11] == [1, 4, pd.NA]
    assert table["size_chosen"].tolist() == [False] * 22 + [True] * 11 + [False] * 11
    assert str(table["n_components"].dtype) == "Int64"
    assert table["chosen_shrinkage"].notna().tolist() == [True] * 33 + [False] * 11
    assert set(table["chosen_n_components"].dropna()) <= {1, 4}
    assert table["extra_inner_accuracy"].between(0, 1).tolist() == [True] * 33 + [False] * 11
    assert table["converged"][:33].all()
    assert (table["seconds"] > 0).all()
    assert (table["stationarity"][:33] <= 1e-6).all()
    assert table.columns[table.isna().all()].tolist() == ["seed"]  # nothing started at random


def test_predictions_have_a_row_a_test_sample(result):
    samples = result.predictions
    assert len(samples) == 4 * 66
    data = result.study.data[0].dataset
    assert samples["row"].tolist() == list(range(66)) * 4
    assert samples["truth"].tolist() == data.y.tolist() * 4
    assert samples["run"].tolist() == data.runs.tolist() * 4
    assert (samples["correct"] == (samples["truth"] == samples["prediction"])).all()
    assert "subject" not in samples
    by_fold = samples.groupby("key")["correct"].mean()
    assert by_fold[result.table["key"]].tolist() == pytest.approx(result.table["accuracy"].tolist())


def test_accuracy_is_that_of_statistics(result):
    table = result.accuracy(level=0.9)
    assert table["method"].tolist() == ["svdm", "svdm", "svdm", "ridge"]
    assert table["n_components"].tolist() == [1, 4, pd.NA, pd.NA]
    for row in table.to_dict("records"):
        part = result.select(row["method"], row["n_components"] if not row["size_chosen"] else "chosen")
        right = result.predictions[result.predictions["key"].isin(part["key"])]
        interval = accuracy_interval(right["correct"].astype(float), runs=right["run"], level=0.9)
        ends = (interval.estimate, interval.low, interval.high)
        assert (row["accuracy"], row["low"], row["high"]) == pytest.approx(ends)
        assert row["over"] == "runs"
        assert row["chance"] == pytest.approx(1 / 3)
        assert (row["n_samples"], row["n_seeds"]) == (66, 1)


def test_of_several_seeds_the_mean_is_taken_before():
    data = brain(signal=0.4)
    methods = {
        "random": METHODS["svdm"](sizes=[2], shrinkage=0.1, init="random"),
        "ridge": RidgeClassifier(),
    }
    result = Study(data, methods, seeds=range(3)).run()
    mine = result.predictions.query("method == 'random'")
    means = mine.groupby("row")["correct"].mean().astype(float)
    interval = accuracy_interval(means.to_numpy(), runs=data.runs)
    row = result.accuracy().iloc[0]
    assert (row["accuracy"], row["low"], row["n_samples"], row["n_seeds"]) == pytest.approx(
        (interval.estimate, interval.low, 45, 3)
    )
    test = result.compare("random", "ridge")
    folds = result.table.groupby(["method", "fold"])["accuracy"].mean()
    differences = folds["random"] - folds["ridge"]
    expected = corrected_resampled_t(differences.to_numpy(), n_train=36, n_test=9)
    assert (test.mean, test.p, test.df) == pytest.approx((expected.mean, expected.p, 4))


def test_over_subjects_in_one_data_set():
    data = people()
    result = Study(data, TWO).run()
    table = result.accuracy()
    assert table["over"].tolist() == ["subjects", "subjects"]
    right = result.predictions.query("method == 'weak'").sort_values("row")["correct"].astype(float)
    interval = accuracy_interval(right, subjects=data.subjects, runs=data.runs)
    assert table["low"][1] == pytest.approx(interval.low)
    test = result.compare("weak", "strong", alternative="greater")
    assert isinstance(test, SignFlip)
    wide = result.predictions.pivot_table(index="subject", columns="method", values="correct", aggfunc="mean")
    expected = sign_flip((wide["weak"] - wide["strong"]).astype(float).to_numpy(), alternative="greater")
    assert (test.n_subjects, test.exact, test.p[0]) == (4, True, expected.p[0])
    # one split that tests all subjects tells as much of each
    single = Study(data, TWO, "whole_runs", protocol_options={"n_train": 3}).run()
    assert single.compare("weak", "strong").n_subjects == 4


def test_over_data_sets_where_no_subjects_are_named():
    sets = {name: brain(seed=i, m=50 + i, signal=0.6) for i, name in enumerate("abc")}
    result = Study(sets, TWO).run()
    assert result.accuracy()["over"].tolist() == ["subjects"] * 2
    by_set = result.accuracy(by_dataset=True)
    assert by_set["dataset"].tolist() == ["a", "a", "b", "b", "c", "c"]
    assert by_set["over"].unique().tolist() == ["runs"]
    test = result.compare("weak", "strong")
    wide = by_set.pivot(index="dataset", columns="method", values="accuracy")
    expected = sign_flip((wide["weak"] - wide["strong"]).to_numpy())
    assert (test.n_subjects, test.mean[0], test.p[0]) == pytest.approx((3, expected.mean[0], expected.p[0]))


def test_within_one_subject_the_corrected_t(result):
    test = result.compare("svdm", "ridge", 4)
    assert isinstance(test, ResampledT)
    assert test.df == 10
    pair = result.compare("svdm", "svdm", (4, 1))
    a, b = (result.select("svdm", l)["accuracy"].to_numpy() for l in (4, 1))
    assert pair.mean == pytest.approx((a - b).mean())
    with pytest.raises(ValueError, match="alternative: found 'less' within one subject"):
        result.compare("svdm", "ridge", 4, alternative="less")


def test_confusion(result):
    counts = result.confusion("ridge").counts
    own = result.predictions.query("method == 'ridge'")
    np.testing.assert_array_equal(counts, confusion_matrix(own["truth"], own["prediction"]))
    labels = brain(n_runs=4)
    numbers = replace(labels, y=np.unique(labels.y, return_inverse=True)[1] * 10)
    assert Study(numbers, TWO).run().confusion("weak").classes.tolist() == [0, 10, 20]


def test_several_labels():
    rng = np.random.default_rng(0)
    data = brain(2)
    y = np.column_stack([data.y == "cat", rng.random(45) < 0.5]).astype(float)
    y[::7, 1] = np.nan
    y[4] = np.nan
    many = replace(data, y=y)
    result = Study(many, METHODS["svdm"](sizes=[2], shrinkage=(0.3, 0.1)), n_inner=2).run()
    right = []
    for cell, split in zip(result.cells(), leave_one_run_out(many), strict=True):
        truth = y[split.test]
        right.append(
            ((cell.predictions == truth) | np.isnan(truth)).all(axis=1)[~np.isnan(truth).all(axis=1)]
        )
        assert cell.accuracy == pytest.approx(right[-1].mean())
    assert result.accuracy()["accuracy"].item() == pytest.approx(np.concatenate(right).mean())
    assert result.accuracy()["n_samples"].item() == 44  # of one sample no label is known
    assert result.predictions["correct"].isna().sum() == 1
    with pytest.raises(ValueError, match="y: found several labels a sample"):
        result.confusion("svdm")
    assert result.maps("svdm").coef.shape == (2, 60)


# --- permutations


def test_a_permutation_test_is_the_study_on_permuted_labels():
    data = brain(2, n_runs=3, per_run=6, signal=0.8)
    method = METHODS["svdm"](sizes=[1, 2], shrinkage=(0.3, 0.1), tol=1e-8)
    study = Study(data, method, n_permutations=7)
    assert len(study) == 8 * 3 * 2
    assert len(set(study.keys())) == len(study)
    result = study.run()
    assert len(result.table) == 3 * 2  # tables are of the true labels
    assert len(list(result.cells(permuted=True))) == 7 * 3 * 2
    drawn = [group.data.dataset.y for group in study.groups if group.permutation]
    assert all(
        sorted(y[data.runs == run]) == sorted(data.y[data.runs == run]) for y in drawn for run in (1, 2, 3)
    )
    null = []
    for y in drawn:
        own = Study(replace(data, y=y), method).run()
        null.append([own.select("svdm", l)["accuracy"].mean() for l in (1, 2)])
    observed = [result.select("svdm", l)["accuracy"].mean() for l in (1, 2)]
    arrangements = count_arrangements(data.y, runs=data.runs)
    expected = compare_with_null(observed, null, n_arrangements=arrangements)
    test = result.permutation_test("svdm")
    np.testing.assert_allclose(test.null, expected.null, atol=1e-12)
    np.testing.assert_array_equal(test.p_max, expected.p_max)
    assert test.resolution == 1 / 8


def test_more_permutations_keep_those_that_are_there(tmp_path):
    data, path = brain(2, n_runs=3, per_run=6), tmp_path / "study.sqlite"
    few = Study(data, counted(tmp_path / "fits"), n_permutations=3).run(path)
    more = Study(data, counted(tmp_path / "fits"), n_permutations=6)
    assert more.keys()[: len(few.study)] == few.study.keys()
    null = more.run(path).permutation_test("ridge").null
    np.testing.assert_array_equal(null[:3], few.permutation_test("ridge").null)


def test_a_small_number_of_arrangements_limits_the_p_value():
    data = brain(2, n_runs=2, per_run=2)
    test = Study(data, TWO, n_permutations=19).run().permutation_test("weak")
    assert test.resolution == 1 / 4  # two runs of two samples: 2 · 2 arrangements
    assert test.n_permutations == 19


def test_data_sets_of_one_design_are_not_permuted_alike():
    sets = {name: brain(seed=i) for i, name in enumerate("ab")}
    study = Study(sets, TWO, n_permutations=4)
    drawn = {name: [] for name in sets}
    for group in study.groups:
        if group.permutation:
            drawn[group.data.name].append(group.data.dataset.y.tolist())
    assert drawn["a"] != drawn["b"]
    again = Study({"other": sets["a"]}, TWO, n_permutations=4)
    same = [group.data.dataset.y.tolist() for group in again.groups if group.permutation]
    assert same == drawn["a"]
    result = study.run()
    assert result.permutation_test("weak").null.shape == (4, 1)


def test_inner_folds_of_permuted_labels_are_theirs():
    """Without runs inner folds are stratified, by the labels of the permutation, in whatever order."""
    data = replace(brain(2, n_runs=1, per_run=40), runs=None)
    options = {"train_share": 0.7, "n_repeats": 2}
    method = Method("ridge", RidgeClassifier, {"alpha": (100.0, 1.0)})

    def study():
        return Study(data, method, "repeated_random", protocol_options=options, n_permutations=3)

    result = study().run()
    first = list(result.cells(permuted=True))
    other = study()
    other._groups = other.groups[::-1]  # permutations first
    by_key = {cell.key: cell for cell in other.run().cells(permuted=True)}
    for cell in first:
        assert cell.extra == by_key[cell.key].extra
        np.testing.assert_array_equal(cell.predictions, by_key[cell.key].predictions)


# --- what is asked for wrongly, and what a user sees


def test_nonsense_is_refused_in_words(result):
    with pytest.raises(ValueError, match="method: found 'svd', expected one of 'svdm', 'ridge'"):
        result.select("svd")
    with pytest.raises(ValueError, match="n_components: found None for 'svdm', expected one of 1, 4, 'cho"):
        result.select("svdm")
    with pytest.raises(ValueError, match="n_components: found 3 for 'svdm', expected one of 1, 4, 'chosen'"):
        result.compare("svdm", "ridge", 3)
    with pytest.raises(ValueError, match="n_permutations: found 0 in this study"):
        result.permutation_test("svdm")
    with pytest.raises(ValueError, match="method: found 'x'"):
        result.permutation_test("x")
    with pytest.raises(ValueError, match="dataset: found 'other', expected one of 'simulated'"):
        result.maps("svdm", 4, dataset="other")
    with pytest.raises(ValueError, match="rows: found 'folds'"):
        result.to_csv("x.csv", rows="folds")
    assert len(result.select("ridge", 4)) == 11  # it has no components: nothing to choose


def test_what_a_user_sees(result, tmp_path):
    lines = repr(result).splitlines()
    assert lines[0] == "StudyResult of 44 cells"
    assert lines[1].startswith("  svdm, 1 component: ")
    assert "over runs), chance 0.333" in lines[1]
    assert lines[3].startswith("  svdm, components chosen inside: ")
    assert lines[4].startswith("  ridge: ")
    assert "<table" in result._repr_html_()
    assert "&lt;NA&gt;" not in result._repr_html_()
    result.to_csv(tmp_path / "cells.csv")
    result.to_csv(tmp_path / "samples.csv", rows="samples")
    assert len(pd.read_csv(tmp_path / "cells.csv")) == 44
    read = pd.read_csv(tmp_path / "samples.csv")
    assert read["correct"].mean() == pytest.approx(result.predictions["correct"].mean())
