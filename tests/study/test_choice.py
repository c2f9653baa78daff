"""Rules of choice on tables with known answers, and inner folds that stay inside."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier

from svdecode.imaging import Dataset
from svdecode.study import (
    RULES,
    Method,
    best,
    class_pairs,
    inner_splits,
    just_below_perfect,
    leave_one_run_out,
    leave_one_sample_out,
    leave_one_subject_out,
    new_runs,
    one_standard_error,
    torn_units,
    unit_codes,
)
from svdecode.study.choice import check_rule

LOWEST_BELOW = just_below_perfect()


def dataset(n_subjects=3, n_runs=4, n_classes=3):
    n = n_subjects * n_runs * n_classes
    y = np.tile(np.arange(n_classes), n_subjects * n_runs)
    runs = np.tile(np.repeat(np.arange(n_runs), n_classes), n_subjects)
    return Dataset(np.zeros((n, 2)), y, runs=runs, subjects=np.repeat(np.arange(n_subjects), n // n_subjects))


@pytest.mark.parametrize(
    ("means", "chosen", "why"),
    [
        ([0.6, 0.8, 0.95, 0.98, 1.0, 1.0], 3, "the highest that is below 100 %"),
        ([0.6, 0.98, 0.98, 0.98, 1.0], 1, "the lowest weight that reaches it"),
        ([0.6, 0.97, 1.0, 0.98, 1.0], 3, "accuracies need not rise with the weight"),
        ([0.5, 0.7, 0.7, 0.6], 1, "none at 100 %: the highest, and its lowest weight"),
        ([1.0, 1.0, 1.0], 0, "all at 100 %: the lowest weight"),
        ([0.5, 0.5, 1.0, 1.0], 2, "a jump to 100 %: nothing is slightly below, the lowest weight there"),
        ([0.5, 0.9, 1.0], 1, "a tenth below is still slightly"),
        ([0.3], 0, "one candidate"),
    ],
)
def test_lowest_weight_slightly_below_perfect(means, chosen, why):
    table = np.repeat(np.array(means)[:, None], 5, axis=1)
    assert LOWEST_BELOW(table) == chosen, why


def test_just_below_perfect_reads_what_was_fitted():
    """Pereira & Gordon 3.2 speak of the secondary training sets; the other reading has a name of its own."""
    assert LOWEST_BELOW.reads == "training"
    assert RULES["just_below_perfect"].reads == "training"
    assert RULES["just_below_perfect_held_out"].reads == "test"
    assert best.reads == one_standard_error.reads == "test"


def test_a_mean_over_folds_counts_not_each_fold():
    table = [[1.0, 0.9], [1.0, 1.0]]
    assert LOWEST_BELOW(table) == 0
    assert best(table) == 1
    assert just_below_perfect(0.01)(table) == 1  # five hundredths below are not slightly, then


def test_best_takes_the_simplest_of_equals():
    # the same answers in another order: their means differ by rounding only
    assert best([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]]) == 0
    assert best([[0.5], [0.7], [0.7]]) == 1
    assert best([[np.nan, np.nan], [0.2, np.nan], [0.1, 0.1]]) == 1


def test_one_standard_error():
    table = np.array([[0.50, 0.60, 0.70], [0.66, 0.70, 0.74], [0.60, 0.75, 0.90], [0.7, 0.7, 0.7]])
    # best mean .75 with standard error .15/√3 = .0866: everything from .6634 is as good
    assert best(table) == 2
    assert one_standard_error(table) == 1
    assert one_standard_error([[0.5], [0.6]]) == 1  # one fold knows no error


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
@settings(deadline=None, max_examples=200, derandomize=True)
def test_what_all_rules_have_in_common(n_candidates, n_folds, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (n_candidates, n_folds)) / 4
    means = table.mean(axis=1)
    order = rng.permutation(n_folds)
    for rule in RULES.values():
        chosen = rule(table, list(range(n_candidates)))
        assert rule(table[:, order]) == chosen  # folds have no order
        assert rule(np.vstack([table, table[chosen]])) == chosen  # an equal that is less simple is not taken
        assert pickle.loads(pickle.dumps(rule))(table) == chosen
    assert means[best(table)] == means.max()
    assert one_standard_error(table) <= best(table)
    assert means[LOWEST_BELOW(table)] < 1 or not ((means < 1) & (means >= 0.9)).any()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([0.5, 0.6], r"accuracies: found an array of shape \(2,\)"),
        (np.zeros((0, 3)), r"accuracies: found an array of shape \(0, 3\)"),
        ([[50.0], [60.0]], "accuracies: found 50 to 60, expected 0 to 1"),
        ([[np.nan]], "accuracies: found NaN only"),
    ],
)
def test_refused_tables(table, message):
    with pytest.raises(ValueError, match=message):
        best(table)


def test_refused_rules():
    with pytest.raises(ValueError, match="accuracies: found 1 rows, expected one for each of 2 candidates"):
        best([[0.5]], candidates=[1, 2])
    with pytest.raises(ValueError, match="choice: found 'better', expected one of 'best'"):
        check_rule("better")
    with pytest.raises(ValueError, match="reads: found 'all'"):
        just_below_perfect(reads="all")
    assert check_rule("best") is best
    assert check_rule(LOWEST_BELOW) is LOWEST_BELOW


# inner folds


@pytest.mark.parametrize(
    "protocol", [leave_one_run_out, leave_one_subject_out, new_runs, leave_one_sample_out]
)
def test_inner_folds_stay_inside_and_keep_apart(protocol):
    data = dataset()
    splits = protocol(data)
    for part in splits:
        inner = inner_splits(data, part.train, splits)
        for fold in inner:
            np.testing.assert_array_equal(np.sort(np.concatenate([fold.train, fold.test])), part.train)
        assert torn_units(data, inner, "runs") == []
        if protocol is leave_one_subject_out:
            assert torn_units(data, inner, "subjects") == []
            assert len(inner) == 2
        tested = np.concatenate([fold.test for fold in inner])
        np.testing.assert_array_equal(np.sort(tested), part.train)  # each once


def test_inner_folds_without_a_protocol():
    data = dataset()
    assert len(inner_splits(data, np.arange(36))) == 4  # runs, those of one number together
    assert len(inner_splits(data, np.arange(12))) == 4  # of one subject
    one_run = np.flatnonzero(data.runs == 0)
    assert len(inner_splits(data, one_run)) == 3  # one run only: subjects
    bare = Dataset(data.X, data.y)
    five = inner_splits(bare, np.arange(36))  # stratified: of twelve samples of a class two or three
    assert sorted({int(c) for fold in five for c in np.bincount(data.y[fold.test])}) == [2, 3]
    assert len(five) == 5
    assert len(inner_splits(bare, np.arange(9))) == 3  # as many as the rarest class has


def test_inner_folds_of_several_units():
    data = dataset(n_runs=8)
    inner = inner_splits(data, np.arange(72), n_folds=3)
    assert len(inner) == 3
    assert torn_units(data, inner, "runs") == []
    held = [set(data.runs[fold.test].tolist()) for fold in inner]
    assert held == [{0, 3, 6}, {1, 4, 7}, {2, 5}]
    assert len(inner_splits(data, np.arange(72), n_folds=20)) == 8


def test_inner_folds_of_pairs_see_the_pair_only():
    data = dataset()
    splits = class_pairs(data, protocol="leave_one_run_out", across_subjects=True)
    inner = inner_splits(data, splits[0].train, splits)
    assert set(data.y[np.concatenate([fold.test for fold in inner])]) == {0, 1}


def test_inner_folds_for_the_training_rows_alone():
    data = dataset()
    splits = leave_one_run_out(data)
    rows = splits[5].train
    inner = inner_splits(data, rows, splits)
    own = inner.within(rows)
    assert own.n_samples == len(rows)
    for fold, renumbered in zip(inner, own, strict=True):
        np.testing.assert_array_equal(rows[renumbered.train], fold.train)
        np.testing.assert_array_equal(rows[renumbered.test], fold.test)
    with pytest.raises(ValueError, match="rows: found none for a row of inner 1"):
        inner.within(rows[1:])


def test_refused_inner_folds():
    bare = Dataset(np.zeros((5, 1)), list("aabbc"))
    with pytest.raises(ValueError, match="rows: found a class with one sample only"):
        inner_splits(bare, np.arange(5))
    with pytest.raises(ValueError, match="n_folds: found 1, expected an integer of at least 2"):
        inner_splits(dataset(), np.arange(36), n_folds=1)
    with pytest.raises(ValueError, match="rows: found row 36, expected 0 to 35"):
        inner_splits(dataset(), [36])


def test_runs_of_one_number_are_left_out_together_inside():
    """Of 7 subjects × 7 runs that would be 49 inner folds; whole runs stay whole all the same."""
    data = dataset(n_subjects=7, n_runs=8)
    splits = leave_one_run_out(data)
    inner = inner_splits(data, splits[0].train, splits)
    assert len(inner) == 8
    codes = unit_codes(data, "runs")
    assert len(np.unique(codes)) == 56
    assert all(not np.isin(codes[fold.test], codes[fold.train]).any() for fold in inner)


# methods


def make(n_components=2, alpha=1.0, random_state=None):
    return RidgeClassifier(alpha=n_components * alpha, random_state=random_state)


def test_a_method_knows_its_candidates():
    method = Method("m", make, {"alpha": np.array([1.0, 0.1])}, sizes=range(1, 4), fixed={"random_state": 3})
    assert method.sizes == (1, 2, 3)
    assert method.candidates() == [{"alpha": 1.0}, {"alpha": 0.1}]
    made = method.estimator(n_components=3, alpha=0.1)
    assert (made.alpha, made.random_state) == (3 * 0.1, 3)
    assert not method.seeded  # its random state is fixed
    assert Method("bare", make).seeded
    assert method.with_grid(alpha=5).candidates() == [{"alpha": 5}]
    assert Method("bare", make).candidates() == [{}]
    assert pickle.loads(pickle.dumps(method)).candidates() == method.candidates()


def test_refused_methods():
    with pytest.raises(ValueError, match="needs: found 'columns'"):
        Method("m", make, needs="columns")
    with pytest.raises(ValueError, match="make: found 'make'"):
        Method("m", "make")
    with pytest.raises(ValueError, match="alpha: found no value"):
        Method("m", make, {"alpha": []})
    with pytest.raises(ValueError, match="fixed: found 'alpha', which the grid tries"):
        Method("m", make, {"alpha": [1]}, fixed={"alpha": 2})
