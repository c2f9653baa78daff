"""Sphinx: the pages of this folder, the reference from the docstrings, the gallery from examples/."""

from typing import Any

import svdecode

project = "svdecode"
author = "The svdecode developers"
version = release = svdecode.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"svdecode {version}"

autodoc_typehints = "none"  # the docstrings give them in words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "min_reported_time": 10**6,  # no page of timings
    "show_signature": False,
    "download_all_examples": False,
}


def skip_metadata_requests(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Leave out scikit-learn's `set_…_request`, whose docstrings refer to its own glossary."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-skip-member", skip_metadata_requests)
