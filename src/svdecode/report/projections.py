"""Training and new samples on the first two components, with ellipses that show how wide they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from matplotlib.ticker import MaxNLocator

from svdecode._checks import FloatArray
from svdecode.report.style import GENSVD, NEW, class_look, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Projection:
    """Training and new samples in one basis, to be drawn as one panel.

    Attributes
    ----------
    title : str
        Heading of the panel, the method's name.
    training : array of shape (n_training, n_components)
        Coordinates of the training samples.
    test : array of shape (n_test, n_components)
        Coordinates of new samples in the same basis.
    color : str
        Of the training samples, where classes have no colors of their own.

    See Also
    --------
    projections : Draws several of these side by side.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.report import Projection
    >>> Projection("SVD", training=np.ones((4, 2)), test=np.ones((3, 2))).title
    'SVD'
    """

    title: str
    training: FloatArray
    test: FloatArray
    color: str = GENSVD


def projections(
    panels: Sequence[Projection],
    y_training: Any = None,
    y_test: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    n_std: float = 1.0,
    stacked: bool = False,
) -> Figure:
    """Draw training and new samples on the first two components, with covariance ellipses.

    Filled glyphs and solid ellipses are training samples, open glyphs and dotted ellipses are new
    ones. All panels have the same axes, so that widths can be compared by eye.

    Parameters
    ----------
    panels : sequence of Projection
        One for each method.
    y_training, y_test : array of shape (n_training,) or (n_test,), optional
        Class of each sample: each class gets a color, a glyph and ellipses. Without them all
        samples of a kind share one ellipse.
    classes : sequence, optional
        The classes that are drawn, all by default. More than about five make a crowd.
    n_std : float, default 1
        Half axes of the ellipses, in standard deviations.
    stacked : bool, default False
        Put the panels below each other, for a narrow screen.

    Returns
    -------
    matplotlib Figure
        One panel a method, and one legend. Pyplot does not know it.

    See Also
    --------
    scree : The widths of all components as curves.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.report import Projection, projections
    >>> rng = np.random.default_rng(0)
    >>> panel = Projection("SVD", rng.standard_normal((8, 2)), rng.standard_normal((6, 2)))
    >>> figure = projections([panel], ["face", "house"] * 4, ["face", "house"] * 3)
    >>> [ax.get_title() for ax in figure.axes]
    ['SVD']
    """
    if (y_training is None) != (y_test is None):
        raise ValueError("y_training, y_test: found one of them, expected both or none")
    shown = _classes(y_training, classes)
    n_columns = 2 if stacked else 3
    figure, axes = _square_panels(len(panels), stacked, legend_rows=-(-(len(shown) + 2) // n_columns))
    for panel, ax in zip(panels, axes, strict=True):
        if y_training is None:
            _draw(ax, panel.training, n_std, {"color": panel.color, "marker": "o"}, training=True)
            _draw(ax, panel.test, n_std, {"color": NEW, "marker": "o"}, training=False)
        for number, label in enumerate(shown):
            look = class_look(number)
            _draw(ax, panel.training[np.asarray(y_training) == label], n_std, look, training=True)
            _draw(ax, panel.test[np.asarray(y_test) == label], n_std, look, training=False)
        ax.set_title(panel.title)
        plain_frame(ax)
    _same_square(axes)
    _label_outer(axes, stacked)
    _add_legend(figure, shown, n_columns)
    return figure


def covariance_ellipse(points: Any, n_std: float = 1.0, **look: Any) -> Ellipse:
    """Ellipse about the mean of points in the plane, with half axes of `n_std` standard deviations.

    Parameters
    ----------
    points : array of shape (n, 2)
        At least two of them.
    n_std : float, default 1
        Half axes, in standard deviations along the principal axes.
    **look : dict
        Handed on to matplotlib's `Ellipse`.

    Returns
    -------
    matplotlib.patches.Ellipse
        The ellipse, in no Axes yet.

    Examples
    --------
    >>> from svdecode.report import covariance_ellipse
    >>> ellipse = covariance_ellipse([[-3, 0], [3, 0], [0, 1], [0, -1]])
    >>> round(float(ellipse.width / ellipse.height), 6)
    3.0
    """
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise ValueError(f"points: found shape {points.shape}, expected at least two points in the plane")
    variances, axes = np.linalg.eigh(np.cov(points, rowvar=False))
    half = n_std * np.sqrt(np.maximum(variances, 0.0))
    angle = float(np.degrees(np.arctan2(axes[1, 1], axes[0, 1])))
    x, y = points.mean(axis=0)
    return Ellipse((float(x), float(y)), 2 * float(half[1]), 2 * float(half[0]), angle=angle, **look)


def _classes(y_training: Any, classes: Sequence[Any] | None) -> list[Any]:
    """Which classes are drawn, in which order."""
    if y_training is None:
        return []
    known: list[Any] = np.unique(np.asarray(y_training)).tolist()
    if classes is None:
        return known
    for label in classes:
        if label not in known:
            raise ValueError(f"classes: found {label!r}, expected some of {', '.join(map(repr, known))}")
    return list(classes)


def _square_panels(n: int, stacked: bool, legend_rows: int) -> tuple[Figure, list[Axes]]:
    """Square Axes in a row or a column above room for the legend, placed in inches.

    Matplotlib's own layouts cut titles off where panels of equal scales meet a legend outside them.
    """
    side, left, top, gap, below = (3.2, 0.75, 0.35, 0.5, 0.6) if stacked else (3.5, 0.75, 0.35, 0.3, 0.6)
    legend = 0.1 + 0.24 * legend_rows
    across, down = (1, n) if stacked else (n, 1)
    width = left + across * side + (across - 1) * gap + 0.15
    height = top + down * side + (down - 1) * gap + below + legend
    figure = Figure(figsize=(width, height))
    axes = []
    for i in range(n):
        x, y = (0, i) if stacked else (i, 0)
        corner = (left + x * (side + gap), height - top - side - y * (side + gap))
        axes.append(figure.add_axes((corner[0] / width, corner[1] / height, side / width, side / height)))
    return figure, axes


def _same_square(axes: Sequence[Axes]) -> None:
    """Give all panels the same scale in both directions, with everything in sight."""
    limits = np.array([[*ax.get_xlim(), *ax.get_ylim()] for ax in axes])
    low, high = limits[:, ::2].min(axis=0), limits[:, 1::2].max(axis=0)
    middle, half = (low + high) / 2, (high - low).max() / 2
    for ax in axes:
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.yaxis.set_major_locator(MaxNLocator(5))


def _label_outer(axes: Sequence[Axes], stacked: bool) -> None:
    """Say once what both panels share."""
    for ax in axes:
        if not stacked or ax is axes[-1]:
            ax.set_xlabel("component 1")
        else:
            ax.tick_params(labelbottom=False)
        if stacked or ax is axes[0]:
            ax.set_ylabel("component 2")
        else:
            ax.tick_params(labelleft=False)


def _draw(ax: Axes, Z: FloatArray, n_std: float, look: dict[str, Any], *, training: bool) -> None:
    """Glyphs of some samples, and their ellipse where there are enough of them for one."""
    points, color = Z[:, :2], look["color"]
    ax.scatter(
        points[:, 0], points[:, 1], s=26 if training else 20, marker=look["marker"],
        facecolors=color if training else "none", edgecolors=color,
        linewidths=0.8, alpha=0.9, zorder=3 if training else 2,
    )  # fmt: skip
    if len(points) > 2:
        line: dict[str, Any] = {"linestyle": "-" if training else ":", "linewidth": 1.5 if training else 1.8}
        ellipse = covariance_ellipse(points, n_std, fill=False, edgecolor=color, zorder=4, **line)
        ax.add_patch(ellipse)


def _add_legend(figure: Figure, classes: Sequence[Any], n_columns: int) -> None:
    shared: dict[str, Any] = {"color": "#555555", "marker": "o", "markersize": 6}
    handles = [Line2D([], [], linestyle="none", markersize=6, **class_look(i)) for i in range(len(classes))]
    handles.append(Line2D([], [], linestyle="-", **shared))
    handles.append(Line2D([], [], linestyle=":", markerfacecolor="white", **shared))
    names = [*map(str, classes), "training: filled, solid", "new: open, dotted"]
    for number, handle in enumerate(handles):
        handle.set_label(f"{number}")
    legend = figure.legend(handles=handles, loc="lower center", ncols=n_columns, frameon=False)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)  # a name from the data may hold dollars, or start with an underscore
        text.set_text(name)
