"""The gap to the convex problem: against the trace-norm model itself, and its promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, data, make, several_labels
from svdm.oracles_convex import indicator, trace_norm_optimum

from svdecode.svdm.convex import balanced_multipliers, dual_value, leading_directions, spectral_norm
from svdecode.svdm.formulations import Problem, balanced
from svdecode.svdm.objective import Factors

pytestmark = pytest.mark.filterwarnings(IGNORE)
EXACT = {"solver": "splitting", "stopping": "stationary", "tol": 1e-9, "max_iter": 5000}


INSTANCES = {
    "two classes": (data(2, n=14, m=20), 0.5),
    "several labels, some unknown": (several_labels(2, n=12, m=15), 0.4),
}


@pytest.mark.parametrize("instance", INSTANCES)
def test_the_gap_is_the_distance_to_the_convex_optimum(instance):
    (X, y), shrinkage = INSTANCES[instance]
    l = len(X) - 1
    model = make("balanced", l, shrinkage=shrinkage, **EXACT).fit(X, y)
    Y = indicator(y) if y.ndim == 2 else np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
    optimum = trace_norm_optimum((X - X.mean(axis=0)) / model.scale_, Y, shrinkage, l)
    # at sufficient rank a stationary point is proved global
    assert 0 <= model.optimality_gap_ <= 1e-6 * model.objective_
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    # below it the gap bounds the distance to the convex problem with these weights
    low = make("balanced", 2, shrinkage=shrinkage * 2 / l, **EXACT).fit(X, y)
    distance = low.objective_ - optimum
    assert distance > 1e-3
    assert distance <= low.optimality_gap_ * (1 + 1e-7)
    assert low.optimality_gap_ < 2 * distance  # and not by far


def test_a_gap_belongs_to_any_fit_and_shrinks_with_it():
    X, y = data(3)
    gaps = [
        make("balanced", 29, shrinkage=0.5, solver="splitting", stopping="decrease", tol=1e-15, max_iter=n)
        .fit(X, y)
        .optimality_gap_
        for n in (1, 4, 300)
    ]
    assert gaps[0] > 3 * gaps[1] > 1e6 * gaps[2] >= 0
    for formulation in FORMULATIONS:
        model = make(formulation, **SWEEPS).fit(X, y)
        assert np.isnan(model.optimality_gap_) == (formulation != "balanced")


def test_weighted_hinges_have_their_own_dual():
    X, y = data(2, n=14, m=20)
    weights = np.linspace(0, 3, 14)
    model = make("balanced", 13, shrinkage=0.5, margin=0.7, **EXACT).fit(X, y, sample_weight=weights)
    Y = np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
    Xs = (X - X.mean(axis=0)) / model.scale_
    optimum = trace_norm_optimum(Xs, Y, 0.5, 13, margin=0.7, weights=weights[:, None])
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert 0 <= model.optimality_gap_ <= 1e-6 * model.objective_


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1e-2, 1.0, 1e2, 1e6]), st.integers(1, 3))
def test_no_factors_lie_below_the_bound(seed, size, k):
    """Weak duality: any factors, any multipliers, feasible or not, one label's sign missing too."""
    rng = np.random.default_rng(seed)
    n, r, l = 7, 4, 2
    X = size * rng.standard_normal((n, r))
    Y = np.sign(rng.standard_normal((n, k))) * (rng.random((n, k)) < 0.9)
    if seed % 3 == 0:
        Y[:, 0] = np.abs(Y[:, 0])
    problem = Problem(
        X - X.mean(axis=0), Y, np.abs(Y) * rng.random((n, k)), r, l, shrinkage=rng.random() + 0.01
    )
    objective = balanced(problem)

    def factors():
        return Factors(
            rng.standard_normal((n, l)), rng.standard_normal((l, r)), rng.standard_normal(r),
            rng.standard_normal((l, k)), rng.standard_normal(k),
        )  # fmt: skip

    lowest = min(objective.value(factors()) for _ in range(20))
    bound = dual_value(objective, factors(), rng.uniform(-1, 2, (n, k)) * objective.hinge.weights)
    assert np.isfinite(bound)
    assert bound <= lowest * (1 + 1e-12)


def test_unequal_classes_do_not_lift_the_bound():
    """Where penalties forbid everything but mean and bias it is ‖X‖²a + 2·(smaller share), exactly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 5))
    X -= X.mean(axis=0)
    Y = np.where(np.arange(12) < 3, 1.0, -1.0)[:, None]
    objective = balanced(Problem(X, Y, np.ones((12, 1)), 5, 2, shrinkage=1e3))
    nothing = Factors(np.zeros((12, 2)), np.zeros((2, 5)), np.zeros(5), np.zeros((2, 1)), -np.ones(1))
    optimum = np.sum(X**2) / 60 + 2 * 3 / 12
    assert objective.value(nothing) == pytest.approx(optimum, rel=1e-12)
    bound = dual_value(objective, nothing, objective.hinge.weights)  # multipliers that 1ᵀ(Y∘λ) = 0 forbids
    assert bound == pytest.approx(optimum, rel=1e-12)


def test_balanced_multipliers_sum_to_zero():
    signed = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [-1.0, 0.0, -4.0]])
    found = balanced_multipliers(signed)
    np.testing.assert_allclose(found, [[1 / 3, 0, 0], [2 / 3, 0, 0], [-1, 0, 0]])
    assert (np.abs(found) <= np.abs(signed)).all()


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (1, 4), (4, 1)])
def test_spectral_norm(shape):
    B = np.random.default_rng(0).standard_normal(shape)
    assert spectral_norm(B) == pytest.approx(np.linalg.norm(B, 2), rel=1e-12)
    assert spectral_norm(0 * B) == 0


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (6, 6)])
def test_leading_directions(shape):
    B = np.random.default_rng(0).standard_normal(shape)
    sizes, left, right = leading_directions(B, 0.5)
    full = np.linalg.svd(B, compute_uv=False)
    np.testing.assert_allclose(sizes, full[full > 0.5], rtol=1e-10)
    np.testing.assert_allclose(left.T @ B, sizes[:, None] * right, atol=1e-12)
    np.testing.assert_allclose(left.T @ left, np.eye(len(sizes)), atol=1e-10)
    np.testing.assert_allclose(leading_directions(B, 2 * full[0])[0], full[:1], rtol=1e-10)
    assert leading_directions(0 * B, 1.0)[0].tolist() == [0.0]


def test_singular_values_that_lie_together():
    """At an optimum all that count are 2."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        sizes = 2 - 1e-13 * np.random.default_rng(seed).random(30)
        B = (
            np.linalg.qr(rng.standard_normal((30, 30)))[0]
            * sizes
            @ np.linalg.qr(rng.standard_normal((40, 30)))[0].T
        )
        assert spectral_norm(B) == pytest.approx(2, rel=1e-12)
        assert len(leading_directions(B, 1.0)[0]) == 30
