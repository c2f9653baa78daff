"""The estimators on several views among scikit-learn's: checks, pipelines, containers, storage."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tensor.two_views import pictures_and_scans

from svdecode import DecomposedTensorSVC, KernelCCA, TensorDecomposition, TensorSVC
from svdecode.tensor import TRUSTED_TYPES, ConcatenatedSVC, KernelCCASVC

EVEN_AND_ODD = [slice(0, None, 2), slice(1, None, 2)]  # whatever the number of columns
CHECKED = [
    TensorSVC(EVEN_AND_ODD, kernel="rbf"),
    TensorDecomposition(EVEN_AND_ODD),
    TensorDecomposition(EVEN_AND_ODD, n_projections="lasso", kernel="rbf"),
    DecomposedTensorSVC(EVEN_AND_ODD, kernel="rbf"),
    DecomposedTensorSVC(EVEN_AND_ODD, kernel="rbf", use=0, scale=True),
    KernelCCA(EVEN_AND_ODD),
    ConcatenatedSVC(EVEN_AND_ODD),
    KernelCCASVC(EVEN_AND_ODD, use=0),
    TensorSVC(EVEN_AND_ODD, kernel="rbf", center=False),
    DecomposedTensorSVC(EVEN_AND_ODD, kernel="polynomial", degree=1, center=False),
    KernelCCASVC(EVEN_AND_ODD, kernel="polynomial", degree=1, center=False),
]


MEANS_ALONE = (
    "the check's blobs differ by their means alone, which the product of two centered views hardly sees: of "
    "two classes at ±(μ, ν) both have the mean product μν"
)
HALF = "one of the check's two columns is not enough to tell its blobs apart"


def expected_to_fail(estimator):
    if not getattr(estimator, "center", True):
        return {}
    if isinstance(estimator, TensorSVC | DecomposedTensorSVC):
        return {"check_classifiers_train": MEANS_ALONE}
    return {"check_classifiers_train": HALF} if isinstance(estimator, KernelCCASVC) else {}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_in_a_pipeline_and_a_search():
    X, y = pictures_and_scans()
    model = DecomposedTensorSVC([40, 15], n_projections="max")
    search = GridSearchCV(model, {"n_projections": [1, "max"], "use": ["paired", 0, 1]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    pipeline = make_pipeline(
        StandardScaler(), TensorDecomposition([40, 15]), TensorSVC([slice(0, 5), [5, 6]])
    )
    pipeline[1].set_params(n_projections=5)
    assert np.isfinite(cross_val_score(pipeline, X, y, cv=3, error_score="raise")).all()


def test_kernel_matrices_in_a_search():
    """scikit-learn cuts rows alone: X holds the samples' numbers, and a kernel looks its values up."""
    X, y = pictures_and_scans()
    grams = [X[:, :40] @ X[:, :40].T, X[:, 40:] @ X[:, 40:].T]
    numbers = np.column_stack([np.arange(120)] * 2)

    def looked_up(K):
        return lambda a, b: K[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))]

    model = DecomposedTensorSVC([1, 1], kernel=[looked_up(K) for K in grams])
    plain = DecomposedTensorSVC([40, 15])
    grid = {"n_projections": [1, 5, "max"], "use": ["paired", 0], "center": [True, False]}
    found, expected = (
        GridSearchCV(one, grid, cv=3, error_score="raise").fit(rows, y).cv_results_["mean_test_score"]
        for one, rows in ((model, numbers), (plain, X))
    )
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("k", [2, 3])
def test_names_and_containers(k):
    X, y = pictures_and_scans(k=k)
    X = pd.DataFrame(X, columns=[f"voxel {j}" for j in range(40)] + [f"pixel {j}" for j in range(15)])
    labels = np.array(["cat", "dog", "hat"])[y]
    views = [list(X.columns[:40]), list(X.columns[40:])]
    model = TensorDecomposition(views, n_projections=2).set_output(transform="pandas").fit(X, labels)
    classes = [""] if k == 2 else ["cat_", "dog_", "hat_"]
    names = [f"tensordecomposition_{c}view{v}_{t}" for v in range(2) for c in classes for t in range(2)]
    both = model.transform(X)
    assert list(both.columns) == names == list(model.get_feature_names_out())
    for v in range(2):
        one = model.transform(X, view=v)
        assert list(one.columns) == names[v * len(names) // 2 :][: len(names) // 2]
        pd.testing.assert_frame_equal(one, both[one.columns])
        assert (one.index == X.index).all()
    plain = TensorDecomposition([40, 15], n_projections=2).fit(X.to_numpy(), labels)
    np.testing.assert_array_equal(plain.transform(X.to_numpy()), both.to_numpy())
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X[X.columns[::-1]])


def halves(A, B):
    return A @ B.T / 2


MODELS = {
    "svm": TensorSVC([40, 15]),
    "decomposition": TensorDecomposition([40, 15], n_projections="max"),
    "of other kernels": TensorDecomposition([40, 15], kernel=["rbf", "polynomial"], n_projections=3),
    "paired": DecomposedTensorSVC([40, 15]),
    "one view": DecomposedTensorSVC([40, 15], use=0, n_projections="lasso"),
    "correlation": KernelCCA([40, 15], n_components=4),
    "side by side": ConcatenatedSVC([40, 15]),
    "correlated": KernelCCASVC([40, 15]),
}


def answers(model, X):
    names = [name for name in ("transform", "decision_function", "predict") if hasattr(model, name)]
    return [getattr(model, name)(X) for name in names]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("case", MODELS)
def test_a_fit_survives_copying_and_storing(case, k, tmp_path):
    X, y = pictures_and_scans(k=k)
    model = clone(MODELS[case]).fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    asked = set(skops.io.get_untrusted_types(file=tmp_path / "model.skops"))
    assert asked <= set(TRUSTED_TYPES)
    for again in (
        pickle.loads(pickle.dumps(model)),
        skops.io.load(tmp_path / "model.skops", trusted=list(TRUSTED_TYPES)),
        clone(model).fit(X, y),
    ):
        for one, other in zip(answers(again, X), answers(model, X), strict=True):
            if one.dtype.kind == "f":  # a matrix may come back in another memory order
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11 * np.abs(other).max())
            else:
                np.testing.assert_array_equal(one, other)


def test_every_trusted_type_is_needed(tmp_path):
    X, y = pictures_and_scans()
    types = set()
    for model in MODELS.values():
        skops.io.dump(clone(model).fit(X, y), tmp_path / "model.skops")
        types |= set(skops.io.get_untrusted_types(file=tmp_path / "model.skops"))
    assert types == set(TRUSTED_TYPES)


def test_a_callable_kernel_is_stored_by_its_name():
    X, y = pictures_and_scans()
    model = TensorDecomposition([40, 15], kernel=["linear", halves], n_projections=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(again.transform(X), model.transform(X), rtol=1e-9)
