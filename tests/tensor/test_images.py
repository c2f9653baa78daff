"""From NIfTI files to projections of two views, and their weights back to NIfTI files."""

from dataclasses import replace

import nibabel
import numpy as np
import pytest
from imaging.small import AFFINE, SHAPE, brain, design, mask_image, save, volumes

from svdecode import DecomposedTensorSVC, TensorDecomposition
from svdecode.imaging import read_dataset


@pytest.fixture
def scans_and_pictures(tmp_path):
    """A dataset whose columns are the voxels of a 4-D file, and then eight features of pictures."""
    y, runs = design(n_runs=4, per_run=8)
    scans = read_dataset(
        save(volumes(32), tmp_path / "scans.nii.gz"),
        labels=y,
        runs=runs,
        mask=mask_image(),
    )
    pictures = np.random.default_rng(1).standard_normal((32, 8))
    views = {"brain": slice(0, scans.n_features), "picture": slice(scans.n_features, scans.n_features + 8)}
    return replace(scans, X=np.hstack([scans.X, pictures]), views=views)


def written(data, values, tmp_path):
    """An image after it was on disk."""
    nibabel.save(data.image(values), tmp_path / "map.nii.gz")
    image = nibabel.load(tmp_path / "map.nii.gz")
    np.testing.assert_array_equal(image.affine, AFFINE)
    return image.get_fdata()


@pytest.mark.parametrize("center", [True, False])
def test_a_map_reads_the_volumes_as_the_projection_does(scans_and_pictures, tmp_path, center):
    """Weights on disk times volumes on disk, voxel by voxel, are the projections up to a constant."""
    data = scans_and_pictures
    settings = {} if center else {"kernel": ["polynomial", "linear"], "degree": 1, "center": False}
    model = TensorDecomposition(list(data.views.values()), n_projections=3, **settings).fit(data.X, data.y)
    maps = written(data, model.weights_[0], tmp_path)
    assert maps.shape == (*SHAPE, 3)
    assert (maps[~brain()] == 0).all()
    scans = nibabel.load(tmp_path / "scans.nii.gz").get_fdata()
    by_volumes = np.einsum("xyzt,xyzn->nt", maps, scans)
    projections = model.transform(data.X, view=0)
    differences = np.diff(by_volumes, axis=0) - np.diff(projections, axis=0)
    assert np.abs(differences).max() < 1e-9 * np.abs(by_volumes).max()


def test_a_map_a_class(scans_and_pictures, tmp_path):
    data = scans_and_pictures
    kinds = np.array(["cat", "dog", "hat", "cup"])[np.arange(32) % 4]
    views = list(data.views.values())
    weights = TensorDecomposition(views, n_projections=2).fit(data.X, kinds).weights_[0]
    classifier = DecomposedTensorSVC(views, n_projections=2).fit(data.X, kinds)
    assert weights.shape == (4, 2, data.X.shape[1] - 8)
    for rows in (*weights, classifier.coef_[0]):
        np.testing.assert_array_equal(written(data, rows, tmp_path)[brain()].T, rows)
