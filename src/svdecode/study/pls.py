"""Partial least squares discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, check_count
from svdecode.reduction import reduce_rows
from svdecode.study.linear import Labels, LinearClassifier, against_rest, choose


class PLSDA(LinearClassifier):
    """Partial least squares discriminant analysis: PLS regression of the classes' ±1, the highest wins.

    Parameters
    ----------
    n_components : int, default 8
        Number of components. Those beyond what the samples can give are left out.

    Attributes
    ----------
    classes_ : array
        Class labels.
    components_ : array of shape (n, n_features)
        Maps whose products with centered samples are the coordinates; n is at most `n_components`.
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    loadings_ : array of shape (n, 1) or (n, n_classes)
        What each coordinate adds to the scores.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : array of shape (1,) or (n_classes,)
        Constants.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    sklearn.cross_decomposition.PLSRegression : The regression.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import PLSDA
    >>> data = load_haxby2001_slice()
    >>> PLSDA(5).fit(data.X, data.y).components_.shape
    (5, 530)
    """

    def __init__(self, n_components: int = 8) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> PLSDA:
        """Fit the regression.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        PLSDA
            The fitted object.
        """
        size = check_count(self.n_components, "n_components")
        X, codes = self._read(X, y)
        Y = against_rest(codes)
        reduction = reduce_rows(X)
        L = reduction.coordinates
        size = min(size, L.shape[1], len(L) - 1)
        self.mean_, self._middle = X.mean(axis=0), Y.mean(axis=0)
        self.components_, self.loadings_ = np.zeros((0, X.shape[1])), np.zeros((0, Y.shape[1]))
        if size > 0 and L.any():
            with warnings.catch_warnings():
                # it says so where nothing is left to explain: further components are 0
                warnings.filterwarnings("ignore", message="[yY] residual is constant")
                pls = PLSRegression(size, scale=False).fit(L, Y)
            self.components_ = reduction.lift(pls.x_rotations_.T)
            self.loadings_ = pls.y_loadings_.T
        self.coef_ = self.loadings_.T @ self.components_
        self.intercept_ = self._middle - self.coef_ @ self.mean_
        return self

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples, n)
            Their products with the components.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray((X - self.mean_) @ self.components_.T)

    def predict_by_size(self, X: Any, sizes: Any) -> dict[int, Labels]:
        """Classes of samples, by the fits with fewer components: those of one fit are the first ones of it.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.
        sizes : iterable of int
            Numbers of components.

        Returns
        -------
        dict of int to array of shape (n_samples,)
            What `PLSDA(size)` would predict, fitted to the same samples.
        """
        T = self.transform(X)
        out = {}
        for size in sizes:
            scores = T[:, :size] @ self.loadings_[:size] + self._middle
            out[size] = choose(scores if scores.shape[1] > 1 else scores[:, 0], self.classes_)
        return out
