"""Do Xi's convex relaxations (2007, Part IV) lower the true objective? With and without her Part VII.

On small instances (12 samples, two components; two simulated, and blocks of faces and houses of the slice of
Haxby et al. 2001), from the singular vectors, from random coordinates, and from where alternation ends, each
with the discriminants of a Θ step: the enclosure and the Taylor step, as published and with one change after
the other. Beside them alternation from the same starts, and the best of 100 alternations and of all that was
tried; for `balanced` also the convex bound. Geometric programming, on positive data, by itself.

    python benchmarks/bench_relaxations.py [--table]

The rows, one a run, are written to benchmarks/results/relaxations.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sets
from joblib import Parallel, delayed, parallel_config

from svdecode.reduction import reduce_rows
from svdecode.svdm.convex_solver import solve_trace_norm
from svdecode.svdm.fitting import data_scale
from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.relaxations.enclosure import Enclosure
from svdecode.svdm.relaxations.geometric import GeometricProgram
from svdecode.svdm.relaxations.scheme import PUBLISHED, Choices, with_discriminants
from svdecode.svdm.relaxations.taylor import Taylor
from svdecode.svdm.solver import iterate, minimise
from svdecode.svdm.starts import choose_start

TARGET = Path(__file__).parent / "results" / "relaxations.csv"
L, N, ITERATIONS, RANDOM, ALTERNATIONS = 2, 12, 20, 3, 100
WEIGHTS = {
    "boxed": {"hinge_weight": 10.0},
    "svm": {"hinge_weight": 10.0, "shrinkage": 1.0},
    "balanced": {"shrinkage": 0.3},
}
METHODS = {"enclosure": Enclosure, "taylor": Taylor}
PROJECTED = replace(PUBLISHED, projection="surface")
JUDGED = replace(PROJECTED, accept="ratio")
TANGENT = replace(JUDGED, unit_rows="tangent")
VARIANTS = {
    "published, α = .5": PUBLISHED,
    "published, α = .1": replace(PUBLISHED, alpha=0.1),
    "+ projection": PROJECTED,
    "+ steps judged": JUDGED,
    "+ tangent rows": TANGENT,
    "+ floor": Choices(),
    "all but projection": Choices(projection="none"),
}
LOWERED = 1e-4  # share of the objective from which it counts


def simulated(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two labels that eight features tell only partly."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((N, 3))
    X = Z @ rng.standard_normal((3, 8)) + 0.5 * rng.standard_normal((N, 8))
    return X, np.sign(Z @ rng.standard_normal((3, 2)) + 0.3 * rng.standard_normal((N, 2)))


def faces_and_houses() -> tuple[np.ndarray, np.ndarray]:
    """The first six blocks of each."""
    data = sets.haxby2001_slice()
    rows = np.concatenate([np.flatnonzero(data.y == name)[: N // 2] for name in ("face", "house")])
    return data.X[rows], np.where(data.y[rows] == "face", 1.0, -1.0)[:, None]


PROBLEMS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "simulated 0": partial(simulated, 0),
    "simulated 1": partial(simulated, 1),
    "faces, houses": faces_and_houses,
}


def objective_of(problem: str, formulation: str) -> Objective:
    """A formulation on reduced and scaled data."""
    X, Y = PROBLEMS[problem]()
    reduced = reduce_rows(X).coordinates
    r = reduced.shape[1]  # scaled as if they were the data, so that weights mean the same for both problems
    reduced = reduced / data_scale(reduced, r)
    made = Problem(reduced, Y, np.ones(Y.shape), r, L, **WEIGHTS[formulation])
    return FORMULATIONS[formulation](made)


def alternated(objective: Objective, start: Factors) -> Any:
    """Where alternation ends that goes on for long."""
    return minimise(
        objective, start, solver="alternating", stopping="decrease", tol=1e-10, max_iter=2000, rebalance=False
    )


def start_of(objective: Objective, kind: str, number: int) -> Factors:
    """Coordinates, their basis, and the discriminants of a Θ step; or where alternation ends."""
    init = "random" if kind == "random" else "svd"
    made = choose_start(objective, init, L, np.random.default_rng(number), 0)
    made = with_discriminants(objective, made)
    return alternated(objective, made).factors if kind == "alternation's end" else made


def copied(factors: Factors) -> Factors:
    """Schemes overwrite their starts."""
    return Factors(*(block.copy() for block in factors))


def measure(problem: str, formulation: str, kind: str, number: int) -> list[dict[str, Any]]:
    """All methods from one start."""
    objective = objective_of(problem, formulation)
    there = start_of(objective, kind, number)
    row = {"problem": problem, "formulation": formulation, "start": kind, "number": number}
    row |= {"from": objective.value(there), "alternation": alternated(objective, copied(there)).objective}
    rows = []
    for method, scheme in METHODS.items():
        for variant, choices in VARIANTS.items():
            if variant == "+ tangent rows" and not objective.w.constraint:
                continue
            began = time.perf_counter()
            # `stationary` at a residual that nothing reaches: no variant is stopped for a bad beginning
            result = iterate(scheme(objective, copied(there), choices), tol=1e-9, max_iter=ITERATIONS)
            rows.append(
                row
                | {"method": method, "variant": variant, "first": result.history[0], "to": result.objective}
                | {"residual": result.stationarity, "seconds": time.perf_counter() - began}
            )
    return rows


def references(problem: str, formulation: str) -> tuple[float, float]:
    """The best of many alternations, and for `balanced` the bound over all ranks."""
    objective = objective_of(problem, formulation)
    best = min(
        alternated(objective, choose_start(objective, "random", L, np.random.default_rng(seed), 0)).objective
        for seed in range(ALTERNATIONS)
    )
    return best, solve_trace_norm(objective)[1] if formulation == "balanced" else float("nan")


def measured(jobs: int) -> list[dict[str, Any]]:
    """Every run, with the best that is known of its problem."""
    cases = [(p, f) for p in PROBLEMS for f in WEIGHTS]
    starts = [("svd", 0), *(("random", i) for i in range(RANDOM)), ("alternation's end", 0)]
    nested = Parallel(jobs)(delayed(measure)(*case, *start) for case in cases for start in starts)
    rows = [row for own in nested for row in own]
    for case, (best, bound) in zip(
        cases, Parallel(jobs)(delayed(references)(*c) for c in cases), strict=True
    ):
        own = [row for row in rows if (row["problem"], row["formulation"]) == case]
        best = min([best, *(row["to"] for row in own), *(row["alternation"] for row in own)])
        for row in own:
            row |= {"best": best, "bound": bound}
    return [
        row for own in (rows, *Parallel(jobs)(delayed(geometric)(seed) for seed in range(4))) for row in own
    ]


def geometric(seed: int) -> list[dict[str, Any]]:
    """Geometric programs on positive data, `boxed` with rows of norm at most one (Xi 2007, (8))."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(0.2, 2, (N, L))
    X = Z @ rng.uniform(0.2, 2, (L, 8)) + 0.1 * rng.random((N, 8))
    Y = np.where(Z[:, :1] > np.median(Z[:, 0]), 1.0, -1.0)
    made = Problem(X, Y, np.ones(Y.shape), 8, L, hinge_weight=10.0, basis_norm="at_most_one")
    objective = FORMULATIONS["boxed"](made)
    ends = []
    for number in range(3):
        W = rng.uniform(0.1, 1, (L, 8))
        there = Factors(
            rng.uniform(0.1, 1, (N, L)), W / np.linalg.norm(W, axis=1, keepdims=True), np.zeros(8),
            rng.uniform(0.1, 1, (L, 1)), np.zeros(1),
        )  # fmt: skip
        row = {"problem": f"positive {seed}", "formulation": "boxed", "start": "random", "number": number}
        row |= {"method": "geometric", "from": objective.value(there), "bound": float("nan")}
        for variant, condense, choices in (
            ("published", False, PUBLISHED),
            ("+ projection", False, PROJECTED),
            ("condensed", True, PUBLISHED),
        ):
            began = time.perf_counter()
            scheme = GeometricProgram(objective, copied(there), condense=condense, choices=choices)
            result = iterate(scheme, stopping="decrease", tol=1e-6, max_iter=60)
            ends.append(
                row
                | {"variant": variant, "first": result.history[0], "to": result.objective}
                | {"residual": result.stationarity, "seconds": time.perf_counter() - began}
                | {"alternation": float("nan"), "model": scheme.predicted}
            )
    best = min(row["to"] for row in ends)
    return [row | {"best": best} for row in ends]


def table(rows: list[dict[str, Any]]) -> None:
    """A line a formulation, method and variant: over problems, by start."""
    kinds = ("svd", "random", "alternation's end")
    print(
        "runs that lower the objective | first steps that raise it | median of the end over the best known\n"
        f"{'':<40}" + "".join(f"{kind:>30}" for kind in kinds) + f"{'not above alternation':>24}"
    )
    for formulation, method, variant in _kinds(rows, "enclosure", "taylor"):
        own = [
            r for r in rows if (r["formulation"], r["method"], r["variant"]) == (formulation, method, variant)
        ]
        cells = []
        for kind in kinds:
            some = [r for r in own if r["start"] == kind]
            lowered = sum(r["to"] < (1 - LOWERED) * r["from"] for r in some)
            raised = sum(r["first"] > (1 + LOWERED) * r["from"] for r in some)
            over = np.median([r["to"] / r["best"] for r in some])
            cells.append(f"{lowered:6d} of {len(some)}{raised:7d}{over:12.3f}")
        fair = [r for r in own if r["start"] != "alternation's end"]
        level = sum(r["to"] <= (1 + LOWERED) * r["alternation"] for r in fair)
        print(
            f"{formulation:<10}{method:<11}{variant:<19}"
            + "".join(f"{cell:>30}" for cell in cells)
            + f"{level:16d} of {len(fair)}"
        )
    print("\nalternation from the same starts, end over the best known: median (largest); the bound over it")
    for formulation in WEIGHTS:
        own = [r for r in rows if r["formulation"] == formulation and r["method"] == "taylor"]
        cells = []
        for kind in kinds[:2]:
            over = [r["alternation"] / r["best"] for r in own if r["start"] == kind]
            cells.append(f"{kind} {np.median(over):.3f} ({max(over):.3f})")
        print(f"{formulation:<10}", *cells, f"bound {np.mean([r['bound'] / r['best'] for r in own]):.3f}")
    seconds = {m: np.mean([r["seconds"] for r in rows if r["method"] == m]) for m in METHODS}
    print("seconds a run:", {m: round(float(s), 2) for m, s in seconds.items()})


def geometric_table(rows: list[dict[str, Any]]) -> None:
    """A line a variant."""
    print(
        "\ngeometric programming, positive data: lowered; end over start, over the best; model over the end"
    )
    for _, _, variant in _kinds(rows, "geometric"):
        own = [r for r in rows if (r["method"], r["variant"]) == ("geometric", variant)]
        lowered = sum(r["to"] < (1 - LOWERED) * r["from"] for r in own)
        ratios = [np.median([r[a] / r[b] for r in own]) for a, b in (("to", "from"), ("to", "best"))]
        model = np.median([r["model"] / r["to"] for r in own])
        print(f"{variant:<14} {lowered:3d} of {len(own)} {ratios[0]:10.3f} {ratios[1]:10.3f} {model:10.3f}")


def _kinds(rows: list[dict[str, Any]], *methods: str) -> Iterator[tuple[str, str, str]]:
    """Formulation, method and variant, in the order of the rows."""
    yield from dict.fromkeys(
        (r["formulation"], r["method"], r["variant"]) for r in rows if r["method"] in methods
    )


def stored() -> list[dict[str, Any]]:
    """Rows of the file."""
    words = ("problem", "formulation", "start", "method", "variant")
    with TARGET.open(encoding="utf-8", newline="") as file:
        return [
            {name: v if name in words else float(v or "nan") for name, v in row.items()}
            for row in csv.DictReader(file)
        ]


def main() -> None:
    """Measure all, store, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print the tables of what is stored")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    if not options.table:
        began = time.perf_counter()
        with parallel_config("loky", inner_max_num_threads=1):
            rows = measured(options.jobs)
        TARGET.parent.mkdir(exist_ok=True)
        names = list(dict.fromkeys(name for row in rows for name in row))
        with TARGET.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(
                {name: f"{v:.6g}" if isinstance(v, float) else v for name, v in row.items()} for row in rows
            )
        print(f"{time.perf_counter() - began:.0f} seconds")
    table(stored())
    geometric_table(stored())


if __name__ == "__main__":
    main()
