"""GenSVD beside one thin SVD of the same matrix, and beside the procedure as it is written.

The naive contender is the paper's section 2 on reduced data: one SVD of Q (n × n), then for each
sample an SVD of Q without it. Its own reduction is counted, as ours is.
"""

from __future__ import annotations

import numpy as np
from timing import race

from svdecode import GenSVD


def naive(X: np.ndarray) -> np.ndarray:
    """Re-estimated singular values by n leave-one-out SVDs of Q = ΛVᵀ."""
    V, s, _ = np.linalg.svd(X, full_matrices=False)
    Q = (V * s).T
    Z = np.empty_like(Q)
    for j in range(Q.shape[1]):
        B, size, _ = np.linalg.svd(np.delete(Q, j, axis=1), full_matrices=False)
        B = B[:, size > 1e-10 * size[0]]
        Z[:, j] = B @ (B.T @ Q[:, j])
    return np.sqrt((Z**2).sum(axis=1))


def naive_n_svds(X: np.ndarray) -> np.ndarray:
    """The same with n SVDs of the data matrix itself, for readers who would write that."""
    U = np.linalg.svd(X, full_matrices=False)[2]
    Z = np.empty((len(X), len(U)))
    for j in range(len(X)):
        B = np.linalg.svd(np.delete(X, j, axis=0), full_matrices=False)[2]
        Z[j] = U @ (B.T @ (B @ X[j]))
    return np.sqrt((Z**2).sum(axis=0))


def main(shapes: tuple[tuple[int, int], ...] = ((72, 25000), (84, 16000), (120, 27942))) -> None:
    """Print both ratios for each shape."""
    for n, m in shapes:
        X = np.random.default_rng(0).standard_normal((n, m))
        ours = GenSVD().fit(X).generalized_singular_values_
        difference = np.abs(ours - naive(X)).max() / ours.max()
        t = race(
            {
                "ours": lambda X=X: GenSVD().fit(X),
                "svd": lambda X=X: np.linalg.svd(X, full_matrices=False),
                "naive": lambda X=X: naive(X),
            },
            repeats=15,
        )
        slow = race({"naive on X": lambda X=X: naive_n_svds(X)}, repeats=1) if n == 72 else {}
        print(
            f"{n:>4} x {m}: GenSVD {1e3 * t['ours']:.0f} ms = {t['ours'] / t['svd']:.2f} x one thin SVD "
            f"(at most 1.5); naive procedure on reduced data {t['naive'] / t['ours']:.1f} x GenSVD; "
            + (f"on the data matrix {slow['naive on X'] / t['ours']:.0f} x; " if slow else "")
            + f"largest difference {difference:.0e}"
        )


if __name__ == "__main__":
    main()
