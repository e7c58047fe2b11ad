"""Draw the README's pictures of page and notebook: ``python -m tests.browser.picture``.

It needs the extra ``notebooks``.
"""

from __future__ import annotations

import re
import shutil
from contextlib import chdir, contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

from pprofdiff.cli.main import main
from tests.browser.conftest import FLAGS
from tests.conftest import DATA

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"


@contextmanager
def opened(path, *, width, height):
    """Open a file in a browser window."""
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        page.goto(path.as_uri())
        yield page
        browser.close()


def of_a_page(folder):
    """Return the top of a page, down to the end of its flame graph."""
    path = folder / "x.html"
    sides = [str(DATA / "zstd" / side) for side in ("base", "new")]
    main([*sides, "--no-paths", "-q", "-o", str(path)])
    with opened(path, width=1280, height=660) as page:
        place = page.locator("#flame").bounding_box()
        whole = {"x": 0, "y": 0, "width": 1280, "height": place["y"] + place["height"]}
        return (page.screenshot(clip=whole, full_page=True),)


def of_a_notebook(folder):
    """Return the README's first lines of Python as a notebook that ran."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    code = re.search(r"```python\n(.+?)\n```", README.read_text("utf-8"), re.DOTALL)[1]
    before, *shown = re.split(r"\n(?=d[. ](?!= ))", code)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(c) for c in (before, *shown)]
    with chdir(DATA):
        NotebookClient(notebook).execute()
    path = folder / "x.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    with opened(path, width=1000, height=1500) as page:
        page.wait_for_timeout(500)
        return (page.locator("main").screenshot(),)


def stacked(pictures):
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
    with TemporaryDirectory() as scratch:
        for name, draw in (("page", of_a_page), ("notebook", of_a_notebook)):
            (HERE / f"{name}.png").write_bytes(stacked(draw(Path(scratch))))
