"""Figures of a ranking whose scores may tie: the exact mean over all orders of what is tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from svdecode._checks import FloatArray, IntArray

EPS = float(np.finfo(np.float64).eps)


def ranking(Q: FloatArray, T: FloatArray) -> tuple[IntArray, IntArray]:
    """Order the rows of T by inner product with each row of Q, and number the groups of equal scores."""
    scores = Q @ T.T
    order = np.argsort(-scores, axis=1, kind="stable")
    groups = _ties(np.take_along_axis(scores, order, axis=1), _rounding(Q, T))
    by_row = np.lexsort((order, groups), axis=1)  # rows that tie stay in the order of T
    return np.take_along_axis(order, by_row, axis=1).astype(np.intp), groups


@dataclass(frozen=True)
class Figures:
    """Figures of each query, and at each depth."""

    first: FloatArray
    any_in: FloatArray
    precision: FloatArray
    average_precision: FloatArray

    @classmethod
    def of(cls, relevant: FloatArray, groups: IntArray, depths: tuple[int, ...]) -> Figures:
        """Return the figures of samples in the order of their scores, `groups` numbering those that tie."""
        place = np.arange(relevant.shape[1])
        first, size, right, before = _of_groups(relevant, groups)
        share = right / size
        others = np.divide(right - 1, size - 1, out=np.zeros_like(right), where=size > 1)
        # place i holds a right sample with probability share, and then as many right ones before it
        found = share * (1 + before + (place - first) * others) / (place + 1)
        total = relevant.sum(axis=1)
        average = np.divide(found.sum(axis=1), total, out=np.zeros_like(total), where=total > 0)
        any_in = [_any_within(depth, first, size, right, before) for depth in depths]
        precision = [share[:, :depth].mean(axis=1) for depth in depths]
        return cls(share[:, 0], np.column_stack(any_in), np.column_stack(precision), average)


def _of_groups(
    relevant: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return, at each place: its group's first place, size and right samples, and the right ones before."""
    n_queries, n = groups.shape
    key = (groups + n * np.arange(n_queries)[:, None]).ravel()
    size = np.bincount(key, minlength=n_queries * n)[key].reshape(n_queries, n).astype(np.float64)
    right = np.bincount(key, weights=relevant.ravel(), minlength=n_queries * n)[key].reshape(n_queries, n)
    starts = np.ones_like(groups, dtype=bool)
    starts[:, 1:] = groups[:, 1:] != groups[:, :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=1)
    passed = np.cumsum(relevant, axis=1) - relevant
    return first.astype(np.float64), size, right, np.take_along_axis(passed, first, axis=1)


def _any_within(
    depth: int, first: FloatArray, size: FloatArray, right: FloatArray, before: FloatArray
) -> FloatArray:
    """Probability of a right sample among the first `depth`, which may end within a tied group."""
    at = depth - 1
    drawn = depth - first[:, at]
    wrong = size[:, at] - right[:, at]
    possible = wrong >= drawn  # that all that are drawn are wrong: C(wrong, drawn) / C(size, drawn)
    w, s = np.where(possible, wrong, drawn), size[:, at]
    none = np.exp(gammaln(w + 1) - gammaln(w - drawn + 1) - gammaln(s + 1) + gammaln(s - drawn + 1))
    return np.asarray(np.where((before[:, at] > 0) | ~possible, 1.0, np.where(right[:, at] > 0, 1 - none, 0)))


def _ties(ordered: FloatArray, rounding: FloatArray) -> IntArray:
    """Numbers of the groups of equal scores; neighbors that differ by rounding errors are equal."""
    steps = -np.diff(ordered, axis=1) > rounding[:, None]
    return np.concatenate([np.zeros((len(ordered), 1), dtype=np.intp), np.cumsum(steps, axis=1)], axis=1)


def _rounding(Q: FloatArray, T: FloatArray) -> FloatArray:
    """For each query, what rounding errors can make of two equal scores: a sum of T products, twice."""
    largest = np.sqrt((T**2).sum(axis=1).max())
    return np.asarray(2 * (Q.shape[1] + 8) * EPS * np.sqrt((Q**2).sum(axis=1)) * largest)
