"""Checks of what a Dataset is made of: labels, places of features, views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import IntArray, check_groups

Labels = npt.NDArray[Any]


def check_labels(y: Any, n_samples: int) -> Labels:
    """Return class labels (1-D) or a multi-label indicator (2-D), one row a sample."""
    labels = np.asarray(y)
    if labels.ndim not in (1, 2) or 0 in labels.shape[1:]:
        found = "one value" if labels.ndim == 0 else f"an array of shape {labels.shape}"
        raise ValueError(f"y: found {found}, expected one label a sample, or one column a label")
    if len(labels) != n_samples:
        raise ValueError(f"y: found {len(labels)} labels, expected one for each of the {n_samples} rows of X")
    return _check_indicator(labels) if labels.ndim == 2 else _check_classes(labels)


def _check_classes(labels: Labels) -> Labels:
    check_groups(labels, len(labels), "y")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        value = labels[labels != np.round(labels)][0]
        raise ValueError(f"y: found {value}, expected class labels (names or whole numbers)")
    return labels


def _check_indicator(labels: Labels) -> Labels:
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"y: found {labels.dtype} values in {labels.shape[1]} columns, expected 0, 1 or NaN")
    wrong = ~((labels == 0) | (labels == 1) | (labels != labels))
    if wrong.any():
        raise ValueError(
            f"y: found {labels[wrong][0]} in a multi-label indicator, expected 0, 1 or NaN (unknown)"
        )
    return labels


def check_positions(positions: Any, n_features: int) -> IntArray:
    """Return voxel indices, one row for each of the leading features."""
    places = np.asarray(positions)
    if places.ndim != 2 or places.shape[1] != 3 or not 0 < len(places) <= n_features:
        raise ValueError(
            f"positions: found an array of shape {places.shape}, "
            f"expected three voxel indices for each of at most {n_features} features"
        )
    if places.dtype.kind not in "iu":
        raise ValueError(f"positions: found {places.dtype} values, expected integers (voxel indices)")
    return places.astype(np.intp, copy=False)


def check_mask(mask: Any, positions: IntArray | None, n_features: int) -> IntArray:
    """Return the indices of the voxels in `mask`, having checked that the features are these."""
    if not (hasattr(mask, "dataobj") and hasattr(mask, "affine")):
        raise ValueError(f"mask: found {type(mask).__name__}, expected a nibabel image")
    inside = np.asarray(mask.dataobj)
    if inside.ndim != 3:
        raise ValueError(f"mask: found an image of shape {inside.shape}, expected three dimensions")
    if np.isnan(inside).any():
        raise ValueError("mask: found NaN, expected finite values (zero outside)")
    voxels = np.argwhere(inside != 0)
    if len(voxels) == 0:
        raise ValueError("mask: found no voxel that is not zero, expected at least one")
    n_mapped = n_features if positions is None else len(positions)
    if len(voxels) != n_mapped:
        raise ValueError(
            f"mask: found {len(voxels)} voxels, expected one for each of the {n_mapped} features"
        )
    if positions is not None and not np.array_equal(voxels, positions):
        first = int(np.argmax((voxels != positions).any(axis=1)))
        raise ValueError(
            f"positions: found {positions[first].tolist()} for feature {first}, "
            f"expected the voxels of the mask in C order, there {voxels[first].tolist()}"
        )
    return voxels


def check_views(views: Mapping[str, slice], n_features: int) -> None:
    """Refuse views that are no groups of neighboring columns."""
    for name, columns in views.items():
        if not isinstance(columns, slice):
            raise ValueError(f"views: found {columns!r} for {name!r}, expected a slice of columns")
        start, stop, step = columns.start or 0, columns.stop, columns.step
        if stop is None or step not in (None, 1) or not 0 <= start < stop <= n_features:
            raise ValueError(
                f"views: found {columns} for {name!r}, expected columns within 0 to {n_features}"
            )
