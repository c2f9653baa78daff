"""The pages name files and functions that exist, their links lead somewhere, and their examples run."""

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in sorted(
        [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "user_guide").glob("*.md")]
    )
}
#: `path/in/the/tree.py`, and the names in it that may follow: `path.py`: `function`, `Class.method`
FILE = re.compile(r"`((?:src|tests|benchmarks|examples|docs|constraints)/[\w./-]+)`((?:[:,] `[\w.]+`)*)")
LINK = re.compile(r"\]\(((?!https?:)[^)#\s]+)[^)]*\)")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def missing(text, folder):
    """What a page names and the tree lacks."""
    for path, names in FILE.findall(text):
        if not (ROOT / path).exists():
            yield path
        elif names:
            defined = definitions(ROOT / path)
            yield from (f"{path}: {name}" for name in re.findall(r"[\w.]+", names) if name not in defined)
    yield from (link for link in LINK.findall(text) if not (folder / link).exists())


def definitions(path):
    """Functions, classes, methods and constants of a module."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
    return found


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_is_there(name):
    page = PAGES[name]
    assert not list(missing(page.read_text(encoding="utf-8"), page.parent))


def test_what_is_not_there_would_be_seen():
    text = (
        "`src/svdecode/nowhere.py`, `src/svdecode/reduction/core.py`: `reduce_rows`, `no_such_function` and "
        "`tests/test_docs.py`: `missing`; [a page](docs/no_such_page.md), [this](README.md#here)"
    )
    assert list(missing(text, ROOT)) == [
        "src/svdecode/nowhere.py",
        "src/svdecode/reduction/core.py: no_such_function",
        "docs/no_such_page.md",
    ]


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if ">>> " in page.read_text("utf-8")])
def test_the_examples_of_a_page_run(name):
    lines = PAGES[name].read_text(encoding="utf-8").splitlines()
    text = "\n".join("" if line.startswith("```") else line for line in lines)  # no fence is output
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    report = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)


def test_the_reference_has_every_public_package():
    exporting = {
        ".".join(init.parent.relative_to(ROOT / "src").parts)
        for init in (ROOT / "src" / "svdecode").rglob("__init__.py")
        if "__all__" in init.read_text(encoding="utf-8")
    } - {"svdecode"}  # it exports again what its rooms export
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"automodule:: ([\w.]+)", page)) == exporting
