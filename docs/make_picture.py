"""Make docs/images/demo.png, the README's picture, from the demo's analysis of the embedded data.

Run it from the root of the repository: `.venv/bin/python docs/make_picture.py`.
"""

from pathlib import Path

from svdecode.datasets import load_haxby2001_slice
from svdecode.report import Projection, projections
from svdecode.report.demo.analysis import N_TRAINING_RUNS, comparable, split
from svdecode.report.style import GENSVD, SVD, page_style, render

TARGET = Path(__file__).parent / "images" / "demo.png"


def picture() -> bytes:
    """Training and new samples by SVD and by GenSVD, as in the first figure of the demo's page."""
    data = load_haxby2001_slice()
    one = split(comparable(data, scale=True), data, tuple(range(1, N_TRAINING_RUNS + 1)))
    panels = [
        Projection("SVD", one.plain, one.new, SVD),
        Projection("GenSVD", one.corrected, one.new, GENSVD),
    ]
    with page_style():
        return render(projections(panels, n_std=2), "png")


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(picture())
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")
