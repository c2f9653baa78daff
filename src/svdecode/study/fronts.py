"""Protocols of one cut: the first subjects, runs or samples against the rest, as Xi 2007 tests.

"First" and "front" are said of the rows in the dataset's order: the order of time, in each subject.
"""

from __future__ import annotations

import numpy as np

from svdecode._checks import IntArray, check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.drawing import drawn
from svdecode.study.leaks import unit_codes, unit_name
from svdecode.study.making import (
    check_classes,
    check_share,
    divide,
    front,
    in_order,
    make_splits,
    protocol,
    run_labels,
    share_of,
    subjects_of,
)
from svdecode.study.splits import Splits


@protocol
def new_subjects(dataset: Dataset, *, train_share: float = 0.7, n_train: int | None = None) -> Splits:
    """Train on the first subjects, test on the others (Xi 2007, 6.2.2.1 I and table 1: 5 of 7).

    Parameters
    ----------
    dataset : Dataset
        With `subjects`.
    train_share : float, default 0.7
        Share of the subjects to train on, to the nearest whole one.
    n_train : int, optional
        Their number, in place of the share.

    Returns
    -------
    Splits
        One split.

    See Also
    --------
    leave_one_subject_out : Each subject tested once.
    repeated_random : `by="subjects"` draws them.

    Examples
    --------
    >>> from svdecode.datasets import make_decoding
    >>> from svdecode.study import new_subjects
    >>> new_subjects(make_decoding(n_subjects=7, n_runs=2, random_state=0))[0]
    Split('new subjects': 160 to train, 64 to test)
    """
    codes = unit_codes(dataset, "subjects")
    order = in_order(codes)
    count = share_of(train_share, len(order)) if n_train is None else check_count(n_train, "n_train")
    trained = np.isin(codes, order[: check_share(count, len(order), "subjects")])
    part = divide(trained, "new subjects")
    return make_splits(dataset, "new_subjects", [part], kept_apart=("subjects",), units=codes)


@protocol
def new_runs(dataset: Dataset, *, train_share: float = 0.7) -> Splits:
    """Train on the front samples of every subject, test on the rest of each (Xi 2007, 6.2.2.1 II, table 1).

    As in the paper samples are counted, not runs: 70 % of 56 are 39, so that the sixth run of seven samples
    is trained on with four and tested with three. `torn_units` names such runs; `whole_runs` has none.

    Parameters
    ----------
    dataset : Dataset
        In the order of time within each subject.
    train_share : float, default 0.7
        Share of each subject's samples to train on, to the nearest whole one.

    Returns
    -------
    Splits
        One split; it keeps no units apart.

    See Also
    --------
    whole_runs : The same by whole runs.
    within_subject : Each subject by itself.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import new_runs
    >>> new_runs(load_haxby2001_slice())[0]
    Split('new runs': 67 to train, 29 to test)
    """
    train = front(subjects_of(dataset), train_share)
    return make_splits(dataset, "new_runs", [divide(train, "new runs")], units=_runs_if_known(dataset))


def _runs_if_known(dataset: Dataset) -> IntArray | None:
    return None if dataset.runs is None else run_labels(dataset)


@protocol
def whole_runs(dataset: Dataset, *, n_train: int = 6) -> Splits:
    """Train on the first runs of every subject, test on the others (Xi's new runs, by whole runs: 6 of 8).

    Parameters
    ----------
    dataset : Dataset
        With `runs`, in the order of time within each subject.
    n_train : int, default 6
        How many runs of each subject to train on.

    Returns
    -------
    Splits
        One split.

    See Also
    --------
    new_runs : As the paper says it, by samples.
    leave_one_run_out : Each run tested once.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import whole_runs
    >>> whole_runs(load_haxby2001_slice(), n_train=9)[0]
    Split('new runs': 72 to train, 24 to test)
    """
    check_count(n_train, "n_train")
    runs, subjects = unit_codes(dataset, "runs"), subjects_of(dataset)
    train = np.zeros(dataset.n_samples, dtype=bool)
    for subject in np.unique(subjects):
        order = in_order(runs[subjects == subject])
        if len(order) <= n_train:
            raise ValueError(
                f"n_train: found {n_train}, expected fewer than the {len(order)} runs of a subject"
            )
        train |= np.isin(runs, order[:n_train])
    units = run_labels(dataset)
    return make_splits(dataset, "whole_runs", [divide(train, "new runs")], kept_apart=("runs",), units=units)


@protocol
def within_subject(dataset: Dataset, *, train_share: float = 0.75) -> Splits:
    """Train on the front samples of one subject, test on its others (Xi 2007, 6.2.2.2: 42 and 14 of 56).

    Parameters
    ----------
    dataset : Dataset
        In the order of time within each subject; one subject where it names none.
    train_share : float, default 0.75
        Share of each subject's samples to train on, to the nearest whole one.

    Returns
    -------
    Splits
        One a subject, of its rows only; it keeps no units apart (`torn_units` tells whether a run was cut).

    See Also
    --------
    each_subject : Any protocol within each subject.

    Examples
    --------
    >>> from svdecode.datasets import make_decoding
    >>> from svdecode.study import within_subject
    >>> within_subject(make_decoding(n_subjects=2, random_state=0))[1]
    Split('subject 2': 72 to train, 24 to test)
    """
    subjects = subjects_of(dataset)
    train = front(subjects, train_share)
    parts = []
    for subject in in_order(subjects):
        own = subjects == subject
        name = unit_name(dataset, "subjects", int(np.argmax(own))) or "all"
        parts.append((np.flatnonzero(own & train), np.flatnonzero(own & ~train), name))
    return make_splits(dataset, "within_subject", parts, units=_runs_if_known(dataset))


@protocol
def stratified_pooled(
    dataset: Dataset,
    *,
    train_share: float = 0.75,
    by_subject: bool = True,
    n_repeats: int | None = None,
    random_state: int = 0,
) -> Splits:
    """Train on a share of the samples of each stimulus, subjects pooled (Xi 2007, 6.2.3: 75 and 25 %).

    Her 56 samples of a stimulus give 42 to train on and 14 to test, so that accuracies of pairs of stimuli
    (tables 2 and 3, `class_pairs`) are multiples of 1/28. The front samples of each subject and stimulus
    are trained on, as in her other tests: 6 of 8, which are whole runs where each run shows each stimulus
    once.

    Parameters
    ----------
    dataset : Dataset
        Any, with one class a sample.
    train_share : float, default 0.75
        Share to train on, to the nearest whole number of samples.
    by_subject : bool, default True
        Take the share of each subject's samples of a class, rather than of all samples of the class.
    n_repeats : int, optional
        Draw so many splits at random in place of the one with the front samples.
    random_state : int, default 0
        Seed of the draws.

    Returns
    -------
    Splits
        One split, or as many as are drawn; it keeps no units apart.

    See Also
    --------
    class_pairs : All pairs of classes on top of it.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import stratified_pooled
    >>> stratified_pooled(load_haxby2001_slice())[0]
    Split('front samples': 72 to train, 24 to test)
    """
    check_choice(by_subject, "by_subject", (True, False))
    strata = check_classes(dataset)
    if by_subject:
        strata = strata + (strata.max() + 1) * subjects_of(dataset)
    if n_repeats is None:
        parts = [divide(front(strata, train_share), "front samples")]
    else:
        parts = list(drawn(strata, train_share, n_repeats, random_state))
    return make_splits(dataset, "stratified_pooled", parts, units=_runs_if_known(dataset))
