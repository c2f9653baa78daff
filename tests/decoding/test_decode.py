"""decode: what follows from the data, accuracies counted by hand, permutations, maps, concerns."""

from dataclasses import replace

import nibabel
import numpy as np
import pytest
from decoding.studies import AFFINE

from svdecode import Study, SVDMClassifier, decode
from svdecode.datasets import load_haxby2001_slice, make_decoding
from svdecode.decoding.analysis import permuted_method
from svdecode.decoding.images import as_bytes, slug
from svdecode.decoding.reviewer import concerns, cramers_v
from svdecode.decoding.settings import settle, stratified_folds
from svdecode.imaging import Dataset
from svdecode.study import leave_one_subject_out, standardize

DATA = load_haxby2001_slice()
DATA = DATA.select(np.isin(DATA.y, ["cat", "face", "house"]) & (DATA.runs <= 6))
USUAL = {
    "protocol": None, "methods": None, "components": None, "standardize": "auto", "n_inner": 5,
    "choice": "best", "n_permutations": 0, "permute": "fixed", "seed": 0,
}  # fmt: skip


def subjects_data(n_subjects=5, n_runs=None, seed=0):
    """A few samples of some subjects, of classes that differ."""
    rng = np.random.default_rng(seed)
    y = np.tile(["a", "b", "c"], 2 * n_subjects)
    subjects = np.repeat(np.arange(n_subjects), 6)
    means = dict(zip("abc", rng.standard_normal((3, 40)), strict=True))
    X = np.array([means[label] for label in y]) + rng.standard_normal((len(y), 40))
    runs = None if n_runs is None else np.arange(len(y)) % n_runs
    return Dataset(X, y, runs=runs, subjects=subjects, name="several")


@pytest.fixture(scope="module")
def result():
    return decode(DATA, components=[2, 3], n_permutations=19)


@pytest.mark.parametrize(
    ("data", "protocol", "by"),
    [
        (DATA, "leave_one_run_out", "run"),
        (subjects_data(), "leave_one_subject_out", "training"),
        (replace(DATA, runs=None), "stratified_folds", "training"),
        (replace(DATA, runs=None, subjects=None), "stratified_folds", "training"),
        (make_decoding(n_subjects=3, random_state=0), "leave_one_subject_out", "run"),
    ],
)
def test_what_follows_from_the_data(data, protocol, by):
    settings, splits = settle(data, **USUAL)
    assert (settings.protocol, settings.standardize, splits.name) == (protocol, by, protocol)
    assert len(settings.why) == 2
    assert settings.title == "SVDM"


def test_what_is_asked_for_is_done():
    settings, _ = settle(
        DATA, **{**USUAL, "protocol": "whole_runs"} | {"protocol": "cycles", "standardize": None}
    )
    assert (settings.protocol, settings.standardize, settings.why) == ("cycles", None, ())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"standardize": "subject"}, "by: found 'subject'"),
        ({"components": []}, "components: found none"),
        ({"methods": ["svdm", "svdm"]}, "twice"),
        ({"permute": "some"}, "permute: found 'some'"),
        ({"n_inner": 1}, "n_inner: found 1"),
        ({"protocol": "leave_one_subject_out"}, "subjects: found one only"),
    ],
)
def test_what_cannot_be_done_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        settle(DATA, **{**USUAL, **options})


def test_stratified_folds_hold_all_classes():
    splits = stratified_folds(replace(DATA, runs=None))
    assert len(splits) == 5
    assert sorted(np.concatenate([part.test for part in splits]).tolist()) == list(range(DATA.n_samples))
    assert all(set(DATA.y[part.test]) == set(DATA.classes) for part in splits)
    with pytest.raises(ValueError, match="a class with one sample only"):
        stratified_folds(Dataset(np.eye(3), np.array(["a", "a", "b"])))


def test_accuracies_are_those_of_fits_by_hand():
    """Each split fitted once more by SVDMClassifier on voxels, with what was chosen inside."""
    result = decode(DATA, methods="svdm", components=[2, 3], n_permutations=0)
    rows = result.folds("SVDM").set_index("fold")
    data = standardize(DATA, "run")
    right = []
    for part in result.splits:
        chosen = rows.loc[part.name]
        model = SVDMClassifier(
            int(chosen["chosen_n_components"]), shrinkage=float(chosen["chosen_shrinkage"])
        )
        correct = (
            model.fit(data.X[part.train], data.y[part.train]).predict(data.X[part.test]) == data.y[part.test]
        )
        assert chosen["accuracy"] == pytest.approx(correct.mean())
        right.extend(correct)
    assert result.headline.accuracy == pytest.approx(np.mean(right))
    assert result.headline.chance == pytest.approx(1 / 3)
    assert result.headline.n_samples == DATA.n_samples
    assert result.permutation is None


def test_permutations_in_own_coordinates_are_those_on_voxels():
    """Standardized by training rows: the short way for permutations gives what the study itself gives."""
    data = subjects_data()
    result = decode(data, methods="linear_svm", n_permutations=5)
    splits = leave_one_subject_out(data)
    study = Study(
        data, permuted_method(splits), lambda _: splits, standardize="training", n_permutations=5, n_inner=5
    )
    long = study.run().permutation_test("SVDM, fixed")
    np.testing.assert_allclose(result.permutation.statistic, long.statistic)
    np.testing.assert_allclose(result.permutation.null, long.null)
    assert result.permutation.resolution == pytest.approx(1 / 6)


def test_permutations_of_everything():
    result = decode(DATA, methods="svdm", components=[1, 2], n_permutations=4, permute="all")
    test = result.permutation
    assert len(test.statistic) == 3  # 1, 2 and chosen inside
    assert test.n_permutations == 4
    assert test.statistic[-1] == pytest.approx(result.headline.accuracy) or test.statistic[
        0
    ] == pytest.approx(result.headline.accuracy)


def test_a_store_is_gone_on_with(tmp_path):
    first = decode(DATA, methods="svdm", components=[2], n_permutations=3, store=tmp_path / "a.sqlite")
    more = decode(DATA, methods="svdm", components=[2], n_permutations=6, store=tmp_path / "a.sqlite")
    np.testing.assert_array_equal(more.permutation.null[:3], first.permutation.null)
    assert len(more.study.store) == 6 + 6 * 7  # splits; splits times permutations with the true labels


def test_images_hold_the_maps_at_their_voxels(result):
    images, maps = result.images, result.maps()["SVDM"]
    assert {"svdm_coefficient_face", "svdm_pattern_cat", "svdm_stability_house", "svdm_components"} <= set(
        images
    )
    image = images["svdm_coefficient_face"]
    face = maps.classes.tolist().index("face")
    np.testing.assert_allclose(
        np.asarray(image.dataobj)[tuple(DATA.positions.T)], maps.coef[face], rtol=1e-6, atol=1e-9
    )
    loaded = nibabel.Nifti1Image.from_bytes(__import__("gzip").decompress(as_bytes(image)))
    np.testing.assert_array_equal(np.asarray(loaded.dataobj), np.asarray(image.dataobj))


def test_components_are_ordered_and_turned(result):
    whole = result.whole
    np.testing.assert_allclose(np.linalg.norm(whole.components, axis=1), 1)
    assert ((whole.components**3).sum(axis=1) >= 0).all()
    Z = whole.coordinates
    between = whole.share * Z.var(axis=0)
    assert (np.diff(between) <= 1e-12).all()
    plain = whole.estimator.training_coordinates_ @ whole.estimator.components_
    np.testing.assert_allclose(Z @ whole.components, plain, atol=1e-8)


def test_two_classes_have_one_map():
    two = decode(DATA.select(DATA.y != "cat"), components=[1, 2], n_permutations=0)
    assert "svdm_coefficient_house-against-face" in two.images
    assert two.report().html().startswith("<!DOCTYPE html>")


def test_widths_are_those_of_the_splits(result):
    """Plain SVD of each split's training rows, by numpy on voxels."""
    data = standardize(DATA, "run")
    plain, new = [], []
    for part in result.splits:
        train = data.X[part.train] - data.X[part.train].mean(axis=0)
        _, s, Vt = np.linalg.svd(train, full_matrices=False)
        plain.append(s[:5] ** 2 / len(train))
        new.append((((data.X[part.test] - data.X[part.train].mean(axis=0)) @ Vt[:5].T) ** 2).mean(axis=0))
    np.testing.assert_allclose(result.widths["SVD"][:5], np.sqrt(np.mean(plain, axis=0)), rtol=1e-6)
    np.testing.assert_allclose(result.widths["new"][:5], np.sqrt(np.mean(new, axis=0)), rtol=1e-6)
    assert (result.widths["GenSVD"] <= result.widths["SVD"] + 1e-9).all()


def told(data, **options):
    return " ".join(concerns(decode(data, methods="linear_svm", **{"n_permutations": 0, **options})))


def test_concerns_of_a_reviewer():
    assert "One subject" in told(DATA)
    assert "Few runs: with 3" in told(DATA.select(DATA.runs <= 3))
    assert "No permutation test" in told(DATA)
    unbalanced = DATA.select((DATA.y != "cat") | (DATA.runs <= 3))
    words = told(unbalanced)
    assert "Unbalanced classes" in words
    assert "Test classes absent" in words
    assert "takes samples as independent" in told(replace(DATA, runs=None))
    assert "Few subjects: with 5" in told(subjects_data())
    assert "smallest that 5 permutations can give" in told(DATA, n_permutations=5)
    rng = np.random.default_rng(0)
    assert "holds the chance level" in told(replace(DATA, X=rng.standard_normal(DATA.X.shape)))


def test_runs_that_tell_labels_are_a_concern():
    y = np.array((["a"] * 5 + ["b"]) * 3 + (["b"] * 5 + ["a"]) * 3)
    X = np.random.default_rng(0).standard_normal((36, 20))
    assert "Label and run go together" in told(Dataset(X, y, runs=np.repeat(np.arange(6), 6)))
    assert "go together" not in told(DATA)


def test_cramers_v():
    labels = np.array(["a", "b"] * 50)
    assert cramers_v(labels, labels) == pytest.approx(1)
    assert cramers_v(labels, np.repeat([0, 1], 50)) == 0
    assert cramers_v(labels, np.zeros(100)) == 0


def test_no_mask_no_images():
    bare = decode(replace(DATA, mask=None, positions=None), components=[2], n_permutations=0)
    assert bare.images == {}
    assert "No mask was given" in bare.report().html()


def test_anatomy_must_lie_on_the_masks_grid(result):
    small = nibabel.Nifti1Image(np.ones((2, 2, 2)), AFFINE)
    spoiled = decode(DATA, methods="svdm", components=[2], n_permutations=0, anatomy=small)
    with pytest.raises(
        ValueError, match=r"anatomy: found 2 × 2 × 2 voxels, expected an image on the mask's grid"
    ):
        spoiled.report().html()


def test_the_same_seed_gives_the_same_page(result):
    again = decode(DATA, components=[2, 3], n_permutations=19, n_jobs=2)
    assert again.table.equals(result.table)
    np.testing.assert_array_equal(again.permutation.null, result.permutation.null)


def test_names_of_files():
    assert slug("SVM on all voxels") == "svm-on-all-voxels"
    assert slug("../../etc/passwd") == "etc-passwd"
    assert slug("顔") == "x"
