"""What a decoder reads from images: volumes or surfaces, by nilearn's maskers, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nilearn import signal
from nilearn.maskers import NiftiMasker, SurfaceMasker
from nilearn.surface import SurfaceImage
from sklearn.base import clone

from svdecode._checks import FloatArray, IntArray, check_choice
from svdecode.imaging.extraction import Extractor
from svdecode.imaging.masks import read_mask
from svdecode.imaging.surfaces import boolean_mask, check_surfaces
from svdecode.imaging.volumes import open_images

STANDARDIZATIONS = ("training", "zscore_sample", "psc", True, False, None)
MASK_STRATEGIES = {
    "background": "background",
    "epi": "epi",
    "whole-brain-template": "brain",
    "brain": "brain",
}
#: what a masker does to the course of images: they must then be read together
TEMPORAL = ("standardize", "detrend", "low_pass", "high_pass", "high_variance_confounds")


class IncompatibleImagesError(TypeError, ValueError):
    """Surfaces where volumes are expected, or the other way round (nilearn raises a TypeError)."""


def images_of(imgs: Any) -> list[Any]:
    """Return images one by one, as they are given."""
    if isinstance(imgs, np.ndarray) and imgs.ndim != 1:
        raise ValueError(f"imgs: found an array of shape {imgs.shape}, expected images or paths of images")
    return list(imgs) if isinstance(imgs, Sequence | np.ndarray) and not isinstance(imgs, str) else [imgs]


def check_kind(mask: Any, imgs: list[Any]) -> bool:
    """Whether the images are surfaces; refuse a mask, or images, of two kinds."""
    surfaces = [isinstance(image, SurfaceImage) for image in imgs]
    of_mask = None if mask is None else isinstance(mask, SurfaceImage | SurfaceMasker)
    if len(set(surfaces)) > 1 or (of_mask is not None and of_mask is not surfaces[0]):
        kind = {True: "surfaces", False: "volumes", None: "no mask"}
        found = " and ".join(sorted({kind[surface] for surface in surfaces}))
        raise IncompatibleImagesError(
            f"imgs: found {found} with {kind[of_mask]} as mask, expected one kind. Mask and input "
            "images must be of compatible types"
        )
    return surfaces[0]


def make_masker(decoder: Any, imgs: list[Any]) -> Any:
    """Fit a masker to images, with the mask and the options of a decoder.

    Parameters
    ----------
    decoder : SVDMDecoder
        Its parameters are read.
    imgs : list of images
        Of the training.

    Returns
    -------
    NiftiMasker or SurfaceMasker
        A fitted one, ours.
    """
    if not imgs:
        raise ValueError("imgs: found an empty list, expected images")
    surface = check_kind(decoder.mask, imgs)
    system = {
        "memory": decoder.memory,
        "memory_level": max(0, int(decoder.memory_level) - 1),
        "verbose": max(0, int(decoder.verbose) - 1),
        "reports": False,
    }
    if isinstance(decoder.mask, NiftiMasker | SurfaceMasker):
        masker = clone(decoder.mask).set_params(**system)
        if isinstance(masker.standardize, bool):  # nilearn warns of its own default
            masker.set_params(standardize="zscore_sample" if masker.standardize else None)
        if hasattr(decoder.mask, "mask_img_"):
            masker.set_params(mask_img=decoder.mask.mask_img_)
        if surface:
            return _fit_surface_masker(masker, masker.mask_img, imgs)
        if masker.mask_img is not None:
            return masker.fit()
        return masker.set_params(mask_img=decoder_mask(decoder, imgs)).fit()
    options = {"smoothing_fwhm": decoder.smoothing_fwhm, "standardize": None, **system}
    if surface:
        return _fit_surface_masker(SurfaceMasker(**options), decoder.mask, imgs)
    return NiftiMasker(
        mask_img=decoder_mask(decoder, imgs),
        target_affine=decoder.target_affine,
        target_shape=decoder.target_shape,
        **options,
    ).fit()


def _fit_surface_masker(masker: Any, mask: Any, imgs: list[Any]) -> Any:
    if mask is not None:
        return masker.set_params(mask_img=boolean_mask(mask)).fit()
    check_surfaces(imgs)
    return masker.fit(imgs[0])


def decoder_mask(decoder: Any, imgs: list[Any]) -> Any:
    """Mask of volumes: given, or computed."""
    masker = isinstance(decoder.mask, NiftiMasker)
    strategy = decoder.mask.mask_strategy if masker else decoder.mask_strategy
    check_choice(strategy, "mask_strategy", tuple(MASK_STRATEGIES))
    mask = MASK_STRATEGIES[strategy] if masker or decoder.mask is None else decoder.mask
    sources = open_images(imgs, "imgs")
    return read_mask(mask, None, None, sources, resample=_may_resample(decoder), argument="imgs")[0]


def _may_resample(decoder: Any) -> bool:
    masker = decoder.mask if isinstance(decoder.mask, NiftiMasker) else decoder
    return masker.target_affine is not None


def read_rows(decoder: Any, masker: Any, imgs: list[Any]) -> FloatArray:
    """Values of images within the mask, a row each.

    Parameters
    ----------
    decoder : SVDMDecoder
        Its parameters are read.
    masker : NiftiMasker or SurfaceMasker
        A fitted one.
    imgs : list of images
        Volumes or surfaces, of one sample or several each.

    Returns
    -------
    array of shape (n_samples, n_features)
        Finite, in float64, a new one.
    """
    temporal = any(getattr(masker, name, None) for name in TEMPORAL)
    if check_kind(masker, imgs):
        check_surfaces(imgs, masker.mask_img_)
    else:
        may_resample = _may_resample(decoder)
        extractor = Extractor(masker.mask_img_, resample=may_resample, masker=masker, argument="imgs")
        sources = open_images(imgs, "imgs")
        if not temporal:
            return extractor.rows(sources)
        extractor.check(sources)
    if temporal:
        together = imgs[0] if len(imgs) == 1 else [str(i) if isinstance(i, Path) else i for i in imgs]
        rows = [masker.transform(together)]
    else:
        rows = [masker.transform(image) for image in imgs]
    return np.concatenate([np.atleast_2d(row) for row in rows]).astype(np.float64, copy=False)


def standardize_in_place(X: FloatArray, how: Any, units: IntArray | None) -> None:
    """Standardize rows of images by their own means, within runs; "training" is not meant here.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Written into.
    how : {"zscore_sample", "psc", True, False, None}
        As nilearn says it.
    units : array of int or None
        Runs.
    """
    if not how or how == "training":
        return
    kind = "psc" if how == "psc" else "zscore_sample"
    units = np.zeros(len(X), dtype=np.intp) if units is None else units
    for unit in range(int(units.max()) + 1):
        rows = units == unit
        if rows.sum() < 2:
            raise ValueError(
                f"standardize: found {how!r} for a single image (of a run), expected several, or "
                "standardize='training'"
            )
        X[rows] = signal.clean(X[rows], detrend=False, standardize=kind, filter=False, t_r=None)


def to_images(masker: Any, values: FloatArray) -> Any:
    """Map, or maps, as an image."""
    return masker.inverse_transform(np.ascontiguousarray(values))


def haufe_patterns(X: FloatArray, coef: FloatArray) -> FloatArray:
    """Forward model of linear scores, A = Cov(x) W Cov(s)⁻¹ (Haufe et al. 2014, NeuroImage 87, eq. 6).

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training samples.
    coef : array of shape (k, n_features)
        W, transposed.

    Returns
    -------
    array of shape (k, n_features)
        How the features vary with each score, the others held.
    """
    scores = X @ coef.T
    scores -= scores.mean(axis=0)
    # scores of several classes may depend on each other linearly: the pseudo-inverse takes the least pattern
    return np.asarray(np.linalg.pinv(scores.T @ scores, rcond=1e-10, hermitian=True) @ (scores.T @ X))
