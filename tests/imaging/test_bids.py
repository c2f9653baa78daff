"""A BIDS folder: derivatives and events, paired by the entities in their names."""

import json

import numpy as np
import pytest
from imaging.small import SHAPE, brain, save, volumes, write_table

from svdecode.imaging import read_dataset

EVENTS = {
    "onset": [4.0, 20.0, 36.0, 52.0],
    "duration": [8.0] * 4,
    "trial_type": ["face", "house", "house", "face"],
}


def data_set(
    root, subjects=("01", "02"), runs=("1", "2", "10"), sessions=(None,), spaces=("MNI",), events=True
):
    """Raw data with events, derivatives with images, masks and repetition times; values tell them apart."""
    (root / "dataset_description.json").write_text("{}", encoding="utf-8")
    out = root / "derivatives" / "prep"
    values = {}
    for s, subject in enumerate(subjects):
        for ses in sessions:
            for r, run in enumerate(runs):
                where = f"sub-{subject}" + (f"/ses-{ses}" if ses else "") + "/func"
                name = f"sub-{subject}" + (f"_ses-{ses}" if ses else "") + f"_task-look_run-{run}"
                if events:
                    write_table(root / where / f"{name}_events.tsv", **EVENTS)
                save(volumes(2), root / where / f"{name}_bold.nii.gz")  # raw: not to be read
                data = volumes(40, seed=10 * s + r)
                values[subject, run] = data
                for space in spaces:
                    stem = f"{name}_space-{space}"
                    save(data, out / where / f"{stem}_desc-preproc_bold.nii.gz")
                    (out / where / f"{stem}_desc-preproc_bold.json").write_text('{"RepetitionTime": 2.0}')
                    mask = brain().copy()
                    mask[1, 1, r] = False  # each run's own
                    save(mask.astype(np.uint8), out / where / f"{stem}_desc-brain_mask.nii.gz")
    (out / "dataset_description.json").write_text(json.dumps({"DatasetType": "derivative"}), encoding="utf-8")
    return out, values


@pytest.mark.parametrize("given", ["the derivatives", "the whole data set"])
def test_images_events_masks_and_times_are_found(given, tmp_path):
    out, values = data_set(tmp_path)
    data = read_dataset(out if given == "the derivatives" else tmp_path, lag=0.0)
    inside = brain().copy()
    inside[1, 1, :] = False  # where all masks overlap
    np.testing.assert_array_equal(np.asarray(data.mask.dataobj) != 0, inside)
    assert data.subjects.tolist() == ["01"] * 12 + ["02"] * 12
    assert data.runs.tolist() == [f"task-look_run-{r}" for r in ("1", "2", "10") for _ in range(4)] * 2
    assert data.y.tolist() == EVENTS["trial_type"] * 6
    np.testing.assert_allclose(data.X[4], values["01", "2"][inside][:, 2:6].mean(axis=1))
    np.testing.assert_allclose(data.X[-1], values["02", "10"][inside][:, 26:30].mean(axis=1))
    assert data.steps[0] == "Images: 6 runs, 240 volumes."


def test_events_of_the_task_serve_all_runs(tmp_path):
    """BIDS inheritance: task-look_events.tsv at the root, one of a subject goes before it."""
    out, _ = data_set(tmp_path, events=False)
    write_table(tmp_path / "task-look_events.tsv", **EVENTS)
    own = EVENTS | {"trial_type": ["face", "face", "house", "house"]}
    write_table(tmp_path / "sub-02" / "sub-02_task-look_events.tsv", **own)
    data = read_dataset(out)
    assert data.select(data.subjects == "01").y.tolist() == EVENTS["trial_type"] * 3
    assert data.select(data.subjects == "02").y.tolist() == own["trial_type"] * 3


def test_sessions_are_part_of_a_runs_name(tmp_path):
    out, _ = data_set(tmp_path, subjects=("01",), runs=("1",), sessions=("a", "b"))
    assert set(read_dataset(out).runs) == {"ses-a_task-look_run-1", "ses-b_task-look_run-1"}


def test_entities_choose(tmp_path):
    out, _ = data_set(tmp_path, spaces=("MNI", "T1w"))
    with pytest.raises(
        ValueError, match=r"images: found two images of one run .* by entities= \(space: MNI, T1w\)"
    ):
        read_dataset(out)
    assert read_dataset(out, entities={"space": "T1w"}).n_samples == 24
    part = read_dataset(out, entities={"space": "MNI", "run": [2, 10], "sub": "02"})
    assert set(part.subjects) == {"02"}
    assert len(set(part.runs)) == 2
    with pytest.raises(
        ValueError, match=r"entities: found no image with space XYZ, expected among space: MNI, T1w"
    ):
        read_dataset(out, entities={"space": "XYZ"})


def test_missing_and_ambiguous_events_are_named(tmp_path):
    out, _ = data_set(tmp_path)
    (tmp_path / "sub-02" / "func" / "sub-02_task-look_run-2_events.tsv").unlink()
    with pytest.raises(
        ValueError,
        match=r"events: found none among 5 events files for sub-02_task-look_run-2_.*, expected one, sub",
    ):
        read_dataset(out)


def test_a_folder_without_images_is_named(tmp_path):
    (tmp_path / "dataset_description.json").write_text("{}", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"images: found no sub-…_bold.nii.gz in .*, expected preprocessed runs"
    ):
        read_dataset(tmp_path)


def test_runs_given_for_a_bids_folder_are_refused(tmp_path):
    out, _ = data_set(tmp_path)
    with pytest.raises(ValueError, match="runs, subjects: found values for a BIDS folder, expected 'auto'"):
        read_dataset(out, runs=[1, 2])
    assert read_dataset(out, subjects=None).subjects is None


def test_a_mask_that_is_given_goes_before_the_runs_own(tmp_path):
    out, _ = data_set(tmp_path)
    mask = save(brain(SHAPE).astype(np.uint8), tmp_path / "mask.nii.gz")
    assert read_dataset(out, mask=mask).n_features == brain().sum()
