"""Permutation tests: the whole analysis again with labels that mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import FloatArray, check_count
from svdecode.study.statistics.exchange import count_arrangements, permutations
from svdecode.study.statistics.units import ROUNDING, as_numbers, p_text


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """What a permutation test found.

    Attributes
    ----------
    statistic : array of shape (d,)
        The statistic with the true labels, a value a dimension; one value for a single statistic.
    p : array of shape (d,)
        p-value of each dimension by itself.
    p_max : array of shape (d,)
        p-value of each dimension, corrected for all: how often the largest of the d statistics reaches it
        under permutation. `p_max.min()` tests whether there is anything in any dimension.
    resolution : float
        The smallest p-value there could have been.
    n_permutations : int
        Number of permutations.
    null : array of shape (n_permutations, d)
        The statistic under permutation.

    Examples
    --------
    >>> from svdecode.study.statistics import compare_with_null
    >>> test = compare_with_null([0.9, 0.6], [[0.5, 0.4], [0.4, 0.6], [0.6, 0.5], [0.5, 0.5]])
    >>> test.p, test.p_max, test.resolution
    (array([0.2, 0.4]), array([0.2, 0.6]), 0.2)
    """

    statistic: FloatArray
    p: FloatArray
    p_max: FloatArray
    resolution: float
    n_permutations: int
    null: FloatArray

    def __str__(self) -> str:
        best = int(np.argmin(self.p_max))
        d = len(self.statistic)
        where = f" (dimension {best + 1} of {d}, corrected by the maximum over them)" if d > 1 else ""
        return (
            f"statistic {self.statistic[best]:.4g}{where}, {p_text(self.p_max[best], self.resolution)}; "
            f"{self.n_permutations} permutations, mean {self.null[:, best].mean():.4g}"
        )


def permutation_test(
    score: Callable[[npt.NDArray[Any]], Any],
    y: Any,
    *,
    runs: Any = None,
    subjects: Any = None,
    n_permutations: int = 999,
    random_state: int | None = 0,
) -> PermutationTest:
    """Test whether labels have to do with the data: everything is done again with permuted labels.

    Labels change places within each run (of each subject): what runs differ in, and how many samples of a
    class a run has, is the same in every permutation, so it can't make the true labels look better.

    Parameters
    ----------
    score : callable
        Takes labels like `y`, does *all* of the analysis with them (choosing of weights, training,
        testing) and returns the statistic, large where labels and data agree: the accuracy, or an array
        of accuracies, one a number of components.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        The true labels.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample.
    n_permutations : int, default 999
        How often. The smallest p-value there can be is 1 / (n_permutations + 1).
    random_state : int or None, default 0
        Seed.

    Returns
    -------
    PermutationTest
        p-values, by themselves and corrected by the maximum over dimensions.

    See Also
    --------
    compare_with_null : The same for statistics that were computed elsewhere.
    permutations : The permuted labels.

    Notes
    -----
    p = (1 + number of permutations that reach the statistic) / (1 + number of permutations): the true
    labels are one of the arrangements, so the test keeps its level exactly (Phipson & Smyth 2010). Over
    dimensions the largest statistic is compared with the largest (Westfall & Young 1993; Nichols & Holmes
    2002).

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.study.statistics import permutation_test
    >>> y, runs = np.array([0, 1, 1, 0] * 6), np.repeat(np.arange(6), 4)
    >>> x = y + np.random.default_rng(0).normal(size=24)
    >>> test = permutation_test(lambda labels: x[labels == 1].mean() - x[labels == 0].mean(), y, runs=runs)
    >>> test.p, test.resolution
    (array([0.001]), 0.001)
    """
    labels = np.asarray(y)
    check_count(n_permutations, "n_permutations")
    permuted = permutations(
        labels, runs=runs, subjects=subjects, n_permutations=n_permutations, random_state=random_state
    )
    statistic = np.atleast_1d(np.asarray(score(labels), dtype=np.float64))
    null = np.array([np.atleast_1d(np.asarray(score(other), dtype=np.float64)) for other in permuted])
    return compare_with_null(
        statistic, null, n_arrangements=count_arrangements(labels, runs=runs, subjects=subjects)
    )


def compare_with_null(statistic: Any, null: Any, *, n_arrangements: int | None = None) -> PermutationTest:
    """Compare statistics with those under permutation.

    Parameters
    ----------
    statistic : float or array of shape (d,)
        With the true labels.
    null : array of shape (n_permutations,) or (n_permutations, d)
        With permuted labels; a row must come from one permutation, for all d.
    n_arrangements : int, optional
        How many arrangements of the labels there are (`count_arrangements`): fewer than permutations
        limit how small a p-value can be.

    Returns
    -------
    PermutationTest
        p-values, by themselves and corrected by the maximum.

    Examples
    --------
    >>> from svdecode.study.statistics import compare_with_null
    >>> print(compare_with_null(0.8, [0.5, 0.6, 0.4]))
    statistic 0.8, p = 0.250, the smallest there can be; 3 permutations, mean 0.5
    """
    observed = np.atleast_1d(as_numbers(statistic, "statistic", dimensions=(0, 1)))
    under = as_numbers(null, "null", dimensions=(1, 2))
    under = under[:, None] if under.ndim == 1 else under
    if under.shape[1] != len(observed):
        raise ValueError(f"null: found {under.shape[1]} columns, expected {len(observed)}, as of statistic")
    n = len(under)
    reached = observed - ROUNDING * np.maximum(1.0, np.abs(observed))
    p = (1 + (under >= reached).sum(axis=0)) / (n + 1)
    p_max = (1 + (under.max(axis=1)[:, None] >= reached).sum(axis=0)) / (n + 1)
    resolution = p_resolution(n)
    if n_arrangements is not None:
        resolution = max(resolution, 1 / n_arrangements)
    return PermutationTest(observed, p, p_max, resolution, n, under)


def p_resolution(n_permutations: int) -> float:
    """Return the smallest p-value that a number of permutations can give.

    Parameters
    ----------
    n_permutations : int
        How many.

    Returns
    -------
    float
        1 / (n_permutations + 1); p-values are multiples of it.

    Examples
    --------
    >>> from svdecode.study.statistics import p_resolution
    >>> p_resolution(999)
    0.001
    """
    return 1 / (check_count(n_permutations, "n_permutations") + 1)
