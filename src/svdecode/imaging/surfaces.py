"""Surface images: what is checked of them, and their masks as every version of nilearn takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from nilearn.surface import SurfaceImage


def boolean_mask(mask: Any) -> Any:
    """Return a mask of surfaces in true and false: older versions of nilearn take 0 and 1 for indices."""
    parts = {name: np.asarray(values).astype(bool) for name, values in mask.data.parts.items()}
    if not any(values.any() for values in parts.values()):
        raise ValueError("mask: found 0 at every vertex, expected at least one inside")
    return SurfaceImage(mask.mesh, parts)


def check_surfaces(imgs: list[Any], mask: Any = None) -> None:
    """Refuse surfaces without samples, of another mesh than the first, with NaN or with nothing but 0.

    Parameters
    ----------
    imgs : list of SurfaceImage
        Of one sample or several each.
    mask : SurfaceImage or None
        Where values count.
    """
    first = {name: len(values) for name, values in (mask or imgs[0]).data.parts.items()}
    n_before = 0
    for image in imgs:
        sizes = {name: len(values) for name, values in image.data.parts.items()}
        if sizes != first:
            raise ValueError(f"imgs: found surfaces of {sizes} vertices, expected {first}")
        empty = next((values.shape for values in image.data.parts.values() if values.size == 0), None)
        if empty is not None:
            raise ValueError(f"imgs: found an empty surface, of shape {empty}, expected samples")
        values = _inside(image, mask)
        for wrong, what in ((~np.isfinite(values), "NaN or infinity"), (~values.any(axis=0)[None], "only 0")):
            if wrong.any():
                sample = n_before + int(np.argmax(wrong.any(axis=0)))
                raise ValueError(
                    f"imgs: found {what} in image {sample}, expected numbers at the mask's vertices"
                )
        n_before += values.shape[1]


def _inside(image: Any, mask: Any) -> Any:
    """Values at the mask's vertices, a column a sample."""
    parts = []
    for name, values in image.data.parts.items():
        columns = np.asarray(values).reshape(len(values), -1)
        parts.append(columns if mask is None else columns[np.asarray(mask.data.parts[name]).ravel() != 0])
    return np.concatenate(parts)
