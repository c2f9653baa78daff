"""Projections chosen by a LASSO on the labels, not necessarily consecutive ones (the paper's section 5.3)."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.model_selection import StratifiedKFold

from svdecode._checks import FloatArray, IntArray

N_FOLDS = 5


def chosen_by_lasso(features: FloatArray, signs: FloatArray) -> IntArray:
    """Features that a LASSO on the labels keeps.

        min (1/2n) ‖c − b − F w‖² + λ ‖w‖₁,    F with columns of unit variance, λ by cross-validation

    Parameters
    ----------
    features : array of shape (n, T)
        A column a projection.
    signs : array of shape (n,)
        Labels c in {−1, 1}.

    Returns
    -------
    array of int
        The columns with w ≠ 0, ascending; the one that goes best with the labels where there is none.
    """
    centered = features - features.mean(axis=0)
    scale = np.sqrt((centered**2).mean(axis=0))
    usable = scale > 1e-12 * scale.max(initial=0.0)
    if not usable.any():
        return np.arange(min(1, features.shape[1]))
    F = np.where(usable, centered / np.where(usable, scale, 1.0), 0.0)
    fits = np.abs(F.T @ signs)
    folds = min(N_FOLDS, int((signs > 0).sum()), int((signs < 0).sum()))
    if folds < 2:
        return np.array([int(fits.argmax())], dtype=np.intp)
    splits = list(StratifiedKFold(folds).split(F, signs))
    with warnings.catch_warnings():  # a λ at the small end that does not converge is not chosen for that
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights = LassoCV(cv=splits, max_iter=5000).fit(F, signs).coef_
    chosen = np.flatnonzero(weights)
    return chosen if chosen.size else np.array([int(fits.argmax())], dtype=np.intp)
