"""From what is planned to finished cells: batches together, other methods split by split."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from svdecode.study.batched import is_batched, run_splits
from svdecode.study.cells import Cell
from svdecode.study.choice import Rule
from svdecode.study.engine import run_split
from svdecode.study.methods import Method
from svdecode.study.outcomes import CHOSEN, Outcome
from svdecode.study.planning import Group, Planned
from svdecode.study.prepared import Prepared
from svdecode.svdm.labels import accuracy

Missing = Callable[[Iterable[str]], Sequence[str]]
"""Tells which of some keys a store has not."""


def compute(
    groups: Sequence[Group], missing: Missing, rule: Rule, *, n_jobs: int | None = None
) -> Generator[Cell]:
    """Compute what is missing.

    The store is asked again before each group and split: another process may fill it too.

    Parameters
    ----------
    groups : sequence of Group
        All cells of a study.
    missing : callable
        From keys to those that are not in the store.
    rule : Rule
        How parameters are chosen.
    n_jobs : int, optional
        As in joblib.

    Yields
    ------
    Cell
        As soon as it is finished.
    """
    others = []
    for group in groups:
        todo = _todo(group, missing)
        if not todo:
            continue
        if is_batched(group.method):
            sizes = {number: [cell.size for cell in cells] for number, cells in todo.items()}
            try:
                for number, outcomes in run_splits(
                    group.data, sizes, group.method, rule, group.seed, n_jobs=n_jobs
                ):
                    yield from cells_of(group, number, todo[number], outcomes)
            except ValueError as error:
                raise ValueError(f"{error} ({group.method.name}, {group.data.name})") from error
        else:
            others.append((group, todo))
    yield from _split_by_split(others, missing, rule, n_jobs)


def _todo(group: Group, missing: Missing) -> dict[int, list[Planned]]:
    wanted = set(missing([cell.key for cell in group.cells]))
    todo: dict[int, list[Planned]] = defaultdict(list)
    for cell in group.cells:
        if cell.key in wanted:
            todo[cell.split].append(cell)
    return todo


def _split_by_split(
    groups: Sequence[tuple[Group, dict[int, list[Planned]]]],
    missing: Missing,
    rule: Rule,
    n_jobs: int | None,
) -> Iterator[Cell]:
    jobs: list[tuple[Group, int, list[Planned]]] = []

    def tasks() -> Iterator[Any]:
        for group, todo in groups:
            if group.method.needs == "rows" and group.data.by != "training":
                _ = group.data.rows  # once, not in each worker
            for number, cells in todo.items():
                if missing([cell.key for cell in cells]):
                    jobs.append((group, number, cells))
                    sizes = [cell.size for cell in cells]
                    yield delayed(_one)(
                        len(jobs) - 1, group.data, number, group.method, sizes, rule, group.seed
                    )

    parallel = Parallel(n_jobs=n_jobs)
    if parallel._backend.supports_return_generator:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for place, outcomes in parallel(tasks()):
        group, number, cells = jobs[place]
        yield from cells_of(group, number, cells, outcomes)


def _one(
    place: int,
    data: Prepared,
    number: int,
    method: Method,
    sizes: Sequence[int | None],
    rule: Rule,
    seed: int | None,
) -> tuple[int, list[Outcome]]:
    """One split, by one thread of BLAS wherever it runs: the same digits with any number of workers."""
    try:
        with threadpool_limits(1, user_api="blas"):
            return place, run_split(data, number, method, sizes, rule, seed)
    except ValueError as error:
        raise ValueError(f"{error} ({method.name}, {data.name}, {data.splits[number].name})") from error


def cells_of(
    group: Group, number: int, planned: Sequence[Planned], outcomes: Sequence[Outcome]
) -> Iterator[Cell]:
    """Put together what is kept of a split.

    Parameters
    ----------
    group : Group
        The split's.
    number : int
        Of the split.
    planned : sequence of Planned
        Its cells.
    outcomes : sequence of Outcome
        What was found, in the same order.

    Yields
    ------
    Cell
        With its truth and accuracy.
    """
    data, method = group.data, group.method
    split, y = data.splits[number], data.dataset.y
    own = None if all(outcome.coef is None for outcome in outcomes) else data.of_split(number)
    for cell, outcome in zip(planned, outcomes, strict=True):
        dual = outcome.dual
        if own is not None and outcome.coef is not None:
            dual = own.dual_of(outcome.coef, split.train, method.needs)
        extra: dict[str, Any] = {"protocol": data.splits.name, "n_train": len(split.train)}
        if group.permutation:
            extra["permutation"] = group.permutation
        known = np.ones(len(split.test), dtype=bool)
        if split.classes is not None:
            extra |= {"classes": list(split.classes), "base_fold": split.fold}
            known = np.isin(y[split.test], split.classes)  # no other can be predicted rightly
        if not np.isnan(outcome.inner):
            extra["inner_accuracy"] = outcome.inner
        truth = y[split.test]
        yield Cell(
            key=cell.key,
            dataset=data.name,
            method=method.name,
            parameters=dict(method.fixed),
            n_components=None if cell.size == CHOSEN else cell.size,
            fold=split.name,
            seed=group.seed,
            test_rows=split.test,
            classes=outcome.classes,
            predictions=outcome.predictions,
            truth=truth,
            scores=outcome.scores,
            accuracy=accuracy(truth[known], outcome.predictions[known]) if known.any() else np.nan,
            chosen=outcome.chosen,
            seconds=outcome.seconds,
            stationarity=outcome.stationarity,
            converged=outcome.converged,
            dual=dual,
            extra=extra,
        )
