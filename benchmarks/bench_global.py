"""How often is a local solution of `balanced` the global one? Random starts on the real sets, certified.

`balanced` with l components and a shrinkage is bounded from below by a convex problem (`TraceNormSVDM` with
shrinkage/l, the penalty of a component): no factors with these penalties, of any number of components, lie
lower. A fit whose `optimality_gap_` is at most 1e-6 of its objective is proved global. Measured here, from
the singular vectors of data and labels and from ten random starts, by splitting until stationary:

- how many fits are proved global, and how many end at the best objective of all starts;
- how far the best fit is from the convex optimum, and what the certificate says of it (its own bound);
- the rank of the convex optimum: with fewer components the objective has to be higher.

    SVDECODE_DATA=... python benchmarks/bench_global.py [--table]

The rows are written to benchmarks/results/global.csv; `--table` prints the tables of those that are there.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import sets
from bench_starts import problems
from joblib import Parallel, delayed

from svdecode import SVDMClassifier, TraceNormSVDM
from svdecode.imaging import Dataset

TARGET = Path(__file__).parent / "results" / "global.csv"
N_RANDOM = 10
COMPONENTS = (1, 2, 4, 8, 16, 32)
SHRINKAGES = (0.03, 0.1, 0.3, 1.0, 3.0)
TEXTS = ("grid", "problem")
GLOBAL = 1e-6  # relative gap of a fit that is proved global
SAME = 1e-5  # relative difference of objectives that count as one


#: penalties of a component, with numbers of components relative to the rank r of their convex optimum
PENALTIES = (0.05, 0.1, 0.15, 0.2)
SHARES = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25)


def around_the_rank(name: str, data: Dataset, penalty: float) -> list[dict[str, Any]]:
    """One penalty of a component, with fewer and with more components than the optimum has."""
    X = sets.by_training_rows(data.name).fit_transform(data.X)
    rank = TraceNormSVDM(penalty, tol=1e-7).fit(X, data.y).rank_
    numbers = sorted({max(round(share * rank), 1) for share in SHARES} | {max(rank - 1, 1), rank + 1})
    return [measure(name, data, penalty * l, l, "penalty") for l in numbers]


def measure(name: str, data: Dataset, shrinkage: float, l: int, grid: str = "shrinkage") -> dict[str, Any]:
    """All starts of one problem, weight and number of components, and the convex optimum."""
    X = sets.by_training_rows(data.name).fit_transform(data.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # who does not converge is counted
        optimum = TraceNormSVDM(shrinkage / l, tol=1e-7).fit(X, data.y)
        fits = [
            SVDMClassifier(
                l, formulation="balanced", shrinkage=shrinkage, solver="splitting", tol=1e-8, max_iter=100,
                init="random" if seed else "svd", random_state=seed,
            ).fit(X, data.y)
            for seed in range(N_RANDOM + 1)
        ]  # fmt: skip
    objectives = np.array([fit.objective_ for fit in fits])
    gaps = np.array([fit.optimality_gap_ for fit in fits])
    best = objectives.argmin()
    return {
        "grid": grid,
        "problem": name,
        "shrinkage": shrinkage,
        "l": l,
        "rank": optimum.rank_,
        "converged": np.mean([fit.stationarity_ <= GLOBAL for fit in fits]),
        "proved": np.mean(gaps[1:] <= GLOBAL * objectives[1:]),
        "proved svd": float(gaps[0] <= GLOBAL * objectives[0]),
        "at the best": np.mean(objectives[1:] <= objectives[best] * (1 + SAME)),
        "svd at the best": float(objectives[0] <= objectives[best] * (1 + SAME)),
        "worst start": objectives.max() / objectives[best] - 1,
        "above optimum": max(objectives[best] / (optimum.objective_ - optimum.optimality_gap_) - 1, 0.0),
        "certified": gaps[best] / objectives[best],
        "used": int(np.count_nonzero(np.linalg.norm(fits[best].training_coordinates_, axis=0) > 1e-6)),
    }


def table(rows: list[dict[str, Any]]) -> None:
    """A line a weight and number of components, over the problems."""
    print(
        f"problems: {', '.join(dict.fromkeys(r['problem'] for r in rows))}; {N_RANDOM} random starts each\n"
        "proved     share of random starts proved global (gap at most 1e-6 of the objective);\n"
        "           problems where all are; problems where the start from the singular vectors is\n"
        "best       share of random starts within 1e-5 of the best of all starts; the singular start\n"
        "spread     worst start above the best; median and largest over problems\n"
        "above      best start above the convex optimum, and as certified by the fit itself; medians\n"
        "rank       of the convex optimum; smallest and largest over problems\n"
    )
    weights = [r for r in rows if r["grid"] == "shrinkage"]
    _lines("shrinkage, l", weights, lambda r: (r["shrinkage"], r["l"]))
    ranks = [r for r in rows if r["grid"] == "penalty" and r["rank"] > 0]
    print("\nthe penalty of a component fixed, components as a share of the convex optimum's rank r")
    _lines("l/r", ranks, _share)


def _share(row: dict[str, Any]) -> tuple[str]:
    l, rank = row["l"], row["rank"]
    if l in (rank - 1, rank, rank + 1):
        return ({-1: "4  r - 1", 0: "5  r", 1: "6  r + 1"}[int(l - rank)],)
    bounds = ((0.375, "0  r/4"), (0.625, "1  r/2"), (0.8, "2  3r/4"), (1.0, "3  9r/10"))
    return (next((name for bound, name in bounds if l < bound * rank), "7  more"),)


def _lines(title: str, rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], tuple[Any, ...]]) -> None:
    print(
        f"{title:<13} {'proved':>7} {'all':>6} {'svd':>6} {'best':>6} {'svd':>6} "
        f"{'spread':>16} {'above':>8} {'certified':>9} {'rank':>8} {'done':>5}"
    )
    for names, group in groupby(sorted(rows, key=key), key=key):
        own = list(group)
        c = {name: np.array([float(r[name]) for r in own]) for name in own[0] if name not in TEXTS}
        size = len(own)
        print(
            f"{'  '.join(str(name) for name in names):<13} {c['proved'].mean():7.0%} "
            f"{np.count_nonzero(c['proved'] == 1):3}/{size:<2} "
            f"{np.count_nonzero(c['proved svd']):3}/{size:<2} "
            f"{c['at the best'].mean():6.0%} {np.count_nonzero(c['svd at the best']):3}/{size:<2} "
            f"{np.median(c['worst start']):8.0e}{c['worst start'].max():8.0e} "
            f"{np.median(c['above optimum']):8.1e} {np.median(c['certified']):9.1e} "
            f"{c['rank'].min():4.0f}-{c['rank'].max():.0f} {c['converged'].mean():5.0%}"
        )


def stored() -> list[dict[str, Any]]:
    """Rows of the file."""
    with TARGET.open(encoding="utf-8", newline="") as file:
        return [
            {k: v if k in TEXTS else (int if k == "l" else float)(v) for k, v in r.items()}
            for r in csv.DictReader(file)
        ]


def main() -> None:
    """Measure all, store, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the tables of what is stored")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    if not options.table:
        start = time.perf_counter()
        cases = [(n, d, s, l) for n, d in problems() for s in SHRINKAGES for l in COMPONENTS]
        run = Parallel(n_jobs=options.jobs)
        rows = run(delayed(measure)(*case) for case in cases)
        around = [(n, d, p) for n, d in problems() for p in PENALTIES]
        rows += [row for found in run(delayed(around_the_rank)(*case) for case in around) for row in found]
        TARGET.parent.mkdir(exist_ok=True)
        with TARGET.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
                for row in rows
            )
        print(f"{time.perf_counter() - start:.0f} seconds")
    table(stored())


if __name__ == "__main__":
    main()
