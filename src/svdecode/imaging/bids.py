"""Runs of a BIDS folder: preprocessed images and their events, paired by the entities in their names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svdecode.imaging.volumes import natural_order

#: entities that an events file can share with images: those of the acquisition, not of the processing
SHARED = ("sub", "ses", "task", "acq", "ce", "rec", "dir", "run")


@dataclass(frozen=True)
class Run:
    """One run of one subject.

    Attributes
    ----------
    image, events : Path
        Its files.
    mask : Path or None
        The brain mask that the preprocessing made.
    t_r : float or None
        Repetition time, from the JSON file beside the image.
    subject, run : str
        Of the entities.
    """

    image: Path
    events: Path
    mask: Path | None
    t_r: float | None
    subject: str
    run: str


def is_bids(folder: Path) -> bool:
    """Whether a folder looks like BIDS: a description, or folders of subjects."""
    return (folder / "dataset_description.json").is_file() or any(
        path.is_dir() for path in folder.glob("sub-*")
    )


def entities_of(path: Path) -> dict[str, str]:
    """Return the entities in a file's name: ``sub-01_task-rest_bold.nii.gz`` has sub and task."""
    pairs = (part.split("-", 1) for part in path.name.split("_") if "-" in part)
    return {key: value.split(".")[0] for key, value in pairs}


def find_runs(folder: Path, wanted: Mapping[str, Any] | None) -> list[Run]:
    """Pair images and events.

    Parameters
    ----------
    folder : Path
        Derivatives of a BIDS data set, or the data set with its derivatives.
    wanted : dict of str to str, or list of such; or None
        Entities that the images must have, such as ``{"task": "objects", "space": "MNI152Lin"}``.

    Returns
    -------
    list of Run
        By subject, session and run.
    """
    images = _images(folder, {key: _texts(value) for key, value in (wanted or {}).items()})
    events = _all_events(folder)
    runs = []
    for image in images:
        own = entities_of(image)
        mask = image.with_name(image.name.replace("_desc-preproc_bold.nii", "_desc-brain_mask.nii"))
        runs.append(
            Run(
                image,
                _events_of(image, own, events),
                mask if mask != image and mask.is_file() else None,
                _t_r(image),
                own["sub"],
                "_".join(f"{key}-{own[key]}" for key in ("ses", "task", "acq", "dir", "run") if key in own),
            )
        )
    return runs


def _texts(value: Any) -> set[str]:
    values = [value] if isinstance(value, str | int) else list(value)
    return {str(one) for one in values}


def _images(folder: Path, wanted: Mapping[str, set[str]]) -> list[Path]:
    files = [path for path in folder.rglob("sub-*_bold.nii*") if path.name.endswith((".nii", ".nii.gz"))]
    derived = [path for path in files if {"desc", "space", "res"} & set(entities_of(path))]
    files = derived or files
    if not files:
        raise ValueError(f"images: found no sub-…_bold.nii.gz in {folder}, expected preprocessed runs")
    chosen = [
        path for path in files if all(entities_of(path).get(key) in values for key, values in wanted.items())
    ]
    if not chosen:
        there = {key: sorted({entities_of(path).get(key, "none") for path in files}) for key in wanted}
        listed = "; ".join(f"{key}: {', '.join(values)}" for key, values in there.items())
        raise ValueError(f"entities: found no image with {_show(wanted)}, expected among {listed}")
    by_run: dict[tuple[str, ...], Path] = {}
    for path in sorted(chosen, key=natural_order):
        own = entities_of(path)
        key = tuple(own.get(name, "") for name in SHARED)
        if key in by_run:
            first = entities_of(by_run[key])
            differing = [name for name in sorted({*first, *own}) if first.get(name) != own.get(name)]
            choices = "; ".join(f"{n}: {first.get(n, 'none')}, {own.get(n, 'none')}" for n in differing)
            raise ValueError(
                f"images: found two images of one run ({by_run[key].name}, {path.name}), expected one: say "
                f"which by entities= ({choices or 'none differs'})"
            )
        by_run[key] = path
    return list(by_run.values())


def _all_events(folder: Path) -> list[Path]:
    """Events files of the folder, and of the data set whose derivatives it is."""
    roots = [folder]
    roots += [
        above for above in folder.resolve().parents[:3] if (above / "dataset_description.json").is_file()
    ]
    found = {path.resolve() for root in roots for path in root.rglob("*_events.tsv")}
    found |= {path.resolve() for root in roots for path in root.rglob("*_events.tsv.gz")}
    return sorted(found, key=natural_order)


def _events_of(image: Path, own: Mapping[str, str], events: list[Path]) -> Path:
    """Find the events whose entities the image all has; of several the most specific, as BIDS inherits."""
    fitting = {}
    for path in events:
        theirs = entities_of(path)
        if set(theirs) <= set(SHARED) and all(own.get(key) == value for key, value in theirs.items()):
            fitting[path] = len(theirs)
    best = [path for path, count in fitting.items() if count == max(fitting.values())]
    if len(best) != 1:
        found = ", ".join(path.name for path in best) or f"none among {len(events)} events files"
        shared = "_".join(f"{key}-{own[key]}" for key in SHARED if key in own)
        raise ValueError(f"events: found {found} for {image.name}, expected one, {shared}_events.tsv")
    return best[0]


def _t_r(image: Path) -> float | None:
    sidecar = image.with_name(image.name.removesuffix(".gz").removesuffix(".nii") + ".json")
    if not sidecar.is_file():
        return None
    try:
        value = json.loads(sidecar.read_text(encoding="utf-8")).get("RepetitionTime")
    except (ValueError, AttributeError) as error:
        raise ValueError(f"images: found an unreadable {sidecar.name} ({error}), expected JSON") from error
    return float(value) if isinstance(value, int | float) and np.isfinite(value) and value > 0 else None


def _show(wanted: Mapping[str, set[str]]) -> str:
    return ", ".join(f"{key} {' or '.join(sorted(values))}" for key, values in wanted.items())
