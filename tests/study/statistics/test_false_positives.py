"""Where there is no effect, tests find one as often as their level says, and not twice as often.

Each claim is tried on the number of simulated studies that `plan_rate` asks for: were the rate twice the
nominal one, the test would fail with a probability of 95 % at least. Tests that the user guide warns of
are tried too, and are seen to fail.
"""

import numpy as np
import pytest
import scipy.stats
from study.statistics.decoders import accuracies, margins, nested_kernels

from svdecode.study.statistics import (
    accuracy_interval,
    corrected_resampled_t,
    null_dataset,
    permutation_test,
    plan_rate,
    sign_flip,
)

PLAN = plan_rate(0.05)
SEEDS = range(PLAN.n)


# the plan itself


@pytest.mark.parametrize(
    ("rate", "detects", "power"), [(0.05, None, 0.95), (0.1, 0.15, 0.8), (0.01, None, 0.95)]
)
def test_the_power_of_a_plan(rate, detects, power):
    """By scipy's test of a share: it rejects beyond the bounds, not within, and has the power stated."""
    plan = plan_rate(rate, detects=detects, power=power)
    larger = 2 * rate if detects is None else detects
    positives = np.arange(plan.n + 1)
    chance = scipy.stats.binom(plan.n, rate).pmf(positives)
    accepted = np.array([plan.accepts(k) for k in positives])
    assert chance[~accepted].sum() == pytest.approx(plan.false_alarm, abs=1e-9)
    assert plan.false_alarm <= 0.01
    seen = scipy.stats.binom(plan.n, larger).pmf(positives)[positives > plan.highest].sum()
    assert seen == pytest.approx(plan.power, rel=1e-9)
    assert seen >= power
    # hardly more studies than it takes
    fewer = int(0.9 * plan.n)
    bound = scipy.stats.binom(fewer, rate).isf(0.005)
    assert scipy.stats.binom(fewer, larger).sf(bound) < power


def test_the_plan_that_is_used_here():
    assert PLAN.detects == 0.1
    assert PLAN.power >= 0.95
    assert str(PLAN).startswith("483 studies: 13 to 37 positives agree with a rate of 0.05; a rate of 0.1 is")


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("rate: found 0,", {"rate": 0}),
        ("detects: found 0.04, expected a rate between 0.05 and 1", {"rate": 0.05, "detects": 0.04}),
        ("power: found 0,", {"rate": 0.05, "power": 0}),
        ("false_alarm: found 1,", {"rate": 0.05, "false_alarm": 1}),
    ],
)
def test_bad_plans_are_refused(message, options):
    with pytest.raises(ValueError, match=message):
        plan_rate(**options)


# permutations: the whole analysis, one run left out, at three numbers of features


def permutation_results(score, *, within=True, n_permutations=19, **simulated):
    """Results of all studies. With 19 permutations p ≤ 0.05 has probability 1/20, if there are no ties."""
    for seed in SEEDS:
        data = null_dataset(8, 14, random_state=seed, **simulated)
        kernels = nested_kernels(data)
        yield permutation_test(
            lambda signs, kernels=kernels: score(kernels, signs),
            2 * data.y - 1,
            runs=data.runs if within else None,
            n_permutations=n_permutations,
            random_state=seed + 10_000,
        )


def test_permuting_within_runs_has_its_level():
    results = list(permutation_results(margins))
    assert PLAN.accepts(sum(result.p_max.min() <= 0.05 for result in results))  # any dimension at all
    for dimension in range(3):
        assert PLAN.accepts(sum(result.p[dimension] <= 0.05 for result in results))
    # without a correction, the best of three dimensions is significant too often
    assert sum(result.p.min() <= 0.05 for result in results) > PLAN.highest


def test_accuracies_have_ties_and_no_more_than_the_level():
    results = list(permutation_results(accuracies))
    assert sum(result.p_max.min() <= 0.05 for result in results) <= PLAN.highest


TRAP = {"imbalance": 0.5, "run_effect": 1.0}
"""The halves of a session differ, and so do the frequencies of the classes in them."""


def test_runs_that_differ_do_not_deceive_permutations_within_them():
    results = list(permutation_results(margins, **TRAP))
    assert PLAN.accepts(sum(result.p_max.min() <= 0.05 for result in results))


def test_runs_that_differ_do_deceive_permutations_across_them():
    results = list(permutation_results(margins, within=False, **TRAP))
    assert sum(result.p_max.min() <= 0.05 for result in results) > 0.99 * PLAN.n


def test_p_values_are_uniform():
    results = permutation_results(margins, n_permutations=99)
    p = np.array([result.p[1] for result in results])
    counts = np.histogram(p, bins=np.arange(0.005, 1.006, 0.1))[0]
    assert counts.sum() == PLAN.n
    assert scipy.stats.chisquare(counts).pvalue > 0.001


# over subjects


def subjects_differences(rng, n_subjects=8, n_dimensions=4):
    """Differences without a direction, heavy-tailed, alike over dimensions."""
    shared = rng.standard_t(2, size=(n_subjects, 1))
    return shared + rng.standard_t(2, size=(n_subjects, n_dimensions))


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_sign_flips_have_their_level(alternative):
    rng = np.random.default_rng(0)
    results = [sign_flip(subjects_differences(rng), alternative=alternative) for _ in SEEDS]
    attained = plan_rate(12 / 256)  # the largest multiple of 2/2⁸ up to 0.05
    rates = results[: attained.n] if attained.n <= PLAN.n else results
    rates += [
        sign_flip(subjects_differences(rng), alternative=alternative) for _ in range(attained.n - len(rates))
    ]
    assert attained.accepts(sum(result.p_max.min() <= 0.05 for result in rates))
    assert attained.accepts(sum(result.p[0] <= 0.05 for result in rates))
    assert sum(result.p.min() <= 0.05 for result in rates) > attained.highest


# two methods that are equally good, on random splits of the same samples


def resampled_differences(rng, n=60, n_test=12, n_splits=15, n_features=20):
    """Accuracies of nearest-mean classifiers on either half of the features, pure noise."""
    X = rng.standard_normal((n, 2 * n_features))
    y = np.arange(n) % 2
    differences = []
    for _ in range(n_splits):
        order = rng.permutation(n)
        test, train = order[:n_test], order[n_test:]
        means = [X[train][y[train] == c].mean(axis=0) for c in (0, 1)]
        direction, center = means[1] - means[0], (means[0] + means[1]) / 2
        parts = (X[test] - center) * direction
        right = [
            (parts[:, side].sum(axis=1) > 0) == y[test]
            for side in (slice(n_features), slice(n_features, None))
        ]
        differences.append(right[0].mean() - right[1].mean())
    return differences


@pytest.mark.parametrize("n_test", [12, 6])
def test_the_corrected_t_test_is_near_its_level_and_the_plain_one_is_not(n_test):
    """Its correction is an approximation: 5 to 10 % of studies are positive, where 5 % should be."""
    rng = np.random.default_rng(0)
    plan = plan_rate(0.075, detects=0.12)
    studies = [resampled_differences(rng, n_test=n_test) for _ in range(plan.n)]
    results = [corrected_resampled_t(d, n_train=60 - n_test, n_test=n_test) for d in studies]
    assert plan.accepts(sum(result.p <= 0.05 for result in results))
    plain = sum(scipy.stats.ttest_1samp(d, 0).pvalue <= 0.05 for d in studies)
    assert plain > 0.25 * plan.n


# intervals of whole studies: chance is inside


def study_of_subjects(seed):
    """Which samples of eight subjects, each decoded by itself with runs left out, are predicted rightly."""
    data = null_dataset(6, 10, n_subjects=8, run_effect=0.5, random_state=seed)
    right = []
    for subject in range(8):
        own = data.select(data.subjects == subject)
        signs = 2 * own.y - 1
        right.append(np.sign(nested_kernels(own, (20,))[0] @ signs) == signs)
    return np.concatenate(right), data.runs, data.subjects


def test_the_interval_over_subjects_contains_chance():
    outside = 0
    for seed in SEEDS:
        right, runs, subjects = study_of_subjects(seed)
        interval = accuracy_interval(right, runs=runs, subjects=subjects)
        outside += not interval.low <= 0.5 <= interval.high
    assert outside <= PLAN.highest
