"""Two schemes behind one loop: what alternation promises, and where only the splitting gets."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from svdecode.reduction import reduce_rows
from svdecode.svdm.fitting import Solving, as_published, infimum, solve
from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.solver import minimise
from svdecode.svdm.starts import choose_start

WEIGHTS = {
    "constrained": {"hinge_weight": 30.0},
    "penalized": {"shrinkage": 0.1},
    "boxed": {"hinge_weight": 30.0},
    "svm": {"hinge_weight": 30.0, "shrinkage": 10.0},
    "balanced": {"shrinkage": 0.1},
}


def synthetic(k, n=84, m=16000):
    """MATH's synthetic case: X over its standard deviation, in the order of draws that it names."""
    rng = np.random.default_rng(0)
    Z, W = rng.standard_normal((n, 10)), rng.standard_normal((10, m))
    X = Z @ W + 3 * rng.standard_normal((n, m))
    return X / X.std(), np.sign(Z @ rng.standard_normal((10, k)))


def noisy(k=1, n=40, m=300, seed=0):
    """Labels that the data tell only partly, so that hinges stay active."""
    rng = np.random.default_rng(seed)
    Z, W = rng.standard_normal((n, 5)), rng.standard_normal((5, m))
    Y = np.sign(Z @ rng.standard_normal((5, k)) + rng.standard_normal((n, k)))
    X = Z @ W + 4 * rng.standard_normal((n, m))
    return X / X.std(), Y


def make(name, X, Y, l, **weights):
    reduction = reduce_rows(X)
    problem = Problem(reduction.coordinates, Y, np.ones(Y.shape), X.shape[1], l, **(WEIGHTS[name] | weights))
    return FORMULATIONS[name](problem)


def start(objective, l, init="svd", seed=0):
    return choose_start(objective, init, l, np.random.default_rng(seed), 0)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("init", ["svd", "random"])
def test_alternation_never_lets_the_objective_rise(name, k, init):
    X, Y = noisy(k)
    objective = make(name, X, Y, 4)
    result = minimise(
        objective, start(objective, 4, init), solver="alternating", stopping="decrease", tol=1e-9, max_iter=60
    )
    assert len(result.history) > 2
    assert np.diff(result.history).max() <= 1e-9 * result.objective
    assert objective.value(result.factors) == pytest.approx(result.objective, rel=1e-12)
    assert result.history[-1] == result.objective


@pytest.mark.parametrize("solver", ["multipliers", "anderson"])
@pytest.mark.parametrize(("k", "expected"), [(1, 0.489959), (7, 0.535372)])
def test_splitting_reaches_what_math_reports(k, expected, solver):
    """MATH's table, balanced, synthetic, l = 10, shrinkage .1: to the six digits that it prints."""
    X, Y = synthetic(k)
    objective = make("balanced", X, Y, 10)
    result = minimise(objective, start(objective, 10), solver=solver, tol=1e-7)
    assert result.converged
    assert result.stationarity <= 1e-7
    assert result.objective == pytest.approx(expected, abs=6e-7)
    assert objective.stationarity(result.factors, result.multipliers) == result.stationarity


def test_plain_alternation_jams_where_rebalancing_and_splitting_do_not():
    """The same table: .545229 from the singular start for k = 1, far above .489959, and no longer moving."""
    X, Y = synthetic(1)
    objective = make("balanced", X, Y, 10)
    plain, balanced = (
        minimise(objective, start(objective, 10), solver="alternating", tol=1e-6, max_iter=300, rebalance=r)
        for r in (False, True)
    )
    assert plain.objective > 0.54
    assert not plain.converged
    assert plain.stationarity > 0.1
    assert balanced.converged
    assert balanced.objective == pytest.approx(0.489959, abs=1e-6)


@pytest.mark.parametrize("name", ["balanced", "penalized", "constrained"])
@pytest.mark.parametrize("seed", [0, 1])
def test_splitting_gets_to_stationary_points_below_alternation(name, seed):
    X, Y = noisy(seed=seed)
    objective = make(name, X, Y, 3)
    solving = Solving("splitting", "stationary", 1e-6, 2000, rebalance=True, init="svd", n_init=1)
    result, _ = solve(objective, 3, solving, np.random.default_rng(0))
    assert result.converged
    assert result.stationarity <= 1e-6
    papers = replace(solving, solver="alternating", stopping="decrease", tol=1e-3, rebalance=False)
    alternating, _ = solve(objective, 3, papers, np.random.default_rng(0))
    assert result.objective < alternating.objective
    assert np.diff(result.history).max() <= 0


def test_the_published_penalized_objective_drifts():
    """MATH: W is free, so coordinates that no discriminant sees shrink for ever and their images grow."""
    X, Y = noisy(seed=2)
    objective = make("penalized", X, Y, 4)
    sizes, growths, values = [], [], []
    for n_sweeps in (10, 40, 160, 640):
        r = minimise(
            objective,
            start(objective, 4),
            solver="alternating",
            stopping="decrease",
            tol=1e-15,
            max_iter=n_sweeps,
        )
        Zc = r.factors.Z - r.factors.Z.mean(axis=0)
        sizes.append(np.sort(np.linalg.svd(Zc, compute_uv=False))[:3])
        growths.append(np.linalg.norm(r.factors.W))
        values.append(r.objective)
    # three of four coordinates are unseen: they fall like 1/√sweeps, and the objective creeps on
    shrinking = np.array(sizes[1:]) / np.array(sizes[:-1])
    assert (shrinking < 0.75).all()
    assert all(b > 1.3 * a for a, b in itertools.pairwise(growths))
    assert all(b < a for a, b in itertools.pairwise(values))
    limit, _ = solve(
        objective, 4, Solving("splitting", "stationary", 1e-7, 2000, True, "svd", 1), np.random.default_rng(0)
    )
    assert limit.objective < values[-1]


def test_the_infimum_is_maths_formula():
    """a·Σ_{j>l−s} σ_j²((I − Π_[1,S])X) + hinge(1b + SΘ) + d_Z‖S‖² + d_Θ(‖Θ‖² + ‖b‖²) + shrinkage/(1+l)."""
    X, Y = noisy(seed=3)
    l, shrinkage = 4, 0.1
    objective = make("penalized", X, Y, l)
    target = infimum(objective, l)
    assert target.n_unseen == 3
    result = minimise(target, start(target, l), tol=1e-9, max_iter=3000)
    S, Theta, bias = result.factors.Z[:, :1], result.factors.Theta[:1], result.factors.bias
    n, m = X.shape
    onto = np.linalg.qr(np.hstack([np.ones((n, 1)), S]))[0]
    Xc = X - X.mean(axis=0)
    rest = np.linalg.svd(Xc - onto @ (onto.T @ Xc), compute_uv=False)[3:]
    d_z, d_theta = shrinkage / (n * (1 + l)), shrinkage / (1 + l)
    formula = (
        (rest**2).sum() / (n * m)
        + np.maximum(1 - Y * (bias + S @ Theta), 0).mean()
        + d_z * (S**2).sum() + d_theta * ((Theta**2).sum() + (bias**2).sum()) + shrinkage / (1 + l)
    )  # fmt: skip
    assert result.objective == pytest.approx(formula, rel=1e-7)
    # as factors of the published objective, 1e-8 of it above the infimum
    published = objective.value(as_published(target, result.factors))
    assert 0 <= published - result.objective <= 2e-8 * result.objective
    # and no point of the published objective that alternation finds lies below
    sweeps = minimise(
        objective, start(objective, l), solver="alternating", stopping="decrease", tol=1e-12, max_iter=2000
    )
    assert sweeps.objective > result.objective


def test_stopping_by_decrease_is_the_papers():
    X, Y = noisy(2)
    objective = make("penalized", X, Y, 3)
    r = minimise(objective, start(objective, 3), solver="alternating", stopping="decrease", tol=1e-3)
    falls = -np.diff(r.history) / r.history[:-1]
    assert r.converged
    assert falls[-1] <= 1e-3
    assert (falls[:-1] > 1e-3).all()


def test_max_iter_is_said():
    X, Y = noisy(2)
    objective = make("balanced", X, Y, 3)
    r = minimise(objective, start(objective, 3), max_iter=2, tol=1e-12)
    assert not r.converged
    assert "max_iter=2" in r.message
    assert r.n_iter == 2


def test_callback_sees_each_iteration():
    X, Y = noisy()
    objective = make("balanced", X, Y, 3)
    seen = []
    r = minimise(objective, start(objective, 3), callback=lambda *args: seen.append(args))
    assert [s[0] for s in seen] == list(range(1, r.n_iter + 1))
    assert seen[-1][2] <= 1e-6


@pytest.mark.parametrize("name", FORMULATIONS)
def test_hinge_weight_to_zero_is_pca_of_the_centered_data(name):
    """Pereira & Gordon 2006, §2.3: without the hinge only Z's ones matter, which center the data.

    The penalties of `penalized` and `balanced` go to 0 as well; unit rows leave PCA alone.
    """
    X, Y = noisy(seed=4)
    l = 3
    weak = {"hinge_weight": 1e-9, "shrinkage": 1e-9}
    objective = make(name, X, Y, l, **weak)
    if name in ("penalized", "balanced"):
        objective = replace(
            objective, hinge=replace(objective.hinge, weights=1e-12 * objective.hinge.weights)
        )
    by_blocks = {"solver": "alternating", "stopping": "decrease", "tol": 1e-14, "max_iter": 3000}
    r = minimise(objective, start(objective, l, "random"), **by_blocks)
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    left = np.linalg.norm(objective.X - r.factors.mean - r.factors.Z @ r.factors.W) ** 2
    assert left == pytest.approx((s[l:] ** 2).sum(), rel=1e-6)
