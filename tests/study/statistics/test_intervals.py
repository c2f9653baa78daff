"""Intervals agree with scipy and with naive loops, and cover as often as they say."""

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import brentq

from svdecode.study.statistics import accuracy_interval, clopper_pearson, plan_rate

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (1, 7), (30, 60), (59, 60), (60, 60), (1, 1)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_independent_samples_have_the_exact_interval(right, n, level):
    interval = accuracy_interval(np.arange(n) < right, level=level)
    expected = scipy.stats.binomtest(right, n).proportion_ci(level, method="exact")
    np.testing.assert_allclose([interval.low, interval.high], [expected.low, expected.high], rtol=1e-10)
    assert (interval.over, interval.n_units) == ("samples", n)


def test_the_exact_interval_where_numbers_are_not_whole():
    """Its ends are where a beta distribution has the tails, by a search of its own."""
    low, high = clopper_pearson(7.3, 11.9, 0.9)
    below = brentq(lambda p: scipy.stats.beta.cdf(p, 7.3, 5.6) - 0.05, 0, 1, xtol=1e-13)
    above = brentq(lambda p: scipy.stats.beta.sf(p, 8.3, 4.6) - 0.05, 0, 1, xtol=1e-13)
    np.testing.assert_allclose([low, high], [below, above], rtol=1e-8)


def naive_error(right, runs, subjects):
    """The cluster-robust standard error of a share, runs as clusters and subjects as strata, in loops."""
    share = np.mean(right)
    variance = 0.0
    for subject in set(subjects):
        sums = [
            sum(
                r - share
                for r, run, s in zip(right, runs, subjects, strict=True)
                if (run, s) == (one, subject)
            )
            for one in {run for run, s in zip(runs, subjects, strict=True) if s == subject}
        ]
        center = sum(sums) / len(sums)
        variance += len(sums) / (len(sums) - 1) * sum((value - center) ** 2 for value in sums)
    return np.sqrt(variance) / len(right)


def test_runs_of_unequal_size():
    runs = np.array(["a"] * 3 + ["b"] * 9 + ["c"] * 5 + ["d"] * 12)
    right = RNG.random(len(runs)) < 0.7
    interval = accuracy_interval(right, runs=runs)
    assert interval.estimate == pytest.approx(right.mean(), rel=1e-12)
    assert interval.standard_error == pytest.approx(naive_error(right, runs, ["one"] * len(runs)), rel=1e-12)
    effective = interval.estimate * (1 - interval.estimate) / interval.standard_error**2
    effective = min(effective, 29) * (scipy.stats.t.isf(0.025, 28) / scipy.stats.t.isf(0.025, 3)) ** 2
    assert interval.effective_n == pytest.approx(effective, rel=1e-12)
    expected = clopper_pearson(interval.estimate * effective, effective, 0.95)
    np.testing.assert_allclose([interval.low, interval.high], expected, rtol=1e-12)


def test_runs_of_equal_size_have_the_error_of_their_mean():
    right = RNG.random((8, 12)) < 0.6
    interval = accuracy_interval(right.ravel(), runs=np.repeat(np.arange(8), 12))
    assert interval.standard_error == pytest.approx(scipy.stats.sem(right.mean(axis=1)), rel=1e-12)
    assert (interval.over, interval.n_units, interval.n_samples) == ("runs", 8, 96)


def test_runs_of_several_subjects_are_not_mixed_up():
    subjects = np.repeat(["s1", "s2", "s3"], 40)
    runs = np.tile(np.repeat(np.arange(4), 10), 3)  # called alike in all subjects
    right = RNG.random(120) < np.repeat([0.5, 0.7, 0.9], 40)
    interval = accuracy_interval(right, runs=runs, subjects=subjects, over="runs")
    assert interval.n_units == 12
    assert interval.standard_error == pytest.approx(naive_error(right, runs, subjects), rel=1e-12)
    # what subjects differ in is no part of it
    assert interval.standard_error < accuracy_interval(right, subjects=subjects).standard_error


def test_each_subject_counts_once():
    subjects = np.array([0] * 10 + [1] * 40 + [2] * 20)
    right = RNG.random(70) < 0.7
    interval = accuracy_interval(right, runs=np.arange(70) % 2, subjects=subjects)
    means = [right[subjects == s].mean() for s in range(3)]
    assert interval.over == "subjects"
    assert interval.estimate == pytest.approx(np.mean(means), rel=1e-12)
    assert interval.standard_error == pytest.approx(scipy.stats.sem(means), rel=1e-12)


def test_one_subject_generalizes_over_runs():
    interval = accuracy_interval([1, 0, 1, 1] * 3, runs=[1] * 6 + [2] * 6, subjects=["s"] * 12)
    assert (interval.over, interval.n_units) == ("runs", 2)


def test_the_order_of_samples_does_not_matter():
    runs, subjects = np.arange(60) % 5, np.arange(60) // 30
    right = RNG.random(60) < 0.7
    shuffled = RNG.permutation(60)
    one = accuracy_interval(right, runs=runs, subjects=subjects, over="runs")
    other = accuracy_interval(right[shuffled], runs=runs[shuffled], subjects=subjects[shuffled], over="runs")
    np.testing.assert_allclose([one.low, one.high], [other.low, other.high], rtol=1e-12)


def test_where_all_is_right_the_interval_has_a_length():
    lows = [accuracy_interval([1] * 48, runs=np.repeat(np.arange(n), 48 // n)).low for n in (2, 4, 8, 16)]
    assert lows == sorted(lows)
    assert 0 < lows[0] < 0.1  # two runs tell next to nothing
    assert 0.85 < lows[-1] < 0.95
    assert accuracy_interval([1] * 48, runs=np.repeat(np.arange(4), 12)).high == 1.0
    thirds = accuracy_interval([1 / 3 + 2 / 3] * 48, runs=np.repeat(np.arange(4), 12))
    assert thirds.high == 1.0


def test_repeated_predictions_of_a_sample_are_no_further_samples():
    runs = np.repeat(np.arange(8), 10)
    once = RNG.random(80) < 0.7
    assert accuracy_interval(once.astype(float), runs=runs) == accuracy_interval(once, runs=runs)


BAD = {
    r"correct: found 0 to 2, expected values from 0 to 1": {"correct": [0, 1, 2]},
    r"correct: found values that are not finite": {"correct": [0, 1, np.nan]},
    r"correct: found no values": {"correct": []},
    r"correct: found an array of shape \(1, 3\)": {"correct": [[0, 1, 1]]},
    r"correct: found values that are no numbers": {"correct": ["a", "b", "c"]},
    r"level: found 1, expected a number between 0 and 1": {"level": 1},
    r"over: found 'voxels', expected one of": {"over": "voxels"},
    r"runs: found none, expected at least 2": {"over": "runs"},
    r"subjects: found 1 of them, expected at least 2": {"over": "subjects", "subjects": [1, 1, 1]},
    r"runs: found one run of subject b, expected at least 2 of every subject": {
        "over": "runs",
        "runs": [1, 2, 1],
        "subjects": ["a", "a", "b"],
    },
    r"runs: found 2 labels, expected one for each of the 3": {"runs": [1, 2]},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        accuracy_interval(**({"correct": [0, 1, 1]} | BAD[message]))


# coverage: a study misses with probability 1 − level at most; twice that would be seen


PLAN = plan_rate(0.05)


def studies(rng, accuracy, alike, n_units, n_samples):
    """Units (runs or subjects) whose accuracies have the mean and the intraclass correlation given."""
    if alike == 0:
        own = np.full((PLAN.n, n_units), accuracy)
    else:
        spread = (1 - alike) / alike
        own = rng.beta(accuracy * spread, (1 - accuracy) * spread, size=(PLAN.n, n_units))
    return rng.random((PLAN.n, n_units, n_samples)) < own[:, :, None]


def misses(accuracy, right, **units):
    intervals = [accuracy_interval(study.ravel(), **units) for study in right]
    return sum(not i.low <= accuracy <= i.high for i in intervals)


@pytest.mark.parametrize("unit", ["runs", "subjects"])
@pytest.mark.parametrize("alike", [0.0, 0.05, 0.2])
@pytest.mark.parametrize(
    ("accuracy", "n_units", "n_samples"), [(0.5, 6, 84), (0.7, 8, 12), (0.85, 12, 7), (0.5, 4, 8)]
)
def test_the_interval_covers(unit, alike, accuracy, n_units, n_samples):
    right = studies(np.random.default_rng(1), accuracy, alike, n_units, n_samples)
    units = {unit: np.repeat(np.arange(n_units), n_samples)}
    assert misses(accuracy, right, **units) <= PLAN.highest


def test_an_interval_that_ignores_runs_would_be_seen():
    right = studies(np.random.default_rng(1), 0.7, 0.2, 8, 12)
    assert misses(0.7, right) > 2 * PLAN.highest


def test_where_the_interval_is_too_short():
    """As its notes say: near 100 %, few units, and one in many units that is bad."""
    right = studies(np.random.default_rng(1), 0.97, 0.2, 6, 84)
    found = misses(0.97, right, runs=np.repeat(np.arange(6), 84))
    assert PLAN.highest < found < 0.35 * PLAN.n
