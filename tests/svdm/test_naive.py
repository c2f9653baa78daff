"""The naive route is a sound oracle, and the package's alternation walks the same way."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from svdm.naive import alternate, objective

from svdecode import SVDMClassifier

CASES = [("constrained", "free"), ("penalized", "free"), ("balanced", "free")]
CASES += [(name, rows) for name in ("boxed", "svm") for rows in ("unit", "at_most_one", "free")]


def data(k=2):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((24, 3))
    X = Z @ rng.standard_normal((3, 40)) + 2.0 * rng.standard_normal((24, 40))
    return X / X.std() + 1.0, np.sign(Z @ rng.standard_normal((3, k)))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("formulation", "rows"), CASES)
def test_objective_never_rises(formulation, rows):
    X, Y = data()
    *factors, history = alternate(
        formulation, X, Y, 3, 5, shrinkage=0.1, hinge_weight=3.0, basis_norm=rows, tol=1e-10
    )
    assert np.all(np.diff(history) <= 1e-8 * history[0])
    assert history[-1] < history[0] * (1 - 1e-4)
    again = objective(formulation, X, Y, *factors, shrinkage=0.1, hinge_weight=3.0, basis_norm=rows)
    assert again == history[-1]


def test_infeasible_factors_cost_infinity():
    X, Y = data()
    Z, W, Theta, _ = alternate("constrained", X, Y, 3, 1)
    assert np.isfinite(objective("constrained", X, Y, Z, W, Theta))
    assert np.isinf(objective("constrained", X, Y, Z * [1, 9, 9, 9], W, Theta))
    assert np.isinf(objective("constrained", X, Y, Z, W, 9 * Theta))
    Z, W, Theta, _ = alternate("boxed", X, Y, 3, 1)
    assert np.isfinite(objective("boxed", X, Y, Z, W, Theta))
    assert np.isinf(objective("boxed", X, Y, Z, 0.5 * W, Theta))
    assert np.isinf(objective("boxed", X, Y, Z, W, Theta + 9))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("formulation", "rows"), CASES)
def test_without_labels_it_is_principal_components(formulation, rows):
    """Pereira & Gordon 2006, §2.3: the hinge gone, the SVD of the centered data is left."""
    X, Y = data()
    Z, W, _, _ = alternate(
        formulation, X, np.zeros_like(Y), 3, 3, shrinkage=1e-7, hinge_weight=1.0, basis_norm=rows, tol=1e-10
    )
    rest = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[3:]
    assert np.sum((X - Z @ W) ** 2) == pytest.approx(np.sum(rest**2), rel=1e-5)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate", "ignore:.*has no minimizer")
@pytest.mark.parametrize(("formulation", "rows"), CASES)
def test_package_takes_the_same_sweeps(formulation, rows):
    """Two sweeps: later ones may part where a block has several minimizers (Θ that meets every margin)."""
    X, Y = data()
    weights = {"shrinkage": 0.1, "hinge_weight": 3.0, "basis_norm": rows}
    model = SVDMClassifier(3, formulation=formulation, solver="alternating", rebalance=False, scale=False)
    model.set_params(stopping="decrease", tol=1e-12, max_iter=2, **weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, (Y + 1) / 2)
    history = alternate(formulation, X, Y, 3, 2, tol=1e-11, **weights)[-1]
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-6)
    Z = np.hstack([np.ones((24, 1)), model.training_coordinates_])
    W = np.vstack([model.mean_, model.components_])
    value = objective(formulation, X, Y, Z, W, model.discriminants_, **weights)
    assert value == pytest.approx(model.objective_, rel=1e-10)
