"""How sure an accuracy is, when samples of a run, and runs of a subject, resemble each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

from svdecode._checks import FloatArray, IntArray, check_choice, check_number
from svdecode.study.statistics.units import as_numbers, run_codes, subject_codes

OVER = ("samples", "runs", "subjects")


@dataclass(frozen=True)
class AccuracyInterval:
    """An accuracy and its confidence interval.

    Attributes
    ----------
    estimate : float
        The accuracy: of all samples, or over subjects the mean of the subjects' accuracies.
    low, high : float
        Ends of the interval, within 0 and 1.
    level : float
        The coverage asked for.
    over : str
        What the interval generalizes over: "samples", "runs" (others of these subjects) or "subjects".
    n_units : int
        How many of them there are.
    n_samples : int
        How many predictions there are.
    effective_n : float
        How many independent predictions would tell as much.
    standard_error : float
        Of the estimate, from the spread of the units.

    Examples
    --------
    >>> from svdecode.study.statistics import accuracy_interval
    >>> interval = accuracy_interval([1, 1, 0, 1] * 8, runs=[run for run in range(8) for _ in range(4)])
    >>> interval.estimate, interval.over, interval.n_units
    (0.75, 'runs', 8)
    """

    estimate: float
    low: float
    high: float
    level: float
    over: str
    n_units: int
    n_samples: int
    effective_n: float
    standard_error: float

    def __str__(self) -> str:
        return (
            f"accuracy {self.estimate:.3f}, {100 * self.level:g} % interval {self.low:.3f} to "
            f"{self.high:.3f} over {self.n_units} {self.over}"
        )


def accuracy_interval(
    correct: Any,
    *,
    runs: Any = None,
    subjects: Any = None,
    level: float = 0.95,
    over: str | None = None,
) -> AccuracyInterval:
    """Give an accuracy a confidence interval that respects runs and subjects.

    Samples of one run share its noise, so that a few hundred of them may tell no more than a few dozen
    would. The spread of the accuracies of whole runs (or subjects) says how much they tell: it gives the
    standard error, and with it the number of independent samples that would have the same. The interval
    is the exact one (Clopper & Pearson 1934) of so many samples, with a penalty for few units (Korn &
    Graubard 1998). Other than the mean ± t standard errors it stays within 0 and 1 and has a length where
    every unit is at 100 %.

    Parameters
    ----------
    correct : array of shape (n_samples,)
        Whether each prediction is right, or how often where a sample was predicted several times (with
        several seeds, say): repeated predictions of a sample are no further samples.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample.
    level : float, default 0.95
        The coverage wanted.
    over : {"subjects", "runs", "samples"}, optional
        What to generalize over. By default the largest unit that there are two of: subjects, then runs.
        "runs" with several subjects speaks of these subjects only.

    Returns
    -------
    AccuracyInterval
        The accuracy, the interval's ends, and what it rests on.

    See Also
    --------
    permutation_test : Whether the accuracy is above chance.

    Notes
    -----
    Where one subject's folds share training samples, the interval covers the accuracy of the classifiers
    that were trained, over new runs; what other training runs would change is not in it (no estimate of
    that exists: Bengio & Grandvalet 2004). Over subjects with folds of their own it is.

    Where accuracies are at 90 % or more and differ much between few units, the interval is too short: the
    one bad subject in twenty is not among five. `tests/study/statistics/test_intervals.py` has the coverage.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.study.statistics import accuracy_interval
    >>> rng = np.random.default_rng(0)
    >>> subjects = np.repeat(np.arange(6), 50)
    >>> ability = rng.uniform(0.55, 0.85, size=6)
    >>> print(accuracy_interval(rng.random(300) < ability[subjects], subjects=subjects))
    accuracy 0.643, 95 % interval 0.486 to 0.781 over 6 subjects
    """
    right = as_numbers(correct, "correct")
    if right.min() < 0 or right.max() > 1:
        raise ValueError(f"correct: found {right.min():g} to {right.max():g}, expected values from 0 to 1")
    check_number(level, "level", positive=True)
    if level >= 1:
        raise ValueError(f"level: found {level:g}, expected a number between 0 and 1")
    n = len(right)
    subject, run = subject_codes(n, subjects), run_codes(n, runs, subjects)
    kind = _over(over, runs, subjects, subject, run)
    if kind == "subjects":
        estimate, error, n_units, freedom = _over_subjects(right, subject)
    elif kind == "runs":
        estimate, error, n_units, freedom = _over_runs(right, run, subject, subjects)
    else:
        estimate, n_units, freedom = float(right.mean()), n, max(n - 1, 1)
        error = float(np.sqrt(estimate * (1 - estimate) / n))
    # rounding in sums of thirds must not turn all right into almost all right
    estimate = float(np.clip(round(estimate, 12), 0, 1))
    effective = n if error == 0 else min(estimate * (1 - estimate) / error**2, n)
    if kind != "samples":
        tail = (1 + level) / 2
        effective *= (student.ppf(tail, max(n - 1, 1)) / student.ppf(tail, freedom)) ** 2
    low, high = clopper_pearson(estimate * effective, effective, level)
    return AccuracyInterval(estimate, low, high, float(level), kind, n_units, n, float(effective), error)


def clopper_pearson(successes: float, n: float, level: float) -> tuple[float, float]:
    """The exact interval of a binomial share; `successes` and `n` need not be whole.

    Parameters
    ----------
    successes, n : float
        How many of how many.
    level : float
        The coverage wanted, a lower bound of what is had.

    Returns
    -------
    tuple of float
        Its low and its high end.

    Examples
    --------
    >>> from svdecode.study.statistics import clopper_pearson
    >>> low, high = clopper_pearson(8, 10, 0.95)
    >>> print(f"{low:.3f} {high:.3f}")
    0.444 0.975
    """
    tail = (1 - level) / 2
    failures = n - successes
    tiny = 1e-9 * n
    low = 0.0 if successes <= tiny else float(beta.ppf(tail, successes, failures + 1))
    high = 1.0 if failures <= tiny else float(beta.ppf(1 - tail, successes + 1, failures))
    return low, high


def _over(over: str | None, runs: Any, subjects: Any, subject: IntArray, run: IntArray) -> str:
    counts = {"subjects": int(subject.max()) + 1, "runs": int(run.max()) + 1, "samples": len(run)}
    given = {"subjects": subjects is not None, "runs": runs is not None, "samples": True}
    if over is None:
        return next(
            kind
            for kind in ("subjects", "runs", "samples")
            if (given[kind] and counts[kind] > 1) or kind == "samples"
        )
    check_choice(over, "over", OVER)
    if over != "samples" and (not given[over] or counts[over] < 2):
        found = f"{counts[over]} of them" if given[over] else "none"
        raise ValueError(f"{over}: found {found}, expected at least 2 to generalize over {over}")
    return over


def _over_subjects(right: FloatArray, subject: IntArray) -> tuple[float, float, int, int]:
    """The mean of the subjects' accuracies, each subject counting once, and its standard error."""
    means = np.bincount(subject, right) / np.bincount(subject)
    n = len(means)
    return float(means.mean()), float(means.std(ddof=1) / np.sqrt(n)), n, n - 1


def _over_runs(
    right: FloatArray, run: IntArray, subject: IntArray, subjects: Any
) -> tuple[float, float, int, int]:
    """The share of all samples, and its cluster-robust standard error: runs are clusters, subjects strata."""
    estimate = float(right.mean())
    residuals = np.bincount(run, right - estimate)  # one a run: large runs count more
    owner = np.zeros(len(residuals), dtype=np.intp)
    owner[run] = subject
    variance = 0.0
    for s in range(int(subject.max()) + 1):
        own = residuals[owner == s]
        if len(own) < 2:
            name = np.asarray(subjects)[np.argmax(subject == s)]
            raise ValueError(f"runs: found one run of subject {name}, expected at least 2 of every subject")
        variance += len(own) * own.var(ddof=1)
    n_runs = len(residuals)
    freedom = n_runs - int(subject.max()) - 1
    return estimate, float(np.sqrt(variance) / len(right)), n_runs, freedom
