"""Which samples are left out together, and whether that told anything."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from svdecode._checks import IntArray, check_groups


def left_out_blocks(groups: Any, n: int) -> list[IntArray]:
    """Row numbers of the samples that are left out together: those of a group, or each sample alone."""
    if groups is None:
        return [np.array([i]) for i in range(n)]
    labels = check_groups(groups, n)
    if labels.max() == 0:
        raise ValueError("groups: found one group only, expected at least two (one left out, one left in)")
    return [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]


def warn_nothing_stripped(n_blocks: int, shape: tuple[int, int], *, grouped: bool) -> None:
    """Say that the re-estimate is no other than the estimate, and what may be the reason."""
    unit = "group" if grouped else "sample"
    warnings.warn(
        f"no {unit} has a direction of its own (leverage 1): each lies in the span of the others, so "
        f"GenSVD equals plain SVD here (up to the mean). For {shape[0]} samples of {shape[1]} features that "
        "is right when the data are well-posed. If the samples depend on each other (subject or run "
        "means removed, or several samples a subject), give them as `groups` so that they are left out "
        f"together (found {n_blocks} {unit}s).",
        UserWarning,
        stacklevel=3,
    )
