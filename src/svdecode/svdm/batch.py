"""Many fits on one Gram matrix: folds × dimensions × weights, the data read once.

A fold's reduction is a sub-block of the Gram matrix, its singular vectors are found once for all
dimensions and weights, and test rows are placed through the same matrix. Each fit is the one that
`SVDMClassifier` would make of the fold's rows. The compiled steps let go of the interpreter, so
folds run in threads.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from svdecode._checks import FloatArray, IntArray
from svdecode.reduction import Reduction, SharedGram
from svdecode.svdm.fitting import Fit, Solving, Weights, all_rows_equal, data_scale, make_objective, solve
from svdecode.svdm.labels import Labels, Targets, encode, hinge_weights
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.reading import READOUTS, coordinates, linear_map, reader
from svdecode.svdm.starts import singular_start


@dataclass(frozen=True)
class Batch:
    """What all fits of a batch share.

    Attributes
    ----------
    shared : SharedGram
        Inner products of all rows.
    y : array of shape (n,) or (n, k)
        Labels of all rows.
    n_features : int
        m; 1 for a kernel.
    solving : Solving
        Scheme, stopping rule and starts.
    scale : bool
        Whether a fold's data are divided by their root mean square.
    readouts : sequence of {"joint", "refit", "least_squares"}
        Which discriminants read the test rows.
    sample_weight, class_weight
        As for `SVDMClassifier`.
    seed : int
        Of random starts.
    with_dual : bool
        Whether cells tell the coefficients of their scores over the training rows.
    start_size : int or None
        Columns of the start that a fold's fits share, so that a fit does not depend on which others run
        beside it, to the last digit; by default as many as the largest of them needs.
    """

    shared: SharedGram
    y: Labels
    n_features: int
    solving: Solving
    scale: bool = True
    readouts: Sequence[str] = ("joint",)
    sample_weight: FloatArray | None = None
    class_weight: Any = None
    seed: int = 0
    with_dual: bool = False
    start_size: int | None = None


@dataclass(frozen=True)
class Cell:
    """One fit of a batch.

    Attributes
    ----------
    fold, candidate : int
        Which fold, and which of the candidates.
    scores : dict of str to array of shape (n_test, k)
        Of the test rows, by read-out.
    targets : Targets
        Says how scores become labels.
    fit : Fit
        The fit itself.
    seconds : tuple of two floats
        For the fit (the first of a fold pays for its reduction) and for scoring the test rows.
    dual : array of shape (k, n_train) or None
        Times the centered training rows it is `coef_` of the first read-out.
    """

    fold: int
    candidate: int
    scores: dict[str, FloatArray]
    targets: Targets
    fit: Fit
    seconds: tuple[float, float] = (0.0, 0.0)
    dual: FloatArray | None = None


def run_batch(
    batch: Batch,
    folds: Sequence[tuple[IntArray, IntArray]],
    candidates: Sequence[Weights] | Sequence[Sequence[Weights]],
    *,
    n_jobs: int | None = None,
) -> Iterator[Cell]:
    """Fit candidates on the training rows of every fold, and score its test rows.

    Parameters
    ----------
    batch : Batch
        What the fits share.
    folds : sequence of (train, test)
        Rows of each fold.
    candidates : sequence of Weights, or one for each fold
        Dimensions and hyper-parameters.
    n_jobs : int, optional
        Threads, as in joblib.

    Yields
    ------
    Cell
        In the order of folds, then candidates.
    """
    each = list(_by_fold(candidates, len(folds)))
    with threadpool_limits(1, user_api="blas"):
        done: Iterable[list[Cell]] = threads(n_jobs)(
            delayed(_run_fold)(batch, number, train, test, each[number])
            for number, (train, test) in enumerate(folds)
        )
        for cells in done:
            yield from cells


def threads(n_jobs: int | None) -> Parallel:
    """Threads whatever backend is active, as many of them as is said there if nothing is said here.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib.

    Returns
    -------
    Parallel
        Yields results in order.
    """
    return Parallel(n_jobs=Parallel(n_jobs=n_jobs).n_jobs, require="sharedmem", return_as="generator")


def _by_fold(candidates: Sequence[Any], n_folds: int) -> Iterator[Sequence[Weights]]:
    own = bool(candidates) and not isinstance(candidates[0], Weights)
    if own and len(candidates) != n_folds:
        raise ValueError(
            f"candidates: found lists for {len(candidates)} folds, expected one for each of {n_folds}"
        )
    for number in range(n_folds):
        yield candidates[number] if own else candidates


def _run_fold(
    batch: Batch, number: int, train: IntArray, test: IntArray, candidates: Sequence[Weights]
) -> list[Cell]:
    began = time.perf_counter()
    train, test = np.asarray(train), np.asarray(test)
    try:
        targets = encode(batch.y[train], len(train))
    except ValueError as error:
        raise ValueError(f"{error} (training rows of fold {number})") from None
    sample_weight = None if batch.sample_weight is None else np.asarray(batch.sample_weight)[train]
    entries = hinge_weights(targets, sample_weight, batch.class_weight)
    reduction = batch.shared.reduce(train)
    if all_rows_equal(reduction):
        raise ValueError(f"X: found rows that are all equal in fold {number}, expected samples that differ")
    scale = data_scale(reduction.coordinates, batch.n_features) if batch.scale else 1.0
    new = reduction.transform_rows(test) / scale
    solving: Solving | None = None
    cells = []
    for which, weights in enumerate(candidates):
        objective = make_objective(reduction, targets, entries, weights, batch.n_features, scale)
        if solving is None:
            needed = batch.start_size or max(w.n_components for w in candidates)
            largest = min(needed, reduction.rank)
            solving = _shared_start(batch.solving, objective, train, largest)
        l = min(weights.n_components, reduction.rank)
        result, ends = solve(objective, l, solving, np.random.default_rng(batch.seed))
        fitted = time.perf_counter()
        scores = {readout: _scores(objective, result.factors, readout, new) for readout in batch.readouts}
        done = time.perf_counter()
        fit = Fit(objective, result, ends, scale)
        dual = None
        if batch.with_dual:
            dual = _dual(objective, result.factors, batch.readouts[0], reduction, scale)
        cells.append(Cell(number, which, scores, targets, fit, (fitted - began, done - fitted), dual))
        began = done
    return cells


def _shared_start(solving: Solving, objective: Objective, train: IntArray, largest: int) -> Solving:
    """A fold's start for all its fits: each takes the first columns that it needs."""
    if isinstance(solving.init, str):
        if solving.init != "svd":
            return solving
        with_labels = solving.scheme(objective) == "multipliers"
        return replace(solving, init=singular_start(objective, largest, with_labels=with_labels))
    return replace(solving, init=np.asarray(solving.init)[train])


def _scores(objective: Objective, factors: Factors, readout: str, new: FloatArray) -> FloatArray:
    f = READOUTS[readout](objective, factors)
    Z = coordinates(reader(objective, f), (new - f.mean) @ f.W.T)
    return np.asarray(Z @ f.Theta + f.bias)


def _dual(
    objective: Objective, factors: Factors, readout: str, reduction: Reduction, scale: float
) -> FloatArray:
    """Coefficients of the scores over the centered training rows: `coef_` before it is lifted."""
    f = READOUTS[readout](objective, factors)
    to_scores = linear_map(reader(objective, f)) @ f.Theta / scale
    assert reduction.dual is not None  # of a Gram matrix
    dual = to_scores.T @ f.W @ reduction.dual.T
    return np.asarray(dual - dual.mean(axis=1, keepdims=True))
