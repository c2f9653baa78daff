"""SVDMClassifier in feature space: what it names is what its objective says, for old samples and new."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq, minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from svdm import naive
from svdm.cases import FORMULATIONS, IGNORE, SWEEPS, VARIANTS, WEIGHTS, data, make, several_labels

from svdecode import SVDMClassifier

pytestmark = pytest.mark.filterwarnings(IGNORE)
TABLE = ("shrinkage", "hinge_weight", "margin", "reconstruction_weight", "ridge", "basis_norm")


def signs(model, y):
    """Y in {−1, 1}, a column a problem."""
    if y.ndim == 2:
        return np.where(np.isnan(y), 0.0, 2 * np.nan_to_num(y) - 1)
    columns = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    return np.where(y[:, None] == columns, 1.0, -1.0)


def in_the_papers_letters(model, X):
    """X, Z, W, Θ of the scaled problem with the columns and rows that count as number 0."""
    s, origin = model.scale_, X.mean(axis=0)
    Z = np.column_stack([np.ones(len(X)), model.training_coordinates_])
    W = np.vstack([(model.mean_ - origin) / s, model.components_ / s])
    return (X - origin) / s, Z, W, model.discriminants_


PROBLEMS = {"two classes": data(2), "four classes": data(4), "several labels": several_labels()}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", ["n < m", "n > m"])
def test_the_objective_is_that_of_the_attributes(variant, problem, shape):
    """The table of formulations, line by line, in full feature space and in units of the input."""
    X, y = PROBLEMS[problem]
    X = X if shape == "n < m" else X[:, :12]
    model = make(variant, margin=0.8, ridge=0.01, reconstruction_weight=1.3, **SWEEPS).fit(X, y)
    Xs, Z, W, Theta = in_the_papers_letters(model, X)
    params = {name: getattr(model, name) for name in TABLE}
    expected = naive.objective(model.formulation, Xs, signs(model, y), Z, W, Theta, **params)
    assert model.objective_ == pytest.approx(expected, rel=1e-10)
    assert model.objective_history_[-1] == model.objective_
    assert model.init_objectives_ == [model.objective_]
    assert Theta.shape == (4, signs(model, y).shape[1])
    # the components describe the data: nearer than the mean alone
    left = X - model.mean_ - model.training_coordinates_ @ model.components_
    assert np.sum(left**2) < 0.8 * np.sum((X - X.mean(axis=0)) ** 2)


def naive_coordinates(model, x):
    """argmin a‖x − w₀ − zW‖² + z's ridge ‖z‖² in the ball, in full feature space, by other means."""
    t = naive.table(
        model.formulation, np.zeros((len(model.training_coordinates_), len(x))), np.ones((1, 1)),
        model.n_components, **{name: getattr(model, name) for name in TABLE},
    )  # fmt: skip
    W, target = model.components_.T / model.scale_, (x - model.mean_) / model.scale_
    l = W.shape[1]

    def ridge(nu):
        rows = np.vstack([np.sqrt(t.a) * W, np.sqrt(t.on_z + nu) * np.eye(l)])
        return np.linalg.lstsq(rows, np.r_[np.sqrt(t.a) * target, np.zeros(l)], rcond=None)[0]

    if not t.z_in_ball or np.linalg.norm(ridge(0.0)) <= 1:
        return ridge(0.0)
    limit = t.a * np.linalg.norm(W.T @ target)  # ν beyond which z is inside for sure
    return ridge(brentq(lambda nu: np.linalg.norm(ridge(nu)) - 1, 0.0, limit, xtol=1e-14 * limit, rtol=1e-14))


@pytest.mark.parametrize("readout", ["joint", "refit", "least_squares"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_new_samples_solve_the_z_problem_without_its_hinge(variant, readout):
    X, y = data(3)
    new = data(3, seed=5)[0][:6]
    new = X.mean(axis=0) + (new - X.mean(axis=0)) * np.array(
        [[1], [2], [5], [10], [20], [50]]
    )  # far off, too
    model = make(variant, readout=readout, reconstruction_weight=0.7, **SWEEPS).fit(X, y)
    expected = np.array([naive_coordinates(model, x) for x in new])
    found = model.transform(new)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
    scores = found @ model.discriminants_[1:] + model.discriminants_[0]
    np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(new), model.classes_[scores.argmax(axis=1)])
    if model.formulation == "constrained":
        assert np.linalg.norm(found, axis=1).max() == pytest.approx(1.0)  # the ball counts here
    # a training sample's own coordinates have seen its label
    assert np.abs(model.transform(X) - model.training_coordinates_).max() > 1e-3


@pytest.mark.parametrize("readout", ["joint", "refit", "least_squares"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", ["n < m", "n > m"])
def test_the_discriminants_go_back_to_feature_space(variant, readout, shape):
    X, y = data(3)
    X = X if shape == "n < m" else X[:, :12]
    model = make(variant, readout=readout, **SWEEPS).fit(X, y)
    scores, linear = model.decision_function(X), X @ model.coef_.T + model.intercept_
    inside = np.linalg.norm(model.transform(X), axis=1) < 1 - 1e-6
    if model.formulation != "constrained":
        inside[:] = True
    assert inside.any()
    np.testing.assert_allclose(linear[inside], scores[inside], rtol=0, atol=1e-10 * np.abs(scores).max())
    assert model.coef_.shape == (3, X.shape[1])
    assert model.intercept_.shape == (3,)
    if not inside.all():  # where the ball confines, the two part, as the documentation says
        assert np.abs(linear[~inside] - scores[~inside]).max() > 1e-3


@pytest.mark.parametrize("variant", ["balanced", "penalized", "svm"])
def test_refit_is_a_support_vector_machine_on_label_free_coordinates(variant):
    """Its objective at the discriminants is the least, by a minimizer that knows nothing of ours."""
    X, y = data(2)
    model = make(variant, readout="refit", margin=0.8, **SWEEPS).fit(X, y)
    plain = make(variant, readout="joint", margin=0.8, **SWEEPS).fit(X, y)
    Z, Y = model.transform(X), signs(model, y)[:, 0]
    np.testing.assert_allclose(Z, plain.transform(X))
    t = naive.table(model.formulation, X, Y[:, None], 3, **{name: getattr(model, name) for name in TABLE})

    def value(theta):
        hinge = t.hinge[:, 0] @ np.maximum(t.margin - Y * (Z @ theta[1:] + theta[0]), 0.0)
        return hinge + t.on_theta * theta[1:] @ theta[1:] + t.on_bias * theta[0] ** 2

    found = value(model.discriminants_[:, 0])
    best = minimize(value, plain.discriminants_[:, 0], method="Nelder-Mead",
                    options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 9999, "maxfev": 9999})  # fmt: skip
    assert found <= best.fun * (1 + 1e-9)
    assert found < value(plain.discriminants_[:, 0]) * (1 - 1e-4)


@pytest.mark.parametrize("variant", ["balanced", "penalized", "svm", "boxed"])
def test_least_squares_is_a_weighted_regression_on_label_free_coordinates(variant):
    X, y = data(3)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = make(variant, readout="least_squares", **SWEEPS).fit(X, y, sample_weight=weights)
    Z, Y = model.transform(X), signs(model, y)
    regression = LinearRegression().fit(Z, Y, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), regression.predict(Z), atol=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_more_components_than_the_rank(formulation):
    X, y = data(2, n=6)
    model = make(formulation, 9, **SWEEPS).fit(X, y)
    assert model.components_.shape == (9, 60)
    assert model.transform(X).shape == model.training_coordinates_.shape == (6, 9)
    assert model.discriminants_.shape == (10, 1)
    for spare in (model.components_[5:], model.transform(X)[:, 5:], model.discriminants_[6:]):
        assert not spare.any()
    # the weights keep the l that was asked for
    Xs, Z, W, Theta = in_the_papers_letters(model, X)
    if formulation != "boxed" and formulation != "svm":  # their spare rows would need norm one
        expected = naive.objective(formulation, Xs, signs(model, y), Z, W, Theta, **WEIGHTS[formulation])
        assert model.objective_ == pytest.approx(expected, rel=1e-10)


def test_scale_makes_weights_mean_the_same():
    X, y = data(2)
    one, thousand = (make("balanced", **SWEEPS).fit(c * X, y) for c in (1.0, 1000.0))
    assert thousand.objective_ == pytest.approx(one.objective_, rel=1e-10)
    assert thousand.scale_ == pytest.approx(1000 * one.scale_)
    assert one.scale_ == pytest.approx((X - X.mean(axis=0)).std())
    np.testing.assert_allclose(thousand.components_, 1000 * one.components_, rtol=1e-7, atol=1e-7)
    unscaled = make("balanced", scale=False, **SWEEPS).fit((X - X.mean(axis=0)) / one.scale_, y)
    assert unscaled.scale_ == 1.0
    assert unscaled.objective_ == pytest.approx(one.objective_, rel=1e-10)


def test_starts():
    X, y = data(2)
    several = make("balanced", init="random", n_init=4, random_state=3, **SWEEPS).fit(X, y)
    assert several.init_objectives_.shape == (4,)
    assert np.ptp(several.init_objectives_) > 0
    assert several.objective_ == several.init_objectives_.min()
    again = make("balanced", init="random", n_init=4, random_state=3, **SWEEPS).fit(X, y)
    np.testing.assert_array_equal(again.training_coordinates_, several.training_coordinates_)
    other = make("balanced", init="random", n_init=4, random_state=4, **SWEEPS).fit(X, y)
    assert np.abs(other.init_objectives_ - several.init_objectives_).max() > 0
    # given coordinates: the singular ones are the default
    Xc = X - X.mean(axis=0)
    U, sigma, _ = np.linalg.svd(Xc, full_matrices=False)
    usual = make("balanced", init="svd", **SWEEPS).fit(X, y)
    given = make("balanced", init=U[:, :3] * sigma[:3] / usual.scale_, **SWEEPS).fit(X, y)
    assert given.objective_ == pytest.approx(usual.objective_, rel=1e-9)


def test_what_is_weak_about_a_fit_is_said():
    X, y = data(2)
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations were not enough") as caught:
        model = make("balanced", max_iter=2, tol=1e-12, stopping="stationary").fit(X, y)
    assert caught[0].filename == __file__
    assert not model.converged_
    assert model.n_iter_ == 2
    for variant in VARIANTS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = make(variant, **SWEEPS).fit(X, y)
        said = any("has no minimizer" in str(w.message) for w in caught)
        assert said == ("," in variant)  # `boxed` and `svm` without unit rows
        assert np.isnan(model.stationarity_) == said


def test_callback_sees_progress():
    X, y = data(2)
    seen = []
    model = make("balanced", callback=lambda *state: seen.append(state), **SWEEPS).fit(X, y)
    assert [state[0] for state in seen] == list(range(1, model.n_iter_ + 1))
    assert seen[-1][1] == pytest.approx(model.objective_)


BAD = {
    "n_components 0": ({"n_components": 0}, "n_components: found 0, expected an integer of at least 1"),
    "n_components 2.5": ({"n_components": 2.5}, "n_components: found 2.5, expected an integer"),
    "formulation": ({"formulation": "pca"}, "formulation: found 'pca', expected one of"),
    "shrinkage": ({"shrinkage": 0}, "shrinkage: found 0, expected a finite number above 0"),
    "hinge_weight": ({"hinge_weight": -1}, "hinge_weight: found -1, expected a finite number of at least 0"),
    "margin": ({"margin": np.nan}, "margin: found nan, expected a finite number above 0"),
    "reconstruction_weight": ({"reconstruction_weight": "1"}, "reconstruction_weight: found '1', expected"),
    "ridge": ({"ridge": np.inf}, "ridge: found inf, expected a finite number of at least 0"),
    "basis_norm": ({"basis_norm": 1}, "basis_norm: found 1, expected one of 'unit', 'at_most_one', 'free'"),
    "scale": ({"scale": "yes"}, "scale: found 'yes', expected one of True, False"),
    "kernel": ({"kernel": "poly"}, "kernel: found 'poly', expected one of"),
    "kernel_params": ({"kernel_params": {"sigma": 1}}, "kernel_params: found {'sigma': 1}, expected a dict"),
    "init": ({"init": "zeros"}, "init: found 'zeros', expected one of"),
    "init shape": ({"init": np.ones((3, 2))}, r"init: found an array of shape \(3, 2\), expected"),
    "init NaN": ({"init": np.full((30, 2), np.nan)}, "init: found NaN or infinity, expected finite"),
    "n_init": ({"n_init": 0}, "n_init: found 0, expected an integer of at least 1"),
    "solver": ({"solver": "newton"}, "solver: found 'newton', expected one of"),
    "rebalance": ({"rebalance": 2}, "rebalance: found 2, expected one of True, False"),
    "stopping": ({"stopping": "never"}, "stopping: found 'never', expected one of"),
    "tol": ({"tol": 0.0}, "tol: found 0, expected a finite number above 0"),
    "max_iter": ({"max_iter": 1.0}, "max_iter: found 1.0, expected an integer of at least 1"),
    "readout": ({"readout": "both"}, "readout: found 'both', expected one of 'joint', 'refit', "),
    "class_weight": ({"class_weight": "equal"}, "class_weight: found 'equal', expected None, 'balanced' or"),
    "class_weight list": ({"class_weight": [1, 2]}, r"class_weight: found \[1, 2\], expected None, "),
    "class_weight key": ({"class_weight": {"dgo": 2}}, "class_weight: found 'dgo', expected classes among"),
    "class_weight < 0": ({"class_weight": {"dog": -2}}, "class_weight: found a negative or infinite weight"),
    "class_weight 0": ({"class_weight": {"dog": 0, "cat": 0}}, "class_weight: found a weight of zero for"),
    "callback": ({"callback": 1}, "callback: found 1, expected a callable or None"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_named(case):
    X, y = data(2)
    params, message = BAD[case]
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        SVDMClassifier(**({"n_components": 2} | params)).fit(X, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_matrix, pd.DataFrame])
def test_values_that_are_not_finite_are_named(form, value, shape):
    X, y = np.random.default_rng(0).standard_normal(shape), np.arange(shape[0]) % 2
    model = make("balanced", 2, **SWEEPS).fit(form(X), y)
    X[1, 2] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    for call in (lambda bad: make("balanced", 2, **SWEEPS).fit(bad, y), model.transform, model.predict):
        with pytest.raises(
            ValueError, match=f"^X: found {kind} in row 1, column 2, expected finite numbers$"
        ):
            call(form(X))


def test_bad_data_are_named():
    X, y = data(2, n=6)
    y = np.array(list("abacab"))
    model = make("balanced", 2, **SWEEPS).fit(X, y)
    frame = pd.DataFrame({"a": range(6), "name": list("uvwxyz")})
    with pytest.raises(ValueError, match=r"^X: found columns that are no numbers \(name\), expected numbers"):
        make("balanced").fit(frame, y)
    for bad in (X[0], X[:1], X[:0], X[:, :0]):
        with pytest.raises(ValueError, match=r"^X: .+") as caught:
            make("balanced").fit(bad, y[: len(bad)])
        assert "\n" not in str(caught.value)
    for same in (np.ones((6, 9)), np.full((6, 4), 0.1)):
        with pytest.raises(ValueError, match=r"^X: found rows that are all equal, expected samples"):
            make("balanced").fit(same, y)
    with pytest.raises(ValueError, match="X has 3 features, but SVDMClassifier is expecting 60 features"):
        model.predict(X[:, :3])
    with pytest.raises(NotFittedError):
        make("balanced").predict(X)
