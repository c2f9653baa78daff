"""Bounds on the number of projections, and the LASSO: as printed, term by term."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import Lasso
from tensor.naive_tensor import centered_kernels
from tensor.two_views import gaussian, pictures_and_scans

from svdecode import TensorDecomposition
from svdecode.tensor.bounds import BOUNDS, bound_curve, smallest, spectrum
from svdecode.tensor.factors import factor
from svdecode.tensor.selection import chosen_by_lasso

mpl.use("Agg")


def printed(kind, K, t, delta=0.05, radius=None):
    """One value of a bound, from the matrix, as the papers print it."""
    n = len(K)
    if kind == "bound":
        K = K / np.mean(np.diag(K))
    left = sum(sorted(np.linalg.eigvalsh(K))[: n - t])
    if kind == "bound":
        return left / n + 2 * (1 + np.sqrt(t)) / np.sqrt(n)
    total = sum(K[i, i] ** (2 if kind == "theorem_homogeneous" else 1) for i in range(n))
    R = np.sqrt(max(np.diag(K))) if radius is None else radius
    slack = R**2 * np.sqrt(18 / n * np.log(2 * n / delta))
    return left / n + (1 + np.sqrt(t)) / np.sqrt(n) * np.sqrt(2 / n * total) + slack


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("data", [pictures_and_scans, gaussian])
def test_every_value_is_as_printed(kind, data):
    X, y = data()
    m_x = 40 if data is pictures_and_scans else 60
    K, _ = centered_kernels(X[:, m_x:], X[:1, m_x:], "linear")
    model = TensorDecomposition([m_x, X.shape[1] - m_x], n_projections=kind).fit(X, y)
    rank = np.linalg.matrix_rank(X[:, m_x:] - X[:, m_x:].mean(axis=0))
    expected = [printed(kind, K, t) for t in range(1, rank + 1)]
    np.testing.assert_allclose(model.bound_values(), expected, rtol=1e-10)
    assert model.n_projections_ == np.argmin(expected) + 1
    strict = TensorDecomposition(
        [m_x, X.shape[1] - m_x], n_projections=kind, failure_probability=0.001, radius=7.0
    ).fit(X, y)
    expected = [printed(kind, K, t, 0.001, 7.0) for t in range(1, rank + 1)]
    np.testing.assert_allclose(strict.bound_values(), expected, rtol=1e-10)
    assert strict.n_projections_ == model.n_projections_


def test_which_bounds_change_with_the_unit_of_the_kernel():
    """Theorem 1 as printed is not homogeneous in κ; with κ² under the root, and scaled, it is."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 150)) * np.arange(1, 151) ** -1.0
    x -= x.mean(axis=0)
    chosen = {kind: [] for kind in BOUNDS}
    for unit in (0.1, 1.0, 10.0):
        K = unit**2 * (x @ x.T)
        for kind in BOUNDS:
            chosen[kind].append(smallest(bound_curve(kind, spectrum(K, factor(K)), K.diagonal())))
    assert len(set(chosen["bound"])) == len(set(chosen["theorem_homogeneous"])) == 1
    assert chosen["theorem"][0] < chosen["theorem"][1] < chosen["theorem"][2]


def test_the_smallest_of_equal_minimizers():
    assert smallest(np.array([3.0, 1.0, 2.0, 1.0])) == 2
    assert smallest(np.array([3.0, 1.0 + 1e-15, 1.0])) == 2
    assert smallest(np.full(1, np.inf)) == 1


@pytest.mark.parametrize("rank", [3, 30])
def test_spectrum_by_either_way(rank):
    x = np.random.default_rng(0).standard_normal((40, rank))
    K = x @ x.T
    np.testing.assert_allclose(spectrum(K, factor(K)), np.linalg.eigvalsh(K)[::-1][:rank], rtol=1e-10)


def test_a_plot_of_the_bound():
    X, y = pictures_and_scans()
    for chosen in ("bound", "theorem", "max", 3, "lasso"):
        model = TensorDecomposition([40, 15], n_projections=chosen).fit(X, y)
        ax = model.plot_bound()
        curve, low, taken = ax.get_lines()
        np.testing.assert_allclose(curve.get_ydata(), model.bound_values())
        assert low.get_xdata() == smallest(model.bound_values())
        assert set(taken.get_xdata()) == {model.n_projections_}
    assert len(model.plot_bound("theorem_homogeneous", ax=ax).get_lines()) == 6
    with pytest.raises(ValueError, match="kind: found 'max', expected one of"):
        model.bound_values("max")


def test_lasso_finds_the_columns_that_count():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((300, 20)) * 10.0 ** rng.integers(-3, 3, 20)
    unit = F / F.std(axis=0)
    signs = np.sign(unit[:, 4] - unit[:, 11] + 0.1 * rng.standard_normal(300))
    chosen = chosen_by_lasso(F, signs)
    assert {4, 11} <= set(chosen)
    assert len(chosen) < 20
    # the same set as a plain LASSO at some penalty: it is on the path
    centered = unit - unit.mean(axis=0)
    path = [set(np.flatnonzero(Lasso(p).fit(centered, signs).coef_)) for p in np.geomspace(1e-3, 1, 400)]
    assert set(chosen) in path


def test_lasso_where_there_is_nothing_to_choose():
    signs = np.repeat([-1.0, 1.0], 10)
    assert list(chosen_by_lasso(np.zeros((20, 3)), signs)) == [0]
    assert chosen_by_lasso(np.zeros((20, 0)), signs).size == 0
    two = np.column_stack([np.tile([1.0, -1.0], 10), signs])[[0, 1, 19]]
    assert list(chosen_by_lasso(two, np.array([-1.0, -1.0, 1.0]))) == [1]  # too few for folds


@pytest.mark.parametrize("view", [None, 0, 1])
def test_projections_chosen_by_the_lasso_are_some_of_all(view):
    X, y = pictures_and_scans(n_pictures=24, n_features=30)
    full = TensorDecomposition([40, 30], n_projections="max").fit(X, y)
    model = TensorDecomposition([40, 30], n_projections="lasso", lasso_view=view).fit(X, y)
    features = [full.transform(X, view=v) for v in range(2)]
    expected = chosen_by_lasso(features[0] * features[1] if view is None else features[view], 2.0 * y - 1)
    assert model.n_projections_ == len(expected)
    assert view is None or len(expected) < full.n_projections_
    np.testing.assert_allclose(model.singular_values_, full.singular_values_[expected])
    np.testing.assert_allclose(model.dual_weights_[1], full.dual_weights_[1][:, expected])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_projections", 0),
        ("n_projections", "some"),
        ("n_projections", 2.5),
        ("n_projections", True),
        ("failure_probability", 1.0),
        ("failure_probability", 0.0),
        ("radius", -1.0),
        ("lasso_view", 2),
        ("C", 0),
        ("tol", "small"),
    ],
)
def test_bad_parameters(name, value):
    X, y = pictures_and_scans()
    with pytest.raises(ValueError, match=f"^{name}: found "):
        TensorDecomposition([40, 15], **{name: value}).fit(X, y)
