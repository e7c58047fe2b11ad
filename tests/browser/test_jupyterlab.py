"""A notebook in the pages and styles of JupyterLab, in both of its themes."""

from __future__ import annotations

import pytest

from tests.browser.conftest import PATIENCE, notebook_page

pytestmark = pytest.mark.whole

CELLS = (
    """import pprofdiff
d = pprofdiff.diff("zstd/base/cpu.pb.gz", "zstd/new/cpu.pb.gz")
d""",
    "d.flamegraph(height=430)",
)
# Brightness, from 0 to 255, of what a dark and a light theme have behind text.
DARK, LIGHT = 60, 200


@pytest.fixture(scope="module", params=["dark", "light"])
def shown(request, chromium, tmp_path_factory):
    """Return the theme's name, the page and the frame of the graph, at rest."""
    path = tmp_path_factory.mktemp("lab") / "x.html"
    notebook_page(path, CELLS, request.param)
    # The scheme of the machine, which playwright imposes on frames too, is not asked.
    context = chromium.new_context(
        color_scheme="null", offline=True, viewport={"width": 1300, "height": 1200}
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri())
    page.locator("iframe[srcdoc]").wait_for()
    (frame,) = [f for f in page.frames if f.parent_frame is not None]
    frame.locator(".flames canvas").first.wait_for()
    yield request.param, page, frame
    context.close()


def brightness(frame):
    """Return how bright what stands behind the text of a frame is."""
    got = frame.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, got[4:-1].split(","))) / 3


def test_the_graph_has_the_theme_of_the_notebook(shown):
    theme, page, frame = shown
    assert (brightness(frame) < DARK) == (theme == "dark")
    assert (brightness(frame) > LIGHT) == (theme == "light")
    # And follows when another one is chosen.
    light = page.evaluate("document.body.dataset.jpThemeLight")
    other = "false" if light == "true" else "true"
    page.evaluate(f"document.body.dataset.jpThemeLight = '{other}'")
    frame.wait_for_function(
        f"() => matchMedia('(prefers-color-scheme: dark)').matches == {light}"
    )
    assert (brightness(frame) < DARK) == (theme == "light")
    page.evaluate(f"document.body.dataset.jpThemeLight = '{light}'")


def test_controls_take_one_line(shown):
    _, _, frame = shown
    buttons = frame.locator(":is(header, .flame-bar) button:visible").all()
    boxes = [button.bounding_box() for button in buttons]
    assert len(boxes) > 8
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    assert max(middles) - min(middles) < min(box["height"] for box in boxes) / 2
    # All of them are in sight.
    around = frame.frame_element().bounding_box()
    assert max(b["x"] + b["width"] for b in boxes) <= around["x"] + around["width"]
    title = frame.locator("h1").bounding_box()
    assert title["y"] < middles[0] < title["y"] + title["height"]
    # No two of them lie on each other.
    for i, one in enumerate(boxes):
        for other in (*boxes[:i], title):
            overlap = min(one["x"] + one["width"], other["x"] + other["width"])
            overlap -= max(one["x"], other["x"])
            assert overlap <= 1.5
    top = frame.locator(".flame-scroll").bounding_box()["y"]
    assert top - around["y"] < 75


def test_findings_are_left_aligned(shown):
    _, page, _ = shown
    card = page.locator(".pprofdiff p").first
    aligned = card.evaluate("e => getComputedStyle(e).textAlign")
    assert aligned in ("left", "start", "-webkit-left")
    left = card.evaluate(
        """e => [...e.childNodes].filter(n => n.nodeType == 3 && /\\d\\. /.test(n.data))
        .map(n => {
            const range = document.createRange();
            range.selectNodeContents(n);
            return Math.round(range.getClientRects()[0].left);
        })"""
    )
    assert len(left) > 1
    assert len(set(left)) == 1
