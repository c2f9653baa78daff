"""Who is trained on and who is tested: one split, and all splits of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from svdecode._checks import IntArray, check_index


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to test on.

    Attributes
    ----------
    train, test : array of int
        Row numbers of the dataset.
    name : str
        What is left out, such as "run 3" or "subject 2 run 3".
    classes : tuple or None
        The classes that take part, where not all do (`class_pairs`).
    fold : str
        Name of the split of the protocol beneath, where there is one; else `name`.

    Examples
    --------
    >>> from svdecode.study import Split
    >>> Split(train=[0, 1, 2], test=[3], name="run 4")
    Split('run 4': 3 to train, 1 to test)
    """

    train: IntArray
    test: IntArray
    name: str
    classes: tuple[Any, ...] | None = None
    fold: str = ""

    def __post_init__(self) -> None:
        for side in ("train", "test"):
            object.__setattr__(self, side, _rows(getattr(self, side), f"{side} ({self.name})"))
        both = np.intersect1d(self.train, self.test)
        if both.size:
            raise ValueError(
                f"test ({self.name}): found row {both[0]} among the training rows too, expected no such row"
            )
        object.__setattr__(self, "fold", self.fold or self.name)

    def __repr__(self) -> str:
        return f"Split({self.name!r}: {len(self.train)} to train, {len(self.test)} to test)"


@dataclass(frozen=True, eq=False)
class Splits:
    """All splits of a protocol on the rows of one dataset; scikit-learn takes it as `cv`.

    Attributes
    ----------
    name : str
        Of the protocol.
    parts : tuple of Split
        The splits, in order.
    n_samples : int
        Rows of the dataset that they were made for.
    kept_apart : tuple of {"runs", "subjects"}
        Units that never stand on both sides of a split: the protocol's promise, which was checked.
    units : array of int of shape (n_samples,) or None
        What the protocol leaves out together (its runs, subjects or cycles), so that inner folds can do
        the same.

    See Also
    --------
    check_splits : What is refused.
    inner_splits : Folds of the training rows of one split.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import leave_one_run_out
    >>> data = load_haxby2001_slice()
    >>> splits = leave_one_run_out(data)
    >>> splits
    Splits(leave_one_run_out: 12 splits of 96 samples)
    >>> len(cross_val_score(RidgeClassifier(), data.X, data.y, cv=splits))
    12
    """

    name: str
    parts: tuple[Split, ...]
    n_samples: int
    kept_apart: tuple[str, ...] = ()
    units: IntArray | None = None

    @property
    def names(self) -> list[str]:
        """Names of the splits."""
        return [part.name for part in self.parts]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Training and test rows of each split, as scikit-learn asks for them.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The dataset's rows: all of them, in their order.
        y, groups : object
            Not looked at: the splits know.

        Yields
        ------
        train, test : array of int
            Row numbers.
        """
        del groups
        for name, values in (("X", X), ("y", y)):
            n = None if values is None else values.shape[0] if hasattr(values, "shape") else len(values)
            if n is not None and n != self.n_samples:
                raise ValueError(
                    f"{name}: found {n} rows, expected the {self.n_samples} rows that the splits of "
                    f"{self.name} were made for (folds of training rows are made by inner_splits)"
                )
        for part in self.parts:
            yield part.train.copy(), part.test.copy()

    def within(self, rows: Any) -> Splits:
        """The same splits, for the dataset's rows `rows` alone: to search inside training rows.

        Parameters
        ----------
        rows : array of int
            Rows of the dataset, among them all that take part.

        Returns
        -------
        Splits
            Rows numbered as in ``dataset.select(rows)``.
        """
        chosen = check_index(rows, self.n_samples, "rows")
        place = np.full(self.n_samples, -1)
        place[chosen] = np.arange(len(chosen))
        parts = []
        for part in self.parts:
            train, test = place[part.train], place[part.test]
            if min(train.min(), test.min()) < 0:
                raise ValueError(f"rows: found none for a row of {part.name}, expected all that take part")
            parts.append(replace(part, train=train, test=test))
        units = None if self.units is None else self.units[chosen]
        return Splits(self.name, tuple(parts), len(chosen), self.kept_apart, units)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the splits, as scikit-learn asks for it.

        Parameters
        ----------
        X, y, groups : object
            Not looked at.

        Returns
        -------
        int
            How many there are.
        """
        del X, y, groups
        return len(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.parts)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Split, ...]: ...
    def __getitem__(self, index: int | slice) -> Split | tuple[Split, ...]:
        return self.parts[index]

    def __repr__(self) -> str:
        noun = "split" if len(self) == 1 else "splits"
        return f"Splits({self.name}: {len(self)} {noun} of {self.n_samples} samples)"


def _rows(values: Any, name: str) -> IntArray:
    """Row numbers as an array that nobody changes any more."""
    rows = np.array(values)
    if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: found an array of shape {rows.shape} and dtype {rows.dtype}, expected row numbers"
        )
    counts = np.unique_counts(rows)
    if (counts.counts > 1).any():
        raise ValueError(
            f"{name}: found row {counts.values[counts.counts > 1][0]} twice, expected each row once"
        )
    rows = rows.astype(np.intp)
    rows.flags.writeable = False
    return rows
