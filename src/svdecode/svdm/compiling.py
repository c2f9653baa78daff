"""Says so when the inner loops have to be compiled: once, on the first use after an installation.

Compiled code is cached on disk, so that only the first fit waits. Numba reports when it compiles (not
when it loads from the cache); a timer tells the user if that takes long.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from numba.core import event

#: seconds of silence
PATIENCE = 2.0
MESSAGE = "svdecode: compiling its inner loops (once, about a minute; later runs find them in the cache)"


class Announcer(event.Listener):
    """Prints one line to stderr when compilation has taken longer than the user should wait unknowing.

    Parameters
    ----------
    patience : float
        Seconds of compilation, in all, before the line is printed.
    package : str
        Whose functions are watched: others may use numba as well.
    """

    def __init__(self, patience: float = PATIENCE, package: str = "svdecode.") -> None:
        self.patience = patience
        self.package = package
        self.said = False
        self._lock = threading.Lock()
        self._depth = 0  # compiling one function may compile those that it calls
        self._spent = self._began = 0.0
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        """Start the clock with the outermost function.

        Parameters
        ----------
        event : numba.core.event.Event
            Has the dispatcher that compiles.
        """
        if not self._is_ours(event):
            return
        with self._lock:
            self._depth += 1
            if self._depth > 1 or self.said:
                return
            self._began = time.perf_counter()
            self._timer = threading.Timer(max(self.patience - self._spent, 0.0), self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """Stop the clock with the outermost function.

        Parameters
        ----------
        event : numba.core.event.Event
            Has the dispatcher that has compiled.
        """
        if not self._is_ours(event):
            return
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._spent += time.perf_counter() - self._began

    def _is_ours(self, event: Any) -> bool:
        dispatcher = (event.data or {}).get("dispatcher")
        home = getattr(getattr(dispatcher, "py_func", None), "__module__", None) or ""
        return home.startswith(self.package)

    def _say(self) -> None:
        with self._lock:
            if self.said:
                return
            self.said = True
        if sys.stderr is not None:
            print(MESSAGE, file=sys.stderr, flush=True)


_announcers: list[Announcer] = []


def announce_compilation() -> Announcer:
    """Watch for compilation in this process; calling it again changes nothing.

    Returns
    -------
    Announcer
        The one that watches.
    """
    if not _announcers:
        _announcers.append(Announcer())
        event.register("numba:compile", _announcers[0])
    return _announcers[0]
