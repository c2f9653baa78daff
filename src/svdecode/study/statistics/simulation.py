"""Data without any effect, and how many of them it takes to trust a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from svdecode._checks import check_count, check_number
from svdecode.imaging import Dataset


@dataclass(frozen=True)
class RatePlan:
    """How many simulated studies to run, and how many positives to accept.

    Attributes
    ----------
    n : int
        Number of simulated studies.
    lowest, highest : int
        Numbers of positives that agree with the rate.
    rate : float
        The rate that is claimed.
    detects : float
        The rate that would be seen.
    power : float
        With what probability it would be.
    false_alarm : float
        With what probability a test that has the claimed rate is rejected.

    Examples
    --------
    >>> from svdecode.study.statistics import plan_rate
    >>> plan = plan_rate(0.05)
    >>> plan.accepts(round(0.05 * plan.n)), plan.accepts(round(0.1 * plan.n))
    (True, False)
    """

    n: int
    lowest: int
    highest: int
    rate: float
    detects: float
    power: float
    false_alarm: float

    def accepts(self, positives: int) -> bool:
        """Whether a number of positives agrees with the rate.

        Parameters
        ----------
        positives : int
            How many of the n studies were positive.

        Returns
        -------
        bool
            Whether it is within the bounds.
        """
        return self.lowest <= positives <= self.highest

    def __str__(self) -> str:
        return (
            f"{self.n} studies: {self.lowest} to {self.highest} positives agree with a rate of "
            f"{self.rate:g}; a rate of {self.detects:g} is seen with probability {self.power:.3f}"
        )


def plan_rate(
    rate: float, *, detects: float | None = None, power: float = 0.95, false_alarm: float = 0.01
) -> RatePlan:
    """Find how many simulated studies show that a test has its false-positive rate.

    Parameters
    ----------
    rate : float
        The nominal rate, such as 0.05.
    detects : float, optional
        The larger rate that has to be seen; by default twice the nominal one.
    power : float, default 0.95
        With what probability.
    false_alarm : float, default 0.01
        How often, at most, a test with the nominal rate may be rejected, by either bound.

    Returns
    -------
    RatePlan
        A number of studies that does, hardly more than it takes, with its binomial bounds.

    Examples
    --------
    >>> from svdecode.study.statistics import plan_rate
    >>> print(plan_rate(0.05))
    483 studies: 13 to 37 positives agree with a rate of 0.05; a rate of 0.1 is seen with probability 0.953
    """
    check_number(rate, "rate", positive=True)
    larger = 2 * rate if detects is None else check_number(detects, "detects", positive=True)
    if not rate < larger < 1:
        raise ValueError(f"detects: found {larger:g}, expected a rate between {rate:g} and 1")
    for name, value in (("power", power), ("false_alarm", false_alarm)):
        if not 0 < check_number(value, name) < 1:
            raise ValueError(f"{name}: found {value:g}, expected a number between 0 and 1")
    n = 10
    while True:
        highest = int(binom.isf(false_alarm / 2, n, rate))  # P(X > highest) is at most half
        reached = float(binom.sf(highest, n, larger))
        if reached >= power:
            break
        n += max(1, n // 50)
    lowest = int(binom.ppf(false_alarm / 2, n, rate))
    alarm = float(binom.sf(highest, n, rate) + binom.cdf(lowest - 1, n, rate))
    return RatePlan(n, lowest, highest, float(rate), float(larger), reached, alarm)


def null_dataset(
    n_runs: int = 8,
    n_per_run: int = 14,
    *,
    n_subjects: int = 1,
    n_classes: int = 2,
    n_features: int = 50,
    run_effect: float = 1.0,
    imbalance: float = 0.0,
    random_state: Any = None,
) -> Dataset:
    """Simulate data whose labels mean nothing.

    Runs differ, in the two halves of a session alike (as after a break in the scanner), and may differ in
    how many samples of each class they have: together a trap for tests that do not respect runs.

    Parameters
    ----------
    n_runs : int, default 8
        Runs of each subject.
    n_per_run : int, default 14
        Samples of each run.
    n_subjects : int, default 1
        Number of subjects.
    n_classes : int, default 2
        Number of classes; each occurs in every run.
    n_features : int, default 50
        Number of features, standard normal noise.
    run_effect : float, default 1
        Standard deviation of the halves' means, in each feature.
    imbalance : float, default 0
        Share of the samples whose class is that of the half: the first class in the first half, the second
        in the other. 0 is balanced.
    random_state : int, numpy Generator or None
        Seed.

    Returns
    -------
    Dataset
        With runs and subjects.

    Examples
    --------
    >>> from svdecode.study.statistics import null_dataset
    >>> null_dataset(4, 6, random_state=0)
    Dataset(24 samples of 50 features, 2 classes, 4 runs, 1 subject)
    """
    rng = np.random.default_rng(random_state)
    for name, count in (("n_runs", n_runs), ("n_subjects", n_subjects), ("n_features", n_features)):
        check_count(count, name)
    check_count(n_classes, "n_classes", minimum=2)
    check_count(n_per_run, "n_per_run", minimum=n_classes)
    if check_number(imbalance, "imbalance") > 1:
        raise ValueError(f"imbalance: found {imbalance:g}, expected a share from 0 to 1")
    n = n_subjects * n_runs * n_per_run
    subjects = np.repeat(np.arange(n_subjects), n_runs * n_per_run)
    runs = np.tile(np.repeat(np.arange(n_runs), n_per_run), n_subjects)
    half = (runs >= n_runs // 2).astype(np.intp)
    # in every run the classes in turn, the last ones replaced by the class of the half
    place = np.tile(np.arange(n_per_run), n_subjects * n_runs)
    turned = place >= max(n_classes, n_per_run - round(imbalance * n_per_run))
    y = np.where(turned, half, place % n_classes)
    means = check_number(run_effect, "run_effect") * rng.standard_normal((2 * n_subjects, n_features))
    X = means[2 * subjects + half] + rng.standard_normal((n, n_features))
    return Dataset(X=X, y=y, runs=runs, subjects=subjects, name="null", description="Simulated; no effect.")
