"""make_decoding: the truth it tells, and the statistics it claims."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svdecode.datasets import make_decoding

SMALL = {"shape": (8, 8, 8), "region_radius": 2.0, "n_nuisance": 3, "random_state": 0}


def known_part(data):
    """X without its noise, from the truth alone."""
    truth = data.truth
    return (
        truth["offsets"][truth["sample_scan"]]
        + truth["sample_coordinates"] @ truth["patterns"]
        + truth["sample_nuisance"] @ truth["nuisance_patterns"]
    )


def grids(data, maps):
    """Maps on the voxel grid, NaN outside the brain."""
    inside = np.asarray(data.mask.dataobj) != 0
    volumes = np.full((len(maps), *inside.shape), np.nan)
    volumes[:, inside] = maps
    return volumes


def neighbor_correlation(volumes):
    """Correlation of a voxel with the next one along the first axis."""
    one, other = volumes[:, :-1].ravel(), volumes[:, 1:].ravel()
    both = np.isfinite(one) & np.isfinite(other)
    return np.corrcoef(one[both], other[both])[0, 1]


def lag_correlation(courses, data, *, across=False):
    """Correlation of a sample with the one before, in the same run or (across) the run before."""
    same = np.diff(data.truth["sample_scan"]) == 0
    pairs = ~same if across else same
    return np.corrcoef(courses[:-1][pairs].ravel(), courses[1:][pairs].ravel())[0, 1]


KINDS = {
    "one task": {},
    "four classes": {"n_classes": 4},
    "three tasks": {"n_tasks": 3},
    "two subjects": {"n_subjects": 2},
    "two views": {"n_tasks": 2, "second_view": 30},
    "all shared": {"n_tasks": 3, "n_shared": 4, "n_specific": 0},
    "nothing shared": {"n_classes": 4, "n_shared": 0, "n_specific": 2},
    "no nuisance": {"n_nuisance": 0, "second_view": 5},
    "one run of one slice": {"n_runs": 1, "shape": (6, 5, 1)},
    "one voxel": {"shape": (1, 1, 1)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_truth_reproduces_the_data(kind):
    data = make_decoding(**(SMALL | KINDS[kind]), noise=0.0)
    np.testing.assert_allclose(data.X, known_part(data), rtol=0, atol=1e-12)
    assert data.X.std() > 0
    noisy = make_decoding(**(SMALL | KINDS[kind]), noise=2.0)
    for key, values in data.truth.items():
        np.testing.assert_array_equal(noisy.truth[key], values)
    rest = noisy.X - known_part(noisy)
    half = make_decoding(**(SMALL | KINDS[kind]), noise=1.0)
    np.testing.assert_allclose(half.X - known_part(half), rest / 2, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_balanced_in_every_run(kind):
    params = SMALL | KINDS[kind]
    data = make_decoding(**params)
    n_subjects, n_runs = params.get("n_subjects", 1), params.get("n_runs", 6)
    assert data.n_samples == n_subjects * n_runs * 16
    n_classes = params.get("n_classes", 2)
    for subject in range(1, n_subjects + 1):
        for run in range(1, n_runs + 1):
            y = data.y[(data.subjects == subject) & (data.runs == run)]
            for column in y.T if y.ndim == 2 else [y]:
                assert np.bincount(column).tolist() == [16 // n_classes] * n_classes
    if params.get("n_tasks", 1) > 1:
        assert data.y.shape[1] == params["n_tasks"]


def test_order_of_labels_differs_between_runs():
    data = make_decoding(**SMALL)
    orders = {tuple(data.y[data.runs == run]) for run in range(1, 7)}
    assert len(orders) == 6


def test_signal_stands_on_the_labels():
    """Class means of the coordinates are the loadings, at ±1 for a task; the rest is scatter."""
    data = make_decoding(60, n_tasks=2, scatter=0.3, **SMALL)
    coordinates, loadings = data.truth["sample_coordinates"], data.truth["loadings"]
    rest = coordinates - (2 * data.y - 1) @ loadings
    assert rest.std() == pytest.approx(0.3, rel=0.02)
    assert np.abs(rest.mean(axis=0)).max() < 0.02
    exact = make_decoding(n_classes=4, scatter=0.0, **SMALL)
    # a class moves by √3 what it loads on, the three others by −1/√3: mean 0 and variance 1 over samples
    codes = np.where(exact.y[:, None] == np.arange(4), np.sqrt(3), -1 / np.sqrt(3))
    np.testing.assert_allclose(exact.truth["sample_coordinates"], codes @ exact.truth["loadings"], atol=1e-12)


@pytest.mark.parametrize("kind", ["one task", "four classes", "three tasks", "all shared", "nothing shared"])
def test_loadings_share_what_they_should(kind):
    params = {"n_shared": 2, "n_specific": 1} | KINDS[kind]
    data = make_decoding(**(SMALL | params))
    loadings = data.truth["loadings"]
    d, s, own = len(loadings), params["n_shared"], params["n_specific"]
    assert loadings.shape[1] == s + d * own
    np.testing.assert_allclose(np.linalg.norm(loadings, axis=1), 1)
    assert np.linalg.matrix_rank(loadings) == d
    assert np.all(loadings[:, :s] != 0)
    for task in range(d):
        mine = np.zeros(d * own, dtype=bool)
        mine[task * own : (task + 1) * own] = True
        np.testing.assert_array_equal(loadings[task, s:] != 0, mine)


@pytest.mark.parametrize("kind", ["one task", "four classes", "three tasks", "two views"])
@pytest.mark.parametrize("ratio", [3.0, 0.5])
def test_nuisance_varies_more_than_the_signal(kind, ratio):
    """Each component, by exactly the ratio, more than the strongest direction of all signal."""
    data = make_decoding(nuisance_ratio=ratio, **(SMALL | KINDS[kind]))
    truth = data.truth
    for columns in data.views.values() or [slice(None)]:
        signal = truth["sample_coordinates"] @ truth["patterns"][:, columns]
        strongest = np.linalg.svd(signal - signal.mean(axis=0))[1][0] ** 2 / len(signal)
        parts = truth["sample_nuisance"].var(axis=0) * (truth["nuisance_patterns"][:, columns] ** 2).sum(
            axis=1
        )
        here = parts > 0
        assert here.sum() == 3
        np.testing.assert_allclose(parts[here], ratio * strongest, rtol=1e-9)


def test_nuisance_knows_nothing_of_the_labels():
    data = make_decoding(60, autocorrelation=0.0, **SMALL)
    assert np.abs(np.corrcoef(data.truth["sample_nuisance"].T, data.y)[-1, :-1]).max() < 0.05


def test_maps_are_smooth_and_noise_is_not():
    data = make_decoding(random_state=0)
    rough = make_decoding(random_state=0, smoothness=0.0)
    for key in ("patterns", "nuisance_patterns", "offsets"):
        assert neighbor_correlation(grids(data, data.truth[key])) > 0.8, key
        assert neighbor_correlation(grids(data, rough.truth[key])) < 0.1, key
    noise = data.X - known_part(data)
    assert abs(neighbor_correlation(grids(data, noise))) < 0.02


def test_patterns_live_in_their_regions():
    data = make_decoding(signal=0.7, region_radius=3.0, random_state=1)
    patterns, regions = data.truth["patterns"], data.truth["regions"]
    assert not patterns[~regions].any()
    for pattern, region in zip(patterns, regions, strict=True):
        assert np.sqrt((pattern[region] ** 2).mean()) == pytest.approx(0.7)
        places = data.positions[region]
        assert 20 < len(places) <= 4 / 3 * np.pi * 3.5**3
        spread = np.linalg.norm(places[:, None] - places, axis=-1)
        assert spread.min(axis=0).max() == 0
        assert spread.max() < 6.0  # a ball of radius 3
        assert (spread.max(axis=1) < 3.0).any()  # and its center


def test_noise_remembers_the_sample_before_within_a_run():
    data = make_decoding(n_runs=20, autocorrelation=0.6, noise=1.5, random_state=0)
    noise = data.X - known_part(data)
    assert noise.std() == pytest.approx(1.5, rel=0.01)
    first = noise[np.flatnonzero(np.diff(data.truth["sample_scan"], prepend=-1))]
    assert first.std() == pytest.approx(1.5, rel=0.02)  # stationary from the start
    assert lag_correlation(noise, data) == pytest.approx(0.6, abs=0.01)
    assert abs(lag_correlation(noise, data, across=True)) < 0.02
    lag_two = np.corrcoef(noise[:14].ravel(), noise[2:16].ravel())[0, 1]
    assert lag_two == pytest.approx(0.36, abs=0.02)


def test_nuisance_remembers_too():
    data = make_decoding(200, n_runs=1, autocorrelation=0.6, **SMALL)
    courses = data.truth["sample_nuisance"] / data.truth["sample_nuisance"].std(axis=0)
    assert lag_correlation(courses, data) == pytest.approx(0.6, abs=0.03)
    assert abs(lag_correlation(courses, data, across=True)) < 0.12


def test_offsets_of_subjects_and_runs():
    data = make_decoding(3, 4, subject_offset=2.0, run_offset=0.0, random_state=0)
    offsets = data.truth["offsets"].reshape(3, 4, -1)
    np.testing.assert_array_equal(offsets, offsets[:, :1].repeat(4, axis=1))
    np.testing.assert_allclose(np.sqrt((offsets[:, 0] ** 2).mean(axis=-1)), 2.0)
    assert np.abs(np.corrcoef(offsets[:, 0])[np.triu_indices(3, 1)]).max() < 0.6
    runs = make_decoding(3, 4, subject_offset=0.0, run_offset=0.5, random_state=0).truth["offsets"]
    np.testing.assert_allclose(np.sqrt((runs**2).mean(axis=-1)), 0.5)
    both = make_decoding(3, 4, subject_offset=2.0, run_offset=0.5, random_state=0)
    np.testing.assert_allclose(both.truth["offsets"], offsets.reshape(12, -1) + runs)
    np.testing.assert_array_equal(both.truth["sample_scan"], 4 * (both.subjects - 1) + both.runs - 1)


def test_second_view_sees_the_same_components():
    data = make_decoding(second_view=100, n_tasks=2, random_state=0)
    brain, stimulus = data.views["brain"], data.views["stimulus"]
    assert (brain, stimulus) == (slice(0, 2176), slice(2176, 2276))
    assert len(data.positions) == 2176
    alone = make_decoding(n_tasks=2, random_state=0)
    np.testing.assert_array_equal(alone.X, data.X[:, brain])  # the first view is as without the second
    np.testing.assert_array_equal(alone.y, data.y)
    assert not data.truth["offsets"][:, stimulus].any()
    nuisance = data.truth["nuisance_patterns"]
    assert nuisance.shape == (16, 2276)
    assert not nuisance[:8, stimulus].any()
    assert not nuisance[8:, brain].any()
    noise = (data.X - known_part(data))[:, stimulus]
    assert abs(lag_correlation(noise, data)) < 0.05
    # each view tells the coordinates when the truth says how to read it
    for columns in data.views.values():
        maps = np.vstack([data.truth["patterns"], nuisance])[:, columns]
        read = (data.X - data.truth["offsets"][data.truth["sample_scan"]])[:, columns] @ np.linalg.pinv(maps)
        for c in range(4):
            assert np.corrcoef(read[:, c], data.truth["sample_coordinates"][:, c])[0, 1] > 0.8


def run_accuracy(X, data, *steps):
    """Accuracy of (steps and) a linear SVM with C = 1 on the run left out."""
    model = make_pipeline(*steps, StandardScaler(), SVC(kernel="linear"))
    return cross_val_score(model, X, data.y, groups=data.runs, cv=LeaveOneGroupOut()).mean()


def mean_accuracies(n_components, **params):
    """PCA(l) + SVM, SVM on the true components, each averaged over four data sets."""
    rows = []
    for seed in range(4):
        data = make_decoding(random_state=seed, **params)
        X = data.X.copy()
        for run in range(1, 7):
            X[data.runs == run] -= X[data.runs == run].mean(axis=0)
        maps = np.vstack([data.truth["patterns"], data.truth["nuisance_patterns"]])
        components = (X @ np.linalg.pinv(maps))[:, : len(data.truth["patterns"])]
        U, s, _ = np.linalg.svd(X, full_matrices=False)  # the rows of X rotated: the same PCA, but small
        rows.append([run_accuracy(U * s, data, PCA(n_components)), run_accuracy(components, data)])
    return np.mean(rows, axis=0)


@pytest.mark.parametrize(("n_classes", "chance"), [(2, 0.5), (4, 0.25)])
def test_plain_svd_fails_where_the_signal_is(n_classes, chance):
    """Four components: PCA + SVM .58 and .25 (chance .50 and .25), on the true components 1.00."""
    by_pca, by_truth = mean_accuracies(4, n_classes=n_classes)
    assert by_pca < chance + 0.12
    assert by_truth > 0.97


def test_plain_svd_works_without_nuisance():
    """It is the nuisance that makes it fail: .93 when there is none."""
    by_pca, by_truth = mean_accuracies(4, nuisance_ratio=0.0, n_nuisance=1)
    assert by_pca > 0.88
    assert by_truth > 0.97


def test_seeds():
    one, same = make_decoding(**SMALL), make_decoding(**SMALL)
    np.testing.assert_array_equal(one.X, same.X)
    np.testing.assert_array_equal(one.y, same.y)
    other = make_decoding(**(SMALL | {"random_state": 1}))
    assert np.abs(np.corrcoef(one.X.ravel(), other.X.ravel())[0, 1]) < 0.5
    state = np.random.RandomState(5)
    first, second = (make_decoding(**(SMALL | {"random_state": state})) for _ in range(2))
    assert (first.X != second.X).any()
    again = make_decoding(**(SMALL | {"random_state": np.random.RandomState(5)}))
    np.testing.assert_array_equal(first.X, again.X)
    unseeded = [make_decoding(**(SMALL | {"random_state": None})).X for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).any()


def test_selection_keeps_the_truth_in_step():
    data = make_decoding(second_view=10, **(SMALL | {"noise": 0.0})).select(np.s_[5:60:7])
    np.testing.assert_allclose(data.X, known_part(data), atol=1e-12)


def test_maps_become_images():
    data = make_decoding(second_view=10, **SMALL)
    image = data.image(data.truth["patterns"])
    assert image.shape == (8, 8, 8, 3)
    np.testing.assert_array_equal(
        (image.get_fdata() != 0).sum(axis=(0, 1, 2)), data.truth["regions"].sum(axis=1)
    )


def test_description_says_it_is_simulated():
    text = make_decoding(n_tasks=2, second_view=7, **SMALL).description
    assert text.startswith("Simulated data")
    assert "2 binary tasks" in text
    assert "second view of 7 features" in text
    assert "one task of 4 classes" in make_decoding(n_classes=4, **SMALL).description


BAD = [
    ({"n_subjects": 0}, "n_subjects: found 0, expected an integer of at least 1"),
    ({"n_runs": 2.5}, "n_runs: found 2.5, expected an integer of at least 1"),
    ({"n_samples_per_run": 1}, "n_samples_per_run: found 1, expected an integer of at least 2"),
    ({"n_samples_per_run": 15}, "n_samples_per_run: found 15, expected a multiple of the 2 classes"),
    ({"n_classes": 3}, "n_samples_per_run: found 16, expected a multiple of the 3 classes"),
    ({"n_classes": 1}, "n_classes: found 1, expected an integer of at least 2"),
    ({"n_tasks": 0}, "n_tasks: found 0, expected an integer of at least 1"),
    ({"n_tasks": True}, "n_tasks: found True, expected an integer of at least 1"),
    ({"n_tasks": 2, "n_classes": 4}, "n_classes: found 4 with 2 tasks, expected 2"),
    ({"n_shared": -1}, "n_shared: found -1, expected an integer of at least 0"),
    (
        {"n_tasks": 3, "n_specific": 0},
        "n_shared: found 2 with n_specific=0, expected one for each of the 3 tasks or classes",
    ),
    ({"n_nuisance": -1}, "n_nuisance: found -1, expected an integer of at least 0"),
    ({"second_view": "yes"}, "second_view: found 'yes', expected an integer of at least 0"),
    ({"signal": 0}, "signal: found 0, expected a positive number"),
    ({"signal": np.nan}, "signal: found nan, expected a positive number"),
    ({"noise": -1.0}, "noise: found -1.0, expected a number of at least 0"),
    ({"noise": np.inf}, "noise: found inf, expected a number of at least 0"),
    ({"scatter": "much"}, "scatter: found 'much', expected a number of at least 0"),
    ({"nuisance_ratio": None}, "nuisance_ratio: found None, expected a number of at least 0"),
    ({"smoothness": -2}, "smoothness: found -2, expected a number of at least 0"),
    ({"region_radius": 0.0}, "region_radius: found 0.0, expected a positive number"),
    ({"subject_offset": -1}, "subject_offset: found -1, expected a number of at least 0"),
    ({"run_offset": True}, "run_offset: found True, expected a number of at least 0"),
    ({"autocorrelation": 1.0}, "autocorrelation: found 1.0, expected a number below 1"),
    ({"autocorrelation": -0.5}, "autocorrelation: found -0.5, expected a number of at least 0"),
    ({"shape": (8, 8)}, "shape: found (8, 8), expected the three sizes of a voxel grid"),
    ({"shape": 8}, "shape: found 8, expected the three sizes of a voxel grid"),
    ({"shape": (8, 0, 8)}, "shape: found 0, expected an integer of at least 1"),
    (
        {"random_state": "seed"},
        "random_state: found 'seed', expected None, an integer or a RandomState",
    ),
]


@pytest.mark.parametrize(("params", "message"), BAD)
def test_bad_input_is_named(params, message):
    with pytest.raises(ValueError) as caught:
        make_decoding(**params)
    assert str(caught.value) == message
