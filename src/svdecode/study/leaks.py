"""What must stay on one side of a split, and the refusal of splits that tear it.

A run is a run of its subject: run 1 of one subject and run 1 of another are two units.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from svdecode._checks import IntArray, check_choice, check_groups
from svdecode.imaging import Dataset
from svdecode.study.splits import Split

UNITS = ("runs", "subjects")


def unit_codes(dataset: Dataset, by: str) -> IntArray:
    """Number the runs (each of its subject) or the subjects of a dataset.

    Parameters
    ----------
    dataset : Dataset
        Whose rows.
    by : {"runs", "subjects"}
        Which units.

    Returns
    -------
    array of int of shape (n_samples,)
        A number from 0 for the unit of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.imaging import Dataset
    >>> from svdecode.study import unit_codes
    >>> data = Dataset(np.eye(4), ["a", "b"] * 2, runs=[1, 1, 1, 1], subjects=[1, 1, 2, 2])
    >>> unit_codes(data, "runs")
    array([0, 0, 1, 1])
    """
    labels = getattr(dataset, check_choice(by, "by", UNITS))
    if labels is None:
        raise ValueError(f"{by}: found None, expected the {by[:-1]} of each sample of the dataset")
    codes = check_groups(labels, dataset.n_samples, by)
    if by == "subjects" or dataset.subjects is None:
        return codes
    subjects = check_groups(dataset.subjects, dataset.n_samples, "subjects")
    pairs = np.column_stack([subjects, codes])
    return np.unique(pairs, axis=0, return_inverse=True)[1].ravel().astype(np.intp)


def unit_name(dataset: Dataset, by: str, row: int) -> str:
    """Name of the unit that a row belongs to: "run 3", with several subjects "subject 1 run 3".

    Parameters
    ----------
    dataset : Dataset
        Whose row.
    by : {"runs", "subjects"}
        Which units.
    row : int
        The row.

    Returns
    -------
    str
        For people.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import unit_name
    >>> unit_name(load_haxby2001_slice(), "runs", 0)
    'run 1'
    """
    subjects = dataset.subjects
    several = subjects is not None and len(np.unique(subjects)) > 1
    of_subject = "" if subjects is None else f"subject {subjects[row]}"
    if by == "subjects":
        return of_subject
    run = "" if dataset.runs is None else f"run {dataset.runs[row]}"
    return f"{of_subject} {run}" if several else run


def check_splits(dataset: Dataset, splits: Iterable[Split], by: tuple[str, ...] = ("runs",)) -> None:
    """Refuse splits that leak, or that test what cannot have been learned.

    Refused are rows that the dataset has not, a run or subject (as `by` says) with rows on both sides, a
    test class of which no training row is, and training rows of one class only. A row on both sides is
    refused by `Split` itself.

    Parameters
    ----------
    dataset : Dataset
        Whose rows the splits divide.
    splits : iterable of Split
        To be checked.
    by : tuple of {"runs", "subjects"}, default ("runs",)
        Units that must not stand on both sides.

    Raises
    ------
    ValueError
        At the first leak, with its split, its unit or class.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.imaging import Dataset
    >>> from svdecode.study import Split, check_splits
    >>> data = Dataset(np.eye(4), ["a", "b"] * 2, runs=[1, 1, 2, 2])
    >>> check_splits(data, [Split([0, 1, 2], [3], "the last")])
    Traceback (most recent call last):
        ...
    ValueError: test (the last): found samples of run 2 among the training rows too, expected whole runs
    """
    codes = {unit: unit_codes(dataset, unit) for unit in by}
    for part in splits:
        last = max(part.train.max(), part.test.max())
        first = min(part.train.min(), part.test.min())
        if first < 0 or last >= dataset.n_samples:
            raise ValueError(
                f"splits ({part.name}): found row {first if first < 0 else last}, "
                f"expected 0 to {dataset.n_samples - 1}"
            )
        for unit, code in codes.items():
            shared = np.isin(code[part.test], code[part.train])
            if shared.any():
                name = unit_name(dataset, unit, int(part.test[np.argmax(shared)]))
                raise ValueError(
                    f"test ({part.name}): found samples of {name} among the training rows too, "
                    f"expected whole {unit}"
                )
        (_check_classes if dataset.y.ndim == 1 else _check_labels)(dataset, part)


def _check_classes(dataset: Dataset, part: Split) -> None:
    trained, tested = (set(dataset.y[rows].tolist()) for rows in (part.train, part.test))
    taking_part = tested if part.classes is None else set(part.classes)
    unseen = sorted(taking_part - trained)
    if unseen:
        raise ValueError(
            f"train ({part.name}): found no sample of class {unseen[0]!r}, which is tested, expected some"
        )
    if len(trained) < 2:
        raise ValueError(
            f"train ({part.name}): found class {trained.pop()!r} only, expected at least two classes"
        )


def _check_labels(dataset: Dataset, part: Split) -> None:
    """The same for a multi-label indicator: a label on in a test sample must be on in a training sample."""
    on = [
        np.nan_to_num(np.asarray(dataset.y[rows], dtype=float)).any(axis=0)
        for rows in (part.train, part.test)
    ]
    unseen = np.flatnonzero(on[1] & ~on[0])
    if unseen.size:
        raise ValueError(
            f"train ({part.name}): found no sample with label {unseen[0]}, which is tested, expected some"
        )


def torn_units(dataset: Dataset, splits: Iterable[Split], by: str) -> list[str]:
    """Names of the units that stand on both sides of a split, so that a report can say it.

    Parameters
    ----------
    dataset : Dataset
        Whose rows the splits divide.
    splits : iterable of Split
        Of any protocol.
    by : {"runs", "subjects"}
        Which units.

    Returns
    -------
    list of str
        Empty where each unit is whole.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.imaging import Dataset
    >>> from svdecode.study import Split, torn_units
    >>> data = Dataset(np.eye(4), ["a", "b"] * 2, runs=[1, 1, 2, 2])
    >>> torn_units(data, [Split([0, 1, 2], [3], "the last")], "runs")
    ['run 2']
    """
    code = unit_codes(dataset, by)
    torn: dict[str, None] = {}
    for part in splits:
        for unit in np.intersect1d(code[part.train], code[part.test]):
            torn[unit_name(dataset, by, int(np.argmax(code == unit)))] = None
    return list(torn)
