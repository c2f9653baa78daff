"""Standardization: what it is estimated on, and that test rows never take part in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from svdecode.imaging import Dataset
from svdecode.study import (
    OverallScale,
    check_standardization,
    leave_one_run_out,
    leave_one_sample_out,
    leave_one_subject_out,
    new_runs,
    standardize,
    whole_runs,
)


def dataset(seed=0):
    rng = np.random.default_rng(seed)
    n = 2 * 4 * 5
    subjects, runs = np.repeat([1, 2], 20), np.tile(np.repeat([1, 2, 3, 4], 5), 2)
    X = rng.standard_normal((n, 6)) * rng.uniform(0.5, 5, 6) + 10 * rng.standard_normal((2, 6))[subjects - 1]
    return Dataset(X, np.tile([0, 1, 0, 1, 0], 8), runs=runs, subjects=subjects)


DATA = dataset()


@pytest.mark.parametrize("by", ["run", "subject"])
def test_each_unit_by_its_own_mean_and_deviation(by):
    standard = standardize(DATA, by)
    units = DATA.subjects * 10 + (DATA.runs if by == "run" else 0)
    for unit in np.unique(units):
        expected = StandardScaler().fit_transform(DATA.X[units == unit])
        np.testing.assert_allclose(standard.X[units == unit], expected, atol=1e-12)
    assert len(np.unique(units)) == (8 if by == "run" else 2)  # run 1 of both subjects are two runs
    np.testing.assert_array_equal(standard.y, DATA.y)
    assert standard.description == f"Standardized by {by}."


def test_training_rows_only():
    """Test rows may be anything: the others come out the same."""
    part = whole_runs(DATA, n_train=3)[0]
    expected = StandardScaler().fit(DATA.X[part.train]).transform(DATA.X)
    np.testing.assert_allclose(standardize(DATA, "training", rows=part.train).X, expected, atol=1e-12)
    wild = DATA.X.copy()
    wild[part.test] *= 1e6
    changed = standardize(Dataset(wild, DATA.y, runs=DATA.runs), "training", rows=part.train)
    np.testing.assert_array_equal(
        changed.X[part.train], standardize(DATA, "training", rows=part.train).X[part.train]
    )


def test_other_runs_do_not_matter():
    part = leave_one_run_out(DATA)[0]
    wild = DATA.X.copy()
    wild[part.test] *= 1e6
    changed = standardize(Dataset(wild, DATA.y, runs=DATA.runs, subjects=DATA.subjects), "run")
    np.testing.assert_array_equal(changed.X[part.train], standardize(DATA, "run").X[part.train])


def test_constant_columns_become_zero_and_missing_values_stay():
    X = DATA.X.copy()
    X[:, 0] = 0.1
    X[:3, 1] = np.nan
    standard = standardize(Dataset(X, DATA.y, runs=DATA.runs, subjects=DATA.subjects)).X
    assert (standard[:, 0] == 0).all()
    np.testing.assert_array_equal(np.isnan(standard), np.isnan(X))
    np.testing.assert_allclose(standard[3:5, 1], [np.sign(X[3, 1] - X[4, 1]), np.sign(X[4, 1] - X[3, 1])])
    X[:5, 1] = np.nan  # a run without the view: nothing to estimate
    assert np.isnan(standardize(Dataset(X, DATA.y, runs=DATA.runs, subjects=DATA.subjects)).X[:5, 1]).all()


def test_nothing_is_done_when_nothing_is_asked():
    assert standardize(DATA, None) is DATA


@pytest.mark.parametrize(
    ("protocol", "by", "fine"),
    [
        (leave_one_run_out, "run", True),
        (leave_one_run_out, "subject", False),
        (leave_one_run_out, "training", True),
        (leave_one_run_out, None, True),
        (leave_one_subject_out, "subject", True),
        (leave_one_subject_out, "run", True),
        (leave_one_sample_out, "run", False),
        (leave_one_sample_out, "training", True),
        (new_runs, "run", False),  # 70 % of 20 samples cut run 3
        (whole_runs, "run", True),
    ],
)
def test_refused_where_test_rows_would_take_part(protocol, by, fine):
    splits = protocol(DATA) if protocol is not whole_runs else whole_runs(DATA, n_train=3)
    if fine:
        check_standardization(DATA, splits, by)
    else:
        with pytest.raises(ValueError, match=f"by: found '{by}' where subject 1.* is trained on and tested"):
            check_standardization(DATA, splits, by)


def test_refused_input():
    with pytest.raises(ValueError, match="rows: found None with by='training', expected the training rows"):
        standardize(DATA, "training")
    with pytest.raises(ValueError, match="rows: found rows with by='run', expected None"):
        standardize(DATA, "run", rows=[0, 1])
    with pytest.raises(ValueError, match="by: found 'runs', expected one of None, 'run'"):
        standardize(DATA, "runs")
    with pytest.raises(ValueError, match="runs: found None, expected the run of each sample"):
        standardize(Dataset(DATA.X, DATA.y))
    with pytest.raises(ValueError, match="runs: found a run with one sample"):
        standardize(Dataset(DATA.X[:3], [0, 1, 0], runs=[1, 1, 2]))
    with pytest.raises(ValueError, match="X: found a sparse matrix"):
        standardize(Dataset(sp.csr_matrix(DATA.X), DATA.y, runs=DATA.runs))


def test_overall_scale_keeps_the_shape_of_the_data():
    X = DATA.X
    scaler = OverallScale().fit(X[:30])
    Z = scaler.transform(X)
    assert np.isclose((Z[:30] ** 2).sum(axis=1).mean(), 1.0)
    np.testing.assert_allclose(Z[:30].mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(Z * scaler.scale_ + X[:30].mean(axis=0), X, rtol=1e-13)
    assert OverallScale().fit(np.ones((4, 3))).scale_ == 1.0
