"""Several tests at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from svdecode._checks import FloatArray, check_choice

METHODS = ("holm", "bonferroni", "fdr_bh", "fdr_by")


def adjust(p: Any, method: str = "holm") -> FloatArray:
    """Adjust p-values for there being several.

    Parameters
    ----------
    p : array
        The p-values, in any shape; all of them count as one family.
    method : {"holm", "bonferroni", "fdr_bh", "fdr_by"}, default "holm"
        What an adjusted value of at most α promises. "holm" and "bonferroni": no false positive at all
        with probability 1 − α, whatever the tests have to do with each other (Holm is never weaker).
        "fdr_bh" (Benjamini & Hochberg): at most a share α of the positives is false, on average, for
        tests that are independent or depend positively; "fdr_by" for any.

    Returns
    -------
    array
        Adjusted p-values, in the same shape.

    See Also
    --------
    permutation_test : Its maximum over dimensions needs no correction, and is stronger.

    Examples
    --------
    >>> from svdecode.study.statistics import adjust
    >>> adjust([0.01, 0.04, 0.03, 0.005]).round(3)
    array([0.03, 0.06, 0.06, 0.02])
    >>> adjust([0.01, 0.04, 0.03, 0.005], "fdr_bh").round(3)
    array([0.02, 0.04, 0.04, 0.02])
    """
    values = np.asarray(p, dtype=np.float64)
    check_choice(method, "method", METHODS)
    if values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        found = "no values" if values.size == 0 else "values that are not from 0 to 1"
        raise ValueError(f"p: found {found}, expected p-values")
    flat = values.ravel()
    m = len(flat)
    order = np.argsort(flat, kind="stable")
    rank = np.arange(1, m + 1)
    if method == "bonferroni":
        return np.minimum(values * m, 1.0)
    if method == "holm":
        ordered = np.maximum.accumulate(flat[order] * (m - rank + 1))
    else:
        factor = np.sum(1.0 / rank) if method == "fdr_by" else 1.0
        ordered = np.minimum.accumulate((flat[order] * m * factor / rank)[::-1])[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(ordered, 1.0)
    return adjusted.reshape(values.shape)
