"""StudyResult: tables, tests and maps of a study, all from its store."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svdecode.study.cells import Cell
from svdecode.study.maps import WeightMaps, weight_maps
from svdecode.study.statistics import (
    Confusion,
    PermutationTest,
    ResampledT,
    SignFlip,
    accuracy_interval,
    compare_with_null,
    confusion,
    corrected_resampled_t,
    paired_differences,
    sign_flip,
)
from svdecode.study.statistics.exchange import count_arrangements

if TYPE_CHECKING:
    from svdecode.study.prepared import Prepared
    from svdecode.study.runner import Keeper, Study

CHOSEN_INSIDE = "chosen"
"""What stands for a number of components that was chosen inside, in tables and arguments."""


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
    >>> methods = [METHODS["svdm"](sizes=[6], shrinkage=0.1), METHODS["ridge"](alpha=1.0)]
    >>> result = Study(load_haxby2001_slice(), methods).run()
    >>> result.accuracy().round(2)[["method", "accuracy", "chance"]]
      method  accuracy  chance
    0  ridge      0.83    0.12
    1   svdm      0.77    0.12
    >>> print(result.compare("svdm", "ridge"))
    difference -0.062, 95 % interval -0.160 to +0.035, corrected t(11) = -1.41, p = 0.185
    """

    def __init__(self, study: Study, keeper: Keeper) -> None:
        self.study = study
        self._keeper = keeper

    @property
    def store(self) -> Any:
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
        keys = [
            cell.key
            for group in self.study.groups
            if (group.permutation > 0) == permuted and method in (None, group.method.name)
            for cell in group.cells
        ]
        yield from self.store.cells(keys, dual=dual)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a cell, with the true labels: accuracy, what was chosen, seconds, stationarity."""
        return self._marked(self.store.to_frame("cells", self._true_keys))

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """One row a test sample of a cell: truth and prediction."""
        return self._marked(self.store.to_frame("samples", self._true_keys))

    @property
    def _true_keys(self) -> list[str]:
        return [cell.key for group in self.study.groups if not group.permutation for cell in group.cells]

    def _marked(self, table: pd.DataFrame) -> pd.DataFrame:
        """Tell sizes chosen inside from methods without components."""
        sized = {method.name for method in self.study.methods if method.sizes is not None}
        inside = table["n_components"].isna() & table["method"].isin(sized)
        table.insert(list(table.columns).index("n_components") + 1, "size_chosen", inside)
        return table

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
            class of the test rows.
        """
        keys = ["method", "n_components", "size_chosen"] + (["dataset"] if by_dataset else [])
        rows = []
        for values, part in self.predictions.groupby(keys, dropna=False, sort=True):
            per_sample = part.groupby(["dataset", "row"])["correct"].mean().astype(float)
            of = per_sample.index.get_level_values("dataset").to_numpy()
            row = per_sample.index.get_level_values("row").to_numpy(dtype=np.intp)
            runs, subjects = self._units(of, row)
            try:
                interval = accuracy_interval(per_sample.to_numpy(), runs=runs, subjects=subjects, level=level)
                ends = (interval.estimate, interval.low, interval.high, interval.over)
            except ValueError:
                ends = (float(per_sample.mean()), np.nan, np.nan, "samples")
            rows.append((*values, *ends, _chance(part), len(per_sample), part["seed"].nunique(dropna=False)))
        columns = [*keys, "accuracy", "low", "high", "over", "chance", "n_samples", "n_seeds"]
        return pd.DataFrame(rows, columns=columns)

    def _units(self, of: Any, row: Any) -> tuple[Any, Any]:
        """Runs and subjects of samples of several data sets; without subjects data sets take their place."""
        found: dict[str, Any] = {}
        for name in ("runs", "subjects"):
            known = {data.name: getattr(data.dataset, name) for data in self.study.data}
            if all(values is not None for values in known.values()):
                found[name] = np.array([f"{d} {known[d][i]}" for d, i in zip(of, row, strict=True)])
        if "subjects" not in found and len(self.study.data) > 1:
            found["subjects"] = of
        return found.get("runs"), found.get("subjects")

    def select(self, method: str, n_components: int | str | None = None) -> pd.DataFrame:
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
        return _select(self.table, method, n_components)

    def compare(
        self,
        first: str,
        second: str,
        n_components: int | str | None = None,
        *,
        alternative: str = "two-sided",
    ) -> SignFlip | ResampledT:
        """Compare two methods on the same folds.

        Parameters
        ----------
        first, second : str
            Names of the methods.
        n_components : int or "chosen", optional
            Of both, where they have several.
        alternative : {"two-sided", "greater", "less"}, default "two-sided"
            Of the sign-flip test.

        Returns
        -------
        SignFlip or ResampledT
            Over subjects or data sets, where there are at least two: all signs are flipped. Within one:
            the corrected resampled t-test over folds.
        """
        both = pd.concat([self.select(first, n_components), self.select(second, n_components)])
        means = both.groupby(["method", "dataset", "fold"])["accuracy"].mean().reset_index()
        differences = paired_differences(means, first, second, by=("dataset", "fold"))
        units = self._unit_of_folds()
        named = [units.get(index, "") for index in differences.index]
        if len(set(named)) > 1:
            return sign_flip(differences.groupby(named).mean().to_numpy(), alternative=alternative)
        split = [part for data in self.study.data for part in data.splits]
        return corrected_resampled_t(
            differences.to_numpy(),
            n_train=float(np.mean([len(part.train) for part in split])),
            n_test=float(np.mean([len(part.test) for part in split])),
        )

    def _unit_of_folds(self) -> dict[tuple[str, str], str]:
        """The subject, or else the data set, that a fold tests."""
        units = {}
        several = len(self.study.data) > 1
        for data in self.study.data:
            for part in data.splits:
                subjects = data.dataset.subjects
                tested = [] if subjects is None else np.unique(subjects[part.test]).tolist()
                own = f" {tested[0]}" if len(tested) == 1 else ""
                units[data.name, part.name] = f"{data.name}{own}" if several or own else ""
        return units

    def confusion(self, method: str, n_components: int | str | None = None) -> Confusion:
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
        part = _select(self.predictions, method, n_components)
        classes = np.unique(np.concatenate([data.dataset.classes for data in self.study.data]))
        kind = classes.dtype.type
        truth, said = (np.array(part[name].tolist()).astype(kind) for name in ("truth", "prediction"))
        return confusion(truth, said, classes=classes)

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
        if not self.study.n_permutations:
            raise ValueError("n_permutations: found 0 in this study, expected some to compare with")
        true = self._means(self.cells(method))[0]
        null = self._means(self.cells(method, permuted=True))
        under = np.array([[null[i][size] for size in true] for i in sorted(null)])
        arrangements = 1
        for data in self.study.data:
            d = data.dataset
            arrangements *= count_arrangements(d.y, runs=d.runs, subjects=d.subjects)
        return compare_with_null(list(true.values()), under, n_arrangements=arrangements)

    def _means(self, cells: Iterator[Cell]) -> dict[int, dict[Any, float]]:
        """Mean accuracy over samples, by permutation and number of components."""
        sums: dict[int, dict[Any, list[float]]] = {}
        for cell in cells:
            of = sums.setdefault(int(cell.extra.get("permutation", 0)), {})
            total = of.setdefault(cell.n_components, [0.0, 0.0])
            total[0] += cell.accuracy * len(cell.test_rows)
            total[1] += len(cell.test_rows)
        sizes = {perm: sorted(of, key=lambda size: (size is None, size or 0)) for perm, of in sums.items()}
        return {perm: {s: of[s][0] / of[s][1] for s in sizes[perm]} for perm, of in sums.items()}

    def maps(
        self, method: str, n_components: int | str | None = None, *, dataset: str | None = None
    ) -> WeightMaps:
        """Weight maps of a method, from the fits of the store.

        Parameters
        ----------
        method : str
            Its name; a linear one that knows the samples by their inner products.
        n_components : int or "chosen", optional
            Where it has several.
        dataset : str, optional
            Which data set, where there are several.

        Returns
        -------
        WeightMaps
            Coefficients, Haufe's patterns, and how stable both are over the folds.
        """
        data = self._data(dataset)
        keys = set(_select(self.table, method, n_components)["key"])
        cells = [c for c in self.cells(method, dual=True) if c.key in keys and c.dataset == data.name]
        return weight_maps(data, cells)

    def _data(self, name: str | None) -> Prepared:
        known = {data.name: data for data in self.study.data}
        if name is None and len(known) == 1:
            return next(iter(known.values()))
        if name not in known:
            raise ValueError(f"dataset: found {name!r}, expected one of {', '.join(map(repr, known))}")
        return known[name]

    def to_csv(self, path: Any, rows: str = "cells") -> None:
        """Write a table, whole or not at all.

        Parameters
        ----------
        path : path
            The file.
        rows : {"cells", "samples"}
            What a row is.
        """
        from svdecode.study.tables import write_csv

        write_csv(self.table if rows == "cells" else self.predictions, path)

    def __repr__(self) -> str:
        lines = [f"StudyResult of {len(self.study)} cells"]
        for row in self.accuracy().to_dict("records"):
            of = "" if pd.isna(row["n_components"]) else f", {row['n_components']} components"
            of = ", components chosen inside" if row["size_chosen"] else of
            ends = f"({row['low']:.3f} to {row['high']:.3f})"
            lines.append(f"  {row['method']}{of}: {row['accuracy']:.3f} {ends}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(self.accuracy().round(3).to_html(index=False, escape=True))


def _select(table: pd.DataFrame, method: str, n_components: int | str | None) -> pd.DataFrame:
    part = table[table["method"] == method]
    if part.empty:
        known = ", ".join(map(repr, sorted(table["method"].unique())))
        raise ValueError(f"method: found {method!r}, expected one of {known}")
    has_sizes = part["size_chosen"].any() or part["n_components"].notna().any()
    if n_components == CHOSEN_INSIDE and has_sizes:
        part = part[part["size_chosen"]]
    elif n_components is not None and has_sizes:
        part = part[part["n_components"] == n_components]
    sizes = part[["n_components", "size_chosen"]].drop_duplicates()
    if len(sizes) != 1:
        found = sorted(table[table["method"] == method]["n_components"].dropna().unique().tolist())
        raise ValueError(
            f"n_components: found {n_components!r} for {method!r}, expected one of {found} or "
            f"{CHOSEN_INSIDE!r}"
        )
    return part


def _chance(part: pd.DataFrame) -> float:
    """Share of the most frequent class among the test rows."""
    shares: pd.Series[float] = part["truth"].astype(str).value_counts(normalize=True)
    return float(shares.iloc[0])
