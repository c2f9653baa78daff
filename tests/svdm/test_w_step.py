"""The W step: free rows by least squares, rows in the ball by Clarabel and duality, unit rows by search."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from svdm.oracles_w import EPS, rounding, square, told, tolerance, within_bound, within_minimum

from svdecode.svdm.kernels.ball_rows import within_interior_point
from svdecode.svdm.kernels.basis import FREE, UNIT, WITHIN, cycle, w_step

KINDS = [
    "plain",
    "correlated",
    "condition 1e8",
    "scales",
    "duplicate",
    "multiple",
    "zero",
    "deficient",
    "exact",
]
quick = settings(derandomize=True, deadline=None, max_examples=100)
shapes = st.tuples(st.integers(1, 8), st.integers(1, 9), st.integers(0, 2**32 - 1))


def problem(shape, kind, scale, n=20):
    """Coordinates Z and data L; `scale` decides how many rows the ball restrains, from all to none."""
    size, r, seed = shape
    rng = np.random.default_rng(seed)
    Z, L = rng.standard_normal((n, size)), rng.standard_normal((n, r))
    if kind == "correlated":
        Z += 5.0 * rng.standard_normal((n, 1))
    elif kind == "condition 1e8":
        U, _, Vt = np.linalg.svd(Z, full_matrices=False)
        Z = U * np.logspace(0, -8, len(Vt)) @ Vt
    elif kind == "scales":
        Z *= 10.0 ** rng.uniform(-6, 6, size)
    elif kind == "duplicate":
        Z[:, -1] = Z[:, 0]
    elif kind == "multiple":
        Z[:, -1] = 10.0 * Z[:, 0]
    elif kind == "zero":
        Z[:, size // 2] = 0.0
    elif kind == "deficient":
        half = max(size // 2, 1)
        Z = rng.standard_normal((n, half)) @ rng.standard_normal((half, size))
    elif kind == "exact":
        W = rng.standard_normal((size, r))
        L = scale * Z @ (rng.uniform(0, 1, (size, 1)) * W / np.linalg.norm(W, axis=1)[:, None])
    return scale * Z, L


def step(Z, L, ridge, rows, warm=None):
    warm = np.zeros((Z.shape[1], L.shape[1])) if warm is None else warm
    return w_step(Z.T @ Z, Z.T @ L, ridge, rows, warm)


def norms(W):
    return np.linalg.norm(W, axis=1)


# ---------------------------------------------------------------------------------------- free rows


@quick
@given(shapes, st.sampled_from(["plain", "correlated", "scales", "zero"]), st.sampled_from([1e-6, 1.0, 1e6]))
def test_free_rows_are_least_squares(shape, kind, scale):
    Z, L = problem(shape, kind, scale)
    units = np.linalg.norm(Z, axis=0)
    units[units == 0.0] = 1.0
    expected = np.linalg.lstsq(Z / units, L, rcond=None)[0] / units[:, None]
    np.testing.assert_allclose(step(Z, L, 0.0, FREE) * units[:, None], expected * units[:, None], atol=1e-10)


@quick
@given(shapes, st.sampled_from(KINDS), st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([1e-3, 1.0, 1e3]))
def test_ridge_is_that_of_stacked_least_squares(shape, kind, scale, ridge):
    Z, L = problem(shape, kind, scale)
    size = Z.shape[1]
    ridge *= float(np.sum(Z**2)) / size  # far above the rounding of ZᵀZ, with columns of any scale
    Zs, Ls = np.vstack([Z, np.sqrt(ridge) * np.eye(size)]), np.vstack([L, np.zeros((size, L.shape[1]))])
    expected = np.linalg.lstsq(Zs, Ls, rcond=None)[0]
    np.testing.assert_allclose(step(Z, L, ridge, FREE), expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["duplicate", "multiple", "zero", "deficient"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("size", [2, 7, 40])
def test_singular_problems_have_the_solution_of_least_norm(kind, scale, size):
    Z, L = problem((size, 30, size), kind, scale, n=60)
    for order in (Z, np.roll(Z, 1, axis=1)):  # rolled, the second column repeats the first
        expected = np.linalg.pinv(order, rcond=1e-10) @ L
        W = step(order, L, 0.0, FREE)
        np.testing.assert_allclose(W, expected, atol=1e-7 * np.abs(expected).max())


def test_independent_columns_of_any_scale_survive_beside_duplicates():
    """What adds nothing is judged by what is left of a column, not by how large the column is."""
    Z, L = problem((6, 9, 0), "plain", 1.0)
    Z *= np.logspace(-12, 0, 6)
    Z = np.hstack([Z, Z[:, 3:]])
    expected = np.sum((L - Z @ (np.linalg.pinv(Z / norms(Z.T)) @ L / norms(Z.T)[:, None])) ** 2)
    assert square(Z, L, 0.0, step(Z, L, 0.0, FREE)) == pytest.approx(expected, rel=1e-8)


def test_directions_below_rounding_are_taken_out_not_blown_up():
    for seed in range(20):
        Z, L = problem((6, 9, seed), "condition 1e8", 1.0)
        W = step(Z, L, 0.0, FREE)
        V = np.linalg.pinv(Z, rcond=1e-6) @ L
        assert square(Z, L, 0.0, W) <= square(Z, L, 0.0, V) * (1 + 1e-6)
        assert np.abs(W).max() <= np.linalg.norm(L) / 1e-9


def test_no_coordinates_no_basis():
    for rows in (FREE, WITHIN):
        np.testing.assert_array_equal(
            w_step(np.zeros((3, 3)), np.zeros((3, 5)), 0.0, rows, np.ones((3, 5))), 0.0
        )


# --------------------------------------------------------------------------------- rows within the ball


@settings(quick, max_examples=300)
@given(
    shapes,
    st.sampled_from(KINDS[:-1]),  # where the fit is exact Clarabel is not: see the next test
    st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6]),
    st.sampled_from([0.0, 0.0, 1e-6, 1.0]),
)
def test_rows_within_the_ball_agree_with_clarabel(shape, kind, scale, ridge):
    Z, L = problem(shape, kind, scale)
    V, best = within_minimum(Z, L, ridge)
    W = step(Z, L, ridge, WITHIN)
    assert norms(W).max() <= 1.0 + 4 * EPS
    assert abs(square(Z, L, ridge, W) - best) <= max(tolerance(best, L), told(Z, V) + told(Z, W))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize(("size", "r"), [(1, 1), (3, 2), (10, 83), (30, 5), (100, 40)])
def test_rows_within_the_ball_close_the_duality_gap(kind, scale, size, r):
    if kind == "condition 1e8" and scale == 1e6:
        scale = 1e4  # beyond, the multipliers that W implies are too inexact; Clarabel judges there
    Z, L = problem((size, r, size), kind, scale, n=84 if size < 50 else 150)
    W = step(Z, L, 0.0, WITHIN)
    value = square(Z, L, 0.0, W)
    assert norms(W).max() <= 1.0 + 4 * EPS
    assert value - within_bound(Z, L, 0.0, W) <= tolerance(value, L)


@pytest.mark.parametrize("seed", range(10))
def test_conditions_of_karush_kuhn_and_tucker(seed):
    Z, L = problem((10, 30, seed), ["plain", "correlated"][seed % 2], 0.3, n=84)
    Z[:, ::2] *= 100.0
    W = step(Z, L, 0.1, WITHIN)
    G = Z.T @ (L - Z @ W) - 0.1 * W  # −½ gradient; at the minimum ν_i w_i with ν_i ≥ 0
    nu = np.sum(G * W, axis=1)
    bound = norms(W) > 1.0 - 1e-6
    assert bound.any()
    assert not bound.all()
    size = norms(Z.T @ L).max()
    assert nu.min() >= -1e-6 * size  # gradients go with the root of the gap, 1e-12
    np.testing.assert_allclose(G, nu[:, None] * W, atol=1e-6 * size)
    assert np.abs(nu * (1.0 - norms(W))).max() <= 1e-6 * size


def test_orthogonal_coordinates_have_a_closed_form():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((40, 6)))[0] * np.array([1e-6, 1e-3, 1.0, 5.0, 1e3, 1e6])
    L = rng.standard_normal((40, 30))
    R = Q.T @ L
    expected = R / np.maximum(np.sum(Q**2, axis=0), norms(R))[:, None]
    np.testing.assert_allclose(step(Q, L, 0.0, WITHIN), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_interior_point_alone_reaches_its_gap(kind):
    """The step asks it only where block descent crawls; it must not depend on that."""
    for seed in range(5):
        for scale in (1e-3, 0.3, 3.0):
            Z, L = problem((8, 8, seed), kind, scale)
            W, gap, n_iter = within_interior_point(Z.T @ Z, Z.T @ L, 0.0)
            value = square(Z, L, 0.0, W)
            assert gap <= 1e-12
            assert n_iter <= 45
            assert value - within_bound(Z, L, 0.0, W) <= tolerance(value, L)


@pytest.mark.parametrize("scale", [1e3, 1e4])
@pytest.mark.parametrize("seed", range(5))
def test_directions_below_rounding_are_not_certified_away(seed, scale):
    """Rows of length one gain by a direction that ZᵀZ, rounded, does not have: descent stops short of it."""
    Z, L = problem((2, 1, seed), "condition 1e8", scale)
    _, best = within_minimum(Z, L, 0.0)
    assert square(Z, L, 0.0, step(Z, L, 0.0, WITHIN)) - best <= 1e-7 * best


def test_start_does_not_decide_rows_within_the_ball():
    rng = np.random.default_rng(0)
    for kind in ("plain", "correlated", "condition 1e8"):
        Z, L = problem((10, 30, 1), kind, 0.5, n=84)
        starts = [None, 1e6 * rng.standard_normal((10, 30)), np.full((10, 30), np.nan)]
        values = [square(Z, L, 0.0, step(Z, L, 0.0, WITHIN, warm)) for warm in starts]
        np.testing.assert_allclose(values, values[0], rtol=1e-9)


@pytest.mark.parametrize("rows", [FREE, WITHIN, UNIT])
def test_wide_data_are_their_rotation(rows):
    """More columns than rows take another route, in the row space: it must lead to the same basis."""
    rng = np.random.default_rng(0)
    for kind in ("plain", "scales", "correlated")[: 2 if rows == UNIT else 3]:
        Z, L = problem((5, 5, 2), kind, 0.3)
        Q = np.linalg.qr(rng.standard_normal((60, 5)))[0].T
        warm = rng.standard_normal((5, 5))
        W, V = step(Z, L, 0.0, rows, warm), step(Z, L @ Q, 0.0, rows, warm @ Q)
        np.testing.assert_allclose(V, W @ Q, atol=1e-4 if kind == "correlated" else 1e-6)
        assert square(Z, L @ Q, 0.0, V) == pytest.approx(square(Z, L, 0.0, W), rel=1e-9)


# ---------------------------------------------------------------------------------------- unit rows


def best_row(Z, L, ridge, rows, W, i, rng):
    """The best value that row i of W can give: random rows, and the best of them refined by L-BFGS."""

    def at(row):
        V = W.copy()
        norm = np.linalg.norm(row)
        V[i] = row / (norm if rows == UNIT else max(norm, 1.0))
        return square(Z, L, ridge, V)

    candidates = rng.standard_normal((200, W.shape[1])) * rng.uniform(0, 1, (200, 1))
    start = candidates[int(np.argmin([at(c) for c in candidates]))]
    return min(at(start), float(minimize(at, start, method="L-BFGS-B").fun))


@pytest.mark.parametrize("rows", [WITHIN, UNIT])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-3, 0.3, 3.0, 1e3])
def test_each_update_of_a_row_is_its_exact_minimizer(rows, kind, scale):
    rng = np.random.default_rng(3)
    Z, L = problem((4, 6, 5), kind, scale)
    ridge = 0.2 * scale**2
    W = rng.standard_normal((4, 6))
    W /= norms(W)[:, None]
    S, R = Z.T @ Z, Z.T @ L
    for _ in range(3):
        before = square(Z, L, ridge, W)
        decrease, size = cycle(S, R, ridge, rows, W, np.empty(6))
        after = square(Z, L, ridge, W)
        assert after == pytest.approx(before - decrease, rel=1e-9, abs=1e-12 * (before + size))
        assert decrease >= 0.0
        if rows == UNIT:
            np.testing.assert_allclose(norms(W), 1.0, rtol=4 * EPS)
        assert norms(W).max() <= 1.0 + 4 * EPS
        # the last row of a cycle meets the others as they are now
        assert after <= best_row(Z, L, ridge, rows, W, 3, rng) + 1e-12 * (before + size)


@quick
@given(shapes, st.sampled_from(KINDS), st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]))
def test_unit_rows_never_raise_the_objective(shape, kind, scale):
    Z, L = problem(shape, kind, scale)
    warm = np.random.default_rng(shape[2] + 1).standard_normal((shape[0], shape[1]))
    warm /= norms(warm)[:, None]
    W = step(Z, L, 0.0, UNIT, warm)
    before, after = square(Z, L, 0.0, warm), square(Z, L, 0.0, W)
    np.testing.assert_allclose(norms(W), 1.0, rtol=4 * EPS)
    assert after <= before + rounding(Z, L, warm) + rounding(Z, L, W)
    V = step(Z, L, 0.0, UNIT, W)
    assert square(Z, L, 0.0, V) <= after + rounding(Z, L, W) + rounding(Z, L, V)


@pytest.mark.parametrize("seed", range(5))
def test_unit_rows_end_in_a_stationary_point_no_row_can_leave(seed):
    rng = np.random.default_rng(seed)
    Z, L = problem((6, 9, seed), "plain", [0.1, 1.0][seed % 2], n=30)
    W = step(Z, L, 0.0, UNIT, rng.standard_normal((6, 9)))
    G = Z.T @ (L - Z @ W)
    tangent = G - np.sum(G * W, axis=1)[:, None] * W
    assert np.abs(tangent).max() <= 1e-4 * norms(Z.T @ L).max()
    value = square(Z, L, 0.0, W)
    for i in range(6):
        assert value <= best_row(Z, L, 0.0, UNIT, W, i, rng) * (1 + 1e-8)


@pytest.mark.parametrize("scale", [0.03, 0.3, 1.0])
def test_all_starts_of_unit_rows_agree_where_data_are_wide(scale):
    """More columns than components, the normal case: every start ends in a proved global minimum.

    With MW = R, M = S + diag(ν) and unit rows V, value(V) = value(W) + tr((V − W)ᵀM(V − W)): if M
    is positive semidefinite, nothing is below W. ν may have any sign.
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z, L = problem((6, 20, seed), ["plain", "correlated"][seed % 2], scale, n=40)
        values = []
        for _ in range(6):
            W = rng.standard_normal((6, 20))
            for _ in range(10):
                W = step(Z, L, 0.0, UNIT, W)
            nu = np.sum(Z.T @ (L - Z @ W) * W, axis=1)
            lowest = np.linalg.eigvalsh(Z.T @ Z + np.diag(nu))[0]
            assert lowest >= -1e-6 * np.sum(Z**2)
            values.append(square(Z, L, 0.0, W))
        np.testing.assert_allclose(values, values[0], rtol=1e-7)


def test_unit_rows_have_several_local_minima_where_data_are_narrow():
    """One column: rows are signs, the problem is combinatorial, and starts disagree."""
    found = set()
    for seed in range(20):
        Z, L = problem((5, 1, 11), "correlated", 1.0)
        W = step(Z, L, 0.0, UNIT, np.random.default_rng(seed).standard_normal((5, 1)))
        np.testing.assert_array_equal(np.abs(W), 1.0)
        value = square(Z, L, 0.0, W)
        for i in range(5):
            V = W.copy()
            V[i] *= -1
            assert value <= square(Z, L, 0.0, V) * (1 + 1e-12)
        found.add(round(value, 6))
    assert len(found) > 1


def test_a_row_without_preference_stays():
    rng = np.random.default_rng(0)
    Z, L = problem((4, 7, 0), "zero", 1.0)  # column 2 is zero
    warm = rng.standard_normal((4, 7))
    W = step(Z, L, 0.0, UNIT, warm)
    np.testing.assert_allclose(W[2], warm[2] / np.linalg.norm(warm[2]), atol=1e-14)
    warm[2] = 0.0  # no direction to stay in: any unit row
    assert norms(step(Z, L, 0.0, UNIT, warm))[2] == 1.0


# ------------------------------------------------------------------------------------------- any rows


@pytest.mark.parametrize("rows", [FREE, WITHIN, UNIT])
def test_arguments_stay_as_they_are(rows):
    Z, L = problem((5, 30, 0), "correlated", 1.0)
    S, R, warm = Z.T @ Z, Z.T @ L, 3.0 * np.ones((5, 30))
    copies = S.copy(), R.copy(), warm.copy()
    w_step(S, R, 0.1, rows, warm)
    for now, then in zip((S, R, warm), copies, strict=True):
        np.testing.assert_array_equal(now, then)


def test_threads_do_not_disturb_each_other():
    tasks = [(problem((6, 20, seed), "correlated", 0.5), rows) for seed in range(20) for rows in (0, 1, 2)]

    def run(task):
        (Z, L), rows = task
        return step(Z, L, 0.0, rows)

    with ThreadPoolExecutor(2) as pool:
        for W, V in zip(pool.map(run, tasks), map(run, tasks), strict=True):
            np.testing.assert_array_equal(W, V)
