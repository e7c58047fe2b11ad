"""The page of 500 000 stacks a side opens and can be clicked; -s prints how fast."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

# When the page is there and its script at rest.
LOADED = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
# From a click on a frame until its picture is painted: a message that is sent in a
# frame arrives when the frame is done.
CLICKED = """async ([x, y]) => {
  const canvas = document.querySelector(".flame-space canvas");
  const { left, top } = canvas.getBoundingClientRect();
  const painted = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  }));
  await painted();
  const start = performance.now();
  canvas.dispatchEvent(new MouseEvent("click", { clientX: left + x, clientY: top + y }));
  await painted();
  return performance.now() - start;
}"""
# In a process of its own: 1.5 GB, which this one would not give back.
MAKES = """
import sys
from pathlib import Path
from pprofdiff.cli.main import main
from tests.benchmarks.inputs import make
pair = make(Path(sys.argv[1]), 500_000)
sys.exit(main([str(pair.base), str(pair.new), "-q", "-o", sys.argv[2]]))
"""
ROOT = Path(__file__).parents[2]
PLACES = [(60, 28), (60, 47), (300, 66), (200, 85), (100, 104)]


@pytest.mark.whole
def test_a_page_of_500_000_stacks_opens_and_zooms(opened, tmp_path):
    path = tmp_path / "x.html"
    words = [sys.executable, "-c", MAKES, tmp_path, path]
    subprocess.run(words, check=True, cwd=ROOT)
    opening, clicks = [], []
    for _ in range(3):
        with opened(path, fragment="#cpu;", reduced_motion="reduce") as page:
            page.locator("a.flame-to").first.wait_for(state="attached")
            opening.append(page.evaluate(LOADED))
            clicks += (page.evaluate(CLICKED, place) for place in PLACES)
            assert page.evaluate("location.hash").count(",") >= 4
    print(
        f"opened in {median(opening):.0f} ms, clicks painted in {median(clicks):.0f} ms"
    )
