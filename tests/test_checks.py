"""Checks of what users hand in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from svdecode._checks import (
    as_matrix,
    check_choice,
    check_count,
    check_frame,
    check_groups,
    check_index,
    check_number,
    refuse_non_finite,
)

REFUSED = {
    "count, bool": (lambda: check_count(True, "k"), "k: found True, expected an integer of at least 1"),
    "count, float": (lambda: check_count(2.0, "k"), "k: found 2.0, expected an integer of at least 1"),
    "count, small": (lambda: check_count(1, "k", minimum=2), "k: found 1, expected an integer of at least 2"),
    "number, text": (lambda: check_number("1", "a"), "a: found '1', expected a finite number of at least 0"),
    "number, NaN": (lambda: check_number(np.nan, "a"), "a: found nan, expected a finite number"),
    "number, zero": (
        lambda: check_number(0, "a", positive=True),
        "a: found 0, expected a finite number above 0",
    ),
    "choice": (lambda: check_choice("x", "c", ("y", 1)), "c: found 'x', expected one of 'y', 1"),
    "groups, None": (
        lambda: check_groups(["a", None], 2),
        "groups: found no label in row 1, expected a label",
    ),
    "groups, NaN": (
        lambda: check_groups([np.nan, 1], 2),
        "groups: found no label in row 0, expected a label",
    ),
    "groups, length": (
        lambda: check_groups([1, 2], 3),
        "groups: found 2 labels, expected one for each of the 3",
    ),
    "index, twice": (lambda: check_index([[0]], 2), r"index: found an array of shape \(1, 1\)"),
    "finite": (
        lambda: refuse_non_finite(np.array([[1, 2], [3, -np.inf]])),
        "X: found infinity in row 1, column 1",
    ),
    "finite, sparse": (
        lambda: refuse_non_finite(sp.csr_matrix([[0, 2.0], [0, np.nan]])),
        "X: found NaN in row 1, column 1, expected finite numbers",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_argument(case):
    call, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_let_through():
    assert check_count(np.int64(3), "k") == 3
    assert check_number(np.float32(0.5), "a") == 0.5
    assert check_choice(1, "c", ("y", 1)) == 1
    assert check_groups(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert check_index([False, True, True], 3).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_arrays_are_not_copied(dtype):
    X = np.ones((3, 4), dtype=dtype)
    for stored in (X, X.T, X[:, ::2]):
        assert np.shares_memory(as_matrix(stored), X)
        assert as_matrix(stored).dtype == dtype


@pytest.mark.parametrize("dtype", [np.int16, bool, np.float16, ">f4", object])
def test_other_numbers_become_float64(dtype):
    X = as_matrix(np.ones((2, 3), dtype=dtype))
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, 1.0)


def test_empty_cells_of_frames_are_nan():
    """They are refused later as NaN, with row and column."""
    frames = (
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.5, 2.5]}),
        pd.DataFrame({"a": [1, None], "b": [1.5, 2.5]}, dtype=object),
        pl.DataFrame({"a": [1, None], "b": [1.5, 2.5]}),
    )
    for frame in frames:
        np.testing.assert_array_equal(as_matrix(frame), [[1, 1.5], [np.nan, 2.5]])


def test_columns_that_are_no_numbers_are_listed():
    dates = pd.to_datetime(["2020-01-01", "2020-01-02"])
    pandas = pd.DataFrame({"ok": [1, 2], "day": dates, "who": ["a", "b"], "yes": [True, False]})
    for frame in (pandas, pl.DataFrame(pandas.to_dict(orient="list"))):
        with pytest.raises(
            ValueError, match=r"X: found columns that are no numbers \(day, who\), expected numbers"
        ):
            check_frame(frame)
    assert not check_frame(np.ones((2, 2)))
    assert check_frame(pandas[["ok", "yes"]])


def test_overflow_is_told_from_infinity():
    with pytest.raises(ValueError, match="X: found values so large"):
        refuse_non_finite(np.full((2, 2), 1e200))
