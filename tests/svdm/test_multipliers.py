"""The method of multipliers: its gradient, where it gets, and what no method can reach."""

import numpy as np
import pytest

from svdecode.svdm.fitting import Solving, infimum, solve
from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.kernels.augmented import Task, evaluate
from svdecode.svdm.objective import Factors
from svdecode.svdm.solver import minimise
from svdecode.svdm.starts import choose_start


def noisy(k=1, n=40, r=39, seed=0, spread=1.0):
    """Labels that the data tell only partly, so that hinges stay active."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 5))
    X = Z @ rng.standard_normal((5, r)) + 1.5 * rng.standard_normal((n, r))
    X -= X.mean(axis=0)
    return spread * X / X.std(), np.sign(Z @ rng.standard_normal((5, k)) + rng.standard_normal((n, k)))


def make(name, X, Y, l, m=300, **weights):
    return FORMULATIONS[name](Problem(X, Y, np.ones(Y.shape), m, l, **weights))


def start(objective, l, init="svd", seed=0):
    return choose_start(objective, init, l, np.random.default_rng(seed), 0)


@pytest.mark.parametrize("n_unseen", [0, 1])
@pytest.mark.parametrize("name", ["balanced", "penalized"])
def test_gradient_is_that_of_the_value(name, n_unseen):
    X, Y = noisy(3, n=12, r=8)
    Y[0, 1] = 0.0
    l, rng = 3, np.random.default_rng(1)
    objective = make(name, X, Y, l, shrinkage=0.3)
    H = objective.hinge.weights * (Y != 0)
    task = Task(
        X, float(np.vdot(X, X)), Y, H, objective.numbers(), n_unseen, H * rng.random(Y.shape), 0.4 * H.max()
    )
    x, direction = rng.standard_normal((2, 12 * l + l * 3 + 3))
    if n_unseen:
        x[12 * l : 12 * l + l * 3].reshape(l, 3)[l - 1 :] = 0.0  # no discriminant sees the last one
        direction[12 * l : 12 * l + l * 3].reshape(l, 3)[l - 1 :] = 0.0
    g, unused, h = np.empty_like(x), np.empty_like(x), 1e-6
    evaluate(x, task, l, g)
    ends = [evaluate(x + sign * h * direction, task, l, unused) for sign in (1, -1)]
    assert g @ direction == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_value_without_multipliers_is_the_smoothed_objective():
    """At λ = 0 and ρ → ∞ the envelope is the hinge, and W and w₀ are the best ones."""
    X, Y = noisy(2, n=12, r=8)
    objective, l = make("balanced", X, Y, 3, shrinkage=0.3), 3
    factors = start(objective, l)
    rng = np.random.default_rng(2)
    factors.Theta[:], factors.bias[:] = rng.standard_normal((l, 2)), rng.standard_normal(2)
    x = np.concatenate([factors.Z.ravel(), factors.Theta.ravel(), factors.bias])
    H = objective.hinge.weights
    task = Task(X, float(np.vdot(X, X)), Y, H, objective.numbers(), 0, np.zeros(Y.shape), 1e9 * H.max())
    value = evaluate(x, task, l, np.empty_like(x))
    assert value == pytest.approx(objective.value(factors), rel=1e-7)
    worse = factors._replace(W=factors.W + 1e-3 * rng.standard_normal(factors.W.shape))
    assert objective.value(worse) > value


@pytest.mark.parametrize("spread", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("k", [1, 3, 7])
@pytest.mark.parametrize("l", [1, 3, 6])
def test_balanced_converges_whatever_the_weights(k, l, spread):
    """Few coordinates, weak penalties, data far from scale: where other splittings run in circles."""
    X, Y = noisy(k, seed=l, spread=spread)
    for shrinkage in (1e-3, 0.1, 10.0):
        objective = make("balanced", X, Y, l, shrinkage=shrinkage)
        result = minimise(objective, start(objective, l), tol=1e-6, max_iter=60)
        assert result.converged, (shrinkage, result.message)
        assert result.stationarity <= 1e-6
        sweeps = minimise(objective, start(objective, l), solver="alternating", stopping="decrease", tol=1e-6)
        if l >= k:  # local optima lie close to each other; with fewer coordinates than labels they need not
            assert result.objective <= 1.002 * sweeps.objective


@pytest.mark.parametrize("shrinkage", [1e-3, 1e-2, 0.1])
def test_penalized_infimum_from_any_start_lies_below_alternation(shrinkage):
    X, Y = noisy(seed=5)
    objective = make("penalized", X, Y, 4, shrinkage=shrinkage)
    for init in ("svd", "random"):
        solving = Solving("splitting", "stationary", 1e-6, 60, rebalance=True, init=init, n_init=1)
        result, _ = solve(objective, 4, solving, np.random.default_rng(0))
        assert result.converged
        sweeps = minimise(
            objective, start(objective, 4, init), solver="alternating", stopping="decrease", tol=1e-3
        )
        assert result.objective < sweeps.objective


def test_a_coordinate_that_no_discriminant_needs_is_given_up():
    """Two equal labels need one coordinate: the second shrinks for ever unless it becomes unseen."""
    X, y = noisy(1, seed=2)
    Y = np.hstack([y, y])
    objective = make("penalized", X, Y, 3, shrinkage=0.05)
    target = infimum(objective, 3)
    assert target.n_unseen == 1
    result = minimise(target, start(target, 3), tol=1e-6, max_iter=60)
    assert result.converged
    assert result.target.n_unseen == 2
    single = make("penalized", X, y, 3, shrinkage=0.05)
    assert infimum(single, 3).n_unseen == 2


@pytest.mark.parametrize("name", ["svm", "boxed"])
def test_unit_rows_alone_do_not_make_xis_objectives_well_posed(name):
    """Basis images of norm one that come close to each other let discriminants shrink, or margins grow.

    With S = ZΘ and ZW fixed, images w_i(ε) → u for a u that no discriminant reads (βᵀu = 0 in feature
    space) need discriminants ⟨w_i, β⟩ of the order of ε. So for more coordinates than labels the
    penalty of `svm` has no smallest value, and in `boxed` margins of any size fit into the box.
    """
    X, Y = noisy(seed=3)
    weights = {"shrinkage": 10.0, "hinge_weight": 30.0}
    objective = make(name, X, Y, 2, **weights)
    sweeps = minimise(objective, start(objective, 2), solver="alternating", stopping="decrease", tol=1e-4)
    Z, W, mean, Theta, bias = sweeps.factors
    scores = Z @ Theta + bias
    if name == "boxed":
        weights["margin"] = 30 * float(np.abs(scores).max())
    objective = make(name, X, np.sign(scores), 2, **weights)  # labels that these coordinates tell apart
    beta = np.linalg.pinv(W) @ Theta[:, 0]
    beta /= np.linalg.norm(beta)
    in_span = np.linalg.qr(W.T)[0]
    unread = in_span @ np.array([[0.0, 1.0], [-1.0, 0.0]]) @ (in_span.T @ beta)  # u
    fit = objective.reconstruction.value(X - mean - Z @ W)
    above = []
    for epsilon in (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4):
        images = unread + epsilon * np.array([[1.0], [-1.0]]) * beta
        images /= np.linalg.norm(images, axis=1, keepdims=True)
        to_new = W @ np.linalg.pinv(images)  # W = M images: ZM and M⁻¹Θ have the same fit and scores
        discriminants = np.linalg.solve(to_new, Theta)
        if name == "boxed":  # as large as the box allows
            discriminants /= np.abs(discriminants).max()
        above.append(objective.value(Factors(Z @ to_new, images, mean, discriminants, bias)) - fit)
    floor = objective.hinge.value(np.abs(scores)) if name == "svm" else 0.0
    left = np.array(above) - floor
    assert (left > -1e-9 * fit).all()
    assert left[-1] < 0.02 * left[0], left
    assert (np.diff(left) <= 1e-9 * fit).all()
