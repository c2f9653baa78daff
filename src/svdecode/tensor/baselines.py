"""What the paper compares with (section 5.1): SVMs on concatenated views and on kernel CCA's projections."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from svdecode._checks import FloatArray, check_choice, check_number
from svdecode.tensor.cca import KernelCCA
from svdecode.tensor.classifiers import ViewsClassifier
from svdecode.tensor.machines import ProjectionsClassifier
from svdecode.tensor.svc import fit_svms, read_labels


class ConcatenatedSVC(ViewsClassifier, BaseEstimator):
    """Support vector machine on the features of all views put side by side: the sum of their kernels.

    Parameters
    ----------
    views : list
        As for `TensorSVC`.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view, which is centered.
    C : float, default 1.0
        Upper bound of the dual weights.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    tol : float, default 1e-3
        LIBSVM's stopping tolerance.

    Attributes
    ----------
    classes_ : array
        The classes.
    dual_coef_ : array of shape (k, n_samples)
        α_i c_i.
    intercept_ : array of shape (k,)
        Bias.
    coef_ : list of arrays of shape (k, m_v)
        Weights in the columns of each view, computed when asked for; None where its kernel is not "linear".
    kernels_ : ViewKernels
        The training samples of each view.

    See Also
    --------
    TensorSVC : With the product of the kernels.

    Notes
    -----
    A view that is missing in a new sample is taken to be at its mean. A view of much larger kernel values
    rules the sum; the kernels are not scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.tensor import ConcatenatedSVC
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.standard_normal((40, 6)) + 2 * y[:, None]
    >>> model = ConcatenatedSVC([4, 2]).fit(X, y)
    >>> [weights.shape for weights in model.coef_]
    [(1, 4), (1, 2)]
    """

    def __init__(
        self,
        views: Any,
        *,
        kernel: Any = "linear",
        C: float = 1.0,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        tol: float = 1e-3,
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol

    def fit(self, X: Any, y: Any) -> ConcatenatedSVC:
        """Fit the SVM.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        ConcatenatedSVC
            The fitted object.
        """
        C, tol = check_number(self.C, "C", positive=True), check_number(self.tol, "tol", positive=True)
        kernels = [K for K, _ in self._read_training(X)]
        self.classes_, signs = read_labels(y, self.kernels_.n_samples)
        self.dual_coef_, self.intercept_ = fit_svms(np.sum(kernels, axis=0), signs, C, tol)
        return self

    def _scores(self, X: Any) -> FloatArray:
        values, present = self._cross(X)
        for kernel, has in zip(values, present.T, strict=True):
            kernel[~has] = 0.0
        return np.asarray(np.sum(values, axis=0) @ self.dual_coef_.T + self.intercept_)

    @property
    def coef_(self) -> list[FloatArray | None]:
        """Weights in the columns of each view."""
        return [
            rows.combine(self.dual_coef_) if hasattr(rows, "mean") else None for rows in self.kernels_.rows
        ]


class KernelCCASVC(ProjectionsClassifier, BaseEstimator):
    """Support vector machine on the projections of kernel CCA.

    Parameters
    ----------
    views : list
        As for `TensorSVC`.
    use : {"paired", 0, 1}, default "paired"
        "paired": the product of the linear kernels of all views' projections; a number: that of one view.
    scale : bool, default False
        Divide the kernel of the projections by its mean diagonal, so that C means the same in any unit. The
        paper does not.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view, which is centered.
    regularization : float or list of floats, default 0.1
        As for `KernelCCA`, with `normalize=True`.
    n_components : int, optional
        Number of projections; all by default, as in the paper.
    C : float, default 1.0
        Upper bound of the dual weights.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    tol : float, default 1e-3
        LIBSVM's stopping tolerance.

    Attributes
    ----------
    classes_ : array
        The classes.
    cca_ : KernelCCA
        The projections.

    See Also
    --------
    DecomposedTensorSVC : The same on projections that know the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.tensor import KernelCCASVC
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.standard_normal((40, 6)) + 2 * y[:, None]
    >>> KernelCCASVC([4, 2], use=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        views: Any,
        *,
        use: str | int = "paired",
        scale: bool = False,
        kernel: Any = "linear",
        regularization: Any = 0.1,
        n_components: int | None = None,
        C: float = 1.0,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        tol: float = 1e-3,
    ) -> None:
        self.views = views
        self.use = use
        self.scale = scale
        self.kernel = kernel
        self.regularization = regularization
        self.n_components = n_components
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol

    def fit(self, X: Any, y: Any) -> KernelCCASVC:
        """Find the projections without the labels, and fit SVMs on them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        KernelCCASVC
            The fitted object.
        """
        check_choice(self.use, "use", ("paired", 0, 1))
        check_choice(self.scale, "scale", (True, False))
        check_number(self.C, "C", positive=True)
        check_number(self.tol, "tol", positive=True)
        inner = {
            k: v for k, v in self.get_params(deep=False).items() if k not in ("use", "scale", "C", "tol")
        }
        self.cca_ = KernelCCA(**inner, normalize=True).fit(X)
        self._take_over(self.cca_)
        self.classes_, signs = read_labels(y, self.kernels_.n_samples)
        self._fit_machines(self.kernels_.grams(), signs)
        return self

    @property
    def _duals(self) -> tuple[FloatArray, ...]:
        return self.cca_.dual_weights_

    @property
    def coef_(self) -> list[FloatArray | None]:
        """Weights of the SVM of each view alone in the columns of the view: maps."""
        return self._maps(self.cca_.weights_)
