"""What a decoding does: taken from what is known of the data where nothing is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from svdecode._checks import check_choice, check_count
from svdecode.imaging import Dataset
from svdecode.study import (
    METHODS,
    PROTOCOLS,
    STANDARDIZATIONS,
    Method,
    Splits,
    check_standardization,
    make_splits,
    torn_units,
)

#: what the page calls the methods that it knows best
TITLES = {"svdm": "SVDM", "svd_svm": "SVD + SVM", "linear_svm": "SVM on all voxels"}
DEFAULT_METHODS = tuple(TITLES)
COMPONENTS = (2, 4, 8, 16, 32)
SHRINKAGES = (3.0, 1.0, 0.3)
C = (0.1, 1.0, 10.0)
N_INNER = 5
N_PERMUTATIONS = 99
N_FOLDS = 5
#: the parameters of the permutation test's SVDM: fixed in the package, not chosen by the labels
PERMUTED_COMPONENTS, PERMUTED_SHRINKAGE = 8, 1.0


@dataclass(frozen=True)
class Settings:
    """What is done with the data.

    Attributes
    ----------
    protocol : str
        Name of the protocol.
    methods : tuple of Method
        What is compared, the one that the page is about first.
    components : tuple of int
        Numbers of components that are reported, and chosen from.
    standardize : str or None
        By what columns are standardized.
    n_inner : int
        Folds in which weights and the number of components are chosen.
    choice : str
        Rule of choice.
    n_permutations : int
        Of the permutation test.
    permute : {"fixed", "all"}
        Whether the permutation test repeats the choice.
    seed : int
        Of what is random.
    why : tuple of str
        Reasons for what was not asked for, a sentence each.
    """

    protocol: str
    methods: tuple[Method, ...]
    components: tuple[int, ...]
    standardize: str | None
    n_inner: int
    choice: str
    n_permutations: int
    permute: str
    seed: int
    why: tuple[str, ...] = ()

    def splits(self, dataset: Dataset) -> Splits:
        """Divide the rows of a dataset."""
        splits: Splits = protocol_function(self.protocol, self.seed)(dataset)
        return splits

    @property
    def title(self) -> str:
        """Name of the method that the page is about."""
        return self.methods[0].name


def stratified_folds(dataset: Dataset, *, n_folds: int = N_FOLDS, random_state: int = 0) -> Splits:
    """Samples in folds that have all classes alike: for samples that know neither runs nor subjects."""
    if dataset.y.ndim != 1:
        raise ValueError(f"y: found {dataset.y.shape[1]} columns of labels, expected one class a sample")
    fewest = int(np.unique(dataset.y, return_counts=True)[1].min())
    if fewest < 2:
        raise ValueError("labels: found a class with one sample only, expected at least two of each")
    folds = StratifiedKFold(min(n_folds, fewest), shuffle=True, random_state=random_state)
    parts = (
        (train, test, f"fold {i + 1}") for i, (train, test) in enumerate(folds.split(dataset.y, dataset.y))
    )
    return make_splits(dataset, "stratified_folds", parts)


def protocol_function(name: str, seed: int) -> Any:
    """Return the function that a name stands for."""
    if name == "stratified_folds":
        return partial(stratified_folds, random_state=seed)
    return PROTOCOLS[check_choice(name, "protocol", ("stratified_folds", *PROTOCOLS))]


def settle(
    dataset: Dataset,
    *,
    protocol: str | None,
    methods: Iterable[str] | str | None,
    components: Iterable[int] | int | None,
    standardize: str | None,
    n_inner: int,
    choice: str,
    n_permutations: int,
    permute: str,
    seed: int,
) -> tuple[Settings, Splits]:
    """Find what is to be done, and the splits.

    Parameters
    ----------
    dataset : Dataset
        The data.
    protocol, methods, components, standardize, n_inner, choice, n_permutations, permute, seed : object
        As for `decode`.

    Returns
    -------
    Settings
        All of it decided.
    Splits
        Of the rows of the dataset.
    """
    if not isinstance(dataset, Dataset):
        raise ValueError(f"dataset: found {type(dataset).__name__}, expected a Dataset (see read_dataset)")
    if dataset.y.ndim != 1:
        raise ValueError(f"y: found {dataset.y.shape[1]} columns of labels, expected one class a sample")
    if len(dataset.classes) < 2:
        raise ValueError(f"labels: found one class ({dataset.classes[0]}), expected at least two")
    why = []
    if protocol is None:
        protocol, reason = usual_protocol(dataset)
        why.append(reason)
    seed = check_count(seed, "seed", minimum=0)
    splits = protocol_function(protocol, seed)(dataset)
    if standardize == "auto":
        standardize, reason = usual_standardization(dataset, splits)
        why.append(reason)
    check_choice(standardize, "standardize", ("auto", *STANDARDIZATIONS))
    check_standardization(dataset, splits, standardize)
    sizes = _sizes(components, min(len(part.train) for part in splits), dataset.n_features)
    settings = Settings(
        protocol,
        _methods(methods, sizes),
        sizes,
        standardize,
        check_count(n_inner, "n_inner", minimum=2),
        choice,
        check_count(n_permutations, "n_permutations", minimum=0),
        check_choice(permute, "permute", ("fixed", "all")),
        seed,
        tuple(why),
    )
    return settings, splits


def usual_protocol(dataset: Dataset) -> tuple[str, str]:
    """The protocol for what is known of the samples, and the reason."""
    if _count(dataset.subjects) > 1:
        return "leave_one_subject_out", (
            "Each subject was left out in turn, because the samples come from several subjects: the "
            "accuracy speaks of new people."
        )
    if _count(dataset.runs) > 1:
        return "leave_one_run_out", (
            "Each run was left out in turn, because samples of one run share its drift and its noise: the "
            "accuracy speaks of new runs of the same subject."
        )
    return "stratified_folds", (
        "Samples were left out in stratified folds, because neither runs nor subjects are named: if samples "
        "that follow each other in time resemble each other, the accuracy is too high."
    )


def usual_standardization(dataset: Dataset, splits: Splits) -> tuple[str, str]:
    """By what columns are standardized, and the reason."""
    whole = _count(dataset.runs) > 1 and not torn_units(dataset, splits, "runs")
    if whole and all(_least(dataset, name) > 2 for name in ("runs",)):
        return "run", (
            "Voxels were standardized within each run, labels not looked at; no run stands on both sides of "
            "a split."
        )
    return "training", "Voxels were standardized by the mean and deviation of the training samples alone."


def _least(dataset: Dataset, name: str) -> int:
    from svdecode.study import unit_codes

    return int(np.bincount(unit_codes(dataset, name)).min())


def _count(values: Any) -> int:
    return 0 if values is None else len(np.unique(values))


def _sizes(components: Any, n_train: int, n_features: int) -> tuple[int, ...]:
    most = min(n_train - 1, n_features)
    if components is None:
        return tuple(size for size in COMPONENTS if size <= most) or (1,)
    values = [components] if isinstance(components, int) else list(components)
    sizes = sorted({check_count(value, "components") for value in values})
    if not sizes:
        raise ValueError("components: found none, expected at least one number")
    if sizes[-1] > most:
        raise ValueError(
            f"components: found {sizes[-1]}, expected at most {most}, the rank of the smallest training set"
        )
    return tuple(sizes)


def _methods(methods: Any, sizes: Sequence[int]) -> tuple[Method, ...]:
    names = DEFAULT_METHODS if methods is None else (methods,) if isinstance(methods, str) else tuple(methods)
    if not names:
        raise ValueError("methods: found none, expected at least one")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"methods: found {twice!r} twice, expected names that differ")
    return tuple(_method(name, sizes) for name in names)


def _method(name: str, sizes: Sequence[int]) -> Method:
    check_choice(name, "methods", tuple(METHODS))
    bare = METHODS[name]()
    parameters: dict[str, Any] = {} if bare.sizes is None else {"sizes": sizes}
    if "shrinkage" in bare.grid:
        parameters["shrinkage"] = SHRINKAGES
    if "C" in bare.grid:
        parameters["C"] = C if len(bare.grid["C"]) > 1 else bare.grid["C"]
    return METHODS[name](name=TITLES.get(name, name), **parameters)
