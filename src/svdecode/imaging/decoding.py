"""What SVDMDecoder does with images once they are rows: fits, maps, and reads new ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import InputTags, TransformerTags
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray, check_groups
from svdecode.imaging import masked
from svdecode.imaging.checks import Labels
from svdecode.svdm import SVDMClassifier, SVDMClassifierCV

#: parameters that are the search's, not the classifier's
SEARCH = ("shrinkages", "hinge_weights", "cv", "n_jobs")


@dataclass
class ImageInputTags(InputTags):
    """What nilearn asks of an estimator: does it take volumes, does it take surfaces."""

    niimg_like: bool = True
    surf_img: bool = True


class ImageClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of images, of which a subclass has the parameters and the way from images to rows."""

    mean_: FloatArray | None
    scale_: FloatArray | None

    def _fit_rows(self, X: FloatArray, y: Any, runs: Any) -> None:
        """Fit the classifier; choose first, if there is a choice."""
        fixed = {name: getattr(self, name) for name in SVDMClassifier._get_param_names()}
        several = isinstance(self.n_components, Iterable)
        self.search_: SVDMClassifierCV | None = None
        self.best_params_: dict[str, Any] | None = None
        if self.shrinkages is None and self.hinge_weights is None and not several:
            self.estimator_ = SVDMClassifier(**fixed).fit(X, y)
        else:
            self._say(1, "choosing weights " + ("by run" if runs is not None else "by cross-validation"))
            asked = {name: getattr(self, name) for name in SEARCH}
            del fixed["shrinkage"], fixed["hinge_weight"]
            self.search_ = SVDMClassifierCV(**fixed, **asked).fit(X, y, groups=runs)
            self.best_params_ = self.search_.best_params_
            self.estimator_ = self.search_.best_estimator_
        self.classes_ = self.estimator_.classes_
        self._say(1, f"fitted {self.estimator_.n_components} components")
        found = self.estimator_
        self._say(
            3,
            f"objective {found.objective_:.6g} after {found.n_iter_} iterations, optimality residual "
            f"{found.stationarity_:.1e}",
        )

    def _set_maps(self, X: FloatArray) -> None:
        """Weights, patterns and components, as images."""
        self.coef_ = self.intercept_ = self.coef_img_ = self.pattern_img_ = self.components_img_ = None
        if not hasattr(self.estimator_, "coef_"):
            return
        self.coef_, self.intercept_ = self.estimator_.coef_, self.estimator_.intercept_
        self.coef_img_ = self._image_a_class(self.coef_)
        self.pattern_img_ = self._image_a_class(masked.haufe_patterns(X, self.coef_))
        self.components_img_ = masked.to_images(self.masker_, self.estimator_.components_)

    def _image_a_class(self, maps: FloatArray) -> dict[Any, Any]:
        if len(maps) == 1 and len(self.classes_) == 2:
            maps = np.concatenate([-maps, maps])
        return {
            label: masked.to_images(self.masker_, values)
            for label, values in zip(self.classes_.tolist(), maps, strict=True)
        }

    def _standardized(self, X: FloatArray, units: Any) -> FloatArray:
        """Standardize rows; they are written into."""
        if self.mean_ is not None and self.scale_ is not None:
            X -= self.mean_
            X /= self.scale_
        else:
            masked.standardize_in_place(X, self.standardize, units)
        return X

    def _features(self, imgs: Any, runs: Any) -> FloatArray:
        """Rows of new images, standardized; rows that a masker has made already are taken too."""
        check_is_fitted(self)
        if isinstance(imgs, np.ndarray) and imgs.ndim == 2:
            X = np.array(imgs, dtype=np.float64)
            if X.shape[1] != self.n_elements_:
                raise ValueError(
                    f"X has {X.shape[1]} features per sample; expecting {self.n_elements_}, one for each "
                    "voxel of the mask"
                )
        else:
            X = masked.read_rows(self, self.masker_, masked.images_of(imgs))
        return self._standardized(X, None if runs is None else check_groups(runs, len(X), "runs"))

    def decision_function(self, imgs: Any, runs: Any = None) -> FloatArray:
        """Scores of images.

        Parameters
        ----------
        imgs : volumes or surfaces, or an array of shape (n_samples, n_elements)
            New images, or what `masker_` makes of them.
        runs : array of shape (n_samples,), optional
            Within which to standardize, with "zscore_sample" and "psc".

        Returns
        -------
        array of shape (n_samples,) or (n_samples, k)
            One column a class, a single score for two classes.
        """
        X = self._features(imgs, runs)
        return np.asarray(self.estimator_.decision_function(X))

    def predict(self, imgs: Any, runs: Any = None) -> Labels:
        """Labels of images.

        Parameters
        ----------
        imgs : volumes or surfaces, or an array of shape (n_samples, n_elements)
            New images.
        runs : array of shape (n_samples,), optional
            As in `decision_function`.

        Returns
        -------
        array of shape (n_samples,)
            Classes.
        """
        X = self._features(imgs, runs)
        return np.asarray(self.estimator_.predict(X))

    def transform(self, imgs: Any, runs: Any = None) -> FloatArray:
        """Coordinates of images in the representation, labels not looked at.

        Parameters
        ----------
        imgs : volumes or surfaces, or an array of shape (n_samples, n_elements)
            New images.
        runs : array of shape (n_samples,), optional
            As in `decision_function`.

        Returns
        -------
        array of shape (n_samples, n_components)
            One column a component.
        """
        X = self._features(imgs, runs)
        return np.asarray(self.estimator_.transform(X))

    def score(self, imgs: Any, y: Any, runs: Any = None) -> float:
        """Accuracy.

        Parameters
        ----------
        imgs : volumes or surfaces, or an array of shape (n_samples, n_elements)
            New images.
        y : array of shape (n_samples,)
            Their labels.
        runs : array of shape (n_samples,), optional
            As in `decision_function`.

        Returns
        -------
        float
            Share of images with the right class.
        """
        X = self._features(imgs, runs)
        return float(self.estimator_.score(X, y))

    def _say(self, level: int, message: str) -> None:
        if int(self.verbose) >= level:
            print(f"[{type(self).__name__}.fit] {message}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = ImageInputTags()
        tags.target_tags.required = True
        tags.transformer_tags = TransformerTags()
        tags.classifier_tags.multi_label = True
        return tags
