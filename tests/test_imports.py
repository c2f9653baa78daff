"""The import rules hold, and would be seen to be broken: each contract is tried on a copy that breaks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint(root):
    """Run import-linter on the package that lies in `root`, with the contracts that lie beside it."""
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, "-c", LINT_IMPORTS, "--no-cache"]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.fixture
def copy(tmp_path):
    """The package and its contracts, to be spoiled."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "src" / "svdecode",
        tmp_path / "src" / "svdecode",
        ignore=lambda _, names: [name for name in names if "." in name and not name.endswith(".py")],
    )
    return tmp_path


def test_the_rules_hold():
    result = lint(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


ONE_WAY = "data walks one way"
MATHEMATICS = "the mathematics imports no images, tables, plots or command line"
NILEARN = "only imaging imports nilearn"
OPTIONAL = "cvxpy and tensorly are optional, and each has its place"

BROKEN = {
    "the reduction imports what stands on it": ("reduction/new.py", "import svdecode.gensvd", ONE_WAY),
    "one method imports another": ("gensvd/new.py", "import svdecode.svdm", ONE_WAY),
    "a method imports images": ("svdm/new.py", "from svdecode.imaging import Dataset", ONE_WAY),
    "images import the command line": ("imaging/new.py", "import svdecode.cli", ONE_WAY),
    "a room that has no place": ("attic/__init__.py", "", ONE_WAY),
    "a method plots": ("svdm/new.py", "import matplotlib.pyplot", MATHEMATICS),
    "a method reads tables": ("gensvd/new.py", "from pandas import DataFrame", MATHEMATICS),
    "a room that is new is bound too": ("tensor/__init__.py", "import nibabel", MATHEMATICS),
    "the page makes brain plots": ("report/new.py", "import nilearn.plotting", NILEARN),
    "a solver needs an oracle": ("svdm/new.py", "import cvxpy", OPTIONAL),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_breach_is_seen(copy, case):
    path, line, contract = BROKEN[case]
    module = copy / "src" / "svdecode" / path
    module.parent.mkdir(exist_ok=True)
    module.write_text(line + "\n", encoding="utf-8")
    result = lint(copy)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{contract} BROKEN" in result.stdout
