"""Samples that are numbers already: .npy, .npz, tables of features, arrays in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nibabel
import numpy as np
import pandas as pd

from svdecode._checks import as_matrix
from svdecode.imaging.tables import as_labels, read_table

#: what the entries of a .npz may be called
NAMES = {
    "X": ("X", "data", "samples"),
    "labels": ("y", "labels", "label", "target"),
    "runs": ("runs", "run", "chunks", "chunk"),
    "subjects": ("subjects", "subject"),
}


class Arrays(NamedTuple):
    """What a file of numbers holds."""

    X: Any
    labels: Any = None
    runs: Any = None
    subjects: Any = None
    mask: Any = None
    table: pd.DataFrame | None = None


def read_arrays(path: Path) -> Arrays:
    """Read .npy (samples by features) or .npz (X, and perhaps y, runs, subjects, mask with affine)."""
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return Arrays(as_matrix(content, "images"))
        with content:
            return _of_npz({name: content[name] for name in content.files}, path.name)
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        said = " ".join(str(error).split())
        raise ValueError(f"images: found an unreadable {path.name} ({said}), expected arrays") from error
    except ValueError as error:
        if str(error).startswith(("images:", "mask:")):
            raise
        said = " ".join(str(error).split())
        raise ValueError(f"images: found an unreadable {path.name} ({said}), expected numbers") from error


def _of_npz(content: Mapping[str, Any], name: str) -> Arrays:
    def entry(part: str) -> Any:
        return next((content[key] for key in NAMES[part] if key in content), None)

    if entry("X") is None:
        raise ValueError(
            f"images: found the arrays {', '.join(content)} in {name}, expected X (samples by features)"
        )
    labels = entry("labels")
    for key in ("condition_names", "class_names", "label_names"):
        codes = labels is not None and labels.ndim == 1 and labels.dtype.kind in "iu"
        if codes and key in content and labels.min() >= 0 and labels.max() < len(content[key]):
            labels = content[key][labels]
    mask = content.get("mask")
    if mask is not None and mask.ndim == 3:
        if "affine" not in content:
            raise ValueError(f"mask: found no array affine beside mask in {name}, expected one")
        mask = nibabel.Nifti1Image((mask != 0).astype(np.uint8), content["affine"])
    else:
        mask = None
    return Arrays(as_matrix(entry("X"), "images"), labels, entry("runs"), entry("subjects"), mask)


def read_feature_table(path: Path) -> Arrays:
    """Read a table of numbers; columns that are no numbers are left to those who ask for them by name."""
    return Arrays(None, table=read_table(path, "images"))


def features_of(table: pd.DataFrame, used: set[str]) -> Any:
    """Return the columns that are not `used` for labels, runs or subjects, as numbers."""
    rest = [name for name in table.columns if name not in used]
    if not rest:
        raise ValueError("images: found no column of features in the table, expected numbers")
    columns, bad = [], []
    for name in rest:
        try:
            columns.append(np.array([np.nan if c is None else c for c in table[name].tolist()], dtype=float))
        except (TypeError, ValueError):
            bad.append(str(name))
    if bad:
        raise ValueError(
            f"images: found columns that are no numbers ({', '.join(bad)}), expected numbers (or their names "
            "as label_column=, runs=, subjects= or ignore=)"
        )
    X = np.column_stack(columns)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(
            f"images: found no number in row {row}, column {rest[column]!r}, expected numbers in every cell"
        )
    return X


def labels_of(values: Any) -> Any:
    """Return labels from an array, a list or a column, as one type."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim == 1 and array.dtype.kind == "O":
        return as_labels([None if value is None or value != value else value for value in array.tolist()])
    return array
