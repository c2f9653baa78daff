"""Which voxels become features: those of a mask that is given, computed, or a region of an atlas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
from nilearn.image import resample_to_img
from nilearn.masking import compute_background_mask, compute_brain_mask, compute_epi_mask

from svdecode._checks import check_choice
from svdecode.imaging.tables import column_of, is_table_file, read_table
from svdecode.imaging.volumes import RESAMPLING, Grid, Source, open_images

STRATEGIES = {
    "background": (compute_background_mask, "the voxels that differ from the background"),
    "epi": (compute_epi_mask, "the brain found in the mean of raw images (nilearn's compute_epi_mask)"),
    "brain": (compute_brain_mask, "nilearn's template of the brain, which takes images in MNI space"),
}
INDEX_NAMES = ("index", "value", "label", "id")
REGION_NAMES = ("name", "region", "label_name", "roi")

BoolVolume = npt.NDArray[np.bool_]


def read_mask(
    mask: Any,
    region: Any,
    region_names: Any,
    sources: Sequence[Source],
    *,
    resample: bool,
    argument: str = "images",
) -> tuple[Any, list[str]]:
    """Make the mask image, and say how.

    Parameters
    ----------
    mask : path, nibabel image, one of STRATEGIES or None
        None is "background".
    region : str, int or list of such, or None
        Regions of an atlas, by name or number.
    region_names : table or None
        Names of the atlas's numbers.
    sources : list of Source
        The images.
    resample : bool
        Whether an atlas or mask on another grid may decide the grid.
    argument : str
        What messages call the images.

    Returns
    -------
    (nibabel image, list of str)
        1 inside, 0 outside, and sentences.
    """
    if mask is None or (isinstance(mask, str) and mask in STRATEGIES):
        if region is not None:
            raise ValueError(
                f"region: found {region!r} without an atlas, expected mask to be an atlas's file"
            )
        return _computed(mask or "background", sources, argument)
    if isinstance(mask, str) and not Path(mask).expanduser().exists():
        listed = ", ".join(map(repr, STRATEGIES))
        raise ValueError(f"mask: found no file {mask}, expected an image's, or one of {listed}")
    given = open_images(mask, "mask")
    if len(given) != 1 or given[0].n_volumes != 1:
        raise ValueError(f"mask: found {sum(s.n_volumes for s in given)} volumes, expected one")
    source = given[0]
    values = volume_of(source, "mask")
    if np.isnan(values).any():
        raise ValueError(f"mask: found NaN in {source.name}, expected finite values (0 outside)")
    if region is None:
        inside, step = values != 0, f"Voxels: those of the mask {_called(mask)}"
    else:
        inside, step = _region(values, mask, region, region_names)
    if not inside.any():
        raise ValueError(f"mask: found 0 in every voxel of {source.name}, expected at least one voxel inside")
    if not resample and not source.grid.equals(sources[0].grid):
        raise ValueError(
            f"mask: found {source.grid}, expected {sources[0].grid} as in the images "
            f"(or {RESAMPLING[argument]})"
        )
    return _image(inside, source.grid), [f"{step} ({int(inside.sum())} voxels)."]


def _computed(strategy: str, sources: Sequence[Source], argument: str) -> tuple[Any, list[str]]:
    compute, words = STRATEGIES[strategy]
    grid = sources[0].grid
    if any(not source.grid.equals(grid) for source in sources):
        raise ValueError(
            "mask: found none for images of different grids, expected one, to which they are resampled"
        )
    mean, finite = _mean(sources, argument)
    if not finite.any():
        raise ValueError(f"{argument}: found no voxel that is finite in every image, expected some")
    if not mean.any():
        raise ValueError(f"{argument}: found 0 in every voxel of every image, expected values")
    mean[~finite] = 0.0
    try:
        computed = np.asarray(compute(nibabel.Nifti1Image(mean, grid.affine)).dataobj) != 0
    except ValueError as error:  # such as: the mask is empty
        raise ValueError(
            f"mask: found none by the strategy {strategy!r} ({' '.join(str(error).split())}), expected a mask"
        ) from error
    inside = computed & finite
    if not inside.any():
        raise ValueError(f"mask: found no voxel by the strategy {strategy!r}, expected some, or a mask")
    n_volumes = sum(source.n_volumes for source in sources)
    return _image(inside, grid), [
        f"Voxels: {words}, computed from the mean of all {n_volumes} volumes, without looking at labels "
        f"({int(inside.sum())} voxels)."
    ]


def _mean(sources: Sequence[Source], argument: str) -> tuple[npt.NDArray[np.float64], BoolVolume]:
    """Mean volume, and where all volumes are finite; one pass, some volumes at a time."""
    total = np.zeros(sources[0].grid.shape)
    finite = np.ones(total.shape, dtype=bool)
    for source in sources:
        for first, chunk in source.chunks():
            data = np.asarray(chunk.dataobj)
            good = np.isfinite(data)
            if not good.all():
                bad = ~good.any(axis=(0, 1, 2))
                if bad.any():
                    place = source.called(int(first + np.argmax(bad)))
                    raise ValueError(f"{argument}: found NaN in every voxel of {place}, expected numbers")
                finite &= good.all(axis=3)
                data = np.where(good, data, 0)
            total += data.sum(axis=3, dtype=np.float64)
    return total / sum(source.n_volumes for source in sources), finite


def _region(values: Any, mask: Any, region: Any, region_names: Any) -> tuple[BoolVolume, str]:
    """Voxels of some regions of an atlas of whole numbers."""
    if (values != np.round(values)).any():
        raise ValueError(f"mask: found {values[values != np.round(values)][0]}, expected an atlas of numbers")
    wanted = [region] if isinstance(region, str | int | np.integer) else list(region)
    table = _beside(mask) if region_names is None else region_names
    numbers: list[int] = []
    for one in wanted:
        numbers += [int(one)] if isinstance(one, int | np.integer) else _numbers_of(one, table)
    there = set(np.unique(values[values != 0]).astype(int).tolist())
    for number in numbers:
        if number not in there:
            listed = ", ".join(map(str, sorted(there)[:20])) + (", …" if len(there) > 20 else "")
            raise ValueError(
                f"region: found {number}, which no voxel of the atlas has, expected among {listed}"
            )
    called = ", ".join(map(str, wanted))
    return np.isin(values, numbers), f"Voxels: region {called} of the atlas {_called(mask)}"


def _numbers_of(name: str, table: Any) -> list[int]:
    if table is None:
        raise ValueError(
            f"region: found the name {name!r} without a table of names, expected region_names= (a table with "
            "the columns index and name) or the region's number"
        )
    frame = read_table(table, "region_names")
    index = next((column for column in INDEX_NAMES if column in frame.columns), INDEX_NAMES[0])
    title = next((column for column in REGION_NAMES if column in frame.columns), REGION_NAMES[0])
    numbers = column_of(frame, index, "region_names")
    names = [str(cell) for cell in column_of(frame, title, "region_names")]
    found = [int(number) for number, called in zip(numbers, names, strict=True) if called == name]
    if not found:
        listed = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "")
        raise ValueError(f"region: found {name!r}, expected one of {listed}")
    return found


def _beside(mask: Any) -> Path | None:
    """Find the table of an atlas's names that has the atlas's own name, as in BIDS (…_dseg.tsv)."""
    if not isinstance(mask, str | Path):
        return None
    path = Path(mask).expanduser()
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    beside = sorted(file for file in path.parent.glob(f"{stem}.*") if is_table_file(file))
    return beside[0] if beside else None


def mask_on_grid(mask: Any, grid: Grid) -> Any:
    """Resample a mask to the grid of images: the nearest voxel decides.

    Parameters
    ----------
    mask : nibabel image
        The mask.
    grid : Grid
        Where voxels are to be.

    Returns
    -------
    nibabel image
        The mask there.
    """
    target = nibabel.Nifti1Image(np.zeros(grid.shape, dtype=np.uint8), grid.affine)
    moved = resample_to_img(mask, target, interpolation="nearest", force_resample=True, copy_header=True)
    inside = np.asarray(moved.dataobj) != 0
    if not inside.any():
        raise ValueError("mask: found no voxel where the images are, expected a mask that overlaps them")
    return _image(inside, grid)


def volume_of(source: Source, argument: str) -> Any:
    """Return the one volume of an image as an array."""
    check_choice(source.n_volumes, argument, (1,))
    return np.asarray(next(source.chunks())[1].dataobj)[..., 0]


def _image(inside: BoolVolume, grid: Grid) -> Any:
    return nibabel.Nifti1Image(inside.astype(np.uint8), grid.affine)


def _called(image: Any) -> str:
    return Path(image).name if isinstance(image, str | Path) else "that was given"
