"""Images and tables in, images out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from svdecode.imaging.dataset import Dataset

if TYPE_CHECKING:
    from svdecode.imaging.decoder import SVDMDecoder
    from svdecode.imaging.reading import read_dataset

__all__ = ["Dataset", "SVDMDecoder", "read_dataset"]

_HOMES = {"SVDMDecoder": "svdecode.imaging.decoder", "read_dataset": "svdecode.imaging.reading"}


def __getattr__(name: str) -> Any:
    """Import what needs nilearn when it is asked for: a Dataset alone does not wait for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
