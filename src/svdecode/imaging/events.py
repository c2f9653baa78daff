"""Samples from events with onsets: means of blocks, or a first-level model of every trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from nilearn.glm.first_level import make_first_level_design_matrix, run_glm

from svdecode._checks import FloatArray, check_choice, check_number
from svdecode.imaging.tables import column_of, numbers_of, read_table
from svdecode.imaging.volumes import Source

TRIALS = ("block_average", "least_squares_all", "least_squares_separate")
HIGH_PASS = 0.01


class Event(NamedTuple):
    """Something that happened during a run; times in seconds from its first volume."""

    onset: float
    duration: float
    label: str


class Trials(NamedTuple):
    """How events become samples."""

    kind: str
    lag: float
    join_gap: float
    hrf_model: str
    noise_model: str

    def describe(self, t_r: float) -> str:
        """One sentence."""
        if self.kind == "block_average":
            joined = f", events with at most {self.join_gap:g} s between them joined" if self.join_gap else ""
            return (
                f"Samples: the mean of the volumes of each event (repetition time {t_r:g} s), from "
                f"{self.lag:g} s after its onset to {self.lag:g} s after its end{joined}."
            )
        others = (
            "one model for each run with a regressor for every trial (least squares, all)"
            if self.kind == "least_squares_all"
            else "for every trial a model of its own, with a regressor for it and one for the other trials "
            "of each condition (least squares, separate)"
        )
        return (
            f"Samples: the effect of each trial in nilearn's first-level model, {others}; hemodynamic "
            f"response {self.hrf_model!r}, noise {self.noise_model!r}, cosine drifts below {HIGH_PASS:g} Hz, "
            f"repetition time {t_r:g} s."
        )


def check_trials(trials: Any, lag: Any, join_gap: Any, hrf_model: Any, noise_model: Any) -> Trials:
    """Return what the user says of trials, checked."""
    return Trials(
        check_choice(trials, "trials", TRIALS),
        check_number(lag, "lag", minimum=-np.inf),
        check_number(join_gap, "join_gap"),
        hrf_model,
        check_choice(noise_model, "noise_model", ("ar1", "ols")),
    )


def read_events(table: Any, label: str, name: str) -> list[Event]:
    """Events of a run in the order of their onsets.

    Parameters
    ----------
    table : path or frame
        With the columns onset and duration, in seconds, and one of labels.
    label : str
        The column of labels.
    name : str
        What messages call the table.

    Returns
    -------
    list of Event
        Events without a label are left out.
    """
    frame = read_table(table, "events")
    onsets = numbers_of(frame, "onset", "events", name)
    durations = numbers_of(frame, "duration", "events", name)
    labels = column_of(frame, label, "events", name)
    if (durations < 0).any():
        row = int(np.argmax(durations < 0))
        raise ValueError(
            f"events: found duration {durations[row]:g} in row {row} of {name}, expected at least 0"
        )
    events = [
        Event(onset, duration, str(text))
        for onset, duration, text in zip(onsets.tolist(), durations.tolist(), labels, strict=True)
        if text is not None
    ]
    if not events:
        raise ValueError(f"events: found no event with a label in {name}, expected some")
    return sorted(events)


def repetition_time(source: Source, t_r: Any) -> float:
    """Seconds from one volume to the next, as given or from the image's header."""
    if t_r is not None:
        return check_number(t_r, "t_r", positive=True)
    header = source.open().header
    step = float(header.get_zooms()[3]) if len(header.get_zooms()) > 3 else 0.0
    unit = header.get_xyzt_units()[1] if hasattr(header, "get_xyzt_units") else "unknown"
    scale = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6}.get(unit)
    if scale is None or not step > 0:
        raise ValueError(
            f"t_r: found {step:g} in units {unit!r} in the header of {source.name}, expected the seconds "
            "from one volume to the next (give t_r=)"
        )
    return step * scale


def samples_of_run(
    X: FloatArray, events: Sequence[Event], t_r: float, trials: Trials, dropped: set[str], name: str
) -> tuple[FloatArray, list[str]]:
    """Rows of the trials of a run, and their labels.

    Parameters
    ----------
    X : array of shape (n_volumes, n_features)
        The run's volumes.
    events : sequence of Event
        What happened.
    t_r : float
        Seconds from one volume to the next.
    trials : Trials
        What to do.
    dropped : set of str
        Labels that make no samples; a model has one regressor for each of them.
    name : str
        What messages call the run.

    Returns
    -------
    (array of shape (n_trials, n_features), list of str)
        In the order of onsets.
    """
    times = t_r * np.arange(len(X), dtype=np.float64)
    if trials.kind == "block_average":
        blocks = [b for b in _joined(events, trials.join_gap) if b.label not in dropped]
        rows = [_block_mean(X, times, block, t_r, trials.lag, name) for block in blocks]
        return np.array(rows).reshape(len(rows), X.shape[1]), [block.label for block in blocks]
    late = next((event for event in events if event.onset > times[-1]), None)
    if late is not None:
        raise ValueError(
            f"events: found {late.label!r} at {late.onset:g} s in {name}, expected onsets within its "
            f"{len(X) * t_r:g} s"
        )
    kept = [i for i, event in enumerate(events) if event.label not in dropped]
    effects = np.empty((len(kept), X.shape[1]))
    for names, places in _designs(events, kept, trials.kind):
        design = _design(times, events, names, trials.hrf_model)
        columns = [design.columns.get_loc(_regressor(i)) for i in places]
        effects[[kept.index(i) for i in places]] = _effects(X, design.to_numpy(), columns, trials, name)
    return effects, [events[i].label for i in kept]


def _joined(events: Sequence[Event], gap: float) -> list[Event]:
    """Neighbors of one label that are at most `gap` seconds apart are one block."""
    blocks: list[Event] = []
    for event in events:
        last = blocks[-1] if blocks else None
        near = gap > 0 and last is not None and event.onset - (last.onset + last.duration) <= gap
        if last is not None and near and event.label == last.label:
            end = max(last.onset + last.duration, event.onset + event.duration)
            blocks[-1] = Event(last.onset, end - last.onset, last.label)
        else:
            blocks.append(event)
    return blocks


def _block_mean(
    X: FloatArray, times: FloatArray, block: Event, t_r: float, lag: float, name: str
) -> FloatArray:
    start = block.onset + lag
    # rounding must not move a volume that begins just then; an instant still has one volume
    chosen = (times >= start - 1e-6) & (times < start + max(block.duration, t_r) - 1e-6)
    if not chosen.any():
        raise ValueError(
            f"events: found no volume from {start:g} to {start + block.duration:g} s in {name}, expected "
            f"some of {block.label!r} (the run has {len(X) * t_r:g} s, lag={lag:g})"
        )
    return np.asarray(X[chosen].mean(axis=0))


def _regressor(i: int) -> str:
    return f"trial_{i:05d}"


def _designs(events: Sequence[Event], kept: list[int], kind: str) -> Iterator[tuple[list[str], list[int]]]:
    """Names of the events in each model to fit, and the trials that are read from it."""
    if kind == "least_squares_all":
        yield [_regressor(i) if i in kept else _condition(e) for i, e in enumerate(events)], kept
        return
    for i in kept:
        yield [_regressor(i) if j == i else _condition(e) for j, e in enumerate(events)], [i]


def _condition(event: Event) -> str:
    return f"condition_{event.label}"


def _design(times: FloatArray, events: Sequence[Event], names: list[str], hrf_model: str) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "onset": [event.onset for event in events],
            "duration": [event.duration for event in events],
            "trial_type": names,
        }
    )
    options = {"hrf_model": hrf_model, "drift_model": "cosine", "high_pass": HIGH_PASS}
    design: pd.DataFrame = make_first_level_design_matrix(times, frame, **options)
    return design


def _effects(X: FloatArray, design: FloatArray, columns: list[Any], trials: Trials, name: str) -> FloatArray:
    rank = np.linalg.matrix_rank(design)
    if rank < design.shape[1]:
        raise ValueError(
            f"trials: found a model of {design.shape[1]} regressors and rank {rank} in {name}, expected "
            "independent ones (trials too close for least_squares_all? try least_squares_separate)"
        )
    labels, results = run_glm(X, design, noise_model=trials.noise_model)
    effects = np.empty((len(columns), X.shape[1]))
    for label, result in results.items():
        effects[:, labels == label] = result.theta[columns]
    return effects
