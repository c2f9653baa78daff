"""Partial least squares discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, check_count
from svdecode.reduction import reduce_rows
from svdecode.study.linear import Labels, LinearClassifier, against_rest, choose


def partial_least_squares(L: FloatArray, Y: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """PLS regression of the columns of Y (NIPALS, the leading singular vectors computed exactly).

    Parameters
    ----------
    L : array of shape (n, r)
        Coordinates of samples, centered.
    Y : array of shape (n, k)
        What is predicted, centered.
    size : int
        Number of components.

    Returns
    -------
    rotations : array of shape (size, r)
        L @ rotations.T are the coordinates; 0 where nothing is left to explain.
    loadings : array of shape (size, k)
        Coordinates @ loadings predict Y.
    """
    rotations, loadings = np.zeros((size, L.shape[1])), np.zeros((size, Y.shape[1]))
    weights, spans = np.zeros((0, L.shape[1])), np.zeros((0, L.shape[1]))
    nothing = 1e-12 * np.linalg.norm(L) * np.linalg.norm(Y)
    for i in range(size):
        U, s, _ = np.linalg.svd(L.T @ Y, full_matrices=False)
        if s[0] <= nothing:
            break
        t = L @ U[:, 0]
        energy = float(t @ t)
        span, loadings[i] = t @ L / energy, t @ Y / energy
        weights, spans = np.vstack([weights, U[:, 0]]), np.vstack([spans, span])
        L, Y = L - np.outer(t, span), Y - np.outer(t, loadings[i])
    if len(weights):
        # from weights on what is left of L to weights on L itself
        rotations[: len(weights)] = np.linalg.solve((spans @ weights.T).T, weights)
    return rotations, loadings


class PLSDA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearClassifier):
    """Partial least squares discriminant analysis: PLS regression of the classes' ±1, the highest wins.

    Parameters
    ----------
    n_components : int, default 8
        Number of components. Those beyond what the samples can give are 0.

    Attributes
    ----------
    classes_ : array
        Class labels.
    components_ : array of shape (n_components, n_features)
        Maps whose products with centered samples are the coordinates.
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    loadings_ : array of shape (n_components, 1) or (n_components, n_classes)
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
        kept = min(size, L.shape[1], len(L) - 1) if L.any() else 0
        self.mean_, self._middle = X.mean(axis=0), Y.mean(axis=0)
        self.components_, self.loadings_ = np.zeros((size, X.shape[1])), np.zeros((size, Y.shape[1]))
        if kept:
            rotations, loadings = partial_least_squares(L - L.mean(axis=0), Y - self._middle, kept)
            self.components_[:kept], self.loadings_[:kept] = reduction.lift(rotations), loadings
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
        array of shape (n_samples, n_components)
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

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
