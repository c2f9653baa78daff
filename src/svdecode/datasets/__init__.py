"""Data to start with: measured ones, embedded or beside the package, and simulated ones with known truth."""

from svdecode.datasets.catalog import Record, available, info, load
from svdecode.datasets.haxby import load_haxby2001_slice
from svdecode.datasets.simulation import make_decoding

__all__ = ["Record", "available", "info", "load", "load_haxby2001_slice", "make_decoding"]
