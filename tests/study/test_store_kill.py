"""kill -9 at any moment: the store opens, holds what was put, and nothing that is half there.

A writer in a process of its own says through a pipe which cells it is about to put and which it has put.
It is killed, half of the times by a clock from outside (so inside the writing of pages, of the journal and
its removal, where most of the time goes), half of the times by itself after a random number of
the database's instructions (so between the rows of a transaction). What is then found in the file must be
exactly what was put, or that and the one batch on its way.
"""

import os
import signal
import time

import numpy as np
import pytest
from study.stored import in_a_process, kill, make_cell, same, what_was_told

from svdecode.study.store import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

N_KILLS = 200
#: after so many kills another store is begun, so that its making is interrupted too
KILLS_PER_STORE = 20


def writer(path, first, sizes, instructions=None):
    """Puts batches of the given sizes, from cell `first` on."""

    def work(tell):
        store = Store(path)
        if instructions is not None:
            store._connection.set_progress_handler(lambda: kill(os.getpid()), instructions)
        start = first
        for size in sizes:
            tell(b"?", start + size)
            store.put([make_cell(number) for number in range(start, start + size)])
            start += size
            tell(b"!", start)
        time.sleep(60)  # till it is killed

    return work


def put_and_kill(path, first, rng):
    """One writer's life; returns how many cells must be there and how many may be."""
    sizes = rng.integers(1, 12, size=40).tolist()
    by_clock = rng.random() < 0.5
    instructions = None if by_clock else int(rng.integers(1, 400))
    child, reading = in_a_process(writer(path, first, sizes, instructions))
    if by_clock:
        time.sleep(rng.uniform(0, 0.05))
        kill(child)
    status, told = what_was_told(child, reading)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    done = max([number for kind, number in told if kind == b"!"], default=first)
    begun = max([number for kind, number in told if kind == b"?"], default=first)
    return done, begun


def found(path):
    """The cells that a fresh process of ours finds, each compared with what was put."""
    with Store(path) as store:
        store.check()
        keys = store.keys()
        assert keys == [f"{number:08d}" for number in range(len(keys))]
        assert all(same(cell, make_cell(int(cell.key))) for cell in store.cells())
    return len(keys)


def test_killed_at_200_points(tmp_path):
    rng = np.random.default_rng(0)
    on_the_way = journals = begun_stores = 0
    for kill_number in range(N_KILLS):
        path = tmp_path / f"{kill_number // KILLS_PER_STORE}.sqlite"
        here = 0 if kill_number % KILLS_PER_STORE == 0 else here  # noqa: F821
        done, begun = put_and_kill(path, here, rng)
        journals += path.with_name(path.name + "-journal").exists()
        here = found(path)
        assert here in (done, begun), f"kill {kill_number}: {done} cells put, {begun} begun, {here} found"
        on_the_way += begun > done
        begun_stores += here > 0
    # the test had its chances: kills in the midst of a put, and journals that had to be rolled back
    assert on_the_way >= N_KILLS // 4
    assert journals >= N_KILLS // 10
    assert begun_stores >= N_KILLS // 2


@pytest.mark.parametrize("moment", range(12))
def test_killed_while_it_is_made(tmp_path, moment):
    """The making of a store takes a few dozen of the database's instructions: killed within them."""
    path = tmp_path / "study.sqlite"

    def work(tell):
        import sqlite3

        def connect(*args, **more):
            connection = sqlite3_connect(*args, **more)
            connection.set_progress_handler(lambda: kill(os.getpid()), 1 + 5 * moment)
            return connection

        sqlite3_connect, sqlite3.connect = sqlite3.connect, connect
        Store(path)
        time.sleep(60)

    child, reading = in_a_process(work)
    if moment > 8:
        time.sleep(0.05)
        kill(child)
    what_was_told(child, reading)
    with Store(path) as store:
        assert store.put([make_cell(0)]) == 1
    assert found(path) == 1


def test_one_of_two_writers_is_killed_and_the_other_goes_on(tmp_path):
    rng = np.random.default_rng(1)
    n_cells = 40
    for round_number in range(6):
        path = tmp_path / f"{round_number}.sqlite"

        def whole(tell, path=path):
            with Store(path) as store:
                for number in range(n_cells):
                    store.put([make_cell(number)])

        victim, victims = in_a_process(writer(path, 0, [1] * n_cells))
        other, others = in_a_process(whole)
        time.sleep(rng.uniform(0, 0.04))
        kill(victim)
        what_was_told(victim, victims)
        status, _ = what_was_told(other, others)
        assert status == 0
        assert found(path) == n_cells
