"""Studies from plan to cells: what is in a name, seeds, workers, pairs and their votes, nonsense."""

import textwrap
from dataclasses import replace
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from study.studies import brain, counted, same_cells

from svdecode import Study, SVDMClassifier
from svdecode.imaging import Dataset
from svdecode.study import METHODS, Method, Split, Splits, class_pairs, leave_one_run_out, vote_by_fold
from svdecode.study.naming import identity


def both(path):
    """A method that is batched, one that knows rows alone, one that counts its fits."""
    return [
        METHODS["svdm"](sizes=[1, 2], shrinkage=(0.3, 0.1)),
        METHODS["svd_svm"](sizes=[2], C=(0.1, 1.0)),
        counted(path),
    ]


# --- what there is to compute


def test_cells_of_a_study(tmp_path):
    data = brain()
    study = Study(data, both(tmp_path / "fits"))
    assert len(study) == 5 * (2 + 1 + 1)
    assert len(set(study.keys())) == len(study)
    assert repr(study) == "Study(svdm, svd_svm, ridge: 20 cells of 1 data set)"
    chosen = Study(data, both(tmp_path / "fits"), choose_size=True)
    assert len(chosen) == 5 * (3 + 1 + 1)
    assert set(study.keys()) < set(chosen.keys())
    # what a cell depends on is in its name
    others = [
        Study(replace(data, X=data.X + 1e-9), both(tmp_path / "fits")),
        Study(data, both(tmp_path / "fits"), choice="one_standard_error"),
        Study(data, both(tmp_path / "fits"), n_inner=2),
        Study(data, both(tmp_path / "fits"), standardize="run"),
        Study(data, both(tmp_path / "fits"), "cycles", protocol_options={"n_cycles": 5}),
    ]
    for other in others:
        assert not set(study.keys()) & set(other.keys())


def test_seeds_are_for_methods_that_start_at_random():
    methods = {
        "svd": METHODS["svdm"](sizes=[1], shrinkage=0.1),
        "random": METHODS["svdm"](sizes=[1], shrinkage=0.1, init="random"),
        "fixed": METHODS["svdm"](sizes=[1], shrinkage=0.1, init="random", random_state=5),
    }
    data = brain()
    study = Study(data, methods, seeds=range(3))
    result = study.run()
    assert [group.seed for group in study.groups] == [None, 0, 1, 2, None]
    assert result.accuracy()["n_seeds"].tolist() == [1, 3, 1]
    assert result.accuracy()["n_samples"].tolist() == [45] * 3  # repeated predictions are no further samples
    for cell in result.cells("random"):
        split = next(s for s in leave_one_run_out(data) if s.name == cell.fold)
        model = SVDMClassifier(1, shrinkage=0.1, init="random", random_state=cell.seed)
        scores = model.fit(data.X[split.train], data.y[split.train]).decision_function(data.X[split.test])
        np.testing.assert_allclose(cell.scores, scores, rtol=0, atol=1e-4 * np.abs(scores).max())
    split = leave_one_run_out(data)[0]
    model = SVDMClassifier(1, shrinkage=0.1, init="random", random_state=5)
    scores = model.fit(data.X[split.train], data.y[split.train]).decision_function(data.X[split.test])
    cell = next(result.cells("fixed"))
    np.testing.assert_allclose(cell.scores, scores, rtol=0, atol=1e-4 * np.abs(scores).max())


def test_a_function_of_ones_own_is_a_protocol():
    def halves(dataset, first=20):
        rows = np.arange(dataset.n_samples)
        return Splits("halves", (Split(rows[:first], rows[first:], "second part"),), dataset.n_samples)

    study = Study(brain(), RidgeClassifier(), halves, protocol_options={"first": 30})
    table = study.run().table
    assert table["fold"].tolist() == ["second part"]
    assert table["n_test"].tolist() == [15]
    assert table["extra_protocol"].tolist() == ["halves"]


def test_what_makes_estimators_is_in_the_name():
    """A function that was changed computes anew; one that was not is found again."""
    namespace = {}

    def made(text):
        exec(textwrap.dedent(text), namespace)
        return namespace["make"]

    one = made("def make(alpha=1.0): return Ridge(alpha)")
    assert identity(one) == identity(made("def make(alpha=1.0): return Ridge(alpha)"))
    assert identity(one) != identity(made("def make(alpha=1.0): return Ridge(2 * alpha)"))
    assert identity(one) != identity(made("def make(alpha=2.0): return Ridge(alpha)"))
    assert identity(partial(RidgeClassifier, alpha=1.0)) != identity(partial(RidgeClassifier, alpha=2.0))
    assert identity(RidgeClassifier) == "sklearn.linear_model._ridge.RidgeClassifier"

    def enclosing(n):
        return lambda alpha: RidgeClassifier(alpha * n)

    assert identity(enclosing(1)) != identity(enclosing(2))
    assert identity(enclosing(1)) == identity(enclosing(1))
    keys = [Study(brain(), {"ridge": RidgeClassifier(alpha)}).keys() for alpha in (1.0, 2.0, 1.0)]
    assert keys[0] == keys[2]
    assert not set(keys[0]) & set(keys[1])


# --- workers


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
@pytest.mark.parametrize("standardize", [None, "training"])
def test_workers_and_backends_give_the_same_numbers(tmp_path, backend, standardize):
    data = brain()
    one = Study(data, both(tmp_path / "fits"), standardize=standardize, choose_size=True).run(n_jobs=1)
    with joblib.parallel_config(backend=backend):
        two = Study(data, both(tmp_path / "fits"), standardize=standardize, choose_size=True).run(n_jobs=2)
    same_cells(one, two)


def test_the_number_of_workers_can_come_from_joblib(tmp_path):
    data = brain()
    one = Study(data, both(tmp_path / "fits")).run()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        same_cells(one, Study(data, both(tmp_path / "fits")).run())


# --- several data sets, pairs of classes


def test_data_sets_with_voxels_of_their_own():
    data = {"one": brain(m=50, seed=1), "two": brain(m=70, n_runs=4, seed=2)}
    result = Study(data, [METHODS["svdm"](sizes=[2], shrinkage=0.1), RidgeClassifier()]).run()
    assert len(result.table) == 2 * (5 + 4)
    for name, own in data.items():
        alone = Study(own, METHODS["svdm"](sizes=[2], shrinkage=0.1)).run()
        ours = result.table.query("dataset == @name and method == 'svdm'")
        assert ours["accuracy"].tolist() == alone.table["accuracy"].tolist()
        assert ours["fold"].tolist() == alone.table["fold"].tolist()
        assert result.maps("svdm", dataset=name).coef.shape == (3, own.n_features)


@pytest.mark.parametrize("kind", ["svdm", "svd_svm"])
def test_pairs_of_classes_and_their_vote(kind):
    data = brain(3, signal=0.7)
    options = {"protocol": "leave_one_run_out", "test": "all"}
    method = METHODS[kind](sizes=[2], **{"svdm": {"shrinkage": 0.1}, "svd_svm": {"C": 1.0}}[kind])
    result = Study(data, method, "class_pairs", protocol_options=options).run()
    splits = class_pairs(data, **options)
    assert len(splits) == 5 * 3
    models = [method.estimator(2).fit(data.X[s.train], data.y[s.train]) for s in splits]
    said = [m.predict(data.X[s.test]) for m, s in zip(models, splits, strict=True)]
    scores = [m.decision_function(data.X[s.test]) for m, s in zip(models, splits, strict=True)]
    expected = np.empty(data.n_samples, dtype=data.y.dtype)
    for rows, labels in vote_by_fold(splits, said, scores).values():
        expected[rows] = labels
    voted = result.vote(kind).set_index("row").sort_index()
    np.testing.assert_array_equal(voted["prediction"], expected)
    assert voted["correct"].mean() == (expected == data.y).mean()
    # the accuracy of pairs counts samples of the pair alone, of which half are right by chance
    own = [
        (p == data.y[s.test])[np.isin(data.y[s.test], s.classes)] for p, s in zip(said, splits, strict=True)
    ]
    table = result.accuracy()
    assert table["accuracy"].item() == pytest.approx(np.concatenate(own).mean())
    assert table["chance"].item() == 0.5
    assert table["n_samples"].item() == 45
    assert result.table["accuracy"].tolist() == pytest.approx([part.mean() for part in own])
    assert result.maps(kind, classes=("cat", "house")).n_fits == 5
    with pytest.raises(ValueError, match="classes: found folds trained on different classes"):
        result.maps(kind)


def test_a_vote_asks_for_pairs():
    with pytest.raises(ValueError, match="protocol: found splits of all classes, expected class_pairs"):
        Study(brain(), {"ridge": RidgeClassifier()}).run().vote("ridge")


# --- nonsense


RIDGE = {"ridge": RidgeClassifier()}
TWICE = [RidgeClassifier(), RidgeClassifier(2.0)]
NONSENSE = {
    "an array": (lambda d: Study(d.X, RIDGE), "dataset: found ndarray, expected a Dataset"),
    "nothing": (lambda d: Study({}, RIDGE), "dataset: found none, expected a Dataset"),
    "a list of data": (lambda d: Study({"a": d, "b": 3}, RIDGE), "dataset: found int as 'b', expected a Dat"),
    "a number as a name": (lambda d: Study({1: d}, RIDGE), "dataset: found the name 1, expected names"),
    "data twice": (
        lambda d: Study({"a": d, "b": d}, RIDGE),
        "dataset: found the same data as 'a' and",
    ),
    "no method": (lambda d: Study(d, []), "methods: found none, expected at least one"),
    "unknown method": (lambda d: Study(d, "svmd"), "methods: found 'svmd', expected one of 'svdm', "),
    "one of several": (lambda d: Study(d, ["svdm", "knn"]), "methods: found 'knn', expected one of"),
    "a name twice": (lambda d: Study(d, ["ridge", "ridge"]), "methods: found 'ridge' twice, expected names"),
    "a class twice": (lambda d: Study(d, TWICE), "methods: found 'RidgeClassifier' twice.*a dict gives"),
    "a class": (lambda d: Study(d, [RidgeClassifier]), "methods: found <class .*, expected names, Methods"),
    "a regression": (lambda d: Study(d, LinearRegression()), "methods: found LinearRegression.*classifiers"),
    "a clustering": (lambda d: Study(d, KMeans()), "methods: found KMeans.*classifiers"),
    "a number": (lambda d: Study(d, 5), "methods: found 5, expected names, Methods or scikit-learn"),
    "no such parameter": (
        lambda d: Study(d, METHODS["svdm"](hinges=3)),
        "methods: found that 'svdm' makes no estimator .*hinges.*, expected parameters that it has",
    ),
    "no estimator": (
        lambda d: Study(d, Method("mine", dict)),
        "methods: found that 'mine' makes {}, expec",
    ),
    "unknown protocol": (
        lambda d: Study(d, RIDGE, "loo"),
        "protocol: found 'loo', expected one of '",
    ),
    "no splits": (
        lambda d: Study(d, RIDGE, lambda d: []),
        "protocol: found that it made a list, exp",
    ),
    "other data's splits": (
        lambda d: Study(d, RIDGE, lambda _: leave_one_run_out(d.select(slice(30)))),
        "protocol: found splits of 30 samples, expected those of the 45",
    ),
    "names twice": (
        lambda d: Study(d, RIDGE, lambda d: Splits("s", (Split([0, 1], [2], "a"),) * 2, 45)),
        "protocol: found 2 splits called 'a', expected splits with names that differ",
    ),
    "no option": (
        lambda d: Study(d, RIDGE, "whole_runs", protocol_options={"runs": 3}),
        "protocol_options: found {'runs': 3} .*, expected its keywords",
    ),
    "unknown choice": (
        lambda d: Study(d, RIDGE, choice="worst"),
        "choice: found 'worst', expected one of",
    ),
    "unknown scale": (
        lambda d: Study(d, RIDGE, standardize="all"),
        "standardize: found 'all', expected",
    ),
    "a torn run": (
        lambda d: Study(d, RIDGE, "leave_one_sample_out", standardize="run"),
        "standardize: found 'run' where run 1 is trained on and tested",
    ),
    "no subjects": (lambda d: Study(d, RIDGE, standardize="subject"), "subjects: found None"),
    "one inner fold": (lambda d: Study(d, RIDGE, n_inner=1), "n_inner: found 1, expected"),
    "no seed": (lambda d: Study(d, RIDGE, seeds=[]), "seeds: found none, expected at least one"),
    "a single seed": (lambda d: Study(d, RIDGE, seeds=3), r"seeds: found 3, expected .*range\(10\)"),
    "a seed twice": (lambda d: Study(d, RIDGE, seeds=[1, 1]), "seeds: found .* one of them twice"),
    "half a seed": (lambda d: Study(d, RIDGE, seeds=[0.5]), "seeds: found 0.5"),
    "minus one": (lambda d: Study(d, RIDGE, n_permutations=-1), "n_permutations: found -1"),
    "maybe": (lambda d: Study(d, RIDGE, choose_size="maybe"), "choose_size: found 'maybe'"),
    "pairs permuted": (
        lambda d: Study(d, RIDGE, "class_pairs", n_permutations=5),
        "n_permutations: found splits of pairs of classes",
    ),
    "runs of one class": (
        lambda d: Study(replace(d, runs=d.y), RIDGE, "leave_one_sample_out", n_permutations=5),
        "runs: found one class only in run cat",
    ),
    "a path": (lambda d: Study(d, RIDGE).run("/no/such/folder/study.sqlite"), "store|path"),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_is_refused_in_words(what):
    make, message = NONSENSE[what]
    error = (ValueError, OSError) if what == "a path" else ValueError
    with pytest.raises(error, match=message):
        make(brain())


def test_a_list_is_no_single_method():
    assert [m.name for m in Study(brain(), ["svdm", METHODS["ridge"](), LogisticRegression()]).methods] == [
        "svdm", "ridge", "LogisticRegression",
    ]  # fmt: skip
    assert Study(Dataset(brain().X, brain().y, runs=brain().runs), "ridge").data[0].name == "data"
