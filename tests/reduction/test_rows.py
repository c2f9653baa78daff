"""Whatever the data come as, the reduction is the same, and nothing of their size is made beside them."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from geometry import assert_reduces

from svdecode.reduction import blocks, reduce_rows
from svdecode.reduction.blocks import column_blocks
from svdecode.reduction.rows import LinearRows


def storages(X, tmp_path):
    path = tmp_path / "X.dat"
    on_disk = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    on_disk[:] = X
    on_disk.flush()
    columns = [f"v{j}" for j in range(X.shape[1])]
    big_endian = X.dtype.newbyteorder(">")
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "reversed": X[::-1].copy()[::-1],
        "big-endian": X.astype(big_endian),
        "memmap": np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape),
        "memmap F": np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape[::-1]).T,
        "csr": sp.csr_matrix(X),
        "csc array": sp.csc_array(X),
        "coo array": sp.coo_array(X),
        "pandas": pd.DataFrame(X, columns=columns),
        "polars": pl.DataFrame(X, schema=columns),
        "list": X.tolist(),
    }


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("offset", [0, 200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 50), (30, 6)])
def test_every_storage_gives_the_same_reduction(tmp_path, monkeypatch, shape, dtype, offset, center):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 7 * 11)  # several blocks, the last one smaller
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4) + 0.5 * (rng.random(shape) < 0.1)
    X_new = rng.standard_normal((3, shape[1])) + offset  # 200: centering K would cost digits
    X, X_new = (X + offset).astype(dtype), X_new.astype(dtype)
    news = storages(X_new, tmp_path)
    for name, stored in storages(X, tmp_path).items():
        if name == "memmap F":
            X_here, X_new_here = np.asarray(stored), X_new
        else:
            X_here, X_new_here = X, news[name]
        for method in ("auto", "gram"):
            reduction = reduce_rows(stored, method=method, center=center)
            dense_new = X_new_here.toarray() if sp.issparse(X_new_here) else X_new_here
            assert_reduces(reduction, X_here, dense_new, center=center)
            again = reduction.transform(X_new_here)
            np.testing.assert_allclose(
                again, reduction.transform(dense_new), atol=1e-10 * (1 + offset), err_msg=name
            )


def test_float32_is_accumulated_in_float64():
    X = np.random.default_rng(2).standard_normal((10, 4000)).astype(np.float32)
    exact = X.astype(np.float64) @ X.astype(np.float64).T
    in_float32 = np.abs(X @ X.T - exact).max() / exact.max()
    L = reduce_rows(X, center=False).coordinates
    assert in_float32 > 1e-8  # so that the next line says something
    np.testing.assert_allclose(L @ L.T, exact, atol=1e-14 * exact.max())


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("index", [None, np.array([4, 0, 0, 2])])
def test_blocks_are_the_columns_in_turn(monkeypatch, order, index):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * 5 * 3)
    X = np.asarray(np.arange(50, dtype=np.float32).reshape(5, 10), order=order)
    rows = X if index is None else X[index]
    for stored in (X, sp.csr_matrix(X.astype(np.float64))):
        seen = [(columns, block.copy()) for columns, block in column_blocks(stored, index=index)]
        assert [columns.stop - columns.start for columns, _ in seen] == [3] * 3 + [1]
        assert all(block.dtype == np.float64 and block.size * 8 <= blocks.BLOCK_BYTES for _, block in seen)
        np.testing.assert_array_equal(np.hstack([block for _, block in seen]), rows)


def test_a_fold_of_rows_with_one_row_twice():
    rng = np.random.default_rng(3)
    X, index = rng.standard_normal((6, 30)), np.array([5, 1, 1, 0])
    for stored in (X, X.astype(np.float32).astype(np.float64), sp.csr_matrix(X)):
        dense = stored.toarray() if sp.issparse(stored) else stored
        own, copied = LinearRows(stored, True, index), LinearRows(dense[index], True)
        D = rng.standard_normal((2, 4))
        np.testing.assert_allclose(own.gram()[0], copied.gram()[0], atol=1e-12)
        np.testing.assert_allclose(own.mean, copied.mean, atol=1e-14)
        np.testing.assert_allclose(own.combine(D), copied.combine(D), atol=1e-12)
        np.testing.assert_allclose(own.cross(X[:2]), copied.cross(X[:2]), atol=1e-12)


def test_sparse_data_are_never_densified_whole(monkeypatch):
    """No block, and nothing that numpy allocates, is as large as the dense matrix would be."""
    n, m = 40, 20_000
    X = sp.random(n, m, density=1e-3, random_state=0, format="csr")
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * n * 500)
    for stored in (
        X,
        X + sp.csr_matrix(np.ones((n, 1))) @ sp.csr_matrix(np.ones((1, m)) * (np.arange(m) < 500)),
    ):
        tracemalloc.start()
        reduction = reduce_rows(stored)
        reduction.transform(stored[:3])
        lifted = reduction.lift(reduction.coordinates[:1])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * n * m / 2
        np.testing.assert_allclose((lifted + reduction.mean)[0], stored[[0]].toarray()[0], atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_memory_map_is_never_read_whole(tmp_path, monkeypatch, dtype, kernel):
    n, m = 20, 50_000
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(4).standard_normal((n, m)).astype(dtype))
    X = np.load(path, mmap_mode="r")
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 8 * n * 500)
    tracemalloc.start()
    reduction = reduce_rows(X, kernel=kernel, gamma=1e-5)
    reduction.transform(X[:5])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert reduction.rank == 19
    assert peak < X.nbytes / 2
