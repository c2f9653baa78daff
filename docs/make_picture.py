"""Make docs/images/demo.png, the README's picture: the demo's page as a browser shows it.

It needs chromium. Run it from the root of the repository: `.venv/bin/python docs/make_picture.py`.
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

from svdecode.decoding.command import run
from svdecode.decoding.demo import demo_request

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "images" / "demo.png"
WIDTH, HEIGHT, SHOWN = 1000, 1010, 900

sys.path.insert(0, str(ROOT / "tests"))
from report.chromium import Chromium  # noqa: E402


def pictures(page: Path, folder: Path) -> list[Image.Image]:
    """Two parts of the page."""
    taken = []
    with Chromium(folder) as browser:
        browser.resize(WIDTH, HEIGHT)
        for title in ("Accuracy", "Maps"):
            browser.open(page)
            browser.run(
                f"[...document.querySelectorAll('[role=tab]')].find(t => t.textContent === '{title}').click()"
            )
            if title == "Maps":
                browser.run("document.querySelector('.tabs').scrollIntoView()")
            taken.append(Image.open(io.BytesIO(browser.picture())).convert("RGB"))
    return taken


def main() -> None:
    """Write the picture: both parts beside each other, in few colors."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(demo_request(), folder / "demo", n_jobs=2)
        parts = pictures(folder / "demo" / "report.html", folder / "profile")
    sheet = Image.new("RGB", (2 * SHOWN, HEIGHT), "white")
    margin = (WIDTH - SHOWN) // 2
    for number, part in enumerate(parts):
        sheet.paste(part.crop((margin, 0, margin + SHOWN, HEIGHT)), (number * SHOWN, 0))
    small = sheet.resize((1200, round(HEIGHT * 1200 / (2 * SHOWN))), Image.Resampling.LANCZOS)
    TARGET.parent.mkdir(exist_ok=True)
    small.quantize(128, dither=Image.Dither.NONE).save(TARGET, optimize=True)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
