"""What the paper compares with (section 5.1): SVMs on concatenated views and on kernel CCA's projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_number
from svdecode.tensor.cca import KernelCCA
from svdecode.tensor.classifiers import OneKernelSVC
from svdecode.tensor.kernels import in_columns
from svdecode.tensor.machines import ProjectionsClassifier
from svdecode.tensor.svc import read_labels


class ConcatenatedSVC(OneKernelSVC, BaseEstimator):
    """Support vector machine on the features of all views put side by side: the sum of their kernels.

    Parameters
    ----------
    views : list
        As for `TensorSVC`.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view. It is centered, which changes nothing for samples that have all views.
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
        Weights in the columns of each view, computed when asked for; None where its kernel has none.
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

    _missing = 0.0

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
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0)
        self.C = C
        self.tol = tol

    def _combine(self, kernels: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(np.sum(kernels, axis=0))

    @property
    def coef_(self) -> list[FloatArray | None]:
        """Weights in the columns of each view."""
        check_is_fitted(self)
        return [in_columns(rows, self.dual_coef_) for rows in self.kernels_.rows]


class KernelCCASVC(ProjectionsClassifier, BaseEstimator):
    """Support vector machine on the projections of kernel CCA.

    Parameters
    ----------
    views : list
        As for `TensorSVC`.
    use : {"paired", 0, 1, …}, default "paired"
        "paired": the product of the linear kernels of all views' projections; a number: that of one view.
    scale : bool, default False
        Divide the kernel of the projections by its mean diagonal, so that C means the same in any unit. The
        paper does not.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view.
    regularization : float or list of floats, default 0.1
        As for `KernelCCA`, with `normalize=True`.
    n_components : int, optional
        Number of projections; all by default, as in the paper.
    C : float, default 1.0
        Upper bound of the dual weights.
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
        center: Any = True,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center)
        self.use = use
        self.scale = scale
        self.regularization = regularization
        self.n_components = n_components
        self.C = C
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
        self._check_use()
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
        check_is_fitted(self)
        return self._maps(self.cca_.weights_)
