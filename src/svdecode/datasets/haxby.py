"""The data that come with the package: a part of one slice of Haxby et al. 2001."""

from __future__ import annotations

from pathlib import Path

import nibabel
import numpy as np
from scipy.signal import detrend as remove_trend

from svdecode._checks import FloatArray, IntArray, check_choice
from svdecode.imaging import Dataset

FOLDER = Path(__file__).parent / "haxby2001_slice"

CATEGORIES = ("rest", "face", "house", "shoe", "cat", "scissors", "scrambledpix", "bottle", "chair")
"""What the codes 0 to 8 of `attributes.txt` mean."""

DESCRIPTION = """\
Haxby et al. 2001, subject 1, the posterior half of one axial slice: 530 voxels inside the mask,
12 runs of 121 volumes (2.5 s each), in each run one block a category, 8 categories of pictures.
{samples}
Source: J. V. Haxby, M. I. Gobbini, M. L. Furey, A. Ishai, J. L. Schouten, P. Pietrini: Distributed
and overlapping representations of faces and objects in ventral temporal cortex. Science 293,
2425-2430, 2001. Data under CC BY-SA 3.0 (creativecommons.org/licenses/by-sa/3.0), taken from the
source archive of PyMVPA 2.6.5 (MIT license)."""


def load_haxby2001_slice(samples: str = "blocks", *, detrend: bool = True, rest: bool = False) -> Dataset:
    """Load the embedded fMRI data: eight categories of pictures, 12 runs, 530 voxels of one slice.

    Parameters
    ----------
    samples : {"blocks", "volumes"}, default "blocks"
        One sample for each block of a category (the mean of its volumes; 96 samples), or for each
        single volume (864).
    detrend : bool, default True
        Subtract from each voxel's course its linear trend within the run, over all volumes of the run
        and before blocks are averaged. This removes each run's mean too.
    rest : bool, default False
        Keep the rest between the blocks as a ninth label, "rest".

    Returns
    -------
    Dataset
        Samples in the order of time; `y` holds the names of the categories, `runs` 1 to 12, `subjects` 1 for
        all, `mask` the voxels' places.

    See Also
    --------
    make_decoding : Simulated data with known truth.

    Notes
    -----
    A block is a contiguous stretch of volumes with one label within one run. Nothing is standardized:
    do that within the folds, or by run. The terms of the data are in the folder's `LICENSE`.

    References
    ----------
    J. V. Haxby et al.: Distributed and overlapping representations of faces and objects in ventral
    temporal cortex. Science 293, 2425-2430, 2001.

    Examples
    --------
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> data = load_haxby2001_slice()
    >>> data
    Dataset(96 samples of 530 features, 8 classes, 12 runs, 1 subject)
    >>> data.classes.tolist()
    ['bottle', 'cat', 'chair', 'face', 'house', 'scissors', 'scrambledpix', 'shoe']
    """
    check_choice(samples, "samples", ("blocks", "volumes"))
    check_choice(detrend, "detrend", (True, False))
    check_choice(rest, "rest", (True, False))
    X, codes, runs, mask = _read()
    if detrend:
        for run in np.unique(runs):
            X[runs == run] = remove_trend(X[runs == run], axis=0, type="linear")
    if samples == "blocks":
        X, codes, runs = _block_means(X, codes, runs)
    kept = np.ones(len(codes), dtype=bool) if rest else codes > 0
    return Dataset(
        X=X[kept],
        y=np.array(CATEGORIES)[codes[kept]],
        runs=runs[kept],
        subjects=np.ones(int(kept.sum()), dtype=int),
        mask=mask,
        name="haxby2001_slice",
        description=DESCRIPTION.format(samples=_what_was_done(samples, detrend, rest)),
    )


def _read() -> tuple[FloatArray, IntArray, IntArray, nibabel.Nifti1Image]:
    """Read the volumes as rows, the code and run of each, and the mask."""
    on_disk = nibabel.load(FOLDER / "mask.nii.gz")
    inside = np.asarray(on_disk.dataobj) != 0
    bold = np.asarray(nibabel.load(FOLDER / "bold.nii.gz").dataobj)
    codes, runs = np.loadtxt(FOLDER / "attributes.txt", dtype=np.intp).T
    mask = nibabel.Nifti1Image(inside.astype(np.uint8), on_disk.affine)
    return bold[inside].T.astype(np.float64), codes, runs + 1, mask


def _block_means(X: FloatArray, codes: IntArray, runs: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Average the volumes of each contiguous stretch of one label within one run."""
    changes = (np.diff(codes) != 0) | (np.diff(runs) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    lengths = np.diff(np.append(starts, len(codes)))
    return np.add.reduceat(X, starts) / lengths[:, None], codes[starts], runs[starts]


def _what_was_done(samples: str, detrend: bool, rest: bool) -> str:
    unit = "block (the mean of its volumes)" if samples == "blocks" else "single volume"
    trend = "The linear trend of each run is removed" if detrend else "Trends are left in"
    pauses = "with the rest between blocks" if rest else "without the rest between blocks"
    return f"One sample for each {unit}, {pauses}. {trend}; nothing else is done.\n"
