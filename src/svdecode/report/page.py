"""One page that carries everything with it: text, pictures, tables, and what made them."""

from __future__ import annotations

import base64
import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

import svdecode
from svdecode.report.blocks import NARROW, Excerpt, Heading, Highlights, Notes, Paragraph, Picture, Table
from svdecode.report.slices import SliceBrowser

Block = Paragraph | Picture | Table | Highlights | Heading | Notes | Excerpt | SliceBrowser


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it.

    Attributes
    ----------
    title : str
        The heading.
    blocks : sequence of blocks
        Paragraph, Picture, Table, Highlights, Heading, Notes, Excerpt or SliceBrowser, in the order in which
        they are shown.

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
    """A report in one HTML file: no network, readable on a phone and on paper.

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
    tabs : bool, default False
        Show one section at a time, where scripts run; on paper and without scripts all are shown. Without
        tabs and slice browsers the page has no script.

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
    tabs: bool = False

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
        script = _script() if self.tabs or self._has_browser else ""
        return (
            template.render(
                page=self,
                narrow=NARROW,
                generator=f"svdecode {svdecode.__version__}",
                policy=_policy(script),
                script=script,
            )
            + "\n"
        )

    @property
    def _has_browser(self) -> bool:
        return any(block.kind == "browser" for section in self.sections for block in section.blocks)


def _script() -> str:
    """The page's script: free of "<" and "&", so that the page is XML too."""
    return (files("svdecode.report") / "templates" / "page.js").read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """What a browser may do: nothing but show the page, and run this one script."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    if not script:
        return policy
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"{policy}; script-src 'sha256-{digest}'"


LIBRARIES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """Versions of what computed and drew, for a page's provenance.

    Parameters
    ----------
    libraries : sequence of str
        Which, beside the package and Python.

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
    return {
        "svdecode": svdecode.__version__,
        "Python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }
