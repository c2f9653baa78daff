"""Methods as a user names them, and what tells one way to make estimators from another."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import joblib
from sklearn.base import BaseEstimator, clone, is_classifier

from svdecode.study.keys import canonical_json
from svdecode.study.methods import METHODS, Method

VERSIONED = ("svdecode", "sklearn")
"""Packages whose functions are known by their names; of others the text counts too."""


class FromEstimator:
    """Makes copies of a scikit-learn estimator with other parameters: a method out of any classifier.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Not fitted.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def __call__(self, **parameters: Any) -> Any:
        """Return a copy with these parameters."""
        return clone(self.estimator).set_params(**parameters)


def read_methods(methods: Any) -> list[Method]:
    """Methods as the user may give them.

    Parameters
    ----------
    methods : str, Method, estimator, or a sequence of them, or a dict from names
        Names are those of `METHODS`.

    Returns
    -------
    list of Method
        Each with a name of its own.
    """
    if isinstance(methods, Mapping):
        named = list(methods.items())
    elif isinstance(methods, Iterable) and not isinstance(methods, str) and not is_estimator(methods):
        named = [(None, method) for method in methods]
    else:
        named = [(None, methods)]
    found = [_method(name, value) for name, value in named]
    if not found:
        raise ValueError("methods: found none, expected at least one")
    names = [method.name for method in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"methods: found {twice!r} twice, expected names that differ (a dict gives names to methods)"
        )
    for method in found:
        _check_makes(method)
    return found


def is_estimator(value: Any) -> bool:
    """Whether something can be fitted and asked: a pipeline, though one can go through its steps."""
    return hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type)


def _method(name: str | None, value: Any) -> Method:
    if name is not None and not (isinstance(name, str) and name):
        raise ValueError(f"methods: found the name {name!r}, expected names that are text")
    if isinstance(value, Method):
        return value if name is None else Method(**{**value.__dict__, "name": name})
    if isinstance(value, str):
        if value not in METHODS:
            raise ValueError(f"methods: found {value!r}, expected one of {', '.join(map(repr, METHODS))}")
        return METHODS[value](name=name)
    if is_estimator(value) and is_classifier(value):
        return Method(name or type(value).__name__, FromEstimator(value))
    raise ValueError(f"methods: found {value!r}, expected names, Methods or scikit-learn classifiers")


def _check_makes(method: Method) -> None:
    """Refuse a method that takes none of its own parameters, before anything is computed."""
    size = method.sizes[0] if method.sizes else None
    try:
        made = method.estimator(size, **method.candidates()[0])
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"methods: found that {method.name!r} makes no estimator ({error}), expected parameters that "
            "it has"
        ) from error
    if not is_estimator(made):
        raise ValueError(f"methods: found that {method.name!r} makes {made!r}, expected a classifier")


def identity(make: Any) -> str:
    """What makes the estimators, as text that is the same in every run and changes where it is changed.

    Parameters
    ----------
    make : callable
        Of a method.

    Returns
    -------
    str
        Module and name; of functions outside of packages also their text and what they enclose; of objects
        a hash of all they consist of.
    """
    if isinstance(make, partial):
        more = canonical_json([list(make.args), make.keywords], "make")
        return f"{identity(make.func)} with {more}"
    name = getattr(make, "__qualname__", None)
    if name is None:
        return f"{type(make).__module__}.{type(make).__qualname__} {joblib.hash(make)}"
    module = str(getattr(make, "__module__", ""))
    if module.partition(".")[0] in VERSIONED:
        return f"{module}.{name}"
    enclosed = [cell.cell_contents for cell in getattr(make, "__closure__", None) or ()]
    return f"{module}.{name} {joblib.hash([_text(make), getattr(make, '__defaults__', None), enclosed])}"


def _text(make: Any) -> Any:
    try:
        return inspect.getsource(make)
    except (OSError, TypeError):  # typed at a prompt
        code = getattr(make, "__code__", None)
        return None if code is None else (code.co_code, code.co_names, str(code.co_consts))
