"""What a user may say to `SVDMClassifier`, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from svdecode._checks import check_choice, check_count, check_number
from svdecode.reduction.kernels import check_kernel
from svdecode.svdm.fitting import Solving, Weights
from svdecode.svdm.formulations import BASIS_NORMS, FORMULATIONS
from svdecode.svdm.reading import READOUTS


def check_weights(model: Any) -> Weights:
    """Read and check what concerns the objective.

    Parameters
    ----------
    model : SVDMClassifier
        Holds the parameters.

    Returns
    -------
    Weights
        The same, checked.
    """
    return Weights(
        check_choice(model.formulation, "formulation", tuple(FORMULATIONS)),
        check_count(model.n_components, "n_components"),
        check_number(model.shrinkage, "shrinkage", positive=True),
        check_number(model.hinge_weight, "hinge_weight"),
        check_number(model.margin, "margin", positive=True),
        check_number(model.reconstruction_weight, "reconstruction_weight", positive=True),
        check_number(model.ridge, "ridge"),
        check_choice(model.basis_norm, "basis_norm", tuple(BASIS_NORMS)),
    )


def check_solving(model: Any, n_samples: int) -> Solving:
    """Read and check what concerns the way to the minimum.

    Parameters
    ----------
    model : SVDMClassifier
        Holds the parameters.
    n_samples : int
        Number of training samples.

    Returns
    -------
    Solving
        The same, checked.
    """
    for name in ("scale", "rebalance"):
        check_choice(getattr(model, name), name, (True, False))
    check_choice(model.readout, "readout", tuple(READOUTS))
    check_kernel(model.kernel)
    _check_kernel_params(model.kernel_params)
    if model.callback is not None and not callable(model.callback):
        raise ValueError(f"callback: found {model.callback!r}, expected a callable or None")
    return Solving(
        check_choice(model.solver, "solver", ("auto", "splitting", "alternating")),
        check_choice(model.stopping, "stopping", ("stationary", "decrease")),
        check_number(model.tol, "tol", positive=True),
        check_count(model.max_iter, "max_iter"),
        bool(model.rebalance),
        _check_init(model.init, n_samples, model.n_components),
        check_count(model.n_init, "n_init"),
        model.callback,
    )


def _check_kernel_params(params: Any) -> None:
    names = ("gamma", "degree", "coef0")
    if params is not None and not (isinstance(params, Mapping) and set(params) <= set(names)):
        raise ValueError(
            f"kernel_params: found {params!r}, expected a dict with keys among {', '.join(map(repr, names))}"
        )


def _check_init(init: Any, n_samples: int, n_components: int) -> Any:
    if isinstance(init, str):
        return check_choice(init, "init", ("svd", "random"))
    start = np.asarray(init)
    if start.shape != (n_samples, n_components) or start.dtype.kind not in "fiub":
        raise ValueError(
            f"init: found an array of shape {start.shape}, expected 'svd', 'random' or numbers of shape "
            f"{(n_samples, n_components)} (samples, components)"
        )
    if not np.isfinite(start).all():
        raise ValueError("init: found NaN or infinity, expected finite coordinates")
    return start
