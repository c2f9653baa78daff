"""What `make_decoding` mixes: its checked parameters, labels, signal, nuisance, offsets and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from svdecode._checks import FloatArray, IntArray, check_count
from svdecode.datasets.fields import BoolArray, autoregressive, regional_fields, smooth_fields


@dataclass(frozen=True)
class Setup:
    """The parameters of `make_decoding`, checked; see there."""

    n_subjects: int
    n_runs: int
    n_samples_per_run: int
    shape: tuple[int, int, int]
    n_tasks: int
    n_classes: int
    n_shared: int
    n_specific: int
    n_nuisance: int
    signal: float
    scatter: float
    nuisance_ratio: float
    noise: float
    autocorrelation: float
    subject_offset: float
    run_offset: float
    smoothness: float
    region_radius: float
    second_view: int
    random_state: Any

    def __post_init__(self) -> None:
        for name in ("n_subjects", "n_runs", "n_tasks"):
            check_count(getattr(self, name), name)
        for name in ("n_samples_per_run", "n_classes"):
            check_count(getattr(self, name), name, minimum=2)
        for name in ("n_shared", "n_specific", "n_nuisance", "second_view"):
            check_count(getattr(self, name), name, minimum=0)
        for name in ("scatter", "nuisance_ratio", "noise", "subject_offset", "run_offset", "smoothness"):
            _check_amount(getattr(self, name), name)
        for name in ("signal", "region_radius"):
            _check_amount(getattr(self, name), name, zero=False)
        if _check_amount(self.autocorrelation, "autocorrelation") >= 1:
            raise ValueError(f"autocorrelation: found {self.autocorrelation}, expected a number below 1")
        if not isinstance(self.shape, tuple | list) or len(self.shape) != 3:
            raise ValueError(f"shape: found {self.shape!r}, expected the three sizes of a voxel grid")
        for size in self.shape:
            check_count(size, "shape")
        if self.n_tasks > 1 and self.n_classes != 2:
            raise ValueError(f"n_classes: found {self.n_classes} with {self.n_tasks} tasks, expected 2")
        if self.n_samples_per_run % self.n_classes:
            raise ValueError(
                f"n_samples_per_run: found {self.n_samples_per_run}, "
                f"expected a multiple of the {self.n_classes} classes"
            )
        if self.n_specific == 0 and self.n_shared < self.n_codes:
            raise ValueError(
                f"n_shared: found {self.n_shared} with n_specific=0, "
                f"expected one for each of the {self.n_codes} tasks or classes"
            )

    @property
    def n_codes(self) -> int:
        """What has loadings of its own: a task, or a class where there are more than two."""
        return self.n_classes if self.n_classes > 2 else self.n_tasks

    @property
    def n_components(self) -> int:
        """Number of signal components."""
        return self.n_shared + self.n_codes * self.n_specific

    @property
    def n_scans(self) -> int:
        """Number of runs of all subjects."""
        return self.n_subjects * self.n_runs

    @property
    def scan(self) -> IntArray:
        """Which of these each sample is from."""
        return np.repeat(np.arange(self.n_scans), self.n_samples_per_run)


class Streams(NamedTuple):
    """Random numbers for each ingredient: changing the amount of one leaves the others as they are."""

    labels: np.random.Generator
    loadings: np.random.Generator
    scatter: np.random.Generator
    patterns: np.random.Generator
    nuisance: np.random.Generator
    offsets: np.random.Generator
    noise: np.random.Generator
    second: np.random.Generator

    @classmethod
    def from_seed(cls, random_state: Any) -> Streams:
        """Independent streams from whatever scikit-learn takes for a seed."""
        try:
            seed = check_random_state(random_state).randint(2**31 - 1)
        except ValueError:
            raise ValueError(
                f"random_state: found {random_state!r}, expected None, an integer or a RandomState"
            ) from None
        children = np.random.SeedSequence(seed).spawn(len(cls._fields))
        return cls(*map(np.random.default_rng, children))


class View(NamedTuple):
    """One view's part of the data, before it is added up."""

    patterns: FloatArray
    nuisance: FloatArray
    nuisance_patterns: FloatArray
    offsets: FloatArray
    noise: FloatArray

    def data(self, coordinates: FloatArray, scan: IntArray) -> FloatArray:
        """Add up offset, signal, nuisance and noise."""
        known = self.offsets[scan] + coordinates @ self.patterns + self.nuisance @ self.nuisance_patterns
        return known + self.noise


def draw_labels(setup: Setup, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Draw labels that are balanced in every run, and their codes of mean 0 and variance 1."""
    each = np.repeat(np.arange(setup.n_classes), setup.n_samples_per_run // setup.n_classes)
    draws = [[rng.permutation(each) for _ in range(setup.n_tasks)] for _ in range(setup.n_scans)]
    y = np.concatenate([np.column_stack(run) for run in draws])
    if setup.n_classes == 2:
        return (y if setup.n_tasks > 1 else y[:, 0]), 2.0 * y - 1.0
    share = 1 / setup.n_classes
    codes = ((y == np.arange(setup.n_classes)) - share) / np.sqrt(share * (1 - share))
    return y[:, 0], codes


def draw_loadings(setup: Setup, rng: np.random.Generator) -> FloatArray:
    """How far each task (class) moves each component; rows of norm 1, linearly independent."""
    d = setup.n_codes
    if setup.n_specific == 0:
        return np.asarray(np.linalg.qr(rng.standard_normal((setup.n_shared, d)))[0].T)
    shared = rng.standard_normal((d, setup.n_shared))
    shared /= np.maximum(np.linalg.norm(shared, axis=1, keepdims=True), np.finfo(float).tiny)
    own = np.kron(np.eye(d), np.ones((1, setup.n_specific))) / np.sqrt(setup.n_specific)
    loadings = np.hstack([shared, own])
    return np.asarray(loadings / np.linalg.norm(loadings, axis=1, keepdims=True))


def brain_view(
    setup: Setup, coordinates: FloatArray, inside: BoolArray, streams: Streams
) -> tuple[View, BoolArray]:
    """Signal in regions, nuisance over the whole brain, offsets and noise; and the regions."""
    maps, regions = regional_fields(
        setup.n_components, inside, setup.region_radius, setup.smoothness, streams.patterns
    )
    patterns = setup.signal * maps
    course = (setup.n_scans, setup.n_samples_per_run)
    rng = streams.nuisance
    nuisance_patterns = smooth_fields(setup.n_nuisance, inside, setup.smoothness, rng)
    nuisance = autoregressive(*course, setup.n_nuisance, setup.autocorrelation, rng)
    nuisance *= _nuisance_scale(setup, coordinates, patterns, nuisance, nuisance_patterns)
    of_subject = smooth_fields(setup.n_subjects, inside, setup.smoothness, streams.offsets)
    of_run = smooth_fields(setup.n_scans, inside, setup.smoothness, streams.offsets)
    offsets = setup.subject_offset * np.repeat(of_subject, setup.n_runs, axis=0) + setup.run_offset * of_run
    noise = autoregressive(*course, maps.shape[1], setup.autocorrelation, streams.noise)
    return View(patterns, nuisance, nuisance_patterns, offsets, setup.noise * noise), regions


def stimulus_view(setup: Setup, coordinates: FloatArray, rng: np.random.Generator) -> View:
    """Describe the stimuli by the same components in other features: no space, no runs, no memory."""
    n, m = len(coordinates), setup.second_view
    patterns = setup.signal * rng.standard_normal((setup.n_components, m))
    nuisance_patterns = rng.standard_normal((setup.n_nuisance, m))
    nuisance = rng.standard_normal((n, setup.n_nuisance))
    nuisance *= _nuisance_scale(setup, coordinates, patterns, nuisance, nuisance_patterns)
    noise = setup.noise * rng.standard_normal((n, m))
    return View(patterns, nuisance, nuisance_patterns, np.zeros((setup.n_scans, m)), noise)


def _nuisance_scale(
    setup: Setup,
    coordinates: FloatArray,
    patterns: FloatArray,
    nuisance: FloatArray,
    nuisance_patterns: FloatArray,
) -> FloatArray:
    """Bring the variance of each nuisance component to the asked multiple of the signal's.

    The signal's variance is that of its strongest direction: components that move together make a
    direction with more variance than each of them has.
    """
    covariance = np.atleast_2d(np.cov(coordinates.T, bias=True))
    strongest = np.linalg.eigvals(covariance @ patterns @ patterns.T).real.max()
    own = nuisance.var(axis=0) * (nuisance_patterns**2).sum(axis=1)
    return np.asarray(np.sqrt(setup.nuisance_ratio * strongest / own))


def _check_amount(value: Any, name: str, *, zero: bool = True) -> float:
    wanted = "a number of at least 0" if zero else "a positive number"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name}: found {value!r}, expected {wanted}")
    if value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name}: found {value!r}, expected {wanted}")
    return float(value)
