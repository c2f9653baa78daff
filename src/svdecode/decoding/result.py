"""DecodingResult: what a decoding found, for tables, for maps and for the page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svdecode.decoding.whole import WholeFit, fit_whole, gensvd_widths
from svdecode.imaging import Dataset
from svdecode.study import Splits, StudyResult, WeightMaps
from svdecode.study import standardize as standardized

if TYPE_CHECKING:
    from svdecode.decoding.page import DecodingReport
    from svdecode.decoding.settings import Settings
    from svdecode.study.statistics import Confusion, PermutationTest


@dataclass(frozen=True)
class Headline:
    """An accuracy with what it takes to believe it.

    Attributes
    ----------
    method : str
        Whose it is.
    accuracy, low, high : float
        Share of the test samples that are predicted rightly, and its 95 % interval.
    over : str
        What the interval generalizes over: "subjects", "runs" or "samples".
    chance : float
        What naming the most frequent class would give.
    n_samples : int
        How many samples were predicted.

    Examples
    --------
    >>> from svdecode.decoding import Headline
    >>> Headline("SVDM", 0.84, 0.74, 0.92, over="runs", chance=0.125, n_samples=96).over
    'runs'
    """

    method: str
    accuracy: float
    low: float
    high: float
    over: str
    chance: float
    n_samples: int


class DecodingResult:
    """What `decode` found.

    Parameters
    ----------
    dataset : Dataset
        The data.
    settings : Settings
        What was done.
    splits : Splits
        Of the rows of the dataset.
    study : StudyResult
        All methods on all splits.
    null : StudyResult or None
        The permutation test's.
    anatomy : nibabel image or path, optional
        What maps are drawn on.

    See Also
    --------
    svdecode.decode : Makes one.

    Examples
    --------
    >>> from svdecode import decode
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> data = load_haxby2001_slice()
    >>> data = data.select((data.y == "face") | (data.y == "house"))
    >>> result = decode(data, methods="svdm", components=2, n_permutations=0)
    >>> result.table[["method", "accuracy"]]
      method  accuracy
    0   SVDM       1.0
    """

    def __init__(
        self,
        dataset: Dataset,
        settings: Settings,
        splits: Splits,
        study: StudyResult,
        null: StudyResult | None,
        *,
        anatomy: Any = None,
    ) -> None:
        self.dataset, self.settings, self.splits = dataset, settings, splits
        self.study, self.null = study, null
        self.anatomy = anatomy

    @property
    def methods(self) -> list[str]:
        """Names of the methods, the one that the report is about first."""
        return [method.name for method in self.settings.methods]

    def size(self, method: str) -> int | str | None:
        """Which number of components speaks for a method: the one chosen inside, where there were several.

        Parameters
        ----------
        method : str
            Its name.

        Returns
        -------
        int, "chosen" or None
            As `StudyResult.select` takes it.
        """
        sizes = next(m.sizes for m in self.settings.methods if m.name == method)
        return None if sizes is None else "chosen" if len(sizes) > 1 else sizes[0]

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """A row a method and number of components, those chosen inside among them."""
        return self.study.accuracy()

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a method, with the number of components that was chosen inside."""
        rows: list[pd.DataFrame] = [self.accuracies[self._speaks(method)] for method in self.methods]
        return pd.concat(rows, ignore_index=True)

    def _speaks(self, method: str) -> Any:
        of, size = self.accuracies["method"] == method, self.size(method)
        if size == "chosen":
            return of & self.accuracies["size_chosen"]
        return of if size is None else of & (self.accuracies["n_components"] == size)

    @property
    def headline(self) -> Headline:
        """Accuracy of the first method."""
        row = self.table.iloc[0]
        return Headline(
            str(row["method"]),
            float(row["accuracy"]),
            float(row["low"]),
            float(row["high"]),
            str(row["over"]),
            float(row["chance"]),
            int(row["n_samples"]),
        )

    @cached_property
    def permutation(self) -> PermutationTest | None:
        """The permutation test, where there was one."""
        return None if self.null is None else self.null.permutation_test(self.null.study.methods[0].name)

    def comparisons(self) -> dict[str, Any]:
        """Compare the first method with each of the others, on the same splits.

        Returns
        -------
        dict of str to SignFlip or ResampledT
            By the other method's name; over subjects where there are several.
        """
        first = self.methods[0]
        out = {}
        for other in self.methods[1:]:
            try:
                out[other] = self.study.compare(first, other, self.size(first) or self.size(other))
            except ValueError:  # as with a single split
                continue
        return out

    def confusion(self, method: str | None = None) -> Confusion:
        """Which classes are taken for which.

        Parameters
        ----------
        method : str, optional
            By default the first.

        Returns
        -------
        Confusion
            Counts over all splits.
        """
        name = method or self.methods[0]
        return self.study.confusion(name, self.size(name))

    def folds(self, method: str) -> pd.DataFrame:
        """Accuracy of each split.

        Parameters
        ----------
        method : str
            Its name.

        Returns
        -------
        pandas.DataFrame
            In the order of the splits.
        """
        rows = self.study.select(method, self.size(method)).set_index("fold")
        return pd.DataFrame(rows.loc[[part.name for part in self.splits]]).reset_index()

    def predictions(self, method: str) -> pd.DataFrame:
        """Prediction of each test sample.

        Parameters
        ----------
        method : str
            Its name.

        Returns
        -------
        pandas.DataFrame
            A row a sample and split.
        """
        table = self.study.predictions
        keys = set(self.study.select(method, self.size(method))["key"])
        return table[table["key"].isin(keys)]

    @cached_property
    def _maps(self) -> dict[str, WeightMaps]:
        found = {}
        for method in self.methods:
            try:
                found[method] = self.study.maps(method, self.size(method))
            except ValueError:  # a method without a map, or splits of different classes
                continue
        return found

    def maps(self) -> dict[str, WeightMaps]:
        """Maps of all methods that have one.

        Returns
        -------
        dict of str to WeightMaps
            By the method's name.
        """
        return self._maps

    @cached_property
    def standardized(self) -> Dataset:
        """All samples, standardized as the fit on all of them sees them."""
        by = self.settings.standardize
        rows = np.arange(self.dataset.n_samples) if by == "training" else None
        return standardized(self.dataset, by, rows=rows)

    @cached_property
    def whole(self) -> WholeFit | None:
        """The SVDM on all samples, for its components; None where no SVDM was asked for."""
        return fit_whole(self)

    @cached_property
    def widths(self) -> dict[str, Any]:
        """Standard deviation of each component of training and new samples, over the splits."""
        return gensvd_widths(self)

    @cached_property
    def images(self) -> dict[str, Any]:
        """All maps as images, by the names of their files; empty where features have no places."""
        from svdecode.decoding.images import map_images

        return map_images(self)

    def report(self) -> DecodingReport:
        """Make the page.

        Returns
        -------
        DecodingReport
            `save` writes it, `html()` returns it; a notebook shows it.
        """
        from svdecode.decoding.page import DecodingReport

        return DecodingReport(self)

    def save(self, folder: Any) -> None:
        """Write the page, the tables, the maps and what made them into a folder, all of it or nothing.

        Parameters
        ----------
        folder : path
            Made if it is not there.
        """
        from svdecode.decoding.files import write_results
        from svdecode.report.output import output_folder

        with output_folder(folder, "folder") as output:
            write_results(self, output)

    def __repr__(self) -> str:
        lines = [f"DecodingResult of {self.dataset!r} by {self.settings.protocol}"]
        for row in self.table.to_dict("records"):
            lines.append(
                f"  {row['method']}: {row['accuracy']:.3f} ({row['low']:.3f} to {row['high']:.3f}), "
                f"chance {row['chance']:.3f}"
            )
        if self.permutation is not None:
            lines.append(f"  permutation test: {self.permutation}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
