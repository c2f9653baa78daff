"""Every public name is documented in numpydoc's form, and its example is one that pytest runs."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import tomllib
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import ERROR_MSGS, validate

import svdecode

CONFIGURED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
EXCLUDED = set(CONFIGURED["tool"]["numpydoc_validation"]["checks"]) - {"all"}
CHECKS = set(ERROR_MSGS) - EXCLUDED


def public_objects(package):
    """What `__all__` names in a package and its public modules: where it is defined -> object."""
    found = {}
    for path in [package.__name__, *public_modules(package)]:
        module = importlib.import_module(path)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return found


def public_modules(package):
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield info.name


def public_members(value):
    """Methods and properties that a class defines itself or takes from its own package."""
    for name, member in inspect.getmembers_static(value):
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        home = getattr(inspect.unwrap(function), "__module__", None) if inspect.isroutine(function) else None
        own = home is not None and home.split(".")[0] == value.__module__.split(".")[0]
        if own and not name.startswith("_"):
            yield name


def documented_names(package):
    """Every path whose docstring is checked, and whether an example is asked of it."""
    for path, value in public_objects(package).items():
        yield path, True
        if inspect.isclass(value):
            yield from ((f"{path}.{name}", False) for name in public_members(value))


def complaints(path, wants_example):
    """What is wrong with a docstring, in lines."""
    report = validate(path)
    found = [f"{code} {text}" for code, text in report["errors"] if code in CHECKS]
    value = pkgutil.resolve_name(path)
    if dataclasses.is_dataclass(value) and all_fields_are_attributes(value):
        found = [line for line in found if not line.startswith("PR01")]
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    runnable = [example for example in examples if not example.options.get(doctest.SKIP)]
    if wants_example and not runnable:
        found.append("EX01 No example that can be run")
    return found


def all_fields_are_attributes(value):
    """A dataclass documents its fields under Attributes; they are its parameters as well."""
    entries = get_doc_object(value)["Attributes"]
    documented = {name.strip() for entry in entries for name in entry.name.split(",")}
    return {field.name for field in dataclasses.fields(value)} <= documented


@pytest.mark.parametrize(("path", "wants_example"), list(documented_names(svdecode)))
def test_public_name_is_documented(path, wants_example):
    assert not complaints(path, wants_example)


def test_the_public_names_are_found():
    """So that the test above cannot pass by finding nothing."""
    paths = dict(documented_names(svdecode))
    assert paths["svdecode.gensvd.estimator.GenSVD"]
    assert paths["svdecode.reduction.core.reduce_rows"]
    assert not paths["svdecode.gensvd.estimator.GenSVD.fit_transform"]
    assert "svdecode.reduction.core.Reduction.rank" in paths  # a property
    assert not any("set_fit_request" in path for path in paths)  # scikit-learn's own


BAD = '''
"""A package whose public names are badly documented."""
from dataclasses import dataclass

__all__ = ["Model", "Record", "bare", "no_example", "not_run"]


class Model:
    """Model of nothing.

    Examples
    --------
    >>> 1 + 1
    2
    """

    def fit(self, X):
        """Fit it."""

    @property
    def size(self):
        return 0

    def _private(self):
        pass


@dataclass
class Record:
    """Record of two values.

    Attributes
    ----------
    first : int
        The first.

    Examples
    --------
    >>> 1 + 1
    2
    """

    first: int
    second: int


def bare(x):
    pass


def no_example(x):
    """Double a number.

    Parameters
    ----------
    x : float
        The number.
    """


def not_run():
    """Do nothing.

    Examples
    --------
    >>> not_run()  # doctest: +SKIP
    """
'''


def test_bad_docstrings_would_be_seen(tmp_path, monkeypatch):
    package = tmp_path / "badly_documented"
    package.mkdir()
    (package / "__init__.py").write_text(BAD, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = {
        path.partition(".")[2]: {line.split()[0] for line in complaints(path, wants_example)}
        for path, wants_example in documented_names(importlib.import_module("badly_documented"))
    }
    assert found == {
        "Model": set(),
        "Model.fit": {"PR01"},
        "Model.size": {"GL08"},
        "Record": {"PR01"},
        "bare": {"GL08", "EX01"},
        "no_example": {"EX01"},
        "not_run": {"EX01"},
    }
