"""Tables of labels: read as written, columns asked for by name."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svdecode.imaging.checks import Labels

MISSING = ("", "n/a", "N/A", "NaN", "nan")
"""Cells that hold nothing (BIDS writes n/a). "NA" and "None" may be names."""

ENDINGS = (".tsv", ".csv", ".txt", ".tsv.gz", ".csv.gz")


def is_table_file(path: Path) -> bool:
    """Whether a file's name is that of a table."""
    return path.name.lower().endswith(ENDINGS)


def read_table(table: Any, argument: str) -> pd.DataFrame:
    """Read a table with a header; cells that are no whole numbers stay text.

    Parameters
    ----------
    table : path or frame
        .tsv (tabs), .csv (what separates is found out) or .txt (spaces).
    argument : str
        What messages call it.

    Returns
    -------
    pandas.DataFrame
        Whole numbers as such, where a column has nothing else; "01" is text. Missing cells are None.
    """
    if isinstance(table, pd.DataFrame):
        return table.reset_index(drop=True)
    if hasattr(table, "to_pandas"):  # polars
        return pd.DataFrame(table.to_pandas())
    path = Path(table).expanduser()
    if not path.is_file():
        raise ValueError(f"{argument}: found no file {path}, expected a table")
    frame = _read(path, argument)
    if len(frame) == 0 or len(frame.columns) == 0:
        raise ValueError(f"{argument}: found no rows in {path.name}, expected a header and a row a sample")
    return pd.DataFrame({str(name).strip(): _cells(frame[name]) for name in frame.columns})


def _read(path: Path, argument: str) -> pd.DataFrame:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
            header = file.readline()
        return pd.read_csv(
            path, sep=_separator(path, header), dtype=str, keep_default_na=False, encoding="utf-8-sig"
        )
    except (ValueError, OSError, EOFError, pd.errors.ParserError) as error:
        said = " ".join(str(error).split())
        raise ValueError(f"{argument}: found an unreadable {path.name} ({said}), expected a table") from error


def _separator(path: Path, header: str) -> str:
    """What parts columns, by the file's name and its header: a .csv may have semicolons."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".tsv"):
        return "\t"
    marks = "\t;," if name.endswith(".txt") else ",;\t"
    mark = max(marks, key=header.count)  # of equals the first
    if mark in header:
        return mark
    return r"\s+" if " " in header.strip() and '"' not in header else marks[-1]


def _cells(column: pd.Series[Any]) -> list[Any]:
    """Cells of a column: all whole numbers, or as text; None where there is nothing."""
    texts = [None if cell is None or cell.strip() in MISSING else cell.strip() for cell in column.tolist()]
    known = [text for text in texts if text is not None]
    if known and all(_is_whole(text) for text in known):
        return [None if text is None else int(text) for text in texts]
    return texts


def _is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text
    except ValueError:
        return False


def column_of(frame: pd.DataFrame, name: str, argument: str, where: str = "the table") -> list[Any]:
    """Cells of one column; a missing one is refused with those that exist."""
    if name not in frame.columns:
        there = ", ".join(map(repr, map(str, frame.columns)))
        raise ValueError(f"{argument}: found no column {name!r} in {where}, expected one of {there}")
    return [None if _is_missing(cell) else cell for cell in frame[name].tolist()]


def numbers_of(frame: pd.DataFrame, name: str, argument: str, where: str) -> Any:
    """Return one column as floats; the first cell that is no number is named."""
    numbers = []
    for row, cell in enumerate(column_of(frame, name, argument, where)):
        try:
            numbers.append(float(cell))
        except (TypeError, ValueError):
            raise ValueError(
                f"{argument}: found {cell!r} in column {name!r}, row {row} of {where}, expected a number"
            ) from None
    values = np.array(numbers)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"{argument}: found {values[row]} in column {name!r}, row {row} of {where}, expected a number"
        )
    return values


def as_labels(cells: Any) -> Labels:
    """Cells as an array of one type, as far as they have one; None where there is nothing."""
    cells = list(cells)
    if any(cell is None for cell in cells):
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
        return array
    if len({type(cell) for cell in cells}) > 1:
        return np.array([str(cell) for cell in cells])
    return np.asarray(cells)


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and bool(np.isnan(cell)))
