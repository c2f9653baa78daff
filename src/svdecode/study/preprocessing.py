"""Standardization, by what it is estimated on: a run, a subject, or the training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from svdecode._checks import FloatArray, check_choice, check_index
from svdecode.imaging import Dataset
from svdecode.study.leaks import torn_units, unit_codes
from svdecode.study.splits import Split

STANDARDIZATIONS = (None, "run", "subject", "training")


def standardize(dataset: Dataset, by: str | None = "run", *, rows: Any = None) -> Dataset:
    """Subtract from each column its mean and divide it by its standard deviation, within units of rows.

    Labels are not looked at. With "run" and "subject" no row of another unit is either, so that
    nothing leaks while a protocol keeps these units whole (`check_standardization`).

    Parameters
    ----------
    dataset : Dataset
        With `runs` or `subjects`, as `by` asks. Missing values (NaN) stay missing.
    by : {"run", "subject", "training", None}, default "run"
        Each run's rows (of one subject) by their own mean and deviation; each subject's by theirs; all rows
        by those of the training rows, which `rows` gives; or not at all.
    rows : array of int, optional
        The training rows, with "training".

    Returns
    -------
    Dataset
        The same with other values, in float64. Columns that are constant within a unit become 0 there.

    See Also
    --------
    check_standardization : Whether it leaks with some splits.

    Notes
    -----
    In a unit of two rows that show two classes each row is the other's negative: select classes
    after standardization, not before. A run without one of the classes is shifted by what the others
    are.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import standardize
    >>> data = standardize(load_haxby2001_slice(), by="run")
    >>> bool(abs(data.X[data.runs == 3].mean(axis=0)).max() < 1e-12)
    True
    """
    check_choice(by, "by", STANDARDIZATIONS)
    if (rows is None) == (by == "training"):
        expected = "the training rows" if rows is None else "None (only 'training' has training rows)"
        raise ValueError(
            f"rows: found {'None' if rows is None else 'rows'} with by={by!r}, expected {expected}"
        )
    if by is None:
        return dataset
    if sp.issparse(dataset.X):
        raise ValueError("X: found a sparse matrix, expected an array (centering fills it)")
    X = np.array(dataset.X, dtype=np.float64)
    if by == "training":
        X = _standardized(X, X[check_index(rows, dataset.n_samples, "rows")])
        return replace(dataset, X=X, description=_told(dataset, "the training rows"))
    codes = unit_codes(dataset, f"{by}s")
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        raise ValueError(f"{by}s: found a {by} with one sample, expected at least two to standardize within")
    for unit in range(len(sizes)):
        own = codes == unit
        X[own] = _standardized(X[own], X[own])
    return replace(dataset, X=X, description=_told(dataset, by))


def _told(dataset: Dataset, by: str) -> str:
    return f"{dataset.description} Standardized by {by}.".strip()


def _standardized(X: FloatArray, own: FloatArray) -> FloatArray:
    """X by the mean and deviation of the columns of `own`, of what is known in them."""
    known = ~np.isnan(own)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, own, 0.0).sum(axis=0) / counts
    deviations = np.where(known, own - mean, 0.0)
    spread = np.sqrt((deviations**2).sum(axis=0) / counts)
    constant = spread <= 1e-12 * np.abs(mean)  # what rounding the mean leaves
    return np.asarray(np.where(constant & ~np.isnan(X), 0.0, (X - mean) / np.where(constant, 1.0, spread)))


def check_standardization(dataset: Dataset, splits: Iterable[Split], by: str | None) -> None:
    """Refuse a standardization that would use test rows together with training rows.

    Parameters
    ----------
    dataset : Dataset
        Whose rows the splits divide.
    splits : iterable of Split
        Of any protocol.
    by : {"run", "subject", "training", None}
        As for `standardize`.

    Raises
    ------
    ValueError
        Where a run (or subject) whose mean and deviation are taken stands on both sides of a split.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> from svdecode.study import check_standardization, leave_one_sample_out
    >>> data = load_haxby2001_slice()
    >>> check_standardization(data, leave_one_sample_out(data), by="run")
    Traceback (most recent call last):
        ...
    ValueError: by: found 'run' where run 1 is trained on and tested, expected 'training' or None
    """
    if check_choice(by, "by", STANDARDIZATIONS) not in ("run", "subject"):
        return
    torn = torn_units(dataset, splits, f"{by}s")
    if torn:
        raise ValueError(
            f"by: found {by!r} where {torn[0]} is trained on and tested, expected 'training' or None"
        )


class OverallScale(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Center the columns, and divide all of them by one number: the root mean square norm of the rows.

    Directions and ratios of distances stay as they are, but weights of penalties (`C`, `alpha`) then mean
    the same on data of any unit and any number of features.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the training rows.
    scale_ : float
        Root mean square of their distances from it; 1 where all are equal.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, where X has such.

    See Also
    --------
    standardize : Column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.study import OverallScale
    >>> X = OverallScale().fit_transform(np.random.default_rng(0).standard_normal((20, 500)))
    >>> float(np.round((X**2).sum(axis=1).mean(), 12))
    1.0
    """

    def fit(self, X: Any, y: Any = None) -> OverallScale:
        """Find the mean and the scale.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training rows.
        y : object
            Not looked at.

        Returns
        -------
        OverallScale
            The fitted object.
        """
        del y
        X = validate_data(self, X, dtype=np.float64)
        self.mean_ = X.mean(axis=0)
        energy = float(((X - self.mean_) ** 2).sum() / len(X))
        self.scale_ = energy**0.5 if energy > 0 else 1.0
        return self

    def transform(self, X: Any) -> FloatArray:
        """Center and scale rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        array of shape (n_samples, n_features)
            (X − mean) / scale.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray((X - self.mean_) / self.scale_)
