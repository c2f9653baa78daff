"""The tensor-kernel SVM's weight matrix, decomposed without being written out.

    W = Σ_i α_i c_i φ_x(x_i) φ_y(y_i)ᵀ = Σ_t w_xᵗ (w_yᵗ)ᵀ,   w_xᵗ = Σ_i βᵢᵗ φ_x(x_i), w_yᵗ = Σ_i γᵢᵗ φ_y(y_i)

is its singular value decomposition (Hardoon & Shawe-Taylor 2009, section 3): w_xᵗ has length one, w_yᵗ the
singular value. The paper takes Kʸ = UΛUᵀ, A = CAUΛ^½ and the eigenvectors of Aᵀ Kˣ A. Here both kernels are
factored, K = L Lᵀ by Cholesky with pivots, and M = L_xᵀ diag(αc) L_y, which has the singular values of W, is
decomposed itself: AᵀKˣA holds their squares, and loses those below 1e-8 of the largest. Rows with α = 0 are
left out, and no matrix is larger than samples × rank. Where one view has low rank the other's kernel is not
even factored: the few columns of A are made orthonormal in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import eigh, svd

from svdecode._checks import FloatArray
from svdecode._threads import threads_for
from svdecode.reduction.rows import EPS
from svdecode.tensor.factors import Factors, factor

#: singular values below this share of the largest want the SVD itself: squares lose half of the digits
SQUARED = 1e-3
#: from this size on it is faster to take the squares first
WORTH_SQUARING = 256
#: left singular vectors, singular values, right singular vectors (a column each)
Triplets: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Decomposition:
    """Projections of all views, as weights on the training samples.

    f(x, y, …) = Σ_t Π_v (Σ_i κ_v(x_i, x) dual_v[i, t]) up to the bias, with equality at full rank.

    Attributes
    ----------
    duals : tuple of arrays of shape (n, T)
        The dual weights of each view: (β, γ) for two.
    strengths : array of shape (T,)
        Singular values, descending.
    """

    duals: tuple[FloatArray, ...]
    strengths: FloatArray

    @property
    def rank(self) -> int:
        """Number of projections."""
        return len(self.strengths)

    def take(self, chosen: Any) -> Decomposition:
        """Only some of the projections."""
        return Decomposition(tuple(dual[:, chosen] for dual in self.duals), self.strengths[chosen])

    def padded(self, n_projections: int) -> Decomposition:
        """As many projections as asked for: the first, or spare ones of zeros."""
        spare = n_projections - self.rank
        if spare <= 0:
            return self.take(slice(n_projections))
        wide = tuple(np.pad(dual, ((0, 0), (0, spare))) for dual in self.duals)
        return Decomposition(wide, np.pad(self.strengths, (0, spare)))


def decompose(
    kernels: Sequence[FloatArray],
    signed: FloatArray,
    n_projections: int | None = None,
    *,
    factors: Sequence[FloatArray] | None = None,
) -> Decomposition:
    """Singular value decomposition of the weight matrix of two views.

    Parameters
    ----------
    kernels : two arrays of shape (n, n)
        Kernel matrices of the training samples.
    signed : array of shape (n,)
        α_i c_i: the SVM's dual weights with the signs of the labels.
    n_projections : int, optional
        How many projections are wanted; all by default. Never more than the rank.
    factors : Factors or two arrays, optional
        L of each kernel, where they are known.

    Returns
    -------
    Decomposition
        β and γ, and the singular values; signs such that Σ_i γᵢᵗ = Σ_i α_i c_i ⟨w_xᵗ, φ_x(x_i)⟩ ≥ 0: in the
        first view the positive class has the higher projections, weighted as the SVM does.
    """
    chosen = np.flatnonzero(signed)
    known = Factors(kernels) if factors is None else factors
    inner = _through_the_other(kernels, signed, known, chosen, n_projections)
    if inner is None:
        d = signed[chosen][:, None]
        Lx, Ly = (_on(K, L, chosen) for K, L in zip(kernels, known, strict=True))
        U, s, V = _leading(Lx.T @ (d * Ly), n_projections, _rounding(kernels, signed))
        inner = d * (Ly @ V) / s, s, d * (Lx @ U)  # β = A z / υ, and γ = αc ∘ Kˣβ where Kˣβ = L_x u
    duals = [np.zeros((len(signed), len(inner[1]))) for _ in range(2)]
    duals[0][chosen], duals[1][chosen] = inner[0], inner[2]
    flip = _signs(duals[0], duals[1])
    return Decomposition((duals[0] * flip, duals[1] * flip), inner[1])


def _through_the_other(
    kernels: Sequence[FloatArray], signed: FloatArray, factors: Sequence[FloatArray], chosen: Any, wanted: Any
) -> Triplets | None:
    """β, υ and γ on the support vectors where a view has low rank, without a factor of the other's kernel."""
    d = signed[chosen][:, None]
    for low, other in ((1, 0), (0, 1)):
        L = factors[low]
        if L.shape[1] == 0 or 4 * L.shape[1] > len(chosen):
            continue
        K = kernels[other]
        with threads_for(L.size):
            found = _orthonormal_images(
                K if len(chosen) == len(K) else K[np.ix_(chosen, chosen)], d * L[chosen]
            )
        if found is None:
            return None
        dual, images, s = (values[..., :wanted] for values in found)
        return (dual, s, d * images) if other == 0 else (d * images / s, s, dual * s)
    return None


def _orthonormal_images(K: FloatArray, B: FloatArray) -> Triplets | None:
    """SVD of ΦᵀB, where K = ΦΦᵀ: duals of the left singular vectors, K times these, singular values.

    By the eigenvectors of BᵀKB, made orthonormal once more; None where their squares would lose digits.
    """
    F = K @ B
    squares, V = eigh(B.T @ F, check_finite=False)
    if not squares[0] > SQUARED**2 * squares[-1]:
        return None
    V = V / np.sqrt(squares)
    dual, images = B @ V, F @ V
    back = np.linalg.inv(np.linalg.cholesky(dual.T @ images)).T
    dual, images = dual @ back, images @ back
    P, s, _ = svd(images.T @ B, check_finite=False)
    return dual @ P, images @ P, s


def _on(K: FloatArray, L: FloatArray, chosen: Any) -> FloatArray:
    """A factor of the kernel matrix of some rows, with no more columns than rows."""
    if len(chosen) == len(K):
        return L
    return L[chosen] if L.shape[1] <= len(chosen) else factor(K[np.ix_(chosen, chosen)])


def _rounding(kernels: Sequence[FloatArray], signed: FloatArray) -> float:
    """What rounding errors may make of a singular value that is zero."""
    size = np.abs(signed)
    energies = [float(size @ np.abs(K.diagonal())) for K in kernels]
    return 4 * EPS * float(np.sqrt(energies[0]) * np.sqrt(energies[1]))


def _leading(M: FloatArray, wanted: int | None, rounding: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Leading singular vectors and values of M, without those that are rounding errors."""
    small = min(M.shape)
    if small == 0:
        return np.zeros((M.shape[0], 0)), np.zeros(0), np.zeros((M.shape[1], 0))
    found = _by_squares(M, wanted) if small >= WORTH_SQUARING else None
    if found is None:
        U, s, Vt = svd(M, full_matrices=False, check_finite=False)
        found = U, s, Vt.T
    U, s, V = found
    rank = int((s > max(rounding, max(M.shape) * EPS * s[0])).sum())
    keep = rank if wanted is None else min(rank, wanted)
    return U[:, :keep], s[:keep], V[:, :keep]


def _by_squares(M: FloatArray, wanted: int | None) -> Triplets | None:
    """Singular triplets from eigenvectors of MᵀM, in half the SVD's time; None where digits would be lost."""
    flat = M.shape[0] < M.shape[1]
    A = M.T if flat else M
    few = wanted is not None and 4 * wanted <= A.shape[1]
    found = _few_by_squares(A, wanted or 1) if few else _all_by_squares(A)
    if found is None:
        return None
    U, s, V = found
    return (V, s, U) if flat else (U, s, V)


def _few_by_squares(A: FloatArray, wanted: int) -> Triplets | None:
    """Leading triplets of a tall matrix, corrected once within the space that they span."""
    size = A.shape[1]
    squares, V = eigh(
        A.T @ A, subset_by_index=(size - wanted, size - 1), overwrite_a=True, check_finite=False
    )
    if not squares[0] > SQUARED**2 * squares[-1]:
        return None
    Q, R = np.linalg.qr(A @ V[:, ::-1])
    P, s, Vt = svd(R, check_finite=False)
    return Q @ P, s, V[:, ::-1] @ Vt.T


def _all_by_squares(A: FloatArray) -> Triplets | None:
    """All triplets of a tall matrix, the small singular values by themselves.

    What belongs to the small ones is multiplied by their eigenvectors first and freed from the images of
    the others, which takes the large values out; then its own SVD has its digits.
    """
    size = A.shape[1]
    squares, V = eigh(A.T @ A, driver="evd", overwrite_a=True, check_finite=False)
    k = int((squares > SQUARED**2 * squares[-1]).sum())
    if 4 * k < 3 * size:
        return None
    V = V[:, ::-1]
    images = A @ V
    s = np.linalg.norm(images[:, :k], axis=0)
    U, rest = images[:, :k] / s, images[:, k:]
    P, small, Qt = svd(rest - U @ (U.T @ rest), full_matrices=False, check_finite=False)
    U, s, V = np.hstack([U, P]), np.append(s, small), np.hstack([V[:, :k], V[:, k:] @ Qt.T])
    order = np.argsort(-s, kind="stable")
    return U[:, order], s[order], V[:, order]


def _signs(beta: FloatArray, gamma: FloatArray) -> FloatArray:
    """Signs of the projections: by Σγ, else (where that is rounding error) by Σβ, else by the largest |β|."""
    out = np.zeros(beta.shape[1])
    for dual in (gamma, beta):
        total = dual.sum(axis=0)
        clear = np.abs(total) > 1e-9 * np.abs(dual).sum(axis=0)
        out = np.where((out == 0) & clear, np.sign(total), out)
    if beta.size:
        largest = beta[np.abs(beta).argmax(axis=0), np.arange(beta.shape[1])]
        out = np.where(out == 0, np.where(largest < 0, -1.0, 1.0), out)
    return out
