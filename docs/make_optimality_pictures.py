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
    """Objective where each route stops, over the splitting's, a panel for each weight."""
    own = rows("jamming.csv")
    kinds = list(dict.fromkeys(r["kind"] for r in own))
    shrinkages = list(dict.fromkeys(r["shrinkage"] for r in own))
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, shrinkage in zip(figure.subplots(1, len(shrinkages), sharey=True), shrinkages, strict=True):
        for place, kind in enumerate(kinds):
            mine = [r for r in own if r["kind"] == kind and r["shrinkage"] == shrinkage]
            for step, (route, (color, marker)) in enumerate(LOOKS.items()):
                ratio = [float(r[route]) / float(r["splitting"]) for r in mine]
                label = route if place == 0 else None
                at = place + 0.12 * (step - 2)
                axes.plot([at] * len(ratio), ratio, marker, color=color, alpha=0.25, markersize=4)
                axes.plot(at, np.mean(ratio), marker, color=color, markersize=8, label=label)
        axes.set_title(f"shrinkage {shrinkage}")
        axes.set_xticks(range(len(kinds)), kinds, rotation=35, ha="right")
        axes.axhline(1, color="#999999", linewidth=1, zorder=0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("objective / splitting's")
    figure.axes[-1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return render(figure, "png")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    with page_style():
        for name, picture in (("optimality.png", global_picture), ("jamming.png", jamming_picture)):
            (IMAGES / name).write_bytes(picture())
            print(f"{name}: {(IMAGES / name).stat().st_size / 1000:.0f} kB")
