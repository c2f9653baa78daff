"""Where a convex model is trusted: the share α of each entry, and how α follows from what was gained."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Factors

ENOUGH = 0.1  # share of the decrease that was predicted, from which a step is taken
WELL = 0.75  # and from which the region grows
SHRINK, GROW = 0.25, 2.0


class Bounds(NamedTuple):
    """Lower and upper bounds of the entries of Z, (n, l), and of [W Θ], (l, r + k)."""

    z_low: FloatArray
    z_high: FloatArray
    v_low: FloatArray
    v_high: FloatArray


def bounds_around(factors: Factors, alpha: float, floor: float = 0.0) -> Bounds:
    """Bounds (1 ± α)x of each entry (Xi 2007, (15) and (19)).

    Parameters
    ----------
    factors : Factors
        The last iterate.
    alpha : float
        Half of the width, relative to the entry.
    floor : float
        Least size that an entry counts as, relative to the root mean square of its block (Z, W or Θ).
        With 0, as published, an entry that is 0 stays 0, and with α < 1 none changes its sign.

    Returns
    -------
    Bounds
        Of Z and [W Θ].
    """
    widths = [alpha * _sizes(block, floor) for block in (factors.Z, factors.W, factors.Theta)]
    V, v_width = np.hstack([factors.W, factors.Theta]), np.hstack(widths[1:])
    return Bounds(factors.Z - widths[0], factors.Z + widths[0], V - v_width, V + v_width)


def _sizes(block: FloatArray, floor: float) -> FloatArray:
    return np.asarray(np.maximum(np.abs(block), floor * np.sqrt(np.mean(block**2))))


def judge(alpha: float, ratio: float, limit: float) -> tuple[bool, float]:
    """Whether to take a step, and the α that comes next.

    Parameters
    ----------
    alpha : float
        Of the region in which the model was solved.
    ratio : float
        Decrease of the true objective over the decrease that the model predicted.
    limit : float
        Largest α.

    Returns
    -------
    taken : bool
        Whether the true objective fell by a fair share of what was predicted.
    alpha : float
        Smaller after a step that was not taken, larger after one that did what was predicted.
    """
    if not ratio >= ENOUGH:  # NaN is no gain
        return False, SHRINK * alpha
    return True, min(GROW * alpha, limit) if ratio >= WELL else alpha
