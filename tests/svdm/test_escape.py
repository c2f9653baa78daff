"""Rank escape: the direction in which a certificate fails, and a component added along it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from svdm.cases import IGNORE, data, make, several_labels

from svdecode import SVDMClassifier, TraceNormSVDM
from svdecode.svdm import escape
from svdecode.svdm.convex import certify
from svdecode.svdm.convex_solver import solve_trace_norm
from svdecode.svdm.formulations import Problem, balanced
from svdecode.svdm.solver import minimise
from svdecode.svdm.starts import choose_start

pytestmark = pytest.mark.filterwarnings(IGNORE)
DATA = {"two classes": data(2), "four classes": data(4), "labels, some unknown": several_labels()}


@pytest.mark.parametrize("case", DATA)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_climbs_to_the_global_optimum(case, kernel):
    """One component after the other, each lowering the objective, until the certificate proves it global."""
    X, y = DATA[case]
    params = {"kernel": kernel, "tol": 1e-8}
    optimum = TraceNormSVDM(0.08, **params).fit(X, y)
    model = SVDMClassifier(1, shrinkage=0.08, **params).fit(X, y)
    for _ in range(40):
        assert model.objective_ - model.optimality_gap_ <= optimum.objective_ * (1 + 1e-8)
        if model.optimality_gap_ <= 1e-6 * model.objective_:
            break
        assert model.escape_direction().slope < 0
        before, model = model, model.add_component(X, y)
        assert model.objective_ < before.objective_
        assert model.n_components == before.n_components + 1
        assert model.shrinkage / model.n_components == pytest.approx(0.08, rel=1e-12)
    assert model.objective_ == pytest.approx(optimum.objective_, rel=1e-6)
    assert model.n_components >= optimum.rank_ - 1
    assert abs(model.escape_direction().slope) < 1e-4
    with pytest.raises(ValueError, match=r"^n_components: found a fit that is proved globally optimal"):
        model.add_component(X, y)


def at_rest(k, l, seed):
    """`balanced` at a stationary point, with its multipliers."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 6)) @ rng.standard_normal((6, 30)) + rng.standard_normal((20, 30))
    X -= X.mean(axis=0)
    Y = np.sign(X @ rng.standard_normal((30, k)) + rng.standard_normal((20, k)))
    objective = balanced(Problem(X, Y, np.ones(Y.shape), 30, l, shrinkage=0.1 * l))
    start = choose_start(objective, "svd", l, rng, 0, with_labels=True)
    return objective, minimise(objective, start, tol=1e-9, max_iter=200)


@pytest.mark.parametrize(("k", "l"), [(1, 1), (1, 3), (3, 4)])
def test_the_slope_is_that_of_the_lagrangian(k, l):
    """At fixed multipliers the objective is smooth: its change along the direction, over what it costs."""
    objective, result = at_rest(k, l, 0)
    found = certify(objective, result.factors, result.multipliers)
    cost = (
        objective.z.ridge * np.sum(found.coordinates**2)
        + objective.w.ridge * np.sum(found.image**2)
        + objective.theta.ridge * np.sum(found.discriminants**2)
    )
    assert cost == pytest.approx(1, rel=1e-10)

    def lagrangian(t):
        f = result.factors
        Z = np.column_stack([f.Z, np.sqrt(t) * found.coordinates])
        W = np.vstack([f.W, np.sqrt(t) * found.image])
        Theta = np.vstack([f.Theta, np.sqrt(t) * found.discriminants])
        slack = objective.hinge.margin - objective.Y * (Z @ Theta + f.bias)
        return (
            objective.reconstruction.weight * np.sum((objective.X - f.mean - Z @ W) ** 2)
            + np.sum(result.multipliers * slack)
            + objective.z.ridge * np.sum(Z**2)
            + objective.w.ridge * np.sum(W**2)
            + objective.theta.ridge * np.sum(Theta**2)
        )

    t = 1e-5
    assert found.slope < -0.1
    assert (lagrangian(t) - lagrangian(0)) / t == pytest.approx(found.slope, rel=1e-2)


def test_no_direction_has_a_lower_slope():
    objective, result = at_rest(3, 2, 1)
    best = certify(objective, result.factors, result.multipliers).slope
    R = 2 * objective.reconstruction.weight * (objective.X - result.factors.Z @ result.factors.W)
    rng = np.random.default_rng(0)
    for _ in range(200):
        z = R @ rng.standard_normal(30) + rng.standard_normal(20)
        w, theta = R.T @ z, (result.multipliers * objective.Y).T @ z
        cost = [objective.z.ridge * z @ z, objective.w.ridge * w @ w + objective.theta.ridge * theta @ theta]
        gain = z @ R @ w + z @ (result.multipliers * objective.Y) @ theta
        assert 1 - gain / (2 * np.sqrt(cost[0] * cost[1])) >= best - 1e-6


def test_names_the_component_in_units_of_the_input():
    X, y = DATA["two classes"]
    model = SVDMClassifier(2, shrinkage=0.2, tol=1e-8).fit(X, y)
    found = model.escape_direction()
    assert found.coordinates.shape == (30,)
    assert found.component.shape == (60,)
    assert found.discriminants.shape == (1,)
    rest = X - model.mean_ - model.training_coordinates_ @ model.components_
    across = rest.T @ found.coordinates
    # the image is what the residual has along the coordinates, the discriminant what the multipliers have
    assert np.corrcoef(across, found.component)[0, 1] == pytest.approx(1, abs=1e-9)
    # what is read, refitted or stored does not touch it
    again = pickle.loads(pickle.dumps(model)).escape_direction()
    np.testing.assert_array_equal(again.component, found.component)
    refit = SVDMClassifier(2, shrinkage=0.2, tol=1e-8, readout="refit").fit(X, y)
    np.testing.assert_array_equal(refit.escape_direction().component, found.component)
    assert refit.add_component(X, y).objective_ == model.add_component(X, y).objective_


def test_never_ends_higher_than_it_began(monkeypatch):
    """A solver that goes astray gets the fit itself back, with an empty component."""
    X, y = DATA["two classes"]
    model = SVDMClassifier(2, shrinkage=0.2).fit(X, y)

    def astray(scheme, **_):
        scheme.factors.Z[:] *= 3
        result = minimise(scheme.objective, scheme.factors, solver="alternating", max_iter=1)
        return replace(result, objective=2 * model.objective_)

    monkeypatch.setattr(escape, "iterate", astray)
    with pytest.warns(match="no lower point was found"):
        more = model.add_component(X, y)
    assert more.objective_ == pytest.approx(model.objective_, rel=1e-9)
    assert not more.converged_


def test_spare_components_are_used_first():
    """Above the rank of the data coordinates are spare: few features, and scores outside their span."""
    X, y = data(2, n=16, m=3)
    model = SVDMClassifier(5, shrinkage=0.1, tol=1e-8).fit(X, y)
    assert not model.components_[3:].any()
    more = model.add_component(X, y)
    assert more.n_components == 4
    assert more.shrinkage == pytest.approx(0.1 * 4 / 5)
    assert more.objective_ < model.objective_
    assert more.transform(X).shape == (16, 4)


def test_what_cannot_escape_says_so():
    X, y = DATA["two classes"]
    with pytest.raises(ValueError, match=r"^formulation: found one without a convex problem.*'balanced'$"):
        make("svm", 2).fit(X, y).escape_direction()
    model = SVDMClassifier(2, shrinkage=0.2).fit(X, y)
    for others in ((X[:-1], y[:-1]), (X + np.eye(30, 60), y), (X, y[::-1])):
        with pytest.raises(ValueError, match=r"^X, y: found other samples or labels than those of the fit"):
            model.add_component(*others)
    with pytest.raises(ValueError, match=r"^shrinkage: "):
        TraceNormSVDM().fit(X, y).add_component(X, y)


def test_a_point_that_is_not_stationary_has_its_certificate_for_less():
    objective, result = at_rest(3, 2, 1)
    full = certify(objective, result.factors, result.multipliers)
    quick = certify(objective, result.factors, result.multipliers, thorough=False)
    # lowering single singular values leaves a bound that is closer than scaling the whole point
    optimum = solve_trace_norm(objective, tol=1e-9)[0].objective
    assert quick.bound < full.bound <= optimum
    assert optimum - full.bound < 0.2 * (optimum - quick.bound)
    assert quick.slope == pytest.approx(full.slope, rel=1e-10)
    along = full.coordinates @ quick.coordinates / np.sum(full.coordinates**2)
    assert abs(along) == pytest.approx(1, abs=1e-3)
    X, y = DATA["two classes"]
    early = SVDMClassifier(2, shrinkage=0.2, max_iter=1).fit(X, y)
    optimum = TraceNormSVDM(0.1).fit(X, y)
    assert early.objective_ - early.optimality_gap_ <= optimum.objective_
