"""How weights are chosen: rules that read a table of inner accuracies, and the inner folds.

A table has a row a candidate and a column an inner fold. Candidates stand in order, the simplest first
(smallest dimension, strongest shrinkage, lowest hinge weight).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from svdecode._checks import FloatArray, IntArray, check_choice, check_count, check_index, check_number
from svdecode.imaging import Dataset
from svdecode.study.leaks import check_splits, unit_codes
from svdecode.study.making import in_order, run_labels
from svdecode.study.splits import Split, Splits

#: accuracies that differ by less are equal: means of the same correct answers in another order
ROUNDING = 1e-9


@dataclass(frozen=True)
class Rule:
    """A rule of choice.

    Attributes
    ----------
    name : str
        In tables and stores.
    reads : {"test", "training"}
        Which accuracies of the inner folds it asks for: on the samples left out, or on those fitted.
    choose : callable
        From the mean accuracies and the table to the number of a candidate.

    See Also
    --------
    RULES : All rules by name.

    Examples
    --------
    >>> from svdecode.study import RULES
    >>> RULES["best"]([[0.6, 0.8], [0.9, 0.7], [0.8, 0.8]])
    1
    """

    name: str
    reads: str
    choose: Callable[[FloatArray, FloatArray], int]

    def __call__(self, accuracies: Any, candidates: Sequence[Any] | None = None) -> int:
        """Choose a candidate.

        Parameters
        ----------
        accuracies : array of shape (n_candidates, n_inner_folds)
            Between 0 and 1; NaN where a fit failed.
        candidates : sequence, optional
            What the rows stand for, the simplest first; only counted.

        Returns
        -------
        int
            The number of its row.
        """
        table = np.asarray(accuracies, dtype=np.float64)
        if table.ndim != 2 or 0 in table.shape:
            raise ValueError(
                f"accuracies: found an array of shape {table.shape}, expected (n_candidates, n_inner_folds)"
            )
        if candidates is not None and len(candidates) != len(table):
            raise ValueError(
                f"accuracies: found {len(table)} rows, expected one for each of {len(candidates)} candidates"
            )
        known = ~np.isnan(table)
        if not known.any():
            raise ValueError("accuracies: found NaN only, expected the accuracy of some fit")
        if (table[known] < 0).any() or (table[known] > 1).any():
            raise ValueError(
                f"accuracies: found {table[known].min():g} to {table[known].max():g}, expected 0 to 1"
            )
        usable = np.flatnonzero(known.any(axis=1))
        means = np.array([row[~np.isnan(row)].mean() for row in table[usable]])
        return int(usable[self.choose(means, table[usable])])


def _first(marked: Any) -> int:
    return int(np.argmax(marked))


def _best(means: FloatArray, table: FloatArray) -> int:
    del table
    return _first(means >= means.max() - ROUNDING)


def _one_standard_error(means: FloatArray, table: FloatArray) -> int:
    of_best = table[_best(means, table)]
    of_best = of_best[~np.isnan(of_best)]
    error = of_best.std(ddof=1) / np.sqrt(len(of_best)) if len(of_best) > 1 else 0.0
    return _first(means >= means.max() - error - ROUNDING)


@dataclass(frozen=True)
class _JustBelowPerfect:
    """The highest mean below 100 %; a class, because a function made in a function can't be pickled."""

    slightly: float

    def __call__(self, means: FloatArray, table: FloatArray) -> int:
        del table
        perfect = means >= 1 - ROUNDING
        below = np.where(perfect, -np.inf, means)
        if perfect.any() and below.max() < 1 - self.slightly - ROUNDING:
            return _first(perfect)
        return _first(below >= below.max() - ROUNDING)


best = Rule("best", "test", _best)
"""The highest mean inner accuracy; of equals the simplest."""

one_standard_error = Rule("one_standard_error", "test", _one_standard_error)
"""The simplest candidate within one standard error (over the inner folds) of the best mean."""


def just_below_perfect(slightly: float = 0.1, *, reads: str = "training") -> Rule:
    """Rule of Pereira & Gordon 2006, 3.2: the lowest hinge weight with accuracy slightly below 100 %.

    The section speaks of the accuracy *on the secondary training sets*: on what the inner folds fit, which
    rises to 100 % with the weight. Of the means below 100 % the highest is taken, and of candidates that
    reach it the lowest weight. The paper leaves three cases open:

    none at 100 %
        the same: the highest mean, and its lowest weight;
    all at 100 %
        the lowest weight of all;
    nothing slightly below
        when means jump to 100 % from more than `slightly` under it, the lowest weight at 100 %.

    Parameters
    ----------
    slightly : float, default 0.1
        How far below 100 % is no longer slightly below; only asked when some candidate reaches 100 %.
    reads : {"training", "test"}, default "training"
        Accuracies on which samples of the inner folds; "test" is the other reading of the words.

    Returns
    -------
    Rule
        For candidates in the order of the hinge weight, the lowest first.

    See Also
    --------
    Rule : How it is called.

    Examples
    --------
    >>> from svdecode.study import just_below_perfect
    >>> rule = just_below_perfect()
    >>> rule([[0.7], [0.95], [0.98], [0.98], [1.0]], candidates=[1, 10, 100, 1000, 10000])
    2
    >>> rule([[0.5], [1.0], [1.0]])
    1
    """
    check_choice(reads, "reads", ("training", "test"))
    share = check_number(slightly, "slightly")
    name = "just_below_perfect" if reads == "training" else "just_below_perfect_held_out"
    return Rule(name if share == 0.1 else f"{name}({share:g})", reads, _JustBelowPerfect(share))


#: the rules by name
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (best, one_standard_error, just_below_perfect(), just_below_perfect(reads="test"))
}


def check_rule(value: Any, name: str = "choice") -> Rule:
    """Return the rule that `value` is, or names."""
    return value if isinstance(value, Rule) else RULES[check_choice(value, name, tuple(RULES))]


def inner_splits(
    dataset: Dataset, rows: Any, splits: Splits | None = None, *, n_folds: int | None = None
) -> Splits:
    """Folds of training rows, to choose weights in: of whole units wherever units are known.

    Units are what the outer protocol leaves out together (runs, subjects, cycles); without a protocol, or
    where it has none, runs of one label in all subjects; without runs, subjects; and where the rows are
    of one unit only, or none is known, samples, in five stratified folds.

    Parameters
    ----------
    dataset : Dataset
        Of which the rows are.
    rows : array of int
        Training rows of the outer split.
    splits : Splits, optional
        The outer protocol.
    n_folds : int, optional
        Cut the units into so many folds, in place of leaving one out at a time (or, of samples, five).

    Returns
    -------
    Splits
        Their rows are numbered as in the dataset, and none is outside of `rows`.

    See Also
    --------
    best, one_standard_error, just_below_perfect : What is chosen from the accuracies in them.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import inner_splits, leave_one_run_out
    >>> data = load_haxby2001_slice()
    >>> outer = leave_one_run_out(data)
    >>> inner_splits(data, outer[0].train, outer)
    Splits(inner: 11 splits of 96 samples)
    """
    chosen = check_index(rows, dataset.n_samples, "rows")
    if n_folds is not None:
        check_count(n_folds, "n_folds", minimum=2)
    units, kept_apart = _units(dataset, chosen, splits)
    folds = _folds_of_samples(dataset, chosen, n_folds or 5) if units is None else units[chosen]
    order = in_order(folds)
    if units is not None and n_folds is not None and n_folds < len(order):
        place = np.empty(order.max() + 1, dtype=np.intp)
        place[order] = np.arange(len(order)) % n_folds
        folds = place[folds]
        order = np.arange(n_folds)
    parts = tuple(
        Split(chosen[folds != fold], chosen[folds == fold], f"inner {i + 1}") for i, fold in enumerate(order)
    )
    check_splits(dataset, parts, kept_apart)
    return Splits("inner", parts, dataset.n_samples, kept_apart, units)


def _units(
    dataset: Dataset, rows: IntArray, splits: Splits | None
) -> tuple[IntArray | None, tuple[str, ...]]:
    """What is left out together inside, and what that keeps apart."""
    found: list[tuple[IntArray, tuple[str, ...]]] = []
    if splits is not None and splits.units is not None:
        found.append((splits.units, splits.kept_apart))
    if dataset.runs is not None:
        unit_codes(dataset, "runs")  # for its checks
        found.append((run_labels(dataset), ("runs",)))
    if dataset.subjects is not None:
        found.append((unit_codes(dataset, "subjects"), ("subjects",)))
    for units, kept_apart in found:
        if len(np.unique(units[rows])) > 1:
            return units, kept_apart
    return None, ()


def _folds_of_samples(dataset: Dataset, rows: IntArray, n_folds: int) -> IntArray:
    """Stratified folds where no units are known: neighbors in time stay together as far as that goes."""
    labels = dataset.y[rows] if dataset.y.ndim == 1 else np.zeros(len(rows))
    fewest = int(np.unique(labels, return_counts=True)[1].min())
    if fewest < 2:
        raise ValueError("rows: found a class with one sample only, expected at least two to choose weights")
    folds = np.empty(len(rows), dtype=np.intp)
    for number, (_, test) in enumerate(StratifiedKFold(min(n_folds, fewest)).split(labels, labels)):
        folds[test] = number
    return folds
