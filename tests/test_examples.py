"""Every script of the gallery runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.name)
def test_example_runs(script, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:__main__", str(script)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert script.name.startswith("plot_"), "sphinx-gallery runs no script of another name"
