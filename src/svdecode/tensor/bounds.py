"""How many projections: bounds on what a view loses outside its t leading directions (the paper's section 4).

With λ_1 ≥ λ_2 ≥ … the eigenvalues of the view's kernel matrix (centered by default) over n samples, λ^{>t}
the sum of all but the first t, and R the radius of a ball that holds the samples:

    "bound"                (1/n) λ^{>t} + 2 (1 + √t)/√n,  the kernel scaled to a mean diagonal of 1
    "theorem"              (1/n) λ^{>t} + (1 + √t)/√n · √((2/n) Σ κ(x_i, x_i)) + R² √((18/n) ln(2n/δ))
    "theorem_homogeneous"  the same with κ(x_i, x_i)² under the second root

"theorem" is Theorem 1 as the paper prints it, which changes with the unit of κ; Shawe-Taylor et al. 2005,
from whom it is quoted, have the square, which does not. The paper's simplified bound leaves the unit open;
ours is fixed by the mean diagonal. Each is smallest at some t: more projections no longer pay.
"""

from __future__ import annotations

import numpy as np

from svdecode._checks import FloatArray
from svdecode._threads import threads_for

#: what `n_projections` may ask a bound for
BOUNDS = ("bound", "theorem", "theorem_homogeneous")
#: values of a bound that differ by this share are equal: the smallest t counts
TIED = 1e-12


def spectrum(K: FloatArray, L: FloatArray) -> FloatArray:
    """Eigenvalues of K = L Lᵀ above zero, descending.

    Parameters
    ----------
    K : array of shape (n, n)
        Centered kernel matrix.
    L : array of shape (n, r)
        A factor of it: of low rank, it is the cheaper way.

    Returns
    -------
    array of shape (r,)
        The eigenvalues.
    """
    n, rank = L.shape
    if rank == 0:
        return np.zeros(0)
    is_low = 2 * rank <= n
    with threads_for(L.size if is_low else n * n):
        values = np.linalg.eigvalsh(L.T @ L if is_low else K)
    return np.asarray(np.maximum(values[::-1][:rank], 0.0))


def bound_curve(
    kind: str,
    eigenvalues: FloatArray,
    diagonal: FloatArray,
    *,
    failure_probability: float = 0.05,
    radius: float | None = None,
) -> FloatArray:
    """Values of a bound at t = 1, 2, …, rank.

    Parameters
    ----------
    kind : {"bound", "theorem", "theorem_homogeneous"}
        Which.
    eigenvalues : array of shape (r,)
        Of the kernel matrix, descending.
    diagonal : array of shape (n,)
        κ(x_i, x_i), of the same kernel matrix.
    failure_probability : float
        The theorem's δ.
    radius : float, optional
        The theorem's R; by default that of the samples, the largest √κ(x_i, x_i).

    Returns
    -------
    array of shape (r,)
        The bound; a single infinity where the rank is 0.
    """
    n, total = len(diagonal), float(diagonal.sum())
    if eigenvalues.size == 0 or not total > 0:
        return np.full(1, np.inf)
    t = np.arange(1, len(eigenvalues) + 1)
    # summed from the small end, so that the last values keep their digits
    left = np.append(np.cumsum(eigenvalues[:0:-1])[::-1], 0.0)
    if kind == "bound":
        return np.asarray(left / total + 2 * (1 + np.sqrt(t)) / np.sqrt(n))
    powers = diagonal**2 if kind == "theorem_homogeneous" else diagonal
    squared = float(diagonal.max()) if radius is None else radius**2
    certain = squared * np.sqrt(18 / n * np.log(2 * n / failure_probability))
    return np.asarray(left / n + (1 + np.sqrt(t)) / np.sqrt(n) * np.sqrt(2 / n * powers.sum()) + certain)


def smallest(curve: FloatArray) -> int:
    """Return the smallest t at which a bound is lowest."""
    lowest = curve.min()
    if not np.isfinite(lowest):
        return 1
    return int(np.flatnonzero(curve <= lowest * (1 + TIED))[0]) + 1
