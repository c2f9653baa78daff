"""Decompositions of more than two views against the weight tensor that is built in feature space."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.tensor.decomposition import decompose as decompose_two
from svdecode.tensor.modes import reduce_modes
from svdecode.tensor.multiway import combine, decompose

SEEDS = st.integers(0, 10_000)


def problem(seed, n=14, sizes=(4, 30, 6), rank=None):
    """Views of n centered samples, their coefficients (some zero) and new samples."""
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((n, m)) for m in sizes]
    if rank is not None:
        views = [rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m)) for m in sizes]
    views = [X - X.mean(axis=0) for X in views]
    a = rng.standard_normal(n)
    a[:: rng.integers(2, 5)] = 0
    return views, a, [rng.standard_normal((6, m)) for m in sizes]


def outer(vectors):
    """⊗ of vectors."""
    tensor = np.ones(())
    for vector in vectors:
        tensor = np.multiply.outer(tensor, vector)
    return tensor


def explicit(views, a):
    """W = Σ_i a_i ⊗_v x_i, written out."""
    return sum(a_i * outer([X[i] for X in views]) for i, a_i in enumerate(a))


def rebuilt(views, found):
    """W̃ from dual weights, written out."""
    bases = [X.T @ D for X, D in zip(views, found.duals, strict=True)]
    if found.core is None:
        return sum(outer([B[:, t] for B in bases]) for t in range(bases[0].shape[1]))
    return sum(
        found.core[index] * outer([B[:, t] for B, t in zip(bases, index, strict=True)])
        for index in np.ndindex(*found.core.shape)
    )


def features(views, new, found):
    return [X_new @ X.T @ D for X, X_new, D in zip(views, new, found.duals, strict=True)]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    SEEDS,
    st.sampled_from([(4, 30, 6), (3, 2, 5), (20, 1, 7), (3, 4, 2, 5), (5, 9)]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["cp", "tucker"]),
)
def test_all_components_are_the_weight_tensor(seed, sizes, rank, decomposition):
    """Proposition 1 for any number of views: f is met for new samples, rank-deficient views included."""
    views, a, new = problem(seed, sizes=sizes, rank=rank)
    W = explicit(views, a)
    f = np.array([(W * outer(rows)).sum() for rows in zip(*new, strict=True)])
    found = decompose([X @ X.T for X in views], a, decomposition=decomposition)
    size = np.linalg.norm(W)
    assert np.linalg.norm(rebuilt(views, found) - W) <= 1e-10 * size
    np.testing.assert_allclose(
        combine(features(views, new, found), found.core), f, atol=1e-8 * np.abs(f).max()
    )
    assert found.explained == pytest.approx(1, abs=1e-10)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([(4, 7, 6), (3, 4, 2, 5)]), st.integers(1, 5))
def test_what_is_explained_is_what_the_rebuilt_tensor_explains(seed, sizes, T):
    views, a, _ = problem(seed, sizes=sizes)
    W, kernels = explicit(views, a), [X @ X.T for X in views]
    for decomposition in ("cp", "tucker"):
        found = decompose(kernels, a, T, decomposition=decomposition, random_state=0, n_init=1)
        residual = np.linalg.norm(W - rebuilt(views, found)) ** 2 / np.linalg.norm(W) ** 2
        assert found.explained == pytest.approx(1 - residual, abs=1e-9)


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
@pytest.mark.parametrize("T", [None, 1, 3])
def test_two_views_are_the_singular_value_decomposition(decomposition, T):
    views, a, _ = problem(3, sizes=(6, 25))
    U, s, Vt = np.linalg.svd(explicit(views, a), full_matrices=False)
    found = decompose([X @ X.T for X in views], a, T, decomposition=decomposition)
    first, second = (X.T @ D for X, D in zip(views, found.duals, strict=True))
    assert found.core is None
    for t in range(6 if T is None else T):
        sign = np.sign(a @ views[0] @ U[:, t])  # the positive class is higher in the first view
        np.testing.assert_allclose(sign * first[:, t], U[:, t], atol=1e-9)
        np.testing.assert_allclose(sign * second[:, t], s[t] * Vt[t], atol=1e-9 * s[0])


def test_modes_are_the_higher_order_svd():
    """Each mode's directions are the left singular vectors of the unfolded tensor."""
    views, a, _ = problem(4)
    W = explicit(views, a)
    used = a != 0
    modes = reduce_modes([X[used] @ X[used].T for X in views], a[used], largest_core=10**6)
    assert modes.discarded == 0
    for v, (X, D) in enumerate(zip(views, modes.duals, strict=True)):
        unfolded = np.moveaxis(W, v, 0).reshape(W.shape[v], -1)
        U, s, _ = np.linalg.svd(unfolded, full_matrices=False)
        rank = int((s > 1e-10 * s[0]).sum())
        assert D.shape[1] == rank
        np.testing.assert_allclose(np.abs(np.sum(U[:, :rank] * (X[used].T @ D), axis=0)), 1, atol=1e-9)


def test_a_planted_decomposition_is_found():
    """W made of two outer products: CP finds them, each up to sign and size."""
    rng = np.random.default_rng(5)
    parts = [[rng.standard_normal(m) for m in (5, 8, 6)] for _ in range(2)]
    scales = [3.0, 1.0]
    # samples that are the parts themselves, among others whose coefficients are zero
    views = [
        np.vstack([p[v] for p in parts] + [rng.standard_normal((6, len(parts[0][v])))]) for v in range(3)
    ]
    mixed = [np.vstack([X[:2], X[0] + X[1], X[2:]]) for X in views]
    a = np.array([*scales, 0, 0, 0, 0, 0, 0, 0])
    a[2:] = 1e-12  # every sample is a support vector, so that nothing is read off
    found = decompose([X @ X.T for X in mixed], a, 2, random_state=0)
    for v in range(3):
        B = mixed[v].T @ found.duals[v]
        sizes = [s * np.prod([np.linalg.norm(x) for x in p]) for s, p in zip(scales, parts, strict=True)]
        for t, i in enumerate(np.argsort(sizes)[::-1]):
            cosine = B[:, t] @ parts[i][v] / np.linalg.norm(B[:, t]) / np.linalg.norm(parts[i][v])
            assert abs(cosine) == pytest.approx(1, abs=1e-4)
    assert found.explained == pytest.approx(1, abs=1e-6)


def test_all_but_the_last_view_have_unit_length_and_largest_come_first():
    views, a, _ = problem(6)
    for decomposition in ("cp", "tucker"):
        found = decompose([X @ X.T for X in views], a, 3, decomposition=decomposition, random_state=0)
        lengths = [np.linalg.norm(X.T @ D, axis=0) for X, D in zip(views, found.duals, strict=True)]
        for one in lengths[:-1]:
            np.testing.assert_allclose(one, 1, rtol=1e-9)
        assert (np.diff(lengths[-1]) <= 0).all()
        for X, D in zip(views[:-1], found.duals[:-1], strict=True):  # signs are fixed
            assert (a @ X @ X.T @ D >= 0).all()
        np.testing.assert_allclose(found.strengths, lengths[-1], rtol=1e-9)


def test_tucker_is_no_worse_than_the_bound_of_the_higher_order_svd():
    """‖W − W̃‖² ≤ Σ_v Σ_{t > T} σ_v,t² (De Lathauwer et al. 2000), and CP of the same T is no better."""
    views, a, _ = problem(7)
    W, kernels, T = explicit(views, a), [X @ X.T for X in views], 3
    tails = 0.0
    for v in range(3):
        s = np.linalg.svd(np.moveaxis(W, v, 0).reshape(W.shape[v], -1), compute_uv=False)
        tails += (s[T:] ** 2).sum() / (s**2).sum()
    tucker = decompose(kernels, a, T, decomposition="tucker")
    cp = decompose(kernels, a, T, random_state=0)
    assert 1 - tucker.explained <= tails + 1e-10
    assert cp.explained <= tucker.explained + 1e-6


def test_a_core_that_is_limited_leaves_out_what_it_says():
    views, a, _ = problem(8, sizes=(20, 20, 20))
    kernels = [X @ X.T for X in views]
    whole = decompose(kernels, a, decomposition="tucker")
    small = decompose(kernels, a, decomposition="tucker", largest_core=200)
    assert np.prod(small.reduced_shape) <= 200 < np.prod(whole.reduced_shape)
    assert 0 < 1 - small.explained <= small.discarded
    with pytest.raises(ValueError, match=r"n_projections: found 8, .* 8 × 8 × 8 .* at most 200"):
        decompose(kernels, a, 8, decomposition="tucker", largest_core=200)


def test_the_same_seed_gives_the_same_components():
    views, a, _ = problem(9)
    kernels = [X @ X.T for X in views]
    first, again = (decompose(kernels, a, 4, random_state=1) for _ in range(2))
    for D, E in zip(first.duals, again.duals, strict=True):
        np.testing.assert_array_equal(D, E)


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
def test_spare_projections_are_zeros_and_change_nothing(decomposition):
    views, a, new = problem(12)
    found = decompose([X @ X.T for X in views], a, 5, decomposition=decomposition, random_state=0)
    wide = found.padded(8)
    assert [D.shape[1] for D in wide.duals] == [8] * 3
    f, g = (combine(features(views, new, one), one.core) for one in (found, wide))
    np.testing.assert_allclose(g, f, rtol=1e-12)
    kept = wide.take([0, 1, 2, 3, 4])
    np.testing.assert_allclose(combine(features(views, new, kept), kept.core), f, rtol=1e-12)


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
@pytest.mark.parametrize("T", [None, 2])
def test_a_constant_view_makes_a_weight_of_zero(decomposition, T):
    views, a, new = problem(10)
    views[1] = np.zeros_like(views[1])
    found = decompose([X @ X.T for X in views], a, T, decomposition=decomposition)
    assert not combine(features(views, new, found), found.core).any()


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
def test_without_tensorly_the_extra_is_named(monkeypatch, decomposition):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("tensorly"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    views, a, _ = problem(11)
    kernels = [X @ X.T for X in views]
    with pytest.raises(ImportError, match=r"extra \[tensor\].*svdecode\[tensor\]"):
        decompose(kernels, a, 2, decomposition=decomposition)
    decompose(kernels[:2], a, 2, decomposition=decomposition)  # two views do not need it


@settings(max_examples=15, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([None, 1, 2]))
def test_two_views_agree_with_the_decomposition_of_two_views(seed, rank):
    """The same features, signs included, by a different road (there: one factorization of both kernels)."""
    views, a, new = problem(seed, sizes=(6, 25), rank=rank)
    kernels = [X @ X.T for X in views]
    pair, any_number = decompose_two(kernels, a), decompose(kernels, a)
    np.testing.assert_allclose(any_number.strengths, pair.strengths, rtol=1e-9)
    if (np.diff(pair.strengths) < -1e-3 * pair.strengths[0]).all():  # else singular vectors may mix
        for ours, theirs in zip(features(views, new, any_number), features(views, new, pair), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())


def test_more_components_than_the_core_has_fibers_are_not_sought():
    """Three views of 2, 20 and 3 directions: a tensor of 6 fibers is the sum of 6 products."""
    views, a, _ = problem(13, n=40, sizes=(2, 20, 3))
    found = decompose([X @ X.T for X in views], a, 19, random_state=0)
    assert found.rank == 6
    assert found.explained == pytest.approx(1, abs=1e-6)


def test_components_that_become_alike_are_no_error():
    """One product, asked for as four."""
    views, a, _ = problem(14, n=30, sizes=(6, 7, 8), rank=1)
    views = [X + 1e-9 * np.random.default_rng(0).standard_normal(X.shape) for X in views]
    found = decompose([X @ X.T for X in views], a, 4, random_state=0)
    assert found.explained == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("decomposition", ["cp", "tucker"])
def test_small_directions_count_too(decomposition):
    """Columns of sizes from 1 to 1e-5: squares of singular values from 1 to 1e-10 and less."""
    views, a, new = problem(15)
    views, new = ([X * np.logspace(0, -5, X.shape[1]) for X in which] for which in (views, new))
    W = explicit(views, a)
    found = decompose([X @ X.T for X in views], a, decomposition=decomposition)
    assert np.linalg.norm(rebuilt(views, found) - W) <= 1e-10 * np.linalg.norm(W)
    rows = [np.eye(X.shape[1])[-1:] for X in views]  # the last column of each view, where W is smallest
    small = combine(features(views, rows, found), found.core)
    np.testing.assert_allclose(small, W[-1, -1, -1], atol=1e-9 * np.abs(W).max())


def test_starts_on_a_corner_end_on_the_whole_core():
    """One component of a core of 9 × 9 × 9 starts on 3 × 3 × 3; no sweep by hand improves the end."""
    views, a, _ = problem(16, n=40, sizes=(9, 9, 9))
    W = explicit(views, a)
    found = decompose([X @ X.T for X in views], a, 1, random_state=0)
    b = [X.T @ D[:, 0] for X, D in zip(views, found.duals, strict=True)]
    x, y = b[0] / np.linalg.norm(b[0]), b[1] / np.linalg.norm(b[1])
    for _ in range(200):  # the higher-order power method
        z = np.einsum("abc,a,b->c", W, x, y)
        x = np.einsum("abc,b,c->a", W, y, z)
        x /= np.linalg.norm(x)
        y = np.einsum("abc,a,c->b", W, x, z)
        y /= np.linalg.norm(y)
    assert found.explained == pytest.approx((z @ z) / (W**2).sum(), abs=1e-6)
