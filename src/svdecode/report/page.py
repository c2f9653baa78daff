"""One page that carries everything with it: text, pictures, tables, and what made them."""

from __future__ import annotations

import base64
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import ClassVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

import svdecode
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

    Examples
    --------
    >>> from svdecode.report import Table
    >>> Table(["method", "accuracy"], [["SVD", "42 %"]], caption="Accuracies.").rows
    [['SVD', '42 %']]
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
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


Block = Paragraph | Picture | Table | Highlights


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it.

    Attributes
    ----------
    title : str
        The heading.
    blocks : sequence of Paragraph, Picture, Table or Highlights
        In the order in which they are shown.

    Examples
    --------
    >>> from svdecode.report import Paragraph, Section
    >>> Section("Data", [Paragraph("Twelve runs.")]).title
    'Data'
    """

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A report in one HTML file: no network, no script, readable on a phone and on paper.

    Attributes
    ----------
    title : str
        What the page is about.
    lead : str
        First paragraph; a newcomer understands it.
    sections : sequence of Section
        The rest, in order. Pictures and tables are numbered through.
    highlights : Highlights or None
        Numbers shown right below the lead.
    methods : sequence of str
        How it was done, a paragraph each.
    provenance : dict of str to str
        What made the page: versions, seed, hash of the data.

    See Also
    --------
    versions : What to say of the software in `provenance`.

    Examples
    --------
    >>> from svdecode.report import Page, Paragraph, Section
    >>> page = Page("A & B", lead="What follows.", sections=[Section("One", [Paragraph("<b>")])])
    >>> html = page.html()
    >>> "A &amp; B" in html, "&lt;b&gt;" in html
    (True, True)
    """

    title: str
    lead: str
    sections: Sequence[Section]
    highlights: Highlights | None = None
    methods: Sequence[str] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)

    def html(self) -> str:
        """Write the page out.

        Returns
        -------
        str
            A whole HTML document; well-formed XML too, so that programs can read it.
        """
        environment = Environment(
            loader=PackageLoader("svdecode.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        template = environment.get_template("page.html.jinja")
        return template.render(page=self, narrow=NARROW, generator=f"svdecode {svdecode.__version__}") + "\n"


def versions() -> dict[str, str]:
    """Versions of what computed and drew, for a page's provenance.

    Returns
    -------
    dict of str to str
        Name and version of the package, of Python and of the libraries that compute.

    Examples
    --------
    >>> from svdecode.report import versions
    >>> list(versions())
    ['svdecode', 'Python', 'numpy', 'scipy', 'scikit-learn', 'matplotlib']
    """
    libraries = ("numpy", "scipy", "scikit-learn", "matplotlib")
    return {
        "svdecode": svdecode.__version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }


def _data_uri(figure: Figure, form: str) -> str:
    kind = {"svg": "image/svg+xml", "png": "image/png"}[form]
    return f"data:{kind};base64,{base64.b64encode(render(figure, form)).decode('ascii')}"
