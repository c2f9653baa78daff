"""What a search tries and on which folds, and the table of what came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedGroupKFold, check_cv

from svdecode._checks import FloatArray, IntArray, check_count, check_groups, check_number
from svdecode.svdm.fitting import Weights
from svdecode.svdm.labels import Labels, Targets

#: grids that are searched when none is given
SHRINKAGES = (0.01, 0.03, 0.1, 0.3, 1.0)
HINGE_WEIGHTS = (1e2, 1e3, 1e4, 1e5)
#: which weights a formulation has
SEARCHED = {
    "balanced": ("shrinkage",),
    "penalized": ("shrinkage",),
    "constrained": ("hinge_weight",),
    "boxed": ("hinge_weight",),
    "svm": ("shrinkage", "hinge_weight"),
}
Folds = list[tuple[IntArray, IntArray]]


def make_candidates(fixed: Weights, sizes: list[int], shrinkages: Any, hinge_weights: Any) -> list[Weights]:
    """All combinations, the simplest first: of equals the first is chosen.

    Parameters
    ----------
    fixed : Weights
        What all combinations share.
    sizes : list of int
        Values of `n_components`.
    shrinkages, hinge_weights : iterable of float or None
        Values to try.

    Returns
    -------
    list of Weights
        By size, then the strongest shrinkage, then the lowest hinge weight.
    """
    name = fixed.formulation
    strongest_first = sorted(_grid(shrinkages, "shrinkages", SHRINKAGES, name), reverse=True)
    lowest_first = sorted(_grid(hinge_weights, "hinge_weights", HINGE_WEIGHTS, name))
    return [
        replace(fixed, n_components=l, shrinkage=shrinkage, hinge_weight=hinge_weight)
        for l in sizes
        for shrinkage in strongest_first
        for hinge_weight in lowest_first
    ]


def _grid(given: Any, name: str, usual: tuple[float, ...], formulation: str) -> set[float]:
    if name.removesuffix("s") not in SEARCHED[formulation]:
        if given is not None:
            raise ValueError(f"{name}: found {given!r}, expected None ({formulation!r} has no such weight)")
        return {1.0}
    values = usual if given is None else listed(given, name)
    return {check_number(value, name, positive=name == "shrinkages") for value in values}


def sizes_of(n_components: Any) -> list[int]:
    """Dimensions to try, smallest first.

    Parameters
    ----------
    n_components : iterable of int, or int
        As the user gives it.

    Returns
    -------
    list of int
        Each once.
    """
    return sorted({check_count(l, "n_components") for l in listed(n_components, "n_components")})


def listed(values: Any, name: str) -> list[Any]:
    """An iterable parameter as a list that is not empty; a single number counts as one value.

    Parameters
    ----------
    values : iterable or number
        As the user gives it.
    name : str
        Of the parameter.

    Returns
    -------
    list
        Its values.
    """
    if isinstance(values, str) or values is None:
        raise ValueError(f"{name}: found {values!r}, expected values to try")
    if isinstance(values, np.ndarray):
        values = values.ravel().tolist()
    out = list(values) if isinstance(values, Iterable) else [values]
    if not out:
        raise ValueError(f"{name}: found no value, expected at least one to try")
    return out


def make_folds(cv: Any, targets: Targets, groups: Any) -> Folds:
    """Training and test rows of each fold.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        As the user gives it.
    targets : Targets
        Labels of all rows. Splitters see a number for each class, −1 where unknown, or the indicator.
    groups : array of shape (n,) or None
        Samples that stay together.

    Returns
    -------
    list of (train, test)
        Row numbers.
    """
    Y, n = targets.Y, len(targets.Y)
    labels: Labels = (Y > 0).astype(np.intp)
    if not targets.multilabel:
        labels = labels[:, 0] if Y.shape[1] == 1 else labels.argmax(axis=1)
        labels = np.where(Y.any(axis=1), labels, -1)
    if groups is not None:
        groups = check_groups(groups, n)
        if groups.max() == 0 and (cv is None or isinstance(cv, Integral)):
            raise ValueError("groups: found one group only, expected at least two")
        if cv is None:
            cv = LeaveOneGroupOut()
        elif isinstance(cv, Integral):  # a plain k-fold would tear the groups apart
            kind = GroupKFold if targets.multilabel else StratifiedGroupKFold
            cv = kind(check_count(cv, "cv", minimum=2))
    if isinstance(cv, str):
        raise ValueError(f"cv: found {cv!r}, expected an integer, a splitter or splits")
    splitter = check_cv(cv, labels, classifier=True)
    return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(np.zeros((n, 1)), labels, groups)]


def tabulate(candidates: list[Weights], accuracies: FloatArray, seconds: FloatArray) -> dict[str, Any]:
    """Results in the layout of `GridSearchCV.cv_results_`.

    Parameters
    ----------
    candidates : list of Weights
        The combinations.
    accuracies : array of shape (n_candidates, n_folds)
        On the test rows; NaN where none of a fold has a known label.
    seconds : array of shape (2, n_candidates, n_folds)
        For fitting, for scoring.

    Returns
    -------
    dict of arrays
        One row a combination.
    """
    names = ("n_components", *SEARCHED[candidates[0].formulation])
    mean = np.nanmean(accuracies, axis=1)
    return {
        "mean_fit_time": seconds[0].mean(axis=1),
        "std_fit_time": seconds[0].std(axis=1),
        "mean_score_time": seconds[1].mean(axis=1),
        "std_score_time": seconds[1].std(axis=1),
        **{
            f"param_{name}": np.ma.MaskedArray([getattr(c, name) for c in candidates], mask=False)
            for name in names
        },
        "params": [{name: getattr(c, name) for name in names} for c in candidates],
        **{f"split{i}_test_score": column for i, column in enumerate(accuracies.T)},
        "mean_test_score": mean,
        "std_test_score": np.nanstd(accuracies, axis=1),
        "rank_test_score": rankdata(-mean, method="min").astype(np.int32),
    }
