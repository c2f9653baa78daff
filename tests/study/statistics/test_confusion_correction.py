"""Confusion matrices and corrections, against scikit-learn, scipy and the definitions."""

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.study.statistics import adjust, confusion

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("classes", [np.array([3, 1, 7]), np.array(["face", "house", "cat"])])
def test_counts_agree_with_scikit_learn(classes):
    truth, predictions = RNG.choice(classes, 200), RNG.choice(classes, 200)
    found = confusion(truth, predictions)
    np.testing.assert_array_equal(found.classes, np.sort(classes))
    np.testing.assert_array_equal(found.counts, sklearn.metrics.confusion_matrix(truth, predictions))
    given_order = confusion(truth, predictions, classes=classes)
    expected = sklearn.metrics.confusion_matrix(truth, predictions, labels=classes)
    np.testing.assert_array_equal(given_order.counts, expected)
    assert found.accuracy == pytest.approx(sklearn.metrics.accuracy_score(truth, predictions))
    balanced = sklearn.metrics.balanced_accuracy_score(truth, predictions)
    assert found.balanced_accuracy == pytest.approx(balanced)
    np.testing.assert_allclose(
        found.rates, sklearn.metrics.confusion_matrix(truth, predictions, normalize="true")
    )
    assert found.to_frame().loc[classes[0], classes[1]] == expected[0, 1]


def test_folds_add_up():
    truth, predictions = RNG.integers(0, 3, 60), RNG.integers(0, 3, 60)
    parts = [confusion(truth[s], predictions[s], classes=[0, 1, 2]) for s in (slice(0, 5), slice(5, 60))]
    np.testing.assert_array_equal((parts[0] + parts[1]).counts, confusion(truth, predictions).counts)
    with pytest.raises(ValueError, match=r"classes: found \[.*0.*\] and .*, expected the same classes"):
        parts[0] + confusion([0, 1], [0, 1])


def test_a_class_without_samples_has_no_rate():
    found = confusion(["a", "b"], ["c", "b"])
    assert np.isnan(found.rates[2]).all()
    assert found.balanced_accuracy == 0.5
    assert str(found) == "2 samples of 3 classes, accuracy 0.500, balanced 0.500"


@pytest.mark.parametrize(
    ("truth", "predictions", "classes", "message"),
    [
        ([], [], None, "truth: found an array of shape"),
        ([0, 1], [0], None, "predictions: found 1 labels, expected 2"),
        ([0, 1], [0, 2], [0, 1], "predictions: found the label 2, expected one of"),
        ([0, 1], [0, 1], [0, 1, 1], "classes: found .*, expected each class once"),
        ([[0, 1]], [[0, 1]], None, "truth: found an array of shape"),
    ],
)
def test_bad_labels_are_named(truth, predictions, classes, message):
    with pytest.raises(ValueError, match=message):
        confusion(truth, predictions, classes=classes)


def naive(p, method):
    """By the definition: the smallest level at which the step-wise procedure rejects."""
    m, order = len(p), sorted(range(len(p)), key=lambda i: p[i])
    adjusted = [0.0] * m
    for rank, i in enumerate(order):
        if method == "bonferroni":
            adjusted[i] = min(1, m * p[i])
        elif method == "holm":
            adjusted[i] = min(1, max((m - r) * p[order[r]] for r in range(rank + 1)))
        else:
            adjusted[i] = min(1, *(m * p[order[r]] / (r + 1) for r in range(rank, m)), 1)
    return adjusted


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(P_VALUES, st.sampled_from(["holm", "bonferroni", "fdr_bh"]))
def test_corrections_by_their_definition(p, method):
    np.testing.assert_allclose(adjust(p, method), naive(p, method), rtol=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(P_VALUES)
def test_false_discovery_rates_agree_with_scipy(p):
    for ours, theirs in (("fdr_bh", "bh"), ("fdr_by", "by")):
        expected = scipy.stats.false_discovery_control(p, method=theirs)
        # below the smallest normal number there are no twelve digits
        np.testing.assert_allclose(adjust(p, ours), expected, rtol=1e-12, atol=1e-300)


def test_a_table_of_p_values_is_one_family():
    p = RNG.random((3, 4)) ** 3
    assert adjust(p).shape == (3, 4)
    np.testing.assert_array_equal(adjust(p).ravel(), adjust(p.ravel()))
    assert (adjust(p) <= adjust(p, "bonferroni")).all()
    assert (adjust(p, "fdr_bh") <= adjust(p)).all()


@pytest.mark.parametrize("p", [[], [0.1, np.nan], [1.2], [-0.1]])
def test_bad_p_values_are_refused(p):
    with pytest.raises(ValueError, match=r"p: found .*, expected p-values"):
        adjust(p)
    with pytest.raises(ValueError, match="method: found 'sidak', expected one of 'holm'"):
        adjust([0.1], "sidak")
