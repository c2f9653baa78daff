"""The Θ and the Z step over weights from 1e-6 to 1e6, beside LIBLINEAR on the same problems.

Prints milliseconds, one column a weight. `cold` starts from zero multipliers, `warm` from the answer for
coordinates that have since moved by a hundredth, as in the later sweeps of a fit. Required: no weight makes
a Θ step more than 10 times slower than weight 1. LIBLINEAR (`LinearSVC(loss="hinge")`, bias penalized, its
default of at most 1000 iterations) takes turns with the step; below its time stands by how much its objective
is above ours.

    python benchmarks/bench_theta.py
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from svdecode.svdm.kernels.coordinates import z_step
from svdecode.svdm.kernels.theta import theta_step

Array = NDArray[np.float64]
SHAPES = [(84, 10), (392, 20), (20000, 20)]
WEIGHTS = 10.0 ** np.arange(-6, 7)
MODES = {
    "bias penalized": (1.0, 1.0, 0),
    "bias free": (0.0, 1.0, 0),
    "box": (0.0, 0.0, 1),
    "ball": (0.0, 0.0, 2),
}
RADII = {"free": np.inf, "ball": 1.0}


def race(runs: dict[str, Callable[[], object]], least: float = 0.02, rounds: int = 5) -> dict[str, float]:
    """Median milliseconds; the contenders take turns, each as often a turn as fills `least` seconds."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for round_ in range(rounds + 1):
        for name, run in runs.items():
            count, start = 0, time.perf_counter()
            while not count or time.perf_counter() - start < least:
                run()
                count += 1
            if round_:
                times[name].append(1e3 * (time.perf_counter() - start) / count)
    return {name: float(np.median(values)) for name, values in times.items()}


def problem(n: int, l: int, k: int) -> tuple[Array, Array]:
    """Coordinates, and labels that they tell only partly."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, l))
    return Z, np.sign(Z @ rng.standard_normal((l, k)) + rng.standard_normal((n, k)))


def row(name: str, values: list[float]) -> None:
    """Print a row of milliseconds, and the slowest as a multiple of weight 1."""
    cells = " ".join(f"{v:8.3f}" for v in values)
    print(
        f"  {name:<22} {cells}   slowest {max(values) / values[len(values) // 2]:5.1f} x weight 1", flush=True
    )


def bench_theta(n: int, l: int) -> None:
    """Print the rows of the Θ step for one shape."""
    Z, Y = problem(n, l, 1)
    moved = Z + 0.01 * np.random.default_rng(2).standard_normal(Z.shape)
    A, before = (np.hstack([np.ones((n, 1)), coordinates]) for coordinates in (Z, moved))
    for mode, (bias, rest, constraint) in MODES.items():
        H = np.full(l + 1, rest)
        H[0] = bias
        table: dict[str, list[float]] = {"cold": [], "warm": []}
        above = []
        for weight in WEIGHTS:
            C, none = np.full((n, 1), weight), np.zeros((n, 1))
            Theta, _ = theta_step(A, Y, C, 1.0, H, constraint, 1.0, none)
            _, Lam = theta_step(before, Y, C, 1.0, H, constraint, 1.0, none)
            runs: dict[str, Callable[[], object]] = {
                "cold": lambda C=C, H=H, c=constraint, warm=none: theta_step(A, Y, C, 1.0, H, c, 1.0, warm),
                "warm": lambda C=C, H=H, c=constraint, warm=Lam: theta_step(A, Y, C, 1.0, H, c, 1.0, warm),
            }  # type: ignore[misc]
            if mode == "bias penalized":
                peer = LinearSVC(loss="hinge", fit_intercept=False, C=weight)
                runs["LIBLINEAR"] = lambda peer=peer: peer.fit(A, Y[:, 0])  # type: ignore[misc]
            for name, value in race(runs, rounds=3 if n > 1000 else 5).items():
                table.setdefault(name, []).append(value)
            if mode == "bias penalized":
                ours, theirs = (_value(A, Y[:, 0], weight, t) for t in (Theta[:, 0], peer.coef_[0]))
                above.append(100 * (theirs / ours - 1))
        for name, values in table.items():
            row(f"{mode}, {name}", values)
        if above:
            print(f"  {'  above ours, percent':<22} " + " ".join(f"{v:8.2g}" for v in above))


def _value(A: Array, y: Array, weight: float, theta: Array) -> float:
    return float(0.5 * theta @ theta + weight * np.maximum(1.0 - y * (A @ theta), 0.0).sum())


def bench_z(n: int, l: int, k: int) -> None:
    """Print the rows of the Z step for one shape."""
    rng = np.random.default_rng(1)
    C, Y = problem(n, l, k)
    W, B, b = rng.standard_normal((l, 3 * l)), rng.standard_normal((l, k)), np.zeros(k)
    A = W @ W.T / (3 * l)
    moved = C + 0.01 * rng.standard_normal(C.shape)
    for name, radius in RADII.items():
        table: dict[str, list[float]] = {"cold": [], "warm": []}
        for weight in WEIGHTS:
            Hw, none = np.full((n, k), weight), np.zeros((n, k))
            _, Lam = z_step(moved, A, B, b, Y, Hw, 1.0, radius, none)
            runs = {
                "cold": lambda Hw=Hw, r=radius, warm=none: z_step(C, A, B, b, Y, Hw, 1.0, r, warm),
                "warm": lambda Hw=Hw, r=radius, warm=Lam: z_step(C, A, B, b, Y, Hw, 1.0, r, warm),
            }
            for which, value in race(runs, rounds=3 if n > 1000 else 5).items():
                table[which].append(value)
        for which, values in table.items():
            row(f"k = {k}, {name}, {which}", values)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="Liblinear failed to converge")
    for n, l in SHAPES:
        print(f"n = {n}, l = {l}: milliseconds at weights 1e-6, 1e-5, ..., 1e6")
        bench_theta(n, l)
        for k in (1, 7):
            bench_z(n, l, k)
