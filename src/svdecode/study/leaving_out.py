"""Protocols that leave each run, sample, subject or cycle out once."""

from __future__ import annotations

import numpy as np

from svdecode._checks import IntArray, check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.leaks import unit_codes, unit_name
from svdecode.study.making import (
    check_several,
    in_order,
    leave_out,
    make_splits,
    protocol,
    run_labels,
    subjects_of,
)
from svdecode.study.splits import Splits


@protocol
def leave_one_run_out(dataset: Dataset, *, across_subjects: bool = False) -> Splits:
    """Leave each run out once, and train on all the others.

    Parameters
    ----------
    dataset : Dataset
        With `runs`.
    across_subjects : bool, default False
        Leave out runs that are labeled alike in all subjects at once. By default a run of one subject is
        left out at a time, and the other subjects' runs are trained on. For fits within each subject
        there is `each_subject`.

    Returns
    -------
    Splits
        One a run.

    See Also
    --------
    whole_runs : One split, the first runs against the others.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import leave_one_run_out
    >>> leave_one_run_out(load_haxby2001_slice())[0]
    Split('run 1': 88 to train, 8 to test)
    """
    runs = unit_codes(dataset, "runs")
    labels = run_labels(dataset)
    if check_choice(across_subjects, "across_subjects", (True, False)):
        runs = labels
        names = [f"run {np.asarray(dataset.runs)[np.argmax(runs == run)]}" for run in in_order(runs)]
    else:
        names = [unit_name(dataset, "runs", int(np.argmax(runs == run))) for run in in_order(runs)]
    check_several(runs, "runs")
    return make_splits(
        dataset, "leave_one_run_out", leave_out(runs, names), kept_apart=("runs",), units=labels
    )


@protocol
def leave_one_sample_out(dataset: Dataset) -> Splits:
    """Leave each sample out once (Xi 2007, 6.2 and 6.2.1: her cross validation).

    Samples of the same run are trained on, so that what neighbors in time share is learned with them.

    Parameters
    ----------
    dataset : Dataset
        Any.

    Returns
    -------
    Splits
        One a sample; it keeps no units apart.

    See Also
    --------
    leave_one_run_out : With nothing of the run trained on.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import leave_one_sample_out
    >>> leave_one_sample_out(load_haxby2001_slice())[95]
    Split('sample 95': 95 to train, 1 to test)
    """
    rows = np.arange(dataset.n_samples)
    parts = ((np.delete(rows, i), rows[i : i + 1], f"sample {i}") for i in rows)
    return make_splits(dataset, "leave_one_sample_out", parts)


@protocol
def leave_one_subject_out(dataset: Dataset) -> Splits:
    """Leave each subject out once, and train on all the others.

    Parameters
    ----------
    dataset : Dataset
        With `subjects`, whose columns mean the same in all of them.

    Returns
    -------
    Splits
        One a subject.

    See Also
    --------
    new_subjects : One split, the first subjects against the others.

    Examples
    --------
    >>> from svdecode.datasets import make_decoding
    >>> from svdecode.study import leave_one_subject_out
    >>> leave_one_subject_out(make_decoding(n_subjects=3, random_state=0)).names
    ['subject 1', 'subject 2', 'subject 3']
    """
    codes = unit_codes(dataset, "subjects")
    check_several(codes, "subjects")
    names = [unit_name(dataset, "subjects", int(np.argmax(codes == unit))) for unit in in_order(codes)]
    parts = leave_out(codes, names)
    return make_splits(dataset, "leave_one_subject_out", parts, kept_apart=("subjects",), units=codes)


@protocol
def cycles(dataset: Dataset, *, n_cycles: int = 6) -> Splits:
    """Leave each of k cycles out once (Pereira & Gordon 2006, 3.2: 6 cycles of 14 of their 84 samples).

    A cycle is a stretch of whole runs where runs are known, else of samples; the rows of each subject are
    cut into cycles of equal size, as far as possible, and a cycle is left out in all subjects at once.
    (The paper fits each subject by itself: `each_subject`.)

    Parameters
    ----------
    dataset : Dataset
        In the order of time within each subject.
    n_cycles : int, default 6
        How many.

    Returns
    -------
    Splits
        One a cycle.

    See Also
    --------
    leave_one_run_out : Where a cycle is a run.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import cycles
    >>> cycles(load_haxby2001_slice())[0]
    Split('cycle 1': 80 to train, 16 to test)
    """
    check_count(n_cycles, "n_cycles", minimum=2)
    runs = None if dataset.runs is None else unit_codes(dataset, "runs")
    subjects = subjects_of(dataset)
    codes = np.empty(dataset.n_samples, dtype=np.intp)
    for subject in np.unique(subjects):
        rows = np.flatnonzero(subjects == subject)
        stretches = np.arange(len(rows)) if runs is None else _ranks(runs[rows])
        count = int(stretches.max()) + 1
        if count < n_cycles:
            what = "samples" if runs is None else "runs"
            raise ValueError(f"n_cycles: found {n_cycles}, expected at most the {count} {what} of a subject")
        lengths = [len(part) for part in np.array_split(np.arange(count), n_cycles)]
        codes[rows] = np.repeat(np.arange(n_cycles), lengths)[stretches]
    names = [f"cycle {i + 1}" for i in in_order(codes)]
    kept_apart = () if runs is None else ("runs",)
    return make_splits(dataset, "cycles", leave_out(codes, names), kept_apart=kept_apart, units=codes)


def _ranks(codes: IntArray) -> IntArray:
    """Number units from 0 in the order of their first rows."""
    order = in_order(codes)
    rank = np.empty(order.max() + 1, dtype=np.intp)
    rank[order] = np.arange(len(order))
    return np.asarray(rank[codes])
