"""TraceNormSVDM against the semidefinite model of its problem, against factored fits, and its promises."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from svdm.cases import data, make, several_labels
from svdm.oracles_convex import indicator, trace_norm_optimum

from svdecode import TraceNormSVDM
from svdecode.svdm import convex_solver

EXACT = {"solver": "splitting", "stopping": "stationary", "tol": 1e-9, "max_iter": 5000}


def signs(model, y):
    """Label matrix of a fit."""
    if y.ndim == 2:
        return indicator(y)
    if len(model.classes_) == 2:
        return np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
    return np.where(y[:, None] == model.classes_, 1.0, -1.0)


def objective(model, X, Y, weights=1.0):
    """The convex objective in feature space, from what a fit publishes."""
    n, m = X.shape
    k = Y.shape[1]
    s, shrinkage, a = model.scale_, model.shrinkage, model.reconstruction_weight
    fit = model.training_coordinates_ @ model.components_
    scores = model.training_coordinates_ @ model.discriminants_[1:]
    d_w = shrinkage / m + a * model.ridge / (n * m)
    inside = np.hstack([np.sqrt(shrinkage / n * d_w) * fit / s, shrinkage / np.sqrt(n * k) * scores])
    slack = np.maximum(model.margin - Y * (scores + model.discriminants_[0]), 0.0) * (Y != 0)
    return (
        a * np.sum(((X - model.mean_ - fit) / s) ** 2) / (n * m)
        + np.sum(slack * weights) / (n * k)
        + 2 * np.linalg.norm(inside, "nuc")
    )


#: data, parameters, weights of the samples
INSTANCES = {
    "two classes": (data(2, n=14, m=20), {"shrinkage": 0.04}, None),
    "three classes": (data(3, n=12, m=20), {"shrinkage": 0.1}, None),
    "several labels, some unknown": (several_labels(2, n=12, m=15), {"shrinkage": 0.05}, None),
    "few features: scores outside their span": (data(2, n=16, m=3), {"shrinkage": 0.02}, None),
    "a heavy reconstruction": (data(3, n=12, m=20), {"shrinkage": 0.5, "reconstruction_weight": 50.0}, None),
    "a light reconstruction": (data(2, n=14, m=20), {"shrinkage": 0.02, "reconstruction_weight": 0.05}, None),
    "ridge and margin": (data(2, n=14, m=20), {"shrinkage": 0.05, "ridge": 2.0, "margin": 0.5}, None),
    "weighted": (data(2, n=14, m=20), {"shrinkage": 0.1}, np.linspace(0, 3, 14)),
    "nothing is worth its penalty": (data(2, n=14, m=20), {"shrinkage": 5.0}, None),
}  # fmt: skip


@pytest.mark.parametrize("instance", INSTANCES)
def test_agrees_with_the_semidefinite_model(instance):
    (X, y), params, weights = INSTANCES[instance]
    model = TraceNormSVDM(tol=1e-8, **params).fit(X, y, sample_weight=weights)
    Y = signs(model, y)
    entry_weights = 1.0 if weights is None else weights[:, None]
    optimum = trace_norm_optimum(
        (X - X.mean(axis=0)) / model.scale_, Y, model.shrinkage, 1, model.margin, entry_weights,
        a=model.reconstruction_weight, ridge=model.ridge,
    )  # fmt: skip
    assert model.objective_ == pytest.approx(optimum, rel=2e-8)
    assert model.objective_ == pytest.approx(objective(model, X, Y, entry_weights), rel=1e-10)
    assert 0 <= model.optimality_gap_ <= 1e-8 * model.objective_
    assert model.objective_ - model.optimality_gap_ <= optimum * (1 + 1e-8)
    assert model.rank_ == len(model.components_) == model.training_coordinates_.shape[1]
    assert (model.rank_ == 0) == (instance == "nothing is worth its penalty")


@pytest.mark.parametrize("k", [2, 4])
def test_factored_fits_of_sufficient_rank_are_the_same_solution(k):
    X, y = data(k, n=30, m=40)
    model = TraceNormSVDM(0.06, tol=1e-10).fit(X, y)
    assert model.rank_ < 29
    factored = make("balanced", model.rank_, shrinkage=0.06 * model.rank_, **EXACT).fit(X, y)
    assert factored.objective_ == pytest.approx(model.objective_, rel=1e-8)
    np.testing.assert_allclose(factored.coef_, model.coef_, atol=1e-3 * np.abs(model.coef_).max())
    # and no number of components gets below it
    fewer = make("balanced", 3, shrinkage=0.06 * 3, **EXACT).fit(X, y)
    assert fewer.objective_ > model.objective_


def test_right_where_acceleration_is_of_no_use(monkeypatch):
    """Whatever Anderson's mixture proposes, plain steps arrive."""
    X, y = data(2, n=14, m=20)
    expected = TraceNormSVDM(0.1, tol=1e-8).fit(X, y).objective_
    rng = np.random.default_rng(0)

    def nonsense(point, step, points, steps, filled):
        return point + 1e3 * rng.standard_normal(point.size), filled

    monkeypatch.setattr(convex_solver, "anderson", nonsense)
    model = TraceNormSVDM(0.1, tol=1e-5, max_iter=3000).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(expected, rel=1e-5)


def test_the_rank_follows_from_the_weight():
    X, y = data(3)
    ranks = [TraceNormSVDM(s).fit(X, y).rank_ for s in (0.02, 0.1, 0.2, 5.0)]
    assert 29 >= ranks[0] > ranks[1] > ranks[2] > ranks[3] == 0
    nothing = TraceNormSVDM(5.0).fit(X, y)
    assert nothing.transform(X).shape == (30, 0)
    assert nothing.coef_.shape == (3, 60)
    assert not nothing.coef_.any()
    np.testing.assert_allclose(nothing.decision_function(X), np.tile(nothing.intercept_, (30, 1)))
    assert len(set(nothing.predict(X))) == 1


def test_reading_new_samples():
    X, y = data(2, n=60)
    model = TraceNormSVDM(0.1).fit(X[:40], y[:40])
    scores = model.decision_function(X[40:])
    np.testing.assert_allclose(scores, X[40:] @ model.coef_[0] + model.intercept_[0], atol=1e-10)
    expected = model.transform(X[40:]) @ model.discriminants_[1:, 0] + model.discriminants_[0, 0]
    np.testing.assert_allclose(scores, expected, atol=1e-10)
    assert model.score(X[:40], y[:40]) > 0.7
    assert list(model.get_feature_names_out())[:2] == ["tracenormsvdm0", "tracenormsvdm1"]
    for readout in ("refit", "least_squares"):
        other = TraceNormSVDM(0.1, readout=readout).fit(X[:40], y[:40])
        np.testing.assert_array_equal(other.components_, model.components_)
        assert other.score(X[:40], y[:40]) > 0.7


def test_depends_on_inner_products_alone():
    X, y = data(3)
    model = TraceNormSVDM(0.1, scale=False).fit(X, y)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    turned = TraceNormSVDM(0.1, scale=False).fit(X @ turn, y)
    assert turned.objective_ == pytest.approx(model.objective_, rel=1e-6)
    np.testing.assert_allclose(turned.coef_ @ turn.T, model.coef_, atol=1e-4 * np.abs(model.coef_).max())
    kernel = TraceNormSVDM(0.1, kernel="precomputed").fit(X @ X.T, y)
    linear = TraceNormSVDM(0.1).fit(X, y)  # scaled, m cancels
    assert kernel.objective_ == pytest.approx(linear.objective_, rel=1e-6)
    np.testing.assert_allclose(kernel.decision_function(X @ X.T), linear.decision_function(X), atol=1e-4)


def test_says_so_where_it_did_not_arrive():
    X, y = data(3)
    with pytest.warns(
        ConvergenceWarning, match=r"duality gap is .* of the objective .*Raise max_iter or tol$"
    ):
        model = TraceNormSVDM(0.02, tol=1e-10, max_iter=1).fit(X, y)
    assert not model.converged_
    assert model.optimality_gap_ > 1e-10 * model.objective_
    states = []
    model = TraceNormSVDM(0.02, tol=1e-8, callback=lambda *state: states.append(state)).fit(X, y)
    assert [state[0] for state in states] == list(range(1, model.n_iter_ + 1))
    assert states[-1][2] <= 1e-8 < states[0][2]
    assert (np.diff(model.objective_history_) <= 0).all()
    assert model.objective_history_[-1] == model.objective_


@pytest.mark.parametrize(
    "params",
    [{"shrinkage": 0.0}, {"margin": -1.0}, {"reconstruction_weight": np.nan}, {"tol": 0}, {"readout": "x"}],
)
def test_bad_parameters_are_named(params):
    X, y = data(2)
    with pytest.raises(ValueError, match=f"^{next(iter(params))}: found .*, expected "):
        TraceNormSVDM(**params).fit(X, y)
