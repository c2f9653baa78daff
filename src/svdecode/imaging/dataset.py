"""Dataset: samples by features, with what is known of each sample and of where each feature lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt

from svdecode._checks import FloatArray, IntArray, as_matrix

Labels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of brain-like data, and what is known of them.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        One row a sample (a volume, a block mean, a contrast), one column a voxel.
    y : array of shape (n_samples,) or (n_samples, n_labels)
        Class of each sample, or a multi-label indicator in {0, 1}, NaN where a label is unknown.
    runs, subjects : array of shape (n_samples,) or None
        Run (chunk of scanner time) and subject of each sample.
    positions : array of int of shape (n_features, 3) or None
        Voxel index of each feature in the mask image.
    mask : nibabel image or None
        Which voxels the features are, in C order of their indices.
    name, description : str
        What the data are, where they come from, on which terms, and what was done to them.
    views : dict of str to slice
        Named groups of neighbouring columns, for two-view methods; empty where there is one view only.
    truth : dict
        Ground truth of a simulation; empty for measured data.

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

    def __post_init__(self) -> None:
        X = as_matrix(self.X)
        object.__setattr__(self, "X", X)
        for name in ("y", "runs", "subjects"):
            values = getattr(self, name)
            if values is None:
                continue
            values = np.asarray(values)
            if values.ndim == 0 or len(values) != X.shape[0]:
                found = "one value" if values.ndim == 0 else f"{len(values)} values"
                raise ValueError(
                    f"{name}: found {found}, expected one for each of the {X.shape[0]} rows of X"
                )
            object.__setattr__(self, name, values)
        if self.mask is not None:
            n_voxels = int(np.count_nonzero(np.asarray(self.mask.dataobj)))
            if n_voxels == 0:
                raise ValueError("mask: found no voxel that is not zero, expected at least one")
            n_mapped = X.shape[1] if self.positions is None else len(self.positions)
            if n_voxels != n_mapped:
                raise ValueError(
                    f"mask: found {n_voxels} voxels, expected one for each of the {n_mapped} features"
                )

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
        by_sample = {name: getattr(self, name) for name in ("X", "y", "runs", "subjects")}
        chosen: dict[str, Any] = {name: None if v is None else v[rows] for name, v in by_sample.items()}
        return replace(self, **chosen)

    def image(self, values: FloatArray) -> Any:
        """Image of one value, or several, a feature.

        Parameters
        ----------
        values : array of shape (n_features,) or (n_maps, n_features)
            What to show at the features' places.

        Returns
        -------
        nibabel.Nifti1Image
            A 3-D image, 4-D for several maps; zero outside the mask.
        """
        if self.mask is None:
            raise ValueError(
                "mask: found None, expected a mask image (the dataset has no places for its features)"
            )
        values = np.asarray(values, dtype=np.float64)
        inside = np.asarray(self.mask.dataobj) != 0
        n_voxels = int(inside.sum())
        if values.ndim not in (1, 2) or values.shape[-1] != n_voxels:
            raise ValueError(f"values: found shape {values.shape}, expected {n_voxels} values a map")
        volume = np.zeros(inside.shape + values.shape[:-1])
        volume[inside] = values.T
        return nibabel.Nifti1Image(volume, self.mask.affine)

    def __repr__(self) -> str:
        parts = [f"{self.n_samples} samples of {self.n_features} features"]
        kind = "classes" if self.y.ndim == 1 else "labels"
        parts.append(f"{len(self.classes)} {kind}")
        for name in ("runs", "subjects"):
            values = getattr(self, name)
            if values is not None:
                parts.append(f"{len(np.unique(values))} {name}")
        return f"Dataset({', '.join(parts)})"
