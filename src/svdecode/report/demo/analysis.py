"""What the demo computes: GenSVD against SVD on held-out runs.

Block means of the embedded data, made comparable across runs, are split into training runs and new runs.
The widths (standard deviations) of the training samples in the training basis, plain and corrected, are
judged by the widths of the new samples in the same basis; and so are classifiers that learned from them.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from svdecode._checks import FloatArray
from svdecode.gensvd import GenSVD
from svdecode.imaging import Dataset
from svdecode.reduction import reduce_rows

#: runs that are learned from: 32 block means, as many as the paper's training scans
N_TRAINING_RUNS = 4
#: numbers of components that classifiers get; None stands for all
N_COMPONENTS = (2, 5, 10, 20, None)
#: classifiers are tried on every fifth choice of runs: they take longer than all the rest
CLASSIFIER_STRIDE = 5
#: of other setups and other numbers of training runs, at most so many choices, spread evenly over all
N_CHOICES = 33

#: `component` is the number of a component where a value belongs to one
COLUMNS = [
    "setup",
    "n_training_runs",
    "training_runs",
    "measure",
    "method",
    "n_components",
    "component",
    "value",
]

Choice = tuple[Any, ...]
Row = dict[str, object]


@dataclass(frozen=True)
class Setup:
    """How samples are made comparable and what is left out together.

    Attributes
    ----------
    name : str
        What the results call it.
    scale : bool
        Divide each voxel by its standard deviation within the run (its mean is always subtracted).
    by_run : bool
        Leave whole runs out in GenSVD, not single samples.
    """

    name: str
    scale: bool = True
    by_run: bool = True


MAIN = Setup("voxels scaled within runs, runs left out")
UNSCALED = Setup("voxels not scaled, runs left out", scale=False)
SINGLE = Setup("voxels scaled within runs, single samples left out", by_run=False)


@dataclass(frozen=True)
class Split:
    """Training and new samples in the basis of the training samples, components beyond the rank cut off.

    Attributes
    ----------
    training_runs : tuple
        The runs that the basis was made from; all others are new.
    plain, corrected : array of shape (n_training, rank)
        Coordinates of the training samples by SVD and by GenSVD.
    new : array of shape (n_new, rank)
        Coordinates of the new samples.
    y_training, y_new, new_runs : array
        Labels, and the runs of the new samples.
    """

    training_runs: Choice
    plain: FloatArray
    corrected: FloatArray
    new: FloatArray
    y_training: Any
    y_new: Any
    new_runs: Any

    @cached_property
    def widths(self) -> dict[str, FloatArray]:
        """Standard deviation of each component: of training samples by both methods, and of new ones."""
        return {"SVD": width(self.plain), "GenSVD": width(self.corrected), "new": width(self.new)}

    def distance(self, method: str) -> float:
        """Root-mean-square distance of a method's widths to those of new samples, relative to the latter."""
        return relative_distance(self.widths[method], self.widths["new"])

    def overall(self, method: str) -> float:
        """How many times wider than new samples a method says the samples are, all components together."""
        total = {name: float(np.linalg.norm(values)) for name, values in self.widths.items()}
        return total[method] / total["new"]

    def distance_of_halves(self) -> float:
        """Yardstick: how far apart the widths of two halves of the new runs are."""
        runs = np.unique(self.new_runs)
        first = np.isin(self.new_runs, runs[: len(runs) // 2])
        return relative_distance(width(self.new[first]), width(self.new[~first]))


@dataclass(frozen=True)
class Demo:
    """Everything that the demo's page shows.

    Attributes
    ----------
    dataset : Dataset
        The data as loaded.
    example : Split
        The split that is drawn: the first runs in order of time, chosen before anything was seen.
    rows : DataFrame
        One row a measured value, in the columns `COLUMNS`.
    """

    dataset: Dataset
    example: Split
    rows: pd.DataFrame


def width(Z: FloatArray) -> FloatArray:
    """Standard deviation of each coordinate; each run's mean is zero already."""
    return np.asarray(np.sqrt((Z**2).mean(axis=0)))


def relative_distance(found: FloatArray, target: FloatArray) -> float:
    """Root-mean-square difference over the root-mean-square of the target."""
    return float(np.linalg.norm(found - target) / np.linalg.norm(target))


def comparable(dataset: Dataset, *, scale: bool) -> FloatArray:
    """Coordinates of the samples after each run's own mean (and scale) was removed, voxel by voxel.

    A run is made comparable by itself, so nothing passes from new runs to training runs. Samples come back in
    the coordinates of their own span, where every inner product is what it was: no fit below sees voxels.
    """
    X, runs = np.array(dataset.X, dtype=np.float64), runs_of(dataset)
    for run in np.unique(runs):
        rows = runs == run
        X[rows] -= X[rows].mean(axis=0)
        if scale:
            spread = X[rows].std(axis=0)
            X[rows] /= np.where(spread > 0, spread, 1.0)
    X /= np.sqrt((X**2).sum(axis=1).mean())  # a sample has length one on average
    return reduce_rows(X).coordinates


def runs_of(dataset: Dataset) -> Any:
    """Run of each sample; the demo cannot do without."""
    if dataset.runs is None:
        raise ValueError("runs: found None, expected the run of each sample, to hold whole runs out")
    return dataset.runs


def split(coordinates: FloatArray, dataset: Dataset, training_runs: Choice, *, by_run: bool = True) -> Split:
    """Fit GenSVD on some runs, and project the others."""
    runs = runs_of(dataset)
    training = np.isin(runs, training_runs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="no sample has a direction")  # what SINGLE is there to show
        model = GenSVD().fit(coordinates[training], groups=runs[training] if by_run else None)
    r = model.rank_
    return Split(
        training_runs=training_runs,
        plain=model.transform(coordinates[training])[:, :r],
        corrected=model.training_coordinates_[:, :r],
        new=model.transform(coordinates[~training])[:, :r],
        y_training=dataset.y[training],
        y_new=dataset.y[~training],
        new_runs=runs[~training],
    )


def run_demo(dataset: Dataset, advance: Callable[[], None] | None = None) -> Demo:
    """Compare GenSVD and SVD on one split to look at, and on all choices of training runs.

    Parameters
    ----------
    dataset : Dataset
        Samples with classes and at least six runs.
    advance : callable, optional
        Called after each of `n_steps(dataset)` steps, for a progress bar.

    Returns
    -------
    Demo
        The split that is drawn, and the table of everything that was measured.
    """
    runs = np.unique(runs_of(dataset)).tolist()
    if len(runs) < N_TRAINING_RUNS + 2:
        raise ValueError(f"runs: found {len(runs)}, expected at least {N_TRAINING_RUNS + 2}")
    scaled, unscaled = comparable(dataset, scale=True), comparable(dataset, scale=False)
    rows: list[Row] = []
    # the matrices are tiny: threads of the linear algebra would cost more than they bring
    with threadpool_limits(1):
        for setup, choice, with_classifiers in _plan(runs):
            one = split(scaled if setup.scale else unscaled, dataset, choice, by_run=setup.by_run)
            rows += [_known(setup, choice) | row for row in _measure(one, with_classifiers=with_classifiers)]
            if advance:
                advance()
        example = split(scaled, dataset, tuple(runs[:N_TRAINING_RUNS]))
    rows += [_known(MAIN, example.training_runs) | row for row in _component_rows(example)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return Demo(dataset, example, table.astype({"component": "Int64"}))


def n_steps(dataset: Dataset) -> int:
    """Number of times that `run_demo` calls `advance`."""
    return sum(1 for _ in _plan(np.unique(runs_of(dataset)).tolist()))


def _plan(runs: Sequence[Any]) -> Iterator[tuple[Setup, Choice, bool]]:
    """Every fit: the setup, the training runs, and whether classifiers are tried."""
    every = list(itertools.combinations(runs, N_TRAINING_RUNS))
    for number, choice in enumerate(every):
        yield MAIN, choice, number % CLASSIFIER_STRIDE == 0
    for setup in (UNSCALED, SINGLE):
        for choice in _spread(every, N_CHOICES):
            yield setup, choice, False
    for size in range(2, len(runs)):
        if size != N_TRAINING_RUNS:
            for choice in _spread(list(itertools.combinations(runs, size)), N_CHOICES):
                yield MAIN, choice, False


def _spread(items: list[Choice], n: int) -> list[Choice]:
    """At most n of the items, evenly spaced."""
    chosen = np.linspace(0, len(items) - 1, min(n, len(items))).round().astype(int)
    return [items[i] for i in chosen]


def _known(setup: Setup, choice: Choice) -> Row:
    runs = " ".join(map(str, choice))
    return {"setup": setup.name, "n_training_runs": len(choice), "training_runs": runs}


def _measure(one: Split, *, with_classifiers: bool) -> Iterator[Row]:
    r = one.new.shape[1]
    for method in ("SVD", "GenSVD"):
        yield _row("distance", method, r, one.distance(method))
        yield _row("overall width", method, r, one.overall(method))
    if len(np.unique(one.new_runs)) > 1:
        yield _row("distance", "halves of the new runs", r, one.distance_of_halves())
    if with_classifiers:
        yield from _accuracy_rows(one, r)


def _accuracy_rows(one: Split, r: int) -> Iterator[Row]:
    for method, Z in (("SVD", one.plain), ("GenSVD", one.corrected)):
        for k in sorted({min(n_components or r, r) for n_components in N_COMPONENTS}):
            scale = np.sqrt((Z[:, :k] ** 2).mean())  # one number, so that a classifier's weight of 1 means 1
            training, new = Z[:, :k] / scale, one.new[:, :k] / scale
            for name, classify in CLASSIFIERS.items():
                right = classify(training, one.y_training, new) == one.y_new
                yield _row(f"accuracy, {name}", method, k, float(right.mean()))


def _component_rows(one: Split) -> Iterator[Row]:
    for method, widths in one.widths.items():
        for number, value in enumerate(widths.tolist(), start=1):
            yield _row("standard deviation", method, len(widths), value) | {"component": number}


def _row(measure: str, method: str, n_components: int, value: float) -> Row:
    return {"measure": measure, "method": method, "n_components": n_components, "value": value}


def _svm(training: FloatArray, y: Any, new: FloatArray) -> Any:
    return LinearSVC(dual=False).fit(training, y).predict(new)  # the primal problem needs no random numbers


def _nearest_mean(training: FloatArray, y: Any, new: FloatArray) -> Any:
    classes = np.unique(y)
    means = np.array([training[y == label].mean(axis=0) for label in classes])
    return classes[cdist(new, means).argmin(axis=1)]


CLASSIFIERS: dict[str, Callable[[FloatArray, Any, FloatArray], Any]] = {
    "linear SVM": _svm,
    "nearest mean": _nearest_mean,
}
