"""GenSVD: the estimator.

Training samples look too wide in their own SVD basis: each sample helped to span it. The paper
re-estimates the singular values from z_j, the projection of sample j on the span of all the
*others*, with an SVD for each j. What the others cannot span is read off the leverages here, so
one decomposition replaces n.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import (
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_frame,
    check_groups,
)
from svdecode.gensvd.leverages import left_out_coordinates
from svdecode.reduction import Reduction, reduce_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class GenSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Generalizable SVD: a basis whose training coordinates are as wide as those of new samples.

    With fewer samples than features, the coordinates of the training samples in their own SVD
    basis are too wide compared with those of new samples, because each of them helped to span it. A
    classifier trained on such coordinates meets narrower ones later. GenSVD re-estimates the singular values
    leave-one-out (or leave-one-group-out) and scales the training coordinates accordingly.

    Parameters
    ----------
    n_components : int, optional
        Number of components that are kept, all by default. Above the rank of the data spare
        components are zero.
    center : bool, default False
        Remove the mean within the procedure (the paper's second listing): each sample is compared
        with the mean of the others, and `transform` subtracts the training mean.
    basis : {"data", "centered"}, default "data"
        Only with `center=True`: the SVD whose vectors are the basis, of the data as given (the paper's
        listing) or of the centered data (usual for a principal component analysis).

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Right singular vectors, the basis (the paper's U₀, transposed).
    singular_values_ : array of shape (n_components,)
        Singular values of the training data (centered data with `basis="centered"`).
    generalized_singular_values_ : array of shape (n_components,)
        Their re-estimates √(Σ_j z_ij²), on the same scale.
    explained_variance_ : array of shape (n_components,)
        Re-estimated variance λ̂² of each coordinate: Σ_j z_ij² over n (n − 1 with `center`).
    explained_variance_ratio_ : array of shape (n_components,)
        The same as a share of the sum over all components, kept or not.
    training_coordinates_ : array of shape (n_samples, n_components)
        Corrected coordinates of the training samples, Λ̂Vᵀ; what `fit_transform` returns.
    left_out_coordinates_ : array of shape (n_samples, n_components)
        The z_j: each sample as the others see it.
    mean_ : array of shape (n_features,)
        Training mean with `center`, else zeros.
    n_stripped_ : int
        Number of samples (groups) that had a direction of their own.
    rank_ : int
        Rank of the training data.

    See Also
    --------
    sklearn.decomposition.TruncatedSVD : The same basis, with training coordinates that are too wide.

    Notes
    -----
    `fit_transform(X)` differs from `fit(X).transform(X)` on purpose, as in scikit-learn's
    `TargetEncoder`: the first gives what a model should be trained on, the second treats X as new
    samples.

    Leaving single samples out is only right for independent samples. Where subject means were
    removed, each sample is minus the sum of its subject's others: nothing is stripped, GenSVD is
    plain SVD, and the fit warns. Give the subjects as `groups`.

    With `center=True` and the basis of the data as given, a training sample's own coordinates are
    taken about their mean before they are scaled, because `transform` subtracts the training mean from new
    samples as well; the scale is such that Σ_j of their squares is Σ_j z_ij².

    Dense data go through a QR factorization, which resolves directions down to 1e-15 of the
    largest; memory maps and sparse matrices through the Gram matrix (down to 1e-7), without a copy.

    References
    ----------
    U. Kjems, L. K. Hansen, S. C. Strother: Generalizable Singular Value Decomposition for Ill-posed
    Datasets. Advances in Neural Information Processing Systems 13, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode import GenSVD
    >>> rng = np.random.default_rng(0)
    >>> X, X_new = rng.standard_normal((20, 500)), rng.standard_normal((1000, 500))
    >>> model = GenSVD(n_components=5)
    >>> corrected = model.fit_transform(X)
    >>> plain = model.transform(X)
    >>> new = model.transform(X_new)
    >>> [round(float(Z.std()), 1) for Z in (plain, corrected, new)]
    [5.5, 1.3, 1.0]
    """

    def __init__(self, n_components: int | None = None, *, center: bool = False, basis: str = "data") -> None:
        self.n_components = n_components
        self.center = center
        self.basis = basis

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> GenSVD:  # noqa: ARG002
        """Find the basis and re-estimate the singular values.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training samples.
        y : None
            Ignored.
        groups : array of shape (n_samples,), optional
            Samples with the same label (a subject, a run) are left out together. By default each
            sample is left out alone.

        Returns
        -------
        GenSVD
            The fitted object.
        """
        if self.n_components is not None:
            check_count(self.n_components, "n_components")
        check_choice(self.center, "center", (True, False))
        check_choice(self.basis, "basis", ("data", "centered"))
        if self.basis == "centered" and not self.center:
            raise ValueError("basis: found 'centered' with center=False, expected center=True")
        check_frame(X)
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,  # seen in the Gram matrix or the factor, without another pass
            ensure_min_samples=2,
        )
        blocks = _blocks(groups, X.shape[0])
        method = "gram" if sp.issparse(X) or isinstance(X, np.memmap) else "lq"
        reduction = reduce_rows(X, center=self.basis == "centered", method=method)
        V, s, to_basis = _singular_form(reduction)
        Z, self.n_stripped_ = left_out_coordinates(V, s, blocks, center=self.center)
        if self.n_stripped_ == 0:
            _warn_nothing_stripped(len(blocks), X.shape, groups is not None)
        self._set_results(X, reduction, V, s, Z, to_basis)
        return self

    def _set_results(
        self,
        X: Any,
        reduction: Reduction,
        V: FloatArray,
        s: FloatArray,
        Z: FloatArray,
        to_basis: FloatArray,
    ) -> None:
        n, m = X.shape
        self.rank_ = r = len(s)
        n_components = min(n, m) if self.n_components is None else self.n_components
        kept = min(n_components, r)
        spare = n_components - kept
        generalized = np.sqrt((Z**2).sum(axis=0))
        variance = generalized**2 / (n - 1 if self.center else n)
        pad = (0, spare)
        self.components_ = np.pad(reduction.lift(to_basis[:kept]), (pad, (0, 0)))
        self.singular_values_ = np.pad(s[:kept], pad)
        self.generalized_singular_values_ = np.pad(generalized[:kept], pad)
        self.explained_variance_ = np.pad(variance[:kept], pad)
        share = variance / variance.sum() if variance.sum() > 0 else variance
        self.explained_variance_ratio_ = np.pad(share[:kept], pad)
        self.left_out_coordinates_ = np.pad(Z[:, :kept], ((0, 0), pad))
        shape = V - V.mean(axis=0) if self.center else V
        norms = np.linalg.norm(shape, axis=0)
        unit = np.divide(shape, norms, out=np.zeros_like(shape), where=norms > 1e-12)
        self.training_coordinates_ = np.pad((unit * generalized)[:, :kept], ((0, 0), pad))
        self.mean_ = reduce_mean(X) if self.center else np.zeros(m)
        self.n_components_ = n_components

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> FloatArray:
        """Fit, and return the corrected coordinates of the training samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training samples.
        y : None
            Ignored.
        groups : array of shape (n_samples,), optional
            Samples with the same label are left out together.

        Returns
        -------
        array of shape (n_samples, n_components)
            Corrected coordinates; they differ from `transform(X)` on purpose.
        """
        return self.fit(X, y, groups).training_coordinates_

    def transform(self, X: Any) -> FloatArray:
        """Coordinates of new samples in the basis.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        array of shape (n_samples, n_components)
            Uᵀ(x − mean) for each.
        """
        check_is_fitted(self)
        check_frame(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(X @ self.components_.T - self.mean_ @ self.components_.T)

    def inverse_transform(self, Z: Any) -> FloatArray:
        """Samples that have the given coordinates.

        Parameters
        ----------
        Z : array of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        array of shape (n_samples, n_features)
            Points in the span of the basis (plus the mean).
        """
        check_is_fitted(self)
        Z = np.asarray(Z, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.n_components_:
            raise ValueError(f"Z: found an array of shape {Z.shape}, expected {self.n_components_} columns")
        return np.asarray(Z @ self.components_ + self.mean_)

    def scree_plot(self, X_test: Any = None, *, ax: Axes | None = None) -> Axes:
        """Plot the standard deviation of each coordinate, before and after correction.

        Parameters
        ----------
        X_test : array of shape (n_test, n_features), optional
            New samples: their root-mean-square coordinates are what the others are judged by.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The plot (the paper's Figure 1, bottom).
        """
        from svdecode.report.figures import scree

        check_is_fitted(self)
        n = self.training_coordinates_.shape[0] - bool(self.center)
        test = None if X_test is None else np.sqrt((self.transform(X_test) ** 2).mean(axis=0))
        return scree(self.singular_values_ / np.sqrt(n), np.sqrt(self.explained_variance_), test, ax=ax)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def reduce_mean(X: Any) -> FloatArray:
    """Mean of the rows of an array or sparse matrix, in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def _blocks(groups: Any, n: int) -> list[IntArray]:
    """Which samples are left out together."""
    if groups is None:
        return [np.array([i]) for i in range(n)]
    labels = check_groups(groups, n)
    if labels.max() == 0:
        raise ValueError("groups: found one group only, expected at least two (one left out, one left in)")
    return [np.flatnonzero(labels == g) for g in range(labels.max() + 1)]


def _singular_form(reduction: Reduction) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Write the coordinates as V Λ (times a rotation, by which the basis is lifted back)."""
    L, s = reduction.coordinates, reduction.singular_values
    if s is not None:
        return L / s, s, np.eye(len(s))
    V, s, rotation = np.linalg.svd(L, full_matrices=False)
    keep = s > 1e-7 * s.max(initial=0.0)
    signs = np.sign(V[np.abs(V).argmax(axis=0), np.arange(len(s))])
    return (V * signs)[:, keep], s[keep], (rotation * signs[:, None])[keep]


def _warn_nothing_stripped(n_blocks: int, shape: tuple[int, int], grouped: bool) -> None:
    unit = "group" if grouped else "sample"
    hint = (
        "If the samples depend on each other (subject or run means removed, or several samples a "
        f"subject), give them as `groups` so that they are left out together (found {n_blocks} {unit}s)."
    )
    warnings.warn(
        f"no {unit} has a direction of its own (leverage 1): each lies in the span of the others, "
        f"so GenSVD equals plain SVD here (up to the mean). For {shape[0]} samples of {shape[1]} "
        f"features that is right when the data are well-posed. {hint}",
        UserWarning,
        stacklevel=3,
    )
