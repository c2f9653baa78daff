"""Labels change places within runs only: there, and only there, each might have been another's."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import IntArray, check_count
from svdecode.study.statistics.units import block_name, run_codes


def permute_within(y: Any, *, runs: Any = None, subjects: Any = None, random_state: Any = None) -> Any:
    """Let labels change places within each run of each subject.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Labels; the labels of a sample stay together.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample. Without both, all samples are one block.
    random_state : int, numpy Generator or None
        Seed, or a generator to go on with.

    Returns
    -------
    array
        The labels, permuted.

    Examples
    --------
    >>> from svdecode.study.statistics import permute_within
    >>> permute_within(["a", "b", "b", "c"], runs=[1, 1, 2, 2], random_state=0).tolist()
    ['b', 'a', 'c', 'b']
    """
    labels = np.asarray(y)
    rng = np.random.default_rng(random_state)
    return labels[_order(run_codes(len(labels), runs, subjects), rng)]


def permutations(
    y: Any,
    *,
    runs: Any = None,
    subjects: Any = None,
    n_permutations: int = 999,
    random_state: int | None = 0,
) -> Iterator[npt.NDArray[Any]]:
    """Go through permuted labels.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_labels)
        The true labels. A run with one class only is refused: no permutation changes it.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample.
    n_permutations : int, default 999
        How many.
    random_state : int or None, default 0
        Seed. The i-th permutation is the same whatever their number, so that more can be added.

    Returns
    -------
    iterator of array
        One permutation after the other.

    Examples
    --------
    >>> from svdecode.study.statistics import permutations
    >>> [labels.tolist() for labels in permutations([0, 1, 2], n_permutations=2, random_state=0)]
    [[2, 1, 0], [0, 1, 2]]
    """
    labels = np.asarray(y)
    codes = run_codes(len(labels), runs, subjects)
    check_exchangeable(labels, runs=runs, subjects=subjects)
    n = check_count(n_permutations, "n_permutations")
    rng = np.random.default_rng(random_state)
    return (labels[_order(codes, rng)] for _ in range(n))


def _order(codes: IntArray, rng: np.random.Generator) -> IntArray:
    """A random order of the samples that keeps every one in its block."""
    order = np.empty(len(codes), dtype=np.intp)
    by_block = np.argsort(codes, kind="stable")
    order[by_block] = np.lexsort((rng.random(len(codes)), codes))
    return order


def check_exchangeable(y: Any, *, runs: Any = None, subjects: Any = None) -> None:
    """Refuse labels that permuting within runs can't change.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_labels)
        The labels.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample.

    Examples
    --------
    >>> from svdecode.study.statistics import check_exchangeable
    >>> check_exchangeable([0, 1, 1, 1], runs=[1, 1, 2, 2])
    Traceback (most recent call last):
    ValueError: runs: found one class only in run 2, expected two or more in every run: permuting within it
    changes nothing. Leave it out, or permute within larger blocks if its samples might have had other labels
    """
    labels = np.asarray(y)
    codes = run_codes(len(labels), runs, subjects)
    lonely = [first for first, counts in _blocks(labels, codes) if len(counts) < 2]
    if lonely:
        names = block_name(lonely[0], runs, subjects)
        more = f" and {len(lonely) - 1} more" if len(lonely) > 1 else ""
        name = "runs" if runs is not None else "subjects" if subjects is not None else "y"
        raise ValueError(
            f"{name}: found one class only in {names}{more}, expected two or more in every run: "
            "permuting within it changes nothing. Leave it out, or permute within larger blocks if its "
            "samples might have had other labels"
        )


def count_arrangements(y: Any, *, runs: Any = None, subjects: Any = None) -> int:
    """Count the arrangements of labels that permuting within runs can give.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_labels)
        The labels.
    runs, subjects : array of shape (n_samples,), optional
        Run and subject of each sample.

    Returns
    -------
    int
        The number, the true one included.

    Examples
    --------
    >>> from svdecode.study.statistics import count_arrangements
    >>> count_arrangements([0, 1, 0, 1], runs=[1, 1, 2, 2]), count_arrangements([0, 1, 0, 1])
    (4, 6)
    """
    labels = np.asarray(y)
    total = 1
    for _, counts in _blocks(labels, run_codes(len(labels), runs, subjects)):
        left = sum(counts)
        for count in counts:
            total *= comb(left, count)
            left -= count
    return total


def _blocks(labels: npt.NDArray[Any], codes: IntArray) -> Iterator[tuple[int, list[int]]]:
    """The first sample of each block, and how many samples have each of its labels."""
    for block in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == block)
        counts = np.unique(labels[rows], axis=0, return_counts=True)[1]
        yield int(rows[0]), counts.tolist()
