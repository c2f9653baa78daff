"""Shapes in space and courses in time for the simulation: a brain, smooth maps, regions, AR(1) noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter

from svdecode._checks import FloatArray

BoolArray = npt.NDArray[np.bool_]


def ellipsoid(shape: tuple[int, int, int]) -> BoolArray:
    """Voxels inside the ellipsoid that fills the grid."""
    axes = [(np.arange(size) - (size - 1) / 2) / (size / 2) for size in shape]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    return np.asarray(x**2 + y**2 + z**2 <= 1)


def smooth_fields(count: int, inside: BoolArray, smoothness: float, rng: np.random.Generator) -> FloatArray:
    """Random maps, white noise smoothed by a Gaussian, of unit mean square over the voxels inside."""
    maps = np.empty((count, int(inside.sum())))
    for row in maps:
        row[:] = gaussian_filter(rng.standard_normal(inside.shape), smoothness)[inside]
        row /= np.sqrt((row**2).mean())
    return maps


def regional_fields(
    count: int, inside: BoolArray, radius: float, smoothness: float, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray]:
    """Random maps that fade to nothing at a distance of `radius` from a center of their own.

    Returns the maps, of unit mean square over their region, and the regions (where they are not zero).
    """
    voxels = np.argwhere(inside)
    centers = voxels[rng.choice(len(voxels), count, replace=count > len(voxels))]
    distance = np.linalg.norm(voxels - centers[:, None], axis=-1)
    window = np.maximum(1 - (distance / radius) ** 2, 0)  # fades smoothly, unlike the edge of a ball
    maps = smooth_fields(count, inside, smoothness, rng) * window
    regions = window > 0
    return maps / np.sqrt((maps**2).sum(axis=1) / regions.sum(axis=1))[:, None], regions


def autoregressive(
    n_scans: int, length: int, width: int, coefficient: float, rng: np.random.Generator
) -> FloatArray:
    """Courses of unit variance that follow x_t = coefficient · x_{t-1} + innovation within each scan.

    Returns an array of shape (n_scans · length, width), scan after scan.
    """
    innovations = rng.standard_normal((n_scans, length, width))
    innovations[:, 1:] *= np.sqrt(1 - coefficient**2)  # the first one starts in the stationary state
    courses = lfilter([1.0], [1.0, -coefficient], innovations, axis=1)
    return np.asarray(courses).reshape(n_scans * length, width)
