"""From images to rows: nilearn's masker on some volumes at a time, into a matrix that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nibabel
import numpy as np
from nilearn.image import resample_to_img
from nilearn.maskers import NiftiMasker

from svdecode._checks import FloatArray, check_number
from svdecode.imaging.volumes import RESAMPLING, Grid, Source, batches, check_same_grid


class Extractor:
    """Reads images within a mask, smoothed and resampled if asked for.

    Parameters
    ----------
    mask : nibabel image
        Where the features are; images on other grids are resampled to its.
    smoothing_fwhm : float or None
        Full width of the smoothing at half its height, in mm.
    resample : bool
        Whether images may lie on other grids.
    masker : NiftiMasker, optional
        A fitted one to use, with its own smoothing.
    argument : str
        What messages call the images.
    """

    def __init__(
        self,
        mask: Any,
        smoothing_fwhm: Any = None,
        *,
        resample: bool = False,
        masker: Any = None,
        argument: str = "images",
    ) -> None:
        if smoothing_fwhm is not None:
            smoothing_fwhm = check_number(smoothing_fwhm, "smoothing_fwhm", positive=True)
        self.mask = mask
        self.resample = resample
        self.smoothing_fwhm = smoothing_fwhm
        self.grid = Grid(mask.shape, mask.affine)
        self.inside = np.asarray(mask.dataobj) != 0
        self.n_features = int(self.inside.sum())
        self.argument = argument
        #: without smoothing the masker selects voxels, and nothing else
        self._selects = masker is None and smoothing_fwhm is None
        self._masker = (
            masker
            or NiftiMasker(
                mask_img=mask, smoothing_fwhm=smoothing_fwhm, standardize=None, reports=False
            ).fit()
        )

    def rows(self, sources: Sequence[Source]) -> FloatArray:
        """All volumes of some images, a row each; every one finite and none all zero."""
        self._check_grids(sources)
        X = np.empty((sum(source.n_volumes for source in sources), self.n_features))
        start = 0
        for names, image in batches(sources):
            self._refuse_non_finite(names, image)
            rows = X[start : start + len(names)]
            rows[:] = self._within(image)
            empty = ~rows.any(axis=1)
            if empty.any():
                raise ValueError(
                    f"{self.argument}: found 0 in every voxel of the mask in {names[int(np.argmax(empty))]}, "
                    "expected values"
                )
            start += len(names)
        return X

    def _check_grids(self, sources: Sequence[Source]) -> None:
        check_same_grid(sources, self.argument, resample=self.resample)
        for source in () if self.resample else sources[:1]:
            if not source.grid.equals(self.grid):
                raise ValueError(
                    f"{self.argument}: found {source.grid} in {source.name}, expected {self.grid} as in the "
                    f"mask (or {RESAMPLING[self.argument]})"
                )

    def check(self, sources: Sequence[Source]) -> None:
        """Refuse what `rows` would, without making them."""
        self._check_grids(sources)
        for names, image in batches(sources):
            self._refuse_non_finite(names, image)

    def _within(self, image: Any) -> FloatArray:
        """Values of volumes in the mask."""
        if not self._on_grid(image):
            # the masker would clip to the range of what it is given, which is not the same for any chunk
            data = np.nan_to_num(np.asarray(image.dataobj), nan=0.0, posinf=0.0, neginf=0.0)
            image = resample_to_img(
                nibabel.Nifti1Image(data, image.affine),
                self.mask,
                interpolation="continuous",
                clip=False,
                force_resample=True,
                copy_header=True,
            )
        if self._selects:
            return np.asarray(np.asarray(image.dataobj)[self.inside].T)
        return np.atleast_2d(self._masker.transform(image))

    def _on_grid(self, image: Any) -> bool:
        return Grid(image.shape[:3], image.affine).equals(self.grid)

    def _refuse_non_finite(self, names: list[str], image: Any) -> None:
        """NaN outside the mask is common and harmless; the masker would turn all of it into 0."""
        data = np.asarray(image.dataobj)
        if data.dtype.kind != "f":
            return
        # where the grids differ it is not yet known which voxels end up in the mask: one must be finite
        same_grid = self._on_grid(image)
        bad = ~np.isfinite(data[self.inside]) if same_grid else ~np.isfinite(data).any(axis=(0, 1, 2))[None]
        if bad.any():
            volume = int(np.argmax(bad.any(axis=0)))
            share = bad[:, volume].mean()
            what = "every voxel" if share == 1 else f"{int(bad[:, volume].sum())} voxels of the mask"
            raise ValueError(
                f"{self.argument}: found NaN or infinity in {what}, {names[volume]}, expected numbers"
            )

    def steps(self, sources: Sequence[Source]) -> list[str]:
        """Say what was done, in sentences."""
        moved = [source for source in sources if not source.grid.equals(self.grid)]
        said = []
        if moved:
            said.append(
                f"Resampling: {len(moved)} of {len(sources)} images to the mask's grid of {self.grid}, by "
                "splines of order 3 (voxels without a finite value count as 0)."
            )
        if self.smoothing_fwhm is not None:
            said.append(f"Smoothing: a Gaussian of {self.smoothing_fwhm:g} mm full width at half its height.")
        return said
