"""Names made of content: two cells of one name are the same computation, whoever asked for it and when."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from svdecode._checks import IntArray

RESULTS = 1
"""What a method computes, as a number: raised when the same call gives another result than before."""

BLOCK = 1 << 24
"""Bytes of a matrix that are read at a time: it may lie on disk."""


def cell_key(
    *,
    dataset: str,
    method: str,
    parameters: Mapping[str, Any],
    n_components: int | None,
    protocol: str,
    fold: str,
    train_rows: IntArray,
    test_rows: IntArray,
    seed: int | None,
    **more: Any,
) -> str:
    """Name a cell of a study by what it is computed from.

    Parameters
    ----------
    dataset : str
        The fingerprint of the data (`fingerprint`), not their name.
    method : str
        Name of the method.
    parameters : dict
        What is fixed for all folds; also the grid that is chosen from, and the rule of choice.
    n_components : int or None
        Number of components, None for a method without them.
    protocol, fold : str
        Names of the protocol and of its split.
    train_rows, test_rows : array of int
        Rows of the data on either side. Their order counts: it decides what a random start meets.
    seed : int or None
        Seed of the fit.
    **more
        Anything else that the result depends on.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> from svdecode.study import cell_key
    >>> cell = dict(dataset="5f2c", method="svdm", n_components=4, protocol="runs", fold="run 1", seed=0)
    >>> cell_key(**cell, parameters={"a": 1, "b": 2.0}, train_rows=[0, 1], test_rows=[2])[:8]
    '18a62c62'
    >>> cell_key(**cell, parameters={"b": 2.0, "a": 1}, train_rows=[0, 1], test_rows=[2])[:8]
    '18a62c62'
    """
    rows = [digest(np.asarray(side, dtype=np.int64)) for side in (train_rows, test_rows)]
    named = {
        "results": RESULTS,
        "dataset": dataset,
        "method": method,
        "parameters": parameters,
        "n_components": n_components,
        "protocol": protocol,
        "fold": fold,
        "rows": rows,
        "seed": seed,
        "more": more,
    }
    return hashlib.sha256(canonical_json(named, "parameters").encode()).hexdigest()


def fingerprint(*arrays: Any) -> str:
    """Name data by their values.

    Parameters
    ----------
    *arrays : array, sparse matrix or None
        The samples, then whatever belongs to them: labels, runs, subjects. Values, types and shapes
        count, the order in memory does not.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.study import fingerprint
    >>> X = np.arange(6.0).reshape(2, 3)
    >>> fingerprint(X) == fingerprint(np.asfortranarray(X)), fingerprint(X) == fingerprint(X + 1e-15)
    (True, False)
    """
    parts = [None if array is None else digest(array) for array in arrays]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def digest(array: Any) -> str:
    """The hash of one array, dense or sparse."""
    if hasattr(array, "tocsr"):  # a sparse matrix: its entries in one order
        rows = array.tocsr().copy()
        rows.sum_duplicates()
        parts = [digest(part) for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64))]
        return hashlib.sha256(
            json.dumps(["sparse", rows.shape, *parts, digest(rows.data)]).encode()
        ).hexdigest()
    array = np.asarray(array)
    if array.dtype.kind in "OSUT":  # text: what it says, not how wide its column is
        text = canonical_json(array.tolist(), "labels")
        return hashlib.sha256(f"text {array.shape} {text}".encode()).hexdigest()
    kind = array.dtype.newbyteorder("<")
    found = hashlib.sha256(f"{kind.str} {array.shape}".encode())
    rows = array if array.ndim else array[None]
    at_once = max(1, BLOCK // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), at_once):
        found.update(rows[start : start + at_once].astype(kind, order="C").tobytes())
    return found.hexdigest()


def canonical_json(value: Any, name: str = "value") -> str:
    """One text for equal content: sorted names, numpy's numbers as Python's, arrays as lists.

    1 and 1.0 stay apart, because methods tell them apart (`PCA(n_components=1.0)`). An object that
    has no such text (a function, an estimator) is refused: its address would change from run to run,
    and its cells would never be found again.
    """
    return json.dumps(plain(value, name), sort_keys=True, separators=(",", ":"))


def plain(value: Any, name: str = "value") -> Any:
    """The value in what JSON knows."""
    if value is None or isinstance(value, bool | int | float | str):
        # subclasses (numpy's float64, an enumeration's member) would print in their own way
        return _bare(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            found = next(key for key in value if not isinstance(key, str))
            raise ValueError(f"{name}: found the name {found!r}, expected names that are text")
        return {str(key): plain(item, f"{name}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufUO":
        return plain(value.tolist(), name)
    raise ValueError(
        f"{name}: found {type(value).__name__} {value!r}, expected numbers, text, None, or lists and "
        "dictionaries of them"
    )


def _bare(value: Any) -> Any:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return None
