"""What protocols are made of: their registry, the putting together of splits, shares and units in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from svdecode._checks import IntArray, check_choice, check_number
from svdecode.imaging import Dataset
from svdecode.study.leaks import check_splits, unit_codes
from svdecode.study.splits import Split, Splits

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Part: TypeAlias = tuple[IntArray, IntArray, str]  # train, test, name
ProtocolFunction: TypeAlias = Callable[..., Splits]
Registered = TypeVar("Registered", bound=ProtocolFunction)

#: every protocol by name: functions from a dataset, and keywords of their own, to splits
PROTOCOLS: dict[str, ProtocolFunction] = {}


def protocol(function: Registered) -> Registered:
    """Enter a function in the list of protocols."""
    PROTOCOLS[function.__name__] = function
    return function


def check_protocol(value: Any, name: str = "protocol") -> ProtocolFunction:
    """Return the protocol that `value` is, or names."""
    if callable(value):
        named: ProtocolFunction = value
        return named
    return PROTOCOLS[check_choice(value, name, tuple(PROTOCOLS))]


def make_splits(
    dataset: Dataset,
    name: str,
    parts: Iterable[Part],
    *,
    kept_apart: tuple[str, ...] = (),
    units: IntArray | None = None,
) -> Splits:
    """Put the splits of a protocol together, and refuse those that leak.

    Parameters
    ----------
    dataset : Dataset
        Whose rows are divided.
    name : str
        Of the protocol.
    parts : iterable of (train, test, name)
        Row numbers, and what is left out.
    kept_apart : tuple of {"runs", "subjects"}, default ()
        Units that must not stand on both sides of a split.
    units : array of int of shape (n_samples,), optional
        What the protocol leaves out together.

    Returns
    -------
    Splits
        The splits, checked.

    See Also
    --------
    check_splits : What is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import make_splits
    >>> rows = np.arange(96)
    >>> make_splits(load_haxby2001_slice(), "halves", [(rows[:48], rows[48:], "second half")])
    Splits(halves: 1 split of 96 samples)
    """
    splits = tuple(Split(train, test, text) for train, test, text in parts)
    check_splits(dataset, splits, kept_apart)
    return Splits(name, splits, dataset.n_samples, kept_apart, units)


def share_of(share: Any, total: int) -> int:
    """A share of a whole number, to the nearest one: 70 % of 7 subjects are 5, of 56 samples 39."""
    return int(np.floor(check_number(share, "train_share", positive=True) * total + 0.5 + 1e-9))


def check_share(count: int, total: int, what: str) -> int:
    """Return a count that leaves some to train on and some to test."""
    if not 0 < count < total:
        raise ValueError(
            f"train_share: found {count} of {total} {what} to train on, expected some on each side"
        )
    return count


def subjects_of(dataset: Dataset) -> IntArray:
    """The subject of each row, from 0; one for all where the dataset names none."""
    if dataset.subjects is None:
        return np.zeros(dataset.n_samples, dtype=np.intp)
    return unit_codes(dataset, "subjects")


def in_order(codes: IntArray) -> IntArray:
    """The units that occur, in the order of their first rows."""
    values, first = np.unique(codes, return_index=True)
    return np.asarray(values[np.argsort(first)])


def run_labels(dataset: Dataset) -> IntArray:
    """The run's label of each row, alike in all subjects: what is left out together over subjects."""
    return np.unique(np.asarray(dataset.runs), return_inverse=True)[1].astype(np.intp)


def leave_out(codes: IntArray, names: Iterable[str]) -> Iterator[Part]:
    """Leave each unit out once, in the order of first rows."""
    for unit, name in zip(in_order(codes), names, strict=True):
        yield np.flatnonzero(codes != unit), np.flatnonzero(codes == unit), name


def divide(chosen: BoolArray, name: str) -> Part:
    """One split: train on the marked rows, test on the others."""
    return np.flatnonzero(chosen), np.flatnonzero(~chosen), name


def check_classes(dataset: Dataset) -> IntArray:
    """The class of each row, from 0; refuse a multi-label indicator."""
    if dataset.y.ndim != 1:
        raise ValueError(f"y: found {dataset.y.shape[1]} columns of labels, expected one class a sample")
    return np.unique(dataset.y, return_inverse=True)[1].astype(np.intp)


def check_several(codes: IntArray, name: str) -> None:
    """Refuse a single unit where one is to be left out."""
    if codes.max() == 0:
        raise ValueError(f"{name}: found one only, expected at least two to leave one out")


def front(codes: IntArray, share: float) -> BoolArray:
    """Mark the front share of the rows of each code."""
    chosen = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        chosen[rows[: check_share(share_of(share, len(rows)), len(rows), "samples")]] = True
    return chosen
