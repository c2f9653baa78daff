"""Protocols that draw: repeated random splits, by samples, runs or subjects."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from svdecode._checks import IntArray, check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.leaks import unit_codes
from svdecode.study.making import (
    Part,
    check_classes,
    check_share,
    divide,
    front,
    make_splits,
    protocol,
    run_labels,
    share_of,
    subjects_of,
)
from svdecode.study.splits import Splits


def drawn(strata: IntArray, train_share: float, n_repeats: int, random_state: int) -> Iterator[Part]:
    """Splits with a random share of the rows of each stratum to train on."""
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    for repeat in range(check_count(n_repeats, "n_repeats")):
        order = rng.permutation(len(strata))
        train = np.empty(len(strata), dtype=bool)
        train[order] = front(strata[order], train_share)
        yield divide(train, f"repeat {repeat + 1}")


@protocol
def repeated_random(
    dataset: Dataset,
    *,
    by: str = "samples",
    train_share: float = 0.75,
    n_repeats: int = 20,
    random_state: int = 0,
) -> Splits:
    """Draw training rows at random, again and again (Xi 2007, 7.1).

    Parameters
    ----------
    dataset : Dataset
        Any.
    by : {"samples", "runs", "subjects"}, default "samples"
        What is drawn: samples of each class (with one class a sample), whole runs of each subject, or
        whole subjects.
    train_share : float, default 0.75
        Share to train on, to the nearest whole number.
    n_repeats : int, default 20
        How many splits.
    random_state : int, default 0
        Seed of the draws.

    Returns
    -------
    Splits
        One a draw. Their test rows overlap: accuracies of different draws are not independent.

    See Also
    --------
    stratified_pooled : The same share of each subject's samples of each class.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import repeated_random
    >>> repeated_random(load_haxby2001_slice(), by="runs", n_repeats=3)[2]
    Split('repeat 3': 72 to train, 24 to test)
    """
    check_choice(by, "by", ("samples", "runs", "subjects"))
    if by == "samples":
        strata = np.zeros(dataset.n_samples, dtype=np.intp) if dataset.y.ndim > 1 else check_classes(dataset)
        units = None if dataset.runs is None else run_labels(dataset)
        parts = drawn(strata, train_share, n_repeats, random_state)
        return make_splits(dataset, "repeated_random", parts, units=units)
    codes = unit_codes(dataset, by)
    units = codes if by == "subjects" else run_labels(dataset)
    # one row for each unit is drawn, a run within its subject
    first = np.unique(codes, return_index=True)[1]
    strata = subjects_of(dataset)[first] if by == "runs" else np.zeros(len(first), dtype=np.intp)
    for stratum in np.unique(strata):
        total = int((strata == stratum).sum())
        check_share(share_of(train_share, total), total, by)
    parts = (
        divide(np.isin(codes, chosen), name)
        for chosen, _, name in drawn(strata, train_share, n_repeats, random_state)
    )
    return make_splits(dataset, "repeated_random", parts, kept_apart=(by,), units=units)
