"""What the estimators on several views share: reading them, names of projections, tags."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_count
from svdecode.tensor.kernels import ViewKernels, in_columns, training_views
from svdecode.tensor.views import Mask, read_views

#: what a stored estimator of this room asks skops to trust; the second only where a kernel is not "linear"
TRUSTED_TYPES = (
    "svdecode.reduction.rows.LinearRows",
    "svdecode.reduction.kernels.KernelRows",
    "svdecode.tensor.baselines.ConcatenatedSVC",
    "svdecode.tensor.baselines.KernelCCASVC",
    "svdecode.tensor.cca.KernelCCA",
    "svdecode.tensor.classifiers.TensorSVC",
    "svdecode.tensor.dts.DecomposedTensorSVC",
    "svdecode.tensor.estimators.TensorDecomposition",
    "svdecode.tensor.kernels.ViewKernels",
)


class ViewsEstimator:
    """An estimator whose X holds several views, each with its kernel."""

    kernels_: ViewKernels

    def __init__(
        self, views: Any, *, kernel: Any, gamma: Any, degree: Any, coef0: Any, center: Any = True
    ) -> None:
        self.views = views
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center

    def _read_training(self, X: Any) -> list[tuple[FloatArray, float]]:
        """Keep the training rows of all views; return their kernel matrices, with their noise."""
        names = ("kernel", "gamma", "degree", "coef0", "center")
        arguments = {name: getattr(self, name) for name in names}
        self.kernels_ = training_views(self, X, self.views, **arguments)
        return self.kernels_.grams_and_noise()

    def _read_new(self, X: Any) -> list[Any]:
        """One matrix a view of new samples, None where a view is missing."""
        check_is_fitted(self)
        return read_views(self, X, self.views, reset=False)[0]

    def _take_over(self, fitted: Any) -> None:
        """Know the training samples, and the names of their columns, that another estimator has read."""
        self.kernels_ = fitted.kernels_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):  # of an earlier fit
                delattr(self, name)

    def _cross(self, X: Any) -> tuple[list[FloatArray], Mask]:
        """Kernel values of new samples with the training samples, a view each, and which views they have."""
        blocks = self._read_new(X)
        pairs = [self.kernels_.cross(blocks, v) for v in range(self.kernels_.n_views)]
        present = np.column_stack([mask for _, mask in pairs])
        empty = np.flatnonzero(~present.any(axis=1))
        if empty.size:
            raise ValueError(
                f"X: found NaN in every column of all views in row {empty[0]}, expected at least one view"
            )
        return [values for values, _ in pairs], present

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class Labeled(TransformerMixin, BaseEstimator):
    """Puts names on projections, in whatever container `set_output` asks for."""

    def __init__(self, names: Any) -> None:
        self.names = names

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the names."""
        return np.asarray(self.names, dtype=object)

    def transform(self, X: Any, values: Any) -> Any:  # noqa: ARG002
        """Return the values (scikit-learn wraps them, with the index of X)."""
        return values


class ViewProjections(ViewsEstimator):
    """A transformer that projects each view by dual weights on the training samples.

    scikit-learn's own wrapping of `transform` knows one set of names an estimator; here there is one
    for each `view`, so `transform` (which scikit-learn does not see, as this is no transformer yet)
    wraps its values itself.
    """

    dual_weights_: tuple[FloatArray, ...]

    def transform(self, X: Any, view: int | None = None) -> FloatArray:
        """Projections of new samples.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features), or list of matrices
            New samples. A view of which they have NaN in every column (or None in a list) is missing.
        view : int, optional
            Only this view, whose values alone are looked at.

        Returns
        -------
        array of shape (n_samples, n_projections) or (n_samples, n_views · n_projections)
            ⟨w_vᵗ, φ_v(x)⟩ of the view, or of all views side by side; NaN for a view that is missing. With
            more than two classes, the projections of one class after those of another.
        """
        blocks = self._read_new(X)
        n_views = self.kernels_.n_views
        if view is not None and check_count(view, "view", minimum=0) >= n_views:
            raise ValueError(f"view: found {view}, expected 0 to {n_views - 1}, or None for all")
        values = [self._project(blocks, v) for v in (range(n_views) if view is None else [view])]
        labeled = Labeled(self.get_feature_names_out(view=view))
        config = getattr(self, "_sklearn_output_config", {})
        if "transform" in config:
            labeled.set_output(transform=config["transform"])
        return labeled.transform(X, np.hstack(values))  # type: ignore[no-any-return]

    def _project(self, blocks: list[Any], view: int) -> FloatArray:
        kernel, present = self.kernels_.cross(blocks, view)
        duals = np.atleast_3d(self.dual_weights_[view].T).T  # a class first
        weights = duals.transpose(1, 0, 2).reshape(duals.shape[1], -1)
        if present.all():
            return np.asarray(kernel @ weights)
        values = np.full((len(kernel), weights.shape[1]), np.nan)
        values[present] = kernel[present] @ weights
        return values

    @property
    def weights_(self) -> list[FloatArray | None]:
        """Weights of the projections in the columns of X, computed when asked for.

        One array of shape (n_projections, m_v) a view, with a leading axis of classes for more than two;
        None for a view that has none: its kernel is neither "linear" nor "polynomial" of degree 1 (whose
        constant is no weight of a column and is left out).
        """
        check_is_fitted(self)
        weights: list[FloatArray | None] = []
        for rows, dual in zip(self.kernels_.rows, self.dual_weights_, strict=True):
            by_row = np.moveaxis(dual, -1, -2)  # a projection a row, after the classes
            flat = in_columns(rows, by_row.reshape(-1, by_row.shape[-1]))
            weights.append(None if flat is None else flat.reshape(*by_row.shape[:-1], -1))
        return weights

    def get_feature_names_out(
        self,
        input_features: Any = None,  # noqa: ARG002
        view: int | None = None,
    ) -> npt.NDArray[Any]:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : None
            Ignored.
        view : int, optional
            Only this view.

        Returns
        -------
        array of str
            Such as `kernelcca_view0_1`; with a decomposition a class `tensordecomposition_face_view0_1`.
        """
        check_is_fitted(self)
        name, names = type(self).__name__.lower(), []
        dual = self.dual_weights_[0]
        prefixes = [name] if dual.ndim == 2 else [f"{name}_{label}" for label in self._class_names()]
        for v in range(self.kernels_.n_views) if view is None else [view]:
            names += [f"{p}_view{v}_{t}" for p in prefixes for t in range(dual.shape[-1])]
        return np.asarray(names, dtype=object)

    def _class_names(self) -> list[Any]:
        return list(getattr(self, "classes_", []))
