"""Null data are what they say: no effect, runs that differ, classes as asked for."""

import numpy as np
import pytest

from svdecode.study.statistics import check_exchangeable, null_dataset


def test_shape_and_balance():
    data = null_dataset(4, 9, n_subjects=3, n_classes=3, n_features=7, random_state=0)
    assert data.X.shape == (108, 7)
    for subject in range(3):
        for run in range(4):
            block = (data.subjects == subject) & (data.runs == run)
            assert np.bincount(data.y[block]).tolist() == [3, 3, 3]


def test_seeds():
    one, same, other = (null_dataset(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize("imbalance", [0.0, 0.3, 1.0])
def test_every_run_has_every_class(imbalance):
    data = null_dataset(6, 10, imbalance=imbalance, random_state=0)
    check_exchangeable(data.y, runs=data.runs)
    first = data.runs < 3
    if imbalance == 0:
        assert data.y[first].mean() == data.y[~first].mean() == 0.5
    else:
        assert data.y[first].mean() < 0.5 < data.y[~first].mean()


def test_halves_differ_and_classes_do_not():
    data = null_dataset(8, 50, n_features=400, run_effect=1.0, random_state=0)
    first = data.runs < 4
    between = data.X[first].mean(axis=0) - data.X[~first].mean(axis=0)
    assert between.std() == pytest.approx(np.sqrt(2), rel=0.15)
    within = data.X[data.y == 1].mean(axis=0) - data.X[data.y == 0].mean(axis=0)
    assert within.std() == pytest.approx(np.sqrt(4 / 400), rel=0.15)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("n_runs: found 0", {"n_runs": 0}),
        ("n_per_run: found 2, expected an integer of at least 3", {"n_per_run": 2, "n_classes": 3}),
        ("imbalance: found 1.5", {"imbalance": 1.5}),
        ("run_effect: found -1", {"run_effect": -1}),
        ("n_classes: found 1", {"n_classes": 1}),
    ],
)
def test_bad_input_is_named(message, options):
    with pytest.raises(ValueError, match=message):
        null_dataset(**options)
