"""All cells of a study before any is computed: what each is called, and which are computed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from svdecode.study.choice import Rule
from svdecode.study.keys import cell_key
from svdecode.study.methods import Method
from svdecode.study.naming import identity
from svdecode.study.outcomes import CHOSEN
from svdecode.study.prepared import Prepared
from svdecode.study.statistics.exchange import permutations


@dataclass(frozen=True)
class Planned:
    """A cell to be.

    Attributes
    ----------
    key : str
        What it is called.
    split : int
        Number of the split.
    size : int or None
        Number of components, or `CHOSEN`.
    """

    key: str
    split: int
    size: int | None


@dataclass(frozen=True, eq=False)
class Group:
    """Cells of one data set, method, seed and permutation, which may be computed together.

    Attributes
    ----------
    data : Prepared
        The data, with the labels that are used.
    method : Method
        The method.
    seed : int or None
        The seed, where it counts.
    permutation : int
        0 for the true labels.
    cells : list of Planned
        What is wanted.
    """

    data: Prepared
    method: Method
    seed: int | None
    permutation: int
    cells: list[Planned] = field(default_factory=list)


def plan(
    prepared: Sequence[Prepared],
    methods: Sequence[Method],
    rule: Rule,
    seeds: Sequence[int],
    *,
    choose_size: bool,
    n_permutations: int,
) -> Iterator[Group]:
    """Go through all cells of a study.

    Parameters
    ----------
    prepared : sequence of Prepared
        The data.
    methods : sequence of Method
        The methods.
    rule : Rule
        How parameters are chosen.
    seeds : sequence of int
        Seeds, for methods that are seeded; others are fitted once.
    choose_size : bool
        Whether the number of components is chosen inside too, beside those reported.
    n_permutations : int
        How often all of it is done with permuted labels.

    Yields
    ------
    Group
        The true labels first.
    """
    for permutation, data in _all_labels(prepared, n_permutations):
        for method in methods:
            for seed in seeds if method.seeded else [None]:
                group = Group(data, method, seed, permutation)
                for number in range(len(data.splits)):
                    for size in _sizes(method, choose_size):
                        key = _key(group, number, size, rule)
                        group.cells.append(Planned(key, number, size))
                yield group


def _all_labels(prepared: Sequence[Prepared], n_permutations: int) -> Iterator[tuple[int, Prepared]]:
    yield from ((0, data) for data in prepared)
    if n_permutations:
        for data in prepared:
            d = data.dataset
            # data sets of one design must not be permuted alike; the same data always are
            state = int(data.fingerprint[:8], 16)
            drawn = permutations(
                d.y, runs=d.runs, subjects=d.subjects, n_permutations=n_permutations, random_state=state
            )
            yield from ((i + 1, data.with_labels(y)) for i, y in enumerate(drawn))


def _sizes(method: Method, choose_size: bool) -> Iterable[int | None]:
    if method.sizes is None:
        return [None]
    return [*method.sizes, CHOSEN] if choose_size and len(method.sizes) > 1 else list(method.sizes)


def _key(group: Group, number: int, size: int | None, rule: Rule) -> str:
    data, method = group.data, group.method
    split = data.splits[number]
    among = {"sizes": list(method.sizes or ())} if size == CHOSEN else {}
    more = {"permutation": group.permutation} if group.permutation else {}
    parameters = {
        "make": identity(method.make),
        "fixed": dict(method.fixed),
        "grid": dict(method.grid),
        **among,
    }
    return cell_key(
        dataset=data.fingerprint,
        method=method.name,
        parameters=parameters,
        n_components=None if size == CHOSEN else size,
        protocol=data.splits.name,
        fold=split.name,
        train_rows=split.train,
        test_rows=split.test,
        seed=group.seed,
        choice=rule.name,
        inner=data.n_inner,
        standardize=data.by,
        **more,
    )
