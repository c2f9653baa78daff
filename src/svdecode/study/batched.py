"""All splits of a study by the batch of SVDM fits: one Gram matrix, each training set fitted once.

Inner folds of different splits often train on the same rows: leaving out run i, then run j, leaves what
leaving out j, then i, does. Such a set is fitted once and read twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from svdecode._checks import FloatArray, IntArray
from svdecode.study import baselines
from svdecode.study.choice import Rule
from svdecode.study.methods import Method
from svdecode.study.outcomes import CHOSEN, Outcome
from svdecode.study.prepared import Prepared, eval_rows
from svdecode.svdm.batch import Batch, Cell, run_batch, threads
from svdecode.svdm.fitting import Weights
from svdecode.svdm.labels import accuracy, decide
from svdecode.svdm.parameters import check_solving, check_weights

Todo = Mapping[int, Sequence[int | None]]
"""Sizes that are wanted, by the number of the split."""


def is_batched(method: Method) -> bool:
    """Whether all splits of a method can be computed together.

    Parameters
    ----------
    method : Method
        Any.

    Returns
    -------
    bool
        True for the linear `svdm`, with grids of its own weights only.
    """
    known = {"shrinkage", "hinge_weight", "reconstruction_weight", "margin", "ridge"}
    linear = method.fixed.get("kernel", "linear") == "linear" and "callback" not in method.fixed
    given = not isinstance(method.fixed.get("init", "svd"), str)
    return bool(method.make is baselines.svdm and linear and not given and set(method.grid) <= known)


@dataclass
class _Set:
    """Rows that are fitted, and who reads which of the others."""

    train: IntArray
    readers: list[tuple[int, int, IntArray]] = field(default_factory=list)  # split, inner fold, rows

    @cached_property
    def rows(self) -> IntArray:
        return np.unique(np.concatenate([rows for _, _, rows in self.readers]))


def run_splits(
    data: Prepared, todo: Todo, method: Method, rule: Rule, seed: int | None, *, n_jobs: int | None = None
) -> Iterator[tuple[int, list[Outcome]]]:
    """Outcomes of many splits.

    Parameters
    ----------
    data : Prepared
        The data.
    todo : dict of int to sequence of int or None
        Sizes that are wanted, by the number of the split.
    method : Method
        For which `is_batched` holds.
    rule : Rule
        How parameters are chosen.
    seed : int or None
        Of random starts.
    n_jobs : int, optional
        Threads.

    Yields
    ------
    number : int
        Of a split.
    outcomes : list of Outcome
        In the order of its sizes.
    """
    plan = _Plan(data, method, seed)
    inner = _Inner(data, todo, plan, rule)
    ready = [number for number in todo if number not in inner.tables]
    for number in itertools.chain(ready, inner.finished(n_jobs)):
        chosen = [plan.choose(size, inner.tables.get(number, {}), rule) for size in todo[number]]
        yield number, _outcomes(data, number, todo[number], chosen, plan)


class _Plan:
    """Candidates as the batch takes them."""

    def __init__(self, data: Prepared, method: Method, seed: int | None) -> None:
        self.method = method
        self.grid = method.candidates()
        model = method.estimator(max(method.sizes) if method.sizes else None, **self.grid[0])
        self._weights, self._solving = check_weights(model), check_solving(model, data.dataset.n_samples)
        self._model, self.readout = model, model.readout
        state = model.random_state if seed is None else seed
        # the generator that SVDMClassifier makes of its random_state
        self._seed = 0 if state is None else int(check_random_state(state).randint(2**31))

    def batch(self, data: Prepared, *, with_dual: bool = False) -> Batch:
        """What all fits on these columns share."""
        return Batch(
            data.gram,
            data.dataset.y,
            data.dataset.n_features,
            self._solving,
            bool(self._model.scale),
            (self.readout,),
            class_weight=self._model.class_weight,
            seed=self._seed,
            with_dual=with_dual,
            start_size=self._weights.n_components,
        )

    def reported(self, size: int | None) -> list[int]:
        """Sizes among which one is chosen: itself, or all."""
        return (
            list(self.method.sizes or ())
            if size == CHOSEN
            else [self._weights.n_components if size is None else size]
        )

    def weights(self, size: int, parameters: Mapping[str, Any]) -> Weights:
        """A candidate for the batch."""
        return check_weights(self.method.estimator(size, **parameters))

    def choose(
        self, size: int | None, tables: Mapping[int, FloatArray], rule: Rule
    ) -> tuple[int, dict[str, Any], float]:
        """The number of components, the parameters, and their mean inner accuracy."""
        pairs = [(l, parameters) for l in self.reported(size) for parameters in self.grid]
        if len(pairs) == 1:
            return (*pairs[0], float("nan"))
        table = np.vstack([tables[l] for l in self.reported(size)])
        best = rule(table, pairs)
        return (*pairs[best], float(np.nanmean(table[best])))


class _Inner:
    """Accuracies in the inner folds of all splits, each training set fitted once.

    `tables` has them by split and size: a row a candidate, a column an inner fold.
    """

    def __init__(self, data: Prepared, todo: Todo, plan: _Plan, rule: Rule) -> None:
        self.data, self.plan = data, plan
        self.tables: dict[int, dict[int, FloatArray]] = {}
        self.left: dict[int, int] = {}
        sets: dict[bytes, _Set] = {}
        for number, sizes in todo.items():
            asked = sorted({l for size in sizes for l in plan.reported(size)})
            if len(plan.grid) == 1 and CHOSEN not in sizes:
                continue
            folds = data.inner(number)
            self.left[number] = len(folds)
            self.tables[number] = {l: np.full((len(plan.grid), len(folds)), np.nan) for l in asked}
            for j, fold in enumerate(folds):
                train = np.sort(fold.train)
                one = sets.setdefault(train.tobytes(), _Set(train))
                one.readers.append((number, j, eval_rows(fold, rule.reads)))
        self.sets = list(sets.values())
        self.sizes = sorted({l for by_size in self.tables.values() for l in by_size})
        self.candidates = [plan.weights(l, parameters) for l in self.sizes for parameters in plan.grid]

    def finished(self, n_jobs: int | None) -> Iterator[int]:
        """Fit, and tell each split's number when its tables are full."""
        for cell in self._cells(n_jobs):
            one, (place, i) = self.sets[cell.fold], divmod(cell.candidate, len(self.plan.grid))
            right = _right(self.data.dataset.y, one.rows, cell, self.plan.readout)
            for number, j, read in one.readers:
                table = self.tables[number].get(self.sizes[place])
                if table is not None:
                    known = right[np.searchsorted(one.rows, read)]
                    known = known[~np.isnan(known)]
                    table[i, j] = known.mean() if known.size else np.nan
            if cell.candidate == len(self.candidates) - 1:
                for number, _, _ in one.readers:
                    self.left[number] -= 1
                    if self.left[number] == 0:
                        yield number

    def _cells(self, n_jobs: int | None) -> Iterator[Cell]:
        """In the order of sets, then candidates."""
        if self.data.by != "training":
            folds = [(one.train, one.rows) for one in self.sets]
            yield from run_batch(self.plan.batch(self.data), folds, self.candidates, n_jobs=n_jobs)
            return
        # each set has columns, and a Gram matrix, of its own
        with threadpool_limits(1, user_api="blas"):
            done = threads(n_jobs)(delayed(self._by_itself)(number) for number in range(len(self.sets)))
            for cells in done:
                yield from cells

    def _by_itself(self, number: int) -> list[Cell]:
        one = self.sets[number]
        batch = self.plan.batch(self.data.of_rows(one.train))
        cells = run_batch(batch, [(one.train, one.rows)], self.candidates, n_jobs=1)
        return [replace(cell, fold=number) for cell in cells]


def _right(y: Any, rows: IntArray, cell: Cell, readout: str) -> FloatArray:
    """Whether each row is predicted rightly; NaN where its label is not known."""
    guess = decide(cell.scores[readout], cell.targets.classes, multilabel=cell.targets.multilabel)
    truth = y[rows]
    if truth.ndim == 1 and truth.dtype.kind in "iubUS":
        return np.asarray(guess == truth, dtype=np.float64)
    return np.array([accuracy(truth[[i]], guess[[i]]) for i in range(len(rows))])


def _outcomes(
    data: Prepared,
    number: int,
    sizes: Sequence[int | None],
    chosen: Sequence[tuple[int, dict[str, Any], float]],
    plan: _Plan,
) -> list[Outcome]:
    """Fit what was chosen on the training rows of a split."""
    split, batch = data.splits[number], plan.batch(data.of_split(number), with_dual=True)
    candidates = [plan.weights(l, parameters) for l, parameters, _ in chosen]
    cells = run_batch(batch, [(split.train, split.test)], candidates, n_jobs=1)
    out = []
    for size, (l, parameters, inner), cell in zip(sizes, chosen, cells, strict=True):
        scores, targets, result = cell.scores[plan.readout], cell.targets, cell.fit.result
        out.append(
            Outcome(
                size,
                targets.classes,
                decide(scores, targets.classes, multilabel=targets.multilabel),
                scores[:, 0] if scores.shape[1] == 1 else scores,
                {**parameters, **({"n_components": l} if size == CHOSEN else {})},
                inner,
                sum(cell.seconds),
                float("nan") if cell.fit.is_unheld else result.stationarity,
                result.converged,
                cell.dual,
            )
        )
    return out
