"""Flame graphs of a notebook in a real browser: two of them, each in its own frame."""

from __future__ import annotations

import pytest

import pprofdiff
from tests.conftest import DATA

PAGE = '<!doctype html><meta charset="utf-8"><title>x</title><body id="keys">{}</body>'


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return a page that holds two flame graphs, as a notebook does."""
    html = [
        pprofdiff.diff(*(DATA / story / side / "cpu.pb.gz" for side in ("base", "new")))
        .flamegraph(height=430)
        ._repr_mimebundle_()["text/html"]
        for story in ("syncpool", "zstd")
    ]
    path = tmp_path_factory.mktemp("notebook") / "x.html"
    path.write_text(PAGE.format("".join(html)), "utf-8")
    return path


@pytest.mark.whole
def test_each_draws_in_its_frame_and_over_its_picture(chromium, page):
    context = chromium.new_context(
        offline=True, viewport={"width": 1000, "height": 1100}
    )
    opened = context.new_page()
    said, asked = [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(page.as_uri())
    frames = [frame for frame in opened.frames if frame.parent_frame is not None]
    assert len(frames) == 2
    for frame in frames:
        canvas = frame.locator(".flame-space canvas")
        canvas.wait_for()
        assert canvas.bounding_box()["height"] > 100
        assert frame.locator(".unscripted").count() == 0
        # A sandboxed frame is of no origin: nothing in it reaches the notebook.
        assert frame.evaluate("window.origin") == "null"
    for i in range(2):
        picture, frame = (
            opened.locator(tag).nth(i).bounding_box() for tag in ("img", "iframe")
        )
        assert frame["y"] <= picture["y"]
        assert frame["y"] + frame["height"] >= picture["y"] + picture["height"] - 1
        assert frame["height"] >= 430
    assert said == []
    assert all(url.startswith(("file:", "data:", "about:")) for url in asked)
    context.close()


@pytest.mark.whole
def test_without_scripts_the_frame_says_so(chromium, page, tmp_path):
    still = tmp_path / "still.html"
    html = page.read_text("utf-8").replace('sandbox="allow-scripts"', 'sandbox=""')
    still.write_text(html, "utf-8")
    context = chromium.new_context(offline=True)
    opened = context.new_page()
    opened.goto(still.as_uri())
    frame = opened.frame_locator("iframe").first
    assert "scripts are switched off" in frame.locator("body").inner_text()
    context.close()
