"""Samples on their way into a Dataset: detrended, averaged, selected, standardized, each step in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nilearn import signal

from svdecode._checks import FloatArray, IntArray, check_choice, check_groups
from svdecode.imaging.checks import Labels

STANDARDIZATIONS = (None, "run", "subject")


@dataclass
class Samples:
    """Rows, what is known of each, and what was done so far.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The rows. Ours: steps write into it.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Labels, None where there is none.
    runs, subjects : array of shape (n_samples,) or None
        Run and subject of each.
    mask : nibabel image or None
        Where the features are.
    steps : list of str
        Sentences.
    """

    X: Any
    y: Labels
    runs: Labels | None = None
    subjects: Labels | None = None
    mask: Any = None
    steps: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def units(self) -> IntArray:
        """Which run of which subject each sample is from, as numbers from 0."""
        pairs = np.zeros(len(self), dtype=np.intp)
        for name in ("subjects", "runs"):
            labels = getattr(self, name)
            if labels is not None:
                codes = check_groups(labels, len(self), name)
                pairs = np.unique(pairs * (codes.max() + 1) + codes, return_inverse=True)[1]
        return np.asarray(pairs, dtype=np.intp)

    def keep(self, rows: Any) -> None:
        """Keep some rows only."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        if len(rows) < len(self):
            self.X = self.X[rows]
        self.y = self.y[rows]
        for name in ("runs", "subjects"):
            labels = getattr(self, name)
            if labels is not None:
                setattr(self, name, labels[rows])

    def detrend(self) -> None:
        """Subtract from each feature's course its linear trend within each run."""
        units = self.units()
        for unit in range(int(units.max()) + 1):
            rows = units == unit
            if rows.sum() < 3:
                raise ValueError(
                    f"detrend: found a run of {int(rows.sum())} samples, expected at least three in every run"
                )
            self.X[rows] = signal.clean(
                self.X[rows], detrend=True, standardize=None, filter=False, t_r=None, ensure_finite=False
            )
        self.steps.append(
            f"Detrending: the linear trend of each voxel was removed {self._within('run')}, over all volumes."
        )

    def average_blocks(self) -> None:
        """Average each contiguous stretch of samples of one label within one run."""
        units, codes = self.units(), _codes(self.y)
        starts = np.concatenate([[0], np.flatnonzero((np.diff(codes) != 0) | (np.diff(units) != 0)) + 1])
        lengths = np.diff(np.append(starts, len(self)))
        n_volumes = len(self)
        self.X = np.add.reduceat(self.X, starts) / lengths[:, None]
        self.keep(starts)
        self.steps.append(
            f"Averaging: {n_volumes} volumes became {len(starts)} samples, each the mean of a contiguous "
            "stretch of volumes of one label within one run (no lag)."
        )

    def drop(self, labels: Any) -> None:
        """Remove samples of some labels; "n/a" stands for samples without one."""
        dropped = {"n/a" if label is None else str(label) for label in listed(labels)}
        names = _names(self.y)
        unknown = sorted(dropped - set(names) - {"n/a"})
        if unknown:
            listing = ", ".join(map(repr, sorted(set(names))))
            raise ValueError(f"drop: found {unknown[0]!r}, expected among the labels {listing}")
        gone = np.array([name in dropped for name in names], dtype=bool)
        if gone.all():
            raise ValueError("drop: found every label of the data, expected some to be left")
        if gone.any():
            what = ", ".join(sorted({name for name in names if name in dropped}))
            self.steps.append(f"Left out: {int(gone.sum())} samples labeled {what}.")
            self.keep(~gone)

    def select(self, classes: Any) -> None:
        """Keep the samples of some classes."""
        wanted = {str(label) for label in listed(classes)}
        names = _names(self.y)
        unknown = sorted(wanted - set(names))
        if unknown or len(wanted) < 2:
            found = repr(unknown[0]) if unknown else f"{len(wanted)} class"
            listing = ", ".join(map(repr, sorted(set(names))))
            raise ValueError(f"classes: found {found}, expected at least two of {listing}")
        kept = np.array([name in wanted for name in names], dtype=bool)
        self.steps.append(
            f"Selection: {int(kept.sum())} of {len(self)} samples, those of the classes "
            f"{', '.join(sorted(wanted))}."
        )
        self.keep(kept)

    def standardize(self, by: str | None) -> None:
        """Give each feature mean 0 and variance 1 within each run (subject)."""
        check_choice(by, "standardize", STANDARDIZATIONS)
        if by is None:
            return
        if getattr(self, f"{by}s") is None:
            raise ValueError(f"standardize: found {by!r} without {by}s, expected {by}s= to be given")
        units = self.units() if by == "run" else check_groups(self.subjects, len(self), "subjects")
        for unit in range(int(units.max()) + 1):
            rows = units == unit
            if rows.sum() < 2:
                raise ValueError(
                    f"standardize: found a {by} of one sample, expected at least two in every {by}"
                )
            self.X[rows] = signal.clean(
                self.X[rows], detrend=False, standardize="zscore_sample", filter=False, t_r=None
            )
        self.steps.append(
            f"Standardizing: each voxel has mean 0 and variance 1 {self._within(by)}, over its {len(self)} "
            f"samples, labels not looked at."
        )

    def _within(self, by: str) -> str:
        """Words for what `units` tells apart."""
        if by == "run" and self.runs is None:
            return "over all samples of a subject" if self.subjects is not None else "over all samples"
        return f"within each {by}" + (" of each subject" if by == "run" and self.subjects is not None else "")


def listed(values: Any) -> list[Any]:
    """One value, or several, as a list."""
    return [values] if values is None or isinstance(values, str | int | np.integer) else list(values)


def _names(y: Labels) -> Sequence[str]:
    if y.ndim != 1:
        raise ValueError("y: found a multi-label indicator, expected class labels to choose among")
    return ["n/a" if label is None or label != label else str(label) for label in y.tolist()]


def _codes(y: Labels) -> IntArray:
    return np.unique(np.asarray(_names(y)), return_inverse=True)[1].astype(np.intp)


def check_design(samples: Samples) -> None:
    """Refuse data from which nothing can be learned on some runs and tested on others.

    Parameters
    ----------
    samples : Samples
        With labels in every row.
    """
    if samples.y.ndim != 1 or samples.runs is None:
        return
    units, y = samples.units(), samples.y
    several_subjects = samples.subjects is not None and len(np.unique(samples.subjects)) > 1
    if units.max() == 0:
        raise ValueError(
            f"runs: found one run only ({samples.runs[0]}), expected at least two: to test on one what was "
            "learned on others (runs=None, if the samples are not from runs)"
        )
    for unit in range(int(units.max()) + 1):
        here = np.unique(y[units == unit])
        if len(here) == 1 and len(np.unique(y)) > 1:
            raise ValueError(
                f"runs: found only the class {str(here[0])!r} in run {_run(samples, units == unit)}, "
                "expected at least two classes in every run: run and class cannot be told apart (runs=None, "
                "if the samples are not from runs)"
            )
    for label in np.unique(y):
        places = np.unique(units[y == label])
        if len(places) == 1:
            where = _run(samples, units == places[0])
            of = "runs of all subjects" if several_subjects else "runs"
            raise ValueError(
                f"labels: found the class {str(label)!r} in run {where} only, expected every class in at "
                f"least two {of} (or leave it out by drop=)"
            )


def _run(samples: Samples, rows: Any) -> str:
    first = int(np.argmax(rows))
    assert samples.runs is not None  # asked for only with runs
    subject = "" if samples.subjects is None else f" of subject {samples.subjects[first]}"
    return f"{samples.runs[first]}{subject}"


def as_rows(X: Any) -> FloatArray:
    """Return a float64 copy of numbers: steps write into it."""
    return np.array(X, dtype=np.float64)
