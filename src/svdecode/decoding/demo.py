"""The demo: a decoding of the images that come with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from svdecode.datasets.haxby import CATEGORIES, FOLDER
from svdecode.decoding.command import merge


def demo_request() -> dict[str, Any]:
    """What `svdecode demo` asks for: block means of eight categories in 12 runs, of one slice."""
    codes, runs = np.loadtxt(FOLDER / "attributes.txt", dtype=np.intp).T
    table = pd.DataFrame({"label": np.array(CATEGORIES)[codes], "run": runs + 1})
    values = merge(
        {
            "images": [str(FOLDER / "bold.nii.gz")],
            "mask": str(FOLDER / "mask.nii.gz"),
            "drop": ["rest"],
            "detrend": True,
            "average_blocks": True,
            "name": "haxby2001_slice",
        }
    )
    return {**values, "labels": table}
