"""The embedded data: what is in them, what the loader does to them, and how well a linear SVM reads them."""

from importlib import resources

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from svdecode.datasets import load_haxby2001_slice
from svdecode.datasets.haxby import CATEGORIES


@pytest.fixture(scope="module")
def raw():
    return load_haxby2001_slice("volumes", detrend=False, rest=True)


@pytest.fixture(scope="module")
def volumes():
    return load_haxby2001_slice("volumes", rest=True)


@pytest.fixture(scope="module")
def blocks():
    return load_haxby2001_slice()


def read_accuracy(X, data):
    """Mean accuracy of a linear SVM (C = 1, one class against one) on the run left out."""
    kernel = X @ X.T  # the same machine as on X, in a fraction of the time
    model = SVC(kernel="precomputed", C=1.0, break_ties=True)  # ties of votes not by the classes' order
    return cross_val_score(model, kernel, data.y, groups=data.runs, cv=LeaveOneGroupOut()).mean()


def standardize_by_run(data):
    """Bring each voxel to mean 0 and variance 1 over the samples of each run (rest is not among them)."""
    X = data.X.copy()
    for run in np.unique(data.runs):
        X[data.runs == run] = scale(X[data.runs == run])
    return X


def test_sizes(raw, blocks):
    assert raw.X.shape == (1452, 530)
    assert blocks.X.shape == (96, 530)
    assert raw.X.dtype == np.float64
    assert load_haxby2001_slice("volumes").X.shape == (864, 530)
    for data in (raw, blocks):
        assert np.unique(data.runs).tolist() == list(range(1, 13))
        assert set(data.subjects) == {1}
        np.testing.assert_array_equal(data.positions, np.argwhere(np.asarray(data.mask.dataobj) != 0))


def test_every_run_has_every_category_once(blocks):
    for run in range(1, 13):
        assert sorted(blocks.y[blocks.runs == run]) == sorted(set(CATEGORIES) - {"rest"})


def test_labels_are_those_of_the_table(raw):
    table = resources.files("svdecode.datasets") / "haxby2001_slice" / "attributes.txt"
    codes, runs = np.array([line.split() for line in table.read_text().splitlines()], dtype=int).T
    np.testing.assert_array_equal(raw.runs, runs + 1)
    # code 0 is rest, 1 face, 2 house, 3 shoe, 4 cat, 5 scissors, 6 scrambledpix, 7 bottle, 8 chair
    names = ["rest", "face", "house", "shoe", "cat", "scissors", "scrambledpix", "bottle", "chair"]
    for code, name in enumerate(names):
        np.testing.assert_array_equal(raw.y == name, codes == code)


def test_trends_are_gone_run_by_run(raw, volumes):
    t = np.arange(121.0)
    design = np.column_stack([np.ones(121), t - t.mean()])
    for run in (1, 7, 12):
        before, after = raw.X[raw.runs == run], volumes.X[volumes.runs == run]
        fitted = design @ np.linalg.lstsq(design, before)[0]
        np.testing.assert_allclose(after, before - fitted, atol=1e-9)
        assert np.abs(before - fitted).max() > 10


def test_blocks_are_means_of_their_volumes(volumes, blocks):
    for i in (0, 17, 95):
        own = (volumes.runs == blocks.runs[i]) & (volumes.y == blocks.y[i])
        assert (np.diff(np.flatnonzero(own)) == 1).all()
        np.testing.assert_allclose(blocks.X[i], volumes.X[own].mean(axis=0), atol=1e-9)


def test_blocks_are_in_the_order_of_time(volumes, blocks):
    starts = [
        np.flatnonzero((volumes.runs == r) & (volumes.y == c))[0]
        for r, c in zip(blocks.runs, blocks.y, strict=True)
    ]
    assert (np.diff(starts) > 0).all()


def test_rest_is_kept_on_request(raw, blocks):
    with_rest = load_haxby2001_slice(rest=True)
    kept = with_rest.y != "rest"
    np.testing.assert_array_equal(with_rest.X[kept], blocks.X)
    changes = (raw.y[1:] != raw.y[:-1]) | (raw.runs[1:] != raw.runs[:-1])
    assert with_rest.n_samples == 1 + np.count_nonzero(changes)


def test_loading_twice_gives_two_datasets():
    first = load_haxby2001_slice()
    first.X[:] = 0
    assert load_haxby2001_slice().X.any()


@pytest.mark.parametrize(("samples", "expected"), [("blocks", 0.74), ("volumes", 0.62)])
def test_reference_accuracy(samples, expected):
    """The figures of these data: detrended, z-scored by run, linear SVM with C = 1, a run left out."""
    data = load_haxby2001_slice(samples)
    assert read_accuracy(standardize_by_run(data), data) == pytest.approx(expected, abs=0.005)


def test_drifts_must_go(blocks):
    """Values as they come from the scanner: .48 against .75 without their trends."""
    assert read_accuracy(load_haxby2001_slice(detrend=False).X, blocks) < 0.55
    assert read_accuracy(blocks.X, blocks) > 0.7


def test_attribution_comes_with_the_data(blocks):
    folder = resources.files("svdecode.datasets") / "haxby2001_slice"
    for text in (blocks.description, (folder / "LICENSE").read_text()):
        assert "Haxby" in text
        assert "Science 293" in text
        assert "creativecommons.org/licenses/by-sa/3.0" in text
        assert "PyMVPA" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": "runs"}, "samples: found 'runs', expected one of 'blocks', 'volumes'"),
        ({"detrend": "linear"}, "detrend: found 'linear', expected one of True, False"),
        ({"rest": 2}, "rest: found 2, expected one of True, False"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError) as caught:
        load_haxby2001_slice(**options)
    assert str(caught.value) == message
