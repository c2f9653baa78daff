"""The front of the package: every public name is there when asked for, and none is imported before."""

import subprocess
import sys

import pytest

import svdecode


@pytest.mark.parametrize("name", svdecode.__all__)
def test_public_names_are_there(name):
    assert getattr(svdecode, name) is not None
    assert name in dir(svdecode)


def test_import_alone_loads_nothing_heavy():
    code = (
        "import sys, svdecode\n"
        "print(sorted({'numpy', 'sklearn', 'pandas', 'numba', 'nibabel', 'nilearn'} & set(sys.modules)))\n"
        "print(svdecode.datasets.load_haxby2001_slice().n_samples)\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["[]", "96"]


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'svdecode' has no attribute 'nothing'"):
        _ = svdecode.nothing
