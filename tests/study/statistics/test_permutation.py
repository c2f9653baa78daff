"""Permutations stay in their runs, and p-values are what counting gives."""

from itertools import permutations as orders
from math import comb

import numpy as np
import pytest
import scipy.stats

from svdecode.study.statistics import (
    check_exchangeable,
    compare_with_null,
    count_arrangements,
    p_resolution,
    permutation_test,
    permutations,
    permute_within,
)


def test_labels_stay_in_their_run_and_subject():
    rng = np.random.default_rng(0)
    runs, subjects = rng.integers(0, 3, 90), rng.integers(0, 2, 90)
    y = rng.integers(0, 4, 90)
    for seed in range(20):
        permuted = permute_within(y, runs=runs, subjects=subjects, random_state=seed)
        assert (permuted != y).any()
        for run in range(3):
            for subject in range(2):
                block = (runs == run) & (subjects == subject)
                assert sorted(permuted[block]) == sorted(y[block])


def test_every_arrangement_is_as_likely():
    y, runs = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1])
    rng = np.random.default_rng(0)
    found = [tuple(permute_within(y, runs=runs, random_state=rng)) for _ in range(6000)]
    arrangements, counts = np.unique(found, axis=0, return_counts=True)
    assert len(arrangements) == 6 == count_arrangements(y, runs=runs)
    assert scipy.stats.chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("y", [[0, 1], [0, 0, 1, 1, 2], ["a", "b", "b", "b"], [1, 2, 3, 4]])
def test_arrangements_are_counted(y):
    assert count_arrangements(y) == len(set(orders(y)))
    twice = [*y, *y]
    runs = np.repeat([0, 1], len(y))
    assert count_arrangements(twice, runs=runs) == len(set(orders(y))) ** 2


def test_many_arrangements_are_counted_exactly():
    assert count_arrangements(np.arange(864) % 2, runs=np.repeat(np.arange(8), 108)) == comb(108, 54) ** 8


def test_several_labels_of_a_sample_stay_together():
    Y = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    permuted = permute_within(Y, random_state=1)
    assert sorted(permuted.tolist()) == sorted(Y.tolist())
    assert count_arrangements(Y) == 24


def test_more_permutations_begin_with_the_same():
    y = np.arange(12) % 3
    few = list(permutations(y, n_permutations=3, random_state=5))
    more = list(permutations(y, n_permutations=6, random_state=5))
    np.testing.assert_array_equal(few, more[:3])
    assert not np.array_equal(few, list(permutations(y, n_permutations=3, random_state=6)))


def test_runs_of_one_class_are_refused():
    message = (
        r"runs: found one class only in run 2 of subject b and 1 more, expected two or more in every run"
    )
    y, runs, subjects = [0, 1, 0, 0, 0, 0], [1, 1, 2, 2, 3, 3], ["b"] * 6
    with pytest.raises(ValueError, match=message):
        permutation_test(lambda labels: 0.0, y, runs=runs, subjects=subjects, n_permutations=9)
    with pytest.raises(ValueError, match="subjects: found one class only in subject 2"):
        check_exchangeable([0, 1, 1, 1], subjects=[1, 1, 2, 2])
    with pytest.raises(ValueError, match="y: found one class only in the data"):
        check_exchangeable([1, 1, 1])
    check_exchangeable(y, subjects=subjects)  # within larger blocks they may change places


def mean_difference(x):
    return lambda labels: x[labels == 1].mean() - x[labels == 0].mean()


def test_p_agrees_with_all_permutations_by_scipy():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [5, 6])
    x = rng.normal(size=11) + 0.8 * y
    exact = scipy.stats.permutation_test(
        (x[y == 1], x[y == 0]), lambda a, b: a.mean() - b.mean(), n_resamples=np.inf, alternative="greater"
    ).pvalue
    assert 0.01 < exact < 0.2
    n = 4000
    p = permutation_test(mean_difference(x), y, n_permutations=n).p[0]
    assert abs(p - exact) < 4 * np.sqrt(exact * (1 - exact) / n)


def test_p_within_runs_agrees_with_listing_them():
    rng = np.random.default_rng(4)
    y, runs = np.array([0, 1, 0, 1, 1, 0, 0, 1]), np.repeat([0, 1], 4)
    x = rng.normal(size=8) + 3 * runs + 1.5 * y
    score = mean_difference(x)
    halves = [sorted(set(orders(y[runs == run].tolist()))) for run in (0, 1)]
    listed = [score(np.array([*first, *second])) for first in halves[0] for second in halves[1]]
    exact = np.mean(np.array(listed) >= score(y) - 1e-12)
    n = 4000
    test = permutation_test(score, y, runs=runs, n_permutations=n)
    assert abs(test.p[0] - exact) < 4 * np.sqrt(exact * (1 - exact) / n)
    assert test.resolution == 1 / 36  # fewer arrangements than permutations
    free = permutation_test(score, y, n_permutations=n).p[0]
    assert abs(free - exact) > 0.05  # without runs it would be another p


def test_p_by_counting():
    rng = np.random.default_rng(5)
    null = rng.integers(0, 6, (50, 4)) / 10
    statistic = np.array([0.1, 0.3, 0.5, 0.7])
    test = compare_with_null(statistic, null)
    for j in range(4):
        assert test.p[j] == (1 + sum(row[j] >= statistic[j] for row in null)) / 51
        assert test.p_max[j] == (1 + sum(max(row) >= statistic[j] for row in null)) / 51
    assert (test.p_max >= test.p).all()
    assert test.p.min() == test.resolution == p_resolution(50) == 1 / 51


def test_sums_in_another_order_are_ties():
    test = compare_with_null(0.1 + 0.2, [0.3, 0.3, 0.6])  # 0.30000000000000004
    assert test.p[0] == 1.0


def test_one_statistic_is_one_dimension():
    single = compare_with_null(0.4, [0.5, 0.1, 0.2])
    column = compare_with_null([0.4], [[0.5], [0.1], [0.2]])
    assert single.p == column.p == single.p_max == 0.5


def test_the_sentence_states_the_resolution():
    null = np.linspace(0.3, 0.6, 99)
    assert str(compare_with_null(0.9, null)) == (
        "statistic 0.9, p = 0.010, the smallest there can be; 99 permutations, mean 0.45"
    )
    two = compare_with_null([0.4, 0.55], np.stack([null, null], axis=1))
    assert "(dimension 2 of 2, corrected by the maximum over them), p = 0.180;" in str(two)
    assert "the smallest" not in str(two)


BAD = {
    r"null: found 2 columns, expected 1": (0.5, [[0.1, 0.2]]),
    r"null: found values that are not finite": (0.5, [0.1, np.nan]),
    r"null: found no values": (0.5, []),
    r"statistic: found an array of shape \(1, 1\)": ([[0.5]], [0.1]),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        compare_with_null(*BAD[message])


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_a_number_of_permutations_is_at_least_one(n):
    with pytest.raises(ValueError, match="n_permutations: found"):
        permutation_test(lambda labels: 0.0, [0, 1, 0, 1], n_permutations=n)
    with pytest.raises(ValueError, match="n_permutations: found"):
        p_resolution(n)
