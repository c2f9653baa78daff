"""Xi's convex models: which of them bound, which touch, and where they are trusted."""

import numpy as np
import pytest
from svdm.small import WEIGHTS, problem, start

from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.objective import Factors
from svdecode.svdm.relaxations.enclosure import planes, solve_enclosure
from svdecode.svdm.relaxations.projection import drop
from svdecode.svdm.relaxations.regions import Bounds, bounds_around, judge
from svdecode.svdm.relaxations.taylor import solve_taylor
from svdecode.svdm.solver import minimise


def wide(objective, l, size):
    """Bounds that hold every entry up to a size."""
    (n, r), k = objective.X.shape, objective.Y.shape[1]
    z, v = np.full((n, l), size), np.hstack([np.ones((l, r)), np.full((l, k), size)])
    return Bounds(-z, z, -v, v)


class TestPlanes:
    def sides(self, x, y, x_bounds, y_bounds):
        below, above = planes(x, y, x_bounds, y_bounds)
        return np.maximum(*below), np.minimum(*above)

    def test_products_lie_between(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            xs, ys = np.sort(rng.normal(size=(2, 4, 1)), axis=0), np.sort(rng.normal(size=(2, 1, 5)), axis=0)
            x, y = rng.uniform(*xs), rng.uniform(*ys)
            below, above = self.sides(x, y, tuple(xs), tuple(ys))
            assert (below <= x @ y + 1e-12).all()
            assert (x @ y <= above + 1e-12).all()
            assert (above - below > 1e-9).any()  # and strictly inside the bounds there is room

    @pytest.mark.parametrize("i", [0, 1])
    @pytest.mark.parametrize("j", [0, 1])
    def test_exact_at_the_corners(self, i, j):
        rng = np.random.default_rng(1)
        xs, ys = np.sort(rng.normal(size=(2, 4, 1)), axis=0), np.sort(rng.normal(size=(2, 1, 5)), axis=0)
        below, above = self.sides(xs[i], ys[j], tuple(xs), tuple(ys))
        np.testing.assert_allclose(below, xs[i] @ ys[j], atol=1e-12)
        np.testing.assert_allclose(above, xs[i] @ ys[j], atol=1e-12)

    def test_a_quarter_at_half(self):
        """4.2.2: with α = .5 the product has the range .75 to 1.25 at the center."""
        one = np.ones((1, 1))
        below, above = self.sides(2 * one, 3 * one, (one, 3 * one), (1.5 * one, 4.5 * one))
        assert below.item() == pytest.approx(0.75 * 6)
        assert above.item() == pytest.approx(1.25 * 6)


class TestEnclosure:
    @pytest.mark.parametrize("formulation", WEIGHTS)
    def test_is_a_lower_bound(self, formulation):
        objective = problem(formulation, n=5, m=3, k=1, l=1)
        there = start(objective, l=1)
        bounds = bounds_around(there, 0.7, 0.3)
        relaxed = solve_enclosure(objective, there, bounds)
        rng = np.random.default_rng(2)
        lowest = np.inf
        for _ in range(3000):
            Z, V = rng.uniform(bounds.z_low, bounds.z_high), rng.uniform(bounds.v_low, bounds.v_high)
            W, Theta = V[:, :3], V[:, 3:]
            if objective.w.constraint:
                W = W / np.linalg.norm(W, axis=1, keepdims=True)
            inside = (bounds.v_low[:, :3] <= W) & (bounds.v_high[:, :3] >= W)
            if inside.all():
                lowest = min(lowest, objective.value(Factors(Z, W, there.mean, Theta, there.bias)))
        assert np.isfinite(lowest)
        assert relaxed.value <= lowest + 1e-6 * abs(lowest)
        assert relaxed.value <= objective.value(there)

    @pytest.mark.parametrize("formulation", ["boxed", "svm"])
    def test_bounds_the_best_of_many_fits(self, formulation):
        """Over all factors of their size it lies below every local minimum, and tells nothing."""
        objective = problem(formulation, n=6, m=4, k=1, l=1, hinge_weight=3.0)
        fits = [
            minimise(objective, start(objective, "random", 1, seed), solver="alternating", tol=1e-8)
            for seed in range(5)
        ]
        size = max(max(np.abs(fit.factors.Z).max(), np.abs(fit.factors.Theta).max()) for fit in fits)
        relaxed = solve_enclosure(objective, fits[0].factors, wide(objective, 1, size))
        assert relaxed.value <= min(fit.objective for fit in fits)
        assert relaxed.value == pytest.approx(0.0, abs=1e-6)

    def test_bounds_that_shrink_raise_it_to_the_objective(self):
        objective = problem("boxed")
        there = start(objective)
        values = [
            solve_enclosure(objective, there, bounds_around(there, alpha)).value
            for alpha in (0.5, 0.1, 0.02, 0.0)
        ]
        assert (np.diff(values) > 0).all()
        assert values[-1] == pytest.approx(objective.value(there), rel=1e-6)

    def test_stand_ins_lie_between_the_planes_and_leave_the_surface(self):
        objective = problem("svm")
        there = start(objective)
        bounds = bounds_around(there, 0.5)
        relaxed = solve_enclosure(objective, there, bounds)
        Z, V = relaxed.factors.Z, np.hstack([relaxed.factors.W, relaxed.factors.Theta])
        for k, s in enumerate(relaxed.products):
            zs, vs = (bounds.z_low[:, [k]], bounds.z_high[:, [k]]), (bounds.v_low[[k]], bounds.v_high[[k]])
            below, above = planes(Z[:, [k]], V[[k]], zs, vs)
            assert (s >= np.maximum(*below) - 1e-6).all()
            assert (s <= np.minimum(*above) + 1e-6).all()
        assert np.abs(relaxed.products - Z.T[:, :, None] * V[:, None]).max() > 0.01


class TestTaylor:
    def test_error_figures_of_the_paper(self):
        """4.2.3 has 9 % and 20 % of the true product at α = .5; it is 11, 33, and 100 % where both shrink.

        It matters not whether x and y have the same sign, as the paper says, but whether they grow.
        """
        for x, y in ((2.0, 3.0), (-2.0, -3.0), (-2.0, 3.0)):
            found = {}
            for dx, dy in ((0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)):
                true = x * (1 + dx) * y * (1 + dy)
                linear = x * y + y * dx * x + x * dy * y
                found[dx, dy] = abs(linear - true) / abs(true)
            assert found[0.5, 0.5] == pytest.approx(1 / 9)
            assert found[0.5, -0.5] == pytest.approx(1 / 3)
            assert found[-0.5, -0.5] == pytest.approx(1.0)

    def test_the_models_products_have_that_error(self):
        """A model that pushes all to the upper bounds: its product is 2 where the true one is 2.25."""
        one = np.ones((1, 1))
        objective = FORMULATIONS["boxed"](
            Problem(10 * one, one, one, 1, 1, hinge_weight=0.0, basis_norm="free")
        )
        there = Factors(one, one, np.zeros(1), 0.5 * one, np.zeros(1))
        relaxed = solve_taylor(objective, there, bounds_around(there, 0.5))
        true = relaxed.factors.Z.item() * relaxed.factors.W.item()
        assert relaxed.products[0, 0, 0] == pytest.approx(2.0, abs=1e-5)
        assert true == pytest.approx(2.25, abs=1e-5)

    @pytest.mark.parametrize("formulation", WEIGHTS)
    def test_no_point_of_the_region_is_lower(self, formulation):
        objective = problem(formulation)
        there = start(objective)
        bounds = bounds_around(there, 0.3, 0.1)
        relaxed = solve_taylor(objective, there, bounds, "ball")
        V0 = np.hstack([there.W, there.Theta])
        r = there.W.shape[1]

        def linearized(Z, V, mean, bias):
            total = there.Z @ V + (Z - there.Z) @ V0
            if objective.w.constraint and np.linalg.norm(V[:, :r], axis=1).max() > 1:
                return np.inf
            free = objective.w.ridge * np.vdot(V[:, :r], V[:, :r]) + objective.constant
            return (
                objective.reconstruction.value(objective.X - mean - total[:, :r])
                + objective.hinge.value(objective.Y * (total[:, r:] + bias))
                + objective.z.value(Z)
                + objective.theta.value(V[:, r:])
                + objective.bias.ridge * bias @ bias
                + free
            )

        Z, W, mean, Theta, bias = relaxed.factors
        V = np.hstack([W, Theta]) * (1 - 1e-8)  # rounding must not lie outside
        least = linearized(Z, V, mean, bias)
        assert least == pytest.approx(relaxed.value, rel=1e-6)
        rng = np.random.default_rng(3)
        for t in 0.5 ** np.arange(30):
            towards = rng.uniform(bounds.z_low, bounds.z_high), rng.uniform(bounds.v_low, bounds.v_high)
            moved = Z + t * (towards[0] - Z), V + t * (towards[1] - V)
            assert linearized(*moved, mean, bias) >= least - 1e-6 * abs(least)

    def test_foretells_to_first_order(self):
        """What the model misses is a square of the region's width, unit rows included."""
        objective = problem("svm")
        there = start(objective)
        missed, foretold = [], []
        for alpha in (0.1, 0.01):
            relaxed = solve_taylor(objective, there, bounds_around(there, alpha), "tangent")
            missed.append(abs(objective.value(drop(objective, relaxed)) - relaxed.value))
            foretold.append(objective.value(there) - relaxed.value)
        assert missed[1] < 0.03 * missed[0]
        assert foretold[1] > 0.05 * foretold[0]

    def test_a_ball_for_unit_rows_foretells_wrongly(self):
        """In any region: rows shorter than one promise what no rows of norm one hold."""
        objective = problem("svm")
        there = minimise(objective, start(objective), solver="alternating", tol=1e-10).factors
        for alpha in (0.1, 0.01, 0.001):
            relaxed = solve_taylor(objective, there, bounds_around(there, alpha), "ball")
            promised = objective.value(there) - relaxed.value
            gained = objective.value(there) - objective.value(drop(objective, relaxed))
            assert promised > 0
            assert gained < 0.1 * promised


class TestRegions:
    @pytest.mark.parametrize(
        ("ratio", "taken", "alpha"),
        [
            (1.0, True, 0.4),
            (0.75, True, 0.4),
            (0.5, True, 0.2),
            (0.1, True, 0.2),
            (0.09, False, 0.05),
            (-3.0, False, 0.05),
            (np.nan, False, 0.05),
        ],
    )
    def test_ratio(self, ratio, taken, alpha):
        assert judge(0.2, ratio, 1.0) == (taken, pytest.approx(alpha))

    def test_grows_up_to_its_limit(self):
        assert judge(0.8, 1.0, 1.0) == (True, 1.0)

    def test_bounds_are_relative_and_a_floor_frees_zeros(self):
        there = Factors(
            np.array([[2.0, 0.0]]), np.array([[1.0], [-4.0]]), np.zeros(1), np.ones((2, 1)), np.zeros(1)
        )
        published = bounds_around(there, 0.5)
        np.testing.assert_allclose(published.z_low, [[1.0, 0.0]])
        np.testing.assert_allclose(published.z_high, [[3.0, 0.0]])
        np.testing.assert_allclose(published.v_low, [[0.5, 0.5], [-6.0, 0.5]])
        freed = bounds_around(there, 0.5, 0.1)
        np.testing.assert_allclose(freed.z_high - there.Z, [[1.0, 0.05 * np.sqrt(2)]])
