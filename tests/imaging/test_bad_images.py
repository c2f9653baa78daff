"""What a user can do wrong with images and tables: one line that names argument, found and expected."""

import nibabel
import numpy as np
import pandas as pd
import pytest
from imaging.small import brain, design, image, mask_image, save, volumes, write_table

from svdecode import SVDMDecoder
from svdecode.imaging import read_dataset

Y, RUNS = design()
DATA = volumes(12)


def read(images=None, **options):
    known = {"labels": Y, "runs": RUNS, "mask": mask_image()}
    return read_dataset(image(DATA) if images is None else images, **(known | options))


def refused(message, images=None, **options):
    with pytest.raises(ValueError) as caught:
        read(images, **options)
    said = str(caught.value)
    assert said.startswith(message), said
    assert "expected" in said
    assert "\n" not in said


@pytest.mark.parametrize("ending", [".nii", ".nii.gz"])
@pytest.mark.parametrize("left", [0.02, 0.5, 0.97])
def test_a_truncated_file(ending, left, tmp_path):
    path = save(DATA, tmp_path / f"bold{ending}")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(left * len(whole))])
    refused(f"images: found an unreadable bold{ending} (", path)
    refused(f"images: found an unreadable bold{ending} (", path, mask=None)


def test_a_file_that_is_something_else(tmp_path):
    path = tmp_path / "bold.nii"
    path.write_text("These are not the voxels you are looking for. " * 20, encoding="utf-8")
    refused("images: found an unreadable bold.nii (", path)
    (tmp_path / "empty.nii").touch()
    refused("images: found an unreadable empty.nii (", tmp_path / "empty.nii")


def test_no_affine(tmp_path):
    refused("images: found no affine in the image, expected one", nibabel.Nifti1Image(DATA, None))
    silent = image(DATA)
    silent.set_sform(None, code=0)
    silent.set_qform(None, code=0)
    nibabel.save(silent, tmp_path / "bold.nii")
    refused("images: found no affine in bold.nii (sform and qform codes are 0)", tmp_path / "bold.nii")
    flat, nowhere = image(DATA), image(DATA)
    flat.affine[:, 0] = 0
    nowhere.affine[2, 3] = np.nan
    refused("images: found the affine [[0.0, ", flat)
    refused("images: found the affine [[3.0, ", nowhere)


def test_volumes_of_nan_and_of_zeros(tmp_path):
    files = [save(DATA[..., i], tmp_path / f"v{i}.nii.gz") for i in range(12)]
    save(np.full(DATA.shape[:3], np.nan), files[7])
    refused("images: found NaN or infinity in every voxel, v7.nii.gz, expected numbers", files)
    refused("images: found NaN in every voxel of v7.nii.gz", files, mask=None)
    save(np.zeros(DATA.shape[:3]), files[7])
    refused("images: found 0 in every voxel of the mask in v7.nii.gz", files)
    refused("images: found 0 in every voxel of the mask in v7.nii.gz", files, mask=None)
    one_nan, one_inf = DATA.copy(), DATA.copy()
    one_nan[2, 2, 1, 5] = np.nan
    one_inf[2, 2, 1, 5] = np.inf
    for data in (one_nan, one_inf):
        message = "images: found NaN or infinity in 1 voxels of the mask, volume 5 of the image"
        refused(message, image(data))
        refused(message, image(data), smoothing_fwhm=4)
    zero = DATA * (np.arange(12) != 3)
    refused("images: found 0 in every voxel of the mask in volume 3 of the image", image(zero))


OTHER = {
    "no file": ("images: found no file nowhere.nii, expected an image", "nowhere.nii"),
    "empty list": ("images: found list, expected images", []),
    "a number": ("images: found int, expected images", 3),
    "objects": ("images: found dict, expected images", [{}]),
    "two dimensions": ("images: found shape (5, 4) in the image, expected three or", image(DATA[..., 0, 0])),
    "five dimensions": ("images: found shape (5, 4, 3, 6, 2)", image(DATA.reshape(5, 4, 3, 6, 2))),
    "no volumes": ("images: found an empty image, of shape (5, 4, 3, 0)", image(DATA[..., :0])),
    "an array of volumes": ("images: found an array of shape (5, 4, 3, 12), expected two dim", DATA),
    "different shapes": (
        "images: found 4 × 4 × 3 voxels of 3 × 3 × 3 mm from (-9, -12, 6) in image 1, expected 5 × 4 × 3",
        [image(DATA), image(DATA[:4])],
    ),
}


@pytest.mark.parametrize("case", OTHER)
def test_other_images(case):
    message, images = OTHER[case]
    y = np.resize(Y, 24) if case == "different shapes" else Y
    refused(message, images, labels=y, runs=None)


def test_an_empty_folder_and_pattern(tmp_path):
    refused(f"images: found no image in {tmp_path}, expected files that end in .nii", tmp_path)
    refused("images: found no image in", tmp_path / "*.nii")


def test_a_missing_column_lists_those_that_exist(tmp_path):
    table = write_table(tmp_path / "t.tsv", condition=Y, chunk=RUNS, age=[20] * 12)
    there = "expected one of 'condition', 'chunk', 'age'"
    message = "found no column 'emotion' in the table, " + there
    refused("label_column: " + message, labels=table, label_column="emotion", runs=None)
    refused("runs: " + message, labels=table, runs="emotion")
    refused("subjects: " + message, labels=table, subjects="emotion")
    frame = pd.DataFrame({"a": Y})
    refused("labels: found no column 'label' in the table, expected one of 'a'", labels=frame, runs=None)


def test_lengths_that_differ(tmp_path):
    for n in (11, 13):
        table = write_table(tmp_path / "t.csv", label=np.resize(Y, n), run=np.resize(RUNS, n))
        message = f"labels: found {n} rows in the table, expected one for each of the 12 samples"
        refused(message, labels=table, runs="auto")
        refused(f"labels: found {n} labels, expected one for each of the 12", labels=np.resize(Y, n))
        refused(f"runs: found {n} labels, expected one for each of the 12 samples", runs=np.resize(RUNS, n))
    refused("labels: found one value, expected one for each", labels=np.array("face"))
    refused("runs: found an array of shape (12, 1), expected one for each", runs=RUNS[:, None])
    refused("labels: found None, expected a table", labels=None)


def test_rows_in_another_order(tmp_path):
    files = [save(DATA[..., i], tmp_path / f"v{i}.nii.gz") for i in range(12)]
    names = [file.name for file in files]
    good = write_table(tmp_path / "good.tsv", file=names, label=Y, run=RUNS)
    np.testing.assert_array_equal(read(files, labels=good, runs="auto").X, DATA[brain()].T)
    names[2], names[3] = names[3], names[2]
    bad = write_table(tmp_path / "bad.tsv", file=names, label=Y, run=RUNS)
    refused("labels: found 'v3.nii.gz' in column 'file', row 2, expected v2.nii.gz", files, labels=bad)
    for first in (0, 1):
        numbers = np.arange(first, first + 12)
        read(labels=pd.DataFrame({"label": Y, "volume": numbers}))
        numbers[[4, 5]] = numbers[[5, 4]]
        message = f"labels: found {first + 5} in column 'volume', row 4, expected {first + 4}"
        refused(message, labels=pd.DataFrame({"label": Y, "volume": numbers}))


def test_cells_that_are_empty(tmp_path):
    table = write_table(tmp_path / "t.tsv", label=Y, run=[*RUNS[:11], "n/a"])
    refused("runs: found no value in row 11, expected one in every row", labels=table, runs="run")
    refused("labels: found no label in row 1, expected one in every row", labels=["face", None] * 6)


def test_tables_that_cannot_be_read(tmp_path):
    refused("labels: found no file t.csv, expected a table", labels="t.csv")
    (tmp_path / "t.csv").write_text("label,run\n", encoding="utf-8")
    refused("labels: found no rows in t.csv", labels=tmp_path / "t.csv")
    (tmp_path / "u.csv").write_bytes(b"")
    refused("labels: found an unreadable u.csv (", labels=tmp_path / "u.csv")
    (tmp_path / "v.tsv").write_bytes(b"label\trun\n\xff\xfe\t1\n")
    refused("labels: found an unreadable v.tsv (", labels=tmp_path / "v.tsv")
    (tmp_path / "w.tsv.gz").write_bytes(b"not compressed")
    refused("labels: found an unreadable w.tsv.gz (", labels=tmp_path / "w.tsv.gz")


def test_columns_that_are_no_numbers(tmp_path):
    table = write_table(tmp_path / "x.csv", a=range(12), b=list("uv") * 6, c=list("wx") * 6, label=Y)
    message = "images: found columns that are no numbers (b, c), expected numbers"
    refused(message, table, labels=None, runs=None, mask=None)
    holed = write_table(tmp_path / "y.csv", a=[1, "n/a"] * 6, label=Y)
    refused("images: found no number in row 1, column 'a'", holed, labels=None, runs=None, mask=None)


def test_arrays_that_are_no_samples(tmp_path):
    numbers = {"mask": None, "runs": None}
    np.save(tmp_path / "x.npy", DATA)
    refused(
        "images: found an array of shape (5, 4, 3, 12), expected two dimensions",
        tmp_path / "x.npy",
        **numbers,
    )
    np.savez(tmp_path / "x.npz", bold=DATA)
    refused("images: found the arrays bold in x.npz, expected X", tmp_path / "x.npz", **numbers)
    np.savez(tmp_path / "z.npz", X=DATA[brain()].T, mask=brain())
    refused("mask: found no array affine beside mask in z.npz", tmp_path / "z.npz", **numbers)
    (tmp_path / "y.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:200])
    refused("images: found an unreadable y.npz (", tmp_path / "y.npz", **numbers)
    np.save(tmp_path / "o.npy", np.array([[{}]], dtype=object))
    refused("images: found an unreadable o.npy (", tmp_path / "o.npy", **numbers)
    refused("images: found no file", tmp_path / "nowhere.npy", **numbers)
    X = DATA[brain()].T.copy()
    X[3, 2] = np.nan
    refused("images: found NaN in row 3, column 2, expected finite numbers", X, **numbers)
    X[3] = 0
    refused("images: found only 0 in row 3, expected values", X, **numbers)
    refused(
        "mask: found 18 voxels, expected one for each of the 4 features", DATA[brain()].T[:, :4], runs=None
    )
    for option in ({"smoothing_fwhm": 4.0}, {"region": 1}, {"resample": True}):
        name = next(iter(option))
        refused(f"{name}: found {option[name]!r} for samples that are numbers", DATA[brain()].T, **option)


def test_one_run_only():
    refused("runs: found one run only (1), expected at least two", runs=np.ones(12, dtype=int))
    assert read(runs=np.ones(12, dtype=int), subjects=["a"] * 6 + ["b"] * 6).n_samples == 12


def test_a_class_in_one_run_only():
    y = Y.astype("<U9")
    y[4] = "telephone"
    refused(
        "labels: found the class 'telephone' in run 2 only, expected every class in at least two", labels=y
    )
    assert read(labels=y, drop="telephone").n_samples == 11
    subjects = ["a"] * 4 + ["b"] * 8
    refused("labels: found the class 'telephone' in run 2 of subject b only", labels=y, subjects=subjects)


def test_a_run_of_one_class():
    y = np.where(RUNS == 3, "face", Y)
    refused(
        "runs: found only the class 'face' in run 3, expected at least two classes in every run", labels=y
    )
    assert read(labels=y, runs=None).runs is None


OPTIONS = {
    "standardize": ({"standardize": "zscore"}, "standardize: found 'zscore', expected one of None, 'run'"),
    "without subjects": ({"standardize": "subject"}, "standardize: found 'subject' without subjects"),
    "without runs": ({"standardize": "run", "runs": None}, "standardize: found 'run' without runs"),
    "runs of one": ({"standardize": "run", "runs": np.arange(12)}, "standardize: found a run of one sample"),
    "short runs": ({"detrend": True, "runs": np.arange(12) // 2}, "detrend: found a run of 2 samples"),
    "smoothing": ({"smoothing_fwhm": -1}, "smoothing_fwhm: found -1, expected a finite number above 0"),
    "resample": ({"resample": "mask"}, "resample: found 'mask', expected one of False, True, 'images'"),
    "drop": ({"drop": "rest"}, "drop: found 'rest', expected among the labels 'face', 'house'"),
    "drop all": ({"drop": ["face", "house"]}, "drop: found every label of the data"),
    "classes": (
        {"classes": ["face", "cat"]},
        "classes: found 'cat', expected at least two of 'face', 'house'",
    ),
    "one class": ({"classes": "face"}, "classes: found 1 class, expected at least two"),
    "column without table": ({"label_column": "a"}, "label_column: found 'a' without a table"),
    "runs without table": ({"runs": "a"}, "runs: found the column 'a' without a table"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(case):
    options, message = OPTIONS[case]
    refused(message, **options)


def decode(imgs, y=Y, runs=RUNS, **options):
    known = {"n_components": 2, "mask": mask_image()}
    return SVDMDecoder(**(known | options)).fit(imgs, y, runs)


HOLED = np.where(np.arange(12) == 3, np.nan, DATA)
DECODING = {
    "too few labels": ({"y": Y[:11]}, "y: found 11 labels, expected one for each of the 12 images"),
    "no labels": ({"y": None}, "y: found None, expected labels"),
    "one class": ({"y": ["face"] * 12}, "y: found"),
    "runs of other length": ({"runs": RUNS[:11]}, "runs: found 11 labels"),
    "one run": ({"runs": np.ones(12), "shrinkages": (0.1, 1.0)}, "groups: found one group only"),
    "an array": ({"imgs": DATA[brain()].T}, "imgs: found an array of shape (12, 18), expected images"),
    "an empty list": ({"imgs": []}, "imgs: found an empty list"),
    "NaN": ({"imgs": image(HOLED)}, "imgs: found NaN or infinity in every voxel, volume 3 of the image"),
    "zeros": (
        {"imgs": image(DATA * (np.arange(12) != 3))}, "imgs: found 0 in every voxel of the mask in volume 3",
    ),
    "no affine": ({"imgs": nibabel.Nifti1Image(DATA, None)}, "imgs: found no affine"),
    "an empty mask": ({"mask": mask_image(0 * brain())}, "mask: found 0 in every voxel"),
    "a mask elsewhere": (
        {"mask": mask_image(affine=np.diag([4, 4, 4, 1]))}, "mask: found 5 × 4 × 3 voxels of 4 × 4 × 4 mm",
    ),
    "images of two grids": (
        {"imgs": [image(DATA[..., :6]), image(DATA[..., 6:], np.diag([4, 4, 4, 1]))]},
        "imgs: found 5 × 4 × 3 voxels of 4 × 4 × 4 mm from (0, 0, 0) in image 1, expected",
    ),
    "standardize": ({"standardize": "zscore"}, "standardize: found 'zscore', expected one of 'training'"),
    "strategy": ({"mask": None, "mask_strategy": "skull"}, "mask_strategy: found 'skull', expected one of"),
    "n_components": ({"n_components": 0}, "n_components: found 0, expected an integer of at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("case", DECODING)
def test_what_a_decoder_refuses(case):
    options, message = DECODING[case]
    options = dict(options)
    fit = {name: options.pop(name) for name in ("imgs", "y", "runs") if name in options}
    with pytest.raises(ValueError) as caught:
        decode(**({"imgs": image(DATA), "y": Y, "runs": RUNS} | fit), **options)
    said = str(caught.value)
    assert said.startswith(message), said
    assert "\n" not in said


def test_what_a_fitted_decoder_refuses():
    decoder = decode(image(DATA))
    with pytest.raises(
        ValueError, match=r"imgs: found .* in the image, expected .* as in the mask \(or target_a"
    ):
        decoder.predict(image(DATA, np.diag([4, 4, 4, 1])))
    with pytest.raises(ValueError, match=r"imgs: found 0 in every voxel of the mask in the image"):
        decoder.predict(image(0 * DATA[..., 0]))
    with pytest.raises(ValueError, match=r"X has 4 features per sample; expecting 18"):
        decoder.predict(DATA[brain()].T[:, :4])
    alone = decode(image(DATA), standardize="zscore_sample")
    with pytest.raises(ValueError, match=r"standardize: found 'zscore_sample' for a single image"):
        alone.predict(image(DATA[..., 0]))
