"""Geometric programming on positive blocks: against a direct minimization; what its published form holds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from svdm.small import problem, start

from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.objective import Factors
from svdecode.svdm.relaxations.geometric import GeometricProgram, solve_geometric
from svdecode.svdm.solver import iterate


class TestGeometricProgram:
    def positive(self, k=1, norm="at_most_one", formulation="boxed", n=4, m=3, **weights):
        rng = np.random.default_rng(5)
        X = rng.uniform(0.5, 2, (n, 1)) @ rng.uniform(0.5, 2, (1, m)) + 0.1 * rng.random((n, m))
        Y = np.where(np.arange(n) % 2, 1.0, -1.0)[:, None] * np.ones((1, k))
        made = Problem(X, Y, np.ones((n, k)), m, 1, basis_norm=norm, **({"hinge_weight": 0.7} | weights))
        return FORMULATIONS[formulation](made)

    def start(self, objective, seed=0):
        rng = np.random.default_rng(seed)
        (n, r), k = objective.X.shape, objective.Y.shape[1]
        W = rng.uniform(0.2, 1, (1, r))
        W /= np.linalg.norm(W)
        return Factors(
            rng.uniform(0.2, 1, (n, 1)), W, np.zeros(r), rng.uniform(0.2, 0.9, (1, k)), np.zeros(k)
        )

    def directly(self, objective):
        """The least over positive blocks by sequential quadratic programming, hinges with slacks."""
        n, r = objective.X.shape

        def split(x):
            return x[:n], x[n : n + r], x[n + r], x[n + r + 1 :]

        def cost(x):
            z, w, _, slack = split(x)
            off = objective.X - np.outer(z, w)
            return np.vdot(off, off) + objective.hinge.weights[:, 0] @ slack

        def met(x):
            z, _, theta, slack = split(x)
            return slack - objective.hinge.margin + objective.Y[:, 0] * z * theta

        constraints = [
            {"type": "ineq", "fun": met},
            {"type": "ineq", "fun": lambda x: 1 - split(x)[1] @ split(x)[1]},
        ]
        bounds = [(1e-4, None)] * (n + r) + [(1e-4, 1.0)] + [(0.0, None)] * n
        rng = np.random.default_rng(6)
        ends = []
        for _ in range(8):
            x = rng.uniform(0.1, 1, 2 * n + r + 1)
            found = minimize(
                cost, x, method="SLSQP", bounds=bounds, constraints=constraints,
                options={"maxiter": 500, "ftol": 1e-12},
            )  # fmt: skip
            if found.success:
                ends.append(found.fun)
        return min(ends)

    # scipy 1.13's SLSQP, the peer, warns of its own steps
    @pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
    def test_agrees_with_a_direct_minimization(self):
        objective = self.positive()
        ends = [
            iterate(GeometricProgram(objective, self.start(objective, seed)), tol=1e-7, max_iter=80).objective
            for seed in range(3)
        ]
        assert min(ends) == pytest.approx(self.directly(objective), rel=1e-4)

    @pytest.mark.parametrize("formulation", ["boxed", "svm"])
    def test_lies_above_the_objective_and_touches_it(self, formulation):
        objective = self.positive(k=2, formulation=formulation)
        there = self.start(objective)
        for _ in range(4):
            value = objective.value(there)
            relaxed = solve_geometric(objective, there)
            assert objective.value(relaxed.factors) <= relaxed.value * (1 + 1e-5)
            assert relaxed.value <= value * (1 + 1e-5)  # which the model has at `there`
            assert all((block > 0).all() for block in (relaxed.factors.Z, relaxed.factors.W))
            there = relaxed.factors

    def test_the_published_half_holds_nothing(self):
        """Its optimum is that of Z = W = Θ = 0 and H = X: the hinges of the labels −1, whatever the data."""
        objective = self.positive(k=2)
        relaxed = solve_geometric(objective, self.start(objective), condense=False)
        assert relaxed.value == pytest.approx(0.7 * 4, rel=1e-3)
        with_bias = self.positive(k=2, formulation="svm")
        assert solve_geometric(with_bias, self.start(with_bias), condense=False).value < 1e-3
        scheme = GeometricProgram(objective, self.start(objective), condense=False)
        result = iterate(scheme, stopping="decrease", tol=0.0, max_iter=5)
        assert result.n_iter == 1
        assert not scheme.monotone

    def test_monotone(self):
        objective = self.positive(k=2)
        scheme = GeometricProgram(objective, self.start(objective))
        values = [objective.value(scheme.factors)] + [scheme.step() for _ in range(6)]
        assert (np.diff(values) <= 0).all()
        assert values[-1] < 0.8 * values[0]

    def test_refuses_what_is_not_positive(self):
        with pytest.raises(ValueError, match=r"X: found -.*expected no negative entry"):
            GeometricProgram(problem("boxed"), start(problem("boxed")))
        objective = self.positive(formulation="balanced")
        with pytest.raises(ValueError, match="formulation: found 'balanced', expected 'boxed' or 'svm'"):
            GeometricProgram(objective, self.start(objective))
