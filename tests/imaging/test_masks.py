"""Masks: computed from the mean image, given, or a region of an atlas."""

import numpy as np
import pandas as pd
import pytest
from imaging.small import AFFINE, SHAPE, brain, design, image, mask_image, save, volumes, write_table
from nilearn.masking import compute_epi_mask

from svdecode.imaging import read_dataset

Y, RUNS = design()
DATA = volumes(12)
ATLAS = np.zeros(SHAPE, dtype=np.int16)
ATLAS[1, 1:3, :], ATLAS[2, 1:3, :], ATLAS[3, 1:3, :] = 1, 2, 7


def read(images=None, **options):
    return read_dataset(image(DATA) if images is None else images, labels=Y, runs=RUNS, **options)


def test_the_background_is_found():
    data = read()
    np.testing.assert_array_equal(np.asarray(data.mask.dataobj) != 0, brain())
    assert "differ from the background" in data.steps[2]
    assert "12 volumes" in data.steps[2]


def test_voxels_that_are_not_finite_everywhere_are_left_out():
    holed = DATA.copy()
    holed[2, 2, 1, 5] = np.nan
    inside = np.asarray(read(image(holed)).mask.dataobj) != 0
    assert not inside[2, 2, 1]
    assert inside.sum() == brain().sum() - 1


def test_epi_strategy_is_nilearns():
    rng = np.random.default_rng(0)
    shape = (20, 20, 20)
    grid = np.linalg.norm(np.indices(shape) - 9.5, axis=0)
    data = np.where(grid < 7, 500.0, 5.0)[..., None] + rng.standard_normal((*shape, 12))
    found = read(image(data), mask="epi")
    expected = compute_epi_mask(image(data.mean(axis=3)))
    np.testing.assert_array_equal(np.asarray(found.mask.dataobj), np.asarray(expected.dataobj))
    data[9, 9, 9, 4] = np.nan  # a hole that the strategy would fill
    holed = np.asarray(read(image(data), mask="epi").mask.dataobj)
    assert not holed[9, 9, 9]
    assert holed.sum() == found.n_features - 1


@pytest.mark.parametrize("kind", ["in memory", "a path", "text"])
def test_given(kind, tmp_path):
    inside = ATLAS > 1
    path = save(inside.astype(np.uint8), tmp_path / "mask.nii.gz")
    mask = {"in memory": mask_image(inside), "a path": path, "text": str(path)}[kind]
    np.testing.assert_array_equal(read(mask=mask).X, DATA[inside].T)


def test_regions_of_an_atlas(tmp_path):
    atlas = save(ATLAS, tmp_path / "atlas_dseg.nii.gz")
    np.testing.assert_array_equal(read(mask=atlas, region=7).X, DATA[ATLAS == 7].T)
    with pytest.raises(ValueError, match="region: found the name 'V1' without a table of names"):
        read(mask=atlas, region="V1")
    write_table(tmp_path / "atlas_dseg.tsv", index=[1, 2, 7], name=["V1", "V2", "FFA"])
    data = read(mask=atlas, region=["V1", "FFA"])
    np.testing.assert_array_equal(data.X, DATA[np.isin(ATLAS, [1, 7])].T)
    assert data.steps[2] == "Voxels: region V1, FFA of the atlas atlas_dseg.nii.gz (12 voxels)."
    elsewhere = write_table(tmp_path / "names.csv", value=[2], region=["V2"])
    assert read(mask=atlas, region="V2", region_names=elsewhere).n_features == 6


BAD = {
    "region without an atlas": ({"region": 3}, "region: found 3 without an atlas"),
    "region nobody has": ({"mask": image(ATLAS), "region": 3}, "region: found 3, which no voxel of the atl"),
    "unknown name": (
        {"mask": image(ATLAS), "region": "V9", "region_names": {"index": [1], "name": ["V1"]}},
        "region: found 'V9', expected one of 'V1'",
    ),
    "table without names": (
        {"mask": image(ATLAS), "region": "V1", "region_names": {"index": [1], "title": ["V1"]}},
        "region_names: found no column 'name' in the table, expected one of 'index', 'title'",
    ),
    "probabilities": ({"mask": image(ATLAS / 10), "region": 1}, "mask: found 0.1, expected an atlas"),
    "empty": ({"mask": image(0 * ATLAS)}, "mask: found 0 in every voxel of the image, expected at least one"),
    "NaN": ({"mask": image(np.where(ATLAS, 1, np.nan))}, "mask: found NaN in the image"),
    "4-D": ({"mask": image(DATA)}, "mask: found 12 volumes, expected one"),
    "unknown word": ({"mask": "brian"}, "mask: found no file brian, expected an image's, or one of 'back"),
    "no image": ({"mask": 3}, "mask: found int, expected images"),
    "other shape": ({"mask": image(ATLAS[:4])}, "mask: found 4 × 4 × 3 voxels of 3 × 3 × 3 mm"),
    "other place": ({"mask": image(ATLAS, np.diag([4, 4, 4, 1]))}, "mask: found 5 × 4 × 3 voxels of 4 × 4 "),
    "elsewhere": (
        {"mask": image(ATLAS, AFFINE + 500 * np.eye(4, k=3)), "resample": "images"},
        "mask: found no voxel where the images are",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_masks_are_named(case):
    options, message = BAD[case]
    if isinstance(options.get("region_names"), dict):
        options = options | {"region_names": pd.DataFrame(options["region_names"])}
    with pytest.raises(ValueError) as caught:
        read(**options)
    assert str(caught.value).startswith(message), caught.value
    assert "expected" in str(caught.value)


def test_images_without_anything_have_no_mask():
    with pytest.raises(ValueError, match="images: found 0 in every voxel of every image, expected values"):
        read(image(0 * DATA))
    with pytest.raises(ValueError, match="images: found NaN in every voxel of volume 3 of the image"):
        read(image(np.where(np.arange(12) == 3, np.nan, DATA)))
