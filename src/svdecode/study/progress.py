"""How far a study is, and when it will be done: a bar in a terminal, silence elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.progress import ProgressColumn as Column
from rich.text import Text

Advance = Callable[[int], None]


class EndTime(Column):
    """The time of day at which it should be done."""

    def render(self, task: Task) -> Text:
        """What stands in the column."""
        left = task.time_remaining
        if left is None or task.finished:
            return Text("")
        return Text(time.strftime("until %H:%M", time.localtime(time.time() + left)), style="cyan")


@contextmanager
def progress_bar(title: str, total: int, shown: bool | None) -> Iterator[Advance]:
    """Show a bar while a block runs.

    Parameters
    ----------
    title : str
        What is going on.
    total : int
        How many steps there are.
    shown : bool or None
        Whether to show it; None to do so where somebody may be looking, in a terminal.

    Yields
    ------
    callable
        To be told how many steps were done.
    """
    if shown is False or (shown is None and not sys.stderr.isatty()):
        yield lambda _: None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), EndTime(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=120) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)
