"""The store: every finished cell of a study in one file, so that nothing is computed twice or lost."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from svdecode.study.cells import COLUMNS, Cell, from_row, to_row
from svdecode.study.database import INSERT, connect, told, transaction

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 500
"""Cells that are asked for at a time."""


class Store:
    """A file that keeps the finished cells of studies.

    Cells are called by what they are computed from (`cell_key`), so a study that is started again finds
    what it has, whoever computed it. What `put` has returned from is on the disk: a process that is
    killed loses the cells that it had not put, and the file opens again. Several processes may fill one
    store. It is an SQLite database with a rollback journal, which, other than a write-ahead log, is one
    file when nobody writes, can be read where nobody may write, and works on network disks whose locks
    work.

    Parameters
    ----------
    path : path
        The file. It is made if it is not there; its folder has to be.
    read_only : bool, default False
        Never write: the file has to be there.

    See Also
    --------
    Cell : What it keeps.
    cell_key : What a cell is called.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svdecode.study import Cell, Store
    >>> cell = Cell(key="5f2c", dataset="haxby", method="svdm", fold="run 1", test_rows=[6, 7],
    ...             classes=["face", "house"], predictions=["face", "face"], accuracy=0.5)
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "study.sqlite") as store:
    ...     store.put([cell]), store.put([cell]), store.missing(["5f2c", "91aa"]), len(store)
    (1, 0, ['91aa'], 1)
    """

    def __init__(self, path: str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.path = Path(path)
        self.read_only = read_only
        self._lock = threading.RLock()  # threads of one process take turns
        self._inherited: list[sqlite3.Connection | None] = []
        self._pid = os.getpid()
        self._connection: sqlite3.Connection | None = connect(self.path, read_only)

    def put(self, cells: Iterable[Cell]) -> int:
        """Keep cells, all of them or none.

        Parameters
        ----------
        cells : iterable of Cell
            What is finished. A cell whose key is there already is left as it is.

        Returns
        -------
        int
            How many are new.
        """
        rows = [to_row(cell) for cell in cells]
        if not rows:
            return 0
        with self._transaction() as connection:
            before = connection.total_changes
            connection.executemany(INSERT, rows)
            return connection.total_changes - before

    def get(self, key: str) -> Cell | None:
        """Look a cell up.

        Parameters
        ----------
        key : str
            What it is called.

        Returns
        -------
        Cell or None
            None if it is not there.
        """
        return next(self.cells([key]), None)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Tell what remains to be computed.

        Parameters
        ----------
        keys : iterable of str
            The cells of a study.

        Returns
        -------
        list of str
            Those that are not in the store, in the order given, each once.
        """
        wanted = list(dict.fromkeys(keys))
        found = {key for part in _parts(wanted) for (key,) in self._select("key", part)}
        return [key for key in wanted if key not in found]

    def cells(self, keys: Iterable[str] | None = None, *, dual: bool = True) -> Iterator[Cell]:
        """Go through cells.

        They are read some hundreds at a time, and others may write in between.

        Parameters
        ----------
        keys : iterable of str, optional
            Which, and in which order; those that are not there are passed over. By default all, in the
            order of their keys.
        dual : bool, default True
            Whether to read the coefficients over the training rows too, the largest part.

        Yields
        ------
        Cell
            One after the other.
        """
        columns = COLUMNS if dual else COLUMNS[:-1]
        for part in _parts(self.keys() if keys is None else list(dict.fromkeys(keys))):
            rows = {row[0]: row for row in self._select(", ".join(columns), part)}
            yield from (from_row(dict(zip(columns, rows[key], strict=True))) for key in part if key in rows)

    def keys(self) -> list[str]:
        """List what is there.

        Returns
        -------
        list of str
            All keys, sorted.
        """
        return [key for (key,) in self._ask("SELECT key FROM cells ORDER BY key")]

    def check(self) -> None:
        """Read everything once, and refuse a store that is damaged."""
        found = [line for (line,) in self._ask("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise ValueError(f"store: found damage in {self.path} ({found[0]}), expected a whole file")
        for _ in self.cells():
            pass

    def to_frame(self, rows: str = "cells", keys: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the cells as a tidy table.

        Parameters
        ----------
        rows : {"cells", "samples"}
            What a row is: a cell with its parameters and its accuracy, or a test sample of a cell with
            what was predicted for it.
        keys : iterable of str, optional
            Which cells, by default all.

        Returns
        -------
        pandas.DataFrame
            Sorted by data set, method, components, seed and fold.
        """
        from svdecode.study.tables import frame

        return frame(self.cells(keys, dual=False), rows)

    def to_csv(self, path: str | os.PathLike[str], rows: str = "cells") -> None:
        """Write the table of `to_frame` as CSV, whole or not at all.

        Parameters
        ----------
        path : path
            The file to write; an older one is replaced.
        rows : {"cells", "samples"}
            What a row is.
        """
        from svdecode.study.tables import write_csv

        write_csv(self.to_frame(rows), path)

    def to_parquet(self, path: str | os.PathLike[str], rows: str = "cells") -> None:
        """Write the table of `to_frame` as Parquet, whole or not at all; this needs pyarrow.

        Parameters
        ----------
        path : path
            The file to write; an older one is replaced.
        rows : {"cells", "samples"}
            What a row is.
        """
        from svdecode.study.tables import write_parquet

        write_parquet(self.to_frame(rows), path)

    def close(self) -> None:
        """Close the file; what was put is there already."""
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def __len__(self) -> int:
        return int(self._ask("SELECT count(*) FROM cells")[0][0])

    def __contains__(self, key: object) -> bool:
        return bool(self._ask("SELECT 1 FROM cells WHERE key = ?", [key]))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.path, self.read_only)  # in another process: a connection of its own

    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError(f"store: found {self.path} closed, expected an open store")
        if self._pid != os.getpid():
            # a fork: SQLite forbids both to use and to close what the parent opened
            self._inherited.append(self._connection)
            self._pid, self._connection = os.getpid(), connect(self.path, self.read_only)
        return self._connection

    def _ask(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._lock, told(self.path):
            return self._live().execute(query, values).fetchall()

    def _select(self, columns: str, keys: Sequence[str]) -> list[tuple[Any, ...]]:
        places = ", ".join("?" * len(keys))
        return self._ask(f"SELECT {columns} FROM cells WHERE key IN ({places})", keys)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, told(self.path), transaction(self._live()) as connection:
            yield connection


def _reopened(path: Path, read_only: bool) -> Store:
    return Store(path, read_only=read_only)


def _parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))
