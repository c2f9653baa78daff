"""Objectives are what MATH's table says, gradients are right, and stationarity sees what blocks do not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.kernels.stationarity import objective_value, residuals
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.terms import Bias, Hinge, Penalty, Reconstruction

BALANCED = ["penalized", "balanced"]


def make_problem(n=9, r=6, k=2, l=3, seed=0, **weights):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, r))
    X -= X.mean(axis=0)
    Y = np.where(rng.random((n, k)) < 0.5, -1.0, 1.0)
    return Problem(X, Y, np.ones((n, k)), n_features=40, n_components=l, **weights)


def make_factors(name, problem, seed=1):
    """A point inside the constraints of each formulation."""
    rng = np.random.default_rng(seed)
    (n, r), k, l = problem.X.shape, problem.Y.shape[1], problem.n_components
    Z, W = rng.standard_normal((n, l)), rng.standard_normal((l, r))
    Theta, bias, mean = rng.standard_normal((l, k)), rng.standard_normal(k), rng.standard_normal(r)
    if name == "constrained":
        Z /= 1.5 * np.linalg.norm(Z, axis=1, keepdims=True)
        size = 1.5 * np.linalg.norm(np.vstack([bias, Theta]), axis=0)
        Theta, bias = Theta / size, bias / size
    if name in ("boxed", "svm"):
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        mean = np.zeros(r)
    if name == "boxed":
        Theta, bias = np.clip(Theta, -1, 1), np.zeros(k)
    return Factors(Z, W, mean, Theta, bias)


def table(name, p, f):
    """MATH's table, read off by hand: every norm written out."""
    n, k = p.Y.shape
    l, m = p.n_components, p.n_features
    Z = np.hstack([np.ones((n, 1)), f.Z])
    W = np.vstack([f.mean, f.W])
    Theta = np.vstack([f.bias, f.Theta])
    reconstruction = ((p.X - Z @ W) ** 2).sum()
    hinge = np.maximum(p.margin - p.Y * (Z @ Theta), 0).sum()
    if name == "constrained" or name == "boxed":
        return reconstruction + p.hinge_weight * hinge
    if name == "svm":
        return reconstruction + p.shrinkage / 2 * (Theta[1:] ** 2).sum() + p.hinge_weight * hinge
    fit = p.reconstruction_weight / (n * m) * reconstruction + hinge / (n * k)
    if name == "penalized":
        return fit + p.shrinkage * ((Z**2).sum() / (n * (1 + l)) + (Theta**2).sum() / ((1 + l) * k))
    return fit + p.shrinkage * (
        (Z[:, 1:] ** 2).sum() / (n * l) + (Theta[1:] ** 2).sum() / (l * k) + (W[1:] ** 2).sum() / (l * m)
    )


@pytest.mark.parametrize("name", FORMULATIONS)
def test_value_is_the_tables(name):
    p = make_problem(shrinkage=0.7, hinge_weight=3.0, reconstruction_weight=2.0, margin=0.8)
    objective, f = FORMULATIONS[name](p), make_factors(name, p)
    expected = table(name, p, f)
    assert objective.value(f) == pytest.approx(expected, rel=1e-12)
    compiled = objective_value(p.X, p.Y, objective.hinge.weights, objective.numbers(), 0, *f)
    assert compiled + objective.constant == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_ridge_is_in_units_of_the_reconstruction(name):
    """(ZᵀZ + ridge·I) W = ZᵀX in every formulation: the objective gains a·ridge·‖W₁:‖²."""
    with_ridge, without = make_problem(ridge=0.5), make_problem()
    f = make_factors(name, without)
    a = FORMULATIONS[name](without).reconstruction.weight
    gained = FORMULATIONS[name](with_ridge).value(f) - FORMULATIONS[name](without).value(f)
    assert gained == pytest.approx(a * 0.5 * (f.W**2).sum())


OUTSIDE = {
    "constrained": [("Z", 3.0), ("Theta", 3.0), ("bias", 50.0)],
    "boxed": [("Theta", 3.0), ("W", 1.1), ("W", 0.9)],
    "svm": [("W", 1.1), ("W", 0.9)],
}


@pytest.mark.parametrize(
    ("name", "block", "factor"), [(n, b, f) for n, cases in OUTSIDE.items() for b, f in cases]
)
def test_outside_a_constraint_the_value_is_infinite(name, block, factor):
    p = make_problem()
    f = make_factors(name, p)
    objective = FORMULATIONS[name](p)
    assert np.isfinite(objective.value(f))
    assert objective.value(f._replace(**{block: factor * getattr(f, block)})) == np.inf


@pytest.mark.parametrize("basis_norm", ["unit", "at_most_one", "free"])
def test_rows_of_the_basis(basis_norm):
    p = make_problem(basis_norm=basis_norm)
    f = make_factors("svm", p)
    values = [FORMULATIONS["svm"](p).value(f._replace(W=c * f.W)) for c in (0.5, 1.0, 2.0)]
    assert list(np.isfinite(values)) == {
        "unit": [False, True, False], "at_most_one": [True, True, False], "free": [True, True, True]
    }[basis_norm]  # fmt: skip


def lagrangian(objective, f, lam):
    """Smooth part at multipliers λ: the hinge's weight h max(μ − ρ, 0) becomes λ (μ − ρ)."""
    margins = objective.Y * f.scores()
    return (
        objective.reconstruction.value(objective.X - f.mean - f.Z @ f.W)
        + float((lam * (objective.hinge.margin - margins)).sum())
        + objective.z.ridge * (f.Z**2).sum()
        + objective.w.ridge * (f.W**2).sum()
        + objective.theta.ridge * (f.Theta**2).sum()
        + objective.bias.ridge * (f.bias**2).sum()
    )


@pytest.mark.parametrize("name", BALANCED)
def test_residuals_are_the_lagrangians_gradients(name):
    """By central differences, one number at a time."""
    p = make_problem(shrinkage=0.7)
    objective, f = FORMULATIONS[name](p), make_factors(name, p)
    lam = objective.hinge.weights * np.random.default_rng(2).random(p.Y.shape)
    step = 1e-6
    gradients = {}
    for block in ("Z", "W", "Theta", "bias"):
        value = getattr(f, block)
        gradient = np.zeros_like(value)
        for index in np.ndindex(value.shape):
            ends = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * step
                ends.append(lagrangian(objective, f._replace(**{block: moved}), lam))
            gradient[index] = (ends[0] - ends[1]) / (2 * step)
        gradients[block] = gradient
    found = residuals(p.X, p.Y, objective.hinge.weights, objective.numbers(), 0, *f, lam)
    expected = [
        (np.linalg.norm(gradients["Z"], axis=0) * np.linalg.norm(f.Z, axis=0)).sum(),
        (np.linalg.norm(gradients["W"], axis=1) * np.linalg.norm(f.W, axis=1)).sum(),
        (np.linalg.norm(gradients["Theta"], axis=1) * np.linalg.norm(f.Theta, axis=1)).sum(),
        np.abs(gradients["bias"]).sum(),
    ]
    np.testing.assert_allclose(found[:4], expected, rtol=1e-5)
    margins = p.Y * f.scores()
    gap = (objective.hinge.weights * np.maximum(1 - margins, 0) - lam * (1 - margins)).sum()
    assert found[4] == pytest.approx(gap)


@pytest.mark.parametrize("name", ["constrained", "boxed", "svm"])
def test_residual_of_a_confined_block_is_what_a_feasible_move_could_gain(name):
    """No feasible direction gains more to first order, and one gains as much."""
    p = make_problem()
    objective, f = FORMULATIONS[name](p), make_factors(name, p)
    lam = objective.hinge.weights * np.random.default_rng(2).random(p.Y.shape)
    found = residuals(p.X, p.Y, objective.hinge.weights, objective.numbers(), 0, *f, lam)
    R = p.X - f.mean - f.Z @ f.W
    signed = p.Y * lam
    if name == "constrained":
        G = -2 * R @ f.W.T - signed @ f.Theta.T
        best = -G / np.linalg.norm(G, axis=1, keepdims=True)
        assert found[0] == pytest.approx((G * (f.Z - best)).sum())
        G = -np.hstack([np.ones((len(f.Z), 1)), f.Z]).T @ signed
        theta = np.vstack([f.bias, f.Theta])
        assert found[2] == pytest.approx((G * (theta + G / np.linalg.norm(G, axis=0))).sum())
    if name == "boxed":
        G = -f.Z.T @ signed
        assert found[2] == pytest.approx((G * (f.Theta + np.sign(G))).sum())
    if name in ("boxed", "svm"):
        G = -2 * f.Z.T @ R
        along = (G * f.W).sum(axis=1, keepdims=True) * f.W
        assert found[1] == pytest.approx(np.linalg.norm(G - along, axis=1).sum())


def jam(z, theta, d_z=0.05, d_theta=0.2, h=1.0):
    """MATH's example: n = l = k = 1, y = μ = 1, no bias, a = 0."""
    objective = Objective(
        np.zeros((1, 1)), np.ones((1, 1)), Reconstruction(0.0), Hinge(np.full((1, 1), h), 1.0),
        z=Penalty(d_z), theta=Penalty(d_theta), bias=Bias(present=False), w=Penalty(1.0),
    )  # fmt: skip
    return objective, Factors(
        np.array([[z]]), np.zeros((1, 1)), np.zeros(1), np.array([[theta]]), np.zeros(1)
    )


@settings(deadline=None, derandomize=True, max_examples=30)
@given(log_z=st.floats(-0.4, 0.9))
def test_a_point_that_no_block_improves_need_not_be_stationary(log_z):
    """Every zθ = 1 with 2d_Z z² ≤ h and 2d_Θ θ² ≤ h is optimal block by block; one of them is stationary."""
    z = float(np.exp(log_z))
    objective, f = jam(z, 1 / z)
    here = objective.value(f)
    for scale in np.linspace(0, 3, 301):
        assert objective.value(f._replace(Z=scale * f.Z)) >= here - 1e-12
        assert objective.value(f._replace(Theta=scale * f.Theta)) >= here - 1e-12
    # Z wants λ = 2d_Z z², Θ wants λ = 2d_Θ θ²: one multiplier for both only where these agree
    grid = np.linspace(0, 1, 2001)
    best = min(objective.stationarity(f, np.array([[lam]])) for lam in grid)
    disagreement = abs(2 * 0.05 * z**2 - 2 * 0.2 / z**2)
    assert best == pytest.approx(disagreement / 2 / here, abs=2e-3 / here)


def test_the_stationary_point_of_the_jam_is_its_minimum():
    """Penalties balanced, d_Z z² = d_Θ θ²: the minimum over all (z, θ), and residual 0."""
    z = (0.2 / 0.05) ** 0.25
    objective, f = jam(z, 1 / z)
    assert objective.stationarity(f, np.array([[2 * 0.05 * z**2]])) < 1e-12
    grid = np.linspace(0.01, 4, 400)
    lowest = min(objective.value(jam(a, b)[1]) for a in grid for b in (1 / a, 0.0))
    assert objective.value(f) <= lowest + 1e-12
