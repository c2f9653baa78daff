"""What is learned: classes, indicators, unknown labels, and weights of the hinges."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, VARIANTS, data, make, several_labels

from svdecode.svdm.labels import accuracy, decide, encode, hinge_weights

pytestmark = pytest.mark.filterwarnings(IGNORE)
CONVERGED = {"solver": "splitting", "stopping": "stationary", "tol": 1e-8, "max_iter": 3000}


def same_fit(a, b, rtol=1e-9):
    """Whether two models have learned the same."""
    assert a.objective_ == pytest.approx(b.objective_, rel=rtol)
    for name in ("components_", "training_coordinates_", "discriminants_", "coef_"):
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(x, y, atol=1e3 * rtol * np.abs(y).max(), err_msg=name)


UNKNOWN = {
    "NaN among numbers": np.array([1.0, 2.0, np.nan, 2.0]),
    "None among words": np.array(["1", "2", None, "2"], dtype=object),
    "NaN among words": np.array(["1", "2", np.nan, "2"], dtype=object),
    "None among integers": np.array([1, 2, None, 2], dtype=object),
    "pandas, words": pd.Series(["1", "2", None, "2"]),
    "pandas, nullable integers": pd.Series([1, 2, None, 2], dtype="Int64"),
    "pandas, categories": pd.Series(["1", "2", None, "2"], dtype="category"),
    "polars, integers": pl.Series([1, 2, None, 2]),
    "polars, words": pl.Series(["1", "2", None, "2"]),
    "a list": [1.0, 2.0, None, 2.0],
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_labels_may_be_unknown(kind):
    targets = encode(UNKNOWN[kind], 4)
    np.testing.assert_array_equal(targets.Y, [[-1], [1], [0], [1]])
    assert [float(c) for c in targets.classes] == [1, 2]
    assert targets.classes.dtype.kind in "iufU"  # a class can be stored and compared


def test_several_classes_are_one_against_all():
    targets = encode(np.array(["b", "a", "c", None, "b"], dtype=object), 5)
    np.testing.assert_array_equal(targets.Y, [[-1, 1, -1], [1, -1, -1], [-1, -1, 1], [0, 0, 0], [-1, 1, -1]])
    np.testing.assert_array_equal(targets.classes, ["a", "b", "c"])


@pytest.mark.parametrize(
    "form",
    [np.asarray, list, pd.DataFrame, lambda y: pd.DataFrame(y).astype("Int64"), lambda y: y.astype(object)],
)
def test_an_indicator_may_be_unknown_in_part(form):
    y = np.array([[1, 0], [np.nan, 1], [np.nan, np.nan]])
    targets = encode(form(y), 3)
    np.testing.assert_array_equal(targets.Y, [[1, -1], [0, 1], [0, 0]])
    assert targets.multilabel


def test_an_indicator_may_be_sparse():
    y = np.array([[1, 0, 0], [0, 1, 1]])
    np.testing.assert_array_equal(encode(sp.csr_matrix(y), 2).Y, 2 * y - 1)


BAD = {
    "None": (None, "requires y to be passed, but the target y is None: y: found None, expected labels"),
    "length": ([1, 2, 1], r"y: found an array of shape \(3,\), expected one row for each of the 4 of X"),
    "dimensions": (np.ones((4, 1, 1)), r"y: found an array of shape \(4, 1, 1\), expected one row"),
    "one class": (["a"] * 4, r"y: found one class only \('a'\), expected at least two classes"),
    "one known class": (["a", "a", None, None], r"y: found one class only \('a'\), expected at least two"),
    "nothing known": ([np.nan] * 4, "y: found no known label, expected at least two classes"),
    "infinity": ([0, 1, np.inf, 0], "y: found infinity"),
    "numbers": ([0.1, 0.2, 0.3, 0.4], r"y: found no class labels \(Unknown label type: continuous"),
    "mixed": (np.array(["a", 1, "b", 2], dtype=object), "y: found no class labels"),
    "indicator of 2": ([[0, 1], [2, 0], [1, 1], [0, 0]], "y: found 2 in a matrix of labels, expected 0, 1,"),
    "indicator of words": ([["a", "b"]] * 4, "y: found a matrix that holds no numbers, expected an"),
    "indicator unknown": (np.full((4, 2), np.nan), "y: found no known label, expected at least one"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_labels_are_named(case):
    y, message = BAD[case]
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        make("balanced").fit(np.random.default_rng(0).standard_normal((4, 9)), y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "weight", [np.ones(3), np.ones((30, 1)), -np.ones(30), np.full(30, np.nan), np.zeros(30)]
)
def test_bad_sample_weights_are_named(weight):
    with pytest.raises(ValueError, match=r"^sample_weight: found .*, expected ") as caught:
        make("balanced").fit(*data(2), sample_weight=weight)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variant", VARIANTS)
def test_weight_zero_is_an_unknown_label(variant):
    X, y = data(3)
    off = np.arange(30) % 4 == 0
    hidden = np.where(off, None, y.astype(object))
    weighted = make(variant, **SWEEPS).fit(X, y, sample_weight=np.where(off, 0.0, 1.0))
    same_fit(make(variant, **SWEEPS).fit(X, hidden), weighted)
    assert weighted.objective_ != pytest.approx(make(variant, **SWEEPS).fit(X, y).objective_, rel=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_class_weights_are_the_sample_weights_they_stand_for(variant):
    X, y = data(3)
    of_class = {"cat": 2.0, "dog": 0.5, "elk": 3.0}
    a = make(variant, class_weight=of_class, **SWEEPS).fit(X, y)
    b = make(variant, **SWEEPS).fit(X, y, sample_weight=[of_class[label] for label in y])
    same_fit(a, b)
    assert a.objective_ != pytest.approx(make(variant, **SWEEPS).fit(X, y).objective_, rel=1e-6)
    both = make(variant, class_weight=of_class, **SWEEPS).fit(X, y, sample_weight=np.full(30, 2.0))
    twice = {label: 2 * weight for label, weight in of_class.items()}
    same_fit(both, make(variant, class_weight=twice, **SWEEPS).fit(X, y))


@pytest.mark.parametrize("formulation", ["constrained", "boxed", "svm"])
def test_doubled_weights_are_a_doubled_hinge(formulation):
    """Samples count alike in the reconstruction: the hinge alone is doubled."""
    X, y = data(3)
    a = make(formulation, hinge_weight=50.0, **SWEEPS).fit(X, y, sample_weight=2 * np.ones(30))
    same_fit(a, make(formulation, hinge_weight=100.0, **SWEEPS).fit(X, y))


def test_balanced_classes_weigh_the_same():
    y = np.array(["a"] * 6 + ["b"] * 2 + [None], dtype=object)
    targets = encode(y, 9)
    weights = hinge_weights(targets, None, "balanced")
    np.testing.assert_allclose(weights[:, 0], [8 / 12] * 6 + [2.0] * 2 + [0])
    # with sample weights the totals are balanced, not the numbers; in every one of several problems
    several = encode(np.array(["a"] * 5 + ["b"] * 3 + ["c"]), 9)
    given = np.arange(1.0, 10)
    weights = hinge_weights(several, given, "balanced")
    for sign in (1, -1):
        totals = np.where(sign == several.Y, weights, 0).sum(axis=0)
        np.testing.assert_allclose(totals, given.sum() / 2)


def test_weights_of_an_indicators_columns():
    _, y = several_labels()
    targets = encode(y, 30)
    weights = hinge_weights(targets, None, {0: 3.0, 2: 0.5})
    np.testing.assert_array_equal(weights, np.abs(targets.Y) * np.where(targets.Y > 0, [3.0, 1.0, 0.5], 1.0))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_rows_without_labels_shape_the_components(formulation):
    """Semi-supervised: their hinge is off, their reconstruction counts."""
    X, y = data(2)
    rng = np.random.default_rng(1)
    more = 2.0 + rng.standard_normal((20, 2)) @ rng.standard_normal((2, 60)) * 2
    alone = make(formulation, **SWEEPS).fit(X, y)
    joint = make(formulation, **SWEEPS).fit(np.vstack([X, more]), [*y, *[None] * 20])
    assert joint.training_coordinates_.shape == (50, 3)
    # the result changes through them: they are described better, their own directions are in W
    left = [
        np.sum((more - model.mean_ - model.transform(more) @ model.components_) ** 2)
        for model in (alone, joint)
    ]
    assert left[1] < 0.5 * left[0]
    # their hinge is off: they are where they would be as new samples, while labelled ones are not
    rest = joint.training_coordinates_ - joint.transform(np.vstack([X, more]))
    size = np.abs(joint.training_coordinates_).max()
    assert np.abs(rest[30:]).max() < 1e-8 * size
    assert np.abs(rest[:30]).max() > 1e-3 * size


def test_unknown_labels_help_on_new_samples():
    """Few labels, many rows without: components from all of them read better, on average over 20 draws."""
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.arange(260) % 2
        pattern = rng.standard_normal(200)
        X = np.outer(2 * y - 1 + 0.2 * rng.standard_normal(260), pattern) * 0.3 + rng.standard_normal(
            (260, 200)
        )
        some = np.where(np.arange(60) < 4, y[:60], np.nan)
        params = {"shrinkage": 0.03, "solver": "alternating", "stopping": "decrease", "tol": 1e-4}
        few = make("penalized", 1, **params).fit(X[:4], y[:4])
        many = make("penalized", 1, **params).fit(X[:60], some)
        gains.append(many.score(X[60:], y[60:]) - few.score(X[60:], y[60:]))
    assert np.mean(gains) > 0.05
    assert np.mean(gains) > 3 * np.std(gains, ddof=1) / np.sqrt(len(gains))


@pytest.mark.parametrize("variant", VARIANTS)
def test_several_labels_with_one_of_a_single_sign(variant):
    X, y = several_labels()
    y[:, 1] = np.where(np.isnan(y[:, 1]), np.nan, 1.0)  # as in a fold that lacks the other sign
    model = make(variant, **SWEEPS).fit(X, y)
    guess = model.predict(X)
    assert guess.shape == (30, 3)
    assert set(np.unique(guess)) <= {0, 1}
    assert np.isfinite(model.coef_).all()
    if model.formulation not in ("boxed",):  # a bias says what is always so
        assert guess[:, 1].all()
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])


def test_columns_of_an_indicator_are_the_two_class_problem_twice():
    """Two equal columns: each behaves as the single problem with 1/(nk) hinges in all."""
    X, y = data(2)
    once = make("balanced", shrinkage=0.1, **CONVERGED).fit(X, y)
    indicator = np.repeat((y == "dog").astype(float)[:, None], 2, axis=1)
    twice = make("balanced", shrinkage=0.1, **CONVERGED).fit(X, indicator)
    # two columns θ share the hinge: (1/2nk)·2 hinges and (D/2lk)·2‖θ‖², the same objective
    assert twice.objective_ == pytest.approx(once.objective_, rel=1e-7)
    np.testing.assert_array_equal(twice.predict(X)[:, 0] == 1, once.predict(X) == "dog")


def test_score_counts_what_is_known():
    y = np.array([[1, 0], [np.nan, 1], [np.nan, np.nan], [0, 0]])
    guess = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])
    assert accuracy(y, guess) == pytest.approx(2 / 3)
    assert accuracy(y, guess, [1, 1, 100, 2]) == pytest.approx(0.5)
    assert accuracy(np.array(["a", None, "b"], dtype=object), np.array(["a", "a", "a"])) == 0.5
    assert np.isnan(accuracy(np.full(3, np.nan), np.ones(3)))
    X, labels = data(2)
    model = make("balanced", **SWEEPS).fit(X, labels)
    hidden = np.where(np.arange(30) < 10, None, labels.astype(object))
    assert model.score(X, hidden) == np.mean(model.predict(X)[10:] == labels[10:])


def test_rounding_does_not_decide_between_classes():
    scores = np.array([[-1.0, -1.0 + 1e-15, -1.0 - 1e-15], [-1.0, -1.0 + 1e-6, -1.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(
        decide(scores, np.array(["a", "b", "c"]), multilabel=False), ["a", "b", "a"]
    )
