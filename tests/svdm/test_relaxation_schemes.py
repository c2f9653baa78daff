"""Xi's models as schemes of the outer loop: back onto the surface, judged or not, and refused."""

import subprocess
import sys

import numpy as np
import pytest
from svdm.small import WEIGHTS, copied, problem, start

from svdecode.svdm.objective import Factors
from svdecode.svdm.relaxations.enclosure import Enclosure
from svdecode.svdm.relaxations.modelling import Relaxed
from svdecode.svdm.relaxations.projection import drop, project
from svdecode.svdm.relaxations.scheme import PUBLISHED, Choices
from svdecode.svdm.relaxations.taylor import Taylor
from svdecode.svdm.solver import iterate, minimise
from svdecode.svdm.starts import choose_start

SCHEMES = (Taylor, Enclosure)


class TestProjection:
    def relaxed(self, objective, seed=0):
        rng = np.random.default_rng(seed)
        there = start(objective)
        V = np.hstack([there.W, there.Theta])
        products = there.Z.T[:, :, None] * V[:, None]
        products = products + 0.3 * rng.standard_normal(products.shape)
        return Relaxed(there, products, np.zeros(objective.Y.shape), 0.0)

    def distance(self, relaxed, factors):
        V = np.hstack([factors.W, factors.Theta])
        V0 = np.hstack([relaxed.factors.W, relaxed.factors.Theta])
        off = relaxed.products - factors.Z.T[:, :, None] * V[:, None]
        return np.vdot(off, off) + ((factors.Z - relaxed.factors.Z) ** 2).sum() + ((V - V0) ** 2).sum()

    @pytest.mark.parametrize("formulation", WEIGHTS)
    def test_a_point_of_the_surface_stays(self, formulation):
        objective = problem(formulation)
        there = start(objective)
        V = np.hstack([there.W, there.Theta])
        stays = Relaxed(there, there.Z.T[:, :, None] * V[:, None], np.zeros(objective.Y.shape), 0.0)
        for block, same in zip(project(objective, stays), there, strict=True):
            np.testing.assert_allclose(block, same, atol=1e-8)

    @pytest.mark.parametrize("norm", ["unit", "at_most_one", "free"])
    @pytest.mark.parametrize("formulation", ["boxed", "svm"])
    def test_no_point_nearby_is_nearer(self, formulation, norm):
        objective = problem(formulation, basis_norm=norm)
        relaxed = self.relaxed(objective)
        found = project(objective, relaxed)
        assert np.isfinite(objective.value(found))  # inside the constraints
        least = self.distance(relaxed, found)
        assert least < 0.99 * self.distance(relaxed, drop(objective, relaxed))
        rng = np.random.default_rng(4)
        for _ in range(200):
            step = 10.0 ** rng.uniform(-4, -1)
            moved = Factors(*(block + step * rng.standard_normal(block.shape) for block in found))
            moved = drop(objective, relaxed._replace(factors=moved))  # into the constraints
            assert self.distance(relaxed, moved) >= least - 1e-9

    @pytest.mark.parametrize("formulation", WEIGHTS)
    @pytest.mark.parametrize("back", [project, drop])
    def test_ends_inside_the_constraints(self, formulation, back):
        objective = problem(formulation)
        relaxed = self.relaxed(objective)
        relaxed = relaxed._replace(factors=Factors(*(3 * block for block in relaxed.factors)))
        assert np.isfinite(objective.value(back(objective, relaxed)))

    def test_dropping_products_keeps_the_fit_of_unit_rows(self):
        objective = problem("boxed")
        relaxed = self.relaxed(objective)
        shrunk = relaxed.factors._replace(W=0.5 * relaxed.factors.W)
        found = drop(objective, relaxed._replace(factors=shrunk))
        np.testing.assert_allclose(found.Z @ found.W, shrunk.Z @ shrunk.W, atol=1e-12)


class TestSchemes:
    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("formulation", WEIGHTS)
    def test_judged_steps_lower_the_objective(self, formulation, scheme):
        objective = problem(formulation)
        there = start(objective)
        first = objective.value(there)
        result = iterate(scheme(objective, there), stopping="decrease", tol=1e-6, max_iter=6)
        assert (np.diff([first, *result.history]) <= 0).all()
        assert result.objective == pytest.approx(objective.value(result.factors))
        assert result.objective < 0.95 * first

    def test_reaches_what_the_splitting_reaches(self):
        objective = problem("balanced")
        result = iterate(Taylor(objective, start(objective)), stopping="decrease", tol=1e-9, max_iter=60)
        other = minimise(objective, choose_start(objective, "svd", 2, np.random.default_rng(0), 0), tol=1e-7)
        assert result.objective == pytest.approx(other.objective, rel=1e-5)
        assert result.stationarity < 1e-2

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_multipliers_are_those_of_the_hinges(self, scheme):
        """A step beside a stationary point is nearly stationary with its multipliers only."""
        objective = problem("balanced")
        there = minimise(objective, choose_start(objective, "svd", 2, np.random.default_rng(0), 0)).factors
        rng = np.random.default_rng(7)
        there.Z[:] *= 1 + 0.01 * rng.standard_normal(there.Z.shape)
        made = scheme(objective, there, Choices(alpha=0.02))
        assert made.step() < np.inf
        assert made.alpha > 0.01  # the step was taken
        assert made.stationarity() < 0.02
        assert objective.stationarity(made.factors, np.zeros(objective.Y.shape)) > 0.2

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_the_published_scheme_keeps_its_best_and_says_what_it_is_not(self, scheme):
        objective = problem("svm")
        there = start(objective)
        result = iterate(scheme(objective, there, PUBLISHED), stopping="decrease", tol=0.0, max_iter=6)
        assert (np.diff(result.history) <= 0).all()
        assert result.stationarity > 0.1
        assert not scheme(objective, start(objective), PUBLISHED).monotone

    def test_the_published_region_shrinks(self):
        objective = problem("boxed")
        scheme = Taylor(objective, start(objective), PUBLISHED)
        for _ in range(3):
            scheme.step()
        assert scheme.alpha == pytest.approx(0.5 * 0.8**3)

    def test_a_start_without_discriminants_is_given_some(self):
        objective = problem("boxed")
        there = choose_start(objective, "svd", 2, np.random.default_rng(0), 0)
        assert not there.Theta.any()
        assert np.abs(Taylor(objective, there).factors.Theta).max() > 0.1

    def test_stalls_where_no_region_is_small_enough(self):
        """With balls for unit rows every step fails at a point that alternation cannot improve."""
        objective = problem("svm")
        there = minimise(objective, start(objective), solver="alternating", tol=1e-12, max_iter=3000).factors
        before = copied(there)
        scheme = Taylor(objective, there, Choices(unit_rows="ball", projection="none"))
        result = iterate(scheme, stopping="decrease", tol=0.0, max_iter=20)
        assert "however small" in result.message
        assert result.objective <= objective.value(before) + 1e-12


class TestRefusals:
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_large_instances(self, scheme):
        objective = problem("boxed", n=60, m=50, k=7)
        with pytest.raises(
            ValueError, match=r"found 60 samples, 50 .* 20520 products, expected at most 20000"
        ):
            scheme(objective, start(objective, l=6, init="random"))

    @pytest.mark.parametrize(
        ("choice", "message"),
        [
            ({"alpha": 0.0}, "alpha"),
            ({"shrink": 1.5}, "shrink: found 1.5, expected at most 1"),
            ({"floor": -1.0}, "floor"),
            ({"accept": "never"}, "accept"),
            ({"projection": "both"}, "projection"),
            ({"unit_rows": "cube"}, "unit_rows"),
        ],
    )
    def test_choices(self, choice, message):
        with pytest.raises(ValueError, match=message):
            Choices(**choice)

    def test_without_cvxpy_the_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cvxpy", None)
        objective = problem("boxed")
        with pytest.raises(ImportError, match=r"svdecode\[oracle\]"):
            Taylor(objective, start(objective)).step()

    def test_cvxpy_is_imported_late(self):
        code = (
            "import sys, svdecode.svdm.relaxations.enclosure, svdecode.svdm.relaxations.geometric; "
            "sys.exit('cvxpy' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
