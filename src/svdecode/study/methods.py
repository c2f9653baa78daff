"""What a study compares: a method is a way to make estimators, and the values that are tried.

`METHODS` has those that come with the package, by name: functions that make a `Method` with usual sizes
and grids, or with those that are given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from svdecode._checks import check_choice
from svdecode.study import baselines
from svdecode.svdm.candidates import HINGE_WEIGHTS, SEARCHED, SHRINKAGES

NEEDS = ("rows", "features")


@dataclass(frozen=True)
class Method:
    """A method of a study.

    Attributes
    ----------
    name : str
        In tables and stores.
    make : callable
        From parameters to a scikit-learn estimator, not fitted. A function of a module, so that methods
        can be sent to other processes.
    grid : dict of str to tuple
        Values of its parameters to choose from inside the training rows, the simplest first.
    sizes : tuple of int or None
        Values of `n_components` that are reported, each by itself; None for a method without components.
    needs : {"rows", "features"}
        "rows": depends on the samples through their inner products alone, so that it may be given
        coordinates of the samples in their own span; "features": must see the columns themselves.
    fixed : dict
        Parameters of `make` that are the same in all fits.

    See Also
    --------
    METHODS : The methods that come with the package.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from svdecode.study import Method
    >>> method = Method("ridge", RidgeClassifier, grid={"alpha": [10, 1]}, fixed={"solver": "svd"})
    >>> method.candidates()
    [{'alpha': 10}, {'alpha': 1}]
    >>> method.estimator(alpha=1)
    RidgeClassifier(alpha=1, solver='svd')
    """

    name: str
    make: Callable[..., Any]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    sizes: tuple[int, ...] | None = None
    needs: str = "features"
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.make):
            raise ValueError(f"make: found {self.make!r}, expected a function that makes an estimator")
        check_choice(self.needs, "needs", NEEDS)
        grid = {name: _values(values, name) for name, values in self.grid.items()}
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "fixed", dict(self.fixed))
        if self.sizes is not None:
            object.__setattr__(self, "sizes", _values(self.sizes, "sizes"))
        twice = set(grid) & set(self.fixed)
        if twice:
            raise ValueError(f"fixed: found {twice.pop()!r}, which the grid tries, expected it in one place")

    def candidates(self) -> list[dict[str, Any]]:
        """All combinations of the grid.

        Returns
        -------
        list of dict
            In the grid's order, its last parameter varying fastest; one empty dict for an empty grid.
        """
        return [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]

    def estimator(self, n_components: int | None = None, **parameters: Any) -> Any:
        """Make an estimator.

        Parameters
        ----------
        n_components : int, optional
            One of the sizes, for a method that has them.
        **parameters : object
            A candidate, and a `random_state` where the method is `seeded`.

        Returns
        -------
        scikit-learn estimator
            Not fitted.
        """
        size = {} if n_components is None else {"n_components": n_components}
        return self.make(**{**self.fixed, **size, **parameters})

    def param_grid(self) -> dict[str, list[Any]]:
        """Sizes and grid under the names that the estimator's steps give them, for GridSearchCV.

        Returns
        -------
        dict of str to list
            To search over with ``GridSearchCV(method.estimator(), method.param_grid())``.
        """
        values = {**({} if self.sizes is None else {"n_components": self.sizes}), **self.grid}
        estimator = self.estimator()
        return {_path(estimator, name): list(listed) for name, listed in values.items()}

    @property
    def seeded(self) -> bool:
        """Whether its fits depend on a random state: it takes one, none is fixed, and it starts at random."""
        if "random_state" in self.fixed or "random_state" not in inspect.signature(self.make).parameters:
            return False
        given = {path.split("__")[-1]: value for path, value in self.estimator().get_params().items()}
        # the SVDM starts from the SVD unless it is told otherwise
        return not (isinstance(given.get("init"), str) and given["init"] == "svd" and given["n_init"] == 1)

    def with_grid(self, **grid: Iterable[Any]) -> Method:
        """The same method with other values to try.

        Parameters
        ----------
        **grid : iterable
            Values of each parameter, the simplest first.

        Returns
        -------
        Method
            With these in place of its own values of the same parameters.
        """
        return replace(self, grid={**self.grid, **{name: _values(v, name) for name, v in grid.items()}})


#: names of a step's parameter that differ from those of the function that makes the pipeline
ALIASES = {"n_singular": "reduce__n_components", "selection_C": "select__C"}


def _path(estimator: Any, name: str) -> str:
    """Name of a parameter within an estimator; of a pipeline's steps the last that has it."""
    known = estimator.get_params()
    if name in known:
        return name
    steps = [step for step, _ in estimator.steps] if isinstance(estimator, Pipeline) else []
    for path in [ALIASES.get(name, ""), *(f"{step}__{name}" for step in reversed(steps))]:
        if path in known:
            return path
    raise ValueError(f"grid: found {name!r}, which {estimator!r} has not, expected one of its parameters")


def _values(values: Any, name: str) -> tuple[Any, ...]:
    """Values to try, at least one; a single number or name counts as one."""
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    listed: Sequence[Any] = list(values) if several else [values]
    out = tuple(v.item() if hasattr(v, "item") and getattr(v, "ndim", 1) == 0 else v for v in listed)
    if not out:
        raise ValueError(f"{name}: found no value, expected at least one")
    return out


SIZES = tuple(range(1, 16))
"""Numbers of components when none are given: those of Pereira & Gordon's SVDM (2006, 3.3)."""

C = (0.1, 1.0, 10.0, 100.0)
VOXELS = (50, 200, 1000, 5000)
ALPHAS = (10.0, 1.0, 0.1, 0.01)
#: for each method: whether it has components, what it needs, and its grid, the simplest first
_USUAL: dict[str, tuple[bool, str, dict[str, tuple[Any, ...]]]] = {
    "svdm": (True, "features", {}),  # the grids of SVDM's methods depend on the formulation
    "svdm_gnb": (True, "features", {}),
    "svdm_svm": (True, "features", {"C": (1.0,)}),
    "svd_gnb": (True, "rows", {}),
    "svd_svm": (True, "rows", {"C": C}),
    # ICA depends on inner products alone, but where it does not converge rounding errors show
    "ica_gnb": (True, "features", {}),
    "ica_svm": (True, "features", {"C": C}),
    "gnb": (False, "features", {}),
    "linear_svm": (False, "rows", {"C": C}),
    "pls_da": (True, "rows", {}),
    "shrinkage_lda": (False, "features", {}),  # the target of its shrinkage counts the features
    "nca": (True, "rows", {"n_singular": (10, 20, 40), "n_neighbors": (3, 1)}),
    "univariate_selection_svm": (False, "features", {"n_voxels": VOXELS, "C": C}),
    "recursive_selection_svm": (False, "features", {"n_voxels": VOXELS, "C": C}),
    "ridge": (False, "rows", {"alpha": ALPHAS}),
}


def make_method(kind: str, *, name: str | None = None, sizes: Any = None, **parameters: Any) -> Method:
    """Make a method of a named baseline.

    Parameters
    ----------
    kind : str
        One of `METHODS`.
    name : str, optional
        Its name in tables; `kind` by default.
    sizes : iterable of int, optional
        Numbers of components to report; 1 to 15 by default.
    **parameters : object
        Of the baseline: several values (a list, tuple or array) are a grid to choose from inside, in place
        of the usual one; a single value is the same in all fits.

    Returns
    -------
    Method
        For a `Study`.

    Examples
    --------
    >>> from svdecode.study import METHODS
    >>> METHODS["svd_svm"](sizes=[2, 4], C=[0.1, 1]).candidates()
    [{'C': 0.1}, {'C': 1}]
    >>> METHODS["svdm"](formulation="constrained").grid
    {'hinge_weight': (100.0, 1000.0, 10000.0, 100000.0)}
    >>> METHODS["svdm"](formulation="constrained", hinge_weight=50.0).fixed
    {'formulation': 'constrained', 'hinge_weight': 50.0}
    """
    has_sizes, needs, grid = _USUAL[check_choice(kind, "kind", tuple(_USUAL))]
    if kind.startswith("svdm"):
        searched = SEARCHED[
            check_choice(parameters.get("formulation", "balanced"), "formulation", tuple(SEARCHED))
        ]
        usual = {
            "shrinkage": tuple(sorted(SHRINKAGES, reverse=True)),
            "hinge_weight": tuple(sorted(HINGE_WEIGHTS)),
        }
        grid = {**{weight: usual[weight] for weight in searched}, **grid}
    if sizes is not None and not has_sizes:
        raise ValueError(f"sizes: found {sizes!r} for {kind!r}, which has no components, expected None")
    tried = {key: value for key, value in parameters.items() if isinstance(value, list | tuple | np.ndarray)}
    fixed = {key: value for key, value in parameters.items() if key not in tried}
    kept = {key: tuple(values) for key, values in {**grid, **tried}.items() if key not in fixed}
    reported = (SIZES if sizes is None else sizes) if has_sizes else None
    return Method(name or kind, getattr(baselines, kind), kept, reported, needs, fixed)


#: functions that make the methods of the package, by name: keywords as for `make_method`
METHODS: dict[str, Callable[..., Method]] = {kind: partial(make_method, kind) for kind in _USUAL}
