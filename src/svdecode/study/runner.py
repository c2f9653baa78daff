"""Study: methods × dimensions × folds × data sets × seeds, each cell computed once and kept."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from svdecode._checks import check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.batched import is_batched, run_splits
from svdecode.study.cells import Cell
from svdecode.study.choice import check_rule
from svdecode.study.engine import run_split
from svdecode.study.making import check_protocol
from svdecode.study.outcomes import CHOSEN, Outcome
from svdecode.study.planning import Group, Planned, plan, read_methods
from svdecode.study.prepared import Prepared, prepare
from svdecode.study.preprocessing import STANDARDIZATIONS
from svdecode.study.progress import Advance, progress_bar
from svdecode.study.results import StudyResult
from svdecode.study.store import Store
from svdecode.svdm.labels import accuracy

EVERY = 0.5
"""Seconds between two writings to the store."""


class Study:
    """Compare methods on data, honestly: everything is chosen and fitted inside the training rows.

    Parameters
    ----------
    dataset : Dataset, or dict of str to Dataset
        The data; several sets (subjects with voxels of their own, say) are studied side by side.
    methods : sequence of str, Method or estimator, or dict from names to them
        What is compared. Names are those of `svdecode.study.METHODS`.
    protocol : str or function, default "leave_one_run_out"
        Who is trained on and who is tested: a name of `svdecode.study.PROTOCOLS`, or a function from a
        dataset to its splits.
    choice : str or Rule, default "best"
        How parameters are chosen from their accuracies in inner folds: "best", "one_standard_error",
        "just_below_perfect" (Pereira & Gordon 2006) or a rule of one's own.
    n_inner : int, optional
        Inner folds; by default one for each run (subject) that is trained on, else five.
    choose_size : bool, default False
        Report too what comes of choosing the number of components inside.
    seeds : sequence of int, default (0,)
        For methods with random starts.
    standardize : {None, "run", "subject", "training"}, default None
        Columns by the mean and deviation of each run, of each subject, or of the training rows.
    n_permutations : int, default 0
        How often all of it is repeated with labels permuted within runs, for `StudyResult.permutation_test`.
    protocol_options : dict, optional
        Keywords of the protocol.

    See Also
    --------
    StudyResult : What comes out.
    svdecode.study.METHODS : Methods by name.

    Examples
    --------
    >>> from svdecode import Study
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import METHODS
    >>> data = load_haxby2001_slice()
    >>> methods = [METHODS["svdm"](sizes=[4, 8]), METHODS["svd_svm"](sizes=[4, 8], C=1.0)]
    >>> study = Study(data, methods, "whole_runs", protocol_options={"n_train": 8}, n_inner=3)
    >>> len(study)
    4
    >>> result = study.run()
    >>> result.accuracy()[["method", "n_components", "accuracy"]].shape
    (4, 3)
    """

    def __init__(
        self,
        dataset: Dataset | Mapping[str, Dataset],
        methods: Any,
        protocol: Any = "leave_one_run_out",
        *,
        choice: Any = "best",
        n_inner: int | None = None,
        choose_size: bool = False,
        seeds: Sequence[int] = (0,),
        standardize: str | None = None,
        n_permutations: int = 0,
        protocol_options: Mapping[str, Any] | None = None,
    ) -> None:
        datasets = dict(dataset) if isinstance(dataset, Mapping) else {dataset.name or "data": dataset}
        for name, data in datasets.items():
            if not isinstance(data, Dataset):
                raise ValueError(f"dataset: found {type(data).__name__} as {name!r}, expected a Dataset")
        self.methods = read_methods(methods)
        self.rule = check_rule(choice)
        self.seeds = [check_count(seed, "seeds", minimum=0) for seed in seeds]
        if not self.seeds:
            raise ValueError("seeds: found none, expected at least one")
        check_choice(standardize, "standardize", STANDARDIZATIONS)
        self.choose_size = bool(choose_size)
        self.n_permutations = check_count(n_permutations, "n_permutations", minimum=0)
        split = partial(check_protocol(protocol), **(protocol_options or {}))
        self.data: list[Prepared] = prepare(datasets, split, standardize, n_inner)
        self._groups: list[Group] | None = None

    @property
    def groups(self) -> list[Group]:
        """All cells, in groups that are computed together."""
        if self._groups is None:
            self._groups = list(
                plan(
                    self.data, self.methods, self.rule, self.seeds,
                    choose_size=self.choose_size, n_permutations=self.n_permutations,
                )
            )  # fmt: skip
        return self._groups

    def __len__(self) -> int:
        return sum(len(group.cells) for group in self.groups)

    def keys(self) -> list[str]:
        """Names of all cells.

        Returns
        -------
        list of str
            In the order in which they are computed.
        """
        return [cell.key for group in self.groups for cell in group.cells]

    def run(
        self,
        store: Any = None,
        *,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> StudyResult:
        """Compute what the store does not have yet.

        Parameters
        ----------
        store : path or Store, optional
            Where cells are kept as they are done. The same study with the same store goes on where it was
            stopped. By default a file that is gone with the result.
        n_jobs : int, optional
            Workers, as in joblib: threads for SVDM, processes for estimators (or what
            `joblib.parallel_config` says). The numbers do not depend on it.
        progress : bool, optional
            Whether to show a bar with the end time; by default in a terminal.

        Returns
        -------
        StudyResult
            Tables, tests and maps of all cells.
        """
        keeper = _open(store)
        keys = self.keys()
        missing = set(keeper.store.missing(keys))
        with progress_bar(f"study of {len(keys)} cells", len(keys), progress) as advance:
            advance(len(keys) - len(missing))
            writer = _Writer(keeper.store, advance)
            try:
                for cell in self._computed(missing, n_jobs):
                    writer.put(cell)
            except KeyboardInterrupt:
                writer.flush()
                left = len(keeper.store.missing(keys))
                where = "" if keeper.folder else f" in {keeper.store.path}"
                go_on = (
                    "nothing was kept, for want of a store"
                    if keeper.folder
                    else ("run the same study with the same store to go on")
                )
                raise KeyboardInterrupt(
                    f"stopped: {len(keys) - left} of {len(keys)} cells are done{where}; {go_on}"
                ) from None
            finally:
                writer.flush()
        return StudyResult(self, keeper)

    def _computed(self, missing: set[str], n_jobs: int | None) -> Iterator[Cell]:
        """Cells as they are done: those of a batch together, others split by split."""
        others: list[tuple[Group, int, list[Planned]]] = []
        for group in self.groups:
            todo: dict[int, list[Planned]] = defaultdict(list)
            for cell in group.cells:
                if cell.key in missing:
                    todo[cell.split].append(cell)
            if not todo:
                continue
            if is_batched(group.method):
                sizes = {number: [c.size for c in cells] for number, cells in todo.items()}
                done = run_splits(group.data, sizes, group.method, self.rule, group.seed, n_jobs=n_jobs)
                for number, outcomes in done:
                    yield from _cells(group, number, todo[number], outcomes)
            else:
                others.extend((group, number, cells) for number, cells in todo.items())
        if n_jobs in (None, 1):
            computed: Iterable[list[Cell]] = (self._split(*job) for job in others)
        else:
            computed = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
                delayed(_run_one)(*job, self.rule) for job in others
            )
        for cells in computed:
            yield from cells

    def _split(self, group: Group, number: int, cells: list[Planned]) -> list[Cell]:
        return _run_one(group, number, cells, self.rule)

    def __repr__(self) -> str:
        names = ", ".join(method.name for method in self.methods)
        return f"Study({names}: {len(self)} cells of {len(self.data)} data sets)"


class Keeper:
    """A store, and the folder that goes with it where it is a temporary one.

    Parameters
    ----------
    store : Store
        Open.
    folder : TemporaryDirectory or None
        Gone with this object.
    """

    def __init__(self, store: Store, folder: TemporaryDirectory[str] | None = None) -> None:
        self.store = store
        self.folder = folder


def _open(store: Any) -> Keeper:
    if isinstance(store, Store):
        return Keeper(store)
    if store is not None:
        return Keeper(Store(store))
    folder = TemporaryDirectory(prefix="svdecode-", ignore_cleanup_errors=True)
    return Keeper(Store(Path(folder.name) / "study.sqlite"), folder)


class _Writer:
    """Puts cells into the store a few at a time."""

    def __init__(self, store: Store, advance: Advance) -> None:
        self._store, self._advance = store, advance
        self._waiting: list[Cell] = []
        self._last = time.monotonic()

    def put(self, cell: Cell) -> None:
        self._waiting.append(cell)
        if time.monotonic() - self._last > EVERY:
            self.flush()

    def flush(self) -> None:
        cells, self._waiting = self._waiting, []
        if cells:
            self._store.put(cells)
            self._advance(len(cells))
        self._last = time.monotonic()


def _run_one(group: Group, number: int, cells: list[Planned], rule: Any) -> list[Cell]:
    sizes = [cell.size for cell in cells]
    try:
        outcomes = run_split(group.data, number, group.method, sizes, rule, group.seed)
    except ValueError as error:
        where = f"{group.method.name}, {group.data.name}, {group.data.splits[number].name}"
        raise ValueError(f"{error} ({where})") from error
    return list(_cells(group, number, cells, outcomes))


def _cells(
    group: Group, number: int, planned: Sequence[Planned], outcomes: Sequence[Outcome]
) -> Iterator[Cell]:
    data, method = group.data, group.method
    split, y = data.splits[number], data.dataset.y
    for cell, outcome in zip(planned, outcomes, strict=True):
        extra: dict[str, Any] = {"protocol": data.splits.name, "n_train": len(split.train)}
        if group.permutation:
            extra["permutation"] = group.permutation
        if split.classes is not None:
            extra |= {"classes": list(split.classes), "base_fold": split.fold}
        if not np.isnan(outcome.inner):
            extra["inner_accuracy"] = outcome.inner
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
            truth=y[split.test],
            scores=outcome.scores,
            accuracy=accuracy(y[split.test], outcome.predictions),
            chosen=outcome.chosen,
            seconds=outcome.seconds,
            stationarity=outcome.stationarity,
            converged=outcome.converged,
            dual=outcome.dual,
            extra=extra,
        )
