"""GenSVD: the estimator.

Training samples look too wide in their own SVD basis: each sample helped to span it. The paper
re-estimates the singular values from z_j, the projection of sample j on the span of all the
*others*, with an SVD for each j. What the others cannot span is read off the leverages here, so
one decomposition replaces n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, as_matrix, check_choice, check_count, read_samples, refuse_non_finite
from svdecode.gensvd.basis import SingularBasis, singular_basis
from svdecode.gensvd.blocks import left_out_blocks, warn_nothing_stripped
from svdecode.gensvd.leverages import left_out_coordinates
from svdecode.reduction.rows import LinearRows

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

    With `center=True` the training coordinates Λ̂Vᵀ, of the data as given, are not taken about the
    training mean, as those of new samples are; with `basis="centered"` both are.

    Where many directions have about the same variance, the re-estimate is right on average over them,
    too large for the first and the last and too small in between: for n equal variances it is
    ``λ̂_i ≈ |λ_i − H/λ_i|``, with H the harmonic mean of the λ².

    Of arrays with fewer samples than features the Gram matrix is decomposed, and where that would
    cost digits a QR factorization is used, which resolves directions down to max(n, m)·eps of the
    largest. Memory maps and sparse matrices stay with the Gram matrix (1e-7 of the largest).

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
    >>> model = GenSVD()
    >>> corrected = model.fit_transform(X)
    >>> plain = model.transform(X)
    >>> new = model.transform(X_new)
    >>> [round(float(Z.std()), 1) for Z in (plain, corrected, new)]
    [4.9, 1.0, 1.0]
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
        on_disk = isinstance(X, np.memmap)
        X = read_samples(self, X, minimum=2)
        blocks = left_out_blocks(groups, X.shape[0])
        basis = singular_basis(X, center=self.basis == "centered", on_disk=on_disk)
        Z, self.n_stripped_ = left_out_coordinates(
            basis.V,
            basis.singular_values,
            blocks,
            center=self.center,
            noise=basis.noise,
            power=basis.power,
        )
        if self.n_stripped_ == 0:
            warn_nothing_stripped(len(blocks), X.shape, grouped=groups is not None)
        self.mean_ = LinearRows(X, center=self.center).mean
        self._set_results(basis, Z)
        return self

    def _set_results(self, basis: SingularBasis, Z: FloatArray) -> None:
        n, m = len(Z), len(self.mean_)
        self.rank_ = len(basis.singular_values)
        self.n_components_ = min(n, m) if self.n_components is None else self.n_components
        k = self.n_components_
        generalized = np.sqrt((Z**2).sum(axis=0))
        variance = generalized**2 / (n - 1 if self.center else n)
        share = variance / variance.sum() if variance.any() else variance
        self.components_ = _with_zeros(basis.components(k), k, axis=0)
        self.singular_values_ = _with_zeros(basis.singular_values, k)
        self.generalized_singular_values_ = _with_zeros(generalized, k)
        self.explained_variance_ = _with_zeros(variance, k)
        self.explained_variance_ratio_ = _with_zeros(share, k)
        self.left_out_coordinates_ = _with_zeros(Z, k)
        self.training_coordinates_ = _with_zeros(basis.V * generalized, k)

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
        X = read_samples(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if X.dtype == np.float64:
                Z = np.asarray(X @ self.components_.T)
            else:  # float32 is read in blocks, not copied to float64 whole
                Z = LinearRows(self.components_, center=False).cross(X)
        if not np.isfinite(Z).all():
            refuse_non_finite(X)
        return Z - self.mean_ @ self.components_.T

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
        Z = as_matrix(Z, "Z")
        if Z.shape[1] != self.n_components_:
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


def _with_zeros(values: FloatArray, n_components: int, axis: int = -1) -> FloatArray:
    """Values of the first components, and zeros for spare ones above the rank."""
    spare = n_components - values.shape[axis]
    if spare <= 0:  # a copy only of a part, so that the whole can go
        return values if spare == 0 else np.array(values[..., :n_components])
    widths = [(0, 0)] * values.ndim
    widths[axis] = (0, spare)
    return np.pad(values, widths)
