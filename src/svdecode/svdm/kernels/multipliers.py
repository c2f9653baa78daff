"""The hinge multipliers of one sample: a small box-constrained quadratic program."""

from typing import NamedTuple

import numpy as np

from svdecode.svdm.kernels.linalg import backward, cholesky, forward, kernel

PASSES = 60  # of coordinate descent at most
STILL = 1e-13  # relative slack below which a multiplier no longer moves
STALLED = 1e-9  # below this, a pass that does not halve the slack is at the limit of rounding
TOL = 1e-11  # duality gap, relative to the value of the hinge problem
ROUNDING = 4e-15  # of a hinge, relative to the numbers it is the difference of


class Sample(NamedTuple):
    """Work arrays of one sample; the first `count` of its k entries are the labels that are on.

    z = center + ½ Σ_j λ_j lifts_j minimizes the quadratic plus Σ_j λ_j (margins_j − rows_jᵀz).
    """

    rows: np.ndarray  # (k, l): y_j B_j
    lifts: np.ndarray  # (k, l): y_j (A + νI)⁻¹B_j
    curvature: np.ndarray  # (k,): ½ rows_jᵀ lifts_j
    margins: np.ndarray  # (k,): μ − y_j b_j
    weights: np.ndarray  # (k,): hinge weights
    slack: np.ndarray  # (k,): margins_j − rows_jᵀ center
    lam: np.ndarray  # (k,): multipliers
    center: np.ndarray  # (l,): the minimizer without hinges
    z: np.ndarray  # (l,)
    inverse: np.ndarray  # (l,): 1/(d + ν), for the ball
    face: np.ndarray  # (k,) int: labels with 0 < λ_j < h_j
    matrix: np.ndarray  # (k, k)
    step: np.ndarray  # (k,)


@kernel
def new_sample(k, l):  # type: ignore[no-untyped-def]
    """Uninitialized work arrays."""
    square, of_k, of_l = np.empty((2, k, l)), np.empty((6, k)), np.empty((3, l))
    return Sample(
        square[0], square[1], of_k[0], of_k[1], of_k[2], of_k[3], of_k[4],
        of_l[0], of_l[1], of_l[2], np.empty(k, dtype=np.int64), np.empty((k, k)), of_k[5],
    )  # fmt: skip


@kernel
def inner(X, i, z):  # type: ignore[no-untyped-def]
    """Inner product of row i of X with z, in two chains that do not wait for each other."""
    even, odd = 0.0, 0.0
    for p in range(0, z.size - 1, 2):
        even += X[i, p] * z[p]
        odd += X[i, p + 1] * z[p + 1]
    if z.size % 2:
        even += X[i, z.size - 1] * z[z.size - 1]
    return even + odd


@kernel
def slack_at_center(s, count):  # type: ignore[no-untyped-def]
    """Fill in `slack`; whether any hinge is violated without multipliers."""
    violated = False
    for j in range(count):
        s.slack[j] = s.margins[j] - inner(s.rows, j, s.center)
        violated = violated or s.slack[j] > 0.0
    return violated


@kernel
def _move(s, j, change):  # type: ignore[no-untyped-def]
    """What a change of λ_j does to z."""
    half = 0.5 * change
    for p in range(s.z.size):
        s.z[p] += half * s.lifts[j, p]


@kernel
def from_multipliers(s, count):  # type: ignore[no-untyped-def]
    """z = center + ½ Σ_j λ_j lifts_j."""
    for p in range(s.z.size):
        s.z[p] = s.center[p]
    for j in range(count):
        if s.lam[j] != 0.0:
            _move(s, j, s.lam[j])


@kernel
def _pass(s, count):  # type: ignore[no-untyped-def]
    """Maximize the dual over one λ_j after the other; the largest relative slack that moved one."""
    largest = 0.0
    for j in range(count):
        fit = inner(s.rows, j, s.z)
        slack = s.margins[j] - fit
        target = s.weights[j] if slack > 0.0 else 0.0
        if s.curvature[j] > 0.0:
            target = min(max(s.lam[j] + slack / s.curvature[j], 0.0), s.weights[j])
        if target != s.lam[j]:
            _move(s, j, target - s.lam[j])
            s.lam[j] = target
            largest = max(largest, abs(slack) / (abs(s.margins[j]) + abs(fit)))
    return largest


@kernel
def factor_face(s, count):  # type: ignore[no-untyped-def]
    """Collect the free multipliers and factor their Hessian ½ rows·liftsᵀ; how many they are.

    A multiplier whose row depends on the ones before is taken out of every solve.
    """
    size = 0
    for j in range(count):
        if 0.0 < s.lam[j] < s.weights[j]:
            s.face[size] = j
            for a in range(size):
                s.matrix[size, a] = 0.5 * inner(s.rows, s.face[a], s.lifts[j])
            s.matrix[size, size] = s.curvature[j]
            size += 1
    cholesky(s.matrix[:size, :size], 1e-13, 1e128)
    return size


@kernel
def _newton_on_face(s, count):  # type: ignore[no-untyped-def]
    """Newton step of the dual in the free multipliers, as far as all of them stay in their box."""
    size = factor_face(s, count)
    if size < 2:
        return
    factor, step = s.matrix[:size, :size], s.step[:size]
    for a in range(size):
        step[a] = s.margins[s.face[a]] - inner(s.rows, s.face[a], s.z)
    forward(factor, step)
    backward(factor, step)
    length, blocking = 1.0, -1
    for a in range(size):
        j = s.face[a]
        room = s.weights[j] - s.lam[j] if step[a] > 0.0 else s.lam[j]
        if abs(step[a]) * length > room:
            length, blocking = room / abs(step[a]), a
    for a in range(size):
        j = s.face[a]
        target = min(max(s.lam[j] + length * step[a], 0.0), s.weights[j])
        if a == blocking:
            target = s.weights[j] if step[a] > 0.0 else 0.0
        _move(s, j, target - s.lam[j])
        s.lam[j] = target


@kernel
def certified(s, count):  # type: ignore[no-untyped-def]
    """Whether λ and z have a negligible duality gap."""
    gap, value, noise = 0.0, 0.0, 0.0
    for j in range(count):
        slack = s.margins[j] - inner(s.rows, j, s.z)
        hinge = s.weights[j] * max(slack, 0.0)
        gap += hinge - s.lam[j] * slack
        value += hinge + 0.5 * s.lam[j] * (s.slack[j] - slack)
        noise += s.weights[j] * (abs(s.margins[j]) + abs(s.slack[j]))
    return gap <= TOL * value + ROUNDING * noise


@kernel
def ascend(s, count):  # type: ignore[no-untyped-def]
    """Maximize the dual from the multipliers in `s.lam`; sets λ and z, and says whether they are optimal."""
    if not slack_at_center(s, count):
        for j in range(count):
            s.lam[j] = 0.0
    from_multipliers(s, count)
    last = np.inf
    for _ in range(PASSES):
        largest = _pass(s, count)
        if largest == 0.0 or count == 1:
            return True
        if largest <= STILL or (largest <= STALLED and largest > 0.5 * last):
            break
        last = largest
        _newton_on_face(s, count)
    from_multipliers(s, count)
    return certified(s, count)
