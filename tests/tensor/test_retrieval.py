"""Retrieval figures against listings of every order that ties allow, and against all orders for chance."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.tensor import rank_training_samples, retrieval_scores, retrieve


def figures_of_order(right, k):
    """Accuracy at 1 and k, precision at k and average precision of one order, as defined in words."""
    places = [i for i, hit in enumerate(right) if hit]
    precision = [sum(right[: i + 1]) / (i + 1) for i in places]
    average = sum(precision) / len(precision) if precision else 0.0
    return [float(right[0]), float(any(right[:k])), sum(right[:k]) / k, average]


def over_all_orders(scores, right, k):
    """Mean figures over the orders that sort `scores` from the largest: all orders when all are equal."""
    orders = [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    return np.mean([figures_of_order([right[i] for i in order], k) for order in orders], axis=0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(-2, 2), st.booleans()), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_equals_the_mean_over_all_orders(samples, k):
    scores, right = [s for s, _ in samples], [hit for _, hit in samples]
    depth = min(k, len(samples))
    found = retrieval_scores([[1.0]], np.array(scores, float)[:, None], [True], right, k=k)
    expected = over_all_orders(scores, right, depth)
    got = [found.accuracy, found.accuracy_at_k[0], found.precision_at_k[0], found.mean_average_precision]
    np.testing.assert_allclose(got, expected, atol=1e-12)
    chance = over_all_orders([0] * len(samples), right, depth)
    got = [
        found.chance_accuracy,
        found.chance_accuracy_at_k[0],
        found.chance_precision_at_k[0],
        found.chance_mean_average_precision,
    ]
    np.testing.assert_allclose(got, chance, atol=1e-12)


def test_chance_is_what_the_closed_forms_say():
    n, R, k = 83, 42, 5
    y = np.arange(n) < R
    found = retrieval_scores(np.ones((1, 2)), np.random.default_rng(0).random((n, 2)), [True], y, k=k)
    none = np.prod([(n - R - i) / (n - i) for i in range(k)])
    harmonic = sum(1 / i for i in range(1, n + 1))
    assert found.chance_accuracy == pytest.approx(R / n, rel=1e-12)
    assert found.chance_accuracy_at_k[0] == pytest.approx(1 - none, rel=1e-12)
    mean_ap = (harmonic + (R - 1) / (n - 1) * (n - harmonic)) / n
    assert found.chance_mean_average_precision == pytest.approx(mean_ap, rel=1e-12)


def test_random_projections_are_at_chance():
    """Over many random queries the figures meet their chance level within four standard errors."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 30)
    labels = rng.integers(0, 3, 4000)
    found = retrieval_scores(rng.standard_normal((4000, 30)), np.eye(30), labels, y, k=(1, 5))
    error = np.std(found.query_accuracy) / np.sqrt(4000)
    assert abs(found.accuracy - found.chance_accuracy) < 4 * error
    error = np.std(found.query_average_precision) / np.sqrt(4000)
    assert abs(found.mean_average_precision - found.chance_mean_average_precision) < 4 * error


def test_order_is_that_of_a_naive_loop():
    rng = np.random.default_rng(2)
    Q, T = rng.standard_normal((7, 3)), rng.standard_normal((20, 3))
    for q, order in zip(Q, rank_training_samples(Q, T), strict=True):
        assert order.tolist() == sorted(range(20), key=lambda j: -sum(q * T[j]))


def test_scores_that_differ_by_rounding_are_equal():
    """0.1 + 0.2 and 0.3 tie: the first of them is no better, and the order of rows does not matter."""
    training = np.array([[0.3, 0.0], [0.1, 0.2], [-1.0, 0.0]])
    query = np.ones((1, 2))
    assert rank_training_samples(query, training).tolist() == [[0, 1, 2]]
    for rows in ([0, 1, 2], [1, 0, 2]):
        found = retrieval_scores(query, training[rows], [1], np.array([1, 0, 0])[rows])
        assert found.accuracy == 0.5


def test_a_label_that_training_lacks_is_never_found():
    found = retrieval_scores(np.ones((2, 1)), [[1.0], [2.0]], ["new", "a"], ["a", "a"])
    assert found.query_accuracy.tolist() == [0.0, 1.0]
    assert (found.mean_average_precision, found.chance_accuracy) == (0.5, 0.5)


class TwoViews:
    """Stands in for a fitted decomposition of two views that share their one direction."""

    def transform(self, X, view=None):
        return X[:, :2] if view == 0 else X[:, 2:]


def test_across_views_uses_each_view_for_its_side():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 15)
    latent = np.column_stack([2.0 * y - 1, rng.standard_normal(30)])
    X = np.hstack([latent, latent + 0.1 * rng.standard_normal((30, 2))])
    broken = X.copy()
    broken[:, 2:] = np.nan  # what the query side must not look at
    across = retrieve(TwoViews(), broken[:10], X[10:], y[:10], y[10:], view=0, training_view=1, k=3)
    by_hand = retrieval_scores(X[:10, :2], X[10:, 2:], y[:10], y[10:], k=3)
    assert across.accuracy == by_hand.accuracy
    assert across.mean_average_precision == by_hand.mean_average_precision
    within = retrieve(TwoViews(), broken[:10], broken[10:], y[:10], y[10:])
    assert within.accuracy == retrieval_scores(X[:10, :2], X[10:, :2], y[:10], y[10:]).accuracy


REFUSED = {
    "projections": ({"queries": np.ones((1, 3))}, "queries: found 3 projections, expected 2"),
    "NaN": ({"queries": np.full((1, 2), np.nan)}, "queries: found NaN in row 0"),
    "labels": ({"y_queries": [0, 1]}, r"y_queries: found labels of shape \(2,\), expected \(1,\)"),
    "depth": ({"k": 0}, "k: found 0, expected an integer of at least 1"),
    "no depth": ({"k": []}, "k: found no depth"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    changed, message = REFUSED[case]
    good = {
        "queries": np.ones((1, 2)),
        "training": np.ones((4, 2)),
        "y_queries": [0],
        "y_training": [0, 0, 1, 1],
    }
    with pytest.raises(ValueError, match=message):
        retrieval_scores(**(good | changed))
