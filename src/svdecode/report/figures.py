"""Curves: the widths of components, and what changes with a number that is varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.ticker import MaxNLocator

from svdecode._checks import FloatArray
from svdecode.report.style import GENSVD, NEW, SVD, new_axes, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values: TypeAlias = Sequence[float] | FloatArray

#: line, marker and color of each kind of coordinates
LOOKS: dict[str, dict[str, Any]] = {
    "SVD": {"color": SVD, "linestyle": "--", "marker": "s"},
    "GenSVD": {"color": GENSVD, "linestyle": "-", "marker": "o"},
    "new": {"color": NEW, "linestyle": ":", "marker": "D", "markerfacecolor": "white"},
}


@dataclass(frozen=True)
class Curve:
    """Means along a number that is varied, with the range in which most repetitions lie.

    Attributes
    ----------
    label : str
        What the legend says.
    x, mean : array of shape (n,)
        The number that is varied, and the mean at each.
    low, high : array of shape (n,) or None
        Lower and upper edge of the range.
    look : dict
        `color`, `linestyle` and `marker`, handed on to matplotlib.

    See Also
    --------
    curves : Draws several.

    Examples
    --------
    >>> from svdecode.report import Curve
    >>> Curve("SVD", x=[1, 2], mean=[0.5, 0.7]).label
    'SVD'
    """

    label: str
    x: Values
    mean: Values
    low: Values | None = None
    high: Values | None = None
    look: dict[str, Any] | None = None


def scree(
    singular: Values, generalized: Values, test: Values | None = None, *, ax: Axes | None = None
) -> Axes:
    """Plot the standard deviation of each component: plain, corrected and of new samples.

    Parameters
    ----------
    singular : array of shape (n_components,)
        Standard deviations of the training samples in their own SVD basis.
    generalized : array of shape (n_components,)
        The same, corrected by GenSVD.
    test : array of shape (n_components,), optional
        Standard deviations of new samples, by which the other two are judged.
    ax : matplotlib Axes, optional
        Where to draw; by default the only one of a new figure, which pyplot does not know
        (`ax.figure.savefig` saves it).

    Returns
    -------
    matplotlib Axes
        The plot (bottom of Figure 1 of Kjems, Hansen & Strother 2000).

    Examples
    --------
    >>> from svdecode.report import scree
    >>> ax = scree([3.0, 2.0, 1.0], [2.0, 1.0, 0.5], test=[1.9, 1.2, 0.4])
    >>> [str(line.get_label()) for line in ax.get_lines()]
    ['training samples, SVD', 'training samples, GenSVD', 'new samples']
    """
    ax = new_axes(6.6, 3.8) if ax is None else ax
    lines = [("training samples, SVD", singular, "SVD"), ("training samples, GenSVD", generalized, "GenSVD")]
    if test is not None:
        lines.append(("new samples", test, "new"))
    for label, values, look in lines:
        heights = np.asarray(values, dtype=np.float64)
        ax.plot(np.arange(1, len(heights) + 1), heights, label=label, markersize=4.5, **LOOKS[look])
    ax.set(xlabel="component", ylabel="standard deviation", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    plain_frame(ax)
    ax.legend(frameon=False)
    return ax


def curves(
    items: Sequence[Curve],
    *,
    xlabel: str,
    ylabel: str,
    reference: tuple[float, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot means with shaded ranges, and a reference to read them against.

    Parameters
    ----------
    items : sequence of Curve
        What is drawn.
    xlabel, ylabel : str
        Labels of the axes.
    reference : (float, str), optional
        Height of a thin horizontal line and what it means, such as chance.
    ax : matplotlib Axes, optional
        Where to draw; by default the only one of a new figure, which pyplot does not know.

    Returns
    -------
    matplotlib Axes
        The plot; the vertical axis starts at zero.

    Examples
    --------
    >>> from svdecode.report import Curve, curves
    >>> ax = curves([Curve("SVD", [1, 2], [0.5, 0.7])], xlabel="components", ylabel="accuracy")
    >>> ax.get_xlabel()
    'components'
    """
    ax = new_axes(6.6, 3.8) if ax is None else ax
    for item in items:
        look = dict(item.look or {})
        if item.low is not None and item.high is not None:
            ax.fill_between(item.x, item.low, item.high, color=look.get("color"), alpha=0.16, linewidth=0)
        ax.plot(item.x, item.mean, label=item.label, markersize=5, **look)
    if reference is not None:
        height, meaning = reference
        ax.axhline(height, color="#777777", linewidth=0.9, zorder=1)
        ax.annotate(
            meaning, (1, height), xycoords=("axes fraction", "data"), xytext=(0, 3),
            textcoords="offset points", ha="right", va="bottom", color="#555555", fontsize="small",
        )  # fmt: skip
    ax.set(xlabel=xlabel, ylabel=ylabel, ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    plain_frame(ax)
    wide = ax.figure.bbox.width / ax.figure.dpi > 5  # inches
    ax.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False, fontsize="small",
        ncols=2 if wide or len(items) < 3 else 1,
    )  # fmt: skip
    return ax
