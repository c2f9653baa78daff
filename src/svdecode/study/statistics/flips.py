"""Whether a difference over subjects could as well have had the other sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, check_choice, check_count
from svdecode.study.statistics.units import ROUNDING, as_numbers, p_text

MOST_EXACT = 20
"""Up to so many subjects all 2ⁿ flips are made; beyond, some are drawn."""

CHUNK = 1 << 12
"""Flips that are made at a time."""

ALTERNATIVES = ("two-sided", "greater", "less")


@dataclass(frozen=True, eq=False)
class SignFlip:
    """What a sign-flip test found.

    Attributes
    ----------
    mean : array of shape (d,)
        Mean difference over subjects, a value a dimension; one value for a single comparison.
    p : array of shape (d,)
        p-value of each dimension by itself.
    p_max : array of shape (d,)
        p-value of each dimension, corrected for all by the maximum over them.
    resolution : float
        The smallest p-value there could have been.
    n_flips : int
        How many assignments of signs were compared.
    exact : bool
        Whether these are all there are.
    n_subjects : int
        Number of subjects.
    alternative : str
        Which differences count.

    Examples
    --------
    >>> from svdecode.study.statistics import sign_flip
    >>> test = sign_flip([0.05, 0.1, 0.02, 0.08, 0.01])
    >>> test.p, test.resolution, test.exact
    (array([0.0625]), 0.0625, True)
    """

    mean: FloatArray
    p: FloatArray
    p_max: FloatArray
    resolution: float
    n_flips: int
    exact: bool
    n_subjects: int
    alternative: str

    def __str__(self) -> str:
        best = int(np.argmin(self.p_max))
        d = len(self.mean)
        where = f" (dimension {best + 1} of {d}, corrected by the maximum over them)" if d > 1 else ""
        how = "all" if self.exact else "a sample of"
        return (
            f"mean difference {self.mean[best]:+.3f} over {self.n_subjects} subjects{where}, "
            f"{self.alternative} {p_text(self.p_max[best], self.resolution)}; {how} {self.n_flips} sign flips"
        )


def sign_flip(
    differences: Any,
    *,
    alternative: str = "two-sided",
    n_flips: int = 9999,
    random_state: int | None = 0,
) -> SignFlip:
    """Compare two methods, or one with chance, over subjects.

    If the two are equally good, each subject's difference is as likely to have the other sign. The mean
    difference is compared with those under all 2ⁿ assignments of signs.

    Parameters
    ----------
    differences : array of shape (n_subjects,) or (n_subjects, d)
        Accuracy of one method minus that of the other (or minus chance), a value a subject; with a column
        a number of components, p-values are corrected by the maximum over them too.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Which differences count as such.
    n_flips : int, default 9999
        How many signs to draw where there are more than 20 subjects, too many to try all.
    random_state : int or None, default 0
        Seed of what is drawn.

    Returns
    -------
    SignFlip
        p-values, what they can be at least, and whether they are exact.

    See Also
    --------
    corrected_resampled_t : Within one data set.

    Examples
    --------
    >>> from svdecode.study.statistics import sign_flip
    >>> print(sign_flip([0.05, 0.1, 0.02, 0.08, -0.01, 0.06], alternative="greater"))
    mean difference +0.050 over 6 subjects, greater p = 0.031; all 64 sign flips
    """
    values = as_numbers(differences, "differences", dimensions=(1, 2))
    check_choice(alternative, "alternative", ALTERNATIVES)
    values = values[:, None] if values.ndim == 1 else values
    n = len(values)
    exact = n <= MOST_EXACT
    rounding = ROUNDING * np.maximum(np.abs(values).sum(axis=0), np.finfo(float).tiny)
    observed = _extremity(values.sum(axis=0, keepdims=True), alternative)[0]
    signs = _all_signs(n) if exact else _drawn_signs(n, check_count(n_flips, "n_flips"), random_state)
    reached = np.zeros(values.shape[1])
    reached_max = np.zeros(values.shape[1])
    for part in signs:
        sums = _extremity(part @ values, alternative)
        reached += (sums >= observed - rounding).sum(axis=0)
        reached_max += (sums.max(axis=1)[:, None] >= observed - rounding).sum(axis=0)
    total = 2**n if exact else n_flips + 1
    if not exact:  # the signs as they are, are one of those that are compared
        reached, reached_max = reached + 1, reached_max + 1
    smallest = (2 if exact and alternative == "two-sided" else 1) / total
    return SignFlip(
        values.mean(axis=0), reached / total, reached_max / total, smallest, total, exact, n, alternative
    )


def _extremity(sums: FloatArray, alternative: str) -> FloatArray:
    """How far sums lie in the direction that counts."""
    if alternative == "two-sided":
        return np.abs(sums)
    return sums if alternative == "greater" else -sums


def _all_signs(n: int) -> Iterator[FloatArray]:
    """All 2ⁿ assignments of signs, some thousands of rows at a time: the digits of the numbers up to 2ⁿ."""
    for start in range(0, 2**n, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, 2**n))
        bits = (numbers[:, None] >> np.arange(n)) & 1
        yield 1.0 - 2.0 * bits.astype(np.float64)


def _drawn_signs(n: int, n_flips: int, random_state: int | None) -> Iterator[FloatArray]:
    rng = np.random.default_rng(random_state)
    for start in range(0, n_flips, CHUNK):
        yield rng.choice([-1.0, 1.0], size=(min(CHUNK, n_flips - start), n))
