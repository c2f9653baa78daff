"""The list of oldest versions is the lower bounds that the package declares."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]


def lower_bounds(requirements):
    for requirement in map(Requirement, requirements):
        bounds = [Version(bound.version) for bound in requirement.specifier if bound.operator == ">="]
        assert len(bounds) == 1, f"{requirement}: expected one lower bound"
        yield requirement.name, bounds[0]


def test_oldest_versions_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = dict(lower_bounds(project["dependencies"]))
    for extra in ("scale", "oracle", "tensor", "vision", "test"):
        declared |= dict(lower_bounds(extras[extra]))
    lines = (ROOT / "constraints" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert {name: Version(version) for name, version in pinned.items()} == declared
