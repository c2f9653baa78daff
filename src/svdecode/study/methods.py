"""What a study compares: a method is a way to make estimators, and the values that are tried."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from svdecode._checks import check_choice

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
    svdecode.study.baselines : The methods that come with the package.

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

    @property
    def seeded(self) -> bool:
        """Whether its fits depend on a random state."""
        return "random_state" in inspect.signature(self.make).parameters

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


def _values(values: Any, name: str) -> tuple[Any, ...]:
    """Values to try, at least one; a single number or name counts as one."""
    several = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    listed: Sequence[Any] = list(values) if several else [values]
    out = tuple(v.item() if hasattr(v, "item") and getattr(v, "ndim", 1) == 0 else v for v in listed)
    if not out:
        raise ValueError(f"{name}: found no value, expected at least one")
    return out
