"""Retrieval: training samples ranked for a query by the inner product of projections.

    rank j by ⟨φ̂(q), φ̂(x_j)⟩            (Hardoon & Shawe-Taylor 2009, section 5.4)

A retrieved sample is right if it has the query's label. Samples with equal scores (one picture that was
shown twice, a constant projection) stand in no order: every figure is the exact mean over all orders of
theirs. The chance level is the same formula once more, for a query that finds all scores equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from svdecode._checks import FloatArray, IntArray, as_matrix, check_count, refuse_non_finite
from svdecode.tensor.ties import Figures, ranking


@dataclass(frozen=True)
class Retrieval:
    """How well queries found training samples of their label.

    Attributes
    ----------
    k : tuple of int
        The depths at which it was asked.
    accuracy : float
        Share of queries whose first sample is right: accuracy at 1 (the paper's Table 5).
    accuracy_at_k : array of shape (n_depths,)
        Share of queries with at least one right sample among the first k.
    precision_at_k : array of shape (n_depths,)
        Share of right samples among the first k, mean over queries.
    mean_average_precision : float
        Mean over queries of the average precision: the precision at each right sample's place, averaged.
    chance_accuracy, chance_accuracy_at_k, chance_precision_at_k, chance_mean_average_precision
        What a random order of the training samples has on average, exactly.
    query_accuracy : array of shape (n_queries,)
        Each query's own accuracy at 1; between 0 and 1 only where first places are tied.
    query_average_precision : array of shape (n_queries,)
        Each query's own average precision.

    See Also
    --------
    retrieval_scores : Makes it.

    Examples
    --------
    >>> from svdecode.tensor import retrieval_scores
    >>> found = retrieval_scores([[1.0]], [[2.0], [1.0], [-1.0]], ["a"], ["b", "a", "a"], k=2)
    >>> found.accuracy, found.accuracy_at_k.tolist()
    (0.0, [1.0])
    """

    k: tuple[int, ...]
    accuracy: float
    accuracy_at_k: FloatArray
    precision_at_k: FloatArray
    mean_average_precision: float
    chance_accuracy: float
    chance_accuracy_at_k: FloatArray
    chance_precision_at_k: FloatArray
    chance_mean_average_precision: float
    query_accuracy: FloatArray
    query_average_precision: FloatArray


def rank_training_samples(queries: Any, training: Any) -> IntArray:
    """Training samples in the order of their inner product with each query, the largest first.

    Parameters
    ----------
    queries : array of shape (n_queries, T)
        Projections of the queries.
    training : array of shape (n_samples, T)
        Projections of the training samples, of the same view or of another one.

    Returns
    -------
    array of shape (n_queries, n_samples)
        Row numbers in `training`; samples that tie stand in the order of `training`.

    See Also
    --------
    retrieval_scores : How often the first ones are right.

    Examples
    --------
    >>> from svdecode.tensor import rank_training_samples
    >>> rank_training_samples([[1.0, 0.0]], [[0.5, 3.0], [2.0, 1.0], [-1.0, 9.0]])
    array([[1, 0, 2]])
    """
    Q, T = _projections(queries, training)
    return ranking(Q, T)[0]


def retrieval_scores(
    queries: Any,
    training: Any,
    y_queries: Any,
    y_training: Any,
    *,
    k: int | Iterable[int] = (1, 5, 10),
) -> Retrieval:
    """Accuracy at 1 and at k, precision at k, mean average precision, and the chance level of each.

    Parameters
    ----------
    queries : array of shape (n_queries, T)
        Projections of the queries.
    training : array of shape (n_samples, T)
        Projections of the training samples, of the same view or of another one.
    y_queries : array of shape (n_queries,)
        Labels of the queries; what a sample must share with its query to be right. Give the identity of
        the stimulus instead to ask for the very one.
    y_training : array of shape (n_samples,)
        Labels of the training samples.
    k : int or several, default (1, 5, 10)
        Depths; those above the number of training samples are taken as that number.

    Returns
    -------
    Retrieval
        The figures. A query whose label no training sample has counts as 0 in all of them.

    See Also
    --------
    retrieve : The same from a fitted decomposition.

    Notes
    -----
    With R right samples among n, a random order has, on average, R/n right at the first place, at least one
    among the first k with probability 1 − C(n − R, k)/C(n, k), and the average precision
    (1/n) Σ_i [1 + (i − 1)(R − 1)/(n − 1)]/i.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.tensor import retrieval_scores
    >>> training = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [-1.0, 0.2]])
    >>> found = retrieval_scores([[1.0, 0.0], [0.0, 1.0]], training, [0, 1], [0, 1, 1, 0], k=[1, 2])
    >>> found.accuracy, round(found.mean_average_precision, 3), found.chance_accuracy
    (1.0, 0.792, 0.5)
    """
    Q, T = _projections(queries, training)
    depths = _depths(k, len(T))
    relevant = _relevance(y_queries, y_training, len(Q), len(T))
    order, groups = ranking(Q, T)
    found = Figures.of(np.take_along_axis(relevant, order, axis=1), groups, depths)
    chance = Figures.of(relevant, np.zeros(relevant.shape, dtype=np.intp), depths)
    return Retrieval(
        k=depths,
        accuracy=float(found.first.mean()),
        accuracy_at_k=found.any_in.mean(axis=0),
        precision_at_k=found.precision.mean(axis=0),
        mean_average_precision=float(found.average_precision.mean()),
        chance_accuracy=float(chance.first.mean()),
        chance_accuracy_at_k=chance.any_in.mean(axis=0),
        chance_precision_at_k=chance.precision.mean(axis=0),
        chance_mean_average_precision=float(chance.average_precision.mean()),
        query_accuracy=found.first,
        query_average_precision=found.average_precision,
    )


def retrieve(
    model: Any,
    X_queries: Any,
    X_training: Any,
    y_queries: Any,
    y_training: Any,
    *,
    view: int = 0,
    training_view: int | None = None,
    k: int | Iterable[int] = (1, 5, 10),
) -> Retrieval:
    """Query one view of a fitted decomposition or kernel CCA, retrieve samples by the same or another view.

    Parameters
    ----------
    model : fitted estimator
        With `transform(X, view=...)`: `TensorDecomposition`, `KernelCCA`, the `decomposition_` of a
        `DecomposedTensorSVC`.
    X_queries : array or list of arrays
        New samples, as the model's `transform` takes them; what `view` does not use may be NaN.
    X_training : array or list of arrays
        Samples that are ranked, by `training_view`.
    y_queries, y_training : arrays of shapes (n_queries,), (n_samples,)
        Their labels.
    view : int, default 0
        The view that is queried.
    training_view : int, optional
        The view that is ranked, by default the same. Across views: query a brain image, retrieve a stimulus.
    k : int or several, default (1, 5, 10)
        Depths of accuracy and precision.

    Returns
    -------
    Retrieval
        The figures and their chance levels.

    See Also
    --------
    retrieval_scores : The same from projections.

    Notes
    -----
    The views of kernel CCA are made to agree, so that a large inner product across views is a good match.
    Across the views of a tensor decomposition the inner product is the decision f(x, y) for the pair
    (Proposition 1): large where the pair looks like the positive class, not where the two belong together.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.tensor import retrieve
    >>> class Columns:
    ...     def transform(self, X, view=None):
    ...         return X[:, [0]] if view == 0 else X[:, [1]]
    >>> X = np.array([[1.0, 2.0], [-1.0, -1.0]])
    >>> retrieve(Columns(), X, X, [0, 1], [0, 1], view=0, training_view=1).accuracy
    1.0
    """
    if not hasattr(model, "transform"):
        raise ValueError(
            f"model: found {type(model).__name__}, which has no projections, expected TensorDecomposition, "
            "KernelCCA, or the decomposition_ of a DecomposedTensorSVC"
        )
    ranked = view if training_view is None else training_view
    queries = np.asarray(model.transform(X_queries, view=view))
    training = np.asarray(model.transform(X_training, view=ranked))
    return retrieval_scores(
        queries.reshape(len(queries), -1),
        training.reshape(len(training), -1),
        y_queries,
        y_training,
        k=k,
    )


def _projections(queries: Any, training: Any) -> tuple[FloatArray, FloatArray]:
    Q = np.asarray(as_matrix(queries, "queries"), dtype=np.float64)
    T = np.asarray(as_matrix(training, "training"), dtype=np.float64)
    for values, name in ((Q, "queries"), (T, "training")):
        if not np.isfinite(values).all():
            refuse_non_finite(values, name)
    if Q.shape[1] != T.shape[1]:
        raise ValueError(f"queries: found {Q.shape[1]} projections, expected {T.shape[1]} as in training")
    return Q, T


def _relevance(y_queries: Any, y_training: Any, n_queries: int, n: int) -> FloatArray:
    labels = []
    for y, count, name in ((y_queries, n_queries, "y_queries"), (y_training, n, "y_training")):
        y = np.asarray(y)
        if y.shape != (count,):
            raise ValueError(f"{name}: found labels of shape {y.shape}, expected ({count},)")
        labels.append(y)
    return np.asarray(labels[0][:, None] == labels[1][None, :], dtype=np.float64)


def _depths(k: int | Iterable[int], n: int) -> tuple[int, ...]:
    asked = tuple(k) if isinstance(k, Iterable) else (k,)
    if not asked:
        raise ValueError("k: found no depth, expected at least one")
    return tuple(min(check_count(depth, "k"), n) for depth in asked)
