"""Sphinx: the pages of this folder, the reference from the docstrings, the gallery from examples/."""

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
autodoc_default_options = {  # scikit-learn's own, whose docstrings refer to its glossary
    "exclude-members": "set_fit_request, set_transform_request, set_score_request, set_predict_request"
}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "min_reported_time": 10**6,  # no page of timings
    "show_signature": False,
    "download_all_examples": False,
}
