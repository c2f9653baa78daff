"""What samples span, or their differences; and which direction a combination of samples stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svdecode._checks import FloatArray

EPS = float(np.finfo(np.float64).eps)
#: directions that miss a span by less than this share of their length are in it
SPAN_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Span:
    """Span of the columns of samples Q = VΛ (and of the constant vector, where differences are meant).

    A combination E of a block's samples that lies in it belongs to one direction u: all samples outside the
    block have the same coordinate along u, zero without the constant vector.

    Attributes
    ----------
    basis : array of shape (n, p)
        Orthonormal columns: V, and what the constant vector adds to it.
    inverse : array of shape (r,)
        Diagonal of Λ⁻¹ up to a factor: at most 1, so that nothing overflows.
    share : array of shape (r,) or None
        Where the constant vector adds a column: how much of it lies in V, as a multiple of what does not.
    common : array of shape (r,) or None
        Where the constant vector lies in the span of V: the direction along which all samples are equal.
    tolerance : float
        A combination that misses the span by no more lies in it.
    """

    basis: FloatArray
    inverse: FloatArray
    share: FloatArray | None
    common: FloatArray | None
    tolerance: float

    def directions(self, F: FloatArray) -> FloatArray:
        """Directions u, as columns, of combinations given by their coordinates F = basisᵀE."""
        F = F if self.share is None else F[:-1] - np.outer(self.share, F[-1])
        return np.asarray(self.inverse[:, None] * F)


def plain_span(V: FloatArray, s: FloatArray, noise: float, power: int) -> Span:
    """Span of Q = VΛ: u = Λ⁻¹VᵀE, for then Qu = E is zero outside the block."""
    return Span(V, s[-1] / s, None, None, _tolerance(s[-1], noise, power))


def span_of_differences(V: FloatArray, s: FloatArray, noise: float, power: int) -> Span:
    """Span of VΛ and the constant vector 1: Qu = E + c·1 is constant outside the block.

    With 1/√n = Va + ρ the constant vector is split in what lies in the span of V and what does not. If
    ρ is not zero, E + c·1 lies in the span of V for one c only, and u = Λ⁻¹(VᵀE − a·ρᵀE/‖ρ‖²). If it is zero,
    any c does: beside u = Λ⁻¹VᵀE there is Λ⁻¹a, along which all samples are equal.
    """
    n = len(V)
    inverse = s[-1] / s
    rest = np.full(n, 1 / np.sqrt(n))
    share = np.zeros(len(s))
    for _ in range(2):  # what rounding left of it
        part = V.T @ rest
        rest = rest - V @ part
        share += part
    miss = float(np.linalg.norm(rest))
    slope = float(np.linalg.norm(inverse * share) / s[-1])  # ‖Λ⁻¹a‖: a noise of 1 in the data turns Va by it
    if len(s) >= n or miss <= slope * max(noise, max(V.shape) * EPS * float(np.linalg.norm(s))):
        return Span(V, inverse, None, inverse * share, _tolerance(s[-1], noise, power))
    weakest = min(float(s[-1]), miss / slope) if slope else float(s[-1])
    basis = np.column_stack([V, rest / miss])
    return Span(basis, inverse, share / miss, None, _tolerance(weakest, noise, power))


def _tolerance(weakest: float, noise: float, power: int) -> float:
    """How far noise turns the span of singular vectors."""
    return float(np.clip((noise / weakest) ** power, SPAN_TOLERANCE, 1e-3))
