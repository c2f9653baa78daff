"""Dataset: what it refuses, what a selection keeps, and values to images and back."""

import nibabel
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from svdecode.imaging import Dataset

SHAPE = (4, 3, 2)


def make_mask(voxels=((0, 0, 0), (1, 2, 1), (3, 1, 0)), shape=SHAPE):
    inside = np.zeros(shape, dtype=np.uint8)
    inside[tuple(np.transpose(voxels))] = 1
    return nibabel.Nifti1Image(inside, np.diag([3.0, 3.0, 3.0, 1.0]))


def make(n=6, m=3, **changes):
    known = {
        "X": np.arange(n * m, dtype=float).reshape(n, m),
        "y": np.array(["face", "house"] * (n // 2)),
        "runs": np.repeat([1, 2, 3], n // 3),
        "subjects": np.ones(n, dtype=int),
        "mask": make_mask(),
    }
    return Dataset(**(known | changes))


BAD = {
    "X of one dimension": ({"X": np.zeros(6)}, "X: found an array of shape (6,)"),
    "X of text": ({"X": np.full((6, 3), "a")}, "X: found values that are no numbers"),
    "column of text": (
        {"X": pd.DataFrame({"a": range(6), "b": list("uvwxyz")})}, "X: found columns that are no numbers (b)",
    ),
    "y too short": ({"y": ["face"] * 5}, "y: found 5 labels, expected one for each of the 6 rows"),
    "y a scalar": ({"y": "face"}, "y: found one value"),
    "y of three dimensions": ({"y": np.zeros((6, 2, 2))}, "y: found an array of shape (6, 2, 2)"),
    "y without columns": ({"y": np.zeros((6, 0))}, "y: found an array of shape (6, 0)"),
    "y not known": ({"y": [0, 1, 0, 1, 0, np.nan]}, "y: found no label in row 5"),
    "y None": ({"y": ["face", None] * 3}, "y: found no label in row 1"),
    "y of mixed types": (
        {"y": np.array(["a", 1] * 3, dtype=object)}, "y: found labels of several types (int, str)",
    ),
    "y continuous": ({"y": np.linspace(0, 1, 6)}, "y: found 0.2, expected class labels"),
    "y indicator of 2": ({"y": np.full((6, 2), 2)}, "y: found 2 in a multi-label indicator"),
    "y indicator of -1": ({"y": np.tile([-1.0, 1.0], (6, 1))}, "y: found -1.0 in a multi-label"),
    "y indicator of text": ({"y": np.full((6, 2), "a")}, "y: found <U1 values in 2 columns"),
    "runs too long": ({"runs": np.ones(7)}, "runs: found 7 labels, expected one for each of the 6"),
    "runs NaN": ({"runs": [1, 1, np.nan, 2, 2, 2]}, "runs: found no label in row 2"),
    "runs of two dimensions": ({"runs": np.ones((6, 1))}, "runs: found an array of shape (6, 1)"),
    "subjects NaN": ({"subjects": [np.nan, 1, 1, 1, 1, 1]}, "subjects: found no label in row 0"),
    "subjects a scalar": ({"subjects": 1}, "subjects: found an array of shape ()"),
    "mask an array": ({"mask": np.ones(SHAPE)}, "mask: found ndarray, expected a nibabel image"),
    "mask empty": ({"mask": make_mask(np.zeros((0, 3), dtype=int))}, "mask: found no voxel that is not zero"),
    "mask of two voxels": (
        {"mask": make_mask([(0, 0, 0), (1, 0, 0)])}, "mask: found 2 voxels, expected one for each of the 3",
    ),
    "mask of four dimensions": (
        {"mask": nibabel.Nifti1Image(np.ones((3, 1, 1, 1), dtype=np.uint8), np.eye(4))},
        "mask: found an image of shape (3, 1, 1, 1), expected three dimensions",
    ),
    "mask with NaN": (
        {"mask": nibabel.Nifti1Image(np.array([1, 1, 1, np.nan]).reshape(4, 1, 1), np.eye(4))},
        "mask: found NaN",
    ),
    "positions elsewhere": (
        {"positions": np.array([[0, 0, 0], [1, 2, 0], [3, 1, 0]])},
        "positions: found [1, 2, 0] for feature 1, expected the voxels of the mask in C order, there [1, 2, ",
    ),
    "positions of two coordinates": (
        {"positions": np.zeros((3, 2), int)}, "positions: found an array of shape (3, 2)",
    ),
    "positions too many": ({"positions": np.zeros((4, 3), int)}, "positions: found an array of shape (4, 3)"),
    "positions in mm": ({"positions": np.full((3, 3), 1.5)}, "positions: found float64 values, expected int"),
    "view no slice": ({"views": {"left": [0, 1]}}, "views: found [0, 1] for 'left', expected a slice"),
    "view too wide": ({"views": {"left": slice(0, 4)}}, "views: found slice(0, 4, None) for 'left'"),
    "view empty": ({"views": {"left": slice(2, 2)}}, "views: found slice(2, 2, None) for 'left'"),
    "view with gaps": ({"views": {"left": slice(0, 3, 2)}}, "views: found slice(0, 3, 2) for 'left'"),
    "view without end": ({"views": {"left": slice(1, None)}}, "views: found slice(1, None, None)"),
    "truth of other length": ({"truth": {"sample_z": np.ones(5)}}, "truth: found 5 rows in 'sample_z'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    changes, message = BAD[case]
    with pytest.raises(ValueError) as caught:
        make(**changes)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert "expected" in str(caught.value)


def test_what_is_fine_is_kept():
    data = make(y=[0.0, 1.0] * 3)
    assert data.classes.tolist() == [0, 1]
    assert (data.n_samples, data.n_features) == (6, 3)
    np.testing.assert_array_equal(data.positions, [[0, 0, 0], [1, 2, 1], [3, 1, 0]])
    again = make(positions=data.positions, mask=None)
    np.testing.assert_array_equal(again.positions, data.positions)


def test_unknown_labels_of_an_indicator():
    y = np.array([[0, 1], [1, np.nan], [np.nan, np.nan]] * 2)
    data = make(y=y)
    assert data.classes.tolist() == [0, 1]
    np.testing.assert_array_equal(data.select([2, 0]).y, y[[2, 0]])
    assert "2 labels" in repr(data)


def test_a_missing_view_is_allowed():
    """NaN in X is for the methods to judge: a sample may lack a view."""
    X = np.ones((6, 3))
    X[2, :2] = np.nan
    data = make(X=X, views={"a": slice(0, 2), "b": slice(2, 3)})
    assert np.isnan(data.X[2, data.views["a"]]).all()


@pytest.mark.parametrize(
    "rows", [[4, 1], np.array([0, 0, 5]), slice(1, 6, 2), np.arange(6) % 2 == 0, -1, [False] * 5 + [True]]
)
def test_select_keeps_everything_in_step(rows):
    coordinates = np.random.default_rng(0).standard_normal((6, 2))
    truth = {"patterns": np.ones((2, 3)), "sample_coordinates": coordinates}
    data = make(truth=truth, name="n", description="d", subjects=np.arange(6))
    part = data.select(rows)
    expected = np.atleast_1d(np.arange(6)[rows])
    np.testing.assert_array_equal(part.subjects, expected)
    np.testing.assert_array_equal(part.X, data.X[expected])
    np.testing.assert_array_equal(part.y, data.y[expected])
    np.testing.assert_array_equal(part.runs, data.runs[expected])
    np.testing.assert_array_equal(part.truth["sample_coordinates"], coordinates[expected])
    np.testing.assert_array_equal(part.truth["patterns"], np.ones((2, 3)))
    assert part.mask is data.mask
    assert (part.name, part.description) == ("n", "d")
    assert data.n_samples == 6


def test_select_leaves_sparse_data_sparse_and_slices_uncopied():
    X = sp.csr_array(np.arange(18.0).reshape(6, 3) % 4)
    part = make(X=X).select([3, 0])
    assert sp.issparse(part.X)
    np.testing.assert_array_equal(part.X.toarray(), X.toarray()[[3, 0]])
    data = make()
    assert np.shares_memory(data.select(slice(0, 4)).X, data.X)


def test_select_without_runs_or_subjects():
    part = make(runs=None, subjects=None).select([0, 1])
    assert part.runs is None
    assert part.subjects is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows: found a selection of shape (0,), expected at least one sample"),
        (np.zeros(6, dtype=bool), "rows: found a selection of shape (0,)"),
        (np.ones(5, dtype=bool), "rows: found "),
        ([6], "rows: found "),
        ([0.5], "rows: found "),
        ([[0, 1], [2, 3]], "rows: found a selection of shape (2, 2)"),
    ],
)
def test_bad_selection_is_named(rows, message):
    with pytest.raises(ValueError) as caught:
        make().select(rows)
    assert str(caught.value).startswith(message)
    assert "expected" in str(caught.value)


def test_image_round_trip():
    data = make()
    image = data.image(data.X)
    assert image.shape == (*SHAPE, 6)
    np.testing.assert_array_equal(image.affine, data.mask.affine)
    values = image.get_fdata()
    inside = np.asarray(data.mask.dataobj) != 0
    np.testing.assert_array_equal(values[inside].T, data.X)
    assert not values[~inside].any()
    np.testing.assert_array_equal(values[1, 2, 1], data.X[:, 1])
    single = data.image(data.X[2])
    assert single.shape == SHAPE
    np.testing.assert_array_equal(single.get_fdata(), values[..., 2])


def test_image_survives_the_disk(tmp_path):
    data = make()
    nibabel.save(data.image(data.X[1]), tmp_path / "map.nii.gz")
    nibabel.save(data.mask, tmp_path / "mask.nii.gz")
    inside = nibabel.load(tmp_path / "mask.nii.gz").get_fdata() != 0
    np.testing.assert_allclose(nibabel.load(tmp_path / "map.nii.gz").get_fdata()[inside], data.X[1])


def test_image_of_the_view_that_has_a_place():
    """Two views, of which the first is the brain's: the other columns have no place in the image."""
    mask = make_mask()
    positions = np.argwhere(np.asarray(mask.dataobj) != 0)
    views = {"brain": slice(0, 3), "words": slice(3, 5)}
    data = make(m=5, mask=mask, positions=positions, views=views)
    np.testing.assert_array_equal(
        data.image(data.X[0]).get_fdata(), data.image(data.X[0, data.views["brain"]]).get_fdata()
    )


@pytest.mark.parametrize("values", [np.ones(2), np.ones((2, 4)), np.ones((1, 1, 3)), 1.0])
def test_image_of_wrong_length_is_named(values):
    with pytest.raises(ValueError, match=r"values: found shape .* expected 3 values a map"):
        make().image(values)


def test_image_needs_a_mask():
    with pytest.raises(ValueError, match="mask: found None, expected a mask image"):
        make(mask=None).image(np.ones(3))


def test_repr_tells_the_sizes():
    assert repr(make()) == "Dataset(6 samples of 3 features, 2 classes, 3 runs, 1 subject)"
    views = {"a": slice(0, 2), "b": slice(2, 3)}
    bare = make(runs=None, subjects=None, views=views)
    assert repr(bare) == "Dataset(6 samples of 3 features, 2 classes, views a, b)"


def test_fields_cannot_be_replaced():
    with pytest.raises(AttributeError):
        make().X = np.zeros((6, 3))
