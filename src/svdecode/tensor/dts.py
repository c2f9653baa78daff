"""DecomposedTensorSVC: trained on all views together, tested on all or on one."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray
from svdecode.tensor.estimators import TensorDecomposition
from svdecode.tensor.machines import ProjectionsClassifier
from svdecode.tensor.svc import read_labels


class DecomposedTensorSVC(ProjectionsClassifier, BaseEstimator):
    """Support vector machine on the projections of a tensor decomposition (DTS).

    Trained on all views together, tested on all or on one: `use` says on which projections the final SVM
    is trained (Hardoon & Shawe-Taylor 2009, sections 5.1.1 and 5.1.2).

    Parameters
    ----------
    views : list
        Which columns of X are a view: an entry a view, each a slice, column numbers, a mask, a column name or
        names; or numbers of columns, which add up to those of X. If X is a list of matrices, one a view,
        only the number of entries counts. Square matrices are the training kernels themselves (then
        `fit(None, y)` will do).
    n_projections : {"bound", "theorem", "theorem_homogeneous", "max", "lasso"} or int, default "bound"
        Number of projections; see `TensorDecomposition`. The LASSO sees the projections that are used.
    use : {"paired", 0, 1, …}, default "paired"
        "paired": the product of the linear kernels of all views' projections. A number: that of one view
        alone, and new samples need no other.
    scale : bool, default False
        Divide the kernel of the projections by its mean diagonal, so that C means the same in any unit. The
        paper does not.
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view. With "precomputed" the columns of a view are its kernel values with the
        training samples.
    C : float, default 1.0
        Upper bound of the dual weights of both SVMs.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    center : bool, or a list, default True
        Whether the training samples' mean is the origin of each view's feature space, as in the paper.
        Products of centered kernels cancel what each view tells by itself; ``kernel="polynomial",
        degree=1, coef0=1, center=False`` is 1 + γ⟨x, x'⟩, whose products keep it.
    tol : float, default 1e-3
        LIBSVM's stopping tolerance.
    decomposition : {"cp", "tucker"}, default "cp"
        For more than two views; see `TensorDecomposition`.
    random_state : int, RandomState or None, default None
        Seed of "cp" for more than two views.

    Attributes
    ----------
    classes_ : array
        The classes; more than two are told apart one against the rest, each by its own decomposition.
    decomposition_ : TensorDecomposition
        The projections.
    n_projections_ : int
        Their number.
    coef_ : list of arrays of shape (k, m_v)
        Weights of the SVM of each view alone, taken back to its columns (the paper's Figure 4); computed when
        asked for, None where the kernel has none (see `TensorDecomposition`) or `use` has no such SVM.

    See Also
    --------
    TensorSVC : The SVM that is decomposed.

    Notes
    -----
    With "paired", SVMs on the projections of each set of views (for two: each view alone) are fitted too:
    they classify new samples that lack the others.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import DecomposedTensorSVC
    >>> rng = np.random.default_rng(0)
    >>> shown = np.tile(np.arange(24), 10)  # which of 24 pictures, of two classes
    >>> y = shown % 2
    >>> pictures = rng.standard_normal((24, 15))[shown]
    >>> brain = (rng.standard_normal((24, 80)) + y[:24, None])[shown] + 2 * rng.standard_normal((240, 80))
    >>> X = np.hstack([brain, pictures])
    >>> model = DecomposedTensorSVC([80, 15], n_projections="max").fit(X[:120], y[:120])
    >>> model.score(X[120:], y[120:]) > 0.9
    True
    >>> X[120:, 80:] = np.nan  # new scans come without pictures
    >>> model.score(X[120:], y[120:]) > 0.9
    True
    """

    def __init__(
        self,
        views: Any,
        *,
        n_projections: int | str = "bound",
        use: str | int = "paired",
        scale: bool = False,
        kernel: Any = "linear",
        C: float = 1.0,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        center: Any = True,
        tol: float = 1e-3,
        decomposition: str = "cp",
        random_state: Any = None,
    ) -> None:
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center)
        self.n_projections = n_projections
        self.use = use
        self.scale = scale
        self.C = C
        self.tol = tol
        self.decomposition = decomposition
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> DecomposedTensorSVC:
        """Fit the tensor-kernel SVM, decompose it, and fit SVMs on the projections.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : array of shape (n_samples,)
            Class labels.

        Returns
        -------
        DecomposedTensorSVC
            The fitted object.
        """
        self._check_use()
        inner = {
            name: value for name, value in self.get_params(deep=False).items() if name not in ("use", "scale")
        }
        lasso_view = None if self.use == "paired" else int(self.use)
        self.decomposition_ = TensorDecomposition(**inner, lasso_view=lasso_view).fit(X, y)
        self._take_over(self.decomposition_)
        self.classes_, self.n_projections_ = self.decomposition_.classes_, self.decomposition_.n_projections_
        self._fit_machines(self.kernels_.grams(), read_labels(y, self.kernels_.n_samples)[1])
        return self

    @property
    def _duals(self) -> tuple[FloatArray, ...]:
        return self.decomposition_.dual_weights_

    @property
    def coef_(self) -> list[FloatArray | None]:
        """Weights of the SVM of each view alone in the columns of the view: maps."""
        check_is_fitted(self)
        return self._maps(self.decomposition_.weights_)
