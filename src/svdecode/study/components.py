"""Representations of low dimension: singular directions, independent components, a learned metric.

Each is a transformer with `components_`, maps of the features, whose products with centered samples are the
coordinates. Sizes above what the data have are allowed: spare coordinates are 0, as in SVDMClassifier.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import FastICA
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, check_count
from svdecode.reduction import reduce_rows


class LinearCoordinates(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer whose coordinates are products of centered samples with `components_`."""

    mean_: FloatArray
    components_: FloatArray

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples, n_components)
            (X − mean) @ components_.T.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray((X - self.mean_) @ self.components_.T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def singular_directions(X: FloatArray, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left and right singular vectors of the centered rows, and singular values: at most `size`.

    Signs are chosen by the rows' own coordinates (the largest is positive), so that they do not change with
    a rotation of the features.

    Parameters
    ----------
    X : array of shape (n, m)
        Rows.
    size : int
        How many.

    Returns
    -------
    U : array of shape (n, r)
        Left singular vectors.
    s : array of shape (r,)
        Singular values, the largest first, none that is rounding error.
    V : array of shape (r, m)
        Right singular vectors.
    """
    reduction = reduce_rows(X)
    U, s, Vt = np.linalg.svd(reduction.coordinates, full_matrices=False)
    kept = min(size, len(X) - 1, int((s > max(X.shape) * np.finfo(float).eps * s.max(initial=0.0)).sum()))
    if kept == 0:
        return np.zeros((len(X), 0)), np.zeros(0), np.zeros((0, X.shape[1]))
    U, s, Vt = U[:, :kept], s[:kept], Vt[:kept]
    signs = np.where(U[np.abs(U).argmax(axis=0), np.arange(kept)] < 0, -1.0, 1.0)
    return U * signs, s, reduction.lift(Vt * signs[:, None])


def _padded(components: FloatArray, size: int) -> FloatArray:
    return np.pad(components, ((0, size - len(components)), (0, 0)))


class SingularComponents(LinearCoordinates):
    """Coordinates on the first singular directions of the centered data (SVD, PCA).

    The same as scikit-learn's PCA with its full solver, at the cost of one matrix of inner products.

    Parameters
    ----------
    n_components : int, default 8
        How many.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Right singular vectors; rows of zeros above the rank.
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    singular_values_ : array of shape (n_components,)
        Singular values.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    IndependentComponents : The same space in other directions.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import SingularComponents
    >>> SingularComponents(5).fit_transform(load_haxby2001_slice().X).shape
    (96, 5)
    """

    def __init__(self, n_components: int = 8) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> SingularComponents:
        """Find the directions.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : object
            Not looked at.

        Returns
        -------
        SingularComponents
            The fitted object.
        """
        del y
        size = check_count(self.n_components, "n_components")
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        _, s, V = singular_directions(X, size)
        self.mean_ = X.mean(axis=0)
        self.components_ = _padded(V, size)
        self.singular_values_ = np.pad(s, (0, size - len(s)))
        return self


class IndependentComponents(LinearCoordinates):
    """Coordinates that are as independent as possible over the samples (FastICA after SVD).

    Samples are the observations and coordinates the sources, as in Hastie et al. 2001, which Pereira &
    Gordon 2006 refer to. (Spatial ICA, whose maps are independent over voxels, is another thing.)
    Coordinates have unit variance.

    Parameters
    ----------
    n_components : int, default 8
        How many.
    tol : float, default 1e-8
        Of FastICA's stopping rule; with scikit-learn's 1e-4 it can stop where it starts, at a saddle point.
    max_iter : int, default 500
        Iterations of FastICA at most; it warns when they do not suffice. On few samples, or more components
        than a handful, they often do not: the result then depends on rounding errors.
    random_state : int or None, default 0
        Seed of its start.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        What the centered samples are multiplied with; rows of zeros above the rank.
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    n_iter_ : int
        Iterations of FastICA.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    SingularComponents : The directions of largest variance.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import IndependentComponents
    >>> IndependentComponents(5).fit_transform(load_haxby2001_slice().X).shape
    (96, 5)
    """

    def __init__(
        self, n_components: int = 8, *, tol: float = 1e-8, max_iter: int = 500, random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> IndependentComponents:
        """Find the components.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : object
            Not looked at.

        Returns
        -------
        IndependentComponents
            The fitted object.
        """
        del y
        size = check_count(self.n_components, "n_components")
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        U, s, V = singular_directions(X, size)
        self.mean_ = X.mean(axis=0)
        self.n_iter_ = 0
        if len(s):
            seed = self.random_state
            ica = FastICA(whiten=False, tol=self.tol, max_iter=self.max_iter, random_state=seed)
            unmixing = ica.fit(U * np.sqrt(len(X))).components_
            self.n_iter_ = int(ica.n_iter_)
            V = unmixing @ (V * (np.sqrt(len(X)) / s)[:, None])
        self.components_ = _padded(V, size)
        return self


class NeighborhoodComponents(LinearCoordinates):
    """Neighborhood components analysis: a projection in which neighbors are of one class.

    scikit-learn's, started at the directions of largest variance. It works on every pair of samples
    and every feature: reduce the features before.

    Parameters
    ----------
    n_components : int, default 8
        Dimension of the projection.
    max_iter : int, default 50
        Iterations of L-BFGS at most.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The projection; rows of zeros above the number of features that vary.
    mean_ : array of shape (n_features,)
        Mean of the training samples.
    n_iter_ : int
        Iterations of L-BFGS.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    svdecode.study.nca : After SVD, with a nearest-neighbor classifier.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import NeighborhoodComponents, SingularComponents
    >>> data = load_haxby2001_slice()
    >>> Z = SingularComponents(10).fit_transform(data.X)
    >>> NeighborhoodComponents(3).fit(Z, data.y).transform(Z).shape
    (96, 3)
    """

    def __init__(self, n_components: int = 8, *, max_iter: int = 50) -> None:
        self.n_components = n_components
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> NeighborhoodComponents:
        """Learn the projection.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        NeighborhoodComponents
            The fitted object.
        """
        size = check_count(self.n_components, "n_components")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        self.mean_ = X.mean(axis=0)
        varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
        self.components_ = np.zeros((size, X.shape[1]))
        kept = min(size, len(varying), len(X))
        self.n_iter_ = 0
        if kept:
            learner = NeighborhoodComponentsAnalysis(kept, init="pca", max_iter=self.max_iter, random_state=0)
            learner.fit((X - self.mean_)[:, varying], y)
            self.components_[:kept, varying] = learner.components_
            self.n_iter_ = int(learner.n_iter_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
