"""All cells of a study before any is computed: what each is called, and which are computed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
from sklearn.base import BaseEstimator, clone

from svdecode.study.choice import Rule
from svdecode.study.keys import cell_key
from svdecode.study.methods import METHODS, Method
from svdecode.study.outcomes import CHOSEN
from svdecode.study.prepared import Prepared, with_labels
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


class FromEstimator:
    """Makes copies of a scikit-learn estimator with other parameters: a method out of any classifier.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not fitted.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def __call__(self, **parameters: Any) -> Any:
        """Return a copy with these parameters."""
        return clone(self.estimator).set_params(**parameters)

    def identity(self) -> str:
        """Return what tells it from others: a hash of all that the estimator consists of."""
        return f"{type(self.estimator).__qualname__} {joblib.hash(self.estimator)}"


def read_methods(methods: Any) -> list[Method]:
    """Methods as the user may give them.

    Parameters
    ----------
    methods : str, Method, estimator, or a sequence of them, or a dict from names
        Names are those of `METHODS`.

    Returns
    -------
    list of Method
        Each with a name of its own.
    """
    if isinstance(methods, str | Method):
        methods = [methods]
    named = list(methods.items()) if isinstance(methods, Mapping) else [(None, m) for m in methods]
    found = [_method(name, value) for name, value in named]
    if not found:
        raise ValueError("methods: found none, expected at least one")
    names = [method.name for method in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"methods: found {twice!r} twice, expected names that differ")
    return found


def _method(name: str | None, value: Any) -> Method:
    if isinstance(value, Method):
        return value if name is None else Method(**{**value.__dict__, "name": name})
    if isinstance(value, str):
        if value not in METHODS:
            raise ValueError(f"methods: found {value!r}, expected one of {', '.join(map(repr, METHODS))}")
        return METHODS[value](name=name)
    if hasattr(value, "fit") and hasattr(value, "predict"):
        return Method(name or type(value).__name__, FromEstimator(value))
    raise ValueError(f"methods: found {value!r}, expected names, Methods or scikit-learn classifiers")


def _identity(method: Method) -> str:
    """What makes the estimators, as text that is the same in every run."""
    if isinstance(method.make, FromEstimator):
        return method.make.identity()
    return f"{getattr(method.make, '__module__', '')}.{getattr(method.make, '__qualname__', '')}"


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
            drawn = permutations(d.y, runs=d.runs, subjects=d.subjects, n_permutations=n_permutations)
            yield from ((i + 1, with_labels(data, y)) for i, y in enumerate(drawn))


def _sizes(method: Method, choose_size: bool) -> Iterable[int | None]:
    if method.sizes is None:
        return [None]
    return [*method.sizes, CHOSEN] if choose_size and len(method.sizes) > 1 else list(method.sizes)


def _key(group: Group, number: int, size: int | None, rule: Rule) -> str:
    data, method = group.data, group.method
    split = data.splits[number]
    among = {"sizes": list(method.sizes or ())} if size == CHOSEN else {}
    more = {"permutation": group.permutation} if group.permutation else {}
    parameters = {"make": _identity(method), "fixed": dict(method.fixed), "grid": dict(method.grid), **among}
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
