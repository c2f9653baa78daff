"""Whole studies beside LIBLINEAR and scikit-learn's grid search.

1. The protocol of Pereira & Gordon 2006 (3.2, 3.3) on three subjects of 84 × 16000: six folds of whole
   cycles, the hinge weight chosen of eight in the other five, 1 to 15 components, ten random starts: 110 700
   fits of the protocol. Beside it LIBLINEAR fits (hinge, tol 1e-4, 1000 iterations) of as many rows on data
   reduced to the same numbers of components, C = l / (2 n shrinkage) as `balanced` has it at eight weights;
   a random sample of them is timed, by the same number of workers. Required: at least as many fits a second.
2. Leave one run out on one subject of Haxby et al. 2011, seven classes, and on one subject of part 1, two
   classes: 15 numbers of components, eight weights, inner runs; beside
   `GridSearchCV(Pipeline(PCA, LinearSVC))` over the same folds and grid. Required: 10 times as fast with two
   classes, 3 times with seven; wanted: 20 and 10.

Inner folds of different outer folds that train on the same rows are fitted once by a study; both counts are
printed, with them counted once and as often as the protocol asks for them.

    python benchmarks/bench_study.py [--seeds N] [--part 1|2]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from svdecode import Study
from svdecode.imaging import Dataset
from svdecode.study import METHODS

SIZES = range(1, 16)
HINGE_WEIGHTS = np.logspace(1, 4.5, 8).tolist()
SHRINKAGES = np.logspace(0.5, -2, 8).tolist()
C = np.logspace(-3, 2, 8).tolist()
N_JOBS = 2
PAPERS = {"stopping": "decrease", "tol": 1e-3}


def brain(seed: int, n: int = 84, m: int = 16000) -> Dataset:
    """Ten components, noise, labels that the components tell; six cycles."""
    rng = np.random.default_rng(seed)
    Z, W = rng.standard_normal((n, 10)), rng.standard_normal((10, m))
    y = np.where(Z @ rng.standard_normal(10) + rng.standard_normal(n) > 0, "tool", "building")
    X = Z @ W + 3 * rng.standard_normal((n, m))
    return Dataset(X, y, runs=np.arange(n) * 6 // n, name=f"subject {seed}")


def haxby() -> Dataset | None:
    """Subject 1 of Haxby et al. 2011, where the data are."""
    path = Path(os.environ.get("SVDECODE_DATA", "")) / "haxby2011.npz"
    if not path.is_file():
        return None
    data = np.load(path)
    own = data["subject"] == 1
    return Dataset(
        data["X"][own].astype(float), data["y"][own], runs=data["run"][own], name="haxby2011, subject 1"
    )


def count_fits(study: Study) -> tuple[int, int]:
    """Fits that the protocol asks for, and those with different training rows."""
    asked = different = 0
    for data in study.data:
        inner = [fold for number in range(len(data.splits)) for fold in data.inner(number)]
        distinct = {np.sort(fold.train).tobytes() for fold in inner}
        for method in study.methods:
            seeds = len(study.seeds) if method.seeded else 1
            cells = len(method.sizes or ()) * seeds
            asked += cells * (len(inner) * len(method.candidates()) + len(data.splits))
            different += cells * (len(distinct) * len(method.candidates()) + len(data.splits))
    return asked, different


def liblinear(data: Dataset, sample: int, n_jobs: int) -> float:
    """Seconds a fit of LIBLINEAR on reduced rows, over all numbers of components and weights alike."""
    rows = np.flatnonzero(data.runs < 4)  # as many as an inner fold trains on
    Z = PCA(max(SIZES)).fit_transform(data.X[rows])
    Z, y = Z / Z.std(), data.y[rows]
    rng = np.random.default_rng(0)
    drawn = zip(rng.choice(SIZES, sample), rng.choice(SHRINKAGES, sample), strict=True)
    jobs = [(int(l), float(l / (2 * len(y) * shrinkage))) for l, shrinkage in drawn]

    def one(l: int, c: float) -> None:
        LinearSVC(loss="hinge", C=c, tol=1e-4, max_iter=1000).fit(Z[:, :l], y)

    Parallel(n_jobs, prefer="threads")(delayed(one)(*job) for job in jobs[:50])
    began = time.perf_counter()
    Parallel(n_jobs, prefer="threads", batch_size=50)(delayed(one)(*job) for job in jobs)
    return (time.perf_counter() - began) / sample


def timed(study: Study) -> float:
    """Seconds of a study, the Gram matrices and the store included."""
    began = time.perf_counter()
    study.run(n_jobs=N_JOBS, progress=False)
    return time.perf_counter() - began


def pereira(n_seeds: int) -> None:
    """Part 1."""
    subjects = {f"subject {s}": brain(s) for s in range(3)}
    own: dict[str, dict[str, Any]] = {
        "constrained": {"hinge_weight": HINGE_WEIGHTS},
        "penalized": {"shrinkage": SHRINKAGES},
        "balanced": {"shrinkage": SHRINKAGES},
    }
    peer = liblinear(subjects["subject 0"], 3000, N_JOBS)
    print(f"1. {N_JOBS} workers; LIBLINEAR {1 / peer:.0f} fits a second", flush=True)
    for formulation, grid in own.items():
        method = METHODS["svdm"](sizes=SIZES, formulation=formulation, init="random", **grid, **PAPERS)
        study = Study(subjects, method, "cycles", choice="just_below_perfect", seeds=range(n_seeds))
        asked, different = count_fits(study)
        seconds = timed(study)
        rates = asked / seconds, different / seconds
        print(
            f"  {formulation:<12} {asked} fits ({different} different) in {seconds:.1f} s: {rates[0]:.0f} "
            f"({rates[1]:.0f}) a second, {rates[0] * peer:.2f} ({rates[1] * peer:.2f}) x LIBLINEAR",
            flush=True,
        )


def grid_search(data: Dataset) -> float:
    """Seconds of scikit-learn's search, one for each outer fold as a user would write it."""
    model = make_pipeline(PCA(random_state=0), LinearSVC(loss="hinge", tol=1e-4, max_iter=1000))
    grid = {"pca__n_components": list(SIZES), "linearsvc__C": C}
    began = time.perf_counter()
    for train, test in LeaveOneGroupOut().split(data.X, data.y, data.runs):
        search = GridSearchCV(model, grid, cv=LeaveOneGroupOut(), n_jobs=N_JOBS)
        search.fit(data.X[train], data.y[train], groups=data.runs[train]).score(data.X[test], data.y[test])
    return time.perf_counter() - began


def beside_grid_search() -> None:
    """Part 2."""
    for data, least, wanted in ((brain(0), 10, 20), (haxby(), 3, 10)):
        if data is None:
            print("2. no haxby2011.npz in $SVDECODE_DATA: seven classes are left out")
            continue
        peer = grid_search(data)
        shape = f"{data.n_samples} x {data.n_features}, {len(data.classes)} classes"
        print(f"2. {data.name}, {shape}, {N_JOBS} workers: grid search {peer:.1f} s", flush=True)
        for name, params in {
            "balanced, to a stationary point": {},
            "balanced, the papers' stopping": PAPERS,
            "penalized, the papers' stopping": {"formulation": "penalized", **PAPERS},
        }.items():
            method = METHODS["svdm"](sizes=SIZES, shrinkage=SHRINKAGES, **params)
            seconds = timed(Study(data, method))
            print(f"  {name:<34} {seconds:6.2f} s: {peer / seconds:.1f} x as fast (at least {least}, wanted "
                  f"{wanted})", flush=True)  # fmt: skip


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="random starts in part 1")
    parser.add_argument("--part", type=int, choices=(1, 2))
    given = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if given.part != 2:
        pereira(given.seeds)
    if given.part != 1:
        beside_grid_search()


if __name__ == "__main__":
    main()
