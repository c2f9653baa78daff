"""Classifiers of samples that have several views; TensorSVC reads them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from svdecode._checks import FloatArray, check_number
from svdecode.tensor.base import ViewsEstimator
from svdecode.tensor.svc import as_scores, decide, fit_svms, product, read_labels


class ViewsClassifier(ViewsEstimator, ClassifierMixin):
    """A classifier of samples that have several views."""

    classes_: npt.NDArray[Any]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Classes of new samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            New samples; a view of which they have NaN in every column (or None in a list) is missing.

        Returns
        -------
        array of shape (n_samples,)
            The class with the highest score.
        """
        return decide(self.decision_function(X), self.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of new samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            New samples; a view of which they have NaN in every column (or None in a list) is missing.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive for the second; for more a column a class, against the rest.
        """
        return as_scores(self._scores(X))

    def _scores(self, X: Any) -> FloatArray:
        raise NotImplementedError


class OneKernelSVC(ViewsClassifier):
    """One SVM on one kernel, which is made of those of all views."""

    #: what a view's kernel values are where a new sample lacks it
    _missing: float

    C: Any
    tol: Any

    def _combine(self, kernels: Sequence[FloatArray]) -> FloatArray:
        """One matrix of a matrix a view."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the SVM.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        estimator
            The fitted object.
        """
        C, tol = check_number(self.C, "C", positive=True), check_number(self.tol, "tol", positive=True)
        kernels = [K for K, _ in self._read_training(X)]
        self.classes_, signs = read_labels(y, self.kernels_.n_samples)
        self.dual_coef_, self.intercept_ = fit_svms(self._combine(kernels), signs, C, tol)
        return self

    def _scores(self, X: Any) -> FloatArray:
        values, present = self._cross(X)
        for kernel, has in zip(values, present.T, strict=True):
            kernel[~has] = self._missing
        return np.asarray(self._combine(values) @ self.dual_coef_.T + self.intercept_)


class TensorSVC(OneKernelSVC, BaseEstimator):
    """Support vector machine whose kernel is the product of the kernels of several views.

        f(x, y) = Σ_i α_i c_i κ_x(x_i, x) κ_y(y_i, y) + b       (Hardoon & Shawe-Taylor 2009, section 2)

    Its features are all products of a feature of one view with a feature of another. A view that is missing
    in a new sample counts as a kernel of ones (section 5.1.2 of the paper).

    Parameters
    ----------
    views : list
        Which columns of X are a view: an entry a view, each a slice, column numbers, a mask, a column name or
        names; or numbers of columns, which add up to those of X. If X is a list of matrices, one a view,
        only the number of entries counts. Square matrices are the training kernels themselves (then
        `fit(None, y)` will do).
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view. With "precomputed" the columns of a view are its kernel values with the
        training samples.
    C : float, default 1.0
        Upper bound of the dual weights; LIBSVM's default, which the paper takes.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    center : bool, or a list, default True
        Whether the training samples' mean is the origin of each view's feature space, as in the paper.
        Products of centered kernels cancel what each view tells by itself; ``kernel="polynomial",
        degree=1, coef0=1, center=False`` is 1 + γ⟨x, x'⟩, whose products keep it.
    tol : float, default 1e-3
        LIBSVM's stopping tolerance.

    Attributes
    ----------
    classes_ : array
        The classes; more than two are told apart one against the rest.
    dual_coef_ : array of shape (k, n_samples)
        α_i c_i, zero but for support vectors; k = 1 for two classes.
    intercept_ : array of shape (k,)
        Bias.
    kernels_ : ViewKernels
        The training samples of each view.

    See Also
    --------
    TensorDecomposition : Takes its weights apart, a projection of each view at a time.
    DecomposedTensorSVC : Classifies by these projections, also where a view is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import TensorSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 5))
    >>> y = X[:, 0] * X[:, 3] > 0
    >>> model = TensorSVC([slice(0, 3), slice(3, 5)]).fit(X[:40], y[:40])
    >>> model.score(X[40:], y[40:]) > 0.8
    True
    """

    _missing = 1.0

    def __init__(
        self,
        views: Any,
        *,
        kernel: Any = "linear",
        C: float = 1.0,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        center: Any = True,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center)
        self.C = C
        self.tol = tol

    def _combine(self, kernels: Sequence[FloatArray]) -> FloatArray:
        return product(kernels)
