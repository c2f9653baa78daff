"""The Z step: against Clarabel, against a dual bound by least squares, and in cases known by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import BALL, BOX, Jam, hinge_problems
from scipy.optimize import brentq, linprog
from svdm.oracles_z import Sample, bound, minimum, tolerance, value

from svdecode.svdm.kernels.coordinates import free_coordinates, z_step
from svdecode.svdm.kernels.sample_interior import solve_sample

KINDS = ["plain", "ridge", "scales", "correlated", "repeated labels", "zero discriminants", "duplicates"]
SINGULAR = ["deficient", "spare", "seen by no reconstruction", "zero"]
RADII = [np.inf, 0.3, 3.0]
few = settings(derandomize=True, deadline=None, max_examples=6)
many = settings(derandomize=True, deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)
log_weights = st.floats(-6, 6)
ls = st.sampled_from([1, 2, 3, 5, 10, 20])


def problem(seed, kind, l, k, log_weight, spread=3.0, n=3):
    """F with A = FᵀF, centers of the quadratic, and the arguments of `z_step` from B to Hw and margin."""
    rng = np.random.default_rng(seed)
    F, centers = rng.standard_normal((l + 5, l)), rng.standard_normal((n, l))
    B, b = rng.standard_normal((l, k)), 0.5 * rng.standard_normal(k)
    Y = rng.choice([-1.0, 1.0, 1.0, -1.0, 0.0], (n, k))
    margin = 10.0 ** rng.uniform(-1, 1)
    H = 10.0 ** (log_weight + rng.uniform(-spread, 0, (n, 1))) * rng.uniform(0.5, 1, (n, k))
    if kind == "ridge":
        # condition of A up to 1e12: beyond, its rounding moves the least curvature by more than 1e-3, whose
        # square is the tolerance
        one = np.outer(F[:, 0], F[0]) / (np.linalg.norm(F[:, 0]) * np.linalg.norm(F[0]))
        F = np.vstack([10.0 ** rng.uniform(-3, 3) * one, 10.0 ** rng.uniform(-3, 1) * np.eye(l)])
    elif kind == "scales":
        F *= 10.0 ** rng.uniform(-2, 2, l)
    elif kind == "correlated":
        F += 30.0 * rng.standard_normal((l + 5, 1))
    elif kind == "repeated labels":
        B[:, k // 2 :] = B[:, : k - k // 2]
        b[k // 2 :] = b[: k - k // 2]
        Y[:, k // 2 :] = Y[:, : k - k // 2]
    elif kind == "zero discriminants":
        B[:, ::2] = 0.0
    elif kind == "duplicates":
        centers[1], Y[1], H[1] = centers[0], Y[0], H[0]
    elif kind == "deficient":
        F[:, l // 2 :] = F[:, : l // 2] @ rng.standard_normal((l // 2, l - l // 2))
        B = F.T @ rng.standard_normal((len(F), k))
    elif kind == "spare":
        F[:, l // 2 :] = 0.0
        B[l // 2 :] = 0.0
    elif kind == "seen by no reconstruction":
        F[:, l // 2 :] = 0.0
    elif kind == "zero":
        F[:] = 0.0
    return F, centers, (B, b, Y, H, margin)


def samples(F, centers, B, b, Y, H, margin, radius):
    for i, center in enumerate(centers):
        on = (Y[i] != 0) & (H[i] > 0)
        y = Y[i, on]
        yield on, Sample(F, center, y[:, None] * B[:, on].T, margin - y * b[on], H[i, on], margin, radius)


def step(F, centers, B, b, Y, H, margin, radius, start=0.0):
    A = F.T @ F
    return z_step(centers @ A, A, B, b, Y, H, margin, radius, start * H)


def stationary(s, A, z, lam):
    """ν, after checking 2(A(z − center)) − rowsᵀλ + 2νz = 0, ν ≥ 0, and z in the ball."""
    forces = 2 * A @ (z - s.center) - s.rows.T @ lam
    size = 2 * np.linalg.norm(A) * (np.linalg.norm(z) + np.linalg.norm(s.center)) + lam @ np.linalg.norm(
        s.rows, axis=1
    )
    length = np.linalg.norm(z)
    assert length <= s.radius * (1 + 1e-12)
    nu = 0.0
    if length > s.radius * (1 - 1e-9):
        nu = max(-forces @ z / (2 * s.radius**2), 0.0)
    assert np.linalg.norm(forces + 2 * nu * z) <= 1e-9 * size
    return nu


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("kind", KINDS + SINGULAR)
@few
@given(seeds, ls, st.sampled_from([1, 3, 7, 20]), log_weights)
def test_agrees_with_clarabel(kind, radius, seed, l, k, log_weight):
    F, centers, rest = problem(seed, kind, l, k, log_weight, n=2)
    Z, Lam = step(F, centers, *rest, radius)
    for z, lam, (on, s) in zip(Z, Lam, samples(F, centers, *rest, radius), strict=True):
        assert np.all(lam >= 0)
        assert np.all(lam[on] <= s.h)
        assert np.all(lam[~on] == 0)
        best = minimum(s).upper  # too high where Clarabel is inexact: never too low
        assert value(s, z) <= best + tolerance(s, best)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("kind", KINDS + SINGULAR)
def test_agrees_where_clarabel_proves_its_answer(kind, radius):
    """Evidence is where its own multipliers prove its value: almost everywhere."""
    sure = 0
    for seed, log_weight in enumerate([-6, -4, -2, 0, 1, 2, 3, 4, 5, 6]):
        F, centers, rest = problem(seed, kind, [2, 5, 10][seed % 3], [1, 3, 7][seed % 3], log_weight, n=2)
        Z, _ = step(F, centers, *rest, radius)
        _, s = next(samples(F, centers, *rest, radius))
        answer = minimum(s)
        if answer.upper - answer.lower <= tolerance(s, answer.upper):
            sure += 1
            assert abs(value(s, Z[0]) - answer.upper) <= tolerance(s, answer.upper)
    assert sure >= 8


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("kind", KINDS)
@many
@given(seeds, ls, st.sampled_from([1, 2, 3, 7, 20]), log_weights, st.sampled_from([0.0, 0.3, 1.0]))
def test_multipliers_prove_the_minimum(kind, radius, seed, l, k, log_weight, start):
    F, centers, rest = problem(seed, kind, l, k, log_weight)
    Z, Lam = step(F, centers, *rest, radius, start)
    for z, lam, (on, s) in zip(Z, Lam, samples(F, centers, *rest, radius), strict=True):
        nu = stationary(s, F.T @ F, z, lam[on])
        f = value(s, z)
        assert f - bound(s, lam[on], nu) <= tolerance(s, f)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("log_weight", [-6, -3, 0, 3, 6])
@pytest.mark.parametrize(("l", "k"), [(10, 1), (10, 7), (20, 20), (3, 20), (1, 100), (10, 100), (20, 100)])
def test_weights_from_least_to_largest(l, k, log_weight, radius):
    F, centers, rest = problem(k + l, "plain", l, k, log_weight, spread=0.0, n=6)
    Z, Lam = step(F, centers, *rest, radius)
    for z, lam, (on, s) in zip(Z, Lam, samples(F, centers, *rest, radius), strict=True):
        nu = stationary(s, F.T @ F, z, lam[on])
        f = value(s, z)
        assert f - bound(s, lam[on], nu) <= tolerance(s, f)


@pytest.mark.parametrize("radius", RADII)
def test_weights_of_very_different_size_in_one_sample(radius):
    F, centers, (B, b, Y, H, margin) = problem(0, "plain", 5, 7, 0.0, n=40)
    H *= 10.0 ** np.random.default_rng(1).uniform(-6, 6, H.shape)
    Z, Lam = step(F, centers, B, b, Y, H, margin, radius)
    for z, lam, (on, s) in zip(Z, Lam, samples(F, centers, B, b, Y, H, margin, radius), strict=True):
        nu = stationary(s, F.T @ F, z, lam[on])
        f = value(s, z)
        assert f - bound(s, lam[on], nu) <= tolerance(s, f)


def test_one_label_is_the_closed_form():
    F, centers, (B, b, Y, H, margin) = problem(2, "plain", 6, 1, 0.0, n=50)
    A = F.T @ F
    Z, Lam = step(F, centers, B, b, Y, H, margin, np.inf)
    lift = np.linalg.solve(A, B[:, 0])
    slack = margin - Y[:, 0] * (centers @ B[:, 0] + b)
    expected = np.clip(slack / (0.5 * B[:, 0] @ lift), 0, H[:, 0]) * (Y[:, 0] != 0)
    assert np.ptp(expected) > 0
    np.testing.assert_allclose(Lam[:, 0], expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        Z, centers + 0.5 * (expected * Y[:, 0])[:, None] * lift, rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("weight", 10.0 ** np.arange(-6, 7))
def test_known_answers(weight):
    """One sample, rows of the design its labels: A = ½diag(H)."""
    solved = 0
    for p in hinge_problems(weight):
        if p.constraint == BOX:
            continue
        k, solved = len(p.c), solved + 1
        A, ones = np.diag(0.5 * p.H), np.ones((1, k))
        Z, Lam = z_step(
            p.center[None] @ A, A, p.design.T.copy(), np.zeros(k), ones, p.c[None].copy(), p.margin,
            p.radius if p.constraint == BALL else np.inf, 0.0 * ones,
        )  # fmt: skip
        floor = 1e-12 * p.margin * p.c.sum()
        assert p.value(Z[0]) == pytest.approx(p.minimum, rel=1e-6, abs=floor), p.name
        assert np.all((Lam[0] >= 0) & (p.c >= Lam[0])), p.name
        if p.minimizer is not None:
            np.testing.assert_allclose(Z[0], p.minimizer, rtol=1e-5, atol=1e-9, err_msg=p.name)
    assert solved >= 10


def test_the_jam_does_not_move():
    """Whatever θ, the step answers z = min(hθ/2d_Z, 1/θ); Θ's step agrees to its multiplier in one place."""
    jam, one = Jam(), np.ones((1, 1))
    for theta in (0.4, 0.5, 1 / jam.z, 1.0, 1.4):
        Z, Lam = z_step(
            0.0 * one, jam.d_z * one, theta * one, np.zeros(1), one, jam.h * one, 1.0, np.inf, 0.0 * one
        )
        z = min(jam.h * theta / (2.0 * jam.d_z), 1.0 / theta)
        assert Z[0, 0] == pytest.approx(z, rel=1e-12)
        assert Lam[0, 0] == pytest.approx(jam.multiplier(jam.d_z, z), rel=1e-9)
        agreed = jam.multiplier(jam.d_z, z) == pytest.approx(jam.multiplier(jam.d_theta, theta))
        lowest = jam.d_z * z**2 + jam.d_theta * theta**2 == pytest.approx(jam.minimum)
        assert agreed == lowest == (theta == 1 / jam.z)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("k", [1, 7])
def test_starts_do_not_matter(k, radius):
    F, centers, rest = problem(3, "plain", 8, k, 0.0, n=30)
    A, H = F.T @ F, rest[3]
    Z, Lam = step(F, centers, *rest, radius)
    starts = np.random.default_rng(0)
    for start in (Lam, H, 2.0 * H, -H, starts.uniform(0, 1, H.shape) * H):
        Z_again, Lam_again = z_step(centers @ A, A, *rest, radius, start)
        np.testing.assert_allclose(Z_again, Z, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(Lam_again, Lam, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("radius", RADII)
def test_what_is_off_does_not_count(radius):
    F, centers, (B, b, Y, H, margin) = problem(4, "plain", 5, 4, 1.0, n=20)
    Y[:, 3] = 1.0
    H[:, 3] = 0.0
    Y[0] = 0.0
    H[1] = 0.0
    Z, Lam = step(F, centers, B, b, Y, H, margin, radius)
    assert np.all(Lam[:, 3] == 0)
    assert np.all(Lam[Y == 0] == 0)
    Z_less, Lam_less = step(F, centers, B[:, :3], b[:3], Y[:, :3], H[:, :3], margin, radius)
    np.testing.assert_array_equal(Z, Z_less)
    np.testing.assert_array_equal(Lam[:, :3], Lam_less)
    A = F.T @ F
    np.testing.assert_allclose(Z[:2], free_coordinates(centers @ A, A, radius)[:2], rtol=1e-12)


@pytest.mark.parametrize("radius", RADII)
def test_equal_samples_have_equal_coordinates(radius):
    F, centers, (B, b, Y, H, margin) = problem(5, "plain", 5, 7, 1.0, n=4)
    twice = [np.vstack([M, M]) for M in (centers, Y, H)]
    Z, Lam = step(F, twice[0], B, b, twice[1], twice[2], margin, radius)
    np.testing.assert_array_equal(Z[:4], Z[4:])
    np.testing.assert_array_equal(Lam[:4], Lam[4:])


def test_without_discriminants_labels_move_nothing():
    F, centers, (B, b, Y, H, margin) = problem(6, "plain", 4, 3, 2.0, n=10)
    Z, Lam = step(F, centers, 0.0 * B, 10.0 * b, Y, H, margin, np.inf)
    np.testing.assert_allclose(Z, centers, rtol=1e-12)
    violated = (margin - Y * 10.0 * b > 0) & (Y != 0)
    assert violated.any()
    assert not violated.all()
    np.testing.assert_array_equal(Lam, np.where(violated, H, 0.0))


@pytest.mark.parametrize("kind", ["plain", "scales", "ridge"])
def test_new_samples_are_projected_in_the_metric_of_the_reconstruction(kind):
    F, centers, _ = problem(7, kind, 6, 1, 0.0, n=20)
    A = F.T @ F
    d, V = np.linalg.eigh(A)
    Z = free_coordinates(centers @ A, A, 1.0)
    inside = np.linalg.norm(centers, axis=1) <= 1.0
    np.testing.assert_allclose(Z[inside], centers[inside], rtol=1e-9)
    for center, z in zip(centers[~inside], Z[~inside], strict=True):
        parts = d * (V.T @ center)

        def excess(log_nu, parts=parts):
            return np.linalg.norm(parts / (d + np.exp(log_nu))) - 1.0

        nu = np.exp(brentq(excess, -40.0, 40.0, xtol=1e-14))
        np.testing.assert_allclose(z, V @ (parts / (d + nu)), rtol=1e-7, atol=1e-9)
        assert abs(np.linalg.norm(z) - 1) <= 1e-12
    np.testing.assert_allclose(free_coordinates(centers @ A, A, np.inf), centers, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", SINGULAR)
@pytest.mark.parametrize("radius", [np.inf, 1e3])
def test_new_samples_take_the_shortest_coordinates(kind, radius):
    F, centers, _ = problem(8, kind, 6, 1, 0.0)
    A = F.T @ F
    shortest = centers @ A @ np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    np.testing.assert_allclose(free_coordinates(centers @ A, A, radius), shortest, rtol=1e-9, atol=1e-10)


def test_singular_quadratics_of_any_scale():
    rng = np.random.default_rng(9)
    scales = 10.0 ** np.array([-4, 4, 0, -2, 3])
    half = rng.standard_normal((2, 5)) * scales
    A, C = half.T @ half, rng.standard_normal((3, 2)) @ half
    Z = free_coordinates(C, A, np.inf)
    np.testing.assert_allclose(Z @ half.T, C @ np.linalg.pinv(half), rtol=1e-7)
    np.testing.assert_allclose(Z, C @ np.linalg.pinv(half) @ np.linalg.pinv(half).T, rtol=1e-5, atol=1e-9)


def test_margins_are_met_where_it_costs_nothing():
    F, centers, (B, b, Y, H, margin) = problem(10, "seen by no reconstruction", 8, 4, 3.0, n=20)
    Z, Lam = step(F, centers, B, b, Y, H, margin, np.inf)
    for z, (_, s) in zip(Z, samples(F, centers, B, b, Y, H, margin, np.inf), strict=True):
        assert value(s, z) <= tolerance(s, 0.0)
    assert np.all(Lam <= 1e-12 * H)


@pytest.mark.parametrize("radius", [np.inf, 100.0])
@pytest.mark.parametrize(("l", "k"), [(1, 3), (2, 7), (3, 20)])
def test_without_reconstruction_it_is_a_linear_program(l, k, radius):
    F, centers, rest = problem(11, "zero", l, k, 0.0, n=5)
    Z, _ = step(F, centers, *rest, radius)
    for z, (_, s) in zip(Z, samples(F, centers, *rest, radius), strict=True):
        cost = np.concatenate([np.zeros(l), s.h])
        rows = -np.hstack([s.rows, np.eye(len(s.h))])
        best = linprog(cost, rows, -s.margins, bounds=[(None, None)] * l + [(0, None)] * len(s.h))
        assert np.linalg.norm(best.x[:l]) < radius
        assert abs(value(s, z) - best.fun) <= tolerance(s, best.fun)


def test_without_reconstruction_the_ball_holds_what_is_pulled():
    C = np.random.default_rng(12).standard_normal((5, 3))
    Z = free_coordinates(C, np.zeros((3, 3)), 2.0)
    np.testing.assert_allclose(Z, 2.0 * C / np.linalg.norm(C, axis=1)[:, None], rtol=1e-12)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("log_weight", [-3, 0, 5])
@pytest.mark.parametrize(("l", "k"), [(2, 3), (5, 5), (10, 7), (5, 40)])
def test_the_interior_point_alone_is_as_exact(l, k, log_weight, radius):
    F, centers, (B, b, Y, H, margin) = problem(13, "plain", l, k, log_weight, n=4)
    d, V = np.linalg.eigh(F.T @ F)
    for _, s in samples(F @ V, centers @ V, V.T @ B, b, Y, H, margin, radius):
        z, lam = solve_sample(s.rows, s.margins, s.h, 2.0 * d, 2.0 * d * s.center, radius)
        assert np.all((lam >= 0) & (lam <= s.h))
        nu = stationary(s, np.diag(d), z, lam)
        f = value(s, z)
        assert f - bound(s, lam, nu) <= tolerance(s, f)


@pytest.mark.parametrize("radius", RADII)
def test_what_is_not_finite_stays_visible(radius):
    F, centers, rest = problem(14, "plain", 4, 3, 0.0)
    A = F.T @ F
    Z, _ = z_step(centers @ A, np.full_like(A, np.nan), *rest, radius, 0.0 * rest[3])
    assert np.isnan(Z).all()
