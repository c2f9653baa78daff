"""Kernel matrices factored, and singular values by squares: no digits are lost that were there."""

import numpy as np
import pytest

from svdecode.tensor.decomposition import WORTH_SQUARING, decompose
from svdecode.tensor.factors import factor


def large_problem(smallest):
    """Two views above the size where squares are taken, W of known singular values among them."""
    n = WORTH_SQUARING + 60
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2)]
    sizes = np.append(np.geomspace(1, 0.01, n - 40), np.geomspace(0.009, smallest, 40))
    return [bases[0] * sizes, bases[1]], rng.uniform(0.5, 1, n) * rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("T", [12, None])
@pytest.mark.parametrize("smallest", [1e-3, 1e-6])
def test_singular_values_from_the_squares(T, smallest):
    """Above a certain size eigenvectors of MᵀM are used; what they would lose is decomposed by itself."""
    (x, y), signed = large_problem(smallest)
    W = x.T @ (signed[:, None] * y)
    U, s, Vt = np.linalg.svd(W)
    found = decompose([x @ x.T, y @ y.T], signed, T)
    T = T or len(s)
    # x xᵀ holds a length of x to eps over that length
    np.testing.assert_allclose(found.strengths, s[:T], rtol=1e-10, atol=2e-16 / smallest)
    wx, wy = found.duals[0].T @ x, found.duals[1].T @ y
    # and its direction to eps over the square of that: 2e-10, and 2e-4 at worst
    np.testing.assert_allclose(wx @ wx.T, np.eye(T), atol=2e-16 / smallest**2)
    np.testing.assert_allclose(wx.T @ wy, (U[:, :T] * s[:T]) @ Vt[:T], atol=1e-11 * s[0])


@pytest.mark.parametrize("share", [5, 2])
def test_squares_are_not_used_where_they_lose_digits(share):
    """W = diag(sizes²) in a common basis: down to 1e-8, whose squares are below rounding."""
    n = WORTH_SQUARING + 60
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]
    T = n // share
    sizes = np.append(np.geomspace(1, 1e-4, T), np.geomspace(0.9e-4, 0.8e-4, n - T))
    x = basis * sizes
    found = decompose([x @ x.T, x @ x.T], np.ones(n), T)
    np.testing.assert_allclose(found.strengths, sizes[:T] ** 2, rtol=1e-6)
    directions = np.abs(found.duals[0].T @ x)
    np.testing.assert_allclose(directions.max(axis=1), 1, atol=1e-6)


def test_factors():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 7))
    L = factor(x @ x.T)
    assert L.shape == (20, 7)
    np.testing.assert_allclose(L @ L.T, x @ x.T, atol=1e-12)
    assert factor(np.zeros((5, 5))).shape == (5, 0)
    with pytest.raises(ValueError, match="kernel: found a kernel matrix with the eigenvalue"):
        factor(np.diag([1.0, 2.0, -1.0]) - 0.3, check=True)


def test_small_singular_values():
    """Far below the square root of eps: what the kernels hold of each view's directions multiplies."""
    rng = np.random.default_rng(0)
    n = 30
    x, y = (rng.standard_normal((n, 6)) * np.geomspace(1, 1e-5, 6) for _ in range(2))
    signed = rng.standard_normal(n)
    s = np.linalg.svd(x.T @ (signed[:, None] * y))[1]
    assert s[-1] < 1e-9 * s[0]
    np.testing.assert_allclose(decompose([x @ x.T, y @ y.T], signed).strengths, s, rtol=1e-4)
