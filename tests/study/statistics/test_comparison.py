"""Comparisons agree with scipy, with formulas written out, and with listing all signs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from svdecode.study.statistics import corrected_resampled_t, paired_differences, sign_flip

RNG = np.random.default_rng(0)


def test_without_shared_training_samples_it_is_the_t_test():
    """With n_test/n_train → 0 the correction vanishes."""
    d = RNG.normal(0.02, 0.05, size=12)
    found = corrected_resampled_t(d, n_train=1e15, n_test=1)
    expected = scipy.stats.ttest_1samp(d, 0)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)
    ends = expected.confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], [ends.low, ends.high], rtol=1e-9)


def test_the_corrected_t_written_out():
    d = [0.05, -0.01, 0.03, 0.08, 0.02]
    mean = sum(d) / 5
    variance = sum((x - mean) ** 2 for x in d) / 4
    t = mean / (variance * (1 / 5 + 20 / 80)) ** 0.5
    found = corrected_resampled_t(d, n_train=80, n_test=20)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p == pytest.approx(2 * scipy.stats.t.sf(t, 4), rel=1e-12)
    opposite = corrected_resampled_t([-x for x in d], n_train=80, n_test=20)
    assert (opposite.statistic, opposite.p) == (-found.statistic, found.p)


def test_no_difference_anywhere():
    found = corrected_resampled_t([0.0] * 5, n_train=4, n_test=1)
    assert (found.statistic, found.p, found.low, found.high) == (0.0, 1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match=r"differences: found 0\.1 in every fold, expected values that vary"):
        corrected_resampled_t([0.1] * 5, n_train=4, n_test=1)


def listed_p(d, alternative):
    extreme = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    sums = [
        extreme(sum(s * x for s, x in zip(signs, d, strict=True)))
        for signs in product([1, -1], repeat=len(d))
    ]
    return np.mean(np.array(sums) >= extreme(sum(d)) - 1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_all_signs_are_listed(n, alternative):
    d = np.round(RNG.normal(0.05, 0.1, size=n), 2)  # rounded: ties occur
    found = sign_flip(d, alternative=alternative)
    assert found.p[0] == pytest.approx(listed_p(d.tolist(), alternative), abs=1e-12)
    assert found.exact
    assert found.n_flips == 2**n


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_all_signs_agree_with_scipy(alternative):
    d = RNG.normal(0.05, 0.1, size=13)  # more than are made at a time
    expected = scipy.stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
    )
    assert sign_flip(d, alternative=alternative).p[0] == pytest.approx(expected.pvalue, rel=1e-9)


def test_twenty_subjects_are_still_exact():
    d = np.concatenate([np.full(19, 0.1), [-0.05]])
    found = sign_flip(d, alternative="greater")
    # as far or further: the signs as they are, and the small one turned
    assert found.p[0] == 2 / 2**20
    assert found.resolution == 1 / 2**20


def test_more_subjects_are_sampled_and_it_says_so():
    d = RNG.normal(0.03, 0.1, size=30)
    found = sign_flip(d, n_flips=5000)
    assert not found.exact
    assert found.resolution == 1 / 5001
    assert "a sample of 5001 sign flips" in str(found)
    expected = scipy.stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=20000, random_state=1
    ).pvalue
    assert abs(found.p[0] - expected) < 5 * np.sqrt(expected * (1 - expected) / 4000)
    assert sign_flip(d, n_flips=5000).p == found.p
    assert sign_flip(d, n_flips=5000, random_state=1).p != found.p


def test_p_over_dimensions_by_listing():
    d = RNG.normal(0.05, 0.1, size=(7, 4))
    found = sign_flip(d)
    sums = np.array([np.abs(np.array(signs) @ d) for signs in product([1, -1], repeat=7)])
    for j in range(4):
        observed = abs(d[:, j].sum()) - 1e-12
        assert found.p[j] == np.mean(sums[:, j] >= observed) == sign_flip(d[:, j]).p[0]
        assert found.p_max[j] == np.mean(sums.max(axis=1) >= observed)
    assert "corrected by the maximum over them" in str(found)


def test_what_a_few_subjects_can_show_at_most():
    found = sign_flip([0.2, 0.3, 0.1, 0.25])
    assert found.p[0] == found.resolution == 2 / 16
    assert "p = 0.125, the smallest there can be; all 16 sign flips" in str(found)
    assert sign_flip([0.0, 0.0, 0.0]).p[0] == 1.0


TABLE = pd.DataFrame(
    {
        "dataset": ["s1"] * 4 + ["s2"] * 4,
        "method": ["svdm", "svm"] * 4,
        "fold": ["a", "a", "b", "b"] * 2,
        "seed": 0,
        "accuracy": [0.9, 0.8, 0.7, 0.75, 0.6, 0.5, 0.5, 0.5],
    }
)


def test_pairs_are_found_in_any_order():
    expected = [0.1, -0.05, 0.1, 0.0]
    np.testing.assert_allclose(paired_differences(TABLE, "svdm", "svm"), expected, atol=1e-12)
    shuffled = TABLE.sample(frac=1, random_state=0)
    found = paired_differences(shuffled, "svdm", "svm")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.groupby("dataset").mean().round(3).tolist() == [0.025, 0.05]


def test_pairs_that_are_none_are_refused():
    with pytest.raises(ValueError, match="table: found no method 'lda', expected one of 'svdm', 'svm'"):
        paired_differences(TABLE, "svdm", "lda")
    with pytest.raises(
        ValueError, match=r"table: found 1 cells of one method only .*expected the same dataset"
    ):
        paired_differences(TABLE.iloc[:-1], "svdm", "svm")
    with pytest.raises(ValueError, match="table: found several cells of 'svdm' for one dataset and fold"):
        paired_differences(pd.concat([TABLE, TABLE]), "svdm", "svm")


BAD = {
    "differences: found 1 fold": lambda: corrected_resampled_t([0.1], n_train=4, n_test=1),
    "n_train: found 0": lambda: corrected_resampled_t([0.1, 0.2], n_train=0, n_test=1),
    "n_test: found -1": lambda: corrected_resampled_t([0.1, 0.2], n_train=3, n_test=-1),
    "level: found 1,": lambda: corrected_resampled_t([0.1, 0.2], n_train=3, n_test=1, level=1),
    "differences: found values that are not finite": lambda: sign_flip([0.1, np.nan]),
    "alternative: found 'larger'": lambda: sign_flip([0.1, 0.2], alternative="larger"),
    "n_flips: found 0": lambda: sign_flip(np.ones(30), n_flips=0),
    "differences: found an array of shape": lambda: sign_flip(np.ones((2, 2, 2))),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()
