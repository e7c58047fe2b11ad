"""Draw the README's picture of a page anew: ``python -m tests.browser.picture``."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from pprofdiff.cli import main
from tests.browser.conftest import FLAGS
from tests.conftest import DATA

PICTURE = Path(__file__).parent / "page.png"


def draw():
    """Write the top of a page, and its flame graph below."""
    sides = [str(DATA / "zstd" / side) for side in ("base", "new")]
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "x.html"
        main([*sides, "--no-paths", "-q", "-o", str(path)])
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(
            viewport={"width": 1280, "height": 660}, reduced_motion="reduce"
        )
        page.goto(path.as_uri())
        top = page.screenshot()
        place = page.locator("#flame").bounding_box()
        strip = {**place, "x": 0, "width": 1280, "height": place["height"] + 24}
        PICTURE.write_bytes(stacked(top, page.screenshot(clip=strip, full_page=True)))
        browser.close()


def stacked(*pictures):
    """Return PNG files as one, each below the other, in few colours."""
    held = [Image.open(BytesIO(picture)).convert("RGB") for picture in pictures]
    size = max(p.width for p in held), sum(p.height for p in held)
    whole = Image.new("RGB", size, "white")
    below = 0
    for picture in held:
        whole.paste(picture, (0, below))
        below += picture.height
    out = BytesIO()
    whole.quantize(128).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    draw()
