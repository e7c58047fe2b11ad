"""Charts and pictures in a real browser: references resolve, hatching and bold show."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

import pprofdiff
from pprofdiff import palette, plots
from pprofdiff.report.html.page import render
from pprofdiff.report.model import report_of
from tests.conftest import DATA, STORIES
from tests.examples import daily
from tests.plots.captured import measured_runs

# Every id that any attribute of any element refers to, and every id there is.
REFERENCES = """() => {
  const ids = [], referred = [];
  for (const element of document.querySelectorAll("*")) {
    if (element.id) ids.push(element.id);
    for (const { localName, value } of element.attributes) {
      for (const match of value.matchAll(/url\\(["']?#([^"')]*)["']?\\)/g)) referred.push(match[1]);
      if (localName === "href" && element.closest("svg") && value.startsWith("#")) referred.push(value.slice(1));
      if (/^aria-(labelledby|describedby)$/.test(localName)) referred.push(...value.split(/\\s+/));
    }
  }
  return { ids, referred };
}"""
# The box of the swatch of a label of the flame graph's legend, in which only "gone" is a
# word that stands nowhere else: the path nearest left of the label.
SWATCH = """(words) => {
  const box = (element) => element.getBoundingClientRect();
  const texts = [...document.querySelectorAll("text")].map((text) => [text.textContent, box(text)]);
  const line = texts.find(([text]) => text === "gone")[1], middle = (line.top + line.bottom) / 2;
  const label = texts.find(([text, { top }]) => text === words && Math.abs(top - line.top) < 2)[1];
  const left = [...document.querySelectorAll("path")].map(box).filter(({ top, bottom, right, height }) =>
    top < middle && middle < bottom && right < label.left && height < 2 * label.height);
  const { x, y, width, height } = left.sort((a, b) => b.right - a.right)[0];
  return { x, y, width, height };
}"""
# Boxes of elements that are filled with a pattern that is there.
HATCHED = """() => [...document.querySelectorAll("[fill^='url(#']")]
  .filter((element) => document.getElementById(/#(.*)\\)/.exec(element.getAttribute("fill"))[1])?.tagName === "pattern")
  .map((element) => element.getBoundingClientRect()).map(({ x, y, width, height }) => ({ x, y, width, height }))"""

# Of each chart its left and right, and its words: text, size in pixels, box.
WORDS = """() => [...document.querySelectorAll("svg.chart")].map((chart) => {
  const scale = chart.getScreenCTM().a, whole = chart.getBoundingClientRect();
  const texts = [...chart.querySelectorAll("text")].map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * scale, left, right, top, bottom];
  });
  return { box: [whole.left, whole.right], texts };
})"""

# Of each side, how its dots are drawn (stroke, fill) and how many there are.
DOTS = """() => {
  const hex = (colour) => "#" + colour.match(/\\d+/g).slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, "0")).join("");
  const dots = {};
  for (const dot of document.querySelectorAll("#why svg.chart use")) {
    const { stroke, fill, fillOpacity } = getComputedStyle(dot);
    const side = /s-(base|new)/.exec(dot.getAttribute("class"))[1];
    const count = dots[side]?.[2] ?? 0;
    dots[side] = [hex(stroke), fillOpacity === "0" ? "none" : hex(fill), count + 1];
  }
  return dots;
}"""


@pytest.fixture(scope="module", params=daily(palette.THEMES, ("dark",)))
def picture(request, tmp_path_factory):
    """Return the file of a picture with frames that are gone, and its theme."""
    compared = pprofdiff.compare(DATA / "zstd/base", DATA / "zstd/new")
    drawn = plots.picture(
        compared.comparison, "svg", answer="The answer.", theme=request.param
    )
    path = tmp_path_factory.mktemp("pictures") / "x.svg"
    path.write_bytes(drawn)
    return path, request.param


def inside(page, box):
    """Return the colours within a box, a pixel from its edges."""
    inner = {"x": 1, "y": 1, "width": -2, "height": -2}
    clip = {name: box[name] + by for name, by in inner.items()}
    with Image.open(BytesIO(page.screenshot(clip=clip))) as shot:
        counts = shot.convert("RGB").getcolors(shot.width * shot.height)
    return {f"#{red:02x}{green:02x}{blue:02x}" for _, (red, green, blue) in counts}


@pytest.mark.parametrize("story", daily(STORIES, STORIES[:1]))
def test_references_of_a_page_resolve(opened, written, story):
    with opened(written(f"{story}/base", f"{story}/new")) as page:
        assert page.locator("svg.chart").count() >= 3
        there = page.evaluate(REFERENCES)
    assert len(there["ids"]) == len(set(there["ids"]))
    assert len(set(there["referred"])) > 6
    assert set(there["referred"]) <= set(there["ids"])


@pytest.mark.whole
def test_the_swatch_of_what_is_gone_is_hatched(opened, picture):
    path, theme = picture
    with opened(path, width=1000, height=2200, device_scale_factor=3) as page:
        fills = {
            words: inside(page, page.evaluate(SWATCH, words))
            for words in ("less", "more", "gone", "new")
        }
    # A swatch of what changed has all shades, from left to right: this is the first strong one.
    assert fills["less"] == {palette.colour("better_2", theme)}
    assert fills["more"] == {palette.colour("worse_4", theme)}
    neutral = palette.colour("neutral", theme)
    assert fills["new"] == {neutral}
    assert palette.colour("faint", theme) in fills["gone"]
    assert fills["gone"] & {neutral, palette.colour("background", theme)}


def test_frames_that_are_gone_are_hatched(opened, picture):
    path, theme = picture
    with opened(path, width=1000, height=2200, device_scale_factor=3) as page:
        boxes = page.evaluate(HATCHED)
        assert len(boxes) > 20
        widest = max(boxes, key=lambda box: box["width"] * box["height"])
        colours = inside(page, widest)
    assert palette.colour("faint", theme) in colours
    assert colours & {palette.colour(name, theme) for name in palette.BETTER}


def test_the_answer_is_bold_and_nothing_else(opened, picture):
    with opened(picture[0]) as page:
        bold = page.evaluate(
            "[...document.querySelectorAll('text')]"
            ".filter((text) => getComputedStyle(text).fontWeight === '700')"
            ".map((text) => text.textContent)"
        )
    assert bold == ["The answer."]


@pytest.mark.parametrize("theme", daily(palette.THEMES, ("light",)))
def test_runs_are_dots_on_a_page(opened, tmp_path, theme):
    """Base's are rings, new's are filled: one can distinguish them without colours."""
    path = tmp_path / "runs.html"
    path.write_text(render(report_of(measured_runs())), "utf-8")
    for width in (1280, 480):
        with opened(path, theme=theme, width=width) as page:
            there = page.evaluate(REFERENCES)
            assert set(there["referred"]) <= set(there["ids"])
            chart = page.locator("#why svg.chart")
            assert chart.get_attribute("role") == "img"
            assert page.evaluate(DOTS) == {
                "base": [palette.colour("base", theme), "none", 4],
                "new": [palette.colour("new", theme), palette.colour("new", theme), 2],
            }
            wide, box = page.viewport_size["width"], chart.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= wide


@pytest.mark.parametrize("width", daily((360, 390, 1280), (360,)))
def test_words_of_charts_can_be_read(opened, written, width):
    """None is smaller than 11 px, none is cut off, and none lies over another."""
    with opened(written("syncpool/base", "syncpool/new"), width=width) as page:
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        charts = page.evaluate(WORDS)
    assert len(charts) >= 4
    for chart in charts:
        left, right = chart["box"]
        for text, size, x, end, *_ in chart["texts"]:
            assert size >= 11, text
            assert left - 1 <= x < end <= right + 1, text
        for i, one in enumerate(chart["texts"]):
            for other in chart["texts"][:i]:
                assert apart(one, other), (one, other)


def apart(one, other):
    """Return whether two texts have no more than a few pixels in common."""
    across = min(one[3], other[3]) - max(one[2], other[2])
    down = min(one[5], other[5]) - max(one[4], other[4])
    return across < 2 or down < 5
