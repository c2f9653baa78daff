"""Runs and subjects as the blocks that statistics count, flip or permute within."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import FloatArray, IntArray, check_groups

ROUNDING = 1e-10
"""Statistics that differ by less count as equal: their sums were taken in another order."""


def run_codes(n_samples: int, runs: Any, subjects: Any) -> IntArray:
    """Number the blocks within which samples may be exchanged: runs of subjects, or all as one block."""
    subject = _codes(n_samples, subjects, "subjects")
    run = _codes(n_samples, runs, "runs")
    codes: IntArray = np.unique(subject * (run.max() + 1) + run, return_inverse=True)[1]
    return codes


def subject_codes(n_samples: int, subjects: Any) -> IntArray:
    """Number the subjects; one subject where none are given."""
    return _codes(n_samples, subjects, "subjects")


def _codes(n_samples: int, groups: Any, name: str) -> IntArray:
    return np.zeros(n_samples, dtype=np.intp) if groups is None else check_groups(groups, n_samples, name)


def block_name(first: int, runs: Any, subjects: Any) -> str:
    """What a user calls the block that the sample `first` is in."""
    parts = []
    if runs is not None:
        parts.append(f"run {np.asarray(runs)[first]}")
    if subjects is not None:
        parts.append(f"subject {np.asarray(subjects)[first]}")
    return " of ".join(parts) or "the data"


def as_numbers(values: Any, name: str, *, dimensions: tuple[int, ...] = (1,)) -> FloatArray:
    """Finite numbers in an array of one of the given numbers of dimensions, at least one of them."""
    try:
        array: npt.NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: found values that are no numbers, expected numbers") from None
    if array.ndim not in dimensions:
        expected = " or ".join(map(str, dimensions))
        raise ValueError(f"{name}: found an array of shape {array.shape}, expected {expected} dimension(s)")
    if array.size == 0:
        raise ValueError(f"{name}: found no values (shape {array.shape}), expected at least one")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: found values that are not finite, expected finite numbers")
    return array


def p_text(p: float, resolution: float) -> str:
    """A p-value in as many digits as it has, and whether it could have been smaller."""
    digits = max(3, int(np.ceil(-np.log10(resolution))) + 1) if resolution > 0 else 4
    text = f"p = {p:.{min(digits, 6)}f}" if p >= 1e-5 else f"p = {p:.1e}"
    return f"{text}, the smallest there can be" if p <= resolution * (1 + 1e-9) else text
