"""The file under the store: opened, made and written so that it survives whatever happens to the writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svdecode.study.cells import COLUMNS

FORMAT = 1
"""Version of the tables below: a store of another version is refused."""

APPLICATION = 0x53564443
"""What makes an SQLite file a store of ours ("SVDC"), in the place that SQLite keeps for it."""

SMALLEST = 512
"""Bytes of the smallest database; SQLite would take a smaller file for an empty one and write over it."""

WAIT = 60.0
"""Seconds to wait for another process that writes."""

TABLE = f"CREATE TABLE cells ({', '.join([f'{COLUMNS[0]} TEXT PRIMARY KEY NOT NULL', *COLUMNS[1:]])})"

INSERT = f"INSERT OR IGNORE INTO cells ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Open a store, or make one where there is none."""
    if path.is_dir():
        raise ValueError(f"store: found a folder at {path}, expected a file or the name of a new one")
    if not path.parent.is_dir():
        raise ValueError(f"store: found no folder {path.parent}, expected one that is there")
    if read_only and not path.exists():
        raise ValueError(f"store: found no file {path}, expected a store that is there")
    if 0 < (path.stat().st_size if path.exists() else 0) < SMALLEST:
        raise ValueError(f"store: found {path}, which is no store, expected a store or the name of a new one")
    mode = "ro" if read_only else "rwc"
    with told(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=WAIT,
            isolation_level=None,  # transactions begin where we say
            check_same_thread=False,
        )
        try:
            _prepare(connection, path, read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    """See that the file is a store of our version; fill an empty one."""
    if not read_only and _is_empty(connection):
        with transaction(connection):
            if _is_empty(connection):  # another process may have been quicker
                connection.execute(TABLE)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
    if _pragma(connection, "application_id") != APPLICATION:
        raise ValueError(f"store: found {path}, a database of another program, expected a store of svdecode")
    version = _pragma(connection, "user_version")
    if version != FORMAT:
        raise ValueError(
            f"store: found {path} in format {version}, expected format {FORMAT}; read it with the version of "
            "svdecode that wrote it, or begin a new file"
        )


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return not tables and _pragma(connection, "application_id") == 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All that is done within, or nothing."""
    try:
        # the write lock at once: two that read first and then want to write would wait for each other
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back already
            connection.execute("ROLLBACK")
        raise


MAY = "expected a file and a folder that may"

TROUBLE: dict[str, tuple[type[Exception], str]] = {
    "SQLITE_NOTADB": (
        ValueError,
        "found {path}, which is no store, expected a store or the name of a new one",
    ),
    "SQLITE_CORRUPT": (ValueError, "found damage in {path} ({error}), expected a whole file"),
    "SQLITE_FULL": (OSError, "found no room for {path} on the disk; what was stored before is kept"),
    "SQLITE_BUSY": (OSError, f"found {{path}} locked by another process for {WAIT:g} s, expected our turn"),
    "SQLITE_READONLY_ROLLBACK": (
        OSError,
        "found a write into {path} broken off; open it where it may be written",
    ),
    "SQLITE_READONLY": (OSError, f"found that {{path}} can't be written, {MAY} be written"),
    "SQLITE_CANTOPEN": (OSError, f"found that {{path}} can't be opened, {MAY} be read and written"),
    "SQLITE_PERM": (OSError, f"found that {{path}} can't be opened, {MAY} be read and written"),
}
"""SQLite's names of errors, the narrower first, and what we say."""


@contextmanager
def told(path: Path) -> Iterator[None]:
    """SQLite's errors as one line that says what was found."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for start, (kind, text) in TROUBLE.items():
            if name.startswith(start):
                raise kind("store: " + text.format(path=path, error=error)) from error
        raise OSError(f"store: found trouble with {path} ({error}; {name}), expected none") from error
