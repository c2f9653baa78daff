"""Matrices read in blocks of columns, in float64: the one way to data that are long, on disk or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from svdecode._checks import FloatArray, IntArray

#: bytes of a block in float64: small against the 64 MB that a reduction may take beside its n × n arrays
BLOCK_BYTES = 16 * 2**20


def column_blocks(
    X: Any, height: int | None = None, index: IntArray | None = None
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield blocks of columns of X in float64, in the memory order of X.

    Every block is written over the last one: fresh memory for each would cost as much in page faults as
    the conversion does. Two matrices are walked in step when they are given the same `height`,
    the number of rows by which the width of a block is chosen.
    """
    n = X.shape[0] if index is None else len(index)
    width = max(1, min(X.shape[1], BLOCK_BYTES // (8 * (height or n))))
    order = "F" if not sp.issparse(X) and X.flags.f_contiguous and not X.flags.c_contiguous else "C"
    memory = np.empty(n * width)
    if sp.issparse(X):
        X = (X if index is None else X[index]).tocsc()
    for start in range(0, X.shape[1], width):
        columns = slice(start, min(start + width, X.shape[1]))
        block = memory[: n * (columns.stop - start)].reshape((n, -1), order=order)  # type: ignore[call-overload]
        if sp.issparse(X):
            X[:, columns].toarray(out=block)
        elif index is None:
            np.copyto(block, X[:, columns])
        else:
            block[...] = X[index, columns]
        yield columns, block
