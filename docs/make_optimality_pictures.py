"""Make the figures of docs/optimality.md and docs/jamming.md from what the benchmarks stored.

Run it from the root of the repository, after `benchmarks/bench_global.py` and `benchmarks/bench_jamming.py`
have written their rows: `.venv/bin/python docs/make_optimality_pictures.py`.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from svdecode.report.style import GLYPHS, PALETTE, page_style, render

IMAGES = Path(__file__).parent / "images"
RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
FLOOR = 1e-9  # distances below are drawn there
LOOKS = {
    "papers' stop": (PALETTE[1], "s"),
    "alternation": (PALETTE[5], "D"),
    "re-balanced": (PALETTE[3], "^"),
    "splitting": (PALETTE[0], "o"),
    "bound": (PALETTE[6], "_"),
}


def rows(name: str) -> list[dict[str, Any]]:
    """Rows of a stored table."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def global_picture() -> bytes:
    """Share of random starts that are proved global, and the distance that is left, over l / rank."""
    own = [r for r in rows("global.csv") if r["grid"] == "penalty" and float(r["rank"]) > 0]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, problem in enumerate(dict.fromkeys(r["problem"] for r in own)):
        mine = [r for r in own if r["problem"] == problem]
        x = np.array([float(r["l"]) / float(r["rank"]) for r in mine])
        look = {"color": PALETTE[number], "marker": GLYPHS[number], "linestyle": "", "alpha": 0.7}
        left.plot(x, [100 * float(r["proved"]) for r in mine], label=problem, **look)
        right.plot(x, [max(float(r["above optimum"]), FLOOR) for r in mine], **look)
    left.set(title="Random starts proved global", ylabel="per cent of ten")
    right.set(title="Best fit above the optimum", ylabel="share of the objective", yscale="log")
    for axes in (left, right):
        axes.set_xlabel("components / rank of the convex optimum")
        axes.axvline(1, color="#999999", linewidth=1, zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize=9)
    return render(figure, "png")


def jamming_picture() -> bytes:
    """Objective where each route stops, over the splitting's (above), and the bound of all ranks (below)."""
    own = rows("jamming.csv")
    kinds = list(dict.fromkeys(r["kind"] for r in own))
    shrinkages = list(dict.fromkeys(r["shrinkage"] for r in own))
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    grid = figure.subplots(2, len(shrinkages), sharex=True, sharey="row", height_ratios=(3, 2))
    for (above, below), shrinkage in zip(grid.T, shrinkages, strict=True):
        for place, kind in enumerate(kinds):
            mine = [r for r in own if r["kind"] == kind and r["shrinkage"] == shrinkage]
            for step, (route, (color, marker)) in enumerate(LOOKS.items()):
                axes, shift = (below, 0.0) if route == "bound" else (above, 0.18 * (step - 1.5))
                ratio = [float(r[route]) / float(r["splitting"]) for r in mine]
                label = (
                    None
                    if place or above is not grid[0, 0]
                    else ("bound, any rank" if route == "bound" else route)
                )
                axes.plot([place + shift] * len(ratio), ratio, marker, color=color, alpha=0.2, markersize=3)
                axes.plot(place + shift, np.mean(ratio), marker, color=color, markersize=6, label=label)
        above.set_title(f"shrinkage {shrinkage}")
        below.set_xticks(range(len(kinds)), kinds, rotation=90)
        below.set_ylim(0, 1.1)
        for axes in (above, below):
            axes.axhline(1, color="#999999", linewidth=1, zorder=0)
            axes.spines[["top", "right"]].set_visible(False)
    grid[0, 0].set_ylabel("objective")
    grid[1, 0].set_ylabel("lower bound")
    figure.supylabel("share of the splitting's objective", fontsize=10)
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=10)
    return render(figure, "png")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with page_style():
        for name, picture in (("optimality.png", global_picture), ("jamming.png", jamming_picture)):
            (IMAGES / name).write_bytes(picture())
            print(f"{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB")
