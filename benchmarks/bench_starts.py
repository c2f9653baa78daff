"""Do different starts end at the same solution? The 2006 paper says so of random matrices and of seeds.

"In practice the SVDM converges to the same solution regardless of the random matrices it is initialized
with" (Pereira & Gordon 2006, section 5; section 3.3: "virtually the same result for all seeds" of
accuracy). Measured here: each formulation under three weights on the real sets, once from the singular
vectors and ten times from random coordinates, by both solvers: the papers' alternation with their
stopping (relative decrease below 1e-3; Xi's 1e-4 for hers), and the splitting until it is stationary. A
user sees the objectives of one problem with `SVDMClassifier(n_init=11).fit(X, y).init_objectives_`;
here each start is a fit of its own, so that its held-out accuracy is known too.

    SVDECODE_DATA=... python benchmarks/bench_starts.py [--details]

`boxed` and `svm` have rows of W of norm one. Held out are the last quarter of the runs, or every fourth
sample of each class. The weights of `constrained`, `boxed` and `svm` are multiples of m/k: beside a
reconstruction of nm in total the hinge then weighs that multiple, as it weighs 1 in `balanced`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sets
from joblib import Parallel, delayed

from svdecode import SVDMClassifier
from svdecode.imaging import Dataset

N_RANDOM = 10
N_SUBJECTS = 2
N_COMPONENTS = 8
#: of the splitting; where it has not arrived by then, more would not change the picture, only the bill
MAX_ITER = {"penalized": 400, "balanced": 400, "constrained": 150, "boxed": 150, "svm": 150}
LEVELS = ("weak", "middle", "strong")
#: of the supervision, each from weak to strong
MULTIPLES = (0.01, 0.1, 1.0)
SHRINKAGES = (1.0, 0.1, 0.01)
SOLVERS = ("alternating", "splitting")
FORMULATIONS = ("constrained", "penalized", "balanced", "boxed", "svm")


def problems() -> Iterator[tuple[str, Dataset]]:
    """Name and samples of each problem that is there."""
    for data in sets.found("haxby2011", "haxby2001_slice", "colon", "srbct"):
        if data.name != "haxby2011":
            yield data.name, data
            continue
        for subject, one in list(sets.subjects(data))[:N_SUBJECTS]:
            yield f"haxby2011 s{subject}", one


def split(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Rows to train on and rows to test."""
    if data.runs is not None:
        runs = np.unique(data.runs)
        test = np.isin(data.runs, runs[-(len(runs) // 4) :])
    else:
        order = np.empty(data.n_samples, dtype=int)  # each sample's number within its class
        for label in data.classes:
            order[data.y == label] = np.arange(np.count_nonzero(data.y == label))
        test = order % 4 == 3
    return np.flatnonzero(~test), np.flatnonzero(test)


def parameters(formulation: str, level: int, solver: str, m: int, k: int) -> dict[str, Any]:
    """Arguments of the classifier."""
    hinge = MULTIPLES[level] * m / k
    weights = {
        "constrained": {"hinge_weight": hinge},
        "boxed": {"hinge_weight": hinge},
        "svm": {"hinge_weight": hinge, "shrinkage": hinge},  # her C is 1
    }.get(formulation, {"shrinkage": SHRINKAGES[level]})
    stops = {"stopping": "stationary", "tol": 1e-6, "max_iter": MAX_ITER[formulation]}
    if solver == "alternating":
        tol = 1e-4 if formulation in ("boxed", "svm") else 1e-3
        stops = {"stopping": "decrease", "tol": tol, "max_iter": 1000}
    return {"n_components": N_COMPONENTS, "formulation": formulation, "solver": solver, **weights, **stops}


def measure(name: str, data: Dataset, formulation: str, level: int, solver: str) -> dict[str, Any]:
    """Objective, convergence and accuracy from every start; the first start is the singular vectors."""
    train, test = split(data)
    prepare = sets.by_training_rows(data.name).fit(data.X[train])
    X, X_test = prepare.transform(data.X[train]), prepare.transform(data.X[test])
    n_classes = len(data.classes)
    arguments = parameters(formulation, level, solver, X.shape[1], n_classes if n_classes > 2 else 1)
    fits = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who does not converge is counted
        SVDMClassifier(**arguments | {"max_iter": 1}).fit(X, data.y[train])  # compiles
        start = time.perf_counter()
        for seed in range(N_RANDOM + 1):
            model = SVDMClassifier(init="random" if seed else "svd", random_state=seed, **arguments)
            model.fit(X, data.y[train])
            fits.append((model.objective_, model.converged_, model.score(X_test, data.y[test])))
    seconds = (time.perf_counter() - start) / len(fits)
    objectives, converged, accuracies = (np.array(column) for column in zip(*fits, strict=True))
    return {
        "problem": name,
        "formulation": formulation,
        "level": level,
        "solver": solver,
        "seconds": seconds,
        **agreement(objectives),
        "converged": converged.mean(),
        "low": accuracies.min(),
        "high": accuracies.max(),
        "svd accuracy": accuracies[0],
    }


def agreement(objectives: np.ndarray) -> dict[str, float]:
    """How far apart the starts end; entry 0 belongs to the singular vectors."""
    best = objectives.min()
    excess = objectives / best - 1
    return {
        "best": best,
        "spread": excess.max(),
        "within 1e-3": (excess <= 1e-3).mean(),
        "within 1e-6": (excess <= 1e-6).mean(),
        "svd excess": excess[0],
    }


def print_details(rows: list[dict[str, Any]]) -> None:
    """One line a problem, formulation, weight and solver."""
    print(
        f"\n{'problem':<16} {'formulation':<12} {'weight':<7} {'solver':<12} {'best':>11} {'spread':>8} "
        f"{'<1e-3':>6} {'<1e-6':>6} {'svd above':>9} {'done':>5} {'accuracy':>11}"
    )
    for r in rows:
        print(
            f"{r['problem']:<16} {r['formulation']:<12} {LEVELS[r['level']]:<7} {r['solver']:<12} "
            f"{r['best']:11.5g} {r['spread']:8.1e} {r['within 1e-3']:6.0%} {r['within 1e-6']:6.0%} "
            f"{r['svd excess']:9.1e} {r['converged']:5.0%} {r['low']:5.2f}-{r['high']:.2f}"
        )


def print_summary(rows: list[dict[str, Any]]) -> None:
    """One line a formulation and solver, over problems and weights."""
    lowest: dict[tuple[str, str, int], float] = {}
    for r in rows:
        key = (r["problem"], r["formulation"], r["level"])
        lowest[key] = min(lowest.get(key, np.inf), r["best"])
    print(
        "\nspread    (max - min)/min of the objectives of the starts; median and largest over all\n"
        "<1e-3     share of starts that close to the best of their solver; <1e-6 likewise\n"
        "agree     problems and weights where all starts are within 1e-3 of each other\n"
        "svd best  where the start from the singular vectors is within 1e-6 of the best\n"
        "above     how far the solver's best start lies above the best of both solvers; median and largest\n"
        "done      share of fits that met their stopping rule\n"
        "accuracy  held out: max - min over the starts; median and largest\n"
        "svd-mid   held-out accuracy of the svd start minus the middle of that range; mean\n"
        "ms        of one fit, reduction included; median\n\n"
        f"{'formulation':<12} {'solver':<12} {'spread':>15} {'<1e-3':>6} {'<1e-6':>6} {'agree':>7} "
        f"{'svd best':>9} {'above':>15} {'done':>5} {'accuracy':>10} {'svd-mid':>8} {'ms':>5}"
    )
    for formulation, solver in product(FORMULATIONS, SOLVERS):
        own = [r for r in rows if (r["formulation"], r["solver"]) == (formulation, solver)]
        column = {key: np.array([r[key] for r in own]) for key in own[0]}
        best = np.array([lowest[r["problem"], r["formulation"], r["level"]] for r in own])
        above = column["best"] / best - 1
        width = column["high"] - column["low"]
        middle = (column["high"] + column["low"]) / 2
        print(
            f"{formulation:<12} {solver:<12} "
            f"{np.median(column['spread']):7.0e} {column['spread'].max():7.0e} "
            f"{column['within 1e-3'].mean():6.0%} {column['within 1e-6'].mean():6.0%} "
            f"{np.count_nonzero(column['within 1e-3'] == 1):4}/{len(own):<2} "
            f"{np.count_nonzero(column['svd excess'] <= 1e-6):6}/{len(own):<2} "
            f"{np.median(above):7.0e} {above.max():7.0e} {column['converged'].mean():5.0%} "
            f"{np.median(width):5.2f} {width.max():4.2f} {(column['svd accuracy'] - middle).mean():+8.3f} "
            f"{1e3 * np.median(column['seconds']):5.0f}"
        )


def main() -> None:
    """Measure all and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--details", action="store_true", help="print a line for each problem and weight too")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    start = time.perf_counter()
    cases = [
        (name, data, formulation, level, solver)
        for name, data in problems()
        for formulation, level, solver in product(FORMULATIONS, range(len(LEVELS)), SOLVERS)
    ]
    rows = Parallel(n_jobs=options.jobs)(delayed(measure)(*case) for case in cases)
    names = ", ".join(dict.fromkeys(case[0] for case in cases))
    print(f"{names}; l = {N_COMPONENTS}, weights {', '.join(LEVELS)}, 1 + {N_RANDOM} starts")
    if options.details:
        print_details(rows)
    print_summary(rows)
    print(f"\n{time.perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
