"""Small matrices want one thread: more wait for each other, and for those of a second library.

numpy and scipy may each bring a BLAS with threads of its own, which keep a core busy for a while after
each call.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1_000_000  # numbers in a matrix from which more than one thread gains


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Finding the libraries takes longer than a fit: once."""
    return ThreadpoolController()


def threads_for(size: int) -> AbstractContextManager[Any]:
    """Let BLAS use one thread while matrices are small.

    Parameters
    ----------
    size : int
        How many numbers the reduced data have.

    Returns
    -------
    context manager
        That does nothing for large matrices.
    """
    if size >= LARGE:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]
