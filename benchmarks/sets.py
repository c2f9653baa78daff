"""The real sets that the benchmarks measure on, standardized in ways that never look at a label.

What can be done within the unit that is left out (run, subject) is done here, once: it uses no sample of
another unit, so nothing leaks from training to test. What is estimated across units, the centers and
spreads of genes, must come from training rows alone: `by_training_rows` gives the step that a fold fits.

Sets that do not come with the package are looked for in $SVDECODE_DATA; `found` skips those that are
absent and prints why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from svdecode import datasets
from svdecode.imaging import Dataset
from svdecode.study import standardize


def haxby2011() -> Dataset:
    """Seven subjects, each voxel z-scored within subject and run. Select a subject: voxels do not correspond.

    A run shows each of the seven categories once, so its mean and spread know nothing of the labels.
    """
    return standardize(datasets.load("haxby2011"), by="run")


def subjects(data: Dataset) -> Iterator[tuple[int, Dataset]]:
    """Each subject's samples, with its number."""
    for subject in np.unique(data.subjects):
        yield int(subject), data.select(data.subjects == subject)


def haxby2001_slice() -> Dataset:
    """Block means of the embedded set (each run's linear trend removed), z-scored by voxel within run."""
    return standardize(datasets.load_haxby2001_slice(), by="run")


def woo2014_contrasts(by: str = "subject") -> Dataset:
    """Thirty subjects with one image a condition, to be left out subject by subject.

    "subject": the mean of a subject's four images is subtracted from each, and all four are divided by one
    number, their root mean square. Each subject has each condition once, so this knows no label; it does
    need all four images of a new subject. It is not a z-score: four values tell no voxel's spread. Pairs
    of conditions are selected afterwards: centered as a pair the two images would be each other's negative.

    "image": each image by its own mean and spread over voxels, as it can be done for a single new image.
    """
    data = datasets.load("woo2014_contrasts")
    X = np.array(data.X, dtype=np.float64)
    if by == "image":
        return replace(data, X=StandardScaler().fit_transform(X.T).T)
    if by != "subject":
        raise ValueError(f"by: found {by!r}, expected 'subject' or 'image'")
    for subject in np.unique(data.subjects):
        rows = data.subjects == subject
        X[rows] -= X[rows].mean(axis=0)
        X[rows] /= np.sqrt((X[rows] ** 2).mean())
    return replace(data, X=X)


def srbct() -> Dataset:
    """Gene expression of four kinds of tumor, as in the file: see `by_training_rows`."""
    return datasets.load("srbct")


def colon() -> Dataset:
    """Gene expression of normal and tumor tissue, as in the file: see `by_training_rows`."""
    return datasets.load("colon")


LOADERS: dict[str, Callable[[], Dataset]] = {
    f.__name__: f for f in (haxby2011, haxby2001_slice, woo2014_contrasts, srbct, colon)
}


def by_training_rows(name: str) -> Pipeline:
    """What a fold fits on its training rows: logarithm and z-score for genes, nothing for the images."""
    if name in ("srbct", "colon"):
        return make_pipeline(FunctionTransformer(np.log), StandardScaler())
    return make_pipeline(FunctionTransformer())


def found(*names: str) -> Iterator[Dataset]:
    """Sets of these names, by default all; of one that is absent print the reason."""
    for name in names or LOADERS:
        try:
            data = LOADERS[name]()
        except FileNotFoundError as error:
            print(f"skipped: {error}")
        else:
            yield data
