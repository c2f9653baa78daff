"""The ways into a Dataset that read labels from a table: from numbers, and from volumes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from svdecode._checks import refuse_non_finite
from svdecode.imaging.arrays import Arrays, features_of, read_arrays, read_feature_table
from svdecode.imaging.bids import is_bids as looks_like_bids
from svdecode.imaging.extraction import Extractor
from svdecode.imaging.labels import Known, as_table, check_order, images_of, what_is_known
from svdecode.imaging.masks import mask_on_grid, read_mask
from svdecode.imaging.samples import Samples, as_rows
from svdecode.imaging.tables import is_table_file
from svdecode.imaging.volumes import Source, open_images


def numbers(images: Any) -> Arrays | None:
    """Numbers that `images` are already; None when they are images."""
    if isinstance(images, str | Path):
        path = Path(images).expanduser()
        if path.name.lower().endswith((".npy", ".npz")):
            if not path.is_file():
                raise ValueError(f"images: found no file {path}, expected arrays")
            return read_arrays(path)
        if not is_table_file(path):
            return None
        arrays = read_feature_table(path)
        return None if images_of(arrays.table, path.parent) is not None else arrays  # type: ignore[arg-type]
    if isinstance(images, pd.DataFrame) and images_of(images, Path()) is None:
        return Arrays(None, table=images.reset_index(drop=True))
    if isinstance(images, np.ndarray) and images.dtype.kind in "fiub":
        if images.ndim != 2:
            raise ValueError(
                f"images: found an array of shape {images.shape}, expected two dimensions (samples, "
                "features), or an image with an affine"
            )
        return Arrays(images)
    return None


def from_numbers(
    numbers: Arrays,
    labels: Any,
    label_column: str | None,
    runs: Any,
    subjects: Any,
    ignore: set[str],
    mask: Any,
) -> Samples:
    frame = numbers.table if labels is None else as_table(labels)
    own = {"runs": numbers.runs, "subjects": numbers.subjects}
    runs, subjects = (
        own[key] if own[key] is not None and isinstance(value, str) and value == "auto" else value
        for key, value in (("runs", runs), ("subjects", subjects))
    )
    labels = numbers.labels if labels is None else labels
    n = len(numbers.table) if numbers.table is not None else numbers.X.shape[0]
    known = what_is_known(frame, labels, label_column, runs, subjects, n)
    X = numbers.X
    if numbers.table is not None:
        X = features_of(numbers.table, ignore | (known.used if frame is numbers.table else set()))
    X = as_rows(X)
    if not np.isfinite(X.sum()):
        refuse_non_finite(X, "images")
    if not X.any(axis=1).all():
        raise ValueError(f"images: found only 0 in row {int(np.argmin(X.any(axis=1)))}, expected values")
    place = numbers.mask
    if mask is not None:
        place = read_mask(mask, None, None, open_images(mask, "mask"), resample=True)[0]
    return _samples(X, known, place, [f"Samples: {n} rows of {X.shape[1]} numbers, as given."])


def from_volumes(
    sources: list[Source],
    labels: Any,
    label_column: str | None,
    runs: Any,
    subjects: Any,
    places: Any,
    fwhm: Any,
) -> Samples:
    n = sum(source.n_volumes for source in sources)
    frame = as_table(labels)
    known = what_is_known(frame, labels, label_column, runs, subjects, n)
    if frame is not None:
        check_order(frame, sources)
    extractor, steps = reader(sources, places, fwhm, None)
    images = "1 image" if len(sources) == 1 else f"{len(sources)} images"
    return _samples(
        extractor.rows(sources),
        known,
        extractor.mask,
        [f"Samples: {n} volumes of {images}.", *steps, *extractor.steps(sources)],
    )


def _samples(X: Any, known: Known, mask: Any, steps: list[str]) -> Samples:
    return Samples(X, known.y, known.runs, known.subjects, mask, [steps[0], known.step, *steps[1:]])


def reader(
    sources: list[Source], places: Any, fwhm: Any, own_mask: tuple[Any, list[str]] | None
) -> tuple[Extractor, list[str]]:
    """Find what reads rows within the mask, and how the mask came about."""
    resample = places["resample"]
    mask, steps = own_mask or read_mask(
        places["mask"], places["region"], places["region_names"], sources, resample=resample is not False
    )
    grid = sources[0].grid
    if resample == "images" and (mask.shape != grid.shape or not np.allclose(mask.affine, grid.affine)):
        mask = mask_on_grid(mask, grid)
        inside = int(np.count_nonzero(np.asarray(mask.dataobj)))
        steps = [
            *steps,
            f"The mask was resampled to the images' grid, by the nearest voxel ({inside} voxels).",
        ]
    return Extractor(mask, fwhm, resample=resample is not False), steps


def refuse_image_options(options: dict[str, Any]) -> None:
    for key in ("region", "smoothing_fwhm", "events", "resample"):
        if options[key] is not None and options[key] is not False:
            raise ValueError(f"{key}: found {options[key]!r} for samples that are numbers, expected images")


def is_bids(images: Any) -> bool:
    return (
        isinstance(images, str | Path)
        and Path(images).expanduser().is_dir()
        and looks_like_bids(Path(images).expanduser())
    )


def table_of_images(images: Any) -> tuple[pd.DataFrame | None, Any]:
    """Images that a table names, and the table."""
    if isinstance(images, pd.DataFrame):
        return images, images_of(images, Path())
    if isinstance(images, str | Path) and is_table_file(Path(images)):
        path = Path(images).expanduser()
        table = read_feature_table(path).table
        assert table is not None  # it has been read as one
        return table, images_of(table, path.parent)
    return None, images
