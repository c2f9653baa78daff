"""Cells whose every value follows from their number, and writers of them in processes of their own."""

import os
import signal
import struct
import sys
import traceback

import numpy as np

from svdecode.study.cells import Cell
from svdecode.study.store import Store

CLASSES = np.array(["bottle", "cat", "face", "Fußball"])
MARK = struct.Struct("<cq")


def make_cell(number, **changes):
    rng = np.random.default_rng(number)
    n_test = int(rng.integers(1, 30))
    values = {
        "key": f"{number:08d}",
        "dataset": "simulated",
        "method": ["svdm", "linear_svm"][number % 2],
        "parameters": {"shrinkage": float(rng.random()), "scale": bool(number % 3)},
        "n_components": None if number % 2 else number % 15 + 1,
        "fold": f"run {number % 8}",
        "seed": number,
        "test_rows": rng.choice(1000, n_test, replace=False),
        "classes": CLASSES,
        "predictions": rng.choice(CLASSES, n_test),
        "truth": rng.choice(CLASSES, n_test),
        "scores": rng.standard_normal((n_test, 4)),
        "accuracy": float(rng.random()),
        "chosen": {"hinge_weight": float(rng.random())},
        "seconds": float(rng.random()),
        "stationarity": np.nan if number % 5 == 0 else float(rng.random()),
        "converged": [None, True, False][number % 3],
        # now and then larger than a page of the file
        "dual": rng.standard_normal((4, 300)) if number % 4 == 0 else None,
        "extra": {"note": "ü" * (number % 50), "weights": [1, 2.5, None]},
    }
    return Cell(**values | changes)


def filled(path, n_cells=30):
    with Store(path) as store:
        store.put([make_cell(number) for number in range(n_cells)])
    return path


def same(one, other):
    """Whether two cells agree in every field, types of arrays included."""
    return all(_same(getattr(one, name), getattr(other, name)) for name in Cell.__dataclass_fields__)


def _same(one, other):
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and _equal(one, other)
    return type(one) is type(other) and _equal(one, other)


def _equal(one, other):
    if isinstance(one, float | np.ndarray) and np.asarray(one).dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other


def in_a_process(work):
    """Run `work(tell)` in a child; what it tells comes back through a pipe, kill or no kill."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            work(lambda kind, number: os.write(writing, MARK.pack(kind, number)))
            code = 0
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)  # nothing of the parent's is to be cleaned up
    os.close(writing)
    return child, reading


def kill(child):
    os.kill(child, signal.SIGKILL)


def what_was_told(child, reading):
    """How a child ended, and all that it told before."""
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    whole = len(told) // MARK.size * MARK.size
    return status, list(MARK.iter_unpack(told[:whole]))
