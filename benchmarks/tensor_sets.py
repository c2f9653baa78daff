"""Sets with two views and more, cut into training and test samples: kernels a view, nothing shared.

Kernels come centered and scaled by the training samples to a mean diagonal of 1, so that C = 1, LIBSVM's
default that the paper takes, means the same for each view. Everything that is learned (vocabularies,
means, spreads) is learned on training samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from svdecode.tensor import VisualWords

Array = np.ndarray
N_FOLDS = 10

#: the nine of the 81 conditions that no human hand made; "figurine", "road" and the like are made
NATURAL = ("cliff", "cloud", "grass", "mountain", "plant", "rock", "sand", "sea", "tree")


@dataclass(frozen=True)
class Split:
    """Training and test samples. `test[v]` is None where the test samples lack view v."""

    unit: str  # whose accuracy is one number of a table: a subject, a repetition
    train: list[Array]
    test: list[Array | None]
    y_train: Array
    y_test: Array


def load(name: str) -> dict[str, Array]:
    """Arrays of a file in $SVDECODE_DATA."""
    path = Path(os.environ.get("SVDECODE_DATA", "")) / f"{name}.npz"
    if "SVDECODE_DATA" not in os.environ or not path.exists():
        raise FileNotFoundError(f"{name}: no {name}.npz in the folder that SVDECODE_DATA names")
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def scaled(K: Array, cross: Array | None) -> tuple[Array, Array | None]:
    """Kernels about the training mean, in units of the training samples' mean squared length."""
    rows, mean = K.mean(axis=0), K.mean()
    centered = K - rows - rows[:, None] + mean
    size = float(centered.diagonal().mean()) or 1.0
    if cross is None:
        return centered / size, None
    return centered / size, (cross - rows - cross.mean(axis=1, keepdims=True) + mean) / size


def linear(train: Array, test: Array | None) -> tuple[Array, Array | None]:
    """Linear kernels of a view, scaled."""
    return scaled(train @ train.T, None if test is None else test @ train.T)


def standardized(train: Array, test: Array | None) -> tuple[Array, Array | None]:
    """As `linear`, of columns with the training samples' mean and spread taken out."""
    mean, spread = train.mean(axis=0), train.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return linear((train - mean) / spread, None if test is None else (test - mean) / spread)


def kriegeskorte92(picture: str) -> Iterator[Split]:
    """Human IT and the pictures: animate against inanimate, a new subject sees new pictures.

    The set has a brain kernel within each subject only. Trained on the mean kernel of three subjects over
    nine tenths of the 92 pictures, tested on the fourth one's own kernel between the other pictures and
    those: neither subject nor picture is on both sides.
    """
    data = load("kriegeskorte92")
    brain = 1.0 - data["brain_rdm"].astype(np.float64).mean(axis=1)  # over the two sessions
    y = data["category_vectors"][:, list(data["category_labels"]).index("animate")].astype(int)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(y, y))
    for subject in range(len(brain)):
        others = np.delete(brain, subject, axis=0).mean(axis=0)
        for number, (train, test) in enumerate(folds):
            K, cross = scaled(others[np.ix_(train, train)], brain[subject][np.ix_(test, train)])
            seen, new = picture_kernels(picture, number, tuple(train), tuple(test))
            yield Split(f"subject {subject + 1}", [K, seen], [cross, new], y[train], y[test])


@cache
def picture_kernels(
    picture: str, number: int, train: tuple[int, ...], test: tuple[int, ...]
) -> tuple[Array, Array]:
    """Kernels of the pictures: SIFT words whose vocabulary the training pictures make, or pixels."""
    images = load("kriegeskorte92")["images"]
    if picture == "pixels":
        values = images.reshape(len(images), -1) / 255.0
        return linear(values[list(train)], values[list(test)])
    words = VisualWords(100, random_state=number)
    seen = words.fit_transform(images[list(train)])
    return linear(seen, words.transform(images[list(test)]))


OBJECT_VIEWS = {"brain": "X", "AlexNet": "X_alexnet", "word2vec": "X_word2vec"}


def objects81(*views: str) -> Iterator[Split]:
    """One subject, 81 objects: natural (`NATURAL`, nine of them) against man-made; 10 times threefold."""
    data = load("objects81")
    values = [data[OBJECT_VIEWS[view]].astype(np.float64) for view in views]
    y = np.isin(data["conds"], NATURAL).astype(int)
    assert y.sum() == len(NATURAL)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=10, random_state=0)
    for number, (train, test) in enumerate(folds.split(y, y)):
        kernels = [standardized(X[train], X[test]) for X in values]
        yield Split(
            f"repetition {number // 3 + 1}",
            [K for K, _ in kernels],
            [cross for _, cross in kernels],
            y[train],
            y[test],
        )


def breast_tcga() -> Split:
    """Three kinds of tumor by mRNA, miRNA and protein; the test samples have no proteins."""
    train, test = load("breast_tcga_train"), load("breast_tcga_test")
    kernels = [
        standardized(train[v].astype(np.float64), test[v].astype(np.float64) if v in test else None)
        for v in ("mrna", "mirna", "protein")
    ]
    return Split("test set", [K for K, _ in kernels], [c for _, c in kernels], train["y"], test["y"])
