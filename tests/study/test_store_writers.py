"""Several writers fill one store, each cell once."""

import os
import pickle
import threading

import pytest
from study.stored import filled, in_a_process, make_cell, same, what_was_told

from svdecode.study import database as database_module
from svdecode.study.store import Store

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_a_writer_waits_for_another_and_says_when_it_gave_up(path, monkeypatch):
    monkeypatch.setattr(database_module, "WAIT", 0.05)
    with Store(path) as one, Store(path) as other:
        with (
            one._transaction(),
            pytest.raises(OSError, match=r"locked by another process .*, expected our turn"),
        ):
            other.put([make_cell(0)])
        assert other.put([make_cell(0)]) == 1


@needs_fork
def test_two_processes_fill_one_store(path):
    """From the same moment: 200 cells that both want, in opposite order, among 100 of each one's own."""
    ready, go = os.pipe()

    def fill(numbers):
        def work(tell):
            os.close(go)
            os.read(ready, 1)  # nothing comes: it ends when the parent lets go
            with Store(path) as store:
                for start in range(0, len(numbers), 5):
                    batch = [make_cell(number) for number in numbers[start : start + 5]]
                    tell(b"n", store.put(batch))

        return work

    one, other = list(range(300)), list(range(399, 99, -1))
    children = [in_a_process(fill(one)), in_a_process(fill(other))]
    os.close(ready)
    os.close(go)
    ends = [what_was_told(*child) for child in children]
    assert [status for status, _ in ends] == [0, 0]
    # each cell is new to exactly one of them
    new = [sum(number for kind, number in told if kind == b"n") for _, told in ends]
    assert sum(new) == 400
    assert min(new) >= 100
    with Store(path) as store:
        store.check()
        assert store.keys() == [f"{number:08d}" for number in range(400)]
        assert all(same(cell, make_cell(number)) for number, cell in enumerate(store.cells()))


def test_threads_take_turns(path):
    with Store(path) as store:

        def fill(first):
            for number in range(first, 80, 4):
                store.put([make_cell(number)])

        threads = [threading.Thread(target=fill, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store) == 80


def test_cells_can_be_put_while_others_are_read(path):
    with Store(filled(path, 1200)) as reader, Store(path) as writer:
        seen = 0
        for _ in reader.cells():
            seen += 1
            if seen == 600:
                assert writer.put([make_cell(5000)]) == 1
        assert seen == 1200


@needs_fork
def test_a_fork_takes_a_connection_of_its_own(path):
    with Store(path) as store:
        store.put([make_cell(0)])
        parents = store._connection

        def work(tell):
            tell(b"n", store.put([make_cell(1)]))
            tell(b"c", int(store._connection is parents))

        status, told = what_was_told(*in_a_process(work))
        assert (status, told) == (0, [(b"n", 1), (b"c", 0)])
        assert store.put([make_cell(2)]) == 1
        assert len(store) == 3


def test_a_store_is_pickled_as_its_path(path):
    with Store(filled(path), read_only=True) as store, pickle.loads(pickle.dumps(store)) as other:
        assert (len(other), other.path, other.read_only) == (30, path, True)
