"""What is known of each sample: labels, runs and subjects by column name, rows in the images' order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from svdecode.imaging.arrays import labels_of
from svdecode.imaging.checks import Labels
from svdecode.imaging.tables import as_labels, column_of, read_table
from svdecode.imaging.volumes import Source

LABEL_NAMES = ("label", "labels", "y", "target", "class", "condition", "category", "trial_type")
RUN_NAMES = ("run", "runs", "chunk", "chunks")
SESSION_NAMES = ("session", "sessions", "ses")
SUBJECT_NAMES = ("subject", "subjects", "sub", "participant_id", "participant")
FILE_NAMES = ("image", "images", "file", "files", "filename", "path", "img", "scan")
VOLUME_NAMES = ("volume", "volumes", "volume_index")


class Known(NamedTuple):
    """What is known of the samples, and from where."""

    y: Labels
    runs: Labels | None
    subjects: Labels | None
    used: set[str]
    step: str


def as_table(labels: Any) -> pd.DataFrame | None:
    """Return the table that `labels` is or names; None when they are labels themselves."""
    if labels is None:
        return None
    if isinstance(labels, str | Path) or hasattr(labels, "columns"):
        return read_table(labels, "labels")
    return None


def first_of(names: Sequence[str], frame: pd.DataFrame | None) -> str | None:
    """Return the first of some usual names that a table has as a column."""
    if frame is None:
        return None
    there = {str(column).lower(): str(column) for column in frame.columns}
    return next((there[name] for name in names if name in there), None)


def what_is_known(
    frame: pd.DataFrame | None, labels: Any, label_column: str | None, runs: Any, subjects: Any, n: int
) -> Known:
    """Labels, runs and subjects of `n` samples.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        The table of labels.
    labels : array or table
        Labels themselves, when there is no table.
    label_column : str or None
        The table's column of labels; None is the first of the usual names.
    runs, subjects : "auto", str, array or None
        A column, or values; "auto" is a column of one of the usual names, if there is one.
    n : int
        How many samples there are.

    Returns
    -------
    Known
        One value a sample.
    """
    if frame is not None and len(frame) != n:
        raise ValueError(
            f"labels: found {len(frame)} rows in the table, expected one for each of the {n} samples"
        )
    used = set()
    if frame is None:
        if labels is None:
            raise ValueError("labels: found None, expected a table, or a label for each sample")
        if label_column is not None:
            raise ValueError(
                f"label_column: found {label_column!r} without a table, expected labels= to be one"
            )
        y, where = labels_of(labels), "as given"
    else:
        column = label_column or first_of(LABEL_NAMES, frame) or LABEL_NAMES[0]
        argument = "labels" if label_column is None else "label_column"
        y, where = as_labels(column_of(frame, column, argument)), f"column {column!r}"
        used.add(column)
    if y.ndim not in (1, 2) or len(y) != n:
        found = f"{len(y)} labels" if y.ndim else "one value"
        raise ValueError(f"labels: found {found}, expected one for each of the {n} samples")
    runs, of_runs, from_runs = _groups(frame, runs, "runs", n)
    subjects, of_subjects, from_subjects = _groups(frame, subjects, "subjects", n)
    step = f"Labels: {where}; runs: {of_runs}; subjects: {of_subjects}."
    return Known(y, runs, subjects, used | from_runs | from_subjects, step)


def _groups(frame: pd.DataFrame | None, value: Any, name: str, n: int) -> tuple[Any, str, set[str]]:
    """Values of runs (subjects), where they are from, and the columns that were used."""
    if isinstance(value, str) and value == "auto":
        value = first_of(RUN_NAMES if name == "runs" else SUBJECT_NAMES, frame)
        session = first_of(SESSION_NAMES, frame) if name == "runs" else None
        if session is not None and frame is not None:
            if value is None:
                value = session
            else:  # runs are counted anew in each session
                parts = [column_of(frame, column, name) for column in (session, value)]
                _refuse_unknown(
                    as_labels([p if None not in p else None for p in zip(*parts, strict=True)]), name
                )
                values = as_labels(f"{session}-{s} {value}-{r}" for s, r in zip(*parts, strict=True))
                return values, f"columns {session!r} and {value!r}", {session, value}
    if value is None:
        return None, "none", set()
    if isinstance(value, str):
        if frame is None:
            raise ValueError(
                f"{name}: found the column {value!r} without a table, expected labels= to be one"
            )
        return _refuse_unknown(as_labels(column_of(frame, value, name)), name), f"column {value!r}", {value}
    values = labels_of(value)
    if values.shape != (n,):
        found = f"{len(values)} labels" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ValueError(f"{name}: found {found}, expected one for each of the {n} samples")
    return _refuse_unknown(values, name), "as given", set()


def _refuse_unknown(values: Labels, name: str) -> Labels:
    if values.dtype.kind == "O" and any(value is None for value in values.tolist()):
        row = [value is None for value in values.tolist()].index(True)
        raise ValueError(f"{name}: found no value in row {row}, expected one in every row")
    return values


def check_order(frame: pd.DataFrame, sources: Sequence[Source]) -> None:
    """Refuse a table whose rows name the images, or number the volumes, in another order than theirs.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table of labels, a row a volume.
    sources : sequence of Source
        The images.
    """
    files, volumes = first_of(FILE_NAMES, frame), first_of(VOLUME_NAMES, frame)
    names = [source.name for source in sources for _ in range(source.n_volumes)]
    if files is not None and any(isinstance(source.image, Path) for source in sources):
        for row, (cell, name) in enumerate(zip(column_of(frame, files, "labels"), names, strict=True)):
            if cell is None or Path(str(cell)).name != name:
                raise ValueError(
                    f"labels: found {cell!r} in column {files!r}, row {row}, expected {name}: rows in the "
                    "order of the images"
                )
    if volumes is not None:
        numbers = column_of(frame, volumes, "labels")
        first = numbers[0] if numbers[0] in (0, 1) else 0
        within = [first + i for source in sources for i in range(source.n_volumes)]
        through = list(range(first, first + len(names)))
        for expected in (within, through):
            if numbers == expected:
                return
        row = int(np.argmax([a != b for a, b in zip(numbers, within, strict=True)]))
        raise ValueError(
            f"labels: found {numbers[row]!r} in column {volumes!r}, row {row}, expected {within[row]}: rows "
            "in the order of the volumes"
        )


def images_of(frame: pd.DataFrame, folder: Path) -> list[Path] | None:
    """Return the images that a table names; None when it has no column of paths."""
    files = first_of(FILE_NAMES, frame)
    if files is None:
        return None
    cells = column_of(frame, files, "images")
    if not all(isinstance(cell, str) for cell in cells):
        return None
    return [Path(cell).expanduser() if Path(cell).is_absolute() else folder / cell for cell in cells]
