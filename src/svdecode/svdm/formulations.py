"""The published objectives and ours, a function each: which terms, with which weights.

All share  a·‖X − ZW‖²_F + Σ_ij h_ij·max(μ − Y_ij (ZΘ)_ij, 0) + penalties.  Here n and m are the
numbers of samples and features of the data as given, however small the reduced coordinates are;
with a kernel m is 1, because its feature space has no size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from svdecode._checks import FloatArray
from svdecode.svdm.objective import Objective
from svdecode.svdm.terms import (
    Bias,
    Box,
    ColumnBall,
    Hinge,
    Penalty,
    Reconstruction,
    RowBall,
    RowsAtMostOne,
    UnitRows,
)

#: what `basis_norm` means for the rows of W in `boxed` and `svm`
BASIS_NORMS: Mapping[str, type[Penalty]] = MappingProxyType(
    {"unit": UnitRows, "at_most_one": RowsAtMostOne, "free": Penalty}
)


@dataclass(frozen=True)
class Problem:
    """Data in reduced coordinates, and the weights that a user chooses.

    Attributes
    ----------
    X : array of shape (n, r)
        Centered rows over the scale s.
    Y : array of shape (n, k)
        Labels in {−1, 1}, 0 where unknown.
    sample_weights : array of shape (n, k)
        Weight of each entry's hinge, 1 by default.
    n_features : int
        m, of the data as given.
    n_components : int
        l, as asked for.
    shrinkage, hinge_weight, margin, reconstruction_weight, ridge : float
        The hyper-parameters.
    basis_norm : {"unit", "at_most_one", "free"}
        Rows of W in `boxed` and `svm`.
    """

    X: FloatArray
    Y: FloatArray
    sample_weights: FloatArray
    n_features: int
    n_components: int
    shrinkage: float = 1.0
    hinge_weight: float = 1.0
    margin: float = 1.0
    reconstruction_weight: float = 1.0
    ridge: float = 0.0
    basis_norm: str = "unit"


def _sizes(problem: Problem) -> tuple[int, int, int, int]:
    n, k = problem.Y.shape
    return n, problem.n_features, k, problem.n_components


def constrained(problem: Problem) -> Objective:
    """Pereira & Gordon 2006, §2.3: unit balls for the coordinates and the discriminants.

    ‖X − ZW‖² + hinge_weight·Σ max(margin − Y∘ZΘ, 0),  ‖z_i,1:‖ ≤ 1,  ‖θ_j‖ ≤ 1 with its bias.
    `hinge_weight` is the paper's D, `margin` its μ.

    Parameters
    ----------
    problem : Problem
        Data and weights.

    Returns
    -------
    Objective
        The sum of terms.
    """
    return Objective(
        problem.X,
        problem.Y,
        Reconstruction(1.0),
        Hinge(problem.hinge_weight * problem.sample_weights, problem.margin),
        z=RowBall(),
        theta=ColumnBall(),
        bias=Bias(confined=True),
        w=Penalty(problem.ridge),
        name="constrained",
        rho=5 * problem.hinge_weight / problem.margin,
        attained=problem.ridge > 0 or problem.n_components <= problem.Y.shape[1],
    )


def penalized(problem: Problem) -> Objective:
    """Pereira & Gordon, new formulation, §2: quadratic penalties on Z and Θ, bias and ones included.

    1/(nm)‖X − ZW‖² + 1/(nk) Σ max(1 − Y∘ZΘ, 0) + D (‖Z‖²/(n(1+l)) + ‖Θ‖²/((1+l)k)),
    D = `shrinkage`. Z's column of ones adds shrinkage/(1+l), which no variable can change.

    Parameters
    ----------
    problem : Problem
        Data and weights.

    Returns
    -------
    Objective
        The sum of terms.
    """
    n, m, k, l = _sizes(problem)
    a = problem.reconstruction_weight / (n * m)
    on_theta = problem.shrinkage / ((1 + l) * k)
    return Objective(
        problem.X,
        problem.Y,
        Reconstruction(a),
        Hinge(problem.sample_weights / (n * k), problem.margin),
        z=Penalty(problem.shrinkage / (n * (1 + l))),
        theta=Penalty(on_theta),
        bias=Bias(ridge=on_theta),
        w=Penalty(a * problem.ridge),
        constant=problem.shrinkage / (1 + l),
        name="penalized",
        rho=2 * problem.shrinkage / (n * k),
        attained=problem.ridge > 0 or l <= k,
    )


def boxed(problem: Problem) -> Objective:
    """Xi 2007, Parts I and II: discriminants in a box, basis images of norm one, no bias.

    ‖X − ZW‖² + λ Σ max(μ − Y∘ZΘ, 0),  |Θ_ij| ≤ 1,  ‖w_i‖ = 1 (`basis_norm`), X centered;
    `hinge_weight` is her λ, `margin` her μ.

    Parameters
    ----------
    problem : Problem
        Data and weights.

    Returns
    -------
    Objective
        The sum of terms.
    """
    return Objective(
        problem.X,
        problem.Y,
        Reconstruction(1.0, mean_is_free=False),
        Hinge(problem.hinge_weight * problem.sample_weights, problem.margin),
        z=Penalty(),
        theta=Box(),
        bias=Bias(present=False),
        w=BASIS_NORMS[problem.basis_norm](problem.ridge),
        name="boxed",
        rho=5 * problem.hinge_weight / problem.margin,
        attained=problem.basis_norm == "unit",
    )


def svm(problem: Problem) -> Objective:
    """Xi 2007, Part V: discriminants as in a support vector machine, bias not penalized.

    ‖X − ZW‖² + λ (½‖Θ‖² + C Σ max(1 − Y∘(ZΘ + b), 0)),  ‖w_i‖ = 1 (`basis_norm`), X centered;
    `shrinkage` is her λ, `hinge_weight` her λC.

    Parameters
    ----------
    problem : Problem
        Data and weights.

    Returns
    -------
    Objective
        The sum of terms.
    """
    return Objective(
        problem.X,
        problem.Y,
        Reconstruction(1.0, mean_is_free=False),
        Hinge(problem.hinge_weight * problem.sample_weights, problem.margin),
        z=Penalty(),
        theta=Penalty(0.5 * problem.shrinkage),
        bias=Bias(),
        w=BASIS_NORMS[problem.basis_norm](problem.ridge),
        name="svm",
        rho=5 * problem.hinge_weight / problem.margin,
        attained=problem.basis_norm == "unit",
    )


def balanced(problem: Problem) -> Objective:
    """Ours: every block penalized, so that minimizers exist and the gap to the convex problem is known.

    a‖X − ZW‖² + 1/(nk) Σ max(1 − Y∘ZΘ, 0) + shrinkage (‖Z₁:‖²/(nl) + ‖Θ₁:‖²/(lk) + ‖W₁:‖²/(lm)),
    a = reconstruction_weight/(nm); bias and mean image are free.

    Parameters
    ----------
    problem : Problem
        Data and weights.

    Returns
    -------
    Objective
        The sum of terms.
    """
    n, m, k, l = _sizes(problem)
    a = problem.reconstruction_weight / (n * m)
    on_theta, on_w = problem.shrinkage / (l * k), problem.shrinkage / (l * m) + a * problem.ridge
    return Objective(
        problem.X,
        problem.Y,
        Reconstruction(a),
        Hinge(problem.sample_weights / (n * k), problem.margin),
        z=Penalty(problem.shrinkage / (n * l)),
        theta=Penalty(on_theta),
        bias=Bias(),
        w=Penalty(on_w),
        name="balanced",
        rho=2 * a * on_theta / on_w,  # there the smooth problem is an SVD
        first_share=min(1.0, problem.shrinkage / 2),
    )


FORMULATIONS: Mapping[str, Callable[[Problem], Objective]] = MappingProxyType(
    {f.__name__: f for f in (constrained, penalized, boxed, svm, balanced)}
)
