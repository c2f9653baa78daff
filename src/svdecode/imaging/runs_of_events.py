"""Runs whose samples come from events: each image with its table, read one run at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nibabel
import numpy as np
import pandas as pd
from nilearn import signal

from svdecode.imaging import bids
from svdecode.imaging.arrays import labels_of
from svdecode.imaging.events import Trials, read_events, repetition_time, samples_of_run
from svdecode.imaging.extraction import Extractor
from svdecode.imaging.masks import volume_of
from svdecode.imaging.samples import Samples
from svdecode.imaging.volumes import Source, open_images


class RunOfEvents(NamedTuple):
    """One image of several volumes, and what happened meanwhile."""

    source: Source
    events: Any
    run: Any
    subject: Any
    mask: Path | None
    t_r: float | None


def find(images: Any, events: Any, entities: Any, runs: Any, subjects: Any) -> list[RunOfEvents]:
    """Pair images with events, those of a BIDS folder by their entities, others by their order.

    Parameters
    ----------
    images, events, entities, runs, subjects
        As `read_dataset` takes them.

    Returns
    -------
    list of RunOfEvents
        In the order of the images.
    """
    if events is None:
        if not all(
            (isinstance(value, str) and value == "auto") or value is None for value in (runs, subjects)
        ):
            raise ValueError("runs, subjects: found values for a BIDS folder, expected 'auto' (its entities)")
        return _of_bids(Path(images).expanduser(), entities, runs, subjects)
    sources = open_images(images)
    tables = [events] if isinstance(events, str | Path | pd.DataFrame) else list(events)
    if len(tables) != len(sources):
        raise ValueError(
            f"events: found {len(tables)} tables, expected one for each of the {len(sources)} images"
        )
    values: dict[str, Any] = {}
    for name, given in (("runs", runs), ("subjects", subjects)):
        if isinstance(given, str) and given == "auto":
            given = np.arange(1, len(sources) + 1) if name == "runs" else None
        elif isinstance(given, str):
            raise ValueError(
                f"{name}: found {given!r}, expected one value for each of the {len(sources)} images"
            )
        values[name] = None if given is None else labels_of(given)
        if values[name] is not None and values[name].shape != (len(sources),):
            found = values[name].size
            raise ValueError(
                f"{name}: found {found} values, expected one for each of the {len(sources)} images"
            )
    return [
        RunOfEvents(
            source,
            table,
            None if values["runs"] is None else values["runs"][i],
            None if values["subjects"] is None else values["subjects"][i],
            None,
            None,
        )
        for i, (source, table) in enumerate(zip(sources, tables, strict=True))
    ]


def _of_bids(folder: Path, entities: Any, runs: Any, subjects: Any) -> list[RunOfEvents]:
    found = bids.find_runs(folder, entities)
    return [
        RunOfEvents(
            open_images(run.image)[0],
            run.events,
            None if runs is None else run.run or "1",
            None if subjects is None else run.subject,
            run.mask,
            run.t_r,
        )
        for run in found
    ]


def masks(runs: Sequence[RunOfEvents], mask: Any) -> tuple[Any, list[str]] | None:
    """Where all the runs' own brain masks overlap; None if another mask is asked for, or a run has none."""
    grid = runs[0].source.grid
    if mask is not None or any(run.mask is None or not run.source.grid.equals(grid) for run in runs):
        return None
    inside = np.ones(grid.shape, dtype=bool)
    for run in runs:
        source = open_images(run.mask, "mask")[0]
        if not source.grid.equals(grid):
            raise ValueError(f"mask: found {source.grid} in {source.name}, expected {grid} as in its image")
        inside &= volume_of(source, "mask") != 0
    if not inside.any():
        raise ValueError(f"mask: found no voxel that is in all {len(runs)} brain masks, expected some")
    image = nibabel.Nifti1Image(inside.astype(np.uint8), grid.affine)
    return image, [f"Voxels: those in the brain masks of all {len(runs)} runs ({int(inside.sum())} voxels)."]


def samples(
    runs: Sequence[RunOfEvents],
    reader: tuple[Extractor, list[str]],
    trials: Trials,
    t_r: float | None,
    label: str,
    dropped: set[str],
    *,
    detrend: bool,
) -> Samples:
    """Read the runs one by one, and make their trials samples.

    Parameters
    ----------
    runs : sequence of RunOfEvents
        What to read.
    reader : (Extractor, list of str)
        What reads, and sentences on the mask.
    trials : Trials
        How events become samples.
    t_r : float or None
        Repetition time, where it is given.
    label : str
        The events' column of labels.
    dropped : set of str
        Labels that make no samples.
    detrend : bool
        Whether to remove linear trends.

    Returns
    -------
    Samples
        Of all runs.
    """
    if detrend and trials.kind != "block_average":
        raise ValueError(
            f"detrend: found True with trials={trials.kind!r}, expected False: the model has drifts"
        )
    extractor, steps = reader
    rows, y, of_run, seconds, met = [], [], [], [], set()
    for i, run in enumerate(runs):
        where = f"the events of {run.source.name}"
        happened = read_events(run.events, label, where)
        met |= {event.label for event in happened}
        seconds.append(repetition_time(run.source, t_r if t_r is not None else run.t_r))
        X = extractor.rows([run.source])
        if len(X) < 3:
            raise ValueError(
                f"images: found {len(X)} volumes in {run.source.name}, expected a run of several"
            )
        if detrend:
            X = signal.clean(X, detrend=True, standardize=None, filter=False, t_r=None)
        found, labels = samples_of_run(X, happened, seconds[-1], trials, dropped, where)
        rows.append(found)
        y += labels
        of_run += [i] * len(labels)
    unknown = sorted(dropped - met - {"n/a"})
    if unknown:
        raise ValueError(f"drop: found {unknown[0]!r}, expected among the labels {', '.join(sorted(met))}")
    if not y:
        raise ValueError("drop: found every label of the events, expected some to be left")
    return Samples(
        np.concatenate(rows),
        np.array(y),
        _values([run.run for run in runs], of_run),
        _values([run.subject for run in runs], of_run),
        extractor.mask,
        _steps(runs, extractor, steps, trials, seconds, dropped & met, detrend=detrend),
    )


def _steps(
    runs: Sequence[RunOfEvents],
    extractor: Extractor,
    steps: list[str],
    trials: Trials,
    seconds: list[float],
    dropped: set[str],
    *,
    detrend: bool,
) -> list[str]:
    if max(seconds) - min(seconds) > 1e-6:
        raise ValueError(f"t_r: found {min(seconds):g} to {max(seconds):g} s, expected the same in all runs")
    sources = [run.source for run in runs]
    said = [f"Images: {len(runs)} runs, {sum(source.n_volumes for source in sources)} volumes.", *steps]
    said += extractor.steps(sources)
    if detrend:
        said.append(
            "Detrending: the linear trend of each voxel was removed within each run, over all volumes."
        )
    said.append(trials.describe(seconds[0]))
    if dropped:
        role = "left out" if trials.kind == "block_average" else "in the models, but no samples"
        said.append(f"Events labeled {', '.join(sorted(dropped))} are {role}.")
    return said


def _values(of_runs: Sequence[Any], places: list[int]) -> Any:
    return None if of_runs[0] is None else np.asarray(of_runs)[places]
