"""The figures of a decoding's page, each with its caption and with words for who cannot see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from svdecode.decoding.words import listed, percent, text
from svdecode.report.blocks import Picture
from svdecode.report.decoded import by_unit, confusion_matrix, latent_space
from svdecode.report.figures import Curve, curves
from svdecode.report.style import class_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svdecode.decoding.result import DecodingResult

LINES = ("-", "--", ":", "-.")


def look(number: int) -> dict[str, Any]:
    """Line of the method of this number."""
    return {**class_look(number), "linestyle": LINES[number % len(LINES)]}


def accuracy_curves(result: DecodingResult) -> Picture | None:
    """Accuracy against the number of components, as in Pereira & Gordon's Figure 2."""
    table, items, told = result.accuracies, [], []
    sizes = result.settings.components
    if len(sizes) < 2:
        return None
    for number, method in enumerate(result.methods):
        rows = table[(table["method"] == method) & ~table["size_chosen"]]
        own = rows["n_components"].notna().any()
        x = rows["n_components"].astype(int).tolist() if own else [sizes[0], sizes[-1]]
        mean, low, high = (
            (rows[k].tolist() if own else [rows[k].iloc[0]] * 2) for k in ("accuracy", "low", "high")
        )
        line = look(number) if own else {**look(number), "marker": None}
        shown = {"low": low, "high": high} if number == 0 else {}
        items.append(Curve(method, x, mean, look=line, **shown))
        told.append(
            f"{method} goes from {percent(mean[0])} to {percent(mean[-1])}"
            if own
            else f"{method} is at {percent(mean[0])}"
        )
    labels = {"xlabel": "components", "ylabel": "accuracy"}
    reference = (result.headline.chance, "chance")

    def draw(ax: Axes) -> None:
        curves(items, reference=reference, ax=ax, **labels)
        ax.set_xscale("log", base=2)
        ax.set_xticks(sizes, [str(size) for size in sizes])
        ax.minorticks_off()

    over = listed([str(size) for size in sizes], "and")
    return _picture(
        draw,
        caption=f"""Accuracy on test samples against the number of components; weights were chosen inside for
        each. The band is the 95 % interval of {result.methods[0]} over {result.headline.over}.""",
        alt=f"""Curves over {over} components: {"; ".join(told)}; chance is at
        {percent(result.headline.chance)}.""",
    )


def confusion_picture(result: DecodingResult) -> Picture:
    """Which classes are taken for which."""
    found = result.confusion()
    rates = np.diag(found.rates)
    order = np.argsort(-np.nan_to_num(rates))
    told = [f"{found.classes[j]} {percent(float(rates[j]))}" for j in order if np.isfinite(rates[j])]
    wrong = np.where(np.eye(len(rates), dtype=bool), -1, found.counts)
    i, j = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    worst = ""
    if wrong[i, j] > 0:
        worst = f" Most often {found.classes[i]} is taken for {found.classes[j]} ({wrong[i, j]} times)."
    figure = confusion_matrix(found.counts, found.classes.tolist()).figure
    return Picture(
        figure,  # type: ignore[arg-type]
        text(
            f"""Confusions of {result.headline.method}: how often the class of a row was taken for that of a
            column, over all splits. Color is the share of the row."""
        ),
        text(f"Matrix of {len(rates)} classes. Rightly named: {listed(told, 'and', 20)}.{worst}"),
    )


def split_picture(result: DecodingResult) -> Picture:
    """Accuracy of each split."""
    names = [part.name for part in result.splits]
    found = {method: result.folds(method)["accuracy"].tolist() for method in result.methods}
    return _units(result, found, names, "split")


def subject_picture(result: DecodingResult) -> Picture | None:
    """Accuracy of each subject, where splits are not subjects."""
    subjects = result.dataset.subjects
    if subjects is None or len(np.unique(subjects)) < 2 or len(np.unique(subjects)) == len(result.splits):
        return None
    found, names = {}, []
    for method in result.methods:
        rows = result.predictions(method)
        means = rows["correct"].astype(float).groupby(subjects[rows["row"].to_numpy(dtype=int)]).mean()
        found[method], names = means.tolist(), [f"subject {name}" for name in means.index]
    return _units(result, found, names, "subject")


def _units(result: DecodingResult, found: Any, names: list[str], what: str) -> Picture:
    first = found[result.methods[0]]
    worst, best = names[int(np.argmin(first))], names[int(np.argmax(first))]
    chance = result.headline.chance
    return Picture(
        by_unit(found, names, chance=chance),
        text(
            f"""Accuracy of each {what}: one glyph a method. A {what} has few test samples, so that single
            ones scatter."""
        ),
        text(
            f"""Accuracies of {len(names)} {what}s. {result.methods[0]} lies between {percent(min(first))}
            ({worst}) and {percent(max(first))} ({best}), {sum(a > chance for a in first)} of {len(first)}
            above chance."""
        ),
        narrow=by_unit(found, names, chance=chance, narrow=True),
    )  # fmt: skip


def class_positions(result: DecodingResult) -> Picture:
    """Where in the latent space the classes lie."""
    whole = result.whole
    assert whole is not None  # asked by the caller
    y = result.dataset.y
    said = f"{100 * whole.share[0]:.0f} %"
    return Picture(
        latent_space(whole.coordinates, y, whole.share),
        text(
            """Left: samples (small) and class means (large) on the two components that differ most between
            classes. Right: mean of each class on each component, in standard deviations of the coordinate;
            under each component the share of its variance that lies between classes."""
        ),
        text(
            f"""Scatter plot of {len(y)} samples in {len(np.unique(y))} classes, and a table in color of class
            means on {min(8, len(whole.share))} components. Of the first component’s variance {said} lies
            between classes."""
        ),
        narrow=latent_space(whole.coordinates, y, whole.share, narrow=True),
    )  # fmt: skip


def _picture(draw: Callable[[Axes], Any], *, caption: str, alt: str) -> Picture:
    figures = []
    for size in ((7.4, 3.9), (4.2, 3.9)):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        figures.append(figure)
    return Picture(figures[0], text(caption), text(alt), narrow=figures[1])
