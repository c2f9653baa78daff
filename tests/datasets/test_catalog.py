"""The catalog: what is known, whether it is there, and files that become datasets."""

import os
from pathlib import Path

import nibabel
import numpy as np
import pytest

from svdecode.datasets import available, info, load

NAMES = [
    "haxby2001_slice", "haxby2011", "woo2014_contrasts", "kriegeskorte92", "objects81",
    "breast_tcga_train", "breast_tcga_test", "colon", "srbct",
]  # fmt: skip
READABLE = ["haxby2011", "woo2014_contrasts", "colon", "srbct"]

real_data = pytest.mark.skipif(
    not os.environ.get("SVDECODE_DATA"), reason="SVDECODE_DATA names no folder of data sets"
)


@pytest.fixture
def folder(tmp_path):
    """Small files of the same layout as the real ones."""
    rng = np.random.default_rng(0)
    mask = np.zeros((3, 2, 2), dtype=bool)
    mask[[0, 1, 2, 2], [0, 1, 0, 1], [1, 0, 0, 1]] = True
    np.savez(
        tmp_path / "haxby2011.npz", X=rng.standard_normal((8, 5)).astype(np.float32), y=np.tile([1, 7], 4),
        subject=np.repeat([1, 2], 4), run=np.tile([1, 1, 2, 2], 2), hemisphere=np.array([1, 1, 2, 2, 2]),
    )  # fmt: skip
    np.savez(
        tmp_path / "woo2014_contrasts.npz", X=rng.standard_normal((4, 4)).astype(np.float32),
        y=np.array([0, 1, 1, 0]), subject=np.array([1, 1, 2, 2]), mask=mask,
        condition_names=np.array(["heat", "warmth"]), affine=np.diag([4.0, 4.0, 4.0, 1.0]),
    )  # fmt: skip
    np.savez(tmp_path / "colon.npz", X=rng.standard_normal((3, 6)), y=np.array([2, 1, 2]))
    np.savez(tmp_path / "srbct.npz", X=rng.standard_normal((4, 6)), y=np.array([1, 2, 3, 4]))
    return tmp_path


def test_everything_known_is_listed(monkeypatch):
    monkeypatch.delenv("SVDECODE_DATA", raising=False)
    records = available()
    assert [record.name for record in records] == NAMES
    assert records[0].where == "embedded"
    assert records[0].found
    for record in records[1:]:
        assert record.where == "$SVDECODE_DATA"
        assert not record.found
        assert record.samples
        assert record.features
        assert "\n" not in record.description


def test_found_is_what_is_there(folder, monkeypatch):
    expected = [name in ["haxby2001_slice", *READABLE] for name in NAMES]
    assert [record.found for record in available(folder)] == expected
    monkeypatch.setenv("SVDECODE_DATA", str(folder))
    assert [record.found for record in available()] == expected
    assert {record.where for record in available()} == {"embedded", str(folder)}


@pytest.mark.parametrize("name", NAMES)
def test_info_tells_how_to_get_it(name, folder):
    text = info(name, folder)
    record = next(r for r in available(folder) if r.name == name)
    for part in (name, record.samples, record.features, record.description, record.where):
        assert part in text
    assert ("not found" in text) == (not record.found)
    loader = {"haxby2001_slice": "load_haxby2001_slice()"} | {n: f"load({n!r})" for n in READABLE}
    assert loader.get(name, f"numpy.load of {name}.npz") in text


def test_runs_subjects_and_hemispheres(folder):
    data = load("haxby2011", folder)
    arrays = np.load(folder / "haxby2011.npz")
    np.testing.assert_array_equal(data.X, arrays["X"])
    assert data.X.dtype == np.float32
    np.testing.assert_array_equal(data.y, arrays["y"])
    np.testing.assert_array_equal(data.runs, arrays["run"])
    np.testing.assert_array_equal(data.subjects, arrays["subject"])
    assert data.views == {"hemisphere 1": slice(0, 2), "hemisphere 2": slice(2, 5)}
    assert data.name == "haxby2011"
    assert "Haxby et al. 2011" in data.description


def test_mask_becomes_an_image(folder, monkeypatch):
    monkeypatch.setenv("SVDECODE_DATA", str(folder))
    data = load("woo2014_contrasts")
    assert data.y.tolist() == ["heat", "warmth", "warmth", "heat"]
    assert data.subjects.tolist() == [1, 1, 2, 2]
    assert data.runs is None
    assert isinstance(data.mask, nibabel.Nifti1Image)
    np.testing.assert_array_equal(data.mask.affine, np.diag([4, 4, 4, 1]))
    arrays = np.load(folder / "woo2014_contrasts.npz")
    image = data.image(data.X[0])
    np.testing.assert_array_equal(image.get_fdata()[arrays["mask"]], arrays["X"][0])


def test_classes_of_gene_expression_have_names(folder):
    assert load("colon", folder).y.tolist() == ["tumor", "normal", "tumor"]
    assert load("srbct", folder).y.tolist() == ["EWS", "BL", "NB", "RMS"]


def test_embedded_data_need_no_folder(monkeypatch):
    monkeypatch.delenv("SVDECODE_DATA", raising=False)
    assert load("haxby2001_slice").X.shape == (96, 530)


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load("colon", tmp_path)
    message = str(caught.value)
    assert message.startswith(f"colon: found no colon.npz in {tmp_path}, expected it there")
    assert "SVDECODE_DATA" in message


@pytest.mark.parametrize("value", [None, ""])
def test_missing_variable_is_named(value, monkeypatch):
    monkeypatch.delenv("SVDECODE_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("SVDECODE_DATA", value)
    with pytest.raises(FileNotFoundError, match=r"SVDECODE_DATA, expected the folder that has colon\.npz"):
        load("colon")


def test_unknown_names_are_refused():
    with pytest.raises(
        ValueError, match="name: found 'haxby', expected one of 'haxby2001_slice', 'haxby2011'"
    ):
        load("haxby")
    with pytest.raises(ValueError, match="name: found 'objects81', expected one of"):
        load("objects81")  # known, but not a Dataset
    with pytest.raises(ValueError, match="name: found 'haxby', expected one of"):
        info("haxby")


@pytest.mark.parametrize("damage", ["text", "half", "other arrays", "other codes"])
def test_damaged_file_is_named(damage, folder):
    path = folder / "colon.npz"
    if damage == "text":
        path.write_text("no archive")
    elif damage == "half":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "other arrays":
        np.savez(path, Z=np.ones(3))
    else:
        np.savez(path, X=np.ones((3, 2)), y=np.array([1, 2, 3]))
    with pytest.raises(ValueError) as caught:
        load("colon", folder)
    assert str(caught.value).startswith(f"colon: found an unreadable {path} (")
    assert "\n" not in str(caught.value)


@real_data
@pytest.mark.parametrize("name", READABLE)
def test_real_files_are_as_described(name):
    if not (Path(os.environ["SVDECODE_DATA"]) / f"{name}.npz").is_file():
        pytest.skip(f"{name}.npz is not in the folder that SVDECODE_DATA names")
    data = load(name)
    record = next(r for r in available() if r.name == name)
    assert record.samples == str(data.n_samples)
    assert record.features.split()[0] == str(data.n_features)
    assert np.isfinite(data.X).all()
    expected = {
        "haxby2011": [56] * 7,
        "woo2014_contrasts": [30] * 4,
        "colon": [22, 40],
        "srbct": [11, 29, 18, 25],
    }
    assert np.unique(data.y, return_counts=True)[1].tolist() == expected[name]


@real_data
def test_real_maps_are_smooth_in_their_mask():
    """Voxels are in C order of the mask: neighbors agree, in every direction."""
    if not (Path(os.environ["SVDECODE_DATA"]) / "woo2014_contrasts.npz").is_file():
        pytest.skip("woo2014_contrasts.npz is not in the folder that SVDECODE_DATA names")
    data = load("woo2014_contrasts")
    volume = data.image(data.X[0]).get_fdata()
    volume[np.asarray(data.mask.dataobj) == 0] = np.nan
    for axis in range(3):
        one, other = np.delete(volume, -1, axis).ravel(), np.delete(volume, 0, axis).ravel()
        both = np.isfinite(one) & np.isfinite(other)
        assert np.corrcoef(one[both], other[both])[0, 1] > 0.8
