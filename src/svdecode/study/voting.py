"""One-against-one voting: from classifiers of pairs of classes to one class a sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import IntArray
from svdecode.study.splits import Splits

Labels = npt.NDArray[Any]


def vote(pairs: Sequence[tuple[Any, Any]], predictions: Any, scores: Any = None) -> Labels:
    """Class for which most of the pairs' classifiers vote (Xi 2007, 1.2.2.2).

    Of classes with equally many votes those are kept that win most of the contests among them, again and
    again while that tells them apart: of two, the one that wins their own. What is left tied (three that
    beat each other in a circle) goes to the class with the largest sum of scores in the contests among the
    tied where scores are given, and at last to the one that sorts first.

    Parameters
    ----------
    pairs : sequence of (first, second)
        The classes of each classifier.
    predictions : array of shape (n_pairs, n_samples)
        What each classifier says of every sample, one of its two classes.
    scores : array of shape (n_pairs, n_samples), optional
        Decision values, positive for the second class of the pair.

    Returns
    -------
    array of shape (n_samples,)
        The winners.

    See Also
    --------
    class_pairs : Splits of the pairs, with `test="all"`.

    Examples
    --------
    >>> from svdecode.study import vote
    >>> pairs = [("cat", "dog"), ("cat", "fox"), ("dog", "fox")]
    >>> vote(pairs, [["cat", "dog"], ["cat", "fox"], ["fox", "dog"]]).tolist()
    ['cat', 'dog']
    """
    classes, codes = np.unique(np.asarray(pairs, dtype=_dtype(pairs)), return_inverse=True)
    codes = codes.reshape(-1, 2)
    said = np.asarray(predictions)
    if said.ndim != 2 or len(said) != len(codes):
        raise ValueError(
            f"predictions: found an array of shape {said.shape}, expected {len(codes)} rows, one a pair"
        )
    winners = np.where(said == classes[codes[:, 1]][:, None], codes[:, [1]], codes[:, [0]])
    wrong = classes[winners] != said
    if wrong.any():
        pair, sample = np.argwhere(wrong)[0]
        raise ValueError(
            f"predictions: found {said[pair, sample]!r} from the classifier of {tuple(pairs[pair])}, "
            "expected one of the two"
        )
    margins = None if scores is None else _check_scores(scores, said.shape)
    columns = range(said.shape[1])
    chosen = [_winner(codes, winners[:, i], None if margins is None else margins[:, i]) for i in columns]
    return np.asarray(classes[np.array(chosen, dtype=np.intp)])


def _dtype(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Numpy's own type for classes of one kind; object for others, so that 1 and "1" stay apart."""
    kinds = {type(value) for pair in pairs for value in pair}
    return None if len(kinds) == 1 else object


def _check_scores(scores: Any, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"scores: found an array of shape {values.shape}, expected {shape} as predictions")
    return values


def _winner(codes: IntArray, winners: IntArray, margins: npt.NDArray[np.float64] | None) -> int:
    tied = np.unique(codes)
    while True:
        among = np.isin(codes, tied).all(axis=1)
        votes = np.array([(winners[among] == label).sum() for label in tied])
        most = tied[votes == votes.max()]
        if len(most) in (1, len(tied)):
            break
        tied = most
    if len(most) == 1 or margins is None:
        return int(most[0])
    signed = [
        margins[among & (codes[:, 1] == c)].sum() - margins[among & (codes[:, 0] == c)].sum() for c in most
    ]
    return int(most[np.argmax(signed)])


def vote_by_fold(
    splits: Splits, predictions: Iterable[Any], scores: Iterable[Any] | None = None
) -> dict[str, tuple[IntArray, Labels]]:
    """Vote in each fold of `class_pairs(..., test="all")`.

    Parameters
    ----------
    splits : Splits
        Of `class_pairs`.
    predictions : iterable of array
        What was predicted for the test rows of each split.
    scores : iterable of array, optional
        Decision values of the same, positive for the second class of the pair.

    Returns
    -------
    dict of str to (test rows, labels)
        For each fold of the protocol beneath.

    See Also
    --------
    vote : Who wins, and how ties end.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import class_pairs, vote_by_fold
    >>> data = load_haxby2001_slice()
    >>> splits = class_pairs(data, protocol="whole_runs", n_train=9, test="all")
    >>> models = [RidgeClassifier().fit(data.X[s.train], data.y[s.train]) for s in splits]
    >>> said = [model.predict(data.X[s.test]) for model, s in zip(models, splits)]
    >>> rows, labels = vote_by_fold(splits, said)["new runs"]
    >>> bool(np.mean(labels == data.y[rows]) > 0.5)
    True
    """
    said = list(predictions)
    margins = [None] * len(said) if scores is None else list(scores)
    folds: dict[str, list[int]] = {}
    for number, part in enumerate(splits):
        folds.setdefault(part.fold, []).append(number)
    out = {}
    for fold, numbers in folds.items():
        rows = splits[numbers[0]].test
        if any(not np.array_equal(splits[i].test, rows) for i in numbers):
            raise ValueError(f"splits ({fold}): found other test rows for other pairs, expected test='all'")
        pairs = [splits[i].classes or () for i in numbers]
        own = None if scores is None else [margins[i] for i in numbers]
        out[fold] = (rows, vote(pairs, [said[i] for i in numbers], own))
    return out
