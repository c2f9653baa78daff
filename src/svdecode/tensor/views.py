"""Views: what a user hands in, as one matrix a view.

A view is some of the columns of one 2-D X (a slice, column numbers, a mask, column names, or so many
columns a view), or one of a list of kernel matrices. A row that is NaN in every column of a view lacks
that view.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from svdecode._checks import IntArray, as_matrix, read_samples

Mask: TypeAlias = npt.NDArray[np.bool_]


def view_columns(views: Any, n_features: int, names: Any = None) -> tuple[IntArray, ...]:
    """Column numbers of each view.

    Parameters
    ----------
    views : sequence
        An entry a view: a slice, column numbers, a mask, a column name or several; or counts, which add
        up to `n_features`.
    n_features : int
        Number of columns of X.
    names : array of str, optional
        Names of the columns.

    Returns
    -------
    tuple of int arrays
        Columns of each view.
    """
    entries = _entries(views)
    if all(isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_) for entry in entries):
        return _counted([int(entry) for entry in entries], n_features)
    columns = []
    for v, entry in enumerate(entries):
        chosen = _columns(entry, n_features, names, f"views[{v}]")
        if chosen.size == 0:
            _refuse_narrow(n_features, len(entries))
            raise ValueError(f"views[{v}]: found no column of the {n_features} of X, expected at least one")
        columns.append(chosen)
    return tuple(columns)


def _entries(views: Any) -> list[Any]:
    """What is said of each view."""
    if isinstance(views, str) or not isinstance(views, Sequence | np.ndarray):
        raise ValueError(f"views: found {views!r}, expected a list with an entry a view")
    if len(views) < 2:
        raise ValueError(f"views: found {len(views)} view(s), expected at least two")
    return list(views)


def _refuse_narrow(n_features: int, n_views: int) -> None:
    if n_features < n_views:
        raise ValueError(
            f"X: found {n_features} feature(s) (n_features={n_features}), expected at least one for each of "
            f"the {n_views} views"
        )


def _counted(counts: list[int], n_features: int) -> tuple[IntArray, ...]:
    if min(counts) < 1 or sum(counts) != n_features:
        raise ValueError(
            f"views: found counts {counts} (sum {sum(counts)}), expected positive ones that add up to the "
            f"{n_features} columns of X"
        )
    ends = np.cumsum(counts)
    return tuple(np.arange(end - count, end) for count, end in zip(counts, ends, strict=True))


def _columns(entry: Any, n_features: int, names: Any, where: str) -> IntArray:
    if isinstance(entry, slice):
        if isinstance(entry.start, str) or isinstance(entry.stop, str):
            raise ValueError(f"{where}: found a slice of names, expected numbers or a list of names")
        return np.arange(n_features)[entry].astype(np.intp)
    chosen = np.asarray([entry] if isinstance(entry, str) else list(entry) if _is_listed(entry) else entry)
    if chosen.dtype.kind in "UO":
        return _named(chosen, names, where)
    if chosen.dtype == bool:
        if chosen.shape != (n_features,):
            raise ValueError(f"{where}: found a mask of shape {chosen.shape}, expected ({n_features},)")
        return np.flatnonzero(chosen)
    if chosen.size and (chosen.ndim != 1 or chosen.dtype.kind not in "iu"):
        raise ValueError(
            f"{where}: found {entry!r}, expected a slice, column numbers, a mask or names (or whole numbers "
            "of columns for all views)"
        )
    if chosen.size and (chosen.min() < -n_features or chosen.max() >= n_features):
        off = chosen.min() if chosen.min() < -n_features else chosen.max()
        raise ValueError(f"{where}: found column {off}, expected 0 to {n_features - 1}")
    return np.asarray(np.arange(n_features)[chosen.astype(np.intp)], dtype=np.intp)


def _is_listed(entry: Any) -> bool:
    return isinstance(entry, Sequence) or hasattr(entry, "tolist")


def _named(chosen: Any, names: Any, where: str) -> IntArray:
    if names is None:
        raise ValueError(f"{where}: found column names, expected X to be a frame that has them")
    known = {str(name): j for j, name in enumerate(names)}
    strange = [str(name) for name in chosen.ravel() if str(name) not in known]
    if strange:
        raise ValueError(f"{where}: found the name {strange[0]!r}, expected a column of X")
    return np.array([known[str(name)] for name in chosen.ravel()], dtype=np.intp)


def is_list_of_matrices(X: Any) -> bool:
    """Whether X is one matrix a view (None where a view is missing in all rows)."""
    if not isinstance(X, list | tuple) or not X:
        return False
    matrices = [x for x in X if x is not None]
    return bool(matrices) and all(getattr(x, "ndim", 0) == 2 for x in matrices)


def take_columns(X: Any, columns: IntArray) -> Any:
    """Columns of a matrix, without a copy where they lie side by side."""
    steps = np.diff(columns)
    if len(columns) > 1 and steps[0] > 0 and (steps == steps[0]).all():
        return X[:, columns[0] : columns[-1] + 1 : steps[0]]
    return X[:, columns[0] : columns[0] + 1] if len(columns) == 1 else X[:, columns]


def present_rows(block: Any, columns: IntArray) -> Mask:
    """Rows that have a view: all their values are finite. Rows of NaN lack it, others are refused."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.asarray(block.sum(axis=1, dtype=np.float64)).ravel()
    present = np.ones(block.shape[0], dtype=bool)
    for i in np.flatnonzero(~np.isfinite(sums)):
        row = block[[i]].toarray().ravel() if sp.issparse(block) else np.asarray(block[i])
        bad = ~np.isfinite(row)
        present[i] = not np.isnan(row).all()
        if present[i] and bad.any():
            j = int(np.flatnonzero(bad)[0])
            kind = "NaN" if np.isnan(row[j]) else "infinity"
            raise ValueError(
                f"X: found {kind} in row {i}, column {columns[j]}, expected finite numbers (or NaN in every "
                "column of a view that is missing)"
            )
    return present


def read_views(estimator: Any, X: Any, views: Any, *, reset: bool) -> tuple[list[Any], tuple[IntArray, ...]]:
    """One matrix a view (None where it is missing altogether), and its column numbers in X.

    Parameters
    ----------
    estimator : estimator
        Records the number of columns and their names, or compares with what it has recorded.
    X : matrix or frame of shape (n, m), or list of matrices
        One matrix whose columns `views` divides, or one matrix a view.
    views : sequence
        As `view_columns` takes it; square matrices in it are the training kernels themselves (then X
        may be None while fitting).
    reset : bool
        Whether this is a fit.

    Returns
    -------
    (list, tuple)
        Matrices, and column numbers.
    """
    if isinstance(X, list | tuple) and X and all(x is None for x in X):
        raise ValueError("X: found None in place of every view, expected at least one view")
    if is_list_of_matrices(views):
        if X is None and reset:
            X = views
        views = [np.shape(kernel)[0 if reset else 1] for kernel in views]
    if not is_list_of_matrices(X):
        X = read_samples(estimator, X, minimum=2 if reset else 1, reset=reset)
        columns = view_columns(views, X.shape[1], getattr(estimator, "feature_names_in_", None))
        return [take_columns(X, chosen) for chosen in columns], columns
    return _read_list(estimator, list(X), len(_entries(views)), reset=reset)


def _read_list(
    estimator: Any, X: list[Any], n_views: int, *, reset: bool
) -> tuple[list[Any], tuple[IntArray, ...]]:
    if len(X) != n_views:
        raise ValueError(f"X: found a list of {len(X)} matrices, expected one for each of {n_views} views")
    blocks: list[Any] = [None if x is None else as_matrix(x) for x in X]
    if reset and any(block is None for block in blocks):
        raise ValueError("X: found None in place of a view, expected all views of the training samples")
    counts = {block.shape[0] for block in blocks if block is not None}
    if len(counts) > 1:
        raise ValueError(f"X: found views of {sorted(counts)} rows, expected as many in each")
    if reset:
        estimator.n_features_in_ = sum(block.shape[1] for block in blocks)
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return blocks, _counted([block.shape[1] for block in blocks], estimator.n_features_in_)
    return blocks, tuple(np.arange(0 if block is None else block.shape[1]) for block in blocks)
