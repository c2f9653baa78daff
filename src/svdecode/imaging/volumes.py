"""Images as they are given, in files or in memory: one after another, checked, never all at once."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
from nibabel.filebasedimages import ImageFileError

ENDINGS = (".nii", ".nii.gz", ".img", ".img.gz")
CHUNK_BYTES = 64_000_000
"""How much of a 4-D image is read at once (as float64)."""

#: how images on different grids are allowed: the reader calls them images, the decoder imgs
RESAMPLING = {"images": "resample=True", "imgs": "target_affine="}
#: kinds of numbers that nibabel and nilearn take as they are
TAKEN = (np.uint8, np.int16, np.uint16, np.int32, np.float32, np.float64)
#: what nibabel, gzip and the disk say of files that are cut off, or are something else
UNREADABLE = (ImageFileError, OSError, EOFError, zlib.error, ValueError)
#: affines that differ by less than this share of a voxel are the same: files keep them in float32
SAME_PLACE = 1e-3


@dataclass(frozen=True)
class Grid:
    """Where voxels lie: the size of the array, and its affine."""

    shape: tuple[int, ...]
    affine: npt.NDArray[np.float64]

    def equals(self, other: Grid) -> bool:
        """Whether all voxels are in the same places."""
        if self.shape != other.shape:
            return False
        corners = np.array([[0, 0, 0, 1], [*self.shape, 1]], dtype=float).T
        voxel = np.linalg.norm(self.affine[:3, :3], axis=0).min()
        near = np.abs((self.affine - other.affine) @ corners).max() <= SAME_PLACE * voxel
        turned = np.abs(self.affine - other.affine).max() > SAME_PLACE * voxel
        return bool(near and not turned)

    def __str__(self) -> str:
        size = np.linalg.norm(self.affine[:3, :3], axis=0)
        corner = self.affine[:3, 3]
        return (
            f"{' × '.join(map(str, self.shape))} voxels of {' × '.join(f'{s:g}' for s in size.round(4))} mm "
            f"from ({', '.join(f'{c:g}' for c in corner.round(3))})"
        )


@dataclass(frozen=True)
class Source:
    """An image of one volume or several.

    Attributes
    ----------
    image : nibabel image or path
        A path is opened when it is read, and closed after.
    name : str
        What messages call it.
    grid : Grid
        Where its voxels lie.
    n_volumes : int
        How many samples it has.
    """

    image: Any
    name: str
    grid: Grid
    n_volumes: int

    def called(self, volume: int) -> str:
        """Name of one of its volumes."""
        return f"volume {volume} of {self.name}" if self.n_volumes > 1 else self.name

    def open(self) -> Any:
        """Return the nibabel image; a file stays open, so that a compressed one is read through once."""
        return nibabel.load(self.image, keep_file_open=True) if isinstance(self.image, Path) else self.image

    def chunks(self) -> Iterator[tuple[int, Any]]:
        """Read some volumes at a time: the number of the first, and a 4-D image of them."""
        step = max(1, CHUNK_BYTES // (8 * int(np.prod(self.grid.shape))))
        try:
            image = self.open()
            for start in range(0, self.n_volumes, step):
                some = slice(start, start + step)
                data = np.asarray(image.dataobj if len(image.shape) == 3 else image.dataobj[:, :, :, some])
                data = data.reshape(*self.grid.shape, -1)
                if data.dtype not in TAKEN:
                    data = data.astype(np.int16 if data.dtype == np.int8 else np.float64)
                yield start, nibabel.Nifti1Image(data, self.grid.affine)
        except UNREADABLE as error:
            raise _unreadable(self.name, error) from error


def batches(sources: Sequence[Source]) -> Iterator[tuple[list[str], Any]]:
    """Read some volumes at a time, of one image or of neighbors on one grid: their names, and a 4-D image.

    Each call of a masker costs the same whether it gets one volume or ten.

    Parameters
    ----------
    sources : sequence of Source
        The images.
    """
    names: list[str] = []
    parts: list[Any] = []
    size, grid = 0, sources[0].grid
    for source in sources:
        for first, chunk in source.chunks():
            data = np.asarray(chunk.dataobj)
            bytes_here = 8 * data.size
            if parts and (size + bytes_here > CHUNK_BYTES or not source.grid.equals(grid)):
                yield names, nibabel.Nifti1Image(_joined(parts), grid.affine)
                names, parts, size = [], [], 0
            names += [source.called(first + i) for i in range(data.shape[3])]
            parts.append(data)
            size, grid = size + bytes_here, source.grid
    yield names, nibabel.Nifti1Image(_joined(parts), grid.affine)


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=3)


def open_images(images: Any, argument: str = "images") -> list[Source]:
    """List the images that the user means.

    Parameters
    ----------
    images : path, nibabel image, or a list of such
        A path may hold `*`, or be a folder.
    argument : str
        What messages call it.

    Returns
    -------
    list of Source
        In the order given; files of a folder or pattern in natural order (2 before 10).
    """
    if isinstance(images, str | Path):
        files = _files(Path(images), argument)
        return [_source(file, file.name, argument) for file in files]
    if _is_image(images):
        return [_source(images, "the image", argument)]
    if not isinstance(images, Sequence | np.ndarray) or len(images) == 0:
        raise ValueError(f"{argument}: found {type(images).__name__}, expected images or paths of images")
    sources = []
    for i, one in enumerate(images):
        if isinstance(one, str | Path):
            sources += [_source(file, file.name, argument) for file in _files(Path(one), argument)]
        else:
            sources.append(_source(one, "the image" if len(images) == 1 else f"image {i}", argument))
    return sources


def check_same_grid(sources: Sequence[Source], argument: str = "images", *, resample: bool) -> None:
    """Refuse images whose voxels lie elsewhere than the first one's, unless resampling is asked for."""
    first = sources[0]
    for source in () if resample else sources[1:]:
        if not source.grid.equals(first.grid):
            raise ValueError(
                f"{argument}: found {source.grid} in {source.name}, expected {first.grid} as in {first.name} "
                f"(or {RESAMPLING[argument]})"
            )


def natural_order(path: Path) -> list[Any]:
    """Key by which file 2 comes before file 10."""
    return [int(part) if part.isdigit() else part.lower() for part in re.split(r"(\d+)", str(path))]


def is_image_file(path: Path) -> bool:
    """Whether a file's name is that of an image."""
    return path.name.lower().endswith(ENDINGS)


def _files(path: Path, argument: str) -> list[Path]:
    path = path.expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        found = [file for file in path.iterdir() if is_image_file(file)]
    elif re.search(r"[*?\[]", path.name):
        found = [file for file in path.parent.glob(path.name) if is_image_file(file)]
    else:
        raise ValueError(f"{argument}: found no file {path}, expected an image")
    if not found:
        raise ValueError(f"{argument}: found no image in {path}, expected files that end in .nii or .nii.gz")
    return sorted(found, key=natural_order)


def _source(image: Any, name: str, argument: str) -> Source:
    opened = image
    if isinstance(image, Path):
        try:
            opened = nibabel.load(image)
        except UNREADABLE as error:
            raise _unreadable(name, error, argument) from error
    if not _is_image(opened):
        raise ValueError(f"{argument}: found {type(opened).__name__}, expected images or paths of images")
    shape = tuple(int(size) for size in opened.shape)
    while len(shape) > 4 and shape[-1] == 1:
        shape = shape[:-1]
    if len(shape) not in (3, 4):
        raise ValueError(f"{argument}: found shape {shape} in {name}, expected three or four dimensions")
    if 0 in shape:
        raise ValueError(f"{argument}: found an empty image, of shape {shape}, in {name}, expected volumes")
    grid = Grid(shape[:3], _affine(opened, name, argument))
    return Source(image, name, grid, shape[3] if len(shape) == 4 else 1)


def _affine(image: Any, name: str, argument: str) -> npt.NDArray[np.float64]:
    """Return the affine of an image that has one: a NIfTI header may say that it has none."""
    affine, header = image.affine, image.header
    silent = isinstance(header, nibabel.Nifti1Header) and header["sform_code"] == 0 == header["qform_code"]
    from_file = getattr(image, "get_filename", lambda: None)() is not None
    if affine is None or (silent and from_file):
        why = " (sform and qform codes are 0)" if affine is not None else ""
        raise ValueError(
            f"{argument}: found no affine in {name}{why}, expected one: it says where the voxels lie"
        )
    affine = np.asarray(affine, dtype=np.float64)
    if affine.shape != (4, 4) or not np.isfinite(affine).all() or abs(np.linalg.det(affine[:3, :3])) < 1e-12:
        found = " ".join(str(affine.tolist()).split())
        raise ValueError(f"{argument}: found the affine {found} in {name}, expected one that can be inverted")
    return affine


def _unreadable(name: str, error: BaseException, argument: str = "images") -> ValueError:
    if isinstance(error, ValueError) and str(error).startswith(argument):
        return error
    said = " ".join(str(error).split())
    return ValueError(f"{argument}: found an unreadable {name} ({said}), expected a complete image")


def _is_image(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("dataobj", "affine", "shape"))
