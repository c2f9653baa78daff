"""SVDMDecoder: the same as SVDMClassifier on the masked voxels, and its answers as images."""

import inspect
import pickle

import nibabel
import numpy as np
import pytest
from imaging.small import AFFINE, SHAPE, brain, image, mask_image, save
from nilearn.image import smooth_img
from nilearn.maskers import NiftiMasker
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svdecode import SVDMClassifier, SVDMClassifierCV, SVDMDecoder
from svdecode.datasets import load_haxby2001_slice

N = 24
RUNS = np.repeat([1, 2, 3, 4], 6)
TWO = np.tile(["face", "house"], 12)
THREE = np.tile(["cat", "face", "house"], 8)


def signal(y, seed=0):
    """Voxels of which some tell the classes apart; all of several sizes."""
    rng = np.random.default_rng(seed)
    m = int(brain().sum())
    patterns = rng.standard_normal((3, m)) * (np.arange(m) < 9)
    X = rng.standard_normal((len(y), m)) + 1.5 * patterns[np.unique(y, return_inverse=True)[1]]
    return (X * np.geomspace(0.5, 20, m) + 100).astype(np.float64)


def as_image(X):
    data = np.zeros((*SHAPE, len(X)))
    data[brain()] = X.T
    return image(data)


def make(**options):
    return SVDMDecoder(**({"n_components": 2, "mask": mask_image()} | options))


def voxels(picture):
    return np.asarray(picture.dataobj)[brain()]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_it_is_the_classifier_on_standardized_voxels(y):
    X = signal(y)
    new = signal(y, seed=1)
    decoder = make().fit(as_image(X), y)
    by_hand = make_pipeline(StandardScaler(), SVDMClassifier(2)).fit(X, y)
    np.testing.assert_allclose(
        decoder.decision_function(as_image(new)), by_hand.decision_function(new), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_array_equal(decoder.predict(as_image(new)), by_hand.predict(new))
    np.testing.assert_allclose(
        decoder.transform(as_image(new)), by_hand.transform(new), rtol=1e-8, atol=1e-10
    )
    assert decoder.score(as_image(new), y) == by_hand.score(new, y)
    np.testing.assert_array_equal(decoder.classes_, np.unique(y))
    np.testing.assert_allclose(decoder.coef_, by_hand[1].coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_maps_are_what_decides(y):
    """Scores come back from the weight maps, voxel by voxel."""
    X, new = signal(y), signal(y, seed=1)
    decoder = make().fit(as_image(X), y)
    z = (new - decoder.mean_) / decoder.scale_
    scores = np.atleast_2d(decoder.decision_function(as_image(new)).T).T
    assert list(decoder.coef_img_) == np.unique(y).tolist()
    for column, label in enumerate(np.unique(y)[-scores.shape[1] :]):
        picture = decoder.coef_img_[label]
        assert picture.shape == SHAPE
        np.testing.assert_array_equal(picture.affine, AFFINE)
        np.testing.assert_allclose(z @ voxels(picture) + decoder.intercept_[column], scores[:, column])
        assert not np.asarray(picture.dataobj)[~brain()].any()
    if len(decoder.coef_img_) == 2:
        np.testing.assert_array_equal(voxels(decoder.coef_img_["face"]), -voxels(decoder.coef_img_["house"]))
    assert decoder.components_img_.shape == (*SHAPE, 2)
    np.testing.assert_allclose(voxels(decoder.components_img_).T, decoder.estimator_.components_)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
def test_patterns_are_haufes(y):
    """A = Cov(x) W Cov(s)^-1, written out; scores of three classes may depend on each other."""
    X = signal(y)
    decoder = make().fit(as_image(X), y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    W = decoder.coef_.T
    covariance = np.cov(z.T)
    A = covariance @ W @ np.linalg.pinv(W.T @ covariance @ W, rcond=1e-8)
    for column, label in enumerate(np.unique(y)[-A.shape[1] :]):
        np.testing.assert_allclose(voxels(decoder.pattern_img_[label]), A[:, column], rtol=1e-6, atol=1e-9)


def test_a_voxel_that_only_cancels_noise_has_weight_but_no_pattern():
    """Haufe et al.'s example: x1 = signal + noise, x2 = noise."""
    rng = np.random.default_rng(0)
    n, m = 400, int(brain().sum())
    y = np.tile(["a", "b"], n // 2)
    noise = rng.standard_normal(n)
    X = 0.1 * rng.standard_normal((n, m)) + 100
    X[:, 0] += np.where(y == "b", 1, -1) + noise
    X[:, 1] += noise
    decoder = make(standardize=None, n_components=3).fit(as_image(X), y)
    weights, pattern = voxels(decoder.coef_img_["b"]), voxels(decoder.pattern_img_["b"])
    assert abs(weights[1]) > 0.5 * abs(weights[0])
    assert abs(pattern[1]) < 0.15 * abs(pattern[0])


FORMS = {
    "one file": lambda X, folder: save(np.asarray(as_image(X).dataobj), folder / "b.nii.gz"),
    "text": lambda X, folder: str(save(np.asarray(as_image(X).dataobj), folder / "b.nii.gz")),
    "list of 3-D": lambda X, folder: [as_image(row[None]).slicer[..., 0] for row in X],
    "list of files": lambda X, folder: [
        save(np.asarray(as_image(row[None]).dataobj)[..., 0], folder / f"{i}.nii") for i, row in enumerate(X)
    ],
    "list of runs": lambda X, folder: [as_image(X[:5]), as_image(X[5:])],
}


@pytest.mark.parametrize("form", FORMS)
def test_images_in_every_form(form, tmp_path):
    X = signal(TWO)
    expected = make().fit(as_image(X), TWO)
    decoder = make().fit(FORMS[form](X, tmp_path), TWO)
    np.testing.assert_array_equal(decoder.coef_, expected.coef_)
    np.testing.assert_array_equal(
        decoder.decision_function(FORMS[form](X, tmp_path)), expected.decision_function(as_image(X))
    )
    single = decoder.predict(as_image(X[:1]).slicer[..., 0])
    assert single.tolist() == expected.predict(as_image(X))[:1].tolist()


MASKS = {
    "none": lambda folder: None,
    "image": lambda folder: mask_image(),
    "path": lambda folder: save(brain().astype(np.uint8), folder / "m.nii"),
    "text": lambda folder: str(save(brain().astype(np.uint8), folder / "m.nii")),
    "masker": lambda folder: NiftiMasker(mask_img=mask_image()),
    "fitted masker": lambda folder: NiftiMasker(standardize=None).fit(mask_image()),
    "masker that finds its mask": lambda folder: NiftiMasker(),
}


@pytest.mark.filterwarnings("ignore")  # nilearn's, of its own defaults
@pytest.mark.parametrize("kind", MASKS)
def test_masks_in_every_form(kind, tmp_path):
    X = signal(TWO)
    mask = MASKS[kind](tmp_path)
    decoder = make(mask=mask).fit(as_image(X), TWO)
    np.testing.assert_array_equal(np.asarray(decoder.mask_img_.dataobj) != 0, brain())
    np.testing.assert_array_equal(decoder.coef_, make().fit(as_image(X), TWO).coef_)
    assert decoder.n_elements_ == brain().sum()
    if isinstance(mask, NiftiMasker):
        assert decoder.masker_ is not mask


@pytest.mark.filterwarnings("ignore")
def test_a_maskers_own_cleaning_sees_all_images_together():
    X = signal(TWO)
    masker = NiftiMasker(mask_img=mask_image(), detrend=True)
    one_by_one = [as_image(row[None]).slicer[..., 0] for row in X]
    decoder = make(mask=masker, standardize=None).fit(one_by_one, TWO)
    detrended = NiftiMasker(mask_img=mask_image(), detrend=True).fit_transform(as_image(X))
    expected = SVDMClassifier(2).fit(detrended, TWO)
    np.testing.assert_allclose(decoder.coef_, expected.coef_, rtol=1e-6, atol=1e-10)


def test_smoothing_and_resampling():
    X = signal(TWO)
    smoothed = make(smoothing_fwhm=6).fit(as_image(X), TWO)
    by_hand = make().fit(smooth_img(as_image(X), 6), TWO)
    np.testing.assert_allclose(smoothed.coef_, by_hand.coef_, rtol=1e-6, atol=1e-10)
    coarse = make(target_affine=np.diag([6.0, 6, 6])).fit(as_image(X), TWO)
    np.testing.assert_array_equal(np.diag(coarse.mask_img_.affine)[:3], 6)
    assert coarse.coef_img_["face"].shape == coarse.mask_img_.shape
    assert coarse.n_elements_ < brain().sum()
    assert coarse.predict(as_image(X)).shape == (N,)


def test_standardizing_as_nilearn_does():
    """By the images of each call, within runs; so a shift of new images does not matter."""
    X = signal(TWO) + 50 * RUNS[:, None]
    decoder = make(standardize="zscore_sample").fit(as_image(X), TWO, RUNS)
    z = np.concatenate([StandardScaler().fit_transform(X[run == RUNS]) for run in (1, 2, 3, 4)])
    z *= np.sqrt(5 / 6)  # nilearn divides by n - 1
    expected = SVDMClassifier(2).fit(z, TWO)
    np.testing.assert_allclose(decoder.coef_, expected.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(
        decoder.decision_function(as_image(X + 7), RUNS), expected.decision_function(z), rtol=1e-6, atol=1e-9
    )
    assert decoder.mean_ is None
    same = make(standardize=True).fit(as_image(X), TWO, RUNS)
    np.testing.assert_array_equal(same.coef_, decoder.coef_)
    raw = make(standardize=None).fit(as_image(X), TWO)
    np.testing.assert_allclose(raw.coef_, SVDMClassifier(2).fit(X, TWO).coef_, rtol=1e-7, atol=1e-12)


def test_psc_is_nilearns_percent_signal_change():
    X = signal(TWO)
    decoder = make(standardize="psc").fit(as_image(X), TWO)
    expected = SVDMClassifier(2).fit(100 * (X / X.mean(axis=0) - 1), TWO)
    np.testing.assert_allclose(decoder.coef_, expected.coef_, rtol=1e-6, atol=1e-10)


def test_predictions_do_not_depend_on_what_comes_along():
    X, new = signal(TWO), signal(TWO, seed=1)
    decoder = make().fit(as_image(X), TWO)
    together = decoder.decision_function(as_image(new))
    alone = [decoder.decision_function(as_image(row[None]))[0] for row in new]
    np.testing.assert_allclose(together, alone, rtol=1e-9)


def test_constant_voxels_have_no_weight():
    X = signal(TWO)
    X[:, 4] = 100.1
    decoder = make().fit(as_image(X), TWO)
    assert decoder.scale_[4] == 1
    np.testing.assert_allclose(decoder.coef_[0, 4], 0, atol=1e-12)


def test_weights_are_chosen_by_run():
    X = signal(THREE)
    options = {"shrinkages": (0.03, 0.3, 3.0), "n_components": (1, 2)}
    decoder = make(**options).fit(as_image(X), THREE, RUNS)
    z = StandardScaler().fit_transform(X)
    search = SVDMClassifierCV(**options).fit(z, THREE, groups=RUNS)
    assert decoder.best_params_ == search.best_params_
    assert decoder.search_.n_splits_ == 4
    np.testing.assert_allclose(
        decoder.search_.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(decoder.coef_, search.best_estimator_.coef_, rtol=1e-7, atol=1e-12)
    assert make(shrinkages=(0.1, 1.0), cv=3).fit(as_image(X), THREE).search_.n_splits_ == 3
    assert make().fit(as_image(X), THREE, RUNS).search_ is None


def test_real_data_are_decoded_above_chance():
    """The same folds and the same rows as the classifier in a pipeline; images in place of an array."""
    data = load_haxby2001_slice()
    images = np.array([data.image(row) for row in data.X], dtype=object).tolist()
    decoder = SVDMDecoder(32, mask=data.mask, shrinkage=0.3)
    scores = cross_val_score(decoder, images, data.y, groups=data.runs, cv=LeaveOneGroupOut())
    pipeline = make_pipeline(StandardScaler(), SVDMClassifier(32, shrinkage=0.3))
    expected = cross_val_score(pipeline, data.X, data.y, groups=data.runs, cv=LeaveOneGroupOut())
    np.testing.assert_array_equal(scores, expected)
    assert scores.mean() > 0.7  # chance is 0.125


def test_several_labels_a_sample():
    y = np.column_stack([TWO == "face", np.arange(N) % 3 == 0]).astype(int)
    decoder = make().fit(as_image(signal(TWO)), y)
    assert decoder.predict(as_image(signal(TWO))).shape == (N, 2)
    assert list(decoder.coef_img_) == [0, 1]
    # two labels are not two classes: neither map is the other's negative
    assert abs(voxels(decoder.coef_img_[0]) + voxels(decoder.coef_img_[1])).max() > 1e-6


def test_unknown_labels_take_part():
    y = np.where(np.arange(N) % 5 == 0, None, TWO)
    X = signal(TWO)
    decoder = make().fit(as_image(X), y)
    expected = make_pipeline(StandardScaler(), SVDMClassifier(2)).fit(X, y)
    np.testing.assert_allclose(decoder.coef_, expected[1].coef_, rtol=1e-7, atol=1e-12)


def test_other_kernels_have_no_maps():
    X = signal(TWO)
    decoder = make(kernel="rbf", kernel_params={"gamma": 0.05}).fit(as_image(X), TWO)
    assert decoder.score(as_image(X), TWO) > 0.8
    assert decoder.coef_ is decoder.coef_img_ is decoder.pattern_img_ is decoder.components_img_ is None


def test_the_decoder_knows_every_parameter_of_the_classifier_and_the_search():
    mine = inspect.signature(SVDMDecoder).parameters
    for name, parameter in inspect.signature(SVDMClassifier).parameters.items():
        assert mine[name].default == parameter.default, name
    for name in ("shrinkages", "hinge_weights", "cv", "n_jobs"):
        assert mine[name].default == inspect.signature(SVDMClassifierCV).parameters[name].default
    X = signal(TWO)
    fixed = {"formulation": "constrained", "hinge_weight": 10.0, "stopping": "decrease", "tol": 1e-3}
    decoder = make(**fixed).fit(as_image(X), TWO)
    assert {name: getattr(decoder.estimator_, name) for name in fixed} == fixed


def test_what_was_read_is_kept_in_memory(tmp_path):
    X = signal(TWO)
    plain = make().fit(as_image(X), TWO)
    for _ in range(2):
        cached = make(memory=str(tmp_path), memory_level=2).fit(as_image(X), TWO)
        np.testing.assert_array_equal(cached.coef_, plain.coef_)
    assert list(tmp_path.rglob("*.pkl"))


def test_copies_and_pickles():
    X = signal(TWO)
    decoder = make(shrinkages=(0.1, 1.0)).fit(as_image(X), TWO, RUNS)
    again = pickle.loads(pickle.dumps(decoder))
    np.testing.assert_array_equal(
        again.decision_function(as_image(X)), decoder.decision_function(as_image(X))
    )
    assert not hasattr(clone(decoder), "coef_")


def test_images_are_left_as_they_were():
    X = signal(TWO)
    given = as_image(X)
    before = np.asarray(given.dataobj).copy()
    decoder = make().fit(given, TWO)
    rows = X.copy()
    decoder.predict(rows)
    np.testing.assert_array_equal(np.asarray(given.dataobj), before)
    np.testing.assert_array_equal(rows, X)
    assert isinstance(given, nibabel.Nifti1Image)
