"""Small data for studies, and the plain loops over scikit-learn's objects that a study has to equal."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

from svdecode.imaging import Dataset
from svdecode.study import Method, inner_splits

#: fits that end so near to a stationary point end at the same one by the Gram matrix and by the data
EXACT = {"tol": 1e-8, "max_iter": 3000}


def brain(n_classes=3, n_runs=5, per_run=9, m=60, signal=1.0, seed=0, subjects=None):
    """Runs with an offset, classes with patterns, more features than samples."""
    rng = np.random.default_rng(seed)
    n = n_runs * per_run
    codes = np.tile(np.arange(per_run) % n_classes, n_runs)
    runs = np.repeat(np.arange(n_runs), per_run) + 1
    X = signal * rng.standard_normal((n_classes, m))[codes] + 2 * rng.standard_normal((n, m))
    X += rng.standard_normal((n_runs, m))[runs - 1]
    return Dataset(
        X, np.array(["cat", "face", "house", "shoe"])[codes], runs=runs, subjects=subjects, name="simulated"
    )


def haxby2011(subject=1):
    """One subject of Haxby et al. 2011, where the data are; else the test is skipped."""
    path = Path(os.environ.get("SVDECODE_DATA", "")) / "haxby2011.npz"
    if not path.is_file():
        pytest.skip("no haxby2011.npz in $SVDECODE_DATA")
    found = np.load(path)
    own = found["subject"] == subject
    return Dataset(found["X"][own].astype(float), found["y"][own], runs=found["run"][own], name="haxby2011")


def by_hand(X, y, outer, candidates, make, inner):
    """Nested cross-validation as one writes it: for each split what is chosen, predicted and scored.

    `make` gives an estimator, `inner` the folds of a split's training rows; of equal means the first.
    """
    out = []
    for split in outer:
        folds = list(inner(split))
        means = [
            np.mean([make(**c).fit(X[f.train], y[f.train]).score(X[f.test], y[f.test]) for f in folds])
            for c in candidates
        ]
        best = int(np.argmax(np.array(means) >= max(means) - 1e-9))
        model = make(**candidates[best]).fit(X[split.train], y[split.train])
        out.append((candidates[best], model.predict(X[split.test]), model.decision_function(X[split.test])))
    return out


def inner_of(dataset, splits, **options):
    """Inner folds of a split, as a study takes them."""
    return lambda split: inner_splits(dataset, split.train, splits, **options)


class Counted(RidgeClassifier):
    """Writes a line into a file for each fit, in whatever process it is."""

    def __init__(self, alpha=1.0, path=None):
        super().__init__(alpha=alpha)
        self.path = path

    def fit(self, X, y):
        time.sleep(float(os.environ.get("SECONDS_A_FIT", "0")))
        with Path(self.path).open("a") as file:
            file.write(f"{len(X)}\n")
        return super().fit(X, y)


def counted(path, alphas=(100.0, 1.0)):
    """A method that counts."""
    return Method("ridge", Counted, {"alpha": alphas}, fixed={"path": str(path)})


def fits(path):
    """How many fits were counted."""
    return len(Path(path).read_text().splitlines()) if Path(path).exists() else 0


def same_cells(one, other, *, atol=0.0):
    """Two results agree in every cell: keys, predictions, scores, what was chosen."""
    pairs = list(zip(one.cells(dual=True), other.cells(dual=True), strict=True))
    assert pairs
    for a, b in pairs:
        assert a.key == b.key
        assert (a.fold, a.method, a.n_components, a.seed) == (b.fold, b.method, b.n_components, b.seed)
        assert a.chosen == b.chosen
        np.testing.assert_array_equal(a.predictions, b.predictions)
        assert a.accuracy == b.accuracy
        for name in ("scores", "dual"):
            x, z = getattr(a, name), getattr(b, name)
            assert (x is None) == (z is None)
            if x is not None:
                np.testing.assert_allclose(x, z, rtol=0, atol=atol)
