"""What is fitted beside the test: one SVDM on all samples, for its components, and GenSVD on each split."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from svdecode._checks import FloatArray
from svdecode.gensvd import GenSVD
from svdecode.reduction import reduce_rows
from svdecode.study import standardize as standardized
from svdecode.svdm import SVDMClassifier

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult

MOST_SPLITS = 12
"""Splits that GenSVD is fitted on."""


@dataclass(frozen=True)
class WholeFit:
    """An SVDM on all samples.

    Attributes
    ----------
    estimator : SVDMClassifier
        The fit.
    order : array of int of shape (l,)
        Its components, that in which the classes differ most first.
    share : array of shape (l,)
        In this order: share of the variance of its coordinate that lies between classes.
    coordinates : array of shape (n, l)
        Of the samples, in this order.
    components : array of shape (l, m)
        In this order, each of norm 1 and turned so that its largest values are positive.
    """

    estimator: SVDMClassifier
    order: Any
    share: FloatArray
    coordinates: FloatArray
    components: FloatArray


def most_frequent(result: DecodingResult, method: str) -> dict[str, Any]:
    """The parameters that were chosen in most splits, with the number of components."""
    rows = result.study.select(method, result.size(method))
    names = [name for name in rows.columns if name.startswith("chosen_") and rows[name].notna().any()]
    chosen = Counter(tuple(row) for row in rows[names].itertuples(index=False))
    values = max(chosen, key=lambda row: chosen[row])
    parameters = {name.removeprefix("chosen_"): value for name, value in zip(names, values, strict=True)}
    size = result.size(method)
    parameters["n_components"] = int(parameters.get("n_components", size if isinstance(size, int) else 8))
    return parameters


def fit_whole(result: DecodingResult) -> WholeFit | None:
    """Fit the first SVDM of a decoding on all samples, with what was chosen most often."""
    from svdecode.study.baselines import svdm

    method = next((m for m in result.settings.methods if m.make is svdm), None)
    if method is None:
        return None
    data = result.standardized
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = svdm(**{**method.fixed, **most_frequent(result, method.name)}).fit(data.X, data.y)
    Z, W = model.training_coordinates_, model.components_
    sizes = np.linalg.norm(W, axis=1)
    sizes[sizes == 0] = 1.0
    Z, W = Z * sizes, W / sizes[:, None]
    share = _between(Z, data.y)
    order = np.argsort(-share * Z.var(axis=0), kind="stable")
    sign = np.sign((W**3).sum(axis=1))
    sign[sign == 0] = 1.0
    return WholeFit(model, order, share[order], (Z * sign)[:, order], (W * sign[:, None])[order])


def _between(Z: FloatArray, y: Any) -> FloatArray:
    """Share of each coordinate's variance that lies between classes."""
    total = ((Z - Z.mean(axis=0)) ** 2).sum(axis=0)
    between = np.zeros(Z.shape[1])
    for label in np.unique(y):
        own = Z[y == label]
        between += len(own) * (own.mean(axis=0) - Z.mean(axis=0)) ** 2
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=total > 0))


def gensvd_widths(result: DecodingResult) -> dict[str, Any]:
    """Standard deviations of components: training samples by SVD and by GenSVD, and new samples."""
    settings, splits = result.settings, result.splits
    chosen = np.unique(np.linspace(0, len(splits) - 1, MOST_SPLITS).round().astype(int))
    squares: dict[str, list[FloatArray]] = {"SVD": [], "GenSVD": [], "new": []}
    for number in chosen.tolist():
        part = splits[number]
        if settings.standardize == "training":
            data = standardized(result.dataset, "training", rows=part.train)
        else:
            data = result.standardized
        rows = reduce_rows(data.X).coordinates
        mean = rows[part.train].mean(axis=0)
        train, test = rows[part.train] - mean, rows[part.test] - mean
        groups = None if splits.units is None else splits.units[part.train]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing can be corrected is said on the page
            model = GenSVD().fit(train, groups=groups)
        squares["SVD"].append(model.singular_values_**2 / len(train))
        squares["GenSVD"].append(model.generalized_singular_values_**2 / len(train))
        squares["new"].append((model.transform(test) ** 2).mean(axis=0))
    length = min(len(values) for values in squares["SVD"])
    widths = {name: np.sqrt(np.mean([v[:length] for v in of], axis=0)) for name, of in squares.items()}
    return {**widths, "n_splits": len(chosen)}
