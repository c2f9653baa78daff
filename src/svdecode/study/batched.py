"""All splits of a study by the batch of SVDM fits: one Gram matrix, each training set fitted once.

Inner folds of different splits often train on the same rows: leaving out run i, then run j, leaves what
leaving out j, then i, does. Such a set is fitted once and read twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray
from svdecode.study import baselines
from svdecode.study.choice import Rule
from svdecode.study.methods import Method
from svdecode.study.outcomes import CHOSEN, Outcome
from svdecode.study.prepared import Prepared, eval_rows
from svdecode.svdm.batch import Batch, Cell, run_batch
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

    @property
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
    if data.by == "training":  # each split has columns of its own
        for number, sizes in todo.items():
            own = data.of_split(number)
            own.by = None
            yield from run_splits(own, {number: sizes}, method, rule, seed, n_jobs=n_jobs)
        return
    plan = _Plan(data, method, seed)
    inner = _inner_tables(data, todo, plan, rule, n_jobs)
    for number, sizes in todo.items():
        chosen = [plan.choose(size, inner.get(number, {}), rule) for size in sizes]
        yield number, _outcomes(data, number, sizes, chosen, plan)


class _Plan:
    """Candidates as the batch takes them."""

    def __init__(self, data: Prepared, method: Method, seed: int | None) -> None:
        self.method = method
        self.grid = method.candidates()
        model = method.estimator(max(method.sizes or (8,)), **self.grid[0])
        weights, solving = check_weights(model), check_solving(model, data.dataset.n_samples)
        self.readout = model.readout
        self.batch = Batch(
            data.gram, data.dataset.y, data.dataset.n_features, solving, bool(model.scale), (model.readout,),
            None, model.class_weight, 0 if seed is None else seed,
        )  # fmt: skip
        self._weights = weights

    def reported(self, size: int | None) -> list[int]:
        """Sizes among which one is chosen: itself, or all."""
        return list(self.method.sizes or ()) if size == CHOSEN else [int(size or 8)]

    def weights(self, size: int, parameters: Mapping[str, Any]) -> Weights:
        """A candidate for the batch."""
        return replace(self._weights, n_components=size, **parameters)

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


def _inner_tables(
    data: Prepared, todo: Todo, plan: _Plan, rule: Rule, n_jobs: int | None
) -> dict[int, dict[int, FloatArray]]:
    """Accuracies by split and size: a row a candidate, a column an inner fold."""
    wanted = {
        number: sorted({l for size in sizes for l in plan.reported(size)})
        for number, sizes in todo.items()
        if len(plan.grid) > 1 or CHOSEN in sizes
    }
    tables: dict[int, dict[int, FloatArray]] = {}
    sets: dict[bytes, _Set] = {}
    for number, sizes in wanted.items():
        folds = data.inner(number)
        tables[number] = {l: np.full((len(plan.grid), len(folds)), np.nan) for l in sizes}
        for j, fold in enumerate(folds):
            train = np.sort(fold.train)
            one = sets.setdefault(train.tobytes(), _Set(train))
            one.readers.append((number, j, eval_rows(fold, rule.reads)))
    if not sets:
        return tables
    every = sorted({l for sizes in wanted.values() for l in sizes})
    candidates = [plan.weights(l, parameters) for l in every for parameters in plan.grid]
    groups = list(sets.values())
    folds_of = [(one.train, one.rows) for one in groups]
    for cell in run_batch(plan.batch, folds_of, candidates, n_jobs=n_jobs):
        one = groups[cell.fold]
        l, i = every[cell.candidate // len(plan.grid)], cell.candidate % len(plan.grid)
        right, rows = _right(data.dataset.y, one.rows, cell, plan.readout), one.rows
        for number, j, read in one.readers:
            if l in tables[number]:
                tables[number][l][i, j] = np.nanmean(right[np.searchsorted(rows, read)])
    return tables


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
    split = data.splits[number]
    candidates = [plan.weights(l, parameters) for l, parameters, _ in chosen]
    cells = run_batch(replace(plan.batch, with_dual=True), [(split.train, split.test)], candidates, n_jobs=1)
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
