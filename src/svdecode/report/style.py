"""What figures look like on a page, whatever the user's own matplotlib settings are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Okabe and Ito's palette, told apart with every kind of color vision; its yellow is too pale on white
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255")
GLYPHS = ("o", "s", "^", "D", "v", "P", "X", "p")
#: one color for each kind of coordinates, the same in every figure
SVD, GENSVD, NEW = "#D55E00", "#0072B2", "#222222"

SETTINGS: Any = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that the picture is the same everywhere
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#222222",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "svg.fonttype": "path",  # no font has to be on the reader's machine
    "svg.hashsalt": "svdecode",  # ids that do not change from run to run
}


@contextmanager
def page_style() -> Iterator[None]:
    """Draw with the page's settings, and put the user's back.

    Yields
    ------
    None
        Figures made and saved inside look the same on every machine.

    Examples
    --------
    >>> import matplotlib
    >>> from svdecode.report.style import page_style
    >>> with page_style():
    ...     matplotlib.rcParams["font.size"]
    11.0
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def class_look(number: int) -> dict[str, Any]:
    """Color and glyph of the class of this number; both change, so that neither is needed alone.

    Parameters
    ----------
    number : int
        Place of the class in the order in which the classes are drawn.

    Returns
    -------
    dict
        `color` and `marker`; 64 classes have a look of their own.

    Examples
    --------
    >>> from svdecode.report.style import class_look
    >>> class_look(0)
    {'color': '#0072B2', 'marker': 'o'}
    >>> class_look(0) == class_look(8)
    False
    """
    turn = number // len(PALETTE)
    return {"color": PALETTE[number % len(PALETTE)], "marker": GLYPHS[(number + turn) % len(GLYPHS)]}


def plain_frame(ax: Axes) -> None:
    """Leave out the two lines that carry no scale.

    Parameters
    ----------
    ax : matplotlib Axes
        What is changed.

    Examples
    --------
    >>> from svdecode.report.style import new_axes, plain_frame
    >>> ax = new_axes(4, 3)
    >>> plain_frame(ax)
    >>> ax.spines["top"].get_visible()
    False
    """
    ax.spines[["top", "right"]].set_visible(False)


def new_axes(width: float, height: float) -> Axes:
    """Only Axes of a new figure that pyplot does not know.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib Axes
        Its `figure` is the figure.

    Examples
    --------
    >>> from svdecode.report.style import new_axes
    >>> new_axes(4, 3).figure.get_size_inches().tolist()
    [4.0, 3.0]
    """
    return Figure(figsize=(width, height), layout="constrained").subplots()


def render(figure: Figure, form: str = "svg") -> bytes:
    """Picture of a figure as bytes that depend on nothing but the figure.

    Parameters
    ----------
    figure : matplotlib Figure
        What is drawn.
    form : {"svg", "png"}, default "svg"
        SVG for lines and glyphs; PNG for images of many pixels.

    Returns
    -------
    bytes
        A file's content.

    Examples
    --------
    >>> from svdecode.report.style import new_axes, render
    >>> render(new_axes(4, 3).figure)[:5]
    b'<?xml'
    """
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with page_style():
        figure.savefig(buffer, format=form, dpi=160, metadata=metadata)
    return buffer.getvalue()
