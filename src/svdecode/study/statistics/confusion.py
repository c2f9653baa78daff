"""Which classes are taken for which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from svdecode._checks import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of true and predicted classes.

    Attributes
    ----------
    classes : array of shape (k,)
        The classes, in the order of rows and columns.
    counts : array of int of shape (k, k)
        How many samples of the row's class were taken for the column's.

    Examples
    --------
    >>> from svdecode.study.statistics import confusion
    >>> found = confusion(["cat", "cat", "face"], ["cat", "face", "face"])
    >>> found.counts.tolist(), round(found.accuracy, 3), found.balanced_accuracy
    ([[1, 1], [0, 1]], 0.667, 0.75)
    """

    classes: npt.NDArray[Any]
    counts: IntArray

    @property
    def accuracy(self) -> float:
        """Share of all samples that are predicted rightly."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def rates(self) -> FloatArray:
        """Shares of each true class; NaN for a class without samples."""
        totals = self.counts.sum(axis=1, keepdims=True)
        rates: FloatArray = np.divide(
            self.counts, totals, out=np.full(self.counts.shape, np.nan), where=totals > 0
        )
        return rates

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the share that is predicted rightly: chance is 1 / k always."""
        return float(np.nanmean(np.diag(self.rates)))

    def to_frame(self) -> pd.DataFrame:
        """Return the counts as a table.

        Returns
        -------
        pandas.DataFrame
            A row a true class, a column a predicted one.
        """
        import pandas as pd

        names = pd.Index(self.classes, name="truth"), pd.Index(self.classes, name="prediction")
        return pd.DataFrame(self.counts, index=names[0], columns=names[1])

    def __add__(self, other: Confusion) -> Confusion:
        """The counts of both, for adding up folds."""
        if not np.array_equal(self.classes, other.classes):
            raise ValueError(
                f"classes: found {list(self.classes)} and {list(other.classes)}, expected the same classes"
            )
        return Confusion(self.classes, self.counts + other.counts)

    def __str__(self) -> str:
        return (
            f"{self.counts.sum()} samples of {len(self.classes)} classes, accuracy {self.accuracy:.3f}, "
            f"balanced {self.balanced_accuracy:.3f}"
        )


def confusion(truth: Any, predictions: Any, *, classes: Any = None) -> Confusion:
    """Count which classes are taken for which.

    Parameters
    ----------
    truth, predictions : array of shape (n_samples,)
        True and predicted labels.
    classes : array of shape (k,), optional
        The classes in the order wanted; by default all that occur, sorted.

    Returns
    -------
    Confusion
        The counts, with accuracies and a table.

    Examples
    --------
    >>> from svdecode.study.statistics import confusion
    >>> confusion([0, 0, 1, 1], [0, 1, 1, 1]).to_frame()
    prediction  0  1
    truth
    0           1  1
    1           0  2
    """
    true, predicted = np.asarray(truth), np.asarray(predictions)
    for name, labels in (("truth", true), ("predictions", predicted)):
        if labels.ndim != 1 or len(labels) == 0:
            raise ValueError(f"{name}: found an array of shape {labels.shape}, expected one label a sample")
    if len(true) != len(predicted):
        raise ValueError(
            f"predictions: found {len(predicted)} labels, expected {len(true)}, one for each of truth"
        )
    named = np.unique(np.concatenate([true, predicted])) if classes is None else np.asarray(classes)
    place = {label: i for i, label in enumerate(named.tolist())}
    if len(place) != len(named):
        raise ValueError(f"classes: found {named.tolist()}, expected each class once")
    counts = np.zeros((len(named), len(named)), dtype=np.intp)
    for name, labels in (("truth", true), ("predictions", predicted)):
        unknown = next((label for label in labels.tolist() if label not in place), None)
        if unknown is not None:
            raise ValueError(f"{name}: found the label {unknown!r}, expected one of {named.tolist()}")
    np.add.at(counts, ([place[t] for t in true.tolist()], [place[p] for p in predicted.tolist()]), 1)
    return Confusion(named, counts)
