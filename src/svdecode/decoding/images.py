"""Maps of a decoding as NIfTI images."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING, Any

import nibabel
import numpy as np

from svdecode._checks import FloatArray

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult
    from svdecode.study import WeightMaps

KINDS = ("coefficient", "pattern", "stability")


def map_images(result: DecodingResult) -> dict[str, Any]:
    """Make the images of all maps.

    Parameters
    ----------
    result : DecodingResult
        Whose dataset says where its features lie.

    Returns
    -------
    dict of str to nibabel image
        By their names, without an ending; empty where features have no places.
    """
    if result.dataset.mask is None:
        return {}
    out = {}
    taken: set[str] = set()
    for method, maps in result.maps().items():
        for label, kinds in class_maps(maps, result.dataset.classes):
            for kind in KINDS:
                name = unique(f"{slug(method)}_{kind}_{slug(label)}", taken)
                out[name] = image_of(result, kinds[kind])
    whole = result.whole
    if whole is not None:
        out["svdm_components"] = image_of(result, whole.components)
    return out


def class_maps(maps: WeightMaps, classes: Any) -> list[tuple[str, dict[str, FloatArray]]]:
    """Label of each map and its coefficient, pattern and stability; of two classes one map."""
    if len(maps.classes) < len(classes):
        titles = [f"{classes[1]} against {classes[0]}"]
    else:
        titles = [str(label) for label in maps.classes.tolist()]
    return [
        (title, {"coefficient": maps.coef[j], "pattern": maps.pattern[j], "stability": maps.stability[j]})
        for j, title in enumerate(titles)
    ]


def voxel_map(maps: WeightMaps) -> FloatArray:
    """One value a voxel: root mean square over the classes of the absolute weights, each map of norm 1."""
    norms = np.linalg.norm(maps.coef, axis=1, keepdims=True)
    return np.asarray(np.sqrt(((maps.coef / np.where(norms > 0, norms, 1)) ** 2).mean(axis=0)))


def image_of(result: DecodingResult, values: FloatArray) -> Any:
    """Image of a map, in single precision."""
    image = result.dataset.image(values)
    data = np.asarray(image.dataobj, dtype=np.float32)
    return nibabel.Nifti1Image(data, image.affine)


def as_bytes(image: Any) -> bytes:
    """A NIfTI file's content, the same bytes for the same image."""
    return gzip.compress(image.to_bytes(), mtime=0)


def slug(text: Any) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9]+", "-", str(text)).strip("-").lower()[:60] or "x"


def unique(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    taken.add(candidate)
    return candidate
