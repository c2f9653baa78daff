"""StudyResult: tables, tests and maps of a study, all from its store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svdecode._checks import check_choice
from svdecode.study.cells import Cell
from svdecode.study.contrasts import compare_permuted, compare_sides
from svdecode.study.maps import WeightMaps, weight_maps
from svdecode.study.statistics import (
    Confusion,
    PermutationTest,
    ResampledT,
    SignFlip,
    confusion,
)
from svdecode.study.store import Store
from svdecode.study.summaries import (
    Size,
    accuracies,
    chance,
    describe,
    in_order,
    select,
    vote_table,
    with_groups,
)
from svdecode.study.tables import ROWS, frame, write_csv, write_parquet

if TYPE_CHECKING:
    from svdecode.study.keeping import Keeper
    from svdecode.study.prepared import Prepared
    from svdecode.study.runner import Study


class StudyResult:
    """What a study found.

    Made by `Study.run`. Everything is read from the store; nothing is fitted again.

    Parameters
    ----------
    study : Study
        What was asked.
    keeper : Keeper
        Its store.

    Examples
    --------
    >>> from svdecode import Study
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import METHODS
    >>> methods = [METHODS["svdm"](sizes=[8], shrinkage=0.1), METHODS["svd_svm"](sizes=[8], C=1.0)]
    >>> result = Study(load_haxby2001_slice(), methods, standardize="run").run()
    >>> result
    StudyResult of 24 cells
      svdm, 8 components: 0.5... over runs), chance 0.125
      svd_svm, 8 components: 0.4... over runs), chance 0.125
    >>> print(result.compare("svdm", "svd_svm"))
    difference +0..., 95 % interval ... to ..., corrected t(11) = ..., p = ...
    """

    def __init__(self, study: Study, keeper: Keeper) -> None:
        self.study = study
        self._keeper = keeper

    @property
    def store(self) -> Store:
        """The store with the cells."""
        return self._keeper.store

    def cells(
        self, method: str | None = None, *, permuted: bool = False, dual: bool = False
    ) -> Iterator[Cell]:
        """Go through the cells of this study.

        Parameters
        ----------
        method : str, optional
            Of this method only.
        permuted : bool, default False
            Those with permuted labels, in place of those with the true ones.
        dual : bool, default False
            Whether to read the coefficients over the training rows too.

        Yields
        ------
        Cell
            In the order of the study.
        """
        # a store keeps the name that data had when a cell was computed; here it is this study's
        names = {
            cell.key: group.data.name
            for group in self.study.groups
            if (group.permutation > 0) == permuted and method in (None, group.method.name)
            for cell in group.cells
        }
        for cell in self.store.cells(names, dual=dual):
            own = names[cell.key]
            yield cell if cell.dataset == own else replace(cell, dataset=own)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a cell, with the true labels: accuracy, what was chosen, seconds, stationarity."""
        return in_order(frame(self.cells(), "cells"), self.study)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row a test sample of a cell: its run and subject, truth and prediction."""
        return with_groups(in_order(frame(self.cells(), "samples"), self.study), self.study)

    def accuracy(self, *, level: float = 0.95, by_dataset: bool = False) -> pd.DataFrame:
        """Accuracy of each method and number of components, with a confidence interval.

        Parameters
        ----------
        level : float, default 0.95
            Coverage of the interval, which respects subjects (or data sets), then runs.
        by_dataset : bool, default False
            A row a data set, in place of one over all.

        Returns
        -------
        pandas.DataFrame
            `accuracy`, `low`, `high`, what they go `over`, and the `chance` of guessing the most frequent
            class of the test rows. A sample that was tested several times, with several seeds say, counts
            once, with its mean.
        """
        return accuracies(self.predictions, level, by_dataset, chance(self.study, by_dataset))

    def select(self, method: str, n_components: Size = None) -> pd.DataFrame:
        """Rows of `table` of one method at one number of components.

        Parameters
        ----------
        method : str
            Its name.
        n_components : int or "chosen", optional
            Needed where the method has several.

        Returns
        -------
        pandas.DataFrame
            A row a fold, data set and seed.
        """
        return select(self.table, method, n_components)

    def compare(
        self,
        first: str,
        second: str,
        n_components: Size | tuple[Size, Size] = None,
        *,
        alternative: str = "two-sided",
    ) -> SignFlip | ResampledT:
        """Compare two methods on the same folds.

        Parameters
        ----------
        first, second : str
            Names of the methods.
        n_components : int or "chosen", or a pair of them, optional
            Of both, where they have several; a pair gives each its own.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            Of the sign-flip test.

        Returns
        -------
        SignFlip or ResampledT
            Over subjects or data sets, where at least two were tested: all signs are flipped. Within one:
            the corrected resampled t-test over folds. Of several seeds the mean is taken before.
        """
        sizes = n_components if isinstance(n_components, tuple) else (n_components, n_components)
        sides = (select(self.predictions, first, sizes[0]), select(self.predictions, second, sizes[1]))
        return compare_sides(self.study, *sides, alternative)

    def confusion(self, method: str, n_components: Size = None) -> Confusion:
        """Which classes are taken for which.

        Parameters
        ----------
        method : str
            Its name.
        n_components : int or "chosen", optional
            Where it has several.

        Returns
        -------
        Confusion
            Counts over all folds, data sets and seeds.
        """
        if any(data.dataset.y.ndim > 1 for data in self.study.data):
            raise ValueError("y: found several labels a sample, expected one class each to count confusions")
        part = select(self.predictions, method, n_components)
        part = part[part["correct"].notna()]
        truth, said = (np.array(part[name].tolist()) for name in ("truth", "prediction"))
        return confusion(truth, said, classes=np.unique(np.concatenate([truth, said])))

    def vote(self, method: str, n_components: Size = None) -> pd.DataFrame:
        """One class a sample from classifiers of pairs, one against one (Xi 2007, 1.2.2.2).

        Parameters
        ----------
        method : str
            Its name.
        n_components : int or "chosen", optional
            Where it has several.

        Returns
        -------
        pandas.DataFrame
            `truth`, `prediction` and whether it is `correct`, a row a sample of a fold, data set and seed.
            The study's protocol has to be `class_pairs` with ``test="all"``.
        """
        keys = set(self.select(method, n_components)["key"])
        cells = [cell for cell in self.cells(method) if cell.key in keys]
        return vote_table(self.study.data, cells)

    def permutation_test(self, method: str) -> PermutationTest:
        """Test whether labels have to do with the data, over all numbers of components of a method.

        Parameters
        ----------
        method : str
            Its name. The study must have been run with `n_permutations`.

        Returns
        -------
        PermutationTest
            A dimension a number of components, in the order of `accuracy`; `p_max` is corrected for all of
            them.
        """
        select(self.table[["method", "n_components", "size_chosen"]], method, any_size=True)
        if not self.study.n_permutations:
            raise ValueError("n_permutations: found 0 in this study, expected some to compare with")
        return compare_permuted(self.study, self.cells(method), self.cells(method, permuted=True))

    def maps(
        self,
        method: str,
        n_components: Size = None,
        *,
        dataset: str | None = None,
        classes: tuple[Any, ...] | None = None,
    ) -> WeightMaps:
        """Weight maps of a method, from the fits of the store.

        Parameters
        ----------
        method : str
            Its name; a linear one, whose weights are made of the training samples.
        n_components : int or "chosen", optional
            Where it has several.
        dataset : str, optional
            Which data set, where there are several.
        classes : tuple, optional
            Which pair, where the protocol has pairs of classes.

        Returns
        -------
        WeightMaps
            Coefficients, Haufe's patterns, and how stable both are over the folds.
        """
        data = self._data(dataset)
        keys = set(self.select(method, n_components)["key"])
        pair = None if classes is None else list(classes)
        cells = [
            cell
            for cell in self.cells(method, dual=True)
            if cell.key in keys and cell.dataset == data.name and pair in (None, cell.extra.get("classes"))
        ]
        return weight_maps(data, cells)

    def _data(self, name: str | None) -> Prepared:
        known = {data.name: data for data in self.study.data}
        if name is None and len(known) == 1:
            return next(iter(known.values()))
        return known[check_choice(name, "dataset", tuple(known))]

    def to_csv(self, path: Any, rows: str = "cells") -> None:
        """Write a table, whole or not at all.

        Parameters
        ----------
        path : path
            The file.
        rows : {"cells", "samples"}
            What a row is.
        """
        write_csv(self._rows(rows), path)

    def to_parquet(self, path: Any, rows: str = "cells") -> None:
        """Write a table as Parquet, whole or not at all; this needs pyarrow.

        Parameters
        ----------
        path : path
            The file.
        rows : {"cells", "samples"}
            What a row is.
        """
        write_parquet(self._rows(rows), path)

    def _rows(self, rows: str) -> pd.DataFrame:
        return self.table if check_choice(rows, "rows", ROWS) == "cells" else self.predictions

    def __repr__(self) -> str:
        return "\n".join([f"StudyResult of {len(self.study)} cells", *describe(self.accuracy())])

    def _repr_html_(self) -> str:
        table = self.accuracy().round(3).astype(object)
        return str(table.where(table.notna(), "").to_html(index=False, escape=True))
