"""Labels: classes or a multi-label indicator in, a matrix of −1, 0 and 1 out, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from svdecode._checks import FloatArray

Labels = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: scores that differ by this share of the largest are equal: where no component tells the classes apart
TIED = 1e-9


@dataclass(frozen=True)
class Targets:
    """What is learned: k linear problems that share Z and W.

    Attributes
    ----------
    Y : array of shape (n, k)
        Labels in {−1, 1}, 0 where unknown. k = 1 for two classes, the number of classes (one against
        the rest) for more, the number of columns for a multi-label indicator.
    classes : array
        The classes, sorted; for an indicator the numbers of its columns.
    multilabel : bool
        Whether y was an indicator.
    """

    Y: FloatArray
    classes: Labels
    multilabel: bool


def decide(scores: FloatArray, classes: Labels, *, multilabel: bool) -> Labels:
    """Labels that belong to scores.

    Parameters
    ----------
    scores : array of shape (n, k)
        Scores of new samples.
    classes : array
        The classes.
    multilabel : bool
        Whether y was an indicator.

    Returns
    -------
    array of shape (n,) or (n, k)
        The class with the largest score (of two: by its sign; of classes that differ by rounding only, the
        first), or an indicator.
    """
    if multilabel:
        return (scores > 0).astype(np.intp)
    if scores.shape[1] == 1:
        return np.asarray(classes[(scores[:, 0] > 0).astype(np.intp)])
    rounding = TIED * np.abs(scores).max(axis=1, keepdims=True)
    return np.asarray(classes[(scores >= scores.max(axis=1, keepdims=True) - rounding).argmax(axis=1)])


def encode(y: Any, n_samples: int) -> Targets:
    """Turn y into targets.

    Parameters
    ----------
    y : array of shape (n,) or (n, k)
        Class labels (NaN or None where unknown), or a multi-label indicator in {0, 1} (NaN where
        unknown).
    n_samples : int
        Number of rows of X.

    Returns
    -------
    Targets
        The label matrix, and how to go back.
    """
    y = read_labels(y, n_samples)
    return _indicator(y) if y.ndim == 2 else _classes(y)


def read_labels(y: Any, n_samples: int) -> Labels:
    """Labels as an array with a row a sample; a single column becomes a vector.

    Parameters
    ----------
    y : array, sparse indicator, series, frame or list
        As `encode` takes it.
    n_samples : int
        Number of rows of X.

    Returns
    -------
    array of shape (n,) or (n, k)
        The same labels.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: y: found None, expected labels")
    if sp.issparse(y):
        y = y.toarray()
    y = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    if y.ndim not in (1, 2) or len(y) != n_samples:
        raise ValueError(
            f"y: found an array of shape {y.shape}, expected one row for each of the {n_samples} of X"
        )
    return np.asarray(y) if y.ndim == 2 and y.shape[1] > 1 else np.asarray(column_or_1d(y, warn=True))


def unknown(y: Labels) -> Mask:
    """Where a label is not known: NaN, None, or pandas' NA.

    Parameters
    ----------
    y : array
        Labels of any type and shape.

    Returns
    -------
    array of bool
        Of the same shape.
    """
    if y.dtype.kind == "f":
        return np.isnan(y)
    if y.dtype.kind == "O":
        missing = [
            value is None or type(value).__name__ == "NAType" or value != value
            for value in y.ravel().tolist()
        ]
        return np.array(missing, dtype=bool).reshape(y.shape)
    return np.zeros(y.shape, dtype=bool)


def _plain(known: Labels) -> Labels:
    """Labels of one type as an array of that type; such as are mixed stay as they are."""
    if known.dtype.kind != "O":
        return known
    values = known.tolist()
    for kind in (str, (bool, np.bool_), (int, np.integer), (int, float, np.integer, np.floating)):
        if values and all(isinstance(value, kind) for value in values):
            return np.array(values)
    return known


def _are_names_or_integers(known: Labels) -> bool:
    if known.dtype.kind == "f":
        return bool((known == np.rint(known)).all())
    return known.dtype.kind in "iubUS"


def _classes(y: Labels) -> Targets:
    off = unknown(y)
    known = _plain(y[~off])
    if known.dtype.kind == "f" and not np.isfinite(known).all():
        raise ValueError("y: found infinity (Input y contains infinity), expected class labels")
    if not _are_names_or_integers(known):  # the check takes longer than all else here
        try:
            check_classification_targets(known)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y: found no class labels ({error}), expected class labels") from None
    classes = np.unique(known)
    if len(classes) < 2:
        found = f"one class only ({classes.tolist()[0]!r})" if len(classes) else "no known label"
        raise ValueError(f"y: found {found}, expected at least two classes")
    Y = np.zeros((len(y), 1 if len(classes) == 2 else len(classes)))
    columns = classes[1:] if len(classes) == 2 else classes
    Y[~off] = np.where(known[:, None] == columns, 1.0, -1.0)
    return Targets(Y, classes, multilabel=False)


def _indicator(y: Labels) -> Targets:
    try:
        values = np.where(unknown(y), np.nan, y).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError("y: found a matrix that holds no numbers, expected an indicator in {0, 1}") from None
    known = ~np.isnan(values)
    if not np.isin(values[known], (0.0, 1.0)).all():
        odd = values[known][~np.isin(values[known], (0.0, 1.0))][0]
        raise ValueError(f"y: found {odd:g} in a matrix of labels, expected 0, 1, or NaN where unknown")
    if not known.any():
        raise ValueError("y: found no known label, expected at least one")
    Y = np.where(known, 2 * np.nan_to_num(values) - 1, 0.0)
    return Targets(Y, np.arange(y.shape[1]), multilabel=True)


def hinge_weights(targets: Targets, sample_weight: Any, class_weight: Any) -> FloatArray:
    """Weight of each entry's hinge.

    Parameters
    ----------
    targets : Targets
        The labels.
    sample_weight : array of shape (n,) or None
        A weight for each row.
    class_weight : {None, "balanced"} or dict
        A dict gives the weight of each class, that is of all entries of its samples. "balanced"
        gives both signs of each column the same total.

    Returns
    -------
    array of shape (n, k)
        0 where a label is unknown.
    """
    Y = targets.Y
    weights: FloatArray = (Y != 0).astype(np.float64)
    if sample_weight is not None:
        given = np.asarray(sample_weight, dtype=np.float64)
        if given.ndim == 0:
            given = np.full(len(Y), float(given))
        if given.shape != (len(Y),):
            raise ValueError(f"sample_weight: found shape {given.shape}, expected {(len(Y),)}")
        if not np.isfinite(given).all() or (given < 0).any():
            raise ValueError("sample_weight: found a negative or infinite weight, expected finite ones ≥ 0")
        weights *= given[:, None]
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight: found {class_weight!r}, expected None, 'balanced' or a dict")
        weights *= _balance(Y, weights)
    elif class_weight is not None:
        weights *= _by_class(targets, class_weight)
    if not weights.any():
        name = (
            "class_weight"
            if sample_weight is None or np.any(given[(Y != 0).any(axis=1)])
            else "sample_weight"
        )
        raise ValueError(f"{name}: found a weight of zero for every known label, expected a positive one")
    return weights


def _balance(Y: FloatArray, weights: FloatArray) -> FloatArray:
    out = np.ones(weights.shape)
    for sign in (-1.0, 1.0):
        on = sign == Y
        total = np.where(on, weights, 0.0).sum(axis=0)
        share = np.divide(weights.sum(axis=0), 2 * total, out=np.ones_like(total), where=total > 0)
        out[on] = np.broadcast_to(share, out.shape)[on]
    return out


def _by_class(targets: Targets, class_weight: Any) -> FloatArray:
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight: found {class_weight!r}, expected None, 'balanced' or a dict")
    classes = targets.classes.tolist()
    strange = [key for key in class_weight if key not in classes]
    if strange and any(c not in class_weight for c in classes):  # a fold may lack a class
        raise ValueError(f"class_weight: found {strange[0]!r}, expected classes among {classes}")
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes])
    if (factors < 0).any() or not np.isfinite(factors).all():
        raise ValueError("class_weight: found a negative or infinite weight, expected finite ones ≥ 0")
    Y = targets.Y
    if targets.multilabel:  # of the entries where a label is present
        return np.asarray(np.where(Y > 0, factors, 1.0))
    if Y.shape[1] == 1:
        return np.asarray(np.where(Y > 0, factors[1], factors[0]))
    own = (Y > 0).argmax(axis=1)
    return np.repeat(factors[own][:, None], Y.shape[1], axis=1)


def accuracy(y: Any, guess: Labels, sample_weight: Any = None) -> float:
    """Share of rows with every known label right; rows without a known label do not count.

    Parameters
    ----------
    y : array of shape (n,) or (n, k)
        True labels, some of them perhaps unknown.
    guess : array of the same shape
        Predictions.
    sample_weight : array of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    float
        The (weighted) share; NaN where no label is known.
    """
    y = read_labels(y, len(guess))
    off = unknown(y)
    right = np.logical_or(off, guess == y).reshape(len(y), -1).all(axis=1)
    known = (~off).reshape(len(y), -1).any(axis=1)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = float(weights[known].sum())
    return float(weights[known] @ right[known]) / total if total > 0 else float("nan")
