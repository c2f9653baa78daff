"""Support vector machines on kernel matrices: LIBSVM, one class against the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from svdecode._checks import FloatArray


def read_labels(y: Any, n_samples: int) -> tuple[npt.NDArray[Any], FloatArray]:
    """Classes, and the labels as signs: a column for two classes, else one for each class.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class labels.
    n_samples : int
        Number of rows of X.

    Returns
    -------
    classes : array of shape (k,)
        The classes, sorted.
    signs : array of shape (n_samples, 1) or (n_samples, k)
        1 in the class (of two: the second), −1 outside.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: y: found None, expected labels")
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y: found {y.shape[1]} columns of labels, expected one label a row (y should be a 1d array)"
        )
    labels = column_or_1d(y, warn=True)
    if len(labels) != n_samples:
        raise ValueError(f"y: found {len(labels)} labels, expected one for each of the {n_samples} rows of X")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        kind = "NaN" if np.isnan(labels).any() else "infinity"
        raise ValueError(f"y: found {kind} (Input y contains {kind}), expected class labels")
    try:
        check_classification_targets(labels)
        classes, number = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y: found no class labels ({error}), expected class labels") from None
    if len(classes) < 2:
        raise ValueError(f"y: found one class only ({classes.tolist()[0]!r}), expected at least two classes")
    columns = [1] if len(classes) == 2 else range(len(classes))
    return classes, np.column_stack([np.where(number == j, 1.0, -1.0) for j in columns])


def fit_svm(K: FloatArray, signs: FloatArray, C: float, tol: float) -> tuple[FloatArray, float]:
    """Dual weights with signs, α_i c_i, and the bias of one SVM.

        max Σ α_i − ½ Σ_ij α_i α_j c_i c_j K_ij   s.t.  Σ α_i c_i = 0, 0 ≤ α_i ≤ C         (the paper's (1))

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel matrix.
    signs : array of shape (n,)
        Labels c_i in {−1, 1}.
    C : float
        Upper bound of the α_i.
    tol : float
        LIBSVM's stopping tolerance.

    Returns
    -------
    (array of shape (n,), float)
        α_i c_i, zero but for support vectors, and the bias.
    """
    model = SVC(kernel="precomputed", C=C, tol=tol).fit(K, signs)
    signed = np.zeros(len(K))
    signed[model.support_] = model.dual_coef_[0]
    return signed, float(model.intercept_[0])


def fit_svms(K: FloatArray, signs: FloatArray, C: float, tol: float) -> tuple[FloatArray, FloatArray]:
    """As `fit_svm`, for each column of `signs`: weights of shape (k, n) and biases of shape (k,)."""
    fits = [fit_svm(K, column, C, tol) for column in signs.T]
    return np.array([signed for signed, _ in fits]), np.array([bias for _, bias in fits])


def product(kernels: Iterable[FloatArray]) -> FloatArray:
    """The tensor kernel: entry by entry, the product of the views' kernels (a new array)."""
    matrices = iter(kernels)
    out = np.array(next(matrices), order="C")
    for K in matrices:
        out *= K
    return out


def decide(scores: FloatArray, classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The class with the highest score; of two, the second where the only score is above 0."""
    if scores.ndim == 1:
        return np.asarray(classes[(scores > 0).astype(np.intp)])
    return np.asarray(classes[scores.argmax(axis=1)])


def as_scores(scores: FloatArray) -> FloatArray:
    """Scores as scikit-learn has them: a vector for two classes, else a column a class."""
    return scores[:, 0] if scores.shape[1] == 1 else scores
