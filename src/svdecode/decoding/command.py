"""What `svdecode decode` does: read, decode, write, and go on where it was stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pandas as pd

import svdecode
from svdecode.decoding.analysis import Plan, decode
from svdecode.decoding.config import read_config, write_config
from svdecode.decoding.files import write_results
from svdecode.decoding.result import DecodingResult
from svdecode.decoding.settings import settle
from svdecode.imaging import Dataset, read_dataset
from svdecode.report.output import output_folder
from svdecode.study import Store

#: options of a decoding, with what stands where nothing is asked for
DEFAULTS: dict[str, Any] = {
    "images": None, "labels": None, "label_column": None, "runs": "auto", "subjects": "auto", "drop": [],
    "classes": None, "mask": None, "region": None, "events": None, "t_r": None, "trials": "block_average",
    "lag": 5.0, "average_blocks": False, "detrend": False, "smoothing_fwhm": None, "resample": False,
    "ignore": [], "name": "", "anatomy": None, "standardize": "auto", "protocol": None, "methods": None,
    "components": None, "choice": "best", "inner": 5, "permutations": 99, "permute": "fixed", "seed": 0,
}  # fmt: skip
PATHS = ("images", "labels", "mask", "events", "anatomy")
#: those that `read_dataset` takes by the same name
READING = (
    "labels", "label_column", "runs", "subjects", "drop", "classes", "mask", "region", "events", "t_r",
    "trials", "lag", "average_blocks", "detrend", "smoothing_fwhm", "resample", "ignore", "name",
)  # fmt: skip
LABELS = "labels.tsv"
UNFINISHED, FINISHED = "unfinished.sqlite", "study.sqlite"


def merge(given: Mapping[str, Any], config: Any = None) -> dict[str, Any]:
    """Put together what was given, what a config says, and what stands otherwise.

    Parameters
    ----------
    given : dict
        Options by name; None where one was not given.
    config : path, optional
        Of a config.yaml.

    Returns
    -------
    dict
        A value for every option.
    """
    asked = {} if config is None else read_config(config, DEFAULTS)
    asked |= {name: value for name, value in given.items() if value is not None and value != []}
    values = {**DEFAULTS, **asked}
    if not values["images"]:
        raise ValueError("IMAGES: found none, expected images (4-D, several 3-D, .npy, .npz or a table)")
    values["images"] = [str(one) for one in _listed(values["images"])]
    for name in ("runs", "subjects"):
        if values[name] in ("none", ""):
            values[name] = None
    if values["standardize"] in ("none", ""):
        values["standardize"] = None
    return values


def read(values: Mapping[str, Any]) -> Dataset:
    """Read the images and what is known of them.

    Parameters
    ----------
    values : dict
        As `merge` gives them.

    Returns
    -------
    Dataset
        Not standardized: that belongs to the test.
    """
    options = {name: values[name] for name in READING}
    images = values["images"]
    options["name"] = options["name"] or Path(images[0]).name.split(".")[0]
    if options["events"] is not None and len(_listed(options["events"])) == 1:
        options["events"] = _listed(options["events"])[0]
    return read_dataset(images[0] if len(images) == 1 else images, **options)


def decoding_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options that `decode` takes, under its names."""
    names = ("protocol", "methods", "components", "standardize", "choice", "permute", "seed")
    renamed = {"n_inner": values["inner"], "n_permutations": values["permutations"]}
    return {**{name: values[name] for name in names}, **renamed}


def run(
    values: Mapping[str, Any],
    out: Path,
    *,
    resume: bool = False,
    n_jobs: int | None = None,
    dataset: Dataset | None = None,
    progress: bool | None = None,
) -> DecodingResult:
    """Decode, and write everything into a folder.

    Parameters
    ----------
    values : dict
        As `merge` gives them.
    out : path
        The folder.
    resume : bool, default False
        Go on with what is in it.
    n_jobs : int, optional
        Workers.
    dataset : Dataset, optional
        The data, where they were read already.
    progress : bool, optional
        Whether to show a bar.

    Returns
    -------
    DecodingResult
        What was found.
    """
    with output_folder(out, "--out") as output, _store(out, resume) as store:
        data = read(values) if dataset is None else dataset
        anatomy = values["anatomy"] or mean_image(values, data)
        result = decode(
            data, store=store, n_jobs=n_jobs, progress=progress, anatomy=anatomy, **decoding_options(values)
        )
        write_results(result, output)
        if isinstance(values["labels"], pd.DataFrame):
            output.write(LABELS, values["labels"].to_csv(sep="\t", index=False, lineterminator="\n"))
            values = {**values, "labels": str((out / LABELS).absolute())}
        output.write("config.yaml", config_of(values, result))
    return result


def config_of(values: Mapping[str, Any], result: DecodingResult) -> str:
    """The config.yaml of a decoding: with it the same is done again."""
    used = dict(values)
    for name in PATHS:
        if used[name] is not None:
            paths = [_absolute(one) for one in _listed(used[name])]
            used[name] = paths if isinstance(used[name], list | tuple) else paths[0]
    settings = result.settings
    used |= {
        "protocol": settings.protocol,
        "standardize": settings.standardize or "none",
        "components": list(settings.components),
    }
    used["runs"], used["subjects"] = used["runs"] or "none", used["subjects"] or "none"
    comments = [
        f"svdecode {svdecode.__version__}",
        "svdecode decode --config config.yaml --out FOLDER does it again",
    ]
    return write_config({name: list(v) if isinstance(v, tuple) else v for name, v in used.items()}, comments)


def _absolute(path: Any) -> str:
    text = str(path)
    return str(Path(text).expanduser().absolute()) if Path(text).expanduser().exists() else text


@contextmanager
def _store(out: Path, resume: bool) -> Iterator[Path]:
    """The file that keeps what is done; it gets its final name when all is."""
    unfinished, finished = out / UNFINISHED, out / FINISHED
    if unfinished.exists() and not resume:
        raise ValueError(
            f"--out: found a decoding in {out} that was stopped, expected --resume to go on with it, or "
            "another folder"
        )
    if resume and finished.exists() and not unfinished.exists():
        finished.replace(unfinished)
    try:
        yield unfinished
    except BaseException:
        if unfinished.exists() and _is_empty(unfinished):
            unfinished.unlink()
        raise
    unfinished.replace(finished)


def _is_empty(path: Path) -> bool:
    try:
        with Store(path) as store:
            return len(store) == 0
    except ValueError:
        return False


def mean_image(values: Mapping[str, Any], dataset: Dataset) -> Any:
    """Mean of some of the images, to draw maps on; None where they are no images on the mask's grid."""
    if dataset.mask is None or str(values["images"][0]).endswith((".npy", ".npz", ".csv", ".tsv")):
        return None
    try:
        image: Any = nibabel.load(values["images"][0])
    except (nibabel.filebasedimages.ImageFileError, OSError):
        return None
    if image.shape[:3] != dataset.mask.shape or not np.allclose(image.affine, dataset.mask.affine, atol=1e-3):
        return None
    data = np.asarray(image.dataobj[..., :20] if len(image.shape) == 4 else image.dataobj, dtype=np.float64)
    mean = np.nan_to_num(data.mean(axis=3) if data.ndim == 4 else data)
    return nibabel.Nifti1Image(mean, image.affine) if mean.min() >= 0 else None  # contrasts show no anatomy


def preview(values: Mapping[str, Any], say: Callable[[str], None], n_jobs: int | None = None) -> None:
    """Say what would be done, and how long it should take.

    Parameters
    ----------
    values : dict
        As `merge` gives them.
    say : callable
        Takes lines.
    n_jobs : int, optional
        Workers.
    """
    from svdecode.decoding.estimate import estimated_seconds, in_words

    data = read(values)
    settings, splits = settle(data, **decoding_options(values))
    plan = Plan(data, settings, splits)
    say(repr(data))
    for step in data.steps:
        say(f"  {step}")
    say(f"Protocol: {settings.protocol}, {len(splits)} splits.")
    for reason in settings.why:
        say(f"  {reason}")
    for method in settings.methods:
        grid = ", ".join(f"{name} of {list(tried)}" for name, tried in method.grid.items())
        sizes = "" if method.sizes is None else f"components of {list(method.sizes)}"
        say(f"Method: {method.name} ({', '.join(part for part in (sizes, grid) if part)})")
    say(f"Permutations of the labels: {settings.n_permutations}.")
    say(f"Cells to compute: {len(plan)}, which should take {in_words(estimated_seconds(plan, n_jobs))}.")
    say("Nothing was written.")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
