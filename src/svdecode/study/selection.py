"""Selection of voxels: one by one, and recursively by the weights of a support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, IntArray, check_count, check_number
from svdecode.study.linear import LinearSVM, class_means


class _Selection(SelectorMixin, BaseEstimator):
    """Features with the lowest ranks."""

    ranking_: IntArray
    n_voxels: int

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.ranking_ < self.n_voxels

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, Any]:
        check_count(self.n_voxels, "n_voxels")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _ranks(order: Any) -> IntArray:
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    return ranks


class UnivariateSelection(_Selection):
    """Features whose means differ most between classes, each by itself (the F statistic).

    Parameters
    ----------
    n_voxels : int, default 500
        How many are kept; all where there are fewer.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        F of each feature: 0 where it is constant, infinite where it varies between classes only.
    ranking_ : array of int of shape (n_features,)
        0 for the highest score; of equals the first feature is first.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    RecursiveSelection : Features that together tell the classes apart.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import UnivariateSelection
    >>> data = load_haxby2001_slice()
    >>> UnivariateSelection(50).fit_transform(data.X, data.y).shape
    (96, 50)
    """

    def __init__(self, n_voxels: int = 500) -> None:
        self.n_voxels = n_voxels

    def fit(self, X: Any, y: Any) -> UnivariateSelection:
        """Rank the features.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        UnivariateSelection
            The fitted object.
        """
        X, y = self._read(X, y)
        codes = np.unique(y, return_inverse=True)[1]
        mean = X.mean(axis=0)
        means, shares = class_means(X - mean, codes)
        between = shares @ means**2
        within = ((X - mean - means[codes]) ** 2).mean(axis=0)
        # rounding errors of the mean are no variance
        rounding = (16 * np.finfo(float).eps * np.abs(X).max(axis=0)) ** 2
        between, within = (np.where(part <= rounding, 0.0, part) for part in (between, within))
        degrees = (len(X) - len(shares)) / max(len(shares) - 1, 1)
        ratio = np.divide(between, within, out=np.full_like(between, np.inf), where=within > 0)
        self.scores_ = np.where(between > 0, degrees * ratio, 0.0)
        self.ranking_ = _ranks(np.argsort(-self.scores_, kind="stable"))
        return self


class RecursiveSelection(_Selection):
    """Features by the weights of a linear support vector machine, half of them dropped at a time.

    Guyon et al. 2002, which Pereira & Gordon 2006 (2.6) set themselves apart from: the machine is fitted to
    the features that are left, those with the smallest sums of squared weights over the classes are
    dropped, and it is fitted again.

    Parameters
    ----------
    n_voxels : int, default 500
        How many are kept; all where there are fewer.
    C : float, default 1.0
        Weight of the machine's hinges, on data of unit scale (each step centers what is left, and
        divides it by the root mean square norm of its rows).

    Attributes
    ----------
    ranking_ : array of int of shape (n_features,)
        0 for the largest weight among those that were left at the end; features dropped earlier come later.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    UnivariateSelection : Each feature by itself.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import RecursiveSelection
    >>> data = load_haxby2001_slice()
    >>> RecursiveSelection(50).fit_transform(data.X, data.y).shape
    (96, 50)
    """

    def __init__(self, n_voxels: int = 500, *, C: float = 1.0) -> None:
        self.n_voxels = n_voxels
        self.C = C

    def fit(self, X: Any, y: Any) -> RecursiveSelection:
        """Rank the features.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        RecursiveSelection
            The fitted object.
        """
        check_number(self.C, "C", positive=True)
        X, y = self._read(X, y)
        if len(np.unique(y)) < 2:
            raise ValueError(f"y: found 1 class ({np.unique(y)[0]!r}), expected at least two")
        X = X - X.mean(axis=0)
        order = np.arange(X.shape[1])
        left = len(order)
        while True:
            own = X[:, order[:left]]
            scale = float((own**2).sum() / len(own)) ** 0.5
            weights = (LinearSVM(self.C).fit(own / scale if scale > 0 else own, y).coef_ ** 2).sum(axis=0)
            order[:left] = order[:left][np.argsort(-weights, kind="stable")]
            if left <= self.n_voxels:
                break
            left = max(left // 2, self.n_voxels)
        self.ranking_ = _ranks(order)
        return self
