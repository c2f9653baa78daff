"""What an engine tells of one split: predictions, scores, what was chosen, how the fit went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from svdecode._checks import FloatArray
from svdecode.svdm.labels import Labels

CHOSEN = -1
"""Stands for a number of components that is chosen inside, among those reported."""


@dataclass(frozen=True)
class Outcome:
    """One fit of a method on the training rows of a split.

    Attributes
    ----------
    size : int or None
        Number of components; `CHOSEN` where it was chosen inside.
    classes : array of shape (k,)
        Which class each column of `scores` is for.
    predictions : array of shape (n_test,) or (n_test, n_labels)
        Of the test rows.
    scores : array of shape (n_test, k) or (n_test,), or None
        Of the same.
    chosen : dict
        Parameters chosen inside.
    inner : float
        Mean inner accuracy of what was chosen; NaN where nothing was to choose.
    seconds : float
        For choosing and fitting, the share of this size.
    stationarity, converged
        As in `Cell`.
    dual : array of shape (k, n_train) or None
        As in `Cell`.
    coef : array of shape (k, m) or None
        The weights themselves, of the columns that the method was given, where `dual` is still to be found.
    """

    size: int | None
    classes: Labels
    predictions: Labels
    scores: FloatArray | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    inner: float = float("nan")
    seconds: float = float("nan")
    stationarity: float = float("nan")
    converged: bool | None = None
    dual: FloatArray | None = None
    coef: FloatArray | None = None
