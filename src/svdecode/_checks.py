"""Checks of what users hand in: one line that names the argument, what was found and what was expected."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def check_count(value: Any, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int, or refuse it when it is no whole number of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise ValueError(f"{name}: found {value!r}, expected an integer of at least {minimum}")
    if value < minimum:
        raise ValueError(f"{name}: found {value}, expected an integer of at least {minimum}")
    return int(value)


def check_number(value: Any, name: str, *, minimum: float = 0.0, positive: bool = False) -> float:
    """Return `value` as a float, or refuse it when it is no finite number of at least `minimum`."""
    expected = "a finite number above 0" if positive else f"a finite number of at least {minimum:g}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(f"{name}: found {value!r}, expected {expected}")
    if value < minimum or (positive and value <= 0):
        raise ValueError(f"{name}: found {value:g}, expected {expected}")
    return float(value)


def check_index(index: Any, n: int, name: str = "index") -> IntArray:
    """Return the positions that `index` (integers, or a mask) chooses among `n` rows."""
    chosen = np.asarray(index)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise ValueError(f"{name}: found a mask of shape {chosen.shape}, expected ({n},)")
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: found an array of shape {chosen.shape} and dtype {chosen.dtype}, expected at least one "
            "row number, or a mask"
        )
    if chosen.min() < 0 or chosen.max() >= n:
        found = chosen.min() if chosen.min() < 0 else chosen.max()
        raise ValueError(f"{name}: found row {found}, expected 0 to {n - 1}")
    return chosen.astype(np.intp)


def check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """Return `value` if it is one of `choices`."""
    if not any(value is choice or value == choice for choice in choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}: found {value!r}, expected one of {listed}")
    return value


def check_groups(groups: Any, n_samples: int, name: str = "groups") -> IntArray:
    """Return group labels as integers 0..n_groups-1, one for each of `n_samples` rows."""
    labels = np.asarray(groups)
    if labels.ndim != 1:
        raise ValueError(f"{name}: found an array of shape {labels.shape}, expected one label a row of X")
    if len(labels) != n_samples:
        raise ValueError(
            f"{name}: found {len(labels)} labels, expected one for each of the {n_samples} rows of X"
        )
    missing = np.array([value is None or value != value for value in labels.tolist()])
    if missing.any():
        raise ValueError(
            f"{name}: found no label in row {int(np.argmax(missing))}, expected a label in every row"
        )
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)
    except TypeError:  # from sorting
        kinds = ", ".join(sorted({type(value).__name__ for value in labels.tolist()}))
        raise ValueError(f"{name}: found labels of several types ({kinds}), expected one type") from None


def as_matrix(X: Any, name: str = "X") -> Any:
    """Return a 2-D float matrix: an array (memory maps stay on disk), or a sparse CSR matrix.

    Arrays of float32 and float64 are kept as they are, in either memory order; other numbers, and
    sparse values, become float64. Finiteness is not checked here: `reduce_rows` sees it in the Gram
    matrix, which costs no pass over the data.
    """
    if sp.issparse(X):
        _check_shape(X.shape, name)
        _check_real(X.dtype, name)
        return X.tocsr().astype(np.float64, copy=False)  # products of float32 would stay in float32
    _refuse_masked(X, name)
    if check_frame(X, name):
        X = _frame_values(X)
    try:
        array = np.asarray(X)
        _check_shape(array.shape, name)
        if array.dtype in (np.float32, np.float64):
            return array
        if array.dtype.kind != "O":
            _check_real(array.dtype, name)
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if str(error).startswith(f"{name}:"):
            raise
        raise ValueError(f"{name}: found values that are no numbers ({error}), expected numbers") from None


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name}: found an array of shape {shape}, expected two dimensions (samples, features)"
        )
    if 0 in shape:
        raise ValueError(
            f"{name}: found an array of shape {shape}, expected at least one sample and one feature"
        )


def _refuse_masked(X: Any, name: str) -> None:
    """Refuse masked entries: scikit-learn and numpy would take what lies under the mask for data."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        row, column = np.argwhere(np.ma.getmaskarray(X))[0][[0, -1]]
        raise ValueError(f"{name}: found a masked entry in row {row}, column {column}, expected none")


def _check_real(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise ValueError(f"{name}: found complex numbers, expected real ones")
    if dtype.kind not in "fiub":
        raise ValueError(f"{name}: found values that are no numbers (of dtype {dtype}), expected numbers")


def check_frame(X: Any, name: str = "X") -> bool:
    """Tell whether `X` is a pandas or polars frame; name its columns that hold no numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "to_numpy")):
        return False
    bad = [
        str(column)
        for column, dtype in zip(X.columns, X.dtypes, strict=True)
        if not _is_numeric(dtype) and not _holds_numbers(X[column])
    ]
    if bad:
        raise ValueError(f"{name}: found columns that are no numbers ({', '.join(bad)}), expected numbers")
    return True


def _is_numeric(dtype: Any) -> bool:
    """Whether a column's type says that it holds numbers (pandas' types have a kind, polars' can tell)."""
    return getattr(dtype, "kind", "?") in "fiub" or (
        hasattr(dtype, "is_numeric") and bool(dtype.is_numeric())
    )


def _holds_numbers(column: Any) -> bool:
    """Whether a column of another type (object, text, dates) can be read as numbers all the same."""
    values = column.to_numpy()
    if values.dtype.kind in "mM":
        return False  # dates would turn into days since 1970
    try:
        values = np.array([np.nan if _is_missing(value) else value for value in values.ravel().tolist()])
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return bool(values.dtype.kind != "c")


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, or pandas' NA."""
    return value is None or type(value).__name__ == "NAType"


def _frame_values(X: Any) -> Any:
    """Values of a frame that `check_frame` has let through, NaN where a cell is empty."""
    values = X.to_numpy()
    if values.dtype.kind != "O":
        return values
    return np.array([[np.nan if _is_missing(cell) else cell for cell in row] for row in values.tolist()])


def read_samples(estimator: Any, X: Any, *, minimum: int = 1, reset: bool = True) -> Any:
    """Return X as scikit-learn reads it: a float array or CSR matrix; its features are recorded or compared.

    A refusal is one line that names X. Finiteness is not checked, as in `as_matrix`.
    """
    _refuse_masked(X, "X")
    check_frame(X)
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=minimum,
        )
    except ValueError as error:
        if str(error).startswith(("X ", "The feature names")):
            raise
        raise ValueError(f"X: {' '.join(str(error).split())}") from None


#: with ‖X‖² below this, squares of single numbers underflow
LEAST_ENERGY = 1e-280


def check_energy(energy: float, X: Any, name: str = "X") -> None:
    """Refuse data whose ‖X‖² (or another sum of squares of all of it) is not finite, or has underflowed."""
    if not np.isfinite(energy):
        refuse_non_finite(X, name)
    if energy < LEAST_ENERGY and any(X[[i]].nnz if sp.issparse(X) else X[i].any() for i in range(X.shape[0])):
        raise ValueError(
            f"{name}: found values so small that their squares underflow, expected numbers above about 1e-140"
        )


def refuse_non_finite(X: Any, name: str = "X") -> None:
    """Say where the NaN or the infinity is that a product with `X` has shown to exist."""
    for i in range(X.shape[0]):  # row by row: X may be larger than the memory
        row = X[[i]].tocoo() if sp.issparse(X) else X[i]
        values = row.data if sp.issparse(X) else row
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            kind = "NaN" if np.isnan(values[bad[0]]) else "infinity"
            column = row.col[bad[0]] if sp.issparse(X) else bad[0]
            raise ValueError(f"{name}: found {kind} in row {i}, column {column}, expected finite numbers")
    raise ValueError(
        f"{name}: found values so large that their squares overflow, expected numbers below about 1e150"
    )
