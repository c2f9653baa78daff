"""Cells as tidy tables, and tables as files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svdecode.study.cells import Cell
from svdecode.study.keys import canonical_json
from svdecode.svdm.labels import unknown

ROWS = ("cells", "samples")
"""What a row of a table may be."""

NAMED = ("dataset", "method", "n_components", "seed", "fold")
"""What a cell is called in a table, in the order that rows are sorted by; its key breaks ties."""


def frame(cells: Iterable[Cell], rows: str) -> pd.DataFrame:
    """The cells as a table with a row a cell, or a row a test sample."""
    if rows not in ROWS:
        raise ValueError(f"rows: found {rows!r}, expected one of {', '.join(map(repr, ROWS))}")
    table = _cell_rows(cells) if rows == "cells" else _sample_rows(cells)
    for name in ("n_components", "seed"):
        table[name] = table[name].astype("Int64")  # whole numbers, with room for none
    order = [*NAMED, "key", *(["row"] if rows == "samples" else [])]
    table = table.sort_values(order, kind="stable", ignore_index=True)
    for name in table.columns:
        if table[name].dtype == object:
            table[name] = _one_kind(table[name])
    return table


def _cell_rows(cells: Iterable[Cell]) -> pd.DataFrame:
    measured = ("accuracy", "seconds", "stationarity", "converged")
    records = []
    for cell in cells:
        record = {name: getattr(cell, name) for name in (*NAMED, *measured, "key")}
        record["n_test"] = len(cell.test_rows)
        for prefix, values in (("", cell.parameters), ("chosen_", cell.chosen), ("extra_", cell.extra)):
            for name, value in values.items():
                # a parameter that is called like a column of ours would take its place
                taken = not prefix and (name in record or name.startswith(("chosen_", "extra_")))
                column = f"parameter_{name}" if taken else f"{prefix}{name}"
                record[column] = value if _is_single(value) else canonical_json(value, name)
        records.append(record)
    first = [*NAMED, "n_test", *measured]
    found = pd.DataFrame.from_records(records)
    others = sorted(set(found.columns) - {*first, "key"})
    return found.reindex(columns=[*first, *others, "key"])


def _sample_rows(cells: Iterable[Cell]) -> pd.DataFrame:
    names = [*NAMED, "row", "truth", "prediction", "correct", "key"]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for cell in cells:
        n_test = len(cell.test_rows)
        predicted = _one_a_row(cell.predictions)
        true = [None] * n_test if cell.truth is None else _one_a_row(cell.truth)
        right = _right(cell)
        for name in (*NAMED, "key"):
            columns[name].extend([getattr(cell, name)] * n_test)
        rows = cell.test_rows.tolist()
        for name, values in (("row", rows), ("truth", true), ("prediction", predicted), ("correct", right)):
            columns[name].extend(values)
    return pd.DataFrame(columns)


def _right(cell: Cell) -> list[bool | None]:
    """Whether each sample is predicted rightly; None where that is not known, or no pair's classifier can."""
    if cell.truth is None:
        return [None] * len(cell.test_rows)
    off = unknown(cell.truth).reshape(len(cell.truth), -1)
    right = np.all(off | np.asarray(cell.truth == cell.predictions).reshape(off.shape), axis=1)
    scored = ~np.all(off, axis=1)
    if "classes" in cell.extra:
        scored &= np.isin(cell.truth, cell.extra["classes"])
    return [r if s else None for r, s in zip(right.tolist(), scored.tolist(), strict=True)]


def _one_a_row(labels: Any) -> list[Any]:
    """Labels as single values: several of one sample become text."""
    found = labels.tolist()
    return [canonical_json(row) for row in found] if labels.ndim > 1 else found


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _one_kind(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of one kind, which a typed file can keep: text where numbers and text are mixed."""
    present = column.dropna()
    kinds = {type(value) for value in present}
    if kinds == {bool}:
        return column.astype("boolean")
    if kinds == {int}:
        return column.astype("Int64")
    if kinds <= {int, float}:
        return column.astype(np.float64)
    if kinds != {str}:
        column = column.map(lambda value: value if isinstance(value, str) else canonical_json(value))
    return column.astype("string")


def write_csv(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """A table as CSV, every digit kept."""
    write_whole(Path(path), lambda beside: table.to_csv(beside, index=False, lineterminator="\n"))


def write_parquet(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """A table as Parquet."""
    try:
        import_module("pyarrow")
    except ImportError:
        raise ImportError(
            "to_parquet: found no pyarrow, expected it to be installed: pip install pyarrow "
            "(to_csv needs nothing more)"
        ) from None
    write_whole(Path(path), lambda beside: table.to_parquet(beside, index=False, engine="pyarrow"))


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a file beside `path`, then put it in its place in one step."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(beside)
        beside.replace(path)
    except OSError as error:
        raise OSError(
            f"path: found that {path} can't be written ({error}), expected a place that can"
        ) from error
    finally:
        beside.unlink(missing_ok=True)
