"""The batch engine makes the fits of the estimators one by one, and what it chooses is theirs."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from study.studies import EXACT, brain, by_hand, haxby2011, inner_of

from svdecode import Study, SVDMClassifier
from svdecode.reduction import SharedGram
from svdecode.study import METHODS, PROTOCOLS, RULES, Method, leave_one_run_out, svdm
from svdecode.study.batched import is_batched, run_splits
from svdecode.study.engine import run_split
from svdecode.study.outcomes import CHOSEN
from svdecode.study.prepared import Prepared
from svdecode.svdm.batch import Batch, run_batch
from svdecode.svdm.parameters import check_solving, check_weights

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

#: the papers' alternation: the same sweeps by both routes
SWEEPS = {"stopping": "decrease", "tol": 1e-12, "max_iter": 10}
SETTINGS = {
    "balanced": {"shrinkage": (0.3, 0.1, 0.03)},
    "penalized": {"formulation": "penalized", "shrinkage": (0.3, 0.1), **SWEEPS},
    "constrained": {"formulation": "constrained", "hinge_weight": (100.0, 1000.0), **SWEEPS},
    "least squares": {"shrinkage": (0.3, 0.1), "readout": "least_squares"},
    "random starts": {
        "shrinkage": (0.3, 0.1),
        "init": "random",
        "n_init": 2,
        **SWEEPS,
    },  # soon enough to tell
    "not scaled": {"shrinkage": (0.3, 0.1), "scale": False},
    "class weights": {"shrinkage": (0.3, 0.1), "class_weight": "balanced", "margin": 0.5},
}


def prepared(data, protocol="leave_one_run_out", by=None, n_inner=None, **options):
    return Prepared("data", data, PROTOCOLS[protocol](data, **options), by, n_inner)


def both(data, method, sizes, rule="best", seed=None):
    """Outcomes of all splits by the batch and by the estimators."""
    rule = RULES[rule]
    todo = dict.fromkeys(range(len(data.splits)), sizes)
    batch = dict(run_splits(data, todo, method, rule, seed))
    assert sorted(batch) == sorted(todo)
    one_by_one = {number: run_split(data, number, method, sizes, rule, seed) for number in todo}
    return [(a, b) for n in todo for a, b in zip(batch[n], one_by_one[n], strict=True)]


def agree(pairs, atol=1e-5):
    assert pairs
    for a, b in pairs:
        assert a.size == b.size
        assert dict(a.chosen) == dict(b.chosen)
        assert a.inner == pytest.approx(b.inner, abs=1e-12, nan_ok=True)
        np.testing.assert_array_equal(a.classes, b.classes)
        np.testing.assert_array_equal(a.predictions, b.predictions)
        assert a.predictions.dtype == b.predictions.dtype
        assert a.scores.shape == b.scores.shape
        np.testing.assert_allclose(a.scores, b.scores, rtol=0, atol=atol * np.abs(b.scores).max())


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_batch_is_the_estimators_one_by_one(setting, n_classes):
    method = METHODS["svdm"](sizes=[2, 3], **EXACT | SETTINGS[setting])
    assert is_batched(method)
    seed = 3 if method.seeded else None
    agree(both(prepared(brain(n_classes)), method, [2, 3], seed=seed))


@pytest.mark.parametrize("by", [None, "run", "training"])
@pytest.mark.parametrize("rule", ["best", "one_standard_error", "just_below_perfect"])
def test_so_it_is_with_every_rule_and_standardization(by, rule):
    method = METHODS["svdm"](sizes=[1, 2], shrinkage=(1.0, 0.1, 0.01), **EXACT)
    agree(both(prepared(brain(signal=0.5), by=by, n_inner=3), method, [1, 2, CHOSEN], rule))


@pytest.mark.parametrize("protocol", ["cycles", "leave_one_sample_out", "whole_runs"])
def test_so_it_is_with_other_protocols(protocol):
    options = {"n_train": 3} if protocol == "whole_runs" else {}
    data = brain(2, n_runs=6, per_run=4, signal=0.6)
    method = METHODS["svdm"](sizes=[2], shrinkage=(0.3, 0.1), **EXACT)
    agree(both(prepared(data, protocol, **options), method, [2]))


def test_so_it_is_with_several_labels():
    rng = np.random.default_rng(0)
    data = brain(2)
    y = np.column_stack([data.y == "cat", rng.random(data.n_samples) < 0.5]).astype(float)
    y[::11, 1] = np.nan
    agree(both(prepared(replace(data, y=y)), METHODS["svdm"](sizes=[2], shrinkage=(0.3, 0.1), **EXACT), [2]))


def test_more_samples_than_features_and_more_components_than_the_rank():
    data = brain(3, m=5)
    agree(both(prepared(data), METHODS["svdm"](sizes=[3, 8], shrinkage=(0.3, 0.1), **EXACT), [3, 8]))


def test_a_nested_loop_by_hand_gives_the_same_table():
    data = brain(3, signal=0.6)
    candidates = [{"shrinkage": s} for s in (1.0, 0.3, 0.1, 0.03)]
    study = Study(data, METHODS["svdm"](sizes=[2], shrinkage=[c["shrinkage"] for c in candidates], **EXACT))
    cells = list(study.run().cells())
    splits = leave_one_run_out(data)
    make = partial(SVDMClassifier, 2, **EXACT)
    hand = by_hand(data.X, data.y, splits, candidates, make, inner_of(data, splits))
    assert len({cell.chosen["shrinkage"] for cell in cells}) > 1  # there was something to choose
    for cell, (chosen, predictions, scores) in zip(cells, hand, strict=True):
        assert dict(cell.chosen) == chosen
        np.testing.assert_array_equal(cell.predictions, predictions)
        np.testing.assert_allclose(cell.scores, scores, rtol=0, atol=1e-5 * np.abs(scores).max())


def test_haxby2011_by_plain_loops():
    """Leave one run out on a subject of Haxby et al. 2011, the shrinkage chosen in inner runs."""
    data = haxby2011()
    candidates = [{"shrinkage": s} for s in (0.3, 0.1, 0.03)]
    study = Study(data, METHODS["svdm"](sizes=[4, 8], shrinkage=[0.3, 0.1, 0.03], **EXACT))
    result = study.run(n_jobs=2)
    splits = leave_one_run_out(data)
    inner = inner_of(data, splits)
    for l in (4, 8):
        make = partial(SVDMClassifier, l, **EXACT)
        hand = by_hand(data.X, data.y, splits, candidates, make, inner)
        cells = [cell for cell in result.cells() if cell.n_components == l]
        for cell, (chosen, predictions, scores) in zip(cells, hand, strict=True):
            assert dict(cell.chosen) == chosen
            np.testing.assert_array_equal(cell.predictions, predictions)
            np.testing.assert_allclose(cell.scores, scores, rtol=0, atol=1e-5 * np.abs(scores).max())
        right = np.concatenate([p == data.y[s.test] for (_, p, _), s in zip(hand, splits, strict=True)])
        table = result.accuracy()
        assert table.loc[table["n_components"] == l, "accuracy"].item() == pytest.approx(right.mean())
        assert right.mean() > 0.4  # chance is 1/7


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_give_the_same_digits(n_jobs):
    data = prepared(brain(), by="training", n_inner=2)
    method = METHODS["svdm"](sizes=[1, 2], shrinkage=(0.3, 0.1))
    todo = {number: [1, 2] for number in range(len(data.splits))}
    one, more = (dict(run_splits(data, todo, method, RULES["best"], None, n_jobs=n)) for n in (1, n_jobs))
    for number in todo:
        for a, b in zip(one[number], more[number], strict=True):
            np.testing.assert_array_equal(a.scores, b.scores)
            np.testing.assert_array_equal(a.dual, b.dual)


def test_a_fit_does_not_depend_on_what_runs_beside_it():
    """A study that goes on has other sizes and splits left; its numbers are those of one that ran through."""
    data = prepared(brain(), n_inner=3)
    method = METHODS["svdm"](sizes=[1, 2, 5], shrinkage=(0.3, 0.1))
    whole = dict(run_splits(data, {n: [1, 2, 5] for n in range(5)}, method, RULES["best"], None))
    part = dict(run_splits(data, {3: [2]}, method, RULES["best"], None))
    np.testing.assert_array_equal(part[3][0].scores, whole[3][1].scores)
    assert part[3][0].inner == whole[3][1].inner


def test_splits_are_told_as_soon_as_their_inner_folds_are_fitted():
    """What is killed loses the splits on their way, not all of the study."""
    data = prepared(brain())
    method = METHODS["svdm"](sizes=[1], shrinkage=(0.3, 0.1))
    fitted = []
    told = run_splits(data, {n: [1] for n in range(5)}, method, RULES["best"], None)
    real = run_batch

    def counting(batch, folds, candidates, **more):
        for cell in real(batch, folds, candidates, **more):
            fitted.append(cell.fold)
            yield cell

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("svdecode.study.batched.run_batch", counting)
        next(told)
        first = len(fitted)
        list(told)
    # 4 inner folds of two weights and the fit itself; in all 10 training sets, for 20 inner folds
    assert first <= 4 * 2 + 1 + 2
    assert len(fitted) == 10 * 2 + 5


def test_the_order_of_training_rows_does_not_matter_to_what_is_fitted_once():
    """Inner folds of different splits that train on the same rows share a fit; each reads its own rows."""
    data = brain(2, n_runs=3, per_run=8, signal=0.5)
    pairs = both(prepared(data), METHODS["svdm"](sizes=[1], shrinkage=(0.3, 0.03), **EXACT), [1])
    agree(pairs)


@pytest.mark.parametrize(
    ("method", "batched"),
    [
        (METHODS["svdm"](), True),
        (METHODS["svdm"](formulation="constrained"), True),
        (METHODS["svdm"](kernel="rbf"), False),
        (METHODS["svdm"](margin=[1.0, 2.0]), True),
        (METHODS["svdm"](tol=[1e-4, 1e-6]), False),
        (METHODS["svdm_gnb"](), False),
        (METHODS["ridge"](), False),
        (Method("mine", svdm, sizes=[2]), True),
        (Method("mine", SVDMClassifier, sizes=[2]), False),
    ],
)
def test_what_is_batched(method, batched):
    assert is_batched(method) == batched


def test_a_method_without_sizes_has_the_classifiers_own():
    agree(both(prepared(brain(m=12)), Method("mine", svdm, fixed={"shrinkage": 0.1, **EXACT}), [None]))
    fixed = {"shrinkage": 0.1, "n_components": 2, **EXACT}
    pairs = both(prepared(brain()), Method("mine", svdm, fixed=fixed), [None])
    agree(pairs)


def test_nonsense_in_a_grid_is_refused_as_the_classifier_does():
    study = Study(brain(), METHODS["svdm"](sizes=[2], shrinkage=[1.0, -1.0]))
    with pytest.raises(ValueError, match=r"shrinkage: found -1.*svdm, simulated"):
        study.run()


# --- the batch of svdm itself: coefficients over the training rows, candidates of each fold


def batch_of(model, X, y, **more):
    solving = check_solving(model, len(X))
    return Batch(SharedGram(X), y, X.shape[1], solving, model.scale, (model.readout,), **more)


@pytest.mark.parametrize("formulation", ["balanced", "penalized", "constrained", "boxed", "svm"])
@pytest.mark.parametrize("readout", ["joint", "least_squares"])
@pytest.mark.parametrize("scale", [True, False])
def test_dual_times_centered_rows_is_the_map(formulation, readout, scale):
    data = brain(3)
    X, y = data.X + 7.0, data.y  # a mean to get rid of
    train, test = np.arange(30)[::-1], np.arange(30, 45)
    model = SVDMClassifier(
        2, formulation=formulation, readout=readout, scale=scale, stopping="decrease", tol=1e-12, max_iter=30
    )
    (cell,) = run_batch(batch_of(model, X, y, with_dual=True), [(train, test)], [check_weights(model)])
    expected = model.fit(X[train], y[train]).coef_
    assert cell.dual.shape == (3, 30)
    np.testing.assert_allclose(cell.dual.sum(axis=1), 0, atol=1e-12 * np.abs(cell.dual).max())
    found = cell.dual @ (X[train] - X[train].mean(axis=0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(cell.dual @ X[train], found, rtol=0, atol=1e-9 * np.abs(found).max())


def test_without_being_asked_there_is_no_dual():
    data, model = brain(2), SVDMClassifier(1)
    (cell,) = run_batch(
        batch_of(model, data.X, data.y), [(np.arange(30), np.arange(30, 45))], [check_weights(model)]
    )
    assert cell.dual is None


def test_candidates_of_each_fold():
    data, model = brain(3), SVDMClassifier(2)
    folds = [(np.arange(30), np.arange(30, 45)), (np.arange(15, 45), np.arange(15))]
    weights = [replace(check_weights(model), n_components=l) for l in (1, 2, 3)]
    batch = batch_of(model, data.X, data.y, start_size=3)
    own = list(run_batch(batch, folds, [[weights[0]], weights[1:]]))
    every = {(c.fold, c.candidate): c for c in run_batch(batch, folds, weights)}
    assert [(c.fold, c.candidate) for c in own] == [(0, 0), (1, 0), (1, 1)]
    for cell, place in zip(own, [(0, 0), (1, 1), (1, 2)], strict=True):
        np.testing.assert_array_equal(cell.scores["joint"], every[place].scores["joint"])
    with pytest.raises(ValueError, match="candidates: found lists for 1 folds, expected one for each of 2"):
        list(run_batch(batch, folds, [weights]))
