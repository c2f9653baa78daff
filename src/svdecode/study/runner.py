"""Study: methods × dimensions × folds × data sets × seeds, each cell computed once and kept."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from svdecode._checks import check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study.choice import check_rule
from svdecode.study.keeping import Keeper, Writer
from svdecode.study.making import check_protocol
from svdecode.study.naming import read_methods
from svdecode.study.planning import Group, plan
from svdecode.study.prepared import Prepared, prepare
from svdecode.study.preprocessing import STANDARDIZATIONS
from svdecode.study.progress import progress_bar
from svdecode.study.results import StudyResult
from svdecode.study.splits import Splits
from svdecode.study.statistics.exchange import check_exchangeable
from svdecode.study.working import compute


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
        datasets = _named(dataset)
        self.methods = read_methods(methods)
        self.rule = check_rule(choice)
        self.seeds = _seeds(seeds)
        check_choice(standardize, "standardize", STANDARDIZATIONS)
        self.choose_size = check_choice(choose_size, "choose_size", (True, False))
        self.n_permutations = check_count(n_permutations, "n_permutations", minimum=0)
        split = _with_options(check_protocol(protocol), protocol_options or {})
        self.data: list[Prepared] = prepare(datasets, split, standardize, n_inner)
        if self.n_permutations:
            _check_permutable(self.data)
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
        keeper, keys = Keeper(store), self.keys()
        n_missing = len(keeper.store.missing(keys))
        with progress_bar(f"study of {len(keys)} cells", len(keys), progress) as advance:
            advance(len(keys) - n_missing)
            writer = Writer(keeper.store, advance)
            computed = compute(self.groups, keeper.store.missing, self.rule, n_jobs=n_jobs)
            try:
                with closing(computed):
                    for cell in computed:
                        writer.put(cell)
            except KeyboardInterrupt:
                writer.flush()
                left = len(keeper.store.missing(keys))
                raise KeyboardInterrupt(keeper.stopped(len(keys) - left, len(keys))) from None
            finally:
                writer.flush()
        return StudyResult(self, keeper)

    def __repr__(self) -> str:
        names = ", ".join(method.name for method in self.methods)
        sets = f"{len(self.data)} data set{'s' if len(self.data) > 1 else ''}"
        return f"Study({names}: {len(self)} cells of {sets})"


def _named(dataset: Any) -> dict[str, Dataset]:
    if isinstance(dataset, Mapping):
        named = dict(dataset)
    else:
        named = {getattr(dataset, "name", "") or "data": dataset}
    if not named:
        raise ValueError("dataset: found none, expected a Dataset, or a dict of them")
    for name, data in named.items():
        if not isinstance(data, Dataset):
            of = f" as {name!r}" if isinstance(dataset, Mapping) else ""
            raise ValueError(f"dataset: found {type(data).__name__}{of}, expected a Dataset")
        if not (isinstance(name, str) and name):
            raise ValueError(f"dataset: found the name {name!r}, expected names that are text")
    return named


def _seeds(seeds: Any) -> list[int]:
    try:
        listed = [check_count(seed, "seeds", minimum=0) for seed in seeds]
    except TypeError:
        raise ValueError(
            f"seeds: found {seeds!r}, expected several whole numbers, such as range(10)"
        ) from None
    if not listed or len(set(listed)) < len(listed):
        found = f"{listed}, one of them twice" if listed else "none"
        raise ValueError(f"seeds: found {found}, expected at least one, each once")
    return listed


def _with_options(protocol: Callable[..., Splits], options: Mapping[str, Any]) -> Callable[[Dataset], Splits]:
    try:
        inspect.signature(protocol).bind(None, **options)
    except TypeError as error:
        raise ValueError(
            f"protocol_options: found {dict(options)} ({error}), expected its keywords"
        ) from None
    return partial(protocol, **options)


def _check_permutable(prepared: Sequence[Prepared]) -> None:
    for data in prepared:
        if any(split.classes is not None for split in data.splits):
            raise ValueError(
                "n_permutations: found splits of pairs of classes, expected a protocol whose rows do not "
                "depend on the labels that are permuted"
            )
        d = data.dataset
        check_exchangeable(d.y, runs=d.runs, subjects=d.subjects)
