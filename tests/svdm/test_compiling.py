"""A long compilation is announced once; a short one, or somebody else's, is not."""

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from numba import njit
from numba.core import event

from svdecode.svdm import compiling
from svdecode.svdm.compiling import MESSAGE, Announcer, announce_compilation


def compiled(module="svdecode.svdm.kernels.fake"):
    """Compile a small function that says it lives there."""

    def double(x):
        return 2 * x

    double.__module__ = module
    assert njit(double)(21) == 42


def test_long_compilation_is_announced_once(capsys):
    with event.install_listener("numba:compile", Announcer(patience=0.0)):
        compiled()
        compiled()
    assert capsys.readouterr().err == MESSAGE + "\n"


def test_short_compilation_is_silent(capsys):
    with event.install_listener("numba:compile", Announcer(patience=60.0)):
        compiled()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("module", ["elsewhere", "svdecoder.kernels"])
def test_other_packages_are_not_ours(module, capsys):
    with event.install_listener("numba:compile", Announcer(patience=0.0)):
        compiled(module)
    assert capsys.readouterr().err == ""


def test_short_compilations_add_up(capsys, monkeypatch):
    """Many functions of a second each are a long wait too; nested ones are counted once."""
    clock, asked = [0.0], []

    class Timer:
        def __init__(self, seconds, function):
            asked.append(seconds)

        def start(self):
            pass

        cancel = start

    monkeypatch.setattr(compiling, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(compiling, "threading", SimpleNamespace(Timer=Timer, Lock=threading.Lock))
    announcer = Announcer(patience=2.0)
    fake = SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__="svdecode.x"))}
    )
    for _ in range(3):
        announcer.on_start(fake)
        announcer.on_start(fake)  # a function that the first one calls
        clock[0] += 0.75
        announcer.on_end(fake)
        announcer.on_end(fake)
    assert asked == [2.0, 1.25, 0.5]


def test_the_line_comes_while_the_compiler_works(capsys):
    announcer = Announcer(patience=0.01)
    fake = SimpleNamespace(
        data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__="svdecode.x"))}
    )
    announcer.on_start(fake)
    for _ in range(500):
        if announcer.said:
            break
        time.sleep(0.01)
    assert announcer.said
    announcer.on_end(fake)
    assert capsys.readouterr().err == MESSAGE + "\n"


def test_importing_the_estimators_watches_once():
    code = (
        "import svdecode.svdm\n"
        "from numba.core import event\n"
        "from svdecode.svdm.compiling import Announcer, announce_compilation\n"
        "assert announce_compilation() is announce_compilation()\n"
        "print(sum(isinstance(x, Announcer) for x in event._registered['numba:compile']))\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "1"
    assert printed.stderr == ""
    assert announce_compilation().patience == 2.0
