"""The demo's pictures, each drawn for a wide page and for a narrow one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from svdecode.report.demo.analysis import CLASSIFIERS, N_TRAINING_RUNS, Demo, Split
from svdecode.report.demo.found import METHODS, Found, text
from svdecode.report.figures import LOOKS, Curve, curves, scree
from svdecode.report.page import Picture
from svdecode.report.projections import Projection, projections
from svdecode.report.style import GENSVD, SVD

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: drawn category by category: all eight would be a crowd
DRAWN = ("face", "house", "cat", "shoe")


def clouds(demo: Demo) -> Picture:
    """All samples on two components, one ellipse for all training samples and one for all new ones."""
    return _picture(
        lambda narrow: projections(_panels(demo.example), n_std=2, stacked=narrow),
        caption="""Samples on the first two components. An ellipse reaches two standard deviations from the
        mean of the training samples (solid) or of the new ones (dotted).""",
        alt="""Two scatter plots of the same samples. For SVD the solid ellipse of the training samples is
        clearly larger than the dotted ellipse of the new ones; for GenSVD it has shrunk towards it.""",
    )


def categories(demo: Demo) -> Picture:
    """Some categories with an ellipse each."""
    known = demo.dataset.classes.tolist()
    drawn = [label for label in DRAWN if label in known] or known[:4]
    labels = (demo.example.y_training, demo.example.y_new)
    return _picture(
        lambda narrow: projections(_panels(demo.example), *labels, classes=drawn, stacked=narrow),
        caption=f"""Samples of {len(drawn)} of the {len(known)} categories. An ellipse reaches one standard
        deviation from the mean of one category, solid for training samples and dotted for new ones.""",
        alt=f"""The two scatter plots with a color, a glyph and two ellipses for each of
        {", ".join(map(str, drawn))}. With GenSVD the solid ellipses are smaller and lie nearer to the dotted
        ones.""",
    )


def component_widths(demo: Demo) -> Picture:
    """Standard deviation of each component."""
    widths = demo.example.widths
    return _picture(
        lambda narrow: _curves_figure(
            narrow, lambda ax: scree(widths["SVD"], widths["GenSVD"], widths["new"], ax=ax)
        ),
        caption=f"""Standard deviation along each of the {len(widths["new"])} components, for the split drawn
        above. A sample has length one on average.""",
        alt="""Three falling curves. The curve of SVD lies above the other two, which run close together, over
        almost all components.""",
    )


def widths_by_runs(found: Found) -> Picture:
    """Overall spread of the training samples against the number of training runs."""
    sizes = found.sizes()
    items = [_with_range(found, method, "overall width", sizes) for method in METHODS]
    first, last = (found.mean("overall width", "SVD", runs=n) for n in (sizes[0], sizes[-1]))
    labels = {"xlabel": "training runs", "ylabel": "spread, training / new"}
    return _picture(
        lambda narrow: _curves_figure(
            narrow, lambda ax: curves(items, reference=(1.0, "new samples"), ax=ax, **labels)
        ),
        caption="""Overall spread of the training samples relative to that of new ones. Lines are means, bands
        hold nine tenths of the choices of training runs.""",
        alt=f"""The curve of SVD falls from {first:.1f} at {sizes[0]} training runs to {last:.1f} at
        {sizes[-1]}; the curve of GenSVD stays close to 1.""",
    )


def accuracies(demo: Demo, found: Found) -> Picture:
    """Accuracy of the classifiers against the number of components."""
    at = found.component_numbers()
    n_choices = len(found.values("accuracy, linear SVM", "SVD", components=at[0]))
    items = [
        Curve(
            label=f"{method}, {name}",
            x=at,
            mean=[found.mean(f"accuracy, {name}", method, components=k) for k in at],
            look={**LOOKS[method], "alpha": alpha},
        )
        for name, alpha in zip(CLASSIFIERS, (1.0, 0.5), strict=True)
        for method in METHODS
    ]
    guessing = 1 / len(demo.dataset.classes)
    labels = {"xlabel": "components", "ylabel": "accuracy on new samples"}
    return _picture(
        lambda narrow: _curves_figure(
            narrow, lambda ax: curves(items, reference=(guessing, "chance"), ax=ax, **labels)
        ),
        caption=f"""Share of new samples whose category is named correctly, mean over {n_choices} choices of
        {N_TRAINING_RUNS} training runs. Strong lines: linear support vector machine; pale lines: nearest
        class mean.""",
        alt="""Accuracy rises with the number of components. For either classifier the curves of SVD and
        GenSVD lie close together and cross.""",
    )


def _panels(example: Split) -> list[Projection]:
    return [
        Projection("SVD", example.plain, example.new, SVD),
        Projection("GenSVD", example.corrected, example.new, GENSVD),
    ]


def _with_range(found: Found, method: str, measure: str, sizes: list[int]) -> Curve:
    ranges = np.array([found.range(measure, method, runs=n) for n in sizes])
    means = [found.mean(measure, method, runs=n) for n in sizes]
    return Curve(method, sizes, means, low=ranges[:, 0], high=ranges[:, 1], look=LOOKS[method])


def _picture(draw: Callable[[bool], Figure], *, caption: str, alt: str) -> Picture:
    return Picture(draw(False), text(caption), text(alt), narrow=draw(True))


def _curves_figure(narrow: bool, draw: Callable[[Axes], Any]) -> Figure:
    figure = Figure(figsize=(4.2, 3.9) if narrow else (7.4, 3.9), layout="constrained")
    draw(figure.subplots())
    return figure
