"""The page in a real browser: nothing on the console, no request, and what can be moved moves."""

from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest
from decoding.studies import HOSTILE, write_study
from report.chromium import COMMAND, MISSING, Chromium

from svdecode import decode
from svdecode.imaging import read_dataset

pytestmark = pytest.mark.skipif(COMMAND is None, reason=MISSING)

PANELS = "[...document.querySelectorAll('section[role=tabpanel]')]"
SHOWN = f"{PANELS}.filter(s => s.offsetParent !== null).map(s => s.id)"
TABS = "[...document.querySelectorAll('[role=tab]')]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page whose every name from the data is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    classes = (HOSTILE, "</style><b>bold", "a & b < c $\\frac{")
    write_study(folder, classes=classes)
    table = pd.read_csv(folder / "labels.tsv", sep="\t")
    table["run"] = [f"</script>{run}<img src=x onerror=alert(1)>" for run in table["run"]]
    data = read_dataset(
        nibabel.load(folder / "bold.nii.gz"),
        labels=table,
        mask=nibabel.load(folder / "mask.nii.gz"),
        name=HOSTILE,
    )
    result = decode(data, components=[2, 3], n_permutations=9, progress=False)
    result.report().save(folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture
def opened(browser, page):
    browser.resize(1200, 900)
    browser.open(page)
    return browser


def visible_part(browser):
    return browser.run(SHOWN)


def test_nothing_is_complained_of_and_nothing_asked_for(opened, page):
    for name in opened.run(f"{TABS}.map(t => t.id)"):
        opened.run(f"document.getElementById('{name}').click()")
    assert opened.complaints() == []
    assert opened.requests() == [f"file://{page}"]


def test_a_script_that_is_not_the_pages_own_would_be_refused(opened, tmp_path, page):
    spoiled = tmp_path / "spoiled.html"
    injected = "<script>document.title = 'taken'</script></main>"
    spoiled.write_text(Path(page).read_text(encoding="utf-8").replace("</main>", injected), encoding="utf-8")
    opened.open(spoiled)
    assert opened.run("document.title") != "taken"
    assert any("Content Security Policy" in text for text in opened.complaints())


def test_hostile_names_stay_text(opened):
    assert opened.run("document.title") == f"Decoding {HOSTILE}"
    assert opened.run("document.querySelectorAll('script').length") == 1
    assert opened.run("document.querySelectorAll('main b').length") == opened.run(
        "document.querySelectorAll('figcaption > b').length"
    )
    assert opened.run("document.querySelectorAll('[onerror], [onload]').length") == 0
    assert HOSTILE in opened.run("document.querySelector('.lead').textContent")


def test_every_picture_is_there_and_described(opened):
    for number in range(1, 1 + opened.run("document.querySelectorAll('[role=tab]').length")):
        opened.run(f"document.getElementById('tab-{number}').click()")
        sizes = opened.run(
            "[...document.images].filter(i => i.offsetParent !== null)"
            ".map(i => [i.complete, i.naturalWidth, i.alt.length])"
        )
        assert all(complete and width > 0 and alt > 3 for complete, width, alt in sizes)
    assert opened.run("document.querySelectorAll('figure picture img').length") >= 5


def test_tabs_show_one_part_at_a_time(opened):
    assert visible_part(opened) == ["part-1"]
    opened.run("document.getElementById('tab-3').click()")
    assert visible_part(opened) == ["part-3"]
    assert opened.run("document.querySelector('[aria-selected=true]').id") == "tab-3"
    opened.run(
        "document.getElementById('tab-3').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))"
    )
    assert visible_part(opened) == ["part-4"]
    assert opened.run("document.activeElement.id") == "tab-4"


def test_an_address_leads_to_its_part(opened, page):
    opened.open(f"{page}#part-2")
    assert visible_part(opened) == ["part-2"]


def test_the_slice_browser_moves(opened):
    opened.run(f"{TABS}.find(t => t.textContent === 'Maps').click()")
    slider = "document.querySelector('.browser input')"
    n_slices = opened.run(f"Number({slider}.max)") + 1
    assert n_slices == 4
    seen = set()
    for number in range(n_slices):
        opened.run(f"{slider}.value = {number}; {slider}.dispatchEvent(new Event('input'))")
        place = opened.run("(v => v.style.left + v.style.top)(document.querySelector('.browser .view'))")
        seen.add((place, opened.run("document.querySelector('.browser output').textContent")))
    assert len({place for place, _ in seen}) == len({name for _, name in seen}) == n_slices
    select = "document.querySelector('.browser select')"
    before = opened.run("document.querySelector('.browser .view').src")
    opened.run(
        f"{select}.selectedIndex = {select}.options.length - 1; {select}.dispatchEvent(new Event('change'))"
    )
    assert opened.run("document.querySelector('.browser .view').src") != before
    assert "component" in opened.run("document.querySelector('.browser .view').alt")


def test_a_slice_shows_the_map_at_its_place(opened):
    """The pixels on the screen are the slice that its name says: drawn once more by hand."""
    opened.run(f"{TABS}.find(t => t.textContent === 'Maps').click()")
    slider = "document.querySelector('.browser input')"
    opened.run(f"{slider}.value = 2; {slider}.dispatchEvent(new Event('input'))")
    drawn = opened.run(
        """(async () => {
          const view = document.querySelector('.browser .view');
          const stage = view.parentNode.getBoundingClientRect();
          await view.decode();
          const all = view.getBoundingClientRect();
          const scale = view.naturalWidth / all.width;
          const place = [stage.x - all.x, stage.y - all.y, stage.width, stage.height];
          return place.map(length => length * scale);
        })()"""
    )
    width, height = 4, 3  # of the mask's box
    np.testing.assert_allclose(drawn[2:], [width, height], atol=0.05)
    column, row = drawn[0] / width, drawn[1] / height
    columns = opened.run("Number(document.querySelector('.browser').dataset.columns)")
    np.testing.assert_allclose(row * columns + column, 2, atol=0.05)


def test_it_fits_a_phone(opened):
    opened.resize(390, 800)
    for number in range(1, 1 + opened.run("document.querySelectorAll('[role=tab]').length")):
        opened.run(f"document.getElementById('tab-{number}').click()")
        assert opened.run("document.documentElement.scrollWidth") <= 390


def test_paper_has_every_part(opened):
    opened.ask("Emulation.setEmulatedMedia", media="print")
    try:
        parts = opened.run(f"{PANELS}.map(s => getComputedStyle(s).display)")
        assert len(parts) > 3
        assert set(parts) == {"block"}
        assert opened.run("getComputedStyle(document.querySelector('.tabs')).display") == "none"
    finally:
        opened.ask("Emulation.setEmulatedMedia", media="")
    assert opened.paper().startswith(b"%PDF")


def test_without_scripts_every_part_is_shown(browser, page):
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        hidden = browser.run(
            "[...document.querySelectorAll('main > section')].filter(s => s.offsetParent === null).length"
        )
        assert hidden == 0
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
