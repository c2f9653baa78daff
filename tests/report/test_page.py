"""A page is one well-formed file that loads nothing, describes its pictures, and shows data as text."""

import base64
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from svdecode.report import Highlights, Page, Paragraph, Picture, Section, Table, scree, versions

HOSTILE = "<script>alert(1)</script>\"' onload='x' & $x$"


def make_page(text="text"):
    def figure():
        return scree([2.0, 1.0], [1.0, 0.5]).figure

    return Page(
        title=f"title {text}",
        lead=f"lead {text}",
        highlights=Highlights([(f"value {text}", f"meaning {text}")]),
        sections=[
            Section(
                f"heading {text}",
                [
                    Paragraph(f"paragraph {text}"),
                    Picture(figure(), f"caption {text}", f"alt {text}", narrow=figure()),
                    Table([f"column {text}", "b"], [[f"cell {text}", "1"], ["2", "3"]], f"table {text}"),
                    Highlights([("1", f"more {text}")]),
                ],
            ),
            Section("second", [Picture(figure(), "caption", "alt", form="png"), Table(["a"], [["1"]], "t")]),
        ],
        methods=[f"methods {text}"],
        provenance={f"key {text}": f"origin {text}"},
    )


def parse(html):
    assert html.startswith("<!DOCTYPE html>")
    return ElementTree.fromstring(html)


class Balance(HTMLParser):
    """Tags as a browser reads them."""

    VOID = frozenset({"meta", "img", "source", "br", "hr", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.trouble = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if tag not in self.VOID:
            self.trouble.append(f"<{tag}/> stays open in HTML")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.trouble.append(f"</{tag}>")


def assert_self_contained(html):
    for element in parse(html).iter():
        assert element.tag not in {"script", "link", "iframe", "object", "embed", "base"}
        for name in ("src", "srcset", "href", "data", "poster"):
            assert element.get(name, "data:").startswith("data:"), (element.tag, name)
        assert not [name for name in element.keys() if name.startswith("on")]  # noqa: SIM118
    style = "".join(element.text or "" for element in parse(html).iter("style"))
    assert not re.search(r"url\(|@import", style)


def test_it_is_well_formed_as_xml_and_as_html():
    html = make_page().html()
    parse(html)
    balance = Balance()
    balance.feed(html)
    assert not balance.trouble
    assert not balance.open


def test_it_has_a_language_a_title_and_a_width():
    root = parse(make_page().html())
    assert root.get("lang") == "en"
    assert root.findtext("head/title") == root.findtext(".//h1") == "title text"
    assert any(meta.get("name") == "viewport" for meta in root.iter("meta"))


def test_it_loads_nothing():
    assert_self_contained(make_page().html())
    policy = [m.get("content") for m in parse(make_page().html()).iter("meta") if "http-equiv" in m.attrib]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_what_would_load_something_is_seen():
    for bad in ('<img src="http://x/y.png"/>', "<script/>", '<p onload="x"/>', "<style>a{b:url(c)}</style>"):
        with pytest.raises(AssertionError):
            assert_self_contained(f"<!DOCTYPE html><html>{bad}</html>")


def test_every_picture_is_described():
    images = list(parse(make_page().html()).iter("img"))
    assert [image.get("alt") for image in images] == ["alt text", "alt"]
    with pytest.raises(ValueError, match="alt: found no text"):
        Picture(scree([1.0], [1.0]).figure, "caption", " ")


def test_pictures_are_whole():
    page = make_page()
    svg, png = page.sections[0].blocks[1], page.sections[1].blocks[0]
    ElementTree.fromstring(base64.b64decode(svg.source.partition(",")[2]))
    assert base64.b64decode(png.source.partition(",")[2]).startswith(b"\x89PNG")
    root = parse(page.html())
    (narrow,) = root.iter("source")
    assert narrow.get("srcset") == svg.narrow_source
    assert [image.get("src") for image in root.iter("img")] == [svg.source, png.source]


def test_pictures_and_tables_are_numbered_through():
    labels = [bold.text for bold in parse(make_page().html()).iter("b")]
    assert labels == ["Figure 1.", "Table 1.", "Figure 2.", "Table 2."]


def test_table_cells_come_in_order():
    table = next(iter(parse(make_page().html()).iter("table")))
    assert [[cell.text for cell in row] for row in table.iter("tr")] == [
        ["column text", "b"],
        ["cell text", "1"],
        ["2", "3"],
    ]
    with pytest.raises(ValueError, match="rows: found one of 1 cells, expected 2"):
        Table(["a", "b"], [["1"]], "caption")


def test_what_comes_from_the_data_stays_text():
    html = make_page(HOSTILE).html()
    assert_self_contained(html)
    assert "<script" not in html
    root = parse(html)
    shown = [element.text for element in root.iter() if element.text and HOSTILE in element.text]
    tails = [element.tail or "" for element in root.iter()]
    shown += [tail.strip() for tail in tails if HOSTILE in tail]
    shown += [image.get("alt") for image in root.iter("img") if HOSTILE in image.get("alt")]
    words = {text.split(" ", 1)[0] for text in shown}
    everywhere = (
        "title lead value meaning heading paragraph caption alt column cell table more methods key origin"
    )
    assert words == set(everywhere.split())


def test_the_same_page_gives_the_same_bytes():
    assert make_page().html() == make_page().html()


def test_a_page_of_little():
    root = parse(Page("title", "lead", sections=[]).html())
    assert [heading.text for heading in root.iter("h2")] == []


def test_versions_name_the_package():
    assert {"svdecode", "Python", "numpy", "scikit-learn"} <= set(versions())
