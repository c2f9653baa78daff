"""Active sets: exact solutions from near ones, the middle of a flat bias, and elimination."""

import numpy as np
import pytest
from svdm.oracles_theta import BALL, NONE, Label, bound, value

from svdecode.svdm.kernels.active_set import active_set
from svdecode.svdm.kernels.linalg import eliminate
from svdecode.svdm.kernels.one_label import one_label_in_ball
from svdecode.svdm.kernels.theta import theta_step

TOL = 1e-12
MODES = {"bias free": (0.0, 0.05, NONE), "bias penalized": (0.05, 0.05, NONE), "ball": (0.0, 0.0, BALL)}


def problem(seed, mode, n=60, l=6):
    """Two classes that overlap, equal weights."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, l))
    y = np.where(Z[:, 0] + 0.8 * rng.standard_normal(n) > 0, 1.0, -1.0)
    first, rest, constraint = MODES[mode]
    H = np.full(l + 1, rest)
    H[0] = first
    return np.hstack([np.ones((n, 1)), Z]), y, np.full(n, 1 / n), H, constraint


def solve(A, y, c, H, constraint, theta, lam, rounds=100):
    return active_set(y[:, None] * A, np.ones(len(y)), c, H, constraint, 1.0, theta, lam, rounds, TOL)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_from_the_solution_of_a_neighbor(mode, noise, seed):
    A, y, c, H, constraint = problem(seed, mode)
    Theta, Lam = theta_step(A, y[:, None], c[:, None], 1.0, H, constraint, 1.0, np.zeros((len(y), 1)))
    moved = A.copy()
    moved[:, 1:] += noise * np.random.default_rng(seed + 100).standard_normal((len(y), A.shape[1] - 1))
    theta, lam, ok = solve(moved, y, c, H, constraint, Theta[:, 0], Lam[:, 0])
    assert ok
    s = Label(y[:, None] * moved, c, 1.0, H, constraint)
    assert np.all((lam >= 0) & (lam <= c))
    assert value(s, theta) - bound(s, lam) <= 1e-11 * value(s, theta)
    if constraint == NONE:  # the optimality conditions, not only the value
        np.testing.assert_allclose(H * theta, (y * lam) @ moved, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_from_nothing(mode):
    A, y, c, H, constraint = problem(7, mode)
    theta, lam, ok = solve(A, y, c, H, constraint, np.zeros(A.shape[1]), np.zeros(len(y)))
    assert ok
    s = Label(y[:, None] * A, c, 1.0, H, constraint)
    assert value(s, theta) - bound(s, lam) <= 1e-11 * value(s, theta)


@pytest.mark.parametrize("mode", MODES)
def test_too_few_rounds_are_told(mode):
    A, y, c, H, constraint = problem(7, mode)
    assert not solve(A, y, c, H, constraint, np.zeros(A.shape[1]), np.zeros(len(y)), rounds=1)[2]


def flat(upper):
    """One coordinate that costs too much to be used: classes of equal weight want any b in an interval.

    The margins of the first class are met from b = 1, those of the second up to b = −1; between each
    unit of b costs as much in one class as it gains in the other. `upper` shifts one sample's end.
    """
    A = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    A[1, 0] = 1.0 / upper  # its margin is met from b = upper
    return A, np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, upper, 1.0, 1.0])


@pytest.mark.parametrize("upper", [1.0, 0.5, 0.25])
def test_a_flat_bias_is_in_the_middle(upper):
    A, y, c = flat(upper)
    H = np.array([0.0, 1e3])
    Theta, Lam = theta_step(A, y[:, None], c[:, None], 1.0, H, NONE, 1.0, np.zeros((4, 1)))
    s = Label(y[:, None] * A, c, 1.0, H)
    biases = np.linspace(-2, 2, 4001)
    values = np.array([value(s, np.array([b, 0.0])) for b in biases])
    best = biases[values <= values.min() + 1e-12]
    assert best[-1] - best[0] > 1  # it is flat indeed
    assert Theta[0, 0] == pytest.approx((best[0] + best[-1]) / 2, abs=1e-3)
    again, _ = theta_step(A, y[:, None], c[:, None], 1.0, H, NONE, 1.0, Lam, Theta + 0.1)
    assert again[0, 0] == pytest.approx(Theta[0, 0], abs=1e-12)


@pytest.mark.parametrize("p", [1, 2, 7, 30])
def test_elimination(p):
    rng = np.random.default_rng(p)
    K, x = rng.standard_normal((p, p)), rng.standard_normal(p)
    K[0, 0] = 0.0 if p > 1 else K[0, 0]  # needs its pivots
    out = x.copy()
    assert eliminate(K.copy(), out)
    np.testing.assert_allclose(out, np.linalg.solve(K, x), rtol=1e-9)


def test_elimination_says_what_is_singular():
    K = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert not eliminate(K, np.array([1.0, 1.0]))


@pytest.mark.parametrize("h", [0.0, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("radius", [0.1, 1.0, 100.0])
def test_one_label_in_a_ball(h, radius):
    rng = np.random.default_rng(3)
    d = np.sort(rng.uniform(0.1, 3, 5))
    c, row = rng.standard_normal(5), rng.standard_normal(5)

    def objective(z):
        return z @ (d * z) - 2 * c @ z + h * max(1.0 - row @ z, 0.0)

    z = np.zeros(5)
    lam, ok = one_label_in_ball(c, row, d, 1.0, h, radius, 0.0, z)
    assert ok
    assert 0 <= lam <= h
    assert np.linalg.norm(z) <= radius * (1 + 1e-12)
    for step in (1e-1, 1e-3, 1e-5):  # nothing feasible nearby is lower
        for _ in range(200):
            other = z + step * radius * rng.standard_normal(5)
            other *= min(1.0, radius / np.linalg.norm(other))
            assert objective(other) >= objective(z) - 1e-12 * (1 + abs(objective(z)))
