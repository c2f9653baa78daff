"""Small data and, for each formulation, weights at which its hinge and its reconstruction both count."""

import itertools

import numpy as np

from svdecode import SVDMClassifier

FORMULATIONS = ("balanced", "penalized", "constrained", "boxed", "svm")
NORMED = tuple(itertools.product(("boxed", "svm"), ("at_most_one", "free")))
#: every formulation with every norm of the basis that it knows
VARIANTS = {f: {"formulation": f} for f in FORMULATIONS}
VARIANTS |= {f"{f}, {norm}": {"formulation": f, "basis_norm": norm} for f, norm in NORMED}
WEIGHTS = {
    "balanced": {"shrinkage": 0.1},
    "penalized": {"shrinkage": 0.1},
    # every hinge counts, so that Θ is unique: where all margins are met, many Θ are as good
    "constrained": {"hinge_weight": 10.0, "margin": 3.0},
    "boxed": {"hinge_weight": 100.0},
    "svm": {"hinge_weight": 100.0, "shrinkage": 100.0},
}
#: the papers' algorithm for a fixed number of sweeps: the same path on any machine
SWEEPS = {"solver": "alternating", "stopping": "decrease", "tol": 1e-15, "max_iter": 12, "rebalance": False}
IGNORE = "ignore:(the fit did not converge|formulation.* has no minimizer)"


def make(variant, n_components=3, **params):
    """A classifier of one variant at its weights."""
    chosen = VARIANTS[variant]
    return SVDMClassifier(n_components, **(WEIGHTS[chosen["formulation"]] | chosen | params))


def data(n_classes=2, n=30, m=60, seed=0):
    """Labels that the data tell only partly; the data lie off the origin."""
    rng = np.random.default_rng(seed)
    Z, W = rng.standard_normal((n, 4)), rng.standard_normal((4, m))
    X = Z @ W + 1.5 * rng.standard_normal((n, m)) + 2.0
    y = (Z @ rng.standard_normal((4, n_classes)) + 0.7 * rng.standard_normal((n, n_classes))).argmax(axis=1)
    return X, np.array(["cat", "dog", "elk", "fox", "gnu"])[y]


def several_labels(k=3, n=30, m=60, seed=0, unknown=0.2):
    """An indicator of k labels, some of them unknown."""
    rng = np.random.default_rng(seed)
    Z, W = rng.standard_normal((n, 4)), rng.standard_normal((4, m))
    X = Z @ W + 1.5 * rng.standard_normal((n, m)) + 2.0
    y = (Z @ rng.standard_normal((4, k)) + 0.7 * rng.standard_normal((n, k)) > 0).astype(float)
    y[rng.random((n, k)) < unknown] = np.nan
    return X, y
