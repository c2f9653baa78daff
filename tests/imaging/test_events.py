"""Events with onsets: means of blocks by hand, models of trials beside nilearn's FirstLevelModel."""

import numpy as np
import pandas as pd
import pytest
from imaging.small import SHAPE, brain, image, mask_image, save, write_table
from nilearn.glm.first_level import FirstLevelModel, compute_regressor
from nilearn.masking import apply_mask

from svdecode.imaging import read_dataset

T_R = 2.0
N_VOLUMES = 60
ONSETS = np.array([4.0, 24.0, 46.0, 70.0, 90.0])
LABELS = ["face", "house", "face", "rest", "house"]
EVENTS = pd.DataFrame({"onset": ONSETS, "duration": 8.0, "trial_type": LABELS})


def run(seed, n=N_VOLUMES):
    data = np.random.default_rng(seed).standard_normal((*SHAPE, n)).cumsum(axis=3) + 100
    data[~brain()] = 0
    return data


RUNS = [run(0), run(1)]


def read(images=None, events=None, **options):
    images = [image(data, t_r=T_R) for data in RUNS] if images is None else images
    return read_dataset(
        images, events=[EVENTS] * len(images) if events is None else events, mask=mask_image(), **options
    )


@pytest.mark.parametrize("lag", [0.0, 4.0, 5.0])
def test_blocks_are_means_of_their_volumes(lag):
    data = read(lag=lag, drop="rest")
    times = T_R * np.arange(N_VOLUMES)
    expected = [
        [values[brain()][:, i] for i in range(N_VOLUMES) if on + lag <= times[i] < on + lag + 8]
        for values in RUNS
        for on, label in zip(ONSETS, LABELS, strict=True)
        if label != "rest"
    ]
    assert all(len(block) == 4 for block in expected)
    np.testing.assert_allclose(data.X, [np.mean(block, axis=0) for block in expected])
    assert data.y.tolist() == ["face", "house", "face", "house"] * 2
    assert data.runs.tolist() == [1] * 4 + [2] * 4
    assert f"from {lag:g} s after its onset to {lag:g} s after its end" in data.steps[-2]
    assert data.steps[-1] == "Events labeled rest are left out."


def test_close_events_of_one_label_can_be_joined():
    onsets = [4.0, 8.0, 12.0, 30.0, 34.0, 60.0]
    events = pd.DataFrame({"onset": onsets, "duration": 2.0, "trial_type": ["a", "a", "a", "b", "b", "a"]})
    assert read(events=[events] * 2).n_samples == 12
    joined = read(events=[events] * 2, join_gap=2.0, lag=0.0)
    assert joined.y.tolist() == ["a", "b", "a"] * 2
    # from 4 s to 14 s: volumes 2 to 6
    np.testing.assert_allclose(joined.X[0], RUNS[0][brain()][:, 2:7].mean(axis=1))
    assert "joined" in joined.steps[-1]


def test_an_instant_still_has_a_volume():
    events = pd.DataFrame({"onset": [5.0, 21.0], "duration": 0.0, "trial_type": ["a", "b"]})
    data = read(events=[events] * 2, lag=0.0)
    np.testing.assert_allclose(data.X[0], RUNS[0][brain()][:, 3])  # the one that begins at 6 s


def test_the_order_of_the_table_does_not_matter(tmp_path):
    shuffled = write_table(tmp_path / "e.tsv", **EVENTS.iloc[[3, 0, 4, 1, 2]].to_dict("list"))
    a, b = read(), read(events=[shuffled, str(shuffled)])
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.y, b.y)


def test_detrending_comes_first_and_by_run():
    from scipy.signal import detrend

    data = read(detrend=True, lag=0.0)
    courses = detrend(RUNS[1][brain()], axis=1)
    np.testing.assert_allclose(data.X[5], courses[:, 2:6].mean(axis=1), atol=1e-9)


def nilearn_effects(data, events, names, wanted):
    """Effects by nilearn's own model, images in and images out."""
    frame = EVENTS.assign(trial_type=names) if events is None else events.assign(trial_type=names)
    model = FirstLevelModel(
        t_r=T_R, mask_img=mask_image(), hrf_model="glover", noise_model="ar1", signal_scaling=False,
        standardize=False, minimize_memory=False,
    ).fit(image(data, t_r=T_R), events=frame)  # fmt: skip
    return apply_mask(model.compute_contrast(wanted, output_type="effect_size"), mask_image())


@pytest.mark.filterwarnings("ignore")  # nilearn's, of its own defaults
def test_least_squares_all_is_nilearns_model():
    data = read(trials="least_squares_all", drop="rest")
    kept = [0, 1, 2, 4]
    names = [f"t{i}" if i in kept else "rest" for i in range(5)]
    expected = [nilearn_effects(values, None, names, f"t{i}") for values in RUNS for i in kept]
    np.testing.assert_allclose(data.X, expected, rtol=1e-6, atol=1e-8)
    assert data.y.tolist() == ["face", "house", "face", "house"] * 2
    assert "least squares, all" in data.steps[-2]
    assert data.steps[-1] == "Events labeled rest are in the models, but no samples."


@pytest.mark.filterwarnings("ignore")
def test_least_squares_separate_is_a_model_for_each_trial():
    data = read(trials="least_squares_separate", drop="rest")
    expected = [
        nilearn_effects(values, None, ["this" if j == i else LABELS[j] for j in range(5)], "this")
        for values in RUNS
        for i in (0, 1, 2, 4)
    ]
    np.testing.assert_allclose(data.X, expected, rtol=1e-6, atol=1e-8)
    assert "least squares, separate" in data.steps[-2]


@pytest.mark.parametrize("trials", ["least_squares_all", "least_squares_separate"])
def test_planted_amplitudes_come_back(trials):
    """Volumes that are a sum of responses: each trial's own amplitude is its effect."""
    amplitudes = np.array([3.0, -1.0, 2.0, 5.0, -4.0])
    times = T_R * np.arange(N_VOLUMES)
    course = sum(
        a * compute_regressor(np.array([[on], [8.0], [1.0]]), "glover", times)[0][:, 0]
        for a, on in zip(amplitudes, ONSETS, strict=True)
    )
    data = np.where(brain()[..., None], 100 + course, 0.0)
    # separate models are exact when the other trials of each condition are alike
    events = EVENTS.assign(trial_type=list("abcde")) if trials.endswith("separate") else EVENTS
    read_back = read([image(data, t_r=T_R)] * 2, [events] * 2, trials=trials, noise_model="ols", runs=None)
    np.testing.assert_allclose(
        read_back.X, np.tile(amplitudes, 2)[:, None] * np.ones(brain().sum()), atol=1e-7
    )


def test_repetition_time_of_the_header_or_as_given(tmp_path):
    silent = [image(data) for data in RUNS]  # nibabel writes 1.0 in unknown units
    with pytest.raises(
        ValueError, match=r"t_r: found 1 in units 'unknown' in the header of image 0, expected"
    ):
        read(silent)
    np.testing.assert_array_equal(read(silent, t_r=T_R).X, read().X)
    in_ms = [image(data) for data in RUNS]
    for one in in_ms:
        one.header.set_xyzt_units("mm", "msec")
        one.header.set_zooms((3, 3, 3, 2000))
    np.testing.assert_array_equal(read(in_ms).X, read().X)
    files = [save(data, tmp_path / f"r{i}.nii.gz", t_r=T_R) for i, data in enumerate(RUNS)]
    np.testing.assert_array_equal(read(files).X, read().X)


def test_runs_and_subjects_of_the_images():
    four = [image(data, t_r=T_R) for data in (*RUNS, *RUNS)]
    data = read(four, runs=[1, 2, 1, 2], subjects=["a", "a", "b", "b"])
    assert data.runs.tolist() == [1] * 5 + [2] * 5 + [1] * 5 + [2] * 5
    assert data.subjects.tolist() == ["a"] * 10 + ["b"] * 10
    assert read(four, runs=None).runs is None


def test_label_column():
    events = EVENTS.assign(kind=["x", "y", "x", "y", None])
    assert read(events=[events] * 2, label_column="kind").y.tolist() == ["x", "y", "x", "y"] * 2


LATE = EVENTS.assign(onset=[4.0, 24.0, 46.0, 70.0, 190.0])
BAD = {
    "no onset": ({"events": [EVENTS.drop(columns="onset")] * 2}, "events: found no column 'onset' in "),
    "text as onset": (
        {"events": [EVENTS.astype({"onset": object}).replace({"onset": {4.0: "four"}})] * 2},
        "events: found 'four' in column 'onset', row 0 of the events of image 0, expected a number",
    ),
    "negative duration": ({"events": [EVENTS.assign(duration=-1.0)] * 2}, "events: found duration -1 in "),
    "missing label column": (
        {"label_column": "what"},
        "events: found no column 'what' in the events of image 0, expected one of 'onset', 'duration', ",
    ),
    "fewer tables": ({"events": [EVENTS]}, "events: found 1 tables, expected one for each of the 2 images"),
    "after the end": ({"events": [EVENTS, LATE]}, "events: found no volume from 195 to 203 s in "),
    "trial after the end": (
        {"events": [EVENTS, LATE], "trials": "least_squares_all"},
        "events: found 'house' at 190 s in the events of image 1, expected onsets within its 120 s",
    ),
    "all dropped": ({"drop": ["face", "house", "rest"]}, "drop: found every label"),
    "unknown dropped": ({"drop": "resting"}, "drop: found 'resting', expected among the labels fa"),
    "detrending a model": (
        {"detrend": True, "trials": "least_squares_all"}, "detrend: found True with trials='least",
    ),
    "unknown trials": ({"trials": "lsa"}, "trials: found 'lsa', expected one of 'block_average'"),
    "labels too": ({"labels": ["a"] * 5}, "labels: found a table together with events"),
    "runs by column": ({"runs": "run"}, "runs: found 'run', expected one value for each of the 2 images"),
    "runs too many": ({"runs": [1, 2, 3]}, "runs: found 3 values, expected one for each of the 2 images"),
    "no labels": ({"events": [EVENTS.assign(trial_type=None)] * 2}, "events: found no event with a label"),
    "twice at one time": (
        {"events": [pd.concat([EVENTS, EVENTS])] * 2, "trials": "least_squares_all"},
        "trials: found a model of",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore")  # nilearn's, of events at one time
def test_bad_events_are_named(case):
    options, message = BAD[case]
    with pytest.raises(ValueError) as caught:
        read(**options)
    assert str(caught.value).startswith(message), caught.value
    assert "expected" in str(caught.value)
    assert "\n" not in str(caught.value)
