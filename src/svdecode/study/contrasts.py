"""Two methods of a study against each other, and one against permuted labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from svdecode.study.cells import Cell
from svdecode.study.statistics import (
    PermutationTest,
    ResampledT,
    SignFlip,
    compare_with_null,
    corrected_resampled_t,
    sign_flip,
)
from svdecode.study.statistics.exchange import count_arrangements
from svdecode.study.summaries import Size, groups_of, per_sample

if TYPE_CHECKING:
    from svdecode.study.runner import Study


def compare_sides(
    study: Study, first: pd.DataFrame, second: pd.DataFrame, alternative: str
) -> SignFlip | ResampledT:
    """Compare two methods on the same folds.

    Parameters
    ----------
    study : Study
        The study.
    first, second : pandas.DataFrame
        Samples of each.
    alternative : {"two-sided", "greater", "less"}
        Of the sign-flip test.

    Returns
    -------
    SignFlip or ResampledT
        Over subjects or data sets where there are two, else over folds.
    """
    units = [by_units(side) for side in (first, second)]
    if len(units[0]) > 1:
        return sign_flip((units[0] - units[1]).to_numpy(), alternative=alternative)
    if alternative != "two-sided":
        raise ValueError(
            f"alternative: found {alternative!r} within one subject, expected 'two-sided', as the corrected "
            "t-test is"
        )
    folds = [side.groupby(["dataset", "fold"])["correct"].mean().astype(float) for side in (first, second)]
    splits = [part for data in study.data for part in data.splits]
    return corrected_resampled_t(
        (folds[0] - folds[1]).to_numpy(),
        n_train=float(np.mean([len(part.train) for part in splits])),
        n_test=float(np.mean([len(part.test) for part in splits])),
    )


def by_units(part: pd.DataFrame) -> pd.Series[float]:
    """Accuracy of each subject that was tested, or of each data set where subjects are not known.

    Parameters
    ----------
    part : pandas.DataFrame
        Of samples of one method and number of components.

    Returns
    -------
    pandas.Series
        By the unit's name.
    """
    samples = per_sample(part[part["correct"].notna()])
    _, subjects = groups_of(samples)
    units = np.zeros(len(samples), dtype=int) if subjects is None else subjects
    return samples.groupby(units)["correct"].mean()


def compare_permuted(study: Study, true: Iterable[Cell], permuted: Iterable[Cell]) -> PermutationTest:
    """Compare accuracies with those under permutation.

    Parameters
    ----------
    study : Study
        The study.
    true, permuted : iterable of Cell
        Of one method.

    Returns
    -------
    PermutationTest
        A dimension a number of components.
    """
    observed, null = mean_accuracies(true)[0], mean_accuracies(permuted)
    under = np.array([[null[i][size] for size in observed] for i in sorted(null)])
    arrangements = 1
    for data in study.data:
        d = data.dataset
        arrangements *= count_arrangements(d.y, runs=d.runs, subjects=d.subjects)
    return compare_with_null(list(observed.values()), under, n_arrangements=arrangements)


def mean_accuracies(cells: Iterable[Cell]) -> dict[int, dict[Size, float]]:
    """Mean accuracy over all test samples.

    Parameters
    ----------
    cells : iterable of Cell
        Of one method.

    Returns
    -------
    dict of int to dict of int to float
        By permutation, then by number of components, None (chosen inside, or none) last.
    """
    sums: dict[int, dict[int | None, list[float]]] = {}
    for cell in cells:
        if np.isnan(cell.accuracy):
            continue
        of = sums.setdefault(int(cell.extra.get("permutation", 0)), {})
        total = of.setdefault(cell.n_components, [0.0, 0.0])
        total[0] += cell.accuracy * len(cell.test_rows)
        total[1] += len(cell.test_rows)
    return {
        number: {
            size: of[size][0] / of[size][1] for size in sorted(of, key=lambda size: (size is None, size or 0))
        }
        for number, of in sums.items()
    }
