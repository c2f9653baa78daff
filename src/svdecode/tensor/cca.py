"""Kernel canonical correlation analysis, regularized: projections of views that go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from svdecode._checks import FloatArray, check_choice, check_count, check_number
from svdecode.reduction.rows import EPS
from svdecode.tensor.base import ViewProjections
from svdecode.tensor.factors import INDEFINITE, indefinite


def canonical_duals(
    kernels: Sequence[FloatArray], penalties: Sequence[tuple[float, float]], noises: Sequence[float]
) -> tuple[list[FloatArray], FloatArray]:
    """Dual weights and canonical correlations.

        max Σ_{u<v} β_uᵀ K_u K_v β_v/(n − 1)   s.t.   β_vᵀ (a_v K_v²/(n − 1) + b_v K_v) β_v = 1

    for two views; for more, the leading eigenvectors of the same generalized eigenproblem, whose scale is
    common to the views.

    Parameters
    ----------
    kernels : list of arrays of shape (n, n)
        Centered kernel matrices.
    penalties : list of (float, float)
        a and b of each view.
    noises : list of float
        Eigenvalues that rounding errors can make.

    Returns
    -------
    (list of arrays of shape (n, r), array of shape (r,))
        β of each view and the correlations, descending; r is the smallest rank.
    """
    n = len(kernels[0])
    whitened, backs = [], []
    for K, (a, b), noise in zip(kernels, penalties, noises, strict=True):
        values, U = np.linalg.eigh(K)
        if values[0] < -INDEFINITE * np.abs(values).max():
            raise indefinite(K, values[0])
        kept = values > max(noise, n * EPS * values[-1])
        values, U = values[kept], U[:, kept]
        size = np.sqrt(a * values / (n - 1) + b)
        whitened.append(U * (np.sqrt(values / (n - 1)) / size))
        backs.append(U / (np.sqrt(values) * size))
    small = min(part.shape[1] for part in whitened)
    if len(kernels) == 2:
        P, correlations, Qt = np.linalg.svd(whitened[0].T @ whitened[1], full_matrices=False)
        parts = [P[:, :small], Qt.T[:, :small]]
    else:
        widths = np.cumsum([part.shape[1] for part in whitened])[:-1]
        A = np.hstack(whitened)
        cross = A.T @ A
        for block in np.split(np.arange(A.shape[1]), widths):
            cross[np.ix_(block, block)] = 0.0
        values, vectors = np.linalg.eigh(cross)
        correlations = values[::-1][:small] / (len(kernels) - 1)
        parts = np.split(vectors[:, ::-1][:, :small] * np.sqrt(len(kernels)), widths)
    duals = [back @ part for back, part in zip(backs, parts, strict=True)]
    first = duals[0]
    if first.size:
        largest = first[np.abs(first).argmax(axis=0), np.arange(small)]
        duals = [dual * np.where(largest < 0, -1.0, 1.0) for dual in duals]
    return duals, correlations[:small]


class KernelCCA(ViewProjections, TransformerMixin, BaseEstimator):
    """Regularized kernel canonical correlation analysis.

        max β_xᵀ K_x K_y β_y/(n − 1)   s.t.   β_vᵀ ((1 − c) K_v²/(n − 1) + c K_v) β_v = 1 in both views v

    that is, projections of greatest covariance, whose variance weighs 1 − c and whose squared length ‖w‖²
    weighs c: c = 0 is canonical correlation analysis, c = 1 partial least squares. It does not see labels.

    Parameters
    ----------
    views : list
        Which columns of X are a view: an entry a view, each a slice, column numbers, a mask, a column name or
        names; or numbers of columns, which add up to those of X. If X is a list of matrices, one a view,
        only the number of entries counts. Square matrices are the training kernels themselves (then
        `fit(None)` will do).
    kernel : {"linear", "rbf", "polynomial", "precomputed"} or callable, or a list, default "linear"
        Inner product in each view. With "precomputed" the columns of a view are its kernel values with the
        training samples.
    regularization : float or list of floats, default 0.1
        The share c, from 0 to 1, for all views or a view each. Without any, samples fewer than features
        correlate perfectly whatever they are.
    n_components : int, optional
        Number of projections of each view; all by default, the smallest rank. Above it spare ones are zero.
    normalize : bool, default False
        Multiply c K by the mean of K's diagonal, so that c means the same in any unit.
    gamma, degree, coef0 : float, or a list
        Of the kernels; see `svdecode.reduction.kernel_matrix`.
    center : bool, or a list, default True
        Whether the training samples' mean is the origin of each view's feature space. Without it the
        projections hold second moments in place of variances and covariances.

    Attributes
    ----------
    n_components_ : int
        Number of projections.
    dual_weights_ : tuple of arrays of shape (n_samples, n_components)
        β of each view.
    weights_ : list of arrays of shape (n_components, m_v)
        The same in the columns of each view, computed when asked for; None where its kernel has none
        (one that is neither "linear" nor "polynomial" of degree 1).
    correlations_ : array of shape (n_components,)
        The values of the objective; canonical correlations for c = 0.
    kernels_ : ViewKernels
        The training samples of each view.

    See Also
    --------
    TensorDecomposition : Projections that know the labels.

    Notes
    -----
    Signs: the dual weight of the largest size in the first view is positive. For more than two views:
    the leading eigenvectors of the generalized eigenproblem with all pairs of views on the left, and the
    constraint on the sum over the views.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import KernelCCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal((200, 1))
    >>> X = np.hstack([shared + 0.3 * rng.standard_normal((200, 4)), shared + rng.standard_normal((200, 3))])
    >>> model = KernelCCA([4, 3], regularization=0).fit(X)
    >>> x, y = model.transform(X, view=0), model.transform(X, view=1)
    >>> bool(np.isclose(np.corrcoef(x[:, 0], y[:, 0])[0, 1], model.correlations_[0]))
    True
    """

    def __init__(
        self,
        views: Any,
        *,
        kernel: Any = "linear",
        regularization: Any = 0.1,
        n_components: int | None = None,
        normalize: bool = False,
        gamma: Any = None,
        degree: Any = 3,
        coef0: Any = 1,
        center: Any = True,
    ) -> None:
        super().__init__(views, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center)
        self.regularization = regularization
        self.n_components = n_components
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> KernelCCA:  # noqa: ARG002
        """Find the projections.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            Training samples with all their views.
        y : None
            Ignored.

        Returns
        -------
        KernelCCA
            The fitted object.
        """
        if self.n_components is not None:
            check_count(self.n_components, "n_components")
        check_choice(self.normalize, "normalize", (True, False))
        pairs = self._read_training(X)
        if self.kernels_.n_samples < 2:
            raise ValueError(f"X: found {self.kernels_.n_samples} sample, expected at least two")
        shares = check_shares(self.regularization, len(pairs))
        means = [float(K.diagonal().mean()) if self.normalize else 1.0 for K, _ in pairs]
        penalties = [(1 - c, c * mean) for c, mean in zip(shares, means, strict=True)]
        duals, correlations = canonical_duals([K for K, _ in pairs], penalties, [noise for _, noise in pairs])
        self.n_components_ = max(1, len(correlations)) if self.n_components is None else self.n_components
        spare = max(0, self.n_components_ - len(correlations))
        self.dual_weights_ = tuple(
            np.pad(dual[:, : self.n_components_], ((0, 0), (0, spare))) for dual in duals
        )
        self.correlations_ = np.pad(correlations[: self.n_components_], (0, spare))
        return self


def check_shares(regularization: Any, n_views: int) -> list[float]:
    """Return c for each view."""
    values = regularization
    if not isinstance(values, list | tuple | np.ndarray):
        values = [values] * n_views
    if len(values) != n_views:
        raise ValueError(
            f"regularization: found a list of {len(values)}, expected one for each of {n_views} views"
        )
    shares = [check_number(c, "regularization") for c in values]
    if max(shares) > 1:
        raise ValueError(f"regularization: found {max(shares):g}, expected a number from 0 to 1")
    return shares
