"""Weight maps from the cells of a study: the data are read once more, nothing is fitted again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from svdecode._checks import FloatArray
from svdecode.study.cells import Cell
from svdecode.study.prepared import Prepared


@dataclass(frozen=True, eq=False)
class WeightMaps:
    """Maps of one method over the folds of a study.

    Attributes
    ----------
    classes : array of shape (k,)
        The class that each map speaks for; with two classes one map, of the second against the first.
    coef : array of shape (k, m)
        Mean over the folds of the coefficients, each fold's divided by its norm.
    pattern : array of shape (k, m)
        Mean over the folds of Haufe's patterns, the covariance of features and scores, divided likewise.
    stability : array of shape (k, m)
        Mean over standard deviation of the coefficients over the folds: where signs hold.
    agreement : array of shape (k,)
        Mean correlation of the folds' coefficient maps with each other.
    n_fits : int
        Folds (times seeds).

    Examples
    --------
    >>> from svdecode import Study
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import METHODS
    >>> study = Study(load_haxby2001_slice(), METHODS["svdm"](sizes=[6], shrinkage=0.1))
    >>> maps = study.run().maps("svdm")
    >>> maps.coef.shape, maps.n_fits
    ((8, 530), 12)
    """

    classes: Any
    coef: FloatArray
    pattern: FloatArray
    stability: FloatArray
    agreement: FloatArray
    n_fits: int


def weight_maps(data: Prepared, cells: Sequence[Cell]) -> WeightMaps:
    """Maps of cells of one method on one data set.

    Parameters
    ----------
    data : Prepared
        The data.
    cells : sequence of Cell
        With their coefficients over the training rows.

    Returns
    -------
    WeightMaps
        Of all of them.
    """
    if not cells:
        raise ValueError("cells: found none, expected those of one method on one data set")
    if any(cell.dual is None for cell in cells):
        raise ValueError(
            f"method: found {cells[0].method!r}, whose cells keep no coefficients over the training rows, "
            "expected a linear method whose weights are made of the training samples"
        )
    classes = cells[0].classes
    if any(len(cell.classes) != len(classes) or (cell.classes != classes).any() for cell in cells):
        raise ValueError(
            "classes: found folds trained on different classes, expected the same in all (of pairs of "
            "classes name one)"
        )
    train = {split.name: split.train for split in data.splits}
    number = {split.name: i for i, split in enumerate(data.splits)}
    units: list[FloatArray] = []
    found: list[FloatArray] = []
    for cell in cells:
        dual = np.atleast_2d(np.asarray(cell.dual))
        X = data.of_split(number[cell.fold]).dataset.X[train[cell.fold]].astype(np.float64)
        coef = (X.T @ dual.T).T  # rows of dual sum to zero: the mean drops out
        scores = X @ coef.T
        pattern = (X.T @ (scores - scores.mean(axis=0))).T / X.shape[0]
        units.append(_normed(coef))
        found.append(_normed(pattern))
    mean, n = np.mean(units, axis=0), len(units)
    spread = np.std(units, axis=0, ddof=1) if n > 1 else np.zeros_like(mean)
    stability = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)
    return WeightMaps(
        classes if len(mean) == len(classes) else classes[1:],
        mean, np.mean(found, axis=0), stability, _agreement(units), n,
    )  # fmt: skip


def _normed(maps: FloatArray) -> FloatArray:
    norms = np.linalg.norm(maps, axis=1, keepdims=True)
    return np.asarray(maps / np.where(norms > 0, norms, 1.0))


def _agreement(units: list[FloatArray]) -> FloatArray:
    """Mean correlation of each class's maps over all pairs of fits."""
    if len(units) < 2:
        return np.full(len(units[0]), np.nan)
    out = []
    for j in range(len(units[0])):
        centered = np.array([maps[j] - maps[j].mean() for maps in units])
        R = _normed(centered) @ _normed(centered).T
        out.append((R.sum() - np.trace(R)) / (len(R) * (len(R) - 1)))
    return np.asarray(out)
