"""Maps on axial slices: all slices of a map in one picture, and a browser that shows one at a time."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import nibabel
import numpy as np
from PIL import Image

from svdecode._checks import FloatArray

#: ends of the diverging scale, told apart with every kind of color vision, and of the one-sided scale
NEGATIVE, POSITIVE, HOT = (33, 102, 172), (214, 72, 24), (136, 20, 110)
COLORS = 96


class Volume:
    """Voxels as they are drawn: turned so that left is left and front is up, cut to what is inside.

    Parameters
    ----------
    mask : nibabel image
        What is drawn.
    anatomy : nibabel image, optional
        The background, on the mask's grid.
    step : int, default 1
        Draw every so many voxels along each axis, where there are many.

    Examples
    --------
    >>> import nibabel, numpy as np
    >>> from svdecode.report import Volume
    >>> volume = Volume(nibabel.Nifti1Image(np.ones((4, 5, 3)), np.diag([-2.0, 2, 2, 1])))
    >>> volume.shape, volume.names
    ((4, 5, 3), ['z = 0 mm', 'z = 2 mm', 'z = 4 mm'])
    """

    def __init__(self, mask: Any, anatomy: Any = None, step: int = 1) -> None:
        turned = nibabel.as_closest_canonical(nibabel.Nifti1Image(_values(mask), mask.affine))
        inside = _values(turned) != 0
        low, high = (f(np.argwhere(inside), axis=0) for f in (np.min, np.max))
        thick = inside.shape[2] > 30
        steps = (step, step, step if thick else 1)
        self._box = tuple(slice(a, b + 1, s) for a, b, s in zip(low, high, steps, strict=True))
        self.inside = inside[self._box]
        self.shape = self.inside.shape
        heights = [(turned.affine @ [0, 0, k, 1])[2] for k in range(low[2], high[2] + 1, steps[2])]
        self.names = [f"z = {height:.0f} mm" for height in heights]
        sizes = np.linalg.norm(turned.affine[:3, :3], axis=0)
        self.aspect = float(sizes[1] / sizes[0])
        self._ground = self._background(anatomy)

    def take(self, image: Any) -> FloatArray:
        """Turn and cut an image as it is drawn.

        Parameters
        ----------
        image : nibabel image
            On the mask's grid.

        Returns
        -------
        array of the volume's shape
            Its values.
        """
        turned = nibabel.as_closest_canonical(nibabel.Nifti1Image(_values(image), image.affine))
        return np.asarray(_values(turned)[self._box], dtype=np.float64)

    def _background(self, anatomy: Any) -> FloatArray:
        if anatomy is None:
            return np.where(self.inside, 0.86, 1.0)
        values = self.take(anatomy)
        known = values[np.isfinite(values) & (values != 0)]
        if known.size == 0:
            return np.where(self.inside, 0.86, 1.0)
        low, high = np.percentile(known, [2, 98])
        gray = np.clip((np.nan_to_num(values) - low) / max(high - low, 1e-12), 0, 1)
        return np.where(values != 0, 0.3 + 0.62 * gray, 1.0)

    def colored(self, values: FloatArray, limit: float, *, signed: bool, floor: float = 0.0) -> Any:
        """Color slices: the stronger a value, the less of the background is seen.

        Parameters
        ----------
        values : array of the volume's shape
            What `take` returns.
        limit : float
            Value of the full color.
        signed : bool
            Whether values have signs.
        floor : float, default 0
            Value up to which nothing is colored.

        Returns
        -------
        array of uint8 of shape (n_slices, height, width, 3)
            A picture a slice, the lowest first.
        """
        above = (np.abs(values) - floor) / max(limit - floor, 1e-300)
        strength = np.clip(above, 0, 1)[..., None] ** 0.8
        strength = np.where(self.inside[..., None], strength, 0.0)
        high, low = np.array(POSITIVE if signed else HOT) / 255, np.array(NEGATIVE) / 255
        color = np.where(values[..., None] >= 0, high, low)
        mixed = (1 - strength) * self._ground[..., None] + strength * color
        slices = np.moveaxis(mixed, 2, 0)  # slice, x, y
        return np.round(255 * slices.transpose(0, 2, 1, 3)[:, ::-1]).astype(np.uint8)

    def strongest(self, values: FloatArray, count: int) -> list[int]:
        """Choose slices, spread over the brain, that show most of a map.

        Parameters
        ----------
        values : array of the volume's shape
            What `take` returns.
        count : int
            How many, at most.

        Returns
        -------
        list of int
            Their numbers.
        """
        n_slices = self.shape[2]
        energy = np.where(self.inside, values**2, 0).sum(axis=(0, 1))
        parts = np.array_split(np.arange(n_slices), min(count, n_slices))
        return [int(part[np.argmax(energy[part])]) for part in parts]


@dataclass(frozen=True)
class Layer:
    """A map, all slices in one picture.

    Attributes
    ----------
    title : str
        What it is called.
    png : bytes
        The slices in a grid, row by row.
    alt : str
        What it shows, for a reader who cannot see it.
    legend : str
        What the colors mean.

    Examples
    --------
    >>> from svdecode.report import Layer
    >>> Layer("SVDM: face", b"", alt="Weights.", legend="").title
    'SVDM: face'
    """

    title: str
    png: bytes
    alt: str
    legend: str

    @property
    def source(self) -> str:
        """The picture itself, as an address that needs no network."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode('ascii')}"


@dataclass(frozen=True)
class Side:
    """One of the pictures of a browser.

    Attributes
    ----------
    title : str
        What its menu is called.
    start : int
        The layer that is shown first.
    """

    title: str
    start: int


@dataclass(frozen=True)
class SliceBrowser:
    """Maps beside each other, slice by slice.

    Attributes
    ----------
    layers : sequence of Layer
        The maps.
    names : sequence of str
        The slices.
    columns, rows : int
        Of the grid in which each layer has its slices.
    width, height : float
        Of a slice, in any unit.
    sides : sequence of Side
        The pictures.
    start : int
        The slice that is shown first.
    caption : str
        What the reader is to see.

    Examples
    --------
    >>> from svdecode.report import SliceBrowser
    >>> SliceBrowser([], ["z = 0 mm"], 1, 1, 40, 20, [], 0, "Weights.").kind
    'browser'
    """

    layers: Sequence[Layer]
    names: Sequence[str]
    columns: int
    rows: int
    width: float
    height: float
    sides: Sequence[Side]
    start: int
    caption: str
    kind: ClassVar[str] = "browser"


def mosaic(slices: Any) -> tuple[bytes, int, int]:
    """All slices in one PNG of few colors: its bytes, columns and rows."""
    n, height, width = slices.shape[:3]
    columns = int(np.ceil(np.sqrt(n * height / width)))
    rows = -(-n // columns)
    sheet = np.full((rows * height, columns * width, 3), 255, dtype=np.uint8)
    for number in range(n):
        row, column = divmod(number, columns)
        sheet[row * height : (row + 1) * height, column * width : (column + 1) * width] = slices[number]
    buffer = io.BytesIO()
    picture = Image.fromarray(sheet).quantize(COLORS, dither=Image.Dither.NONE)
    picture.save(buffer, format="PNG", optimize=True)
    return buffer.getvalue(), columns, rows


def _values(image: Any) -> Any:
    return np.asarray(image.dataobj)
