"""Protocols on top of others: within each subject, for each pair of classes; and pairs of trials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from svdecode._checks import check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.leaks import check_splits, unit_codes, unit_name
from svdecode.study.making import (
    Part,
    ProtocolFunction,
    check_classes,
    check_protocol,
    in_order,
    make_splits,
    protocol,
    run_labels,
)
from svdecode.study.splits import Split, Splits


@protocol
def each_subject(
    dataset: Dataset, *, protocol: str | ProtocolFunction = "leave_one_run_out", **parameters: Any
) -> Splits:
    """Apply a protocol within each subject: trained and tested on one subject's rows at a time.

    For studies that fit each subject by itself (Pereira & Gordon 2006, 3.1), and for data whose columns
    do not correspond over subjects.

    Parameters
    ----------
    dataset : Dataset
        With `subjects`.
    protocol : str or function, default "leave_one_run_out"
        One of `PROTOCOLS`, by name or itself.
    **parameters : object
        Its keywords.

    Returns
    -------
    Splits
        The protocol's splits of each subject, subject after subject.

    See Also
    --------
    within_subject : The cut of Xi 2007.

    Examples
    --------
    >>> from svdecode.datasets import make_decoding
    >>> from svdecode.study import each_subject
    >>> data = make_decoding(n_subjects=2, random_state=0)
    >>> each_subject(data, protocol="cycles", n_cycles=3).names[:4]
    ['subject 1 cycle 1', 'subject 1 cycle 2', 'subject 1 cycle 3', 'subject 2 cycle 1']
    """
    function = check_protocol(protocol)
    subjects = unit_codes(dataset, "subjects")
    labels_only = replace(dataset, X=np.zeros((dataset.n_samples, 1)), positions=None, mask=None, views={})
    parts: list[Split] = []
    units = np.zeros(dataset.n_samples, dtype=np.intp)
    for subject in in_order(subjects):
        rows = np.flatnonzero(subjects == subject)
        name = unit_name(dataset, "subjects", int(rows[0]))
        own = function(labels_only.select(rows), **parameters)
        for part in own:
            full, fold = (
                text if text.startswith(name) else f"{name} {text}" for text in (part.name, part.fold)
            )
            parts.append(Split(rows[part.train], rows[part.test], full, part.classes, fold))
        if own.units is not None:
            units[rows] = own.units
    check_splits(dataset, parts, own.kept_apart)
    known = units if own.units is not None else None
    return Splits(f"each_subject of {own.name}", tuple(parts), dataset.n_samples, own.kept_apart, known)


@protocol
def class_pairs(
    dataset: Dataset,
    *,
    protocol: str | ProtocolFunction = "stratified_pooled",
    test: str = "pair",
    **parameters: Any,
) -> Splits:
    """Restrict a protocol to each pair of classes (Xi 2007, 6.2.3, tables 2 and 3; 1.2.2.2, one against one).

    Parameters
    ----------
    dataset : Dataset
        Any, with one class a sample.
    protocol : str or function, default "stratified_pooled"
        One of `PROTOCOLS`, by name or itself.
    test : {"pair", "all"}, default "pair"
        Test on samples of the pair, for a table of pairs; or on all test samples, for `vote`.
    **parameters : object
        Keywords of the protocol.

    Returns
    -------
    Splits
        For each split of the protocol one a pair that is trained on and tested in it; `classes` is the
        pair, the smaller label first, and `fold` the protocol's name of the split.

    See Also
    --------
    vote : The class for which most pairs vote.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import class_pairs
    >>> splits = class_pairs(load_haxby2001_slice())
    >>> len(splits), splits[0].classes, splits[0]
    (28, ('bottle', 'cat'), Split('bottle | cat': 18 to train, 6 to test))
    """
    check_classes(dataset)
    whole = check_choice(test, "test", ("pair", "all")) == "all"
    base = check_protocol(protocol)(dataset, **parameters)
    parts = []
    for part in base:
        # as plain Python values: they are written into names and tables
        own = np.unique(dataset.y[part.train]).tolist()
        for pair in combinations(own, 2):
            train, tested = (rows[np.isin(dataset.y[rows], pair)] for rows in (part.train, part.test))
            if tested.size == 0 and not whole:
                continue
            name = f"{pair[0]} | {pair[1]}" if len(base) == 1 else f"{part.name}: {pair[0]} | {pair[1]}"
            parts.append(Split(train, part.test if whole else tested, name, pair, part.fold))
    check_splits(dataset, parts, base.kept_apart)
    return Splits(f"class_pairs of {base.name}", tuple(parts), base.n_samples, base.kept_apart, base.units)


@protocol
def leave_pair_out(dataset: Dataset, *, n_pairs: int | None = None, random_state: int = 0) -> Splits:
    """Leave pairs of trials of different classes out: each test set has one sample of each of two classes.

    Parameters
    ----------
    dataset : Dataset
        Any, with one class a sample.
    n_pairs : int, optional
        Draw so many pairs at random, without repetition, in place of all of them.
    random_state : int, default 0
        Seed of the draw.

    Returns
    -------
    Splits
        One a pair; it keeps no units apart. The share of pairs that scores put in the right order is the
        area under the curve of held-out scores.

    See Also
    --------
    leave_one_sample_out : One at a time, which leaves the classes uneven.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import leave_pair_out
    >>> leave_pair_out(load_haxby2001_slice(), n_pairs=100)
    Splits(leave_pair_out: 100 splits of 96 samples)
    """
    codes = check_classes(dataset)
    pairs = np.argwhere(np.triu(codes[:, None] != codes))
    if n_pairs is not None:
        if check_count(n_pairs, "n_pairs") > len(pairs):
            raise ValueError(f"n_pairs: found {n_pairs}, expected at most the {len(pairs)} that there are")
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        pairs = pairs[np.sort(rng.choice(len(pairs), n_pairs, replace=False))]
    units = None if dataset.runs is None else run_labels(dataset)
    return make_splits(dataset, "leave_pair_out", _without(pairs, dataset.n_samples), units=units)


def _without(pairs: np.ndarray[Any, Any], n: int) -> Iterator[Part]:
    rows = np.arange(n)
    for i, j in pairs:
        yield np.delete(rows, [i, j]), np.array([i, j]), f"samples {i} and {j}"
