"""One split of a study by scikit-learn estimators: choose inside, fit, predict."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from svdecode._checks import FloatArray
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
    extra = {"random_state": seed} if method.seeded and seed is not None else {}
    grid = method.candidates()
    among = {size: list(method.sizes or ()) if size == CHOSEN else [size] for size in sizes}
    asked = [l for size in sizes for l in among[size] if len(among[size]) * len(grid) > 1]
    tables, seconds = _inner_tables(data, number, method, list(dict.fromkeys(asked)), rule, extra)
    data = data.of_split(number)
    split, X, y = data.splits[number], data.columns(method.needs), data.dataset.y
    out = []
    for size in sizes:
        began = time.perf_counter() - sum(seconds.get(l, 0.0) for l in among[size])
        candidates = [(l, parameters) for l in among[size] for parameters in grid]
        chosen, inner = 0, float("nan")
        if len(candidates) > 1:
            table = np.vstack([tables[l] for l in among[size]])
            chosen = rule(table, candidates)
            inner = float(np.nanmean(table[chosen]))
        l, parameters = candidates[chosen]
        fitted, converged = _fit(method.estimator(l, **parameters, **extra), X[split.train], y[split.train])
        out.append(
            Outcome(
                size,
                getattr(fitted, "classes_", classes_of(y, split.train)),
                fitted.predict(X[split.test]),
                _scores(fitted, X[split.test]),
                {**parameters, **({"n_components": l} if size == CHOSEN else {})},
                inner,
                time.perf_counter() - began,
                converged=converged,
                coef=_coefficients(fitted, X.shape[1]),
            )
        )
    return out


def _inner_tables(
    data: Prepared,
    number: int,
    method: Method,
    sizes: Sequence[int | None],
    rule: Rule,
    extra: dict[str, Any],
) -> tuple[dict[int | None, FloatArray], dict[int | None, float]]:
    """Accuracies by size, a row a candidate, a column an inner fold; and the seconds that they took."""
    y, candidates = data.dataset.y, method.candidates()
    folds = list(data.inner(number)) if sizes else []
    tables = {size: np.empty((len(candidates), len(folds))) for size in sizes}
    seconds = dict.fromkeys(sizes, 0.0)
    for j, fold in enumerate(folds):
        X, rows = data.of_rows(fold.train).columns(method.needs), eval_rows(fold, rule.reads)
        train, read = X[fold.train], X[rows]
        for size in sizes:
            began = time.perf_counter()
            for i, parameters in enumerate(candidates):
                fitted, _ = _fit(method.estimator(size, **parameters, **extra), train, y[fold.train])
                tables[size][i, j] = accuracy(y[rows], fitted.predict(read))
            seconds[size] += time.perf_counter() - began
    return tables, seconds


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


def _coefficients(fitted: Any, n_columns: int) -> FloatArray | None:
    """Weights of the columns in the scores, of a method that is linear."""
    try:
        coef, _ = coefficients(fitted)
    except ValueError:
        return None
    return coef if coef.ndim == 2 and coef.shape[1] == n_columns else None
