"""Files that are not as they should be are named, and left as they are."""

import os
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest
from study.stored import filled, in_a_process, make_cell, what_was_told

from svdecode.study.database import APPLICATION, FORMAT
from svdecode.study.store import Store

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_no_folder(tmp_path):
    with pytest.raises(ValueError, match=r"store: found no folder .*nowhere, expected one that is there"):
        Store(tmp_path / "nowhere" / "study.sqlite")


def test_a_folder(tmp_path):
    with pytest.raises(ValueError, match="store: found a folder at"):
        Store(tmp_path)


def test_no_file_to_read(path):
    with pytest.raises(ValueError, match=r"store: found no file .*, expected a store that is there"):
        Store(path, read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"accuracy,fold\n" * 100, b"x", os.urandom(5000)])
def test_a_file_that_is_no_store_is_left_alone(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"store: found .*study.sqlite, which is no store, expected"):
        Store(path)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_alone(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE cells (key TEXT)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(ValueError, match="a database of another program, expected a store of svdecode"):
        Store(path)
    assert path.read_bytes() == content


def test_another_format_is_refused(path):
    connection = sqlite3.connect(filled(path))
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(
        ValueError, match=f"found .* in format {FORMAT + 1}, expected format {FORMAT}; read it"
    ):
        Store(path)


def test_an_empty_file_becomes_a_store(path):
    path.touch()  # what a writer leaves that is killed at once
    assert len(Store(path)) == 0
    assert sqlite3.connect(path).execute("PRAGMA application_id").fetchone() == (APPLICATION,)


def test_an_empty_file_is_nothing_to_read(path):
    path.touch()
    with pytest.raises(ValueError, match="expected a store of svdecode"):
        Store(path, read_only=True)
    assert path.stat().st_size == 0


def test_damage_is_seen(path):
    content = bytearray(filled(path, 200).read_bytes())
    content[20000:60000] = os.urandom(40000)
    path.write_bytes(content)
    with (
        Store(path) as store,
        pytest.raises(ValueError, match=r"store: found damage in .*expected a whole file"),
    ):
        store.check()


def test_a_full_disk_loses_nothing(path):
    with Store(filled(path, 20)) as store:
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        big = [make_cell(number, dual=np.ones((4, 2000))) for number in range(20, 40)]
        with pytest.raises(
            OSError, match=r"store: found no room for .* on the disk; what was stored before is"
        ):
            store.put(big)
        assert len(store) == 20
        store.check()
        store._connection.execute("PRAGMA max_page_count = 100000")  # room was made
        assert store.put(big) == 20
        store.check()


def test_a_store_that_is_only_read(path):
    with Store(filled(path), read_only=True) as store:
        assert len(list(store.cells())) == 30
        with pytest.raises(
            OSError, match=r"store: found that .* can't be written, expected a file and a folder"
        ):
            store.put([make_cell(99)])


@needs_fork
@pytest.mark.parametrize("folder_mode", [0o755, 0o555])
def test_where_nobody_may_write_a_store_can_be_read(folder_mode):
    # as another user where the tests run as root, whom no mode stops
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        filled(folder / "study.sqlite").chmod(0o444)
        folder.chmod(folder_mode)

        def read_and_write(tell):
            if os.geteuid() == 0:
                os.setuid(65534)
            store = Store(folder / "study.sqlite")
            assert len(list(store.cells())) == 30
            with pytest.raises(OSError, match=r"study\.sqlite can't be written"):
                store.put([make_cell(99)])
            with pytest.raises(OSError, match=r"new\.sqlite can't be opened"):
                Store(folder / "new.sqlite")
            tell(b"!", 1)

        if folder_mode == 0o755 and os.geteuid() != 0:
            folder.chmod(0o555)  # our own folder: we could make a new file there
        status, told = what_was_told(*in_a_process(read_and_write))
        folder.chmod(0o755)
    assert (status, told) == (0, [(b"!", 1)])


def test_a_closed_store_says_so(path):
    store = Store(path)
    store.close()
    store.close()
    with pytest.raises(ValueError, match="closed, expected an open store"):
        store.put([make_cell(0)])
