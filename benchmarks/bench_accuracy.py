"""Is it worth using? Accuracy of every formulation and read-out beside what one would do otherwise.

On each real set, at l = 2 … 20 components: SVDM in every formulation and with every read-out, PCA + linear
SVM, PLS-DA, and ridge and linear SVM on all features. What can be tuned is tuned on inner folds of the
training rows alone, by the same splits for all: the weight at each l ("l" columns), or weight and l
together ("cv"). Test rows never take part, nor in the standardization of genes.

    SVDECODE_DATA=... python benchmarks/bench_accuracy.py --out FILE.csv [--sets …] [--variants …]
    python benchmarks/bench_accuracy.py --table FILE.csv          # the tables of results that are there

A set whose results are in FILE is not computed again. The standard error of a difference is paired, over
the units that a set is cut into: subjects (haxby2011), runs (the slice), groups of three subjects
(woo2014), or folds (genes; these share training samples, so that theirs are too small).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sets
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from svdecode.reduction import SharedGram
from svdecode.study import PLSDA, LinearSVM, OverallScale, SingularComponents, linear_svm, ridge
from svdecode.svdm.batch import Batch, run_batch
from svdecode.svdm.fitting import Solving, Weights
from svdecode.svdm.labels import decide

COMPONENTS = (2, 4, 6, 8, 10, 15, 20)
N_INNER = 4  # parts into which the training units are cut
READOUTS = ("joint", "refit", "least_squares")
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
Key = tuple[str, int, float]  # method, components, weight


@dataclass(frozen=True)
class Variant:
    """A formulation as it is fitted here; weights are shrinkages, or multiples of m/k for the hinge."""

    formulation: str
    stopping: str = "stationary"
    tol: float = 1e-3  # of what is tuned and compared: more digits change no label
    fixed: dict[str, Any] = field(default_factory=dict)
    components: tuple[int, ...] = COMPONENTS
    strengths: tuple[float, ...] = STRENGTHS

    def candidates(self, m: int, k: int) -> list[tuple[float, Weights]]:
        """Each strength and dimension as weights of the objective."""
        on_hinge = self.formulation in ("constrained", "boxed", "svm")
        out = []
        for l in self.components:
            for strength in self.strengths:
                shrinkage, hinge = (1.0, strength * m / k) if on_hinge else (strength, 1.0)
                values = {"margin": 1.0, "reconstruction_weight": 1.0, "ridge": 0.0, "basis_norm": "unit"}
                weights = Weights(self.formulation, l, shrinkage, hinge, **(values | self.fixed))
                out.append((strength, weights))
        return out

    def solving(self) -> Solving:
        """The papers' way, or ours."""
        if self.stopping == "decrease":
            return Solving("alternating", "decrease", self.tol, 1000, rebalance=False, init="svd", n_init=1)
        return Solving("splitting", "stationary", self.tol, 60, rebalance=True, init="svd", n_init=1)


def _balanced(weight: float) -> Variant:
    return Variant("balanced", fixed={"reconstruction_weight": weight})


VARIANTS = {
    "balanced a=1": _balanced(1.0),
    "balanced a=.3": _balanced(0.3),
    "balanced a=.1": _balanced(0.1),
    "penalized": Variant("penalized", components=(4, 8, 15), strengths=(0.03, 0.1, 0.3)),
    "penalized, paper's stop": Variant("penalized", "decrease", 1e-3),
    "constrained, paper's stop": Variant("constrained", "decrease", 1e-3),
    "boxed, paper's stop": Variant("boxed", "decrease", 1e-4, strengths=(0.01, 0.1, 1.0)),
    "svm, paper's stop": Variant("svm", "decrease", 1e-4, strengths=(0.01, 0.1, 1.0)),
}


@dataclass(frozen=True)
class Task:
    """Samples to decode; `folds` are left out one at a time, accuracies averaged over `units`."""

    name: str
    X: np.ndarray
    y: np.ndarray
    folds: np.ndarray
    units: np.ndarray
    step: str = ""


def tasks(wanted: list[str]) -> Iterator[tuple[str, list[Task]]]:
    """Each set's name and its tasks."""
    for name in wanted:
        source = name.split(" ")[0]
        for data in sets.found(source):
            yield name, list(_tasks_of(name, data))


def _tasks_of(name: str, data: Any) -> Iterator[Task]:
    y = np.asarray(data.y)
    if name.startswith("haxby2011"):
        for subject, one in sets.subjects(data):
            labels = np.asarray(one.y)
            unit = np.full(len(labels), subject)
            if name == "haxby2011":
                yield Task(name, one.X, labels, one.runs, unit)
            for keep, given in _haxby_choices(name, labels):
                yield Task(name, one.X[keep], given, one.runs[keep], unit[keep])
    elif name.startswith("haxby2001"):
        known = np.array([str(label) != "rest" for label in y])
        runs = np.asarray(data.runs)[known]
        yield Task(name, data.X[known], y[known], runs, runs)
    elif name.startswith("woo2014"):
        groups = np.unique(data.subjects, return_inverse=True)[1] % 10
        pairs = [np.unique(y)] if name == "woo2014_contrasts" else list(combinations(np.unique(y), 2))
        for pair in pairs:
            keep = np.isin(y, pair)
            yield Task(name, data.X[keep], y[keep], groups[keep], groups[keep])
    else:
        for repeat in range(2):
            folds = np.zeros(len(y), dtype=int)
            split = StratifiedKFold(8, shuffle=True, random_state=repeat).split(folds, y)
            for number, (_, test) in enumerate(split):
                folds[test] = number
            yield Task(name, np.asarray(data.X, dtype=float), y, folds, folds + 8 * repeat, source_of(name))


def source_of(name: str) -> str:
    """Whose standardization a fold fits."""
    return name.split(" ")[0]


def _haxby_choices(name: str, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Human (1, 2) against animal faces (3, 7); pairs of categories that are neighbors in the confusions."""
    if name == "haxby2011 faces":
        keep = np.isin(y, (1, 2, 3, 7))
        yield keep, np.isin(y[keep], (3, 7)).astype(int)
    if name == "haxby2011 pairs":
        for pair in ((1, 2), (3, 7), (5, 6), (2, 3), (4, 5)):
            keep = np.isin(y, pair)
            yield keep, y[keep]


SETS = (
    "haxby2011", "haxby2011 faces", "haxby2011 pairs", "haxby2001_slice", "woo2014_contrasts",
    "woo2014_contrasts pairs", "srbct", "colon",
)  # fmt: skip


def svdm(
    variants: dict[str, Variant], shared: SharedGram, y: np.ndarray, m: int, folds: list[Any]
) -> list[dict[Key, np.ndarray]]:
    """Predicted labels of each fold's test rows, by method, components and weight."""
    out: list[dict[Key, np.ndarray]] = [{} for _ in folds]
    k = len(np.unique(y)) if len(np.unique(y)) > 2 else 1
    for name, variant in variants.items():
        strengths, candidates = zip(*variant.candidates(m, k), strict=True)
        batch = Batch(shared, y, m, variant.solving(), readouts=READOUTS)
        for cell in run_batch(batch, folds, candidates, n_jobs=1):
            l, strength = candidates[cell.candidate].n_components, strengths[cell.candidate]
            for readout, scores in cell.scores.items():
                out[cell.fold][f"{name} | {readout}", l, strength] = decide(
                    scores, cell.targets.classes, multilabel=False
                )
    return out


def peers(shared: SharedGram, y: np.ndarray, folds: list[Any]) -> list[dict[Key, np.ndarray]]:
    """What one would do otherwise, in reduced coordinates (all of these depend on inner products only)."""
    out = []
    for train, test in folds:
        reduction = shared.reduce(train)
        L, new = reduction.coordinates, reduction.transform_rows(test)
        scale = OverallScale().fit(L)
        Z, new_Z = scale.transform(L), scale.transform(new)
        svd = SingularComponents(max(COMPONENTS)).fit(Z)
        low, low_new = svd.transform(Z), svd.transform(new_Z)
        labels = y[train]
        by_pls = PLSDA(max(COMPONENTS)).fit(Z, labels).predict_by_size(new_Z, COMPONENTS)
        found: dict[Key, np.ndarray] = {}
        for l in COMPONENTS:
            found["PLS-DA", l, 0.0] = by_pls[l]
            for c in (0.1, 1, 10, 100):
                found["PCA + SVM", l, c] = LinearSVM(c).fit(low[:, :l], labels).predict(low_new[:, :l])
        for c in (0.1, 1, 10, 100):
            found["SVM, all features", 0, c] = linear_svm(c).fit(L, labels).predict(new)
        for a in (0.01, 0.1, 1, 10):
            found["ridge, all features", 0, a] = ridge(a).fit(L, labels).predict(new)
        out.append(found)
    return out


def outer_fold(task: Task, left_out: Any, variants: dict[str, Variant]) -> list[dict[str, Any]]:
    """Tune on the other folds, in four parts, and score the one left out."""
    test = np.flatnonzero(task.folds == left_out)
    train = np.flatnonzero(task.folds != left_out)
    X = task.X
    if task.step:
        X = sets.by_training_rows(task.step).fit(X[train]).transform(X)
    shared, rest = SharedGram(X), np.unique(task.folds[train])
    parts = [rest[i::N_INNER] for i in range(N_INNER)]
    folds = [
        (train[~np.isin(task.folds[train], part)], train[np.isin(task.folds[train], part)]) for part in parts
    ]
    folds.append((train, test))
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        predictions = svdm(variants, shared, task.y, X.shape[1], folds)
        for fold, more in zip(predictions, peers(shared, task.y, folds), strict=True):
            fold.update(more)
    inner = {
        key: np.mean(
            [(p[key] == task.y[f[1]]).mean() for p, f in zip(predictions[:-1], folds[:-1], strict=True)]
        )
        for key in predictions[-1]
    }
    right = {key: float((p == task.y[test]).mean()) for key, p in predictions[-1].items()}
    return [
        {"set": task.name, "unit": str(task.units[test[0]]), "method": method, "l": l, "weight": key[2],
         "accuracy": right[key]}
        for method, l, key in _chosen(inner)
    ]  # fmt: skip


def _chosen(inner: dict[Key, float]) -> Iterator[tuple[str, str, Key]]:
    """The key that does best inside at each l, and over all l; of equals the first."""
    for method in dict.fromkeys(key[0] for key in inner):
        own = [key for key in inner if key[0] == method]
        for l in sorted({key[1] for key in own}):
            yield method, str(l), max((key for key in own if key[1] == l), key=lambda key: inner[key])
        yield method, "cv", max(own, key=lambda key: inner[key])


def by_unit(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy averaged over the folds of each unit, and the geometric mean of the weights chosen in them."""
    grouped = rows.groupby(["set", "unit", "method", "l"], sort=False)
    weight = grouped["weight"].agg(lambda w: float(np.exp(np.log(np.maximum(w, 1e-12)).mean())))
    return pd.DataFrame(
        {"accuracy": grouped["accuracy"].mean().round(6), "weight": weight.round(6)}
    ).reset_index()


def compute(wanted: list[str], variants: dict[str, Variant], out: Path, jobs: int) -> None:
    """Append the results of sets that are not in the file yet."""
    for name, todo in tasks(wanted):
        done = set() if not out.exists() else set(pd.read_csv(out).query("set == @name")["method"])
        missing = {key: v for key, v in variants.items() if f"{key} | joint" not in done}
        if not missing:
            continue
        work = [(task, fold) for task in todo for fold in np.unique(task.folds)]
        run: Callable[..., Any] = delayed(outer_fold)
        rows = Parallel(n_jobs=jobs, verbose=1)(run(task, fold, missing) for task, fold in work)
        table = pd.DataFrame([row for part in rows for row in part])
        table = by_unit(table[~table["method"].isin(done)])
        table.to_csv(out, mode="a", header=not out.exists(), index=False)
        print(f"{name}: done", flush=True)


def main() -> None:
    """Compute what is missing, then print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "accuracy.csv")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="only print what is there")
    given = parser.parse_args()
    if not given.table:
        compute(given.sets, {name: VARIANTS[name] for name in given.variants}, given.out, given.jobs)
    if given.out.exists():
        from accuracy_tables import show

        show(pd.read_csv(given.out))


if __name__ == "__main__":
    main()
