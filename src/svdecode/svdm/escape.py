"""One component more, where the certificate names one that lowers the objective."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from svdecode._checks import FloatArray
from svdecode.svdm.convex import Certificate
from svdecode.svdm.fitting import Fit, Solving
from svdecode.svdm.kernels.alternation import basis_step
from svdecode.svdm.multipliers import MethodOfMultipliers
from svdecode.svdm.objective import Factors, Objective
from svdecode.svdm.solver import Result, iterate

PROVED = 1e-6  # relative gap up to which a fit counts as globally optimal
FIRST_STEPS = 2.0 ** -np.arange(13)  # sizes of the new component that are tried, in shares of the objective
SAME = 1e-6  # relative difference up to which an objective counts as that of the fit

OTHERS = "X, y: found other samples or labels than those of the fit, expected the same"


class Escape(NamedTuple):
    """A component that a fit lacks: what adding it does, and what it looks like.

    Adding √t of it, for a small t, costs t in penalties and changes the objective by t · `slope` to first
    order, while the other components follow so that margins that are met stay met.
    """

    slope: float
    """Negative where the component is worth more than it costs in penalties."""
    coordinates: FloatArray
    """z, (n_samples,)."""
    component: FloatArray | None
    """w, (n_features,), in units of the input; None where the kernel is not linear."""
    discriminants: FloatArray
    """θ, (k,)."""


class CanEscape:
    """What a fit of "balanced" knows of the component that it lacks."""

    n_components: int
    shrinkage: float
    objective_: float
    optimality_gap_: float

    def escape_direction(self) -> Escape:
        """Component that would lower the objective most, by what the certificate says.

        Returns
        -------
        Escape
            Its slope is negative where more components would give a lower objective at these weights of the
            penalties, and 0 up to the fit's accuracy where the fit is proved globally optimal.
        """
        check_is_fitted(self)
        known = self._known_escape()
        return Escape(known["slope"], known["coordinates"], known.get("component"), known["discriminants"])

    def add_component(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit with one component more, from this fit and the direction in which its certificate fails.

        The penalties of a component stay as they are: `shrinkage`, which is shared by all components, grows
        with their number, so that the two objectives are comparable.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            Training samples, as they were given to `fit`.
        y : array of shape (n_samples,) or (n_samples, k)
            Their labels, likewise.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples' hinges, likewise.

        Returns
        -------
        SVDMClassifier
            Another classifier, fitted; its objective is not higher.
        """
        check_is_fitted(self)
        known = self._known_escape()
        if self.optimality_gap_ <= PROVED * self.objective_:
            raise ValueError(
                "n_components: found a fit that is proved globally optimal, expected one that lacks something"
            )
        one_more: Any = clone(self)
        one_more.set_params(
            n_components=len(known["theta"]) + 1,
            shrinkage=self.shrinkage * (len(known["theta"]) + 1) / self.n_components,
            init="svd",
        )

        def minimize(
            objective: Objective, _rank: int, solving: Solving, _rng: Any
        ) -> tuple[Result, FloatArray]:
            if (len(objective.X), objective.Y.shape[1]) != known["multipliers"].shape:
                raise ValueError(OTHERS)
            result = one_component_more(objective, known, self.objective_, solving)
            return result, np.array([result.objective])

        one_more._fit(X, y, sample_weight, minimize)
        return one_more  # type: ignore[no-any-return]

    def _known_escape(self) -> dict[str, Any]:
        known: dict[str, Any] | None = getattr(self, "_escape", None)
        if known is None:
            raise ValueError("formulation: found one without a convex problem behind it, expected 'balanced'")
        return known


def remembered(fit: Fit, certificate: Certificate) -> dict[str, Any]:
    """What a fitted classifier keeps, in plain arrays, to name the direction and to start from it.

    Parameters
    ----------
    fit : Fit
        Of `balanced`.
    certificate : Certificate
        Its own.

    Returns
    -------
    dict
        The component's image is in reduced coordinates still.
    """
    factors = fit.result.factors
    return {
        "slope": certificate.slope, "coordinates": certificate.coordinates,
        "discriminants": certificate.discriminants, "multipliers": fit.result.multipliers,
        "image": certificate.image, "z": factors.Z, "theta": factors.Theta, "bias": factors.bias,
    }  # fmt: skip


def one_component_more(
    objective: Objective, known: dict[str, Any], before: float, solving: Solving
) -> Result:
    """Minimize from a fit and the direction that it lacks, by the method of multipliers, warm.

    Parameters
    ----------
    objective : Objective
        `balanced`, with the penalties of the fit.
    known : dict
        Made by `remembered`.
    before : float
        Objective of the fit.
    solving : Solving
        Stopping rule.

    Returns
    -------
    Result
        Not above `before`: where that was not to be had, the fit itself with an empty component.
    """
    old = _with_component(objective, known, 0.0)
    if not abs(objective.value(old) - before) <= SAME * abs(before):
        raise ValueError(OTHERS)
    start = old
    for share in FIRST_STEPS:  # as far as the objective falls with the other components held
        start = _with_component(objective, known, share * before)
        if objective.value(start) < before:
            break
    scheme = MethodOfMultipliers(objective, start, tol=solving.tol, multipliers=known["multipliers"])
    result = iterate(scheme, tol=solving.tol, max_iter=solving.max_iter, callback=solving.callback)
    if result.objective <= before:
        return result
    value = objective.value(old)
    return replace(
        result, factors=old, multipliers=known["multipliers"], objective=value, history=np.array([value]),
        stationarity=objective.stationarity(old, known["multipliers"]), converged=False,
        message="no lower point was found",
    )  # fmt: skip


def _with_component(objective: Objective, known: dict[str, Any], cost: float) -> Factors:
    """The fit's factors beside so much of the new component, and the basis for these coordinates."""
    root = np.sqrt(cost)
    Z = np.ascontiguousarray(np.column_stack([known["z"], root * known["coordinates"]]))
    Theta = np.vstack([known["theta"], root * known["discriminants"]])
    r = objective.X.shape[1]
    factors = Factors(Z, np.zeros((Z.shape[1], r)), np.zeros(r), Theta, known["bias"].copy())
    basis_step(objective.X, objective.numbers(), *factors[:3])
    return factors
