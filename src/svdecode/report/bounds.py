"""The bound by which a tensor decomposition chooses its number of projections, as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from svdecode.report.figures import Values
from svdecode.report.style import GENSVD, NEW, new_axes, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bound_plot(bound: Values, chosen: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot a bound over the number of projections.

    Parameters
    ----------
    bound : array of shape (rank,)
        Values at 1, 2, … projections.
    chosen : int, optional
        The number that was taken.
    ax : matplotlib Axes, optional
        Where to draw; by default the only one of a new figure, which pyplot does not know.

    Returns
    -------
    matplotlib Axes
        The plot (Figure 1 of Hardoon & Shawe-Taylor 2009).

    Examples
    --------
    >>> from svdecode.report.bounds import bound_plot
    >>> ax = bound_plot([1.4, 1.1, 1.2], chosen=2)
    >>> ax.get_legend().get_texts()[0].get_text()
    'lowest at 2'
    """
    ax = new_axes(6.6, 3.8) if ax is None else ax
    values = np.asarray(bound, dtype=np.float64)
    t = np.arange(1, len(values) + 1)
    ax.plot(t, values, color=GENSVD, marker="o" if len(values) < 30 else None, markersize=4.5)
    if np.isfinite(values).any():
        low = int(np.nanargmin(values))
        ax.plot(t[low], values[low], "o", color=NEW, markerfacecolor="white", label=f"lowest at {low + 1}")
    if chosen is not None:
        ax.axvline(chosen, color="#777777", linewidth=0.9, zorder=1, label=f"taken: {chosen}")
    ax.set(xlabel="number of projections", ylabel="bound")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    plain_frame(ax)
    ax.legend(frameon=False)
    return ax
