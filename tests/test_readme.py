"""The README's example is ten lines or fewer, runs, and prints what the README says; its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language):
    blocks = re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"expected one block of {language}"
    return blocks[0]


def test_the_example_prints_what_the_readme_says(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", block("python")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == block("text")


def test_the_example_is_short():
    assert len(block("python").splitlines()) <= 10


def test_the_two_commands_come_first_and_exist():
    commands = re.findall(r"^\$ make (\w+)", README, flags=re.MULTILINE)
    assert commands == ["demo", "test"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(commands) <= set(targets)
    assert README.index("$ make demo") < README.index("## ")
