"""Permutations where each split standardizes by its own training rows: columns are read once a split."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import scipy.sparse as sp

from svdecode.imaging import Dataset
from svdecode.reduction import reduce_rows
from svdecode.study import Method, Split, Splits, Study, fingerprint
from svdecode.study import standardize as standardized
from svdecode.study.planning import Group, Planned, plan
from svdecode.study.statistics import permutations


class SplitBySplit(Study):
    """A permutation test whose splits are data sets of their own, which share each permutation of the labels.

    Permuted labels leave the standardized columns of a split as they are; a `Study` of the whole data
    computes them anew with every permutation.

    Parameters
    ----------
    dataset : Dataset
        The data.
    method : Method
        Whose parameters are fixed.
    splits : Splits
        Of the rows.
    n_permutations : int
        How many; the same as a `Study` of the whole data draws.
    **options : object
        Of `Study`.
    """

    def __init__(
        self, dataset: Dataset, method: Method, splits: Splits, n_permutations: int, **options: Any
    ) -> None:
        parts = {part.name: part for part in splits}
        super().__init__(
            {part.name: in_own_coordinates(dataset, part) for part in splits},
            method,
            lambda data: replace(splits, parts=(parts[data.name],)),
            **options,
        )
        self.n_permutations = n_permutations
        state = int(fingerprint(dataset.X, dataset.y, dataset.runs, dataset.subjects)[:8], 16)
        self._drawn = list(
            permutations(
                dataset.y, runs=dataset.runs, subjects=dataset.subjects, n_permutations=n_permutations,
                random_state=state,
            )
        )  # fmt: skip

    @cached_property
    def groups(self) -> list[Group]:
        """All cells: those with the true labels, then permutation by permutation."""
        found = self._planned(self.data)
        for i, y in enumerate(self._drawn, 1):
            for group in self._planned([data.with_labels(y) for data in self.data]):
                cells = [Planned(f"{cell.key}-{i}", cell.split, cell.size) for cell in group.cells]
                found.append(replace(group, permutation=i, cells=cells))
        return found

    def _planned(self, data: Any) -> list[Group]:
        return list(plan(data, self.methods, self.rule, self.seeds, choose_size=False, n_permutations=0))


def in_own_coordinates(dataset: Dataset, part: Split) -> Dataset:
    """A data set as one split sees it, standardized by its training rows, in few numbers a row.

    Permuted labels leave these numbers as they are, so that they are computed once for all permutations. The
    other columns are zeros that take no room: the scale of the data counts them.
    """
    scaled = standardized(dataset, "training", rows=part.train)
    rows = sp.csr_array(reduce_rows(scaled.X).coordinates)
    rows.resize((dataset.n_samples, max(dataset.n_features, rows.shape[1])))
    return replace(
        dataset,
        X=rows,
        mask=None,
        positions=None,
        views={},
        truth={},
        name=part.name,
        description="",
        steps=(),
    )
