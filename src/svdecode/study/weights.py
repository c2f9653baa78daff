"""Where in the brain a fitted baseline looks: its weights taken back through its steps to the features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from svdecode._checks import FloatArray
from svdecode.svdm import SVDMClassifier
from svdecode.svdm.reading import linear_map


def coefficients(fitted: Any) -> tuple[FloatArray, FloatArray]:
    """Weights of the features in the scores of a fitted linear classifier (Pereira & Gordon 2006, 3.4).

    Parameters
    ----------
    fitted : estimator
        A classifier with `coef_` and `intercept_`, or a pipeline that ends in one, of steps that are linear
        maps: scales, selections, components; or a search over such.

    Returns
    -------
    coef : array of shape (1, n_features) or (n_classes, n_features)
        Weights; 0 for features that a selection dropped.
    intercept : array of shape (1,) or (n_classes,)
        Constants: the scores are ``X @ coef.T + intercept``.

    Raises
    ------
    ValueError
        Where the classifier or a step is not linear.

    See Also
    --------
    voxel_weights : One weight a feature.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import coefficients, svd_svm
    >>> data = load_haxby2001_slice()
    >>> model = svd_svm(n_components=10).fit(data.X, data.y)
    >>> coef, intercept = coefficients(model)
    >>> coef.shape, np.allclose(data.X @ coef.T + intercept, model.decision_function(data.X))
    ((8, 530), True)
    """
    before, last = _steps(fitted)
    if not (hasattr(last, "coef_") and hasattr(last, "intercept_")):
        raise ValueError(f"fitted: found {type(last).__name__}, expected a fitted linear classifier")
    coef, intercept = np.atleast_2d(last.coef_), np.atleast_1d(last.intercept_)
    return _pulled_back(before, coef, intercept)


def component_maps(fitted: Any) -> FloatArray:
    """Maps of the coordinates that the last step of a fitted pipeline reads.

    Parameters
    ----------
    fitted : pipeline
        Whose steps before the last are linear maps, the last of them a representation.

    Returns
    -------
    array of shape (n_components, n_features)
        What the features are multiplied with, coordinate by coordinate.

    See Also
    --------
    coefficients : Of the classifier that reads them.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import component_maps, nca
    >>> data = load_haxby2001_slice()
    >>> component_maps(nca(n_components=3).fit(data.X, data.y)).shape
    (3, 530)
    """
    before, _ = _steps(fitted)
    sizes = [len(step.components_) for step in before if hasattr(step, "components_")]
    if not sizes:
        raise ValueError("fitted: found no step with components, expected a representation before the last")
    return _pulled_back(before, np.eye(sizes[-1]), np.zeros(sizes[-1]))[0]


def voxel_weights(fitted: Any) -> FloatArray:
    """One weight a feature, as in Pereira & Gordon's figure 3: absolute weights of a discriminant of norm 1.

    Parameters
    ----------
    fitted : estimator
        For `coefficients`; or a pipeline whose last step only measures distances, as `nca` does.

    Returns
    -------
    array of shape (n_features,)
        Of several discriminants, each of norm 1, the root mean square; of a metric the root of the
        diagonal of its matrix, of norm 1.

    See Also
    --------
    coefficients : With signs, class by class.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import linear_svm, voxel_weights
    >>> data = load_haxby2001_slice()
    >>> weights = voxel_weights(linear_svm().fit(data.X, data.y))
    >>> weights.shape, bool(np.isclose(np.linalg.norm(weights), 1))
    ((530,), True)
    """
    if hasattr(_steps(fitted)[1], "coef_"):
        coef = coefficients(fitted)[0]
        norms = np.linalg.norm(coef, axis=1, keepdims=True)
        return np.asarray(np.sqrt(((coef / np.where(norms > 0, norms, 1.0)) ** 2).mean(axis=0)))
    weights = np.sqrt((component_maps(fitted) ** 2).sum(axis=0))
    return np.asarray(weights / max(float(np.linalg.norm(weights)), np.finfo(float).tiny))


def _steps(fitted: Any) -> tuple[list[Any], Any]:
    """The steps before the last, and the last."""
    fitted = getattr(fitted, "best_estimator_", fitted)
    if not isinstance(fitted, Pipeline):
        return [], fitted
    steps = [step for _, step in fitted.steps if step is not None and step != "passthrough"]
    return steps[:-1], steps[-1]


def _pulled_back(steps: list[Any], coef: FloatArray, intercept: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What coefficients on the output of the steps are on their input."""
    for step in reversed(steps):
        if hasattr(step, "get_support"):
            kept = step.get_support()
            full = np.zeros((len(coef), len(kept)))
            full[:, kept] = coef
            coef = full
            continue
        coef = coef @ _map_of(step) if hasattr(step, "components_") else coef / _scale_of(step)
        mean = getattr(step, "mean_", None)
        if mean is not None and getattr(step, "with_mean", True):
            intercept = intercept - coef @ mean
    return coef, intercept


def _map_of(step: Any) -> FloatArray:
    """The matrix of a step with components: coordinates are (x − mean) times its transpose."""
    if not isinstance(step, SVDMClassifier):
        if getattr(step, "explained_variance_", None) is not None and getattr(step, "whiten", False):
            return np.asarray(step.components_ / np.sqrt(step.explained_variance_)[:, None])  # PCA's own
        return np.asarray(step.components_)
    reader = step._reader
    if np.isfinite(reader["radius"]):
        raise ValueError(
            f"fitted: found formulation={step.formulation!r}, whose balls confine coordinates, "
            "expected one that reads them linearly"
        )
    images = step.components_[: len(reader["quadratic"])]
    spare = len(step.components_) - len(images)
    return np.asarray(np.pad(linear_map(reader).T @ images / step.scale_**2, ((0, spare), (0, 0))))


def _scale_of(step: Any) -> Any:
    if not hasattr(step, "scale_"):
        raise ValueError(f"fitted: found the step {type(step).__name__}, expected linear maps")
    return 1.0 if step.scale_ is None else step.scale_
