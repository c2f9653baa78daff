"""Maps of a decoding on slices: a sheet for paper, and a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import nibabel
import numpy as np

from svdecode.decoding.images import class_maps, image_of, voxel_map
from svdecode.decoding.words import listed, text
from svdecode.report.blocks import Picture
from svdecode.report.decoded import slice_sheet
from svdecode.report.slices import Layer, Side, SliceBrowser, Volume, mosaic

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult

BUDGET = 2_400_000
"""Bytes that all maps of a browser may take, before they are written as text."""
MOST_LAYERS = 60
MOST_CLASSES = 12
MOST_COMPONENTS = 8
FLOOR = 75
"""Percentile of the weights from which the sheet is colored."""
ON_PAPER = 6
ON_A_PHONE = 3


def volume_of(result: DecodingResult, step: int = 1) -> Volume:
    """Where maps are drawn."""
    anatomy = result.anatomy
    if isinstance(anatomy, str) or hasattr(anatomy, "__fspath__"):
        anatomy = nibabel.load(anatomy)
    mask = result.dataset.mask
    if anatomy is not None:
        shape, affine = anatomy.shape[:3], anatomy.affine
        if shape != mask.shape or not np.allclose(affine, mask.affine, atol=1e-3):
            raise ValueError(
                f"anatomy: found {' × '.join(map(str, shape))} voxels, expected an image on the mask's grid "
                f"({' × '.join(map(str, mask.shape))} voxels, and its affine)"
            )
    return Volume(mask, anatomy, step)


def sheet(result: DecodingResult) -> Picture:
    """Absolute weights of all methods on some slices, each method a row."""
    volume = volume_of(result)
    taken = {name: volume.take(image_of(result, voxel_map(maps))) for name, maps in result.maps().items()}
    first = next(iter(taken.values()))

    def figure(count: int, narrow: bool) -> Any:
        chosen = volume.strongest(first, count)
        rows = []
        for name, values in taken.items():
            floor, limit = np.percentile(values[volume.inside], [FLOOR, 99.5]).tolist()
            rows.append((name, volume.colored(values, limit, signed=False, floor=floor)[chosen]))
        return slice_sheet(rows, [volume.names[i] for i in chosen], volume.aspect, narrow=narrow)

    return Picture(
        figure(ON_PAPER, False),
        text(
            f"""Where the weights are: absolute coefficients, the root mean square over the classes, mean
            over the splits, for {listed(list(taken), "and")}. Colored is the strongest quarter of the
            voxels of each method, fully from the 99.5th percentile. Slices are axial; left is left."""
        ),
        text(
            f"""Axial slices of the brain, a row for each of {listed(list(taken), "and")}, colored where
            absolute weights are large. The browser below has every slice, and the folder maps the numbers."""
        ),
        narrow=figure(ON_A_PHONE, True),
        form="png",
    )


def browser(result: DecodingResult) -> SliceBrowser:
    """All maps, slice by slice, two beside each other."""
    maps = _layers(result)
    for step in (1, 2, 3, 4, 6):
        volume = volume_of(result, step)
        layers, columns, rows = [], 1, 1
        for title, values, kind in maps:
            drawn = volume.take(image_of(result, values))
            limit = float(np.percentile(np.abs(drawn[volume.inside]), 99.5))
            png, columns, rows = mosaic(volume.colored(drawn, limit, signed=True))
            layers.append(Layer(title, png, f"{title}", f"{_LEGENDS[kind]}"))
            if len(layers) == 2 and sum(len(one.png) for one in layers) / 2 * len(maps) > 1.5 * BUDGET:
                break
        if len(layers) == len(maps) and sum(len(layer.png) for layer in layers) <= BUDGET:
            break
    else:
        layers = layers[: max(2, BUDGET // max(len(layers[0].png), 1))]
    other = _other(result, [title for title, _, _ in maps[: len(layers)]])
    first = volume.take(image_of(result, maps[0][1]))
    return SliceBrowser(
        layers, volume.names, columns, rows, volume.shape[0], volume.shape[1] * volume.aspect,
        [Side("Left map", 0), Side("Right map", other)],
        int(np.argmax(np.where(volume.inside, first**2, 0).sum(axis=(0, 1)))),
        "Maps slice by slice. Left is left." + (
            f" Every {step}th voxel is drawn; the folder maps has all." if step > 1 else ""
        ),
    )  # fmt: skip


def _other(result: DecodingResult, titles: list[str]) -> int:
    """The map beside the first: of the same class, by the last method that has one."""
    first = titles[0].removeprefix(f"{next(iter(result.maps()))}, ")
    same = [i for i, title in enumerate(titles) if title.endswith(f", {first}")]
    return same[-1] if same[1:] else min(1, len(titles) - 1)


_LEGENDS = {
    "coefficient": "Coefficients: orange speaks for the class, blue against it.",
    "pattern": "Patterns: orange where voxels rise with the class’s score, blue where they fall.",
    "component": "Components: orange where voxels rise with the coordinate, blue where they fall.",
}


def _layers(result: DecodingResult) -> list[tuple[str, Any, str]]:
    """Title, values and kind of each map, the most important first."""
    out: list[tuple[str, Any, str]] = []
    for method, maps in result.maps().items():
        named = class_maps(maps, result.dataset.classes)[:MOST_CLASSES]
        for kind in ("coefficient", "pattern"):
            out += [(f"{method}, {title}: {kind}", kinds[kind], kind) for title, kinds in named]
    out = out[:MOST_LAYERS]
    if result.whole is not None:
        out += [
            (f"SVDM component {i + 1}", values, "component")
            for i, values in enumerate(result.whole.components[:MOST_COMPONENTS])
        ]
    return out
