"""Where alternation stops and where the splittings get: the objective reached, and the work it takes.

Synthetic: rng = default_rng(0); Z (84 × 10), W (10 × 16000), X = ZW + 3·noise, Y = sign(Z·normal(10 × k)),
drawn in that order, X over its standard deviation. haxby2011: subject 1, or all that are there pooled; each
voxel z-scored within subject and run, then over the overall standard deviation.

"multipliers" is the package's own solver: an iteration is one descent of the augmented Lagrangian, and
counts as many evaluations (a value with its gradient) as L-BFGS needs. "anderson" is the accelerated
fixed-point iteration on the scores, which it replaced.

    SVDECODE_DATA=... python benchmarks/bench_solvers.py
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import sets

from svdecode.reduction import reduce_rows
from svdecode.svdm.fitting import infimum
from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.multipliers import MethodOfMultipliers, applies
from svdecode.svdm.objective import Objective
from svdecode.svdm.schemes import AndersonSplitting
from svdecode.svdm.solver import minimise
from svdecode.svdm.starts import choose_start

TOLERANCES = (1e-4, 1e-6, 1e-8)
MAX_ITER = {"multipliers": 60, "anderson": 400}


@dataclass(frozen=True)
class Case:
    """Data in reduced coordinates, and what the notes on the mathematics report of them."""

    name: str
    X: np.ndarray
    Y: np.ndarray
    n_features: int

    def objective(self, formulation: str, l: int, **weights: float) -> Objective:
        """A formulation on these data."""
        ones = np.ones(self.Y.shape)
        return FORMULATIONS[formulation](Problem(self.X, self.Y, ones, self.n_features, l, **weights))


def _case(name: str, X: np.ndarray, Y: np.ndarray) -> Case:
    return Case(name, reduce_rows(X).coordinates, Y, X.shape[1])


def synthetic(k: int) -> Case:
    """The simulated data of the tables."""
    rng = np.random.default_rng(0)
    Z, W = rng.standard_normal((84, 10)), rng.standard_normal((10, 16000))
    X = Z @ W + 3 * rng.standard_normal((84, 16000))
    return _case(f"synthetic, k = {k}", X / X.std(), np.sign(Z @ rng.standard_normal((10, k))))


def haxby(pooled: bool) -> Case | None:
    """One subject or all, seven categories."""
    for data in sets.found("haxby2011"):
        if not pooled:
            data = data.select(data.subjects == 1)
        Y = np.where(np.asarray(data.y)[:, None] == np.unique(data.y), 1.0, -1.0)
        return _case("haxby2011, " + ("pooled" if pooled else "one subject"), data.X / data.X.std(), Y)
    return None


def start(objective: Objective, l: int, solver: str = "alternating"):  # type: ignore[no-untyped-def]
    """As a fit would start."""
    rng = np.random.default_rng(0)
    return choose_start(objective, "svd", l, rng, 0, with_labels=solver == "multipliers")


def by_blocks(objective: Objective, l: int, rebalance: bool, max_iter: int = 2000) -> float:
    """Where alternation comes to a standstill."""
    first = start(objective, l)
    papers = {"solver": "alternating", "stopping": "decrease", "tol": 1e-9}
    return minimise(objective, first, **papers, max_iter=max_iter, rebalance=rebalance).objective


def splitting(objective: Objective, l: int, solver: str) -> float:
    """Where a splitting gets, from its own start."""
    return minimise(
        objective, start(objective, l, solver), solver=solver, tol=1e-7, max_iter=MAX_ITER[solver]
    ).objective


def objectives(cases: dict[str, Case]) -> None:
    """First table: `balanced` by four routes, `penalized` and `constrained` by their infimum."""
    print("objective reached          plain alternation  re-balanced  anderson  multipliers  (notes: best)")
    for key, l, shrinkage, noted in (
        ("synthetic 1", 10, 0.1, 0.489959), ("synthetic 7", 10, 0.1, 0.535372),
        ("one", 10, 1.0, 0.965415), ("pooled", 20, 0.03, 0.501623),
    ):  # fmt: skip
        if key in cases:
            o = cases[key].objective("balanced", l, shrinkage=shrinkage)
            values = [by_blocks(o, l, False, 300), by_blocks(o, l, True, 300),
                      splitting(o, l, "anderson"), splitting(o, l, "multipliers")]  # fmt: skip
            print(f"balanced, {cases[key].name}, l = {l}, shrinkage {shrinkage:g}: "
                  + "  ".join(f"{v:.6f}" for v in values) + f"  ({noted:.6f})", flush=True)  # fmt: skip
    if "one" not in cases:
        return
    o = cases["one"].objective("penalized", 6, shrinkage=0.1)
    papers = minimise(o, start(o, 6), solver="alternating", stopping="decrease", tol=1e-3).objective
    found = splitting(infimum(o, 6), 6, "multipliers")
    print(f"penalized, one subject, l = 6, shrinkage .1: paper's stop {papers:.4f}, infimum {found:.4f} "
          "(notes: .6505, .5751)")  # fmt: skip
    o = cases["one"].objective("constrained", 6, hinge_weight=1e4)
    papers = minimise(o, start(o, 6), solver="alternating", stopping="decrease", tol=1e-3).objective
    found = splitting(infimum(o, 6), 6, "anderson")
    print(
        f"constrained, one subject, l = 6, hinge weight 1e4: paper's stop {papers:.6g}, splitting {found:.6g}"
    )


def work(objective: Objective, l: int, solver: str) -> str:
    """Iterations, and evaluations where they are more than that, to each tolerance; seconds in all."""
    began = time.perf_counter()
    first = start(objective, l, solver)
    scheme = (
        MethodOfMultipliers(objective, first, tol=TOLERANCES[-1])
        if solver == "multipliers"
        else AndersonSplitting(objective, first)
    )
    reached: list[str] = []
    for iteration in range(1, MAX_ITER[solver] + 1):
        scheme.step()
        residual = scheme.stationarity()
        count = str(iteration)
        if isinstance(scheme, MethodOfMultipliers):
            count += f" ({scheme.n_evaluations})"
        while len(reached) < len(TOLERANCES) and residual <= TOLERANCES[len(reached)]:
            reached.append(count)
        if len(reached) == len(TOLERANCES):
            break
    reached += ["-"] * (len(TOLERANCES) - len(reached))
    return " / ".join(reached) + f", {time.perf_counter() - began:.2f} s"


def iterations(cases: dict[str, Case]) -> None:
    """Second table: how long it takes."""
    print("\nbalanced: iterations (evaluations) to a stationarity of 1e-4 / 1e-6 / 1e-8, and seconds")
    rows = [("synthetic 1", 10, (0.01, 0.1, 1.0)), ("synthetic 7", 10, (0.01, 0.1, 1.0)),
            ("one", 10, (0.01, 0.1, 1.0)), ("pooled", 20, (0.03, 0.1, 0.3))]  # fmt: skip
    for key, l, shrinkages in rows:
        for shrinkage in shrinkages if key in cases else ():
            o = cases[key].objective("balanced", l, shrinkage=shrinkage)
            assert applies(o)
            ours, other = work(o, l, "multipliers"), work(o, l, "anderson")
            print(f"{cases[key].name:<24} l = {l}, shrinkage {shrinkage:<5g} multipliers {ours:<44} "
                  f"anderson {other}", flush=True)  # fmt: skip


def main() -> None:
    """Print both tables."""
    found = {
        "synthetic 1": synthetic(1),
        "synthetic 7": synthetic(7),
        "one": haxby(False),
        "pooled": haxby(True),
    }
    cases = {key: case for key, case in found.items() if case is not None}
    splitting(cases["synthetic 1"].objective("balanced", 2), 2, "multipliers")  # compile
    objectives(cases)
    iterations(cases)


if __name__ == "__main__":
    main()
