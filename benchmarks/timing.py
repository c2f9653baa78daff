"""Side by side: the contenders take turns in one process, so that all meet the same machine."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np


def race(contenders: Mapping[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Median seconds of each contender over `repeats` rounds (after one that does not count)."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for round_ in range(repeats + 1):
        for name, run in contenders.items():
            gc.collect()
            start = time.perf_counter()
            run()
            if round_:
                seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def spread(contenders: Mapping[str, Callable[[], object]], base: str, repeats: int = 7) -> None:
    """Print the medians, and their ratios to one of them."""
    medians = race(contenders, repeats)
    for name, value in medians.items():
        print(f"  {name:<42} {1e3 * value:10.2f} ms   {value / medians[base]:8.2f} x {base}")


class PeakMemory:
    """Peak of the memory that is the process's own (mapped files do not count), above the start."""

    def __enter__(self) -> PeakMemory:
        gc.collect()
        self.start = self.peak = own_memory()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.001):
            self.peak = max(self.peak, own_memory())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.peak = max(self.peak, own_memory())

    @property
    def megabytes(self) -> float:
        """Peak above the start, in units of 2**20 bytes."""
        return (self.peak - self.start) / 2**20


def own_memory() -> int:
    """Bytes of anonymous resident memory (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    raise OSError("no RssAnon in /proc/self/status: this benchmark runs on Linux")
