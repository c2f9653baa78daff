"""A data set as a study uses it: standardized, fingerprinted, with its splits and its Gram matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray, check_count
from svdecode.imaging import Dataset
from svdecode.reduction import Reduction, SharedGram, reduce_rows
from svdecode.study.choice import inner_splits
from svdecode.study.keys import fingerprint
from svdecode.study.preprocessing import check_standardization, standardize
from svdecode.study.splits import Split, Splits

NEARLY = 1e-3
"""Share of weights that may be missed where they are written over the training rows: a solver's tolerance."""


class Columns:
    """What is computed of the columns, once for all labels.

    Parameters
    ----------
    X : array of shape (n, m)
        Standardized already.
    """

    def __init__(self, X: Any) -> None:
        self.X = X

    def __getstate__(self) -> dict[str, Any]:
        """What another process is sent: not what it has no use for."""
        return {name: value for name, value in self.__dict__.items() if name not in ("gram", "reduction")}

    @cached_property
    def gram(self) -> SharedGram:
        """Inner products of all rows."""
        return SharedGram(self.X)

    @cached_property
    def reduction(self) -> Reduction:
        """All rows in their own span, and the way back."""
        return reduce_rows(self.X)

    @cached_property
    def rows(self) -> FloatArray:
        """Coordinates of all rows in their own span: the same inner products, few columns."""
        return np.ascontiguousarray(self.reduction.coordinates)


class Prepared:
    """One data set of a study.

    Parameters
    ----------
    name : str
        In tables.
    dataset : Dataset
        As the user gives it.
    splits : Splits
        Of its rows.
    by : {"run", "subject", "training", None}
        How columns are standardized.
    n_inner : int or None
        Folds to choose weights in; None for whole units.
    """

    def __init__(
        self, name: str, dataset: Dataset, splits: Splits, by: str | None, n_inner: int | None
    ) -> None:
        try:
            check_standardization(dataset, splits, by)
        except ValueError as error:
            raise ValueError(str(error).replace("by:", "standardize:", 1)) from None
        if n_inner is not None:
            check_count(n_inner, "n_inner", minimum=2)
        self.name = name
        self.splits = splits
        self.by = by
        self.n_inner = n_inner
        self.fingerprint = fingerprint(dataset.X, dataset.y, dataset.runs, dataset.subjects)
        self.raw = dataset
        self.dataset = standardize(dataset, by) if by in ("run", "subject") else dataset
        self._columns = Columns(self.dataset.X)
        self._inner: dict[int, Splits] = {}

    def of_split(self, number: int) -> Prepared:
        """The data as this split sees them: its own columns where its training rows standardize them."""
        return self.of_rows(self.splits[number].train)

    def of_rows(self, train: IntArray) -> Prepared:
        """The data as a fit on these rows sees them."""
        if self.by != "training":
            return self
        own = copy(self)
        own.dataset = standardize(self.raw, "training", rows=train)
        own._columns = Columns(own.dataset.X)
        own.by = None  # it is done
        return own

    def with_labels(self, y: Any) -> Prepared:
        """The same data and splits with other labels: what was computed of the columns is kept."""
        own = copy(self)
        own.dataset, own.raw = replace(self.dataset, y=y), replace(self.raw, y=y)
        own._inner = {}  # stratified folds ask for labels
        return own

    @property
    def gram(self) -> SharedGram:
        """Inner products of all rows."""
        return self._columns.gram

    @property
    def rows(self) -> FloatArray:
        """Coordinates of all rows in their own span."""
        return self._columns.rows

    def columns(self, needs: str) -> Any:
        """What a method that needs "rows" or "features" is given."""
        return self.rows if needs == "rows" else self.dataset.X

    def inner(self, number: int) -> Splits:
        """Folds of the training rows of a split."""
        if number not in self._inner:
            self._inner[number] = inner_splits(
                self.dataset, self.splits[number].train, self.splits, n_folds=self.n_inner
            )
        return self._inner[number]

    def dual_of(self, coef: FloatArray, train: IntArray, needs: str) -> FloatArray | None:
        """Coefficients over the centered training rows that make these weights, if any do.

        The weights are those of `columns(needs)`.
        """
        size = float(np.linalg.norm(coef))
        if needs == "features":
            reduction, given = self._columns.reduction, coef
            mean = np.asarray(reduction.mean)
            as_mean = (np.linalg.norm(mean) or 1.0) / (size or 1.0)  # the mean is subtracted: keep the digits
            coef = reduction.transform(as_mean * given + mean) / as_mean
            if np.linalg.norm(reduction.lift(coef) - given) > NEARLY * size:
                return None
        L = self.rows[train] - self.rows[train].mean(axis=0)
        dual = np.linalg.lstsq(L.T, coef.T, rcond=1e-10)[0].T
        if np.linalg.norm(dual @ L - coef) > NEARLY * size:
            return None
        return np.asarray(dual - dual.mean(axis=1, keepdims=True))


def prepare(
    datasets: Mapping[str, Dataset],
    protocol: Callable[[Dataset], Splits],
    by: str | None,
    n_inner: int | None,
) -> list[Prepared]:
    """Apply the protocol to each data set.

    Parameters
    ----------
    datasets : dict of str to Dataset
        By name.
    protocol : function
        From a dataset to its splits.
    by, n_inner
        As for `Prepared`.

    Returns
    -------
    list of Prepared
        In the same order.
    """
    found: dict[str, Prepared] = {}
    for name, dataset in datasets.items():
        data = Prepared(name, dataset, check_made(dataset, protocol(dataset)), by, n_inner)
        if data.fingerprint in found:
            raise ValueError(
                f"dataset: found the same data as {found[data.fingerprint].name!r} and as {name!r}, expected "
                "data sets that differ"
            )
        found[data.fingerprint] = data
    return list(found.values())


def check_made(dataset: Dataset, splits: Any) -> Splits:
    """Return what a protocol made, if it is what a study can use.

    Parameters
    ----------
    dataset : Dataset
        That it was given.
    splits : object
        What it returned.

    Returns
    -------
    Splits
        The same.
    """
    if not isinstance(splits, Splits):
        raise ValueError(
            f"protocol: found that it made a {type(splits).__name__}, expected Splits (see make_splits)"
        )
    if splits.n_samples != dataset.n_samples:
        raise ValueError(
            f"protocol: found splits of {splits.n_samples} samples, expected those of the "
            f"{dataset.n_samples} of the data"
        )
    name, times = Counter(splits.names).most_common(1)[0] if len(splits) else ("", 0)
    if times != 1:
        found = f"{times} splits called {name!r}" if times else "no split"
        raise ValueError(f"protocol: found {found}, expected splits with names that differ")
    return splits


def eval_rows(split: Split, reads: str) -> IntArray:
    """The rows whose accuracy a rule of choice reads."""
    return split.train if reads == "training" else split.test


def classes_of(y: Any, rows: Sequence[int] | IntArray) -> Any:
    """Classes that occur in some rows; for an indicator its columns' numbers."""
    return np.unique(y[rows]) if y.ndim == 1 else np.arange(y.shape[1])
