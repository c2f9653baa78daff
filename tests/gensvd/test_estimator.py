"""GenSVD as an estimator: what data it takes, what it names, how it behaves among scikit-learn's."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from svdecode import GenSVD
from svdecode.gensvd import basis
from svdecode.reduction import blocks


def data(n=9, m=70, seed=8):
    """Numbers that float32 holds exactly, so that every storage holds the same ones."""
    return np.random.default_rng(seed).standard_normal((n, m)).astype(np.float32).astype(np.float64)


def on_disk(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def columns(X):
    return [f"v{j}" for j in range(X.shape[1])]


STORAGES = {
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "sparse": lambda X, _: sp.csr_matrix(X),
    "sparse array": lambda X, _: sp.csc_array(X),
    "float32": lambda X, _: X.astype(np.float32),
    "memory map": on_disk,
    "memory map, float32": lambda X, path: on_disk(X.astype(np.float32), path),
    "pandas": lambda X, _: pd.DataFrame(X, columns=columns(X)),
    "polars": lambda X, _: pl.DataFrame(X, schema=columns(X)),
    "list": lambda X, _: X.tolist(),
}


@pytest.mark.parametrize("params", [{}, {"center": True}, {"center": True, "basis": "centered"}])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.filterwarnings("ignore:no sample")
def test_storage_does_not_matter(storage, params, tmp_path):
    for X in (data(), data(30, 6)):
        a, b = GenSVD(**params).fit(X), GenSVD(**params).fit(STORAGES[storage](X, tmp_path))
        scale = a.singular_values_[0]
        np.testing.assert_allclose(b.singular_values_, a.singular_values_, atol=1e-12 * scale)
        np.testing.assert_allclose(
            b.generalized_singular_values_, a.generalized_singular_values_, atol=1e-10 * scale
        )
        np.testing.assert_allclose(b.training_coordinates_, a.training_coordinates_, atol=1e-10 * scale)
        np.testing.assert_allclose(b.components_, a.components_, atol=1e-9)
        np.testing.assert_allclose(b.mean_, a.mean_, atol=1e-12)
        new = STORAGES[storage](data(4, X.shape[1], seed=9), tmp_path)
        np.testing.assert_allclose(b.transform(new), a.transform(data(4, X.shape[1], seed=9)), atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_memory_map_is_not_copied(tmp_path, monkeypatch, dtype):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 60 * 500)
    X = on_disk(np.random.default_rng(4).standard_normal((60, 20_000)).astype(dtype), tmp_path)
    tracemalloc.start()
    model = GenSVD(2).fit(X)
    model.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2


def test_wide_data_go_by_the_gram_matrix_only_where_it_has_the_digits(monkeypatch):
    routes = []
    reduce_rows = basis.reduce_rows

    def record(X, **params):
        routes.append(params["method"])
        return reduce_rows(X, **params)

    monkeypatch.setattr(basis, "reduce_rows", record)
    X = data()
    weak, flat = X.copy(), X.copy()
    weak[0] *= 1e-3
    flat[0] = flat[1]
    for rows, expected in (
        (X, ["gram"]),
        (weak, ["gram", "lq"]),
        (flat, ["gram", "lq"]),
        (sp.csr_matrix(flat), ["gram"]),
        (X[:, :5], ["features"]),
    ):
        routes.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            GenSVD().fit(rows)
        assert routes == expected
    routes.clear()
    GenSVD(center=True, basis="centered").fit(X)
    assert routes == ["gram"]


def test_centered_basis_gives_training_and_new_coordinates_one_origin():
    X = np.random.default_rng(6).standard_normal((20, 300)) + 10
    for choice in ("data", "centered"):
        model = GenSVD(3, center=True, basis=choice).fit(X)
        np.testing.assert_allclose(model.transform(X.mean(axis=0, keepdims=True)), 0, atol=1e-10)
        np.testing.assert_allclose(model.mean_, X.mean(axis=0))
    np.testing.assert_allclose(model.training_coordinates_.mean(axis=0), 0, atol=1e-10)
    assert not GenSVD().fit(X).mean_.any()


def test_fewer_and_more_components_than_the_rank():
    X = np.random.default_rng(7).standard_normal((6, 40))
    full, few, many = (GenSVD(k).fit(X) for k in (None, 2, 9))
    np.testing.assert_allclose(few.generalized_singular_values_, full.generalized_singular_values_[:2])
    np.testing.assert_allclose(few.training_coordinates_, full.training_coordinates_[:, :2])
    np.testing.assert_allclose(few.explained_variance_ratio_, full.explained_variance_ratio_[:2])
    assert full.components_.shape == (6, 40)
    assert many.components_.shape == (9, 40)
    assert many.transform(X).shape == many.training_coordinates_.shape == (6, 9)
    for spare in (many.components_[6:], many.singular_values_[6:], many.explained_variance_[6:]):
        assert not spare.any()
    np.testing.assert_allclose(many.explained_variance_ratio_.sum(), 1)
    np.testing.assert_allclose(full.components_ @ full.components_.T, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(full.inverse_transform(full.transform(X)), X, atol=1e-10)
    centered = GenSVD(center=True).fit(X + 7)
    np.testing.assert_allclose(centered.inverse_transform(centered.transform(X + 7)), X + 7, atol=1e-10)


@pytest.mark.parametrize("params", [{}, {"center": True}, {"center": True, "basis": "centered"}])
@pytest.mark.parametrize("X", [np.zeros((5, 9)), np.ones((5, 9)), np.ones((9, 5))])
def test_rows_that_are_all_equal(X, params):
    with pytest.warns(UserWarning, match="no sample has a direction of its own"):
        model = GenSVD(**params).fit(X)
    assert model.rank_ == int(X.any() and params.get("basis") != "centered")
    expected = np.zeros(5)
    if X.any() and not params:
        expected[0] = np.sqrt(45)
    np.testing.assert_allclose(model.generalized_singular_values_, expected, atol=1e-12)
    assert np.isfinite(model.explained_variance_ratio_).all()
    assert np.isfinite(model.transform(X)).all()


def test_set_output_and_feature_names():
    X = pd.DataFrame(data(6, 9), columns=columns(data(6, 9)))
    model = GenSVD(2).set_output(transform="pandas").fit(X)
    out = model.transform(X)
    assert list(out.columns) == ["gensvd0", "gensvd1"] == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(X.columns)
    assert list(GenSVD(2).set_output(transform="pandas").fit_transform(X).columns) == ["gensvd0", "gensvd1"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X[X.columns[::-1]])


def test_groups_are_routed_through_a_pipeline():
    X, groups = data(12, 50), np.repeat(np.arange(4), 3)
    y = np.arange(12) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(GenSVD(3).set_fit_request(groups=True), LinearSVC())
        pipeline.fit(X, y, groups=groups)
    alone, together = GenSVD(3).fit(X), GenSVD(3).fit(X, groups=groups)
    found = pipeline[0].generalized_singular_values_
    np.testing.assert_array_equal(found, together.generalized_singular_values_)
    assert np.abs(found - alone.generalized_singular_values_).max() > 0.01


def test_a_fit_survives_copying_and_storing(tmp_path):
    X = data()
    model = GenSVD(3, center=True).fit(X)
    skops.io.dump(model, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith("svdecode.gensvd") for name in trusted)
    for again in (
        pickle.loads(pickle.dumps(model)),
        skops.io.load(tmp_path / "model.skops", trusted=trusted),
        clone(model).fit(X),
    ):
        np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert len(pickle.dumps(model)) < 2 * X.nbytes  # the data are not carried along


BAD = {
    "n_components 0": ({"n_components": 0}, {}, "n_components: found 0, expected an integer of at least 1"),
    "n_components 2.5": ({"n_components": 2.5}, {}, "n_components: found 2.5, expected an integer"),
    "basis": ({"basis": "pca"}, {}, "basis: found 'pca', expected one of 'data', 'centered'"),
    "basis without center": ({"basis": "centered"}, {}, "basis: found 'centered' with center=False"),
    "center": ({"center": "yes"}, {}, "center: found 'yes', expected one of True, False"),
    "groups length": ({}, {"groups": [1, 2]}, "groups: found 2 labels, expected one for each of the 6 rows"),
    "one group": ({}, {"groups": [1] * 6}, "groups: found one group only, expected at least two"),
    "groups 2-D": ({}, {"groups": np.ones((6, 2))}, "groups: found an array of shape .*expected one label"),
    "groups mixed": (
        {}, {"groups": np.array([1, "a", 2, 1, 1, 1], dtype=object)},
        r"groups: found labels of several types \(int, str\), expected one type",
    ),
    "groups NaN": ({}, {"groups": [1, 1, np.nan, 2, 2, 2]}, "groups: found no label in row 2, expected"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    params, fit_params, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        GenSVD(**params).fit(data(6, 20), **fit_params)


@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_matrix, pd.DataFrame])
@pytest.mark.filterwarnings("ignore:no sample")
def test_values_that_are_not_finite_are_named(form, value, shape):
    X = data(*shape)
    model = GenSVD().fit(form(X))
    X[1, 2] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    for call in (GenSVD().fit, model.transform):
        with pytest.raises(
            ValueError, match=f"^X: found {kind} in row 1, column 2, expected finite numbers$"
        ):
            call(form(X))


def test_bad_data_are_named():
    X = data(6, 20)
    model = GenSVD().fit(X)
    with pytest.raises(ValueError, match=r"Z: found an array of shape .*expected 6 columns"):
        model.inverse_transform(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"Z: found values that are no numbers"):
        model.inverse_transform([["a"] * 6])
    with pytest.raises(ValueError, match=r"X: found a masked entry in row 1, column 2, expected none"):
        GenSVD().fit(np.ma.masked_equal(X, X[1, 2]))
    frame = pd.DataFrame({"a": range(6), "name": list("uvwxyz")})
    with pytest.raises(ValueError, match=r"X: found columns that are no numbers \(name\), expected numbers"):
        GenSVD().fit(frame)
    for bad in (X[0], X[:1], X[:0], X[:, :0], [["a", "b"], ["c", "d"]]):
        with pytest.raises(ValueError, match=r"^X: .+") as caught:
            GenSVD().fit(bad)
        assert "\n" not in str(caught.value)


ON_PURPOSE = (
    "fit_transform returns corrected coordinates, as TargetEncoder does: each sample is compared with the "
    "mean of the others, so even well-posed data are scaled by n / (n − 1)"
)
# Without mean removal no exception is needed: scikit-learn compares fit_transform(X) with
# fit(X).transform(X) on 30 × 3 data, which are well-posed, and there GenSVD is plain SVD. On ill-posed
# data the two differ on purpose (test_fit_transform_is_the_corrected_coordinates).
EXPECTED_TO_FAIL = {
    "check_transformer_general": ON_PURPOSE,
    "check_transformer_data_not_an_array": ON_PURPOSE,
}


@pytest.mark.filterwarnings("ignore:no sample has a direction")
@parametrize_with_checks(
    [GenSVD(), GenSVD(2), GenSVD(center=True), GenSVD(center=True, basis="centered")],
    expected_failed_checks=lambda model: EXPECTED_TO_FAIL if model.center else {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
