"""Checks of what users hand in: one line that names the argument, what was found and what was expected."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]


def check_count(value: Any, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int, or refuse it when it is no whole number of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise ValueError(f"{name}: found {value!r}, expected an integer of at least {minimum}")
    if value < minimum:
        raise ValueError(f"{name}: found {value}, expected an integer of at least {minimum}")
    return int(value)


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
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def as_matrix(X: Any, name: str = "X") -> Any:
    """Return a 2-D float matrix: an array (memory maps stay on disk), or a sparse CSR matrix.

    Arrays of float32 and float64 are kept as they are, in either memory order; other numbers, and
    sparse values, become float64. Finiteness is not checked here: `reduce_rows` sees it in the Gram
    matrix, which costs no pass over the data.
    """
    if sp.issparse(X):
        if X.dtype.kind not in "fiub":
            raise ValueError(f"{name}: found a sparse matrix of dtype {X.dtype}, expected real numbers")
        return X.tocsr().astype(np.float64, copy=False)  # products of float32 would stay in float32
    if check_frame(X, name):
        X = X.to_numpy()
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"{name}: found an array of shape {array.shape}, expected two dimensions (samples, features)"
        )
    if array.size == 0:
        raise ValueError(
            f"{name}: found an array of shape {array.shape}, expected at least one sample and one feature"
        )
    if array.dtype.kind == "c":
        raise ValueError(f"{name}: found complex numbers, expected real ones")
    if array.dtype in (np.float32, np.float64):
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: found values that are no numbers ({error}), expected numbers") from None


def check_frame(X: Any, name: str = "X") -> bool:
    """Tell whether `X` is a pandas or polars frame; name its columns that hold no numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return False
    bad = []
    for column in X.columns:
        try:
            np.asarray(X[column].to_numpy(), dtype=np.float64)
        except (TypeError, ValueError):
            bad.append(str(column))
    if bad:
        raise ValueError(f"{name}: found columns that are no numbers ({', '.join(bad)}), expected numbers")
    return True


def refuse_non_finite(X: Any, name: str = "X") -> None:
    """Say where the NaN or the infinity is that a product with `X` has shown to exist."""
    values = X.data if sp.issparse(X) else X
    if not np.isfinite(values).all():
        kind = "NaN" if np.isnan(values).any() else "infinity"
        where = ""
        if not sp.issparse(X):
            row, column = np.argwhere(~np.isfinite(X))[0]
            where = f" (first in row {row}, column {column})"
        raise ValueError(f"{name} contains {kind}{where}, expected finite numbers")
    raise ValueError(
        f"{name}: values are so large that their squares overflow, expected numbers below about 1e150"
    )
