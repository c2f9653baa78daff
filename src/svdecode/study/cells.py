"""A cell: one finished fit of a study, what it predicted and how it went."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from svdecode.study.keys import canonical_json

if TYPE_CHECKING:
    from svdecode._checks import FloatArray, IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """A finished cell of a study: one method, fitted on one fold with one seed.

    Attributes
    ----------
    key : str
        What the cell is called: made of its content by `cell_key`.
    dataset : str
        Name of the data set.
    method : str
        Name of the method.
    parameters : dict
        The method's fixed parameters.
    n_components : int or None
        Number of components, None for a method without them.
    fold : str
        Name of the split.
    seed : int or None
        Seed of the fit.
    test_rows : array of int of shape (n_test,)
        Rows of the data set that were predicted.
    classes : array of shape (k,)
        Which class each column of `scores` is for.
    predictions : array of shape (n_test,) or (n_test, n_labels)
        Predicted labels.
    truth : array like predictions, or None
        Their true labels, so that the store can be evaluated without the data.
    scores : array of shape (n_test, k) or (n_test,), or None
        Decision values.
    accuracy : float
        Share of the test rows that are predicted rightly.
    chosen : dict
        Parameters that were chosen within the training rows.
    seconds : float
        Time that the cell took.
    stationarity : float
        How far the fit is from a stationary point; NaN where the method does not say.
    converged : bool or None
        Whether the fit reached its stopping rule; None where the method does not say.
    dual : array of shape (k, n_train), or None
        Coefficients over the training rows: times the centered training rows they are the weight map.
    extra : dict
        Anything else, as JSON knows it.

    Examples
    --------
    >>> from svdecode.study import Cell
    >>> cell = Cell(key="5f2c", dataset="haxby", method="svdm", n_components=4, fold="run 1", seed=0,
    ...             test_rows=[6, 7], classes=["face", "house"], predictions=["face", "face"],
    ...             truth=["face", "house"], accuracy=0.5)
    >>> cell.predictions, cell.converged
    (array(['face', 'face'], dtype='<U4'), None)
    """

    key: str
    dataset: str
    method: str
    fold: str
    test_rows: IntArray
    classes: npt.NDArray[Any]
    predictions: npt.NDArray[Any]
    accuracy: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_components: int | None = None
    seed: int | None = None
    truth: npt.NDArray[Any] | None = None
    scores: FloatArray | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = math.nan
    stationarity: float = math.nan
    converged: bool | None = None
    dual: FloatArray | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key:
            raise ValueError(f"key: found {self.key!r}, expected a text that names the cell")
        rows = np.asarray(self.test_rows)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError(f"test_rows: found shape {rows.shape} of {rows.dtype}, expected row numbers")
        self._set("test_rows", rows.astype(np.intp, copy=False))
        self._set("classes", labels(self.classes, "classes"))
        for name in ("predictions", "truth"):
            if getattr(self, name) is not None:
                self._set(name, labels(getattr(self, name), name))
        for name in ("scores", "dual"):
            if getattr(self, name) is not None:
                self._set(name, np.asarray(getattr(self, name), dtype=np.float64))
        for name in ("predictions", "truth", "scores"):
            values = getattr(self, name)
            if values is not None and len(values) != len(rows):
                raise ValueError(
                    f"{name}: found {len(values)} rows, expected one for each of the {len(rows)} test rows"
                )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the dataclass is frozen


def labels(values: Any, name: str) -> npt.NDArray[Any]:
    """Labels as an array of numbers, truth values or text."""
    array = np.asarray(values)
    if array.dtype.kind == "T":
        array = array.astype(np.str_)
    if array.dtype.kind == "O":  # as pandas hands over text
        kinds = {type(value) for value in array.ravel().tolist()}
        if len(kinds) == 1:
            array = np.array(array.tolist())
    if array.dtype.kind not in "biufU":
        raise ValueError(f"{name}: found values of type {array.dtype}, expected text or numbers of one type")
    if array.ndim == 0:
        raise ValueError(f"{name}: found a single value {values!r}, expected one a row")
    return array


def pack(array: npt.NDArray[Any] | None) -> bytes | None:
    """An array as bytes: a line that says what they are, then the values.

    Whole numbers take as few bytes as the largest needs; text is written once, and each place points
    to it. numpy's own format is several times larger for the few numbers that a cell has.
    """
    if array is None:
        return None
    head: dict[str, Any] = {"dtype": array.dtype.str, "shape": list(array.shape)}
    stored = array
    if array.dtype.kind == "U":
        values, codes = np.unique(array, return_inverse=True)
        head["values"] = values.tolist()
        stored = codes.reshape(array.shape)
    if stored.dtype.kind in "iu" and stored.size:
        kind, low, high = ("i" if stored.min() < 0 else "u"), int(stored.min()), int(stored.max())
        sizes = (f"<{kind}{n_bytes}" for n_bytes in (1, 2, 4, 8))
        stored = stored.astype(next(s for s in sizes if np.iinfo(s).min <= low and high <= np.iinfo(s).max))
    head["stored"] = stored.dtype.str
    return json.dumps(head, separators=(",", ":")).encode() + b"\n" + np.ascontiguousarray(stored).tobytes()


def unpack(blob: bytes | None) -> npt.NDArray[Any] | None:
    """The array that `pack` made bytes of."""
    if blob is None:
        return None
    line, _, body = blob.partition(b"\n")
    head = json.loads(line)
    stored = np.frombuffer(body, dtype=head["stored"]).reshape(head["shape"])
    if "values" in head:
        return np.array(head["values"], dtype=head["dtype"])[stored]
    return stored.astype(head["dtype"])  # a copy: what frombuffer gives can't be written to


COLUMNS = (
    "key", "dataset", "method", "parameters", "n_components", "fold", "seed", "accuracy", "chosen",
    "seconds", "stationarity", "converged", "extra", "created", "classes", "test_rows", "predictions",
    "truth", "scores", "dual",
)  # fmt: skip
"""The widest come last: what stands before them is read without them."""

ARRAYS = COLUMNS[COLUMNS.index("classes") :]


def to_row(cell: Cell) -> list[Any]:
    """A cell as SQLite keeps it; NaN becomes NULL there."""
    values = {name: getattr(cell, name) for name in COLUMNS if name != "created"}
    for name in ("parameters", "chosen", "extra"):
        values[name] = canonical_json(values[name], name)
    for name in ARRAYS:
        values[name] = pack(values[name])
    for name, kind in (("accuracy", float), ("seconds", float), ("stationarity", float), ("converged", int)):
        values[name] = None if values[name] is None else kind(values[name])
    for name in ("n_components", "seed"):
        values[name] = None if values[name] is None else int(values[name])
    values["created"] = time.time()
    return [values[name] for name in COLUMNS]


def from_row(values: dict[str, Any]) -> Cell:
    """The cell that `to_row` wrote down."""
    del values["created"]
    for name in ("parameters", "chosen", "extra"):
        values[name] = json.loads(values[name])
    for name in ARRAYS:
        if name in values:
            values[name] = unpack(values[name])
    for name in ("accuracy", "seconds", "stationarity"):
        values[name] = float("nan") if values[name] is None else values[name]
    values["converged"] = None if values["converged"] is None else bool(values["converged"])
    return Cell(**values)
