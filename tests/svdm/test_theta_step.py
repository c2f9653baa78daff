"""The Θ step: against Clarabel, its own multipliers, LIBLINEAR, LIBSVM, and in cases known by hand."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Jam, hinge_problems
from sklearn.svm import SVC, LinearSVC
from svdm.oracles_theta import BALL, BOX, NONE, Label, bound, minimum, tolerance, value

from svdecode.svdm.kernels.dual_descent import hinge_coordinate_descent
from svdecode.svdm.kernels.theta import hinge_interior_point, theta_step

MODES = ["bias penalized", "bias free", "box", "ball"]
KINDS = [
    "plain",
    "separable",
    "scales",
    "correlated",
    "duplicates",
    "both labels",
    "constant feature",
    "zero feature",
    "zero rows",
    "one of a class",
    "one class",
]
WEIGHTS = 10.0 ** np.arange(-6, 7)
few = settings(derandomize=True, deadline=None, max_examples=6)
many = settings(derandomize=True, deadline=None, max_examples=60)
seeds = st.integers(0, 2**32 - 1)
log_weights = st.floats(-6, 6)
ns, ps = st.sampled_from([1, 2, 5, 12, 40, 84]), st.sampled_from([1, 2, 5, 11, 21])


def problem(seed, kind, mode, n, l, k, log_weight, spread=3.0):
    """Arguments of `theta_step`; hinge weights of many sizes, a fifth of the entries off."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, l))
    scores = Z @ rng.standard_normal((l, k)) + rng.standard_normal(k)
    Y = np.sign(scores + (kind != "separable") * rng.standard_normal((n, k)))
    if kind == "scales":
        Z *= 10.0 ** rng.uniform(-3, 3, l)
    elif kind == "correlated":
        Z += 30.0 * rng.standard_normal((n, 1))
    elif kind == "duplicates":
        Z[n // 2 :], Y[n // 2 :] = Z[: n - n // 2], Y[: n - n // 2]
    elif kind == "both labels":
        Z[n // 2 :], Y[n // 2 :] = Z[: n - n // 2], -Y[: n - n // 2]
    elif kind == "constant feature":
        Z[:, -1] = 2.0
    elif kind == "zero feature":
        Z[:, 0] = 0.0
    elif kind == "zero rows":
        Z[::2] = 0.0
    elif kind == "one of a class":
        Y[:] = 1.0
        Y[0] = -1.0
    elif kind == "one class":
        Y[:] = -1.0
    if kind not in ("one of a class", "one class"):
        Y[rng.uniform(size=Y.shape) < 0.2] = 0.0
    A = np.hstack([np.ones((n, int(mode != "box"))), Z])
    C = 10.0 ** (log_weight + rng.uniform(-spread, 0, k)) * rng.uniform(0.5, 1, (n, k))
    H = np.zeros(A.shape[1])
    if mode.startswith("bias"):
        H[:] = 10.0 ** rng.uniform(-2, 2)
        H[0] *= mode == "bias penalized"
    constraint = {"box": BOX, "ball": BALL}.get(mode, NONE)
    return A, Y, C, 10.0 ** rng.uniform(-1, 1), H, constraint, 10.0 ** rng.uniform(-1, 1)


def labels(A, Y, C, margin, H, constraint, radius):
    for y, c in zip(Y.T, C.T, strict=True):
        on = (y != 0) & (c > 0)
        yield on, Label(y[on, None] * A[on], c[on], margin, H, constraint, radius)


def step(arguments, warm=None):
    return theta_step(*arguments, np.zeros(arguments[1].shape) if warm is None else warm)


def check(arguments, Theta, Lam):
    """Θ is in its constraint, Λ in its box, and together they prove the minimum."""
    for theta, lam, (on, s) in zip(Theta.T, Lam.T, labels(*arguments), strict=True):
        if s.constraint == BOX:
            assert np.all(np.abs(theta) <= s.radius * (1 + 1e-14))
        elif s.constraint == BALL:
            assert np.linalg.norm(theta) <= s.radius * (1 + 1e-14)
        assert np.all(lam[~on] == 0)
        assert np.all((lam[on] >= 0) & (lam[on] <= s.c))
        f = value(s, theta)
        assert f - bound(s, lam[on]) <= tolerance(s, f)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@few
@given(seeds, ns, ps, log_weights)
def test_agrees_with_clarabel(kind, mode, seed, n, l, log_weight):
    arguments = problem(seed, kind, mode, n, l, 1, log_weight)
    Theta, _ = step(arguments)
    _, s = next(labels(*arguments))
    best = minimum(s).upper  # too high where Clarabel is inexact: never too low
    assert value(s, Theta[:, 0]) <= best + tolerance(s, best)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_where_clarabel_proves_its_answer(kind, mode):
    """Evidence is where its own multipliers prove its value: almost everywhere."""
    sure = 0
    for seed, log_weight in enumerate([-6, -4, -2, 0, 1, 2, 3, 4, 5, 6]):
        arguments = problem(seed, kind, mode, [12, 40][seed % 2], [2, 5, 10][seed % 3], 1, log_weight, 0.0)
        Theta, _ = step(arguments)
        _, s = next(labels(*arguments))
        answer = minimum(s)
        if answer.upper - answer.lower <= tolerance(s, answer.upper):
            sure += 1
            assert abs(value(s, Theta[:, 0]) - answer.upper) <= tolerance(s, answer.upper)
    assert sure >= 8


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@many
@given(seeds, ns, ps, st.sampled_from([1, 7]), log_weights)
def test_multipliers_prove_the_minimum(kind, mode, seed, n, l, k, log_weight):
    arguments = problem(seed, kind, mode, n, l, k, log_weight)
    check(arguments, *step(arguments))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("log_weight", range(-6, 7, 2))
@pytest.mark.parametrize(
    ("n", "l", "k"), [(84, 10, 1), (392, 20, 7), (60, 8, 100), (30, 100, 1), (300, 100, 2), (3000, 20, 1)]
)
def test_weights_from_least_to_largest(n, l, k, log_weight, mode):
    arguments = problem(n + k, "plain", mode, n, l, k, log_weight, spread=0.0)
    check(arguments, *step(arguments))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "separable", "scales", "duplicates"])
def test_weights_of_very_different_size_for_one_label(kind, mode):
    for seed in range(10):
        arguments = problem(seed, kind, mode, 60, 6, 2, 0.0)
        arguments[2][:] *= 10.0 ** np.random.default_rng(seed).uniform(-6, 6, arguments[2].shape)
        check(arguments, *step(arguments))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_interior_point_alone_takes_few_iterations(kind, mode):
    """The step asks it only where coordinate descent crawls; it must not depend on that."""
    for log_weight in range(-6, 7):
        A, Y, C, *rest = problem(log_weight + 6, kind, mode, 84, 8, 1, log_weight, 0.0)
        theta, lam, n_iter, ok = hinge_interior_point(A, Y[:, 0].copy(), C[:, 0].copy(), *rest, 200, 1e-10)
        assert ok
        assert n_iter <= 40
        check((A, Y, C, *rest), theta[:, None], lam[:, None])


@pytest.mark.parametrize("log_weight", range(-6, 1))
def test_coordinate_descent_alone_proves_the_minimum(log_weight):
    A, Y, C, margin, H, *rest = problem(5, "plain", "bias penalized", 40, 4, 1, log_weight)
    theta, lam, _, converged = hinge_coordinate_descent(
        A, Y[:, 0].copy(), C[:, 0].copy(), margin, H, np.zeros(40), 100_000, np.inf, 1e-10
    )
    assert converged
    np.testing.assert_allclose(theta, A.T @ (Y[:, 0] * lam) / H, rtol=1e-12)
    check((A, Y, C, margin, H, *rest), theta[:, None], lam[:, None])


@pytest.mark.parametrize("weight", WEIGHTS)
def test_known_answers(weight):
    solved = 0
    for p in hinge_problems(weight):
        if p.center.any():
            continue  # for the Z step
        n, solved = len(p.c), solved + 1
        Theta, Lam = theta_step(
            p.design, np.ones((n, 1)), p.c[:, None], p.margin, p.H, p.constraint, p.radius, np.zeros((n, 1))
        )
        floor = 1e-12 * p.margin * p.c.sum()
        assert p.value(Theta[:, 0]) == pytest.approx(p.minimum, rel=1e-6, abs=floor), p.name
        if p.minimizer is not None and p.constraint == NONE:  # ½H‖θ − θ*‖² ≤ f − f*
            distance = 0.5 * p.H @ (Theta[:, 0] - p.minimizer) ** 2
            assert distance <= 1e-6 * max(p.minimum, floor), p.name
        elif p.minimizer is not None:
            np.testing.assert_allclose(Theta[:, 0], p.minimizer, rtol=1e-5, err_msg=p.name)
        s = Label(p.design, p.c, p.margin, p.H, p.constraint, p.radius)
        assert bound(s, Lam[:, 0]) == pytest.approx(p.minimum, rel=1e-6, abs=floor), p.name
    assert solved >= 8


def test_the_jam_does_not_move():
    """Whatever z, the step answers θ = min(hz/2d_Θ, 1/z): where zθ = 1 it stays, stationary or not."""
    jam, one = Jam(), np.ones((1, 1))
    for z in (0.7, 1.0, jam.z, 2.0, 3.0):
        Theta, Lam = theta_step(
            np.array([[z]]), one, jam.h * one, 1.0, np.array([2.0 * jam.d_theta]), NONE, 1.0, 0.0 * one
        )
        theta = min(jam.h * z / (2.0 * jam.d_theta), 1.0 / z)
        assert Theta[0, 0] == pytest.approx(theta, rel=1e-9)
        assert Lam[0, 0] == pytest.approx(jam.multiplier(jam.d_theta, theta), rel=1e-6)


@pytest.mark.parametrize("weight", 10.0 ** np.arange(-6, 2))
@pytest.mark.parametrize("weighted", [False, True])
def test_penalized_bias_is_the_hinge_problem_of_liblinear(weight, weighted):
    A, Y, C, *_ = problem(3, "plain", "bias penalized", 60, 5, 1, 0.0)
    y = np.where(Y[:, 0] == 0, 1.0, Y[:, 0])
    c = weight * (C[:, 0] / C.max() if weighted else np.ones(60))
    peer = LinearSVC(loss="hinge", fit_intercept=False, C=1.0, tol=1e-10, max_iter=1_000_000)
    peer.fit(A, y, sample_weight=c)
    s = Label(y[:, None] * A, c, 1.0, np.ones(6))
    arguments = A, y[:, None].copy(), c[:, None].copy(), 1.0, np.ones(6), NONE, 1.0
    theta = step(arguments)[0][:, 0]
    theirs = value(s, peer.coef_[0])
    assert abs(value(s, theta) - theirs) <= tolerance(s, theirs)
    np.testing.assert_allclose(theta, peer.coef_[0], rtol=1e-3, atol=1e-3 * np.abs(theta).max())


@pytest.mark.parametrize("weight", 10.0 ** np.arange(-3, 2))  # beyond, LIBSVM stops 1e-5 above ours
@pytest.mark.parametrize("weighted", [False, True])
def test_free_bias_is_the_problem_of_libsvm(weight, weighted):
    A, Y, C, *_ = problem(4, "plain", "bias free", 60, 5, 1, 0.0)
    y = np.where(Y[:, 0] == 0, 1.0, Y[:, 0])
    c = weight * (C[:, 0] / C.max() if weighted else np.ones(60))
    peer = SVC(kernel="linear", C=1.0, tol=1e-9).fit(A[:, 1:], y, sample_weight=c)
    H = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    s = Label(y[:, None] * A, c, 1.0, H)
    theta = step((A, y[:, None].copy(), c[:, None].copy(), 1.0, H, NONE, 1.0))[0][:, 0]
    theirs = value(s, np.append(peer.intercept_, peer.coef_[0]))
    assert abs(value(s, theta) - theirs) <= tolerance(s, theirs)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("log_weight", [-6, -3, 0, 3, 6])
def test_starts_do_not_matter(log_weight, mode):
    arguments = problem(6, "plain", mode, 60, 5, 3, log_weight)
    Theta, Lam = step(arguments)
    C = arguments[2]
    everywhere = np.random.default_rng(0).uniform(0, 1, C.shape) * C
    for warm in (Lam, C, 2.0 * C, -C, everywhere):
        again = step(arguments, warm.copy())
        check(arguments, *again)
        for (_, s), theta, other in zip(labels(*arguments), Theta.T, again[0].T, strict=True):
            assert abs(value(s, theta) - value(s, other)) <= tolerance(s, value(s, theta))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_off_does_not_count(mode):
    A, Y, C, *rest = problem(7, "plain", mode, 30, 4, 3, 0.0)
    C[:5] = 0.0
    Y[5:8] = 0.0
    Theta, Lam = step((A, Y, C, *rest))
    on = slice(8, None)
    less, Lam_less = step((A[on].copy(), Y[on].copy(), C[on].copy(), *rest))
    np.testing.assert_allclose(Theta, less, rtol=1e-6, atol=1e-9)
    assert np.all(Lam[:8] == 0)
    np.testing.assert_allclose(Lam[on], Lam_less, rtol=1e-4, atol=1e-7 * C.max())


@pytest.mark.parametrize("mode", MODES)
def test_without_hinges_discriminants_are_zero(mode):
    A, Y, C, margin, *rest = problem(8, "plain", mode, 20, 4, 2, 0.0)
    warm = C.copy()
    for off in ((A, 0.0 * Y, C, margin), (A, Y, 0.0 * C, margin), (A, Y, C, 0.0)):
        Theta, _ = step((*off, *rest), warm)
        assert np.all(Theta == 0)


@pytest.mark.parametrize("mode", MODES)
def test_labels_do_not_know_each_other(mode):
    A, Y, C, *rest = problem(9, "plain", mode, 40, 5, 4, 1.0)
    Theta, Lam = step((A, Y, C, *rest))
    for j in range(4):
        one, lam = step((A, Y[:, j : j + 1].copy(), C[:, j : j + 1].copy(), *rest))
        np.testing.assert_array_equal(one[:, 0], Theta[:, j])
        np.testing.assert_array_equal(lam[:, 0], Lam[:, j])


@pytest.mark.parametrize("mode", MODES)
def test_arguments_stay_as_they_are_and_threads_apart(mode):
    arguments = problem(10, "plain", mode, 50, 6, 3, 0.0)
    warm = 0.5 * arguments[2]
    copies = [np.copy(a) for a in (*arguments, warm)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: step(arguments, warm), range(8)))
    for now, then in zip((*arguments, warm), copies, strict=True):
        np.testing.assert_array_equal(now, then)
    for Theta, Lam in results:
        np.testing.assert_array_equal(Theta, results[0][0])
        np.testing.assert_array_equal(Lam, results[0][1])


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_finite_does_no_harm(mode):
    """Neither hangs nor raises; the objective that the fit computes shows it."""
    A, Y, C, *rest = problem(11, "plain", mode, 20, 3, 1, 0.0)
    A[3, 1] = np.nan
    step((A, Y, C, *rest))
