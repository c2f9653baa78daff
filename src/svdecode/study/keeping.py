"""Where a study's cells go: a store that stays, or one that is gone with the result."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from svdecode.study.cells import Cell
from svdecode.study.progress import Advance
from svdecode.study.store import Store

EVERY = 0.5
"""Seconds between two writings to the store."""


class Keeper:
    """A store, and the folder that goes with it where it is a temporary one.

    Parameters
    ----------
    store : path, Store or None
        None for a temporary one.
    """

    def __init__(self, store: Any = None) -> None:
        self.folder: TemporaryDirectory[str] | None = None
        if store is None:
            self.folder = TemporaryDirectory(prefix="svdecode-", ignore_cleanup_errors=True)
            store = Path(self.folder.name) / "study.sqlite"
        self.store = store if isinstance(store, Store) else Store(store)

    def stopped(self, n_done: int, n_cells: int) -> str:
        """What a user who stopped a study is told."""
        if self.folder is not None:
            return f"stopped: {n_done} of {n_cells} cells were done; none is kept, for want of a store"
        return (
            f"stopped: {n_done} of {n_cells} cells are done and in {self.store.path}; run the same study "
            "with the same store to go on"
        )


class Writer:
    """Puts cells into the store a few at a time.

    Parameters
    ----------
    store : Store
        Open.
    advance : callable
        Told how many were put.
    """

    def __init__(self, store: Store, advance: Advance) -> None:
        self._store, self._advance = store, advance
        self._waiting: list[Cell] = []
        self._last = time.monotonic()

    def put(self, cell: Cell) -> None:
        """Take a cell; write now and then."""
        self._waiting.append(cell)
        if time.monotonic() - self._last > EVERY:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        if self._waiting:
            self._store.put(self._waiting)
            n_cells, self._waiting = len(self._waiting), []  # not before they are there
            self._advance(n_cells)
        self._last = time.monotonic()
