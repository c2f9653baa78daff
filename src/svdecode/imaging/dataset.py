"""Dataset: samples by features, with what is known of each sample and of where each feature lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt

from svdecode._checks import FloatArray, IntArray, as_matrix, check_groups
from svdecode.imaging.checks import check_labels, check_mask, check_positions, check_views

Labels = npt.NDArray[Any]

PER_SAMPLE = "sample_"
"""How the entries of `Dataset.truth` that have one row a sample are called."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of brain-like data, and what is known of them.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        One row a sample (a volume, a block mean, a contrast), one column a voxel. Whether the values are
        finite is for the methods to check: a sample may lack a view, NaN in all its columns.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Class of each sample, or a multi-label indicator in {0, 1}, NaN where a label is unknown.
    runs, subjects : array of shape (n_samples,) or None
        Run (chunk of scanner time) and subject of each sample.
    positions : array of int of shape (n_voxels, 3) or None
        Voxel index of each of the first n_voxels features, by default those in `mask`. With several
        views the features beyond have no place in the brain.
    mask : nibabel image or None
        Which voxels the features are, in C order of their indices.
    name, description : str
        What the data are, where they come from, on which terms, and what was done to them.
    views : dict of str to slice
        Named groups of neighboring columns, for two-view methods; empty where there is one view only.
    steps : sequence of str
        What was done to the data on their way from the files, a sentence each, for a report.
    truth : dict
        Ground truth of a simulation; empty for measured data. Entries called ``sample_...`` have a row
        a sample, and `select` keeps them in step.

    See Also
    --------
    svdecode.datasets.load_haxby2001_slice : Measured data that come with the package.
    svdecode.datasets.make_decoding : Simulated data with known truth.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.imaging import Dataset
    >>> data = Dataset(X=np.eye(4), y=np.array(["face", "house"] * 2), runs=np.array([1, 1, 2, 2]))
    >>> data
    Dataset(4 samples of 4 features, 2 classes, 2 runs)
    >>> data.select(data.runs == 1).y
    array(['face', 'house'], dtype='<U5')
    """

    X: Any
    y: Labels
    runs: Labels | None = None
    subjects: Labels | None = None
    positions: IntArray | None = None
    mask: Any = None
    name: str = ""
    description: str = ""
    views: Mapping[str, slice] = field(default_factory=dict)
    truth: Mapping[str, Any] = field(default_factory=dict)
    steps: Sequence[str] = ()

    def __post_init__(self) -> None:
        X = as_matrix(self.X)
        n, m = X.shape
        self._set(X=X, y=check_labels(self.y, n))
        for name in ("runs", "subjects"):
            labels = getattr(self, name)
            if labels is not None:
                check_groups(labels, n, name)
                self._set(**{name: np.asarray(labels)})
        if self.positions is not None:
            self._set(positions=check_positions(self.positions, m))
        if self.mask is not None:
            self._set(positions=check_mask(self.mask, self.positions, m))
        check_views(self.views, m)
        for name, values in self.truth.items():
            if name.startswith(PER_SAMPLE) and len(values) != n:
                raise ValueError(
                    f"truth: found {len(values)} rows in {name!r}, expected one for each of the {n} rows of X"
                )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)  # the dataclass is frozen

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    @property
    def classes(self) -> Labels:
        """The labels that occur, sorted; for a multi-label indicator its columns' numbers."""
        return np.unique(self.y) if self.y.ndim == 1 else np.arange(self.y.shape[1])

    def select(self, rows: Any) -> Dataset:
        """Dataset of some rows.

        Parameters
        ----------
        rows : array of int or of bool, or slice
            Which samples, in which order.

        Returns
        -------
        Dataset
            The same features of these samples.
        """
        try:
            chosen = np.atleast_1d(np.arange(self.n_samples)[rows])
        except IndexError as error:
            raise ValueError(
                f"rows: found {error}, expected indices or a mask of {self.n_samples} samples"
            ) from None
        if chosen.ndim != 1 or len(chosen) == 0:
            raise ValueError(f"rows: found a selection of shape {chosen.shape}, expected at least one sample")
        truth = {k: np.asarray(v)[chosen] if k.startswith(PER_SAMPLE) else v for k, v in self.truth.items()}
        runs, subjects = (None if v is None else v[chosen] for v in (self.runs, self.subjects))
        # a slice leaves a view of the data where an array of indices would copy them
        X = self.X[rows if isinstance(rows, slice) else chosen]
        return replace(self, X=X, y=self.y[chosen], runs=runs, subjects=subjects, truth=truth)

    def image(self, values: FloatArray) -> Any:
        """Image of one value, or several, a feature.

        Parameters
        ----------
        values : array of shape (n_features,) or (n_maps, n_features)
            What to show at the features' places. Features without a place (those of other views than
            the brain's) are left out, and may be missing.

        Returns
        -------
        nibabel.Nifti1Image
            A 3-D image, 4-D for several maps; zero outside the mask.
        """
        if self.mask is None or self.positions is None:
            raise ValueError(
                "mask: found None, expected a mask image (the dataset has no places for its features)"
            )
        values = np.asarray(values, dtype=np.float64)
        n_voxels = len(self.positions)
        if values.ndim not in (1, 2) or values.shape[-1] not in (n_voxels, self.n_features):
            raise ValueError(f"values: found shape {values.shape}, expected {n_voxels} values a map")
        volume = np.zeros(self.mask.shape + values.shape[:-1])
        volume[tuple(self.positions.T)] = values[..., :n_voxels].T
        return nibabel.Nifti1Image(volume, self.mask.affine)

    def __repr__(self) -> str:
        parts = [f"{self.n_samples} samples of {self.n_features} features"]
        kind = "classes" if self.y.ndim == 1 else "labels"
        parts.append(f"{len(self.classes)} {kind}")
        for name in ("runs", "subjects"):
            values = getattr(self, name)
            if values is not None:
                count = len(np.unique(values))
                parts.append(f"{count} {name if count > 1 else name[:-1]}")
        if self.views:
            parts.append(f"views {', '.join(self.views)}")
        return f"Dataset({', '.join(parts)})"
