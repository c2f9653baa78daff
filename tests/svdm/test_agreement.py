"""One fit by every route: full space and reduced, more samples or more features, any storage and order."""

import numpy as np
import pytest
import scipy.sparse as sp
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, VARIANTS, data, make

from svdecode.svdm.fitting import Solving, solve
from svdecode.svdm.formulations import FORMULATIONS as OBJECTIVES
from svdecode.svdm.formulations import Problem

pytestmark = pytest.mark.filterwarnings(IGNORE)
SHAPES = {"n < m": (30, 60), "n = m": (20, 20), "n > m": (40, 12)}


def same(a, b, rtol=1e-8, results=1e-6):
    """Objectives to 1e-8, and what is read off the fit to what that leaves of its digits."""
    assert a.objective_ == pytest.approx(b.objective_, rel=rtol)
    for name in ("training_coordinates_", "discriminants_", "coef_"):
        x, y = getattr(a, name), getattr(b, name)
        np.testing.assert_allclose(np.abs(x), np.abs(y), atol=results * np.abs(y).max(), err_msg=name)


def in_full_space(model, X, y):
    """The same minimization without the reduction: coordinates are the centered features themselves."""
    Xs = (X - X.mean(axis=0)) / model.scale_
    Y = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    names = ("shrinkage", "hinge_weight", "margin", "reconstruction_weight", "ridge", "basis_norm")
    weights = {name: getattr(model, name) for name in names}
    problem = Problem(Xs, Y, np.ones(Y.shape), X.shape[1], model.n_components, **weights)
    objective = OBJECTIVES[model.formulation](problem)
    names = ("solver", "stopping", "tol", "max_iter", "rebalance", "init", "n_init")
    solving = Solving(**{name: getattr(model, name) for name in names})
    return solve(objective, model.n_components, solving, np.random.default_rng(0))[0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_full_space_and_reduced_fits_agree(variant, shape):
    """`test_naive.py` has the papers' own route in full space, by convex models; here to all digits."""
    X, y = data(3, *SHAPES[shape])
    model = make(variant, **SWEEPS).fit(X, y)
    full = in_full_space(model, X, y)
    np.testing.assert_allclose(model.objective_history_, full.history, rtol=1e-8)
    assert full.n_iter == model.n_iter_ > 2
    assert full.factors.W.shape == model.components_.shape
    W = model.components_ / model.scale_
    np.testing.assert_allclose(np.abs(full.factors.W), np.abs(W), atol=1e-6 * np.abs(W).max())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_rotations_of_feature_space_change_nothing(variant, shape):
    n, m = SHAPES[shape]
    X, y = data(3, n=n, m=m)
    rotation = np.linalg.qr(np.random.default_rng(9).standard_normal((m, m)))[0]
    a, b = (make(variant, **SWEEPS).fit(data, y) for data in (X, X @ rotation))
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-8)
    scores = a.decision_function(X)
    np.testing.assert_allclose(b.decision_function(X @ rotation), scores, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_allclose(b.coef_ @ rotation.T, a.coef_, atol=1e-6 * np.abs(a.coef_).max())


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_two_routes_of_the_reduction_agree(variant):
    """n ≥ m goes by the features, n < m by a Gram matrix: empty features turn one into the other."""
    X, y = data(3, n=30, m=20)
    padded = np.hstack([X, np.zeros((30, 20))])
    a = make(variant, scale=False, **SWEEPS).fit(X / 4, y)
    weights = {}
    if a.formulation in ("balanced", "penalized"):  # whose weights contain m
        weights["reconstruction_weight"] = 2.0
    b = make(variant, scale=False, **weights, **SWEEPS).fit(padded / 4, y)
    if a.formulation == "balanced":  # d_W = shrinkage/(lm) has halved: the same penalty by the ridge
        weights["ridge"] = 0.1 / (3 * 40) / (2.0 / (30 * 40))
        b = make(variant, scale=False, **weights, **SWEEPS).fit(padded / 4, y)
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-8)
    np.testing.assert_allclose(b.coef_[:, :20], a.coef_, atol=1e-6 * np.abs(a.coef_).max())
    assert not b.coef_[:, 20:].any()


STORAGES = {
    "Fortran order": np.asfortranarray,
    "sparse": sp.csr_matrix,
    "sparse array, columns": sp.csc_array,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": np.float32,
    "float32, Fortran order": lambda X: np.asfortranarray(X, dtype=np.float32),
    "integers": None,
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("shape", ["n < m", "n > m"])
def test_storage_does_not_matter(formulation, storage, shape):
    X, y = data(3, *SHAPES[shape])
    X = np.round(8 * X)  # numbers that every storage holds exactly
    X[np.abs(X) < 6] = 0.0
    stored = X.astype(np.int64) if storage == "integers" else STORAGES[storage](X)
    a, b = make(formulation, **SWEEPS).fit(X, y), make(formulation, **SWEEPS).fit(stored, y)
    same(b, a)
    new = X[:7] + 1
    scores = a.decision_function(new)
    as_stored = new.astype(np.int64) if storage == "integers" else STORAGES[storage](new)
    np.testing.assert_allclose(b.decision_function(as_stored), scores, atol=1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("shape", ["n < m", "n > m"])
def test_float32_is_float64_within_its_precision(formulation, shape):
    X, y = data(3, *SHAPES[shape])
    a, b = make(formulation, **SWEEPS).fit(X, y), make(formulation, **SWEEPS).fit(X.astype(np.float32), y)
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-5)
    assert b.objective_ != a.objective_
    assert b.components_.dtype == b.transform(X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", ["n < m", "n > m"])
def test_the_order_of_rows_and_columns_does_not_matter(variant, shape):
    X, y = data(3, *SHAPES[shape])
    rng = np.random.default_rng(4)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    a, b = make(variant, **SWEEPS).fit(X, y), make(variant, **SWEEPS).fit(X[rows][:, columns], y[rows])
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-8)
    np.testing.assert_allclose(b.coef_, a.coef_[:, columns], atol=1e-6 * np.abs(a.coef_).max())
    np.testing.assert_allclose(
        np.abs(b.training_coordinates_),
        np.abs(a.training_coordinates_[rows]),
        atol=1e-6 * np.abs(a.training_coordinates_).max(),
    )


@pytest.mark.parametrize("formulation", ["balanced", "penalized", "constrained"])
@pytest.mark.parametrize("shape", SHAPES)
def test_stationary_points_agree(formulation, shape):
    """The splitting, by its own stopping rule, ends at the same objective in any coordinates."""
    X, y = data(2, *SHAPES[shape], seed=5)
    rotation = np.linalg.qr(np.random.default_rng(9).standard_normal((X.shape[1],) * 2))[0]
    params = {"solver": "splitting", "stopping": "stationary", "tol": 1e-9, "max_iter": 5000}
    a, b = (make(formulation, **params).fit(data, y) for data in (X, X @ rotation))
    assert a.converged_
    assert b.converged_
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-8)


def test_a_shift_of_the_data_changes_the_mean_alone():
    X, y = data(3)
    shift = np.linspace(-50, 50, X.shape[1])
    a, b = make("balanced", **SWEEPS).fit(X, y), make("balanced", **SWEEPS).fit(X + shift, y)
    same(b, a)
    np.testing.assert_allclose(b.mean_, a.mean_ + shift, atol=1e-6)
    np.testing.assert_allclose(b.decision_function(X + shift), a.decision_function(X), atol=1e-6)
