"""One split of a study by scikit-learn estimators: choose inside, fit, predict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from svdecode._checks import FloatArray, IntArray
from svdecode.study.choice import Rule
from svdecode.study.methods import Method
from svdecode.study.outcomes import CHOSEN, Outcome
from svdecode.study.prepared import Prepared, classes_of, eval_rows
from svdecode.study.weights import coefficients
from svdecode.svdm.labels import accuracy


def run_split(
    data: Prepared, number: int, method: Method, sizes: Sequence[int | None], rule: Rule, seed: int | None
) -> list[Outcome]:
    """Outcomes of one split, one a size.

    Parameters
    ----------
    data : Prepared
        The data.
    number : int
        Of the split.
    method : Method
        What is fitted.
    sizes : sequence of int or None
        Numbers of components; `CHOSEN` for one that is chosen among the method's.
    rule : Rule
        How parameters are chosen.
    seed : int or None
        For a method that is seeded.

    Returns
    -------
    list of Outcome
        In the order of `sizes`.
    """
    data = data.of_split(number)
    split, X, y = data.splits[number], data.columns(method.needs), data.dataset.y
    extra = {"random_state": seed} if method.seeded and seed is not None else {}
    tables: dict[int | None, FloatArray] = {}
    out = []
    for size in sizes:
        began = time.perf_counter()
        reported = list(method.sizes or ()) if size == CHOSEN else [size]
        candidates = [(l, parameters) for l in reported for parameters in method.candidates()]
        chosen, inner = 0, float("nan")
        if len(candidates) > 1:
            for l in reported:
                if l not in tables:
                    tables[l] = _inner_table(data, number, method, l, rule, extra)
            table = np.vstack([tables[l] for l in reported])
            chosen = rule(table, candidates)
            inner = float(np.nanmean(table[chosen]))
        l, parameters = candidates[chosen]
        fitted, converged = _fit(method.estimator(l, **parameters, **extra), X[split.train], y[split.train])
        named = {**parameters, **({"n_components": l} if size == CHOSEN else {})}
        out.append(
            Outcome(
                size,
                getattr(fitted, "classes_", classes_of(y, split.train)),
                fitted.predict(X[split.test]),
                _scores(fitted, X[split.test]),
                named,
                inner,
                time.perf_counter() - began,
                converged=converged,
                dual=_dual(data, method, fitted, split.train),
            )
        )
    return out


def _inner_table(
    data: Prepared, number: int, method: Method, size: int | None, rule: Rule, extra: dict[str, Any]
) -> FloatArray:
    """Accuracies: a row a candidate, a column an inner fold."""
    X, y, candidates = data.columns(method.needs), data.dataset.y, method.candidates()
    folds = data.inner(number)
    table = np.empty((len(candidates), len(folds)))
    for j, fold in enumerate(folds):
        train, rows = X[fold.train], eval_rows(fold, rule.reads)
        for i, parameters in enumerate(candidates):
            fitted, _ = _fit(method.estimator(size, **parameters, **extra), train, y[fold.train])
            table[i, j] = accuracy(y[rows], fitted.predict(X[rows]))
    return table


def _fit(estimator: Any, X: Any, y: Any) -> tuple[Any, bool | None]:
    """Fit, and whether it says that it converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return estimator, not any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _scores(fitted: Any, X: Any) -> FloatArray | None:
    for name in ("decision_function", "predict_proba"):
        if hasattr(fitted, name):
            return np.asarray(getattr(fitted, name)(X), dtype=np.float64)
    return None


def _dual(data: Prepared, method: Method, fitted: Any, train: IntArray) -> FloatArray | None:
    """Coefficients over the training rows, for methods that know the rows alone and are linear."""
    if method.needs != "rows":
        return None
    try:
        coef, _ = coefficients(fitted)
    except ValueError:
        return None
    return data.dual_of(coef, train)
