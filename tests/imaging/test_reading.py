"""read_dataset: every way in gives the same rows, in words too; oracles are nilearn's own functions."""

import gzip

import nibabel
import numpy as np
import pandas as pd
import pytest
from imaging.small import AFFINE, SHAPE, brain, design, image, mask_image, save, volumes, write_table
from nilearn.image import resample_to_img, smooth_img
from nilearn.masking import apply_mask
from scipy.signal import detrend

from svdecode.datasets import load_haxby2001_slice
from svdecode.datasets.haxby import CATEGORIES, FOLDER
from svdecode.imaging import read_dataset
from svdecode.imaging import volumes as volumes_module

Y, RUNS = design()
DATA = volumes(len(Y))
ROWS = DATA[brain()].T


def check(data, X=ROWS, y=Y, runs=RUNS, **tolerance):
    np.testing.assert_allclose(data.X, X, **({"rtol": 0, "atol": 0} | tolerance))
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal(data.runs, runs)


def three_d_files(folder):
    """volume1.nii.gz to volume12.nii.gz: alphabetically 10 comes before 2."""
    return [save(DATA[..., i], folder / f"volume{i + 1}.nii.gz") for i in range(DATA.shape[3])]


WAYS = {
    "one file": lambda folder: save(DATA, folder / "bold.nii.gz"),
    "text path": lambda folder: str(save(DATA, folder / "bold.nii")),
    "in memory": lambda folder: image(DATA),
    "three files of runs": lambda folder: [
        save(DATA[..., 4 * i : 4 * i + 4], folder / f"run{i}.nii.gz") for i in range(3)
    ],
    "many 3-D files": three_d_files,
    "3-D in memory": lambda folder: [image(DATA[..., i]) for i in range(12)],
    "3-D and 4-D together": lambda folder: [image(DATA[..., 0]), save(DATA[..., 1:], folder / "b.nii")],
    "a folder": lambda folder: three_d_files(folder / "images")[0].parent,
    "a pattern": lambda folder: three_d_files(folder)[0].parent / "volume*.nii.gz",
    "Analyze pair": lambda folder: [
        (nibabel.save(nibabel.Nifti1Pair(DATA, AFFINE), folder / "bold.hdr"), folder / "bold.img")[1]
    ],
    "last axis of length 1": lambda folder: image(DATA[..., None]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunk", [64_000_000, 4000])
def test_images_in_every_form(way, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(volumes_module, "CHUNK_BYTES", chunk)  # 4000: less than ten volumes at a time
    data = read_dataset(WAYS[way](tmp_path), labels=Y, runs=RUNS, mask=mask_image())
    check(data)
    np.testing.assert_array_equal(data.positions, np.argwhere(brain()))
    np.testing.assert_array_equal(data.mask.affine, AFFINE)


def test_a_table_of_paths_brings_its_labels(tmp_path):
    files = three_d_files(tmp_path / "images")
    names = [f"images/{file.name}" for file in files]  # from where the table is
    table = write_table(tmp_path / "t.csv", file=names, label=Y, run=RUNS, subject=["01"] * 6 + ["02"] * 6)
    data = read_dataset(table)
    check(data)
    assert data.subjects.tolist() == ["01"] * 6 + ["02"] * 6
    frame = pd.DataFrame({"image": [str(file) for file in files], "label": Y, "run": RUNS})
    check(read_dataset(frame))


@pytest.mark.parametrize("ending", ["tsv", "csv", "semicolons.csv", "txt", "tsv.gz"])
def test_labels_by_column_name(ending, tmp_path):
    frame = pd.DataFrame({"what": Y, "where": RUNS, "who": ["a"] * 12})
    path = tmp_path / f"labels.{ending}"
    text = frame.to_csv(sep={"csv": ",", "semicolons.csv": ";", "txt": " "}.get(ending, "\t"), index=False)
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode("utf-8-sig"))
    data = read_dataset(
        image(DATA), labels=path, label_column="what", runs="where", subjects="who", mask=mask_image()
    )
    check(data)
    assert set(data.subjects) == {"a"}
    assert data.steps[1] == "Labels: column 'what'; runs: column 'where'; subjects: column 'who'."


def test_usual_names_are_found_and_sessions_count_runs_anew():
    frame = pd.DataFrame({"condition": Y, "session": [1] * 6 + [2] * 6, "run": [1, 1, 1, 2, 2, 2] * 2})
    data = read_dataset(image(DATA), labels=frame, mask=mask_image())
    assert len(np.unique(data.runs)) == 4
    assert data.subjects is None
    alone = read_dataset(image(DATA), labels=frame, runs="session", mask=mask_image())
    np.testing.assert_array_equal(alone.runs, frame["session"])
    assert read_dataset(image(DATA), labels=frame, runs=None, mask=mask_image()).runs is None


def test_arrays(tmp_path):
    np.save(tmp_path / "x.npy", ROWS)
    check(read_dataset(tmp_path / "x.npy", labels=Y, runs=RUNS))
    check(read_dataset(ROWS, labels=Y, runs=RUNS))
    y = np.unique(Y, return_inverse=True)[1]
    np.savez(
        tmp_path / "x.npz", X=ROWS, y=y, run=RUNS, mask=brain(), affine=AFFINE, condition_names=np.unique(Y)
    )
    data = read_dataset(tmp_path / "x.npz")
    check(data)
    np.testing.assert_array_equal(data.positions, np.argwhere(brain()))
    save(brain().astype(np.uint8), tmp_path / "mask.nii")
    np.testing.assert_array_equal(
        read_dataset(ROWS, labels=Y, runs=RUNS, mask=tmp_path / "mask.nii").positions, data.positions
    )


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_tables_of_numbers(ending, tmp_path):
    columns = {f"v{j}": ROWS[:, j] for j in range(5)}
    path = write_table(tmp_path / f"t.{ending}", who=list("ab") * 6, **columns, label=Y, run=RUNS)
    data = read_dataset(path, ignore=["who"])
    check(data, ROWS[:, :5], rtol=1e-15)  # as text
    labels = write_table(tmp_path / "y.tsv", label=Y, run=RUNS)
    check(read_dataset(pd.DataFrame(columns), labels=labels), ROWS[:, :5])


def test_an_array_that_was_given_is_left_as_it_was():
    X = ROWS.copy()
    read_dataset(X, labels=Y, runs=RUNS, detrend=True, standardize="run")
    np.testing.assert_array_equal(X, ROWS)


def test_the_embedded_data_read_from_their_files(tmp_path):
    """The loader of the package does the same by other code."""
    codes, runs = np.loadtxt(FOLDER / "attributes.txt", dtype=int).T
    table = write_table(tmp_path / "t.tsv", label=np.array(CATEGORIES)[codes], chunk=runs + 1)
    data = read_dataset(
        FOLDER / "bold.nii.gz",
        labels=table,
        mask=FOLDER / "mask.nii.gz",
        detrend=True,
        average_blocks=True,
        drop="rest",
    )
    expected = load_haxby2001_slice()
    check(data, expected.X, expected.y, expected.runs, atol=1e-9)  # values of about 1000
    np.testing.assert_array_equal(data.positions, expected.positions)
    volumes_only = read_dataset(
        FOLDER / "bold.nii.gz", labels=table, mask=FOLDER / "mask.nii.gz", drop=["rest"]
    )
    assert volumes_only.n_samples == 864


def test_smoothing_is_nilearns():
    data = read_dataset(image(DATA), labels=Y, runs=RUNS, mask=mask_image(), smoothing_fwhm=5)
    check(data, apply_mask(smooth_img(image(DATA), 5), mask_image()), rtol=1e-12)
    assert "Smoothing: a Gaussian of 5 mm full width at half its height." in data.steps


def test_detrending_and_standardizing_are_by_run():
    trend = np.tile(np.linspace(0, 50, 4), 3)
    data = DATA + brain()[..., None] * trend
    read = read_dataset(image(data), labels=Y, runs=RUNS, mask=mask_image(), detrend=True)
    expected = np.concatenate([detrend(ROWS[run == RUNS], axis=0) for run in (1, 2, 3)])
    check(read, expected, atol=1e-10)
    z = read_dataset(image(DATA), labels=Y, runs=RUNS, mask=mask_image(), standardize="run")
    for run in (1, 2, 3):
        np.testing.assert_allclose(z.X[run == RUNS].mean(axis=0), 0, atol=1e-10)
        np.testing.assert_allclose(z.X[run == RUNS].std(axis=0, ddof=1), 1)


def test_runs_of_one_name_in_two_subjects_are_two():
    subjects = np.array(["a"] * 6 + ["b"] * 6)
    runs = np.array([1, 1, 1, 2, 2, 2] * 2)
    z = read_dataset(
        image(DATA), labels=Y, runs=runs, subjects=subjects, mask=mask_image(), standardize="run"
    )
    for start in range(0, 12, 3):
        np.testing.assert_allclose(z.X[start : start + 3].mean(axis=0), 0, atol=1e-10)
    by_subject = read_dataset(
        image(DATA), labels=Y, runs=runs, subjects=subjects, mask=mask_image(), standardize="subject"
    )
    np.testing.assert_allclose(by_subject.X[:6].mean(axis=0), 0, atol=1e-10)
    assert abs(by_subject.X[:3].mean(axis=0)).max() > 0.1
    assert "1 within each subject" in by_subject.steps[-1]


def test_classes_are_chosen_after_standardizing_and_rest_goes_before():
    y = np.array(["face", "house", "shoe", "rest"] * 3)
    part = read_dataset(
        image(DATA), labels=y, runs=RUNS, mask=mask_image(), drop="rest", classes=["face", "house"],
        standardize="run",
    )  # fmt: skip
    kept = y != "rest"
    X = ROWS[kept].reshape(3, 3, -1)
    z = ((X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)).reshape(9, -1)
    check(part, z[y[kept] != "shoe"], ["face", "house"] * 3, np.repeat([1, 2, 3], 2), rtol=1e-9, atol=1e-9)
    assert [step.split(":")[0] for step in part.steps] == [
        "Samples", "Labels", "Voxels", "Left out", "Standardizing", "Selection",
    ]  # fmt: skip


def test_samples_without_a_label_can_be_left_out(tmp_path):
    table = write_table(tmp_path / "t.tsv", label=[*Y[:11], "n/a"], run=RUNS)
    with pytest.raises(ValueError, match=r"labels: found no label in row 11, expected .*drop='n/a'"):
        read_dataset(image(DATA), labels=table, mask=mask_image())
    check(
        read_dataset(image(DATA), labels=table, mask=mask_image(), drop="n/a"), ROWS[:11], Y[:11], RUNS[:11]
    )


FINER = np.diag([1.5, 1.5, 1.5, 1.0]) + np.array([[0, 0, 0, a] for a in (-9, -12, 6, 0)])


def test_resampling_to_the_mask():
    finer = np.zeros((8, 6, 4), dtype=bool)
    finer[2:6, 2:5, 1:3] = True
    mask = mask_image(finer, FINER)
    with pytest.raises(ValueError, match=r"mask: found 8 × 6 × 4 voxels of 1.5 .* \(or resample=True\)"):
        read_dataset(image(DATA), labels=Y, runs=RUNS, mask=mask)
    data = read_dataset(image(DATA), labels=Y, runs=RUNS, mask=mask, resample=True)
    target = image(np.zeros((8, 6, 4)), FINER)
    moved = resample_to_img(image(DATA), target, force_resample=True, copy_header=True)
    check(data, apply_mask(moved, mask), rtol=1e-10)
    assert any(
        step.startswith("Resampling: 1 of 1 images to the mask's grid of 8 × 6 × 4") for step in data.steps
    )


def test_resampling_the_mask_instead():
    finer = np.zeros((10, 8, 6), dtype=bool)
    finer[2:8, 2:6, :] = True  # brain() at half the size of voxels
    data = read_dataset(image(DATA), labels=Y, runs=RUNS, mask=mask_image(finer, FINER), resample="images")
    check(data)
    assert data.mask.shape == SHAPE


def test_images_on_different_grids_need_resampling():
    moved = AFFINE.copy()
    moved[0, 3] += 1.0
    pair = [image(DATA[..., :6]), image(DATA[..., 6:], moved)]
    with pytest.raises(
        ValueError, match=r"images: found .* in image 1, expected .* in image 0 \(or resample="
    ):
        read_dataset(pair, labels=Y, runs=RUNS, mask=mask_image())
    data = read_dataset(pair, labels=Y, runs=RUNS, mask=mask_image(), resample=True)
    np.testing.assert_array_equal(data.X[:6], ROWS[:6])
    assert abs(data.X[6:] - ROWS[6:]).max() > 1
    in_float32 = AFFINE.astype(np.float32).astype(float) + 1e-6  # as files keep them
    check(read_dataset([pair[0], image(DATA[..., 6:], in_float32)], labels=Y, runs=RUNS, mask=mask_image()))


def test_nan_outside_the_mask_is_harmless():
    data = DATA.copy()
    data[~brain()] = np.nan
    check(read_dataset(image(data), labels=Y, runs=RUNS, mask=mask_image()))
    check(read_dataset(image(data), labels=Y, runs=RUNS))  # and finds the mask


def test_multi_label_indicators_pass_through():
    y = np.column_stack([Y == "face", np.arange(12) % 3 == 0]).astype(int)
    data = read_dataset(image(DATA), labels=y, runs=RUNS, mask=mask_image())
    np.testing.assert_array_equal(data.y, y)
