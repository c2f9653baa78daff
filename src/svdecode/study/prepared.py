"""A data set as a study uses it: standardized, fingerprinted, with its splits and its Gram matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray
from svdecode.imaging import Dataset
from svdecode.reduction import SharedGram, reduce_rows
from svdecode.study.choice import inner_splits
from svdecode.study.keys import fingerprint
from svdecode.study.preprocessing import check_standardization, standardize
from svdecode.study.splits import Split, Splits


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
        check_standardization(dataset, splits, by)
        self.name = name
        self.splits = splits
        self.by = by
        self.n_inner = n_inner
        self.fingerprint = fingerprint(dataset.X, dataset.y, dataset.runs, dataset.subjects)
        self.raw = dataset
        self.dataset = standardize(dataset, by) if by in ("run", "subject") else dataset
        self._inner: dict[int, Splits] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "gram"}

    def of_split(self, number: int) -> Prepared:
        """The data as this split sees them: its own columns where its training rows standardize them."""
        if self.by != "training":
            return self
        own = object.__new__(Prepared)
        own.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("gram", "rows")})
        own.dataset = standardize(self.raw, "training", rows=self.splits[number].train)
        return own

    @cached_property
    def gram(self) -> SharedGram:
        """Inner products of all rows."""
        return SharedGram(self.dataset.X)

    @cached_property
    def rows(self) -> FloatArray:
        """Coordinates of all rows in their own span: the same inner products, few columns."""
        return np.ascontiguousarray(reduce_rows(self.dataset.X).coordinates)

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

    def dual_of(self, coef: FloatArray, train: IntArray) -> FloatArray | None:
        """Coefficients over the centered training rows that make the weights `coef` of `rows`, if any do."""
        L = self.rows[train] - self.rows[train].mean(axis=0)
        dual = np.linalg.lstsq(L.T, coef.T, rcond=1e-10)[0].T
        if np.abs(dual @ L - coef).max() > 1e-6 * max(float(np.abs(coef).max()), 1e-300):
            return None
        return np.asarray(dual - dual.mean(axis=1, keepdims=True))


def prepare(
    datasets: dict[str, Dataset], protocol: Any, by: str | None, n_inner: int | None
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
    return [Prepared(name, data, protocol(data), by, n_inner) for name, data in datasets.items()]


def with_labels(prepared: Prepared, y: Any) -> Prepared:
    """The same data with other labels: what was computed of the rows is kept.

    Parameters
    ----------
    prepared : Prepared
        The data.
    y : array of shape (n,) or (n, k)
        The labels.

    Returns
    -------
    Prepared
        With these labels, and the same splits.
    """
    own = object.__new__(Prepared)
    if prepared.by != "training":
        _ = prepared.gram, prepared.rows  # once for all
    own.__dict__.update(prepared.__dict__)
    own.dataset = replace(prepared.dataset, y=y)
    own.raw = replace(prepared.raw, y=y)
    return own


def eval_rows(split: Split, reads: str) -> IntArray:
    """The rows whose accuracy a rule of choice reads."""
    return split.train if reads == "training" else split.test


def classes_of(y: Any, rows: Sequence[int] | IntArray) -> Any:
    """Classes that occur in some rows; for an indicator its columns' numbers."""
    return np.unique(y[rows]) if y.ndim == 1 else np.arange(y.shape[1])
