"""Whether one method is better than another on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t as student

from svdecode._checks import check_number
from svdecode.study.statistics.units import ROUNDING, as_numbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ResampledT:
    """What a corrected resampled t-test found.

    Attributes
    ----------
    mean : float
        Mean difference over the folds.
    low, high : float
        Ends of its confidence interval.
    level : float
        The interval's level.
    statistic : float
        t.
    df : int
        Its degrees of freedom.
    p : float
        Two-sided p-value.

    Examples
    --------
    >>> from svdecode.study.statistics import corrected_resampled_t
    >>> corrected_resampled_t([0.1, 0.0, 0.05, 0.1], n_train=70, n_test=10).df
    3
    """

    mean: float
    low: float
    high: float
    level: float
    statistic: float
    df: int
    p: float

    def __str__(self) -> str:
        return (
            f"difference {self.mean:+.3f}, {100 * self.level:g} % interval {self.low:+.3f} to "
            f"{self.high:+.3f}, corrected t({self.df}) = {self.statistic:.2f}, p = {self.p:.3g}"
        )


def corrected_resampled_t(
    differences: Any, *, n_train: float, n_test: float, level: float = 0.95
) -> ResampledT:
    """Compare two methods on the same random splits of one data set.

    t = d̄ / √((1/J + n_test/n_train) s²) with the mean d̄ and the variance s² of the J folds' differences.
    Folds share training samples, so their differences vary together and s²/J is too small by far; the
    second term makes up for that (Nadeau & Bengio 2003, equation 11).

    Parameters
    ----------
    differences : array of shape (J,)
        Accuracy of one method minus that of the other, a value a fold.
    n_train, n_test : float
        Samples on either side of a fold, on average.
    level : float, default 0.95
        Of the confidence interval.

    Returns
    -------
    ResampledT
        The mean difference, its interval, t and p.

    See Also
    --------
    sign_flip : Over subjects, which are independent of each other; exact.

    Notes
    -----
    It speaks of other samples of the same kind as these: of this subject, not of others. The correction is
    an approximation, made for repeated random splits: on noise, between 5 and 10 % of small studies are
    significant at the level of 5 % (a plain t-test: more than a quarter of them;
    `tests/study/statistics/test_false_positives.py`).

    Examples
    --------
    >>> from svdecode.study.statistics import corrected_resampled_t
    >>> print(corrected_resampled_t([0.1, 0.0, 0.05, 0.1, 0.05, 0.15], n_train=70, n_test=14))
    difference +0.075, 95 % interval -0.007 to +0.157, corrected t(5) = 2.36, p = 0.0646
    """
    values = as_numbers(differences, "differences")
    check_number(n_train, "n_train", positive=True)
    check_number(n_test, "n_test", positive=True)
    check_number(level, "level", positive=True)
    if level >= 1:
        raise ValueError(f"level: found {level:g}, expected a number between 0 and 1")
    folds = len(values)
    if folds < 2:
        raise ValueError("differences: found 1 fold, expected at least 2")
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    if np.sqrt(variance) <= ROUNDING * max(1.0, np.abs(values).max()):
        if abs(mean) > ROUNDING:
            raise ValueError(
                f"differences: found {mean:g} in every fold, expected values that vary: their spread "
                "tells the test how sure they are"
            )
        return ResampledT(0.0, 0.0, 0.0, float(level), 0.0, folds - 1, 1.0)
    error = float(np.sqrt((1 / folds + n_test / n_train) * variance))
    statistic = mean / error
    reach = float(student.ppf((1 + level) / 2, folds - 1)) * error
    p = float(2 * student.sf(abs(statistic), folds - 1))
    return ResampledT(mean, mean - reach, mean + reach, float(level), statistic, folds - 1, p)


def paired_differences(
    table: pd.DataFrame,
    first: str,
    second: str,
    *,
    of: str = "accuracy",
    by: Sequence[str] = ("dataset", "fold", "seed"),
) -> pd.Series[float]:
    """Take the differences of two methods in a table of cells.

    Parameters
    ----------
    table : pandas.DataFrame
        A row a cell, as `Store.to_frame` gives; choose a number of components before.
    first, second : str
        Names of the methods.
    of : str, default "accuracy"
        Which column to compare.
    by : sequence of str, default ("dataset", "fold", "seed")
        What a pair has in common. Each combination must occur once in each method.

    Returns
    -------
    pandas.Series
        The first's minus the second's value, by what they have in common.

    Examples
    --------
    >>> import pandas as pd
    >>> from svdecode.study.statistics import paired_differences
    >>> table = pd.DataFrame({"method": ["a", "a", "b", "b"], "fold": ["1", "2", "2", "1"],
    ...                       "accuracy": [0.9, 0.8, 0.5, 0.75]})
    >>> paired_differences(table, "a", "b", by=["fold"]).round(2).tolist()
    [0.15, 0.3]
    """
    sides = []
    for name in (first, second):
        side = table[table["method"] == name]
        if len(side) == 0:
            known = ", ".join(map(repr, sorted(table["method"].unique())))
            raise ValueError(f"table: found no method {name!r}, expected one of {known}")
        if side.duplicated(list(by)).any():
            raise ValueError(
                f"table: found several cells of {name!r} for one {' and '.join(by)}, expected one: choose a "
                "number of components, or average before"
            )
        sides.append(side.set_index(list(by))[of].sort_index())
    alone = sides[0].index.symmetric_difference(sides[1].index)
    if len(alone):
        raise ValueError(
            f"table: found {len(alone)} cells of one method only (such as {alone[0]}), expected the same "
            f"{', '.join(by)} for both"
        )
    return sides[0] - sides[1]
