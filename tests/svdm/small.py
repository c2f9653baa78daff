"""Small instances of every formulation, and starts that have discriminants, for the convex relaxations."""

import numpy as np

from svdecode.svdm.formulations import FORMULATIONS, Problem
from svdecode.svdm.objective import Factors
from svdecode.svdm.relaxations.scheme import with_discriminants
from svdecode.svdm.starts import choose_start

WEIGHTS = {
    "boxed": {"hinge_weight": 10.0},
    "svm": {"hinge_weight": 10.0},
    "balanced": {"shrinkage": 0.3},
    "penalized": {"shrinkage": 0.3},
    "constrained": {"hinge_weight": 3.0},
}


def problem(formulation, n=10, m=6, k=2, l=2, seed=0, **more):
    """Labels that the centered data tell only partly."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3))
    X = Z @ rng.standard_normal((3, m)) + 0.5 * rng.standard_normal((n, m))
    X -= X.mean(axis=0)
    Y = np.sign(Z @ rng.standard_normal((3, k)) + 0.3 * rng.standard_normal((n, k)))
    weights = WEIGHTS[formulation] | more
    return FORMULATIONS[formulation](Problem(X / X.std(), Y, np.ones((n, k)), m, l, **weights))


def start(objective, init="svd", l=2, seed=0):
    return with_discriminants(objective, choose_start(objective, init, l, np.random.default_rng(seed), 0))


def copied(factors):
    return Factors(*(block.copy() for block in factors))
