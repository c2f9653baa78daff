"""What linear classifiers share, and the linear support vector machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, IntArray, check_number

Labels = npt.NDArray[Any]


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are X @ coef_.T + intercept_; one score for two classes, else one a class."""

    classes_: Labels
    coef_: FloatArray
    intercept_: FloatArray

    def _read(self, X: Any, y: Any) -> tuple[FloatArray, IntArray]:
        """Samples, and the number of each one's class; sets `classes_`."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y: found 1 class ({self.classes_[0]!r}), expected at least two")
        return X, codes.astype(np.intp)

    def _set_scores(self, coef: FloatArray, intercept: FloatArray) -> None:
        """Take a row a class; of two classes keep the second's lead."""
        if len(coef) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Positive for the second of two classes; else one column a class.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Labels:
        """Classes of samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples,)
            The class with the highest score; of equals the first.
        """
        return choose(self.decision_function(X), self.classes_)


def choose(scores: FloatArray, classes: Labels) -> Labels:
    """The class of the highest score; the second of two where the single score is positive."""
    return np.asarray(classes[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)])


def against_rest(codes: IntArray) -> FloatArray:
    """Targets of ±1: a column a class against the rest, a single one for two classes."""
    k = int(codes.max()) + 1
    return np.where(codes[:, None] == (np.arange(k) if k > 2 else [1]), 1.0, -1.0)


def class_means(X: FloatArray, codes: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean and share of the samples of each class."""
    member = (np.arange(codes.max() + 1)[:, None] == codes).astype(np.float64)
    counts = member.sum(axis=1)
    return member @ X / counts[:, None], counts / len(codes)


class LinearSVM(LinearClassifier):
    """Linear support vector machine with hinge loss, one class against the rest (LIBSVM).

    min ½‖w‖² + C Σ max(0, 1 − y(w·x + b)) for each class, the bias b free. The same as scikit-learn's
    ``OneVsRestClassifier(SVC(kernel="linear"))``, by way of one matrix of inner products for all classes
    when there are more features than samples.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the hinges.
    tol : float, default 1e-3
        Of LIBSVM's stopping rule.

    Attributes
    ----------
    classes_ : array
        Class labels.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Weights of the features.
    intercept_ : array of shape (1,) or (n_classes,)
        Biases.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    svdecode.study.linear_svm : With a scale, so that `C` means the same on any data.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import LinearSVM
    >>> data = load_haxby2001_slice()
    >>> LinearSVM().fit(data.X, data.y).coef_.shape
    (8, 530)
    """

    def __init__(self, C: float = 1.0, *, tol: float = 1e-3) -> None:
        self.C = C
        self.tol = tol

    def fit(self, X: Any, y: Any) -> LinearSVM:
        """Fit a machine for each class against the rest, or one for two classes.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : array of shape (n_samples,)
            Their classes.

        Returns
        -------
        LinearSVM
            The fitted object.
        """
        C = check_number(self.C, "C", positive=True)
        X, codes = self._read(X, y)
        mean = X.mean(axis=0)
        A = X - mean
        inner = A @ A.T if X.shape[1] > X.shape[0] else None
        rows, biases = [], []
        for target in against_rest(codes).T:
            machine = SVC(C=C, kernel="linear" if inner is None else "precomputed", tol=self.tol)
            machine.fit(A if inner is None else inner, target)
            rows.append(machine.dual_coef_[0] @ A[machine.support_])
            biases.append(float(machine.intercept_[0]))
        self.coef_ = np.array(rows)
        self.intercept_ = np.array(biases) - self.coef_ @ mean
        return self
