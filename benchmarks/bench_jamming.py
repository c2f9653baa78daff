"""Where the published alternation stops, where the splitting does, where the convex bound lies; and accuracy.

`balanced` on real and simulated data, for every fold of leave-one-run-out (five folds where there are no
runs), from the same start, the singular vectors:

- alternation by the papers' rule (a sweep lowers the objective by less than 1e-3 of it),
- alternation that goes on (1e-9, at most 500 sweeps), and the same re-balanced after each sweep,
- the splitting to a stationary point, from its own start and, so that it is not the start that makes the
  difference, going on from where alternation jammed,
- the lower bound of the convex problem, which holds for all factors of any rank.

Objectives are averaged over folds as multiples of the splitting's; accuracies are held out.

    SVDECODE_DATA=... python benchmarks/bench_jamming.py [--table]

The rows, one a fold, are written to benchmarks/results/jamming.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sets
from joblib import Parallel, delayed
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from svdecode import SVDMClassifier, TraceNormSVDM
from svdecode.datasets import make_decoding
from svdecode.imaging import Dataset

TARGET = Path(__file__).parent / "results" / "jamming.csv"
L = 8
MAX_ITER = 500
SHRINKAGES = (0.03, 0.1, 0.3, 1.0)
ROUTES: dict[str, dict[str, Any]] = {
    "papers' stop": {"solver": "alternating", "rebalance": False, "stopping": "decrease", "tol": 1e-3},
    "alternation": {"solver": "alternating", "rebalance": False, "stopping": "decrease", "tol": 1e-9},
    "re-balanced": {"solver": "alternating", "rebalance": True, "stopping": "decrease", "tol": 1e-9},
    "splitting": {"solver": "splitting", "stopping": "stationary"},
}
GOING_ON = "splitting from there"


def problems() -> Iterator[tuple[str, str, Dataset]]:
    """Kind, name and samples: real ones, and three simulated brains."""
    for data in sets.found("haxby2011", "haxby2001_slice", "colon", "srbct"):
        if data.name == "haxby2011":
            yield from (("haxby2011", f"haxby2011 s{s}", one) for s, one in sets.subjects(data))
        else:
            yield data.name, data.name, data
    for seed in range(3):
        yield "simulated", f"simulated {seed}", make_decoding(n_runs=6, random_state=seed)


def folds(data: Dataset) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows."""
    if data.runs is not None:
        yield from LeaveOneGroupOut().split(data.X, data.y, data.runs)
    else:
        yield from StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y)


def measure(
    kind: str, name: str, data: Dataset, number: int, fold: tuple[np.ndarray, np.ndarray], shrinkage: float
) -> dict[str, Any]:
    """One fold: objective and accuracy of every route, and the bound."""
    train, test = fold
    prepare = sets.by_training_rows(data.name).fit(data.X[train])
    X, X_test = prepare.transform(data.X[train]), prepare.transform(data.X[test])
    y, y_test = data.y[train], data.y[test]
    row: dict[str, Any] = {"kind": kind, "problem": name, "fold": number, "shrinkage": shrinkage}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimum = TraceNormSVDM(shrinkage / L, tol=1e-5).fit(X, y)
        row["bound"] = optimum.objective_ - optimum.optimality_gap_
        jammed = None
        for route, params in ROUTES.items():
            model = SVDMClassifier(L, shrinkage=shrinkage, max_iter=MAX_ITER, **params).fit(X, y)
            jammed = model if route == "alternation" else jammed
            row |= _told(route, model, X_test, y_test)
        params = ROUTES["splitting"] | {"init": jammed.training_coordinates_}
        model = SVDMClassifier(L, shrinkage=shrinkage, max_iter=MAX_ITER, **params).fit(X, y)
        row |= _told(GOING_ON, model, X_test, y_test)
    return row


def _told(route: str, model: SVDMClassifier, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    return {
        route: model.objective_,
        f"{route}, iterations": model.n_iter_,
        f"{route}, accuracy": model.score(X, y),
        f"{route}, residual": model.stationarity_,
    }


def table(rows: list[dict[str, Any]]) -> None:
    """A line a kind of data and weight."""
    routes = [*ROUTES, GOING_ON]
    print(
        f"balanced, l = {L}: objective over the splitting's, mean over folds (largest); the bound likewise\n"
        f"{'':<16} {'shrinkage':>9} " + " ".join(f"{r:>21}" for r in (*routes, "bound"))
    )
    for own in _groups(rows):
        base = np.array([r["splitting"] for r in own])
        cells = []
        for route in (*routes, "bound"):
            ratio = np.array([r[route] for r in own]) / base
            cells.append(f"{ratio.mean():13.4f} ({ratio.max():5.3f})")
        print(f"{own[0]['kind']:<16} {own[0]['shrinkage']:9g} " + " ".join(cells))
    print("\nheld-out accuracy; difference of papers' stop and alternation to the splitting, standard error")
    for own in _groups(rows):
        found = {route: np.array([r[f"{route}, accuracy"] for r in own]) for route in routes}
        cells = [f"{found[route].mean():10.3f}" for route in routes]
        for route in routes[:3]:
            d = found[route] - found["splitting"]
            cells.append(f"{d.mean():+8.3f} ± {d.std(ddof=1) / np.sqrt(len(d)):.3f}")
        print(f"{own[0]['kind']:<16} {own[0]['shrinkage']:9g} {len(own):3d} folds " + " ".join(cells))


def summary(rows: list[dict[str, Any]]) -> None:
    """Over all weights and folds: how often a route stops above the splitting, and accuracies by problem."""
    print(
        "\nstops more than 1e-3 above the splitting; residual; at the last sweep; accuracy minus splitting's,"
    )
    print("mean over problems with standard error")
    for title, own in (
        ("real", [r for r in rows if r["kind"] != "simulated"]),
        ("simulated", [r for r in rows if r["kind"] == "simulated"]),
    ):
        for route in (*list(ROUTES)[:3], GOING_ON):
            if not own:
                continue
            above = np.array([r[route] / r["splitting"] - 1 for r in own])
            differences: dict[str, list[float]] = {}
            for r in own:
                gain = r[f"{route}, accuracy"] - r["splitting, accuracy"]
                differences.setdefault(r["problem"], []).append(gain)
            d = np.array([np.mean(values) for values in differences.values()])
            print(
                f"{title:<10} {route:<21} {np.mean(above > 1e-3):5.0%} of {len(own)}, "
                f"at most {above.max():.3f}; "
                f"{np.median([r[f'{route}, residual'] for r in own]):7.1e}; "
                f"{np.mean([r[f'{route}, iterations'] >= MAX_ITER for r in own]):4.0%}; "
                f"{d.mean():+.3f} ± {d.std(ddof=1) / np.sqrt(len(d)):.3f} ({len(d)} problems)"
            )


def _groups(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for kind in dict.fromkeys(r["kind"] for r in rows):
        for shrinkage in SHRINKAGES:
            yield [r for r in rows if r["kind"] == kind and r["shrinkage"] == shrinkage]


def stored() -> list[dict[str, Any]]:
    """Rows of the file."""
    with TARGET.open(encoding="utf-8", newline="") as file:
        return [
            {name: v if name in ("kind", "problem") else float(v) for name, v in row.items()}
            for row in csv.DictReader(file)
        ]


def main() -> None:
    """Measure all, store, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the tables of what is stored")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    if not options.table:
        start = time.perf_counter()
        cases = [
            (kind, name, data, number, fold, shrinkage)
            for kind, name, data in problems()
            for shrinkage in SHRINKAGES
            for number, fold in enumerate(folds(data))
        ]
        rows = Parallel(n_jobs=options.jobs)(delayed(measure)(*case) for case in cases)
        TARGET.parent.mkdir(exist_ok=True)
        with TARGET.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {name: f"{v:.6g}" if isinstance(v, float) else v for name, v in row.items()} for row in rows
            )
        print(f"{time.perf_counter() - start:.0f} seconds")
    table(stored())
    summary(stored())


if __name__ == "__main__":
    main()
