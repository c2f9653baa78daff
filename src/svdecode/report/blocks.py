"""What stands on a page: text, pictures, tables, numbers, warnings."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from matplotlib.figure import Figure

from svdecode.report.style import render

#: a picture drawn for a narrow screen takes the place of the wide one below this width
NARROW = "(max-width: 600px)"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of plain text.

    Attributes
    ----------
    text : str
        What it says. No markup: whatever stands here is shown as it is.

    Examples
    --------
    >>> from svdecode.report import Paragraph
    >>> Paragraph("a < b").text
    'a < b'
    """

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Picture:
    """A figure with its caption, and with words for who cannot see it.

    Attributes
    ----------
    figure : matplotlib Figure
        What is shown.
    caption : str
        What the reader is to see in it.
    alt : str
        What it shows, for a reader who cannot see it. Never empty.
    narrow : matplotlib Figure or None
        The same for a narrow screen, where the other's letters would be too small.
    form : {"svg", "png"}
        SVG for lines and glyphs; PNG for images of many pixels.

    Examples
    --------
    >>> from svdecode.report import Picture, scree
    >>> figure = scree([2.0, 1.0], [1.5, 0.5]).figure
    >>> picture = Picture(figure, caption="Widths.", alt="Two falling curves.")
    >>> picture.source[:26]
    'data:image/svg+xml;base64,'
    """

    figure: Figure
    caption: str
    alt: str
    narrow: Figure | None = None
    form: str = "svg"
    kind: ClassVar[str] = "picture"

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise ValueError("alt: found no text, expected words for a reader who cannot see the picture")

    @property
    def source(self) -> str:
        """The picture itself, as an address that needs no network."""
        return _data_uri(self.figure, self.form)

    @property
    def narrow_source(self) -> str | None:
        """The picture for a narrow screen, where there is one."""
        return None if self.narrow is None else _data_uri(self.narrow, self.form)


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a header.

    Attributes
    ----------
    columns : sequence of str
        The header.
    rows : sequence of sequence of str
        Cells, formatted already. The first of a row names it.
    caption : str
        What the table shows.
    prose : bool, default False
        Cells are sentences: they begin at the left and may take several lines.

    Examples
    --------
    >>> from svdecode.report import Table
    >>> Table(["method", "accuracy"], [["SVD", "42 %"]], caption="Accuracies.").rows
    [['SVD', '42 %']]
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    prose: bool = False
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"rows: found one of {len(row)} cells, expected {len(self.columns)}, one a column"
                )


@dataclass(frozen=True)
class Highlights:
    """A few numbers, large, each with what it means.

    Attributes
    ----------
    items : sequence of (str, str)
        The number, formatted already, and a few words.

    Examples
    --------
    >>> from svdecode.report import Highlights
    >>> Highlights([("495 of 495", "splits in which GenSVD is closer")]).items[0][0]
    '495 of 495'
    """

    items: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "highlights"


@dataclass(frozen=True)
class Heading:
    """A heading within a section.

    Attributes
    ----------
    text : str
        What it says.

    Examples
    --------
    >>> from svdecode.report import Heading
    >>> Heading("By run").text
    'By run'
    """

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Notes:
    """Sentences that nobody should overlook.

    Attributes
    ----------
    title : str
        What they are.
    items : sequence of str
        A sentence or two each.

    Examples
    --------
    >>> from svdecode.report import Notes
    >>> Notes("What a reviewer would ask", ["Few runs."]).items
    ['Few runs.']
    """

    title: str
    items: Sequence[str]
    kind: ClassVar[str] = "notes"


@dataclass(frozen=True)
class Excerpt:
    """A text to be taken elsewhere, with a button that copies it.

    Attributes
    ----------
    title : str
        What it is.
    text : str
        The text.

    Examples
    --------
    >>> from svdecode.report import Excerpt
    >>> Excerpt("Methods paragraph", "Samples were …").title
    'Methods paragraph'
    """

    title: str
    text: str
    kind: ClassVar[str] = "excerpt"


def _data_uri(figure: Figure, form: str) -> str:
    kind = {"svg": "image/svg+xml", "png": "image/png"}[form]
    return f"data:{kind};base64,{base64.b64encode(render(figure, form)).decode('ascii')}"
