"""Which measured data sets are known, where they are, and how the larger ones become a Dataset.

Only haxby2001_slice comes with the package. The others are `.npz` files in a folder that the environment
variable SVDECODE_DATA names.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

from svdecode._checks import check_choice
from svdecode.datasets.haxby import FOLDER, load_haxby2001_slice
from svdecode.imaging import Dataset

VARIABLE = "SVDECODE_DATA"
EMBEDDED = "haxby2001_slice"

Arrays = Mapping[str, Any]
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Record:
    """What is known of a data set.

    Attributes
    ----------
    name : str
        What `load` and `info` call it.
    samples, features : str
        How many there are, and of what.
    description : str
        One line.
    where : str
        "embedded", or the folder in which its file is looked for ("$SVDECODE_DATA" when that is not set).
    found : bool
        Whether it is there.

    Examples
    --------
    >>> from svdecode.datasets import available
    >>> print(*(record.name for record in available()[:3]))
    haxby2001_slice haxby2011 woo2014_contrasts
    """

    name: str
    samples: str
    features: str
    description: str
    where: str
    found: bool


@dataclass(frozen=True)
class _Known:
    samples: str
    features: str
    description: str
    source: str
    read: Callable[[Arrays], dict[str, Any]] | None = None


def _haxby2011(arrays: Arrays) -> dict[str, Any]:
    first = int(np.count_nonzero(arrays["hemisphere"] == 1))
    return {
        "X": arrays["X"],
        "y": arrays["y"],
        "runs": arrays["run"],
        "subjects": arrays["subject"],
        "views": {"hemisphere 1": slice(0, first), "hemisphere 2": slice(first, len(arrays["hemisphere"]))},
    }


def _woo2014(arrays: Arrays) -> dict[str, Any]:
    mask = nibabel.Nifti1Image(arrays["mask"].astype(np.uint8), arrays["affine"])
    y = arrays["condition_names"][arrays["y"]]
    return {"X": arrays["X"], "y": y, "subjects": arrays["subject"], "mask": mask}


def _expression(*names: str) -> Callable[[Arrays], dict[str, Any]]:
    """Reader of a table of gene expression whose classes are coded from 1."""
    return lambda arrays: {"X": arrays["X"], "y": np.array(names)[arrays["y"] - 1]}


KNOWN: dict[str, _Known] = {
    EMBEDDED: _Known(
        "96 blocks or 864 volumes",
        "530 voxels",
        "fMRI of one subject seeing eight categories of pictures, 12 runs, part of a slice",
        "Haxby et al. 2001, Science 293; data CC BY-SA 3.0, from PyMVPA 2.6.5 (MIT)",
    ),
    "haxby2011": _Known(
        "392",
        "1000 voxels",
        "fMRI of 7 subjects, 8 runs, 7 categories of faces and objects; voxels chosen for each subject",
        "Haxby et al. 2011, Neuron 72. The categories are numbered 1 to 7, and columns of "
        "different subjects do not correspond",
        _haxby2011,
    ),
    "woo2014_contrasts": _Known(
        "120",
        "27942 voxels",
        "fMRI contrasts of 30 subjects in 4 conditions (heat, warmth, rejection, friend), whole brain",
        "Woo et al. 2014, Nature Communications 5",
        _woo2014,
    ),
    "kriegeskorte92": _Known(
        "92 images",
        "4 subjects × 2 sessions of dissimilarities; 175 × 175 pixels",
        "dissimilarity matrices of human inferior temporal cortex, and the images that were seen",
        "Kriegeskorte et al. 2008, Neuron 60; from rsatoolbox (MIT)",
    ),
    "objects81": _Known(
        "81",
        "696 voxels + 20 image + 30 word features",
        "fMRI of one subject seeing 81 categories of objects; AlexNet and word2vec features",
        "one subject, 7 regions of interest",
    ),
    "breast_tcga_train": _Known(
        "150",
        "200 mRNA + 184 miRNA + 142 proteins",
        "breast tumors of three subtypes in three views",
        "The Cancer Genome Atlas",
    ),
    "breast_tcga_test": _Known(
        "70",
        "200 mRNA + 184 miRNA",
        "more breast tumors of the same subtypes, without the protein view",
        "The Cancer Genome Atlas",
    ),
    "colon": _Known(
        "62",
        "2000 genes",
        "gene expression of colon tissue, normal or tumor",
        "Alon et al. 1999, PNAS 96",
        _expression("normal", "tumor"),
    ),
    "srbct": _Known(
        "83",
        "2308 genes",
        "gene expression of small round blue cell tumors of childhood, four kinds",
        "Khan et al. 2001, Nature Medicine 7",
        _expression("EWS", "BL", "NB", "RMS"),
    ),
}


def available(data_dir: PathLike | None = None) -> list[Record]:
    """List the measured data sets that the package knows.

    Parameters
    ----------
    data_dir : path, optional
        Folder of the files that are not embedded, by default the one that the environment variable
        SVDECODE_DATA names.

    Returns
    -------
    list of Record
        Name, samples, features, description, where, and found, for each.

    Examples
    --------
    >>> from svdecode.datasets import available
    >>> embedded = available()[0]
    >>> embedded.name, embedded.where, embedded.found
    ('haxby2001_slice', 'embedded', True)
    """
    return [_record(name, data_dir) for name in KNOWN]


def info(name: str, data_dir: PathLike | None = None) -> str:
    """Tell what a data set is, where it comes from, and how to load it.

    Parameters
    ----------
    name : str
        One of the names that `available` lists.
    data_dir : path, optional
        Folder of the files that are not embedded, by default $SVDECODE_DATA.

    Returns
    -------
    str
        A few lines.

    Examples
    --------
    >>> from svdecode.datasets import info
    >>> print(info("haxby2001_slice"))
    haxby2001_slice: fMRI of one subject seeing eight categories of pictures, 12 runs, part of a slice
      samples   96 blocks or 864 volumes
      features  530 voxels
      source    Haxby et al. 2001, Science 293; data CC BY-SA 3.0, from PyMVPA 2.6.5 (MIT)
      where     embedded
      load      svdecode.datasets.load_haxby2001_slice()
    """
    known = KNOWN[check_choice(name, "name", tuple(KNOWN))]
    record = _record(name, data_dir)
    if name == EMBEDDED:
        where, load_it = record.where, "svdecode.datasets.load_haxby2001_slice()"
    else:
        where = f"{name}.npz in {record.where}" + ("" if record.found else " (not found)")
        load_it = f"svdecode.datasets.load({name!r})" if known.read else f"numpy.load of {name}.npz"
    return (
        f"{name}: {known.description}\n  samples   {known.samples}\n  features  {known.features}\n"
        f"  source    {known.source}\n  where     {where}\n  load      {load_it}"
    )


def load(name: str, data_dir: PathLike | None = None) -> Dataset:
    """Load a measured data set by name.

    Parameters
    ----------
    name : {"haxby2001_slice", "haxby2011", "woo2014_contrasts", "colon", "srbct"}
        Which one. haxby2001_slice comes in block means (`load_haxby2001_slice` has options).
    data_dir : path, optional
        Folder of the files that are not embedded, by default the one that the environment variable
        SVDECODE_DATA names.

    Returns
    -------
    Dataset
        Values as in the file; labels by name where names are known.

    Raises
    ------
    FileNotFoundError
        When the file is not in the folder, or no folder is given.

    See Also
    --------
    available : What is known, and what of it was found.

    Examples
    --------
    >>> from svdecode.datasets import load
    >>> load("haxby2001_slice")
    Dataset(96 samples of 530 features, 8 classes, 12 runs, 1 subject)
    """
    readable = tuple(key for key, known in KNOWN.items() if known.read or key == EMBEDDED)
    check_choice(name, "name", readable)
    if name == EMBEDDED:
        return load_haxby2001_slice()
    known = KNOWN[name]
    path = _file(name, data_dir)
    if path is None:
        raise FileNotFoundError(
            f"{name}: found no value of the environment variable {VARIABLE}, "
            f"expected the folder that has {name}.npz"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{name}: found no {path.name} in {path.parent}, expected it there (or in the folder that "
            f"the environment variable {VARIABLE} names)"
        )
    assert known.read is not None  # it is readable
    try:
        with np.load(path, allow_pickle=False) as arrays:
            parts = known.read(arrays)
    except (OSError, EOFError, KeyError, ValueError, IndexError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name}: found an unreadable {path} ({error}), expected its arrays") from error
    return Dataset(**parts, name=name, description=f"{known.description}. Source: {known.source}.")


def _file(name: str, data_dir: PathLike | None) -> Path | None:
    folder = os.environ.get(VARIABLE) if data_dir is None else data_dir
    return Path(folder).expanduser() / f"{name}.npz" if folder else None


def _record(name: str, data_dir: PathLike | None) -> Record:
    known = KNOWN[name]
    facts = (name, known.samples, known.features, known.description)
    if name == EMBEDDED:
        return Record(*facts, where="embedded", found=(FOLDER / "bold.nii.gz").is_file())
    path = _file(name, data_dir)
    where = f"${VARIABLE}" if path is None else str(path.parent)
    return Record(*facts, where=where, found=path is not None and path.is_file())
