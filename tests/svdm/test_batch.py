"""A batch of fits on one Gram matrix: each is the fit of the fold's rows alone, whatever runs beside it."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from svdm.cases import IGNORE, SWEEPS, VARIANTS, WEIGHTS, data, make, several_labels

from svdecode.reduction import SharedGram
from svdecode.svdm.batch import Batch, run_batch
from svdecode.svdm.fitting import Weights
from svdecode.svdm.parameters import check_solving, check_weights

pytestmark = pytest.mark.filterwarnings(IGNORE)
SHAPES = {"n < m": (30, 60), "n > m": (40, 12)}


def batch_of(model, X, y, **params):
    linear = model.kernel == "linear"
    shared = SharedGram(X, model.kernel, **(model.kernel_params or {}))
    solving = check_solving(model, len(X))
    seed = int(np.random.RandomState(model.random_state).randint(2**31))
    readouts = ("joint", "refit", "least_squares")
    return Batch(shared, y, X.shape[1] if linear else 1, solving, model.scale, readouts, seed=seed, **params)


def run(model, X, y, sizes=(1, 3), n_jobs=None, **params):
    """Cells of a 4-fold batch over dimensions, and the folds."""
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    weights = check_weights(model)
    candidates = [Weights(**{**weights.__dict__, "n_components": l}) for l in sizes]
    return (
        list(run_batch(batch_of(model, X, y, **params), folds, candidates, n_jobs=n_jobs)),
        folds,
        candidates,
    )


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_batch_is_its_single_fits(variant, shape):
    X, y = data(3, *SHAPES[shape])
    few = SWEEPS | {"max_iter": 6}
    model = make(variant, random_state=0, **few)
    cells, folds, candidates = run(model, X, y)
    assert [(c.fold, c.candidate) for c in cells] == [(f, c) for f in range(4) for c in range(2)]
    for cell in cells:
        train, test = folds[cell.fold]
        for readout in ("joint", "refit", "least_squares"):
            l = candidates[cell.candidate].n_components
            single = make(variant, l, readout=readout, **few).fit(X[train], y[train])
            assert cell.fit.result.objective == pytest.approx(single.objective_, rel=1e-8)
            both = (cell.fit.result.history, single.objective_history_)
            # at a standstill rounding decides whether there is one sweep more
            a, b = (np.pad(h, (0, max(map(len, both)) - len(h)), mode="edge") for h in both)
            np.testing.assert_allclose(a, b, rtol=1e-8)
            assert cell.fit.scale == pytest.approx(single.scale_, rel=1e-10)
            expected = single.decision_function(X[test])
            np.testing.assert_allclose(
                cell.scores[readout], expected, atol=1e-5 * np.abs(expected).max(), err_msg=readout
            )


@pytest.mark.parametrize(
    "params",
    [
        {"init": "random", "n_init": 2, "random_state": 7},
        {"kernel": "rbf", "kernel_params": {"gamma": 0.003}},
        {"kernel": "polynomial", "kernel_params": {"degree": 2, "gamma": 0.01}},
        {"scale": False},
        {"solver": "splitting", "stopping": "stationary", "tol": 1e-7, "max_iter": 500},
    ],
    ids=lambda params: next(iter(params)),
)
def test_so_it_is_with_other_parameters(params):
    # n < m: with random starts the coordinates must have the same number of columns in both routes
    X, y = data(2)
    model = make("balanced", **(SWEEPS | params))
    cells, folds, candidates = run(model, X, y)
    for cell in cells:
        train, test = folds[cell.fold]
        l = candidates[cell.candidate].n_components
        single = make("balanced", l, **(SWEEPS | params)).fit(X[train], y[train])
        assert cell.fit.result.objective == pytest.approx(single.objective_, rel=1e-8)
        expected = single.decision_function(X[test])
        np.testing.assert_allclose(cell.scores["joint"][:, 0], expected, atol=1e-5 * np.abs(expected).max())


def test_a_given_start_is_cut_to_the_fold_and_the_dimension():
    X, y = data(2)
    start = np.random.default_rng(0).standard_normal((30, 3))
    model = make("balanced", init=start, **SWEEPS)
    cells, folds, candidates = run(model, X, y)
    for cell in cells:
        train, _ = folds[cell.fold]
        l = candidates[cell.candidate].n_components
        single = make("balanced", l, init=start[train][:, :l], **SWEEPS).fit(X[train], y[train])
        assert cell.fit.result.objective == pytest.approx(single.objective_, rel=1e-8)


def test_weights_of_samples_and_classes():
    X, y = data(3)
    weight = np.linspace(0.2, 2, 30)
    cells, folds, _ = run(
        make("balanced", **SWEEPS), X, y, (3,), sample_weight=weight, class_weight="balanced"
    )
    for cell in cells:
        train, _ = folds[cell.fold]
        single = make("balanced", class_weight="balanced", **SWEEPS)
        single.fit(X[train], y[train], sample_weight=weight[train])
        assert cell.fit.result.objective == pytest.approx(single.objective_, rel=1e-8)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_any_number_of_threads_gives_the_same_numbers(n_jobs):
    X, y = several_labels(n=40)
    model = make("balanced", init="random", random_state=3, **SWEEPS)
    one, many = run(model, X, y)[0], run(model, X, y, n_jobs=n_jobs)[0]
    for a, b in zip(one, many, strict=True):
        assert (a.fold, a.candidate) == (b.fold, b.candidate)
        np.testing.assert_array_equal(a.scores["joint"], b.scores["joint"])
        np.testing.assert_array_equal(a.fit.result.history, b.fit.result.history)


def test_dimensions_above_a_folds_rank():
    X, y = data(2, n=12)
    model = make("balanced", **SWEEPS)
    cells, folds, _ = run(model, X, y, (2, 11, 30))
    for cell in cells:
        train, _ = folds[cell.fold]
        l = (2, 11, 30)[cell.candidate]
        assert cell.fit.result.factors.Z.shape == (9, min(l, 8))
        single = make("balanced", l, **SWEEPS).fit(X[train], y[train])
        assert cell.fit.result.objective == pytest.approx(single.objective_, rel=1e-8)


def test_folds_that_cannot_be_fitted_are_named():
    X, y = data(2)
    model = make("balanced", **SWEEPS)
    ordered = np.repeat(["cat", "dog"], 15)
    folds = [(np.arange(10, 30), np.arange(10)), (np.arange(15), np.arange(15, 30))]
    candidates = [check_weights(model)]
    with pytest.raises(
        ValueError, match=r"^y: found one class only \('cat'\), .* \(training rows of fold 1\)$"
    ):
        list(run_batch(batch_of(model, X, ordered), folds, candidates))
    X[:15] = 1.0
    with pytest.raises(ValueError, match=r"^X: found rows that are all equal in fold 0, expected samples"):
        list(run_batch(batch_of(model, X, y), [(np.arange(15), np.arange(15, 30))], candidates))


def test_weights_are_those_of_the_cases():
    assert check_weights(make("svm")).shrinkage == WEIGHTS["svm"]["shrinkage"]
