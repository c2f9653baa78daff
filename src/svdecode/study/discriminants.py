"""Classifiers of means and variances: Gaussian naive Bayes and shrinkage LDA."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, check_choice, check_number
from svdecode.study.linear import LinearClassifier, class_means

#: share of the largest variance that is added to all, as in scikit-learn
SMOOTHING = 1e-9


class GaussianNaiveBayes(LinearClassifier):
    """Gaussian naive Bayes with one variance a feature, pooled over the classes, so that it is linear.

    Pereira & Gordon 2006 map the weights of its discriminant on the voxels (3.4, figure 3): that takes
    variances that the classes share, within-class variances that is. With `variances="class"` each class
    has its own, as in scikit-learn's GaussianNB, and there are no such weights.

    Parameters
    ----------
    variances : {"pooled", "class"}, default "pooled"
        One variance a feature, or one a feature and class.

    Attributes
    ----------
    classes_ : array
        Class labels.
    means_ : array of shape (n_classes, n_features)
        Mean of each class.
    variances_ : array of shape (n_classes, n_features)
        Variance of each feature in each class.
    priors_ : array of shape (n_classes,)
        Shares of the classes in the training samples.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        "pooled": weights of the features.
    intercept_ : array of shape (1,) or (n_classes,)
        "pooled": constants.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    ShrinkageLDA : With covariances between features.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import GaussianNaiveBayes
    >>> data = load_haxby2001_slice()
    >>> GaussianNaiveBayes().fit(data.X, data.y).coef_.shape
    (8, 530)
    """

    def __init__(self, *, variances: str = "pooled") -> None:
        self.variances = variances

    def fit(self, X: Any, y: Any) -> GaussianNaiveBayes:
        """Estimate means, variances and shares.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        GaussianNaiveBayes
            The fitted object.
        """
        check_choice(self.variances, "variances", ("pooled", "class"))
        X, codes = self._read(X, y)
        self.means_, self.priors_ = class_means(X, codes)
        squares = (X - self.means_[codes]) ** 2
        floor = max(SMOOTHING * float(X.var(axis=0).max()), np.finfo(float).tiny)
        if self.variances == "class":
            self.variances_ = class_means(squares, codes)[0] + floor
            return self
        pooled = squares.mean(axis=0) + floor
        self.variances_ = np.tile(pooled, (len(self.classes_), 1))
        mean = X.mean(axis=0)  # taken as origin: differences of squares of large numbers lose digits
        centers = self.means_ - mean
        coef = centers / pooled
        self._set_scores(coef, np.log(self.priors_) - 0.5 * (coef * centers).sum(axis=1) - coef @ mean)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Log of each class's prior times its density, up to what the classes share.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            For two classes the second's less the first's.
        """
        if self.variances == "pooled":
            return super().decision_function(X)
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        constants = np.log(self.priors_) - 0.5 * np.log(self.variances_).sum(axis=1)
        parts = zip(self.means_, self.variances_, constants, strict=True)
        scores = np.column_stack([c - 0.5 * ((X - mean) ** 2 / v).sum(axis=1) for mean, v, c in parts])
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores


class ShrinkageLDA(LinearClassifier):
    """Linear discriminant analysis with a covariance shrunk towards a multiple of the identity.

    Σ = (1 − s) S + s μ I, with S the covariance within classes, μ the mean of its diagonal, and s after
    Ledoit and Wolf. Only inner products of samples are formed, so that it takes any number of features;
    no feature is standardized (scikit-learn's ``shrinkage="auto"`` does).

    Parameters
    ----------
    shrinkage : "auto" or float, default "auto"
        The s, above 0 and at most 1.

    Attributes
    ----------
    classes_ : array
        Class labels.
    shrinkage_ : float
        The s that was used.
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
    GaussianNaiveBayes : Without covariances.

    References
    ----------
    O. Ledoit, M. Wolf: A well-conditioned estimator for large-dimensional covariance matrices. Journal of
    Multivariate Analysis 88, 365-411, 2004.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import ShrinkageLDA
    >>> data = load_haxby2001_slice()
    >>> 0 < ShrinkageLDA().fit(data.X, data.y).shrinkage_ < 1
    True
    """

    def __init__(self, *, shrinkage: Any = "auto") -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> ShrinkageLDA:
        """Estimate means and covariance.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        ShrinkageLDA
            The fitted object.
        """
        X, codes = self._read(X, y)
        (n, m), origin = X.shape, X.mean(axis=0)
        means, shares = class_means(X, codes)
        A, centers = X - means[codes], means - origin
        K = A @ A.T
        mu = float(np.trace(K)) / (n * m)
        if isinstance(self.shrinkage, str) and self.shrinkage == "auto":
            s = ledoit_wolf(K, m)
        else:
            s = check_number(self.shrinkage, "shrinkage", positive=True)
            if s > 1:
                raise ValueError(f"shrinkage: found {s:g}, expected at most 1")
        self.shrinkage_ = s
        if mu <= 0:  # no sample differs from its class's mean
            coef = centers
        else:  # Σ⁻¹ by Woodbury's identity
            inner = cho_factor((1 - s) * K + n * s * mu * np.eye(n))
            coef = (centers - (1 - s) * cho_solve(inner, A @ centers.T).T @ A) / (s * mu)
        constants = np.log(shares) - 0.5 * (coef * centers).sum(axis=1) - coef @ origin
        self._set_scores(coef, constants)
        return self


def ledoit_wolf(K: FloatArray, n_features: int) -> float:
    """Intensity of shrinkage after Ledoit and Wolf, from the inner products of centered rows.

    Parameters
    ----------
    K : array of shape (n, n)
        Inner products.
    n_features : int
        Length of the rows.

    Returns
    -------
    float
        Between 1e-6 and 1 (0 would leave the covariance singular).
    """
    n = len(K)
    mu = float(np.trace(K)) / (n * n_features)
    squares = float((K**2).sum()) / n**2  # ‖S‖²
    distance = squares - n_features * mu**2  # ‖S − μI‖²
    variance = (float((np.diag(K) ** 2).sum()) / n - squares) / n
    return float(np.clip(variance / distance, 1e-6, 1.0)) if distance > 0 else 1.0
