"""The reduction beside a bare float64 product of the same shape, and its memory on a mapped file.

Prints, for each shape, the Gram route's and the whole reduction's time as multiples of `X @ X.T`
in float64 (for float32 data: of the conversion to float64 and that product, which is what a user
would write to get the same digits; the product without the conversion stands beside it).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from timing import PeakMemory, race

from svdecode.reduction import reduce_rows
from svdecode.reduction.rows import LinearRows

SHAPES = [(84, 16000, np.float64), (236, 27942, np.float64), (2000, 100000, np.float32)]


def bench_time(n: int, m: int, dtype: type) -> None:
    """Print one row: milliseconds and ratios."""
    X = np.random.default_rng(0).standard_normal((n, m), dtype=dtype)
    contenders = {
        "gram": lambda: LinearRows(X, center=True).gram(),
        "whole": lambda: reduce_rows(X, method="gram"),
        "product": lambda: X.astype(np.float64, copy=False) @ X.astype(np.float64, copy=False).T,
    }
    if dtype == np.float32:
        X64 = X.astype(np.float64)
        contenders["product"] = lambda: X64 @ X64.T
        contenders["converted"] = lambda: (lambda Y: Y @ Y.T)(X.astype(np.float64))
    t = race(contenders, repeats=15 if n < 1000 else 5)
    print(
        f"{n:>5} x {m:<6} {np.dtype(dtype).name}: bare product {1e3 * t['product']:9.2f} ms; "
        f"Gram route {t['gram'] / t['product']:.2f} x (at most 1.3), "
        f"whole reduction {t['whole'] / t['product']:.2f} x (at most 1.5)"
        + (f"; product with conversion {t['converted'] / t['product']:.2f} x" if "converted" in t else "")
    )


def bench_memory(n: int = 2000, m: int = 100000) -> None:
    """Print the peak memory of reducing a memory map."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, m))
        rng = np.random.default_rng(0)
        for i in range(0, n, 100):
            mapped[i : i + 100] = rng.standard_normal((100, m), dtype=np.float32)
        mapped.flush()
        del mapped
        X = np.load(path, mmap_mode="r")
        reduce_rows(X[:64, :1000])  # what libraries allocate once
        with PeakMemory() as peak:
            reduction = reduce_rows(X)
        allowed = 64 + 4 * 8 * n * n / 2**20
        print(
            f"{n:>5} x {m:<6} float32 on disk: peak memory {peak.megabytes:.0f} MB above the start "
            f"(at most {allowed:.0f}), rank {reduction.rank}"
        )


if __name__ == "__main__":
    for shape in SHAPES:
        bench_time(*shape)
    bench_memory()
