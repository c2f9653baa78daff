"""What the demo measures, and that its page says no more than what was measured."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from svdecode.datasets import load_haxby2001_slice
from svdecode.report.demo import analysis
from svdecode.report.demo.analysis import MAIN, SINGLE, UNSCALED, comparable, n_steps, run_demo, split
from svdecode.report.demo.found import HALVES, METHODS, Found, percent, points, text
from svdecode.report.demo.page import data_hash, demo_page

DATA = load_haxby2001_slice()


@pytest.fixture(scope="module")
def demo():
    """The demo as users get it; takes a few seconds."""
    return run_demo(DATA)


@pytest.fixture(scope="module")
def found(demo):
    return Found(demo)


@pytest.fixture(scope="module")
def html(demo):
    return demo_page(demo).html()


def small(classes=None):
    """Six runs, for a quick demo; the labels may be given new names."""
    data = DATA.select(DATA.runs <= 6)
    if classes is not None:
        _, numbers = np.unique(data.y, return_inverse=True)
        data = replace(data, y=np.array(classes)[numbers])
    return data


def naive_widths(training, new, groups):
    """Section 2 of the paper, literally: standard deviations by SVD and GenSVD, and of new samples."""
    U, s, _ = np.linalg.svd(training.T, full_matrices=False)
    U = U[:, s > 1e-9 * s[0]]
    Z = np.zeros_like(training @ U)
    for group in np.unique(groups):
        others = training[groups != group]
        Z[groups == group] = training[groups == group] @ np.linalg.pinv(others) @ others @ U
    return [np.sqrt((A**2).mean(axis=0)) for A in (training @ U, Z, new @ U)]


@pytest.mark.parametrize("scale", [False, True])
def test_a_split_is_the_papers_procedure_on_voxels(scale):
    X = DATA.X.copy()
    for run in np.unique(DATA.runs):
        X[DATA.runs == run] -= X[DATA.runs == run].mean(axis=0)
        if scale:
            X[DATA.runs == run] /= X[DATA.runs == run].std(axis=0)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    training = DATA.runs <= 4
    plain, corrected, new = naive_widths(X[training], X[~training], DATA.runs[training])
    one = split(comparable(DATA, scale=scale), DATA, (1, 2, 3, 4))
    np.testing.assert_allclose(one.widths["SVD"], plain, rtol=1e-8)
    np.testing.assert_allclose(one.widths["GenSVD"], corrected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.widths["new"], new, rtol=1e-6)
    expected = np.sqrt(((plain - new) ** 2).mean()) / np.sqrt((new**2).mean())
    assert one.distance("SVD") == pytest.approx(expected)
    assert one.overall("SVD") == pytest.approx(np.linalg.norm(plain) / np.linalg.norm(new))


def test_no_run_is_on_both_sides():
    one = split(comparable(DATA, scale=True), DATA, (2, 5, 7, 11))
    assert len(one.plain) == 32
    assert set(one.new_runs) == set(range(1, 13)) - {2, 5, 7, 11}
    assert len(one.new) == len(one.y_new) == 64


def test_a_run_is_made_comparable_by_itself():
    """Other runs' values do not reach a run: inner products within it change by the one common scale only."""
    changed = DATA.X.copy()
    changed[DATA.runs == 12] **= 2
    run = DATA.runs == 3
    before, after = (
        comparable(replace(DATA, X=X), scale=True)[run] @ comparable(replace(DATA, X=X), scale=True)[run].T
        for X in (DATA.X, changed)
    )
    np.testing.assert_allclose(before / before[0, 0], after / after[0, 0], atol=1e-9)


def test_all_choices_of_four_runs_are_measured(demo, found):
    assert len(found.values("distance", "SVD")) == 495
    assert found.values("distance", "SVD").index.is_unique
    assert demo.example.training_runs == (1, 2, 3, 4)
    assert found.sizes() == list(range(2, 12))
    assert found.component_numbers() == [2, 5, 10, 20, 28]


def test_what_the_page_says_of_the_widths_is_so(found):
    """Prose cannot be recomputed; these are the statements in it."""
    closer, of = found.closer()
    assert closer == of == 495
    by_runs = [found.mean("overall width", "SVD", runs=n) for n in found.sizes()]
    assert by_runs == sorted(by_runs, reverse=True)  # the fewer runs, the larger the error
    corrected = [found.mean("overall width", "GenSVD", runs=n) for n in found.sizes()]
    assert abs(np.array(corrected[2:]) - 1).max() < 0.1  # near one
    assert corrected[0] < 0.9  # corrects too much with very few runs
    assert found.mean("distance", HALVES) < found.mean("distance", "GenSVD") < found.mean("distance", "SVD")


def test_what_the_page_says_of_the_setups_is_so(found):
    assert found.closer(setup=SINGLE)[0] == 0  # nothing is corrected at all
    single = [found.values("distance", method, setup=SINGLE) for method in METHODS]
    np.testing.assert_allclose(*single, atol=1e-9)
    assert found.mean("distance", "SVD", setup=UNSCALED) < found.mean("distance", "SVD", setup=MAIN)
    gain = {
        setup: found.mean("distance", "SVD", setup=setup) - found.mean("distance", "GenSVD", setup=setup)
        for setup in (MAIN, UNSCALED)
    }
    assert gain[UNSCALED] < gain[MAIN]  # there is less to correct


def test_what_the_page_says_of_the_classifiers_is_so(found, html):
    gains = found.gains()
    assert len(gains) == 10
    assert max(gains.values()) > 0 > min(gains.values())
    assert found.verdict() == "on the whole it does not"
    assert html.count(found.verdict()) == 2
    assert points(max(gains.values())) in html
    assert points(min(gains.values())) in html


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ([0.0, 0.005], "on the whole it does not"),
        ([0.02, -0.005], "it does"),
        ([0.005, -0.02], "it gets worse"),
        ([0.02, -0.02], "on the whole it does not"),
    ],
)
def test_the_verdict_follows_the_numbers(found, monkeypatch, gains, verdict):
    monkeypatch.setattr(found, "gains", lambda: dict(enumerate(gains)))
    assert found.verdict() == verdict


def test_accuracies_are_those_of_the_classifiers(found):
    """Nearest class mean, counted by hand, for one choice, method and number of components."""
    one = split(comparable(DATA, scale=True), DATA, (1, 2, 3, 4))
    Z, new = one.corrected[:, :5], one.new[:, :5]
    right = 0
    for sample, label in zip(new, one.y_new, strict=True):
        distance = {c: np.sum((sample - Z[one.y_training == c].mean(axis=0)) ** 2) for c in DATA.classes}
        right += min(distance, key=distance.get) == label
    measured = found.values("accuracy, nearest mean", "GenSVD", components=5)["1 2 3 4"]
    assert measured == pytest.approx(right / 64)
    assert found.mean("accuracy, linear SVM", "SVD", components=28) > 0.5  # chance is 0.125


def test_the_table_holds_the_curves_that_are_drawn(demo):
    rows = demo.rows[demo.rows.measure == "standard deviation"]
    for method, widths in demo.example.widths.items():
        mine = rows[rows.method == method]
        assert mine.component.tolist() == list(range(1, 29))
        np.testing.assert_array_equal(mine.value, widths)


def test_the_page_is_small_whole_and_numbered(html):
    assert len(html.encode()) < 5e6
    root = ElementTree.fromstring(html)
    assert len(list(root.iter("img"))) == len(list(root.iter("source"))) == 5
    assert all(len(image.get("alt")) > 40 for image in root.iter("img"))
    sources = [image.get("src") for image in root.iter("img")]
    assert all(source.startswith("data:") for source in sources)
    assert len(set(sources)) == 5
    assert DATA.description.split()[0] in html
    assert "CC BY-SA 3.0" in html  # the terms of the data travel with what is made of them


def test_the_page_shows_the_measured_numbers(found, html):
    for method in METHODS:
        assert f"<strong>{found.mean('overall width', method):.2f}</strong>" in html
        assert f"<td>{percent(found.mean('distance', method))}</td>" in html
    assert "<strong>495 of 495</strong>" in html
    assert not re.search(r"\bnan\b|\bNone\b", re.sub(r"data:[^\"]*", "", html))


def test_the_same_data_give_the_same_page():
    first, second = (demo_page(run_demo(small())).html() for _ in range(2))
    assert first == second


def test_names_from_the_data_stay_text():
    names = ["<script>alert(1)</script>", "$\\frac$", "_c", "&amp;", "e", "f", "g", "h"]
    html = demo_page(run_demo(small(names))).html()
    assert "<script" not in html
    text = "".join(ElementTree.fromstring(html).itertext())
    assert "<script>alert(1)</script>" in text
    assert "&amp;" in text


def test_progress_is_told_as_often_as_announced():
    calls = []
    run_demo(small(), lambda: calls.append(1))
    assert len(calls) == n_steps(small())


def test_data_without_runs_or_with_few_of_them():
    with pytest.raises(ValueError, match="runs: found None, expected the run of each sample"):
        run_demo(replace(DATA, runs=None))
    with pytest.raises(ValueError, match="runs: found 5, expected at least 6"):
        run_demo(DATA.select(DATA.runs <= 5))


def test_the_hash_is_of_values_labels_and_runs():
    other_y = replace(DATA, y=DATA.y[::-1])
    other_X = replace(DATA, X=DATA.X + 1)
    hashes = {data_hash(data) for data in (DATA, other_X, other_y, replace(DATA, runs=DATA.runs + 1))}
    assert len(hashes) == 4
    assert data_hash(DATA) == data_hash(replace(DATA, X=np.asfortranarray(DATA.X)))


def test_choices_are_spread_evenly():
    items = [(number,) for number in range(100)]
    chosen = analysis._spread(items, 5)
    assert chosen == [(0,), (25,), (50,), (74,), (99,)]
    assert analysis._spread(items[:3], 5) == items[:3]


def test_words_keep_the_spaces_that_do_not_break():
    assert text("  a\n   b 3\N{NO-BREAK SPACE}%\n") == "a b 3\N{NO-BREAK SPACE}%"
    assert points(-0.0123) == "\N{MINUS SIGN}1.2"
