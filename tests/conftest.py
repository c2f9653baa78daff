"""Puts `tests/` on the path, so that every test file can import the oracles beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
