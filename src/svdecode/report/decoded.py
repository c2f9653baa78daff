"""Figures of a decoding: confusions, splits, the latent space, maps on slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from svdecode._checks import FloatArray
from svdecode.report.figures import Values
from svdecode.report.style import class_look, new_axes, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: of a light blue scale that is read in gray too
BLUES = "Blues"


def confusion_matrix(counts: Any, classes: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw how often each class was taken for each.

    Parameters
    ----------
    counts : array of int of shape (k, k)
        A row a true class, a column a predicted one.
    classes : sequence
        Their names.
    ax : matplotlib Axes, optional
        Where to draw; by default the only one of a new figure, which pyplot does not know.

    Returns
    -------
    matplotlib Axes
        Shares of each true class in color and counts in digits.

    Examples
    --------
    >>> from svdecode.report.decoded import confusion_matrix
    >>> confusion_matrix([[3, 1], [0, 4]], ["face", "house"]).get_xlabel()
    'predicted'
    """
    counts = np.asarray(counts)
    k = len(counts)
    ax = new_axes(1.9 + 0.48 * k, 1.5 + 0.48 * k) if ax is None else ax
    totals = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shares = counts / totals
    ax.imshow(shares, cmap=BLUES, vmin=0, vmax=1)
    size = 10 if k <= 10 else 6
    if k <= 20:
        for i, j in np.argwhere(counts > 0):
            color = "white" if shares[i, j] > 0.55 else "#222222"
            ax.text(j, i, str(counts[i, j]), ha="center", va="center", color=color, fontsize=size)
    names = [plain(label) for label in classes]
    ax.set_xticks(range(k), names, rotation=45, ha="right", rotation_mode="anchor", fontsize=size)
    ax.set_yticks(range(k), names, fontsize=size)
    ax.set(xlabel="predicted", ylabel="true")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def by_unit(
    accuracies: Mapping[str, Values],
    names: Sequence[str],
    *,
    chance: float | None = None,
    narrow: bool = False,
) -> Figure:
    """Draw the accuracy of each split (or subject), of several methods.

    Parameters
    ----------
    accuracies : dict of str to array of shape (n,)
        By method.
    names : sequence of str
        Of the splits.
    chance : float, optional
        A line to read them against.
    narrow : bool, default False
        For a narrow screen.

    Returns
    -------
    matplotlib Figure
        A row a split, a glyph a method.

    Examples
    --------
    >>> from svdecode.report.decoded import by_unit
    >>> figure = by_unit({"SVDM": [0.5, 0.7]}, ["run 1", "run 2"], chance=0.25)
    >>> figure.axes[0].get_xlabel()
    'accuracy'
    """
    n = len(names)
    height = 1.2 + 0.21 * n
    figure = Figure(figsize=(4.2 if narrow else 7.4, min(height, 11)), layout="constrained")
    ax = figure.subplots()
    offsets = np.linspace(-0.2, 0.2, len(accuracies)) if len(accuracies) > 1 else [0.0]
    for number, ((method, values), offset) in enumerate(zip(accuracies.items(), offsets, strict=True)):
        look = class_look(number)
        ax.plot(
            values, np.arange(n) + offset, linestyle="none", markersize=5, label=plain(method),
            clip_on=False, zorder=3, **look,
        )  # fmt: skip
    if chance is not None:
        ax.axvline(chance, color="#777777", linewidth=0.9, linestyle=":", label="chance", zorder=1)
    ax.set_yticks(range(n), [plain(name) for name in names], fontsize="small" if n < 40 else 5)
    ax.set(xlabel="accuracy", xlim=(0, 1), ylim=(n - 0.4, -0.6))
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.grid(axis="y", color="#eeeeee", zorder=0)
    ax.tick_params(axis="y", length=0)
    plain_frame(ax)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2 if narrow else 4, frameon=False, fontsize="small",
    )  # fmt: skip
    return figure


def latent_space(Z: FloatArray, y: Any, share: Values, *, narrow: bool = False, most: int = 8) -> Figure:
    """Draw where samples and classes lie: on two components, and the classes' means on all.

    Parameters
    ----------
    Z : array of shape (n, l)
        Coordinates of the samples, the components that tell classes apart first.
    y : array of shape (n,)
        Their classes.
    share : array of shape (l,)
        Share of each coordinate's variance that lies between classes.
    narrow : bool, default False
        Panels below each other, for a narrow screen.
    most : int, default 8
        Components that are shown in the second panel.

    Returns
    -------
    matplotlib Figure
        Samples with their classes' means (large); means in standard deviations of each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.report.decoded import latent_space
    >>> figure = latent_space(np.eye(4)[:, :2], np.array(["a", "a", "b", "b"]), [0.5, 0.5])
    >>> figure.axes[0].get_xlabel()
    'component 1'
    """
    classes = np.unique(y)
    size = (4.2, 7.6) if narrow else (7.8, 4.3)
    figure = Figure(figsize=size, layout="constrained")
    left, right = figure.subplots(2 if narrow else 1, 1 if narrow else 2, squeeze=False).ravel()
    second = Z[:, 1] if Z.shape[1] > 1 else np.zeros(len(Z))
    for number, label in enumerate(classes):
        own, look = y == label, class_look(number)
        left.plot(Z[own, 0], second[own], linestyle="none", markersize=4, alpha=0.45, **look)
        left.plot(
            Z[own, 0].mean(), second[own].mean(), linestyle="none", markersize=10, label=plain(label),
            markeredgecolor="white", **look,
        )  # fmt: skip
    left.axhline(0, color="#dddddd", linewidth=0.8, zorder=0)
    left.axvline(0, color="#dddddd", linewidth=0.8, zorder=0)
    left.set(xlabel="component 1", ylabel="component 2" if Z.shape[1] > 1 else "")
    plain_frame(left)
    _means(right, Z[:, :most], y, share)
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside lower center", ncols=2 if narrow else 4,
        frameon=False, fontsize="small",
    )  # fmt: skip
    return figure


def _means(ax: Axes, Z: FloatArray, y: Any, share: Values) -> None:
    """Class means, a row a class, a column a component."""
    classes = np.unique(y)
    spread = Z.std(axis=0)
    means = np.array([Z[y == label].mean(axis=0) - Z.mean(axis=0) for label in classes])
    means = means / np.where(spread > 0, spread, 1.0)
    limit = max(float(np.abs(means).max()), 1e-12)
    picture = ax.imshow(means, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
    ax.set_yticks(range(len(classes)), [plain(label) for label in classes], fontsize="small")
    ticks = [f"{i + 1}\n{100 * s:.0f}" for i, s in enumerate(np.asarray(share)[: Z.shape[1]])]
    ax.set_xticks(range(Z.shape[1]), ticks, fontsize="small")
    ax.set(xlabel="component; % of variance between classes")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(picture, ax=ax, shrink=0.8)
    bar.set_label("mean, in standard deviations", fontsize="small")
    bar.outline.set_visible(False)


def slice_sheet(
    rows: Sequence[tuple[str, Any]], names: Sequence[str], aspect: float = 1.0, *, narrow: bool = False
) -> Figure:
    """Draw slices of several maps, a row a map, as in Pereira & Gordon's Figure 3.

    Parameters
    ----------
    rows : sequence of (str, array of shape (n_slices, height, width, 3))
        Title and slices of each map.
    names : sequence of str
        Of the slices.
    aspect : float, default 1
        Height of a voxel over its width.
    narrow : bool, default False
        For a narrow screen.

    Returns
    -------
    matplotlib Figure
        The slices, the highest last.

    Examples
    --------
    >>> import numpy as np
    >>> from svdecode.report.decoded import slice_sheet
    >>> figure = slice_sheet([("SVDM", np.zeros((2, 5, 4, 3), dtype=np.uint8))], ["z = 0 mm", "z = 2 mm"])
    >>> len(figure.axes)
    2
    """
    n = len(names)
    slices = rows[0][1]
    shape = slices.shape[1] * aspect / slices.shape[2]
    width = 4.2 if narrow else 7.6
    cell = min(width / n, 4.2)
    figure = Figure(figsize=(width, len(rows) * (cell * shape + 0.3) + 0.25), layout="constrained")
    axes = figure.subplots(len(rows), n, squeeze=False)
    for (title, pictures), line in zip(rows, axes, strict=True):
        for picture, name, ax in zip(pictures, names, line, strict=True):
            ax.imshow(picture, aspect=aspect, interpolation="nearest")
            ax.set_axis_off()
            if title == rows[-1][0]:
                ax.text(0.5, -0.02, name, transform=ax.transAxes, ha="center", va="top", fontsize=8)
        line[0].set_title(plain(title), loc="left", fontsize=10)
    return figure


def plain(text: Any) -> str:
    """Text that matplotlib shows as it is: no mathematics between dollars, and not too long."""
    words = str(text).replace("$", r"\$")
    return words if len(words) <= 24 else words[:23] + "…"
