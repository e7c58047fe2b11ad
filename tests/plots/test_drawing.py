"""SVG for the page and files that stand alone: themable, small, safe, the same bytes."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from PIL import Image

from pprofdiff import palette, plots
from pprofdiff.plots.compact import path_data
from pprofdiff.plots.drawing import CLASSES, SIZE
from tests.plots.captured import HOSTILE, STORIES, pools, story_logs, trace_diff

mpl.use("agg")

PATHS = re.compile(r"([MlhvqcZz])|(-?(?:\d+\.?\d*|\.\d+))")


@pytest.fixture(scope="module")
def page():
    """Return every chart of every story, and of the logs of sync-pool-gctrace."""
    diffs = [pools(), *map(story_logs, STORIES), *map(trace_diff, STORIES)]
    return [
        chart
        for number, diff in enumerate(diffs)
        for chart in plots.charts(diff, f"chart{number}")
    ]


def parsed(svg):
    """Return the root of an SVG text that we wrote."""
    return fromstring(svg)  # noqa: S314 - our own


def everything(svg):
    """Return all elements of an SVG text."""
    return [*parsed(svg).iter()]


def text_of(svg):
    """Return all text in an SVG."""
    return ["".join(element.itertext()) for element in everything(svg)]


def test_the_page_has_the_charts_it_should(page):
    held = [chart.id for chart in page]
    assert held.count("heap") == 11
    assert held.count("pauses") == 6
    assert held.count("latency") == held.count("mmu") == 5


def test_charts_are_small(page):
    assert max(len(chart.svg.encode()) for chart in page) <= 20_000


def test_nothing_in_a_chart_that_a_strict_policy_forbids(page):
    for chart in page:
        assert chart.svg.startswith('<svg class="chart" role="img"')
        for element in everything(chart.svg):
            assert element.tag in {
                "svg", "title", "desc", "defs", "clipPath", "g", "path", "use", "rect", "text",
            }  # fmt: skip
            for name, value in element.attrib.items():
                assert name not in ("style", "width", "height") or element.tag == "rect"
                assert not name.startswith("on")
                assert "font-family" not in name
                assert "://" not in value


def test_colours_of_charts_are_classes_that_the_css_has(page):
    css = plots.chart_css()
    for chart in page:
        for element in everything(chart.svg):
            for name in ("fill", "stroke"):
                assert element.get(name, "none") == "none", chart.id
            for word in element.get("class", "chart").split():
                assert f".{word}{{" in css
            if element.tag == "text":
                assert element.get("class"), "text would be black in the dark theme"


def test_css_takes_its_colours_from_the_palette_alone():
    rules = re.findall(
        r"\.([cs])-(\w+)\{(fill|stroke):var\((--[\w-]+)\)\}", plots.chart_css()
    )
    assert len(rules) == 2 * len(CLASSES)
    for letter, name, what, variable in rules:
        assert (letter, what) in (("c", "fill"), ("s", "stroke"))
        assert name in palette.COLOURS
        assert variable == palette.css_name(name)


def test_ids_are_unique_on_the_page(page):
    ids = [
        element.get("id")
        for chart in page
        for element in everything(chart.svg)
        if element.get("id")
    ]
    assert len(ids) == len(set(ids))


def test_what_is_referred_to_is_there(page):
    for chart in page:
        ids = {element.get("id") for element in everything(chart.svg)}
        for element in everything(chart.svg):
            used = re.findall(
                r"#([\w-]+)", element.get("href", "") + element.get("clip-path", "")
            )
            used += element.get("aria-labelledby", "").split()
            assert set(used) <= ids


def test_the_words_of_a_chart_are_its_text_alternative(page):
    for chart in page:
        root = parsed(chart.svg)
        title, words = (root.find(f"./{tag}") for tag in ("title", "desc"))
        assert (title.text, words.text) == (chart.title, chart.words)
        named = root.get("aria-labelledby").split()
        assert named == [title.get("id"), words.get("id")]


def test_charts_are_the_same_bytes_twice_whatever_the_settings(page):
    diff = pools()
    plain = plots.charts(diff, "chart0")
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        mpl.rcParams["lines.linewidth"] = 9
        again = plots.charts(diff, "chart0")
        assert mpl.rcParams["font.size"] == 30
        assert mpl.rcParams["lines.linewidth"] == 9
    assert again == plain == tuple(page[: len(plain)])


def test_drawing_leaves_no_figure_behind():
    before, known = plt.get_fignums(), dict(mpl.rcParams)
    plots.charts(pools(), "x")
    assert plt.get_fignums() == before
    assert dict(mpl.rcParams) == known


@pytest.mark.parametrize("label", HOSTILE, ids=ascii)
def test_hostile_labels_are_text(label):
    shown = "a\\u202eb\\x00\\n" if "\x00" in label else label
    for diff in (pools((label, label)), trace_diff("zstd", (label, label))):
        for chart in plots.charts(diff, label):
            assert sum(shown in text for text in text_of(chart.svg)) > 2
            assert "<b>" not in chart.svg
            assert "</script" not in chart.svg


@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize("theme", palette.THEMES)
def test_files_are_the_same_bytes_twice(form, theme):
    def draw(figure):
        plots.pauses(pools(), figure.subplots(), theme=theme)

    one = plots.image(draw, form, theme=theme, description="Pauses.")
    assert one == plots.image(draw, form, theme=theme, description="Pauses.")
    assert not re.search(rb"20\d\d-\d\d|date|creator|matplotlib", one, re.IGNORECASE)


def test_an_svg_file_stands_alone():
    diff = pools()
    data = plots.image(
        lambda f: plots.pauses(diff, f.subplots()), "svg", description="<P>"
    )
    root = parsed(data)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (root.get("width"), root.get("height")) == ("680", "250")
    assert root[0].text == "<P>"
    fills = {element.get("fill") for element in root.iter()}
    assert palette.colour("background") in fills
    assert palette.colour("base") in {element.get("stroke") for element in root.iter()}
    assert not any(element.get("class") for element in root.iter())


def test_a_png_has_the_size_and_the_background_asked_for(tmp_path):
    def draw(figure):
        plots.pauses(pools(), figure.subplots(), theme="dark")

    path = tmp_path / "x.png"
    path.write_bytes(plots.image(draw, "png", theme="dark"))
    with Image.open(path) as picture:
        assert picture.size == tuple(2 * n for n in SIZE)
        red, green, blue, *_ = picture.convert("RGB").getpixel((1, 1))
    assert f"#{red:02x}{green:02x}{blue:02x}" == palette.colour("background", "dark")


def points(data):
    """Return where relative path data goes, in order, by the SVG grammar."""
    at, found, letter, numbers = (0.0, 0.0), [], "", []
    sizes = {"M": 2, "l": 2, "h": 1, "v": 1, "q": 4, "c": 6}
    for letter_found, number in PATHS.findall(data):
        if letter_found:
            letter, numbers = letter_found, []
            continue
        numbers.append(float(number))
        if len(numbers) < sizes[letter]:
            continue
        if letter == "h":
            numbers = [numbers[0], 0.0]
        elif letter == "v":
            numbers = [0.0, numbers[0]]
        origin = (0.0, 0.0) if letter == "M" else at
        places = list(zip(numbers[::2], numbers[1::2], strict=True))
        found += [(origin[0] + x, origin[1] + y) for x, y in places]
        at, numbers = found[-1], []
        letter = "l" if letter == "M" else letter
    return found


coordinates = st.floats(-900, 900).map(lambda x: round(x, 6))
places = st.tuples(coordinates, coordinates)


def tenths(places):
    """Return places in whole tenths."""
    return [tuple(round(n * 10) for n in place) for place in places]


@settings(derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from("LQC"), st.lists(places, min_size=3, max_size=3))
    ),
    places,
)
def test_path_data_goes_where_it_went(segments, start):
    wanted, text = [start], f"M {start[0]} {start[1]} \n"
    for letter, held in segments:
        chosen = held[: {"L": 1, "Q": 2, "C": 3}[letter]]
        wanted += chosen
        text += f"{letter} {' '.join(f'{x} {y}' for x, y in chosen)} \n"
    found = tenths(points(path_data(text)))
    # Lines of no length are left out.
    assert set(found) == set(tenths(wanted))
    if all(letter == "L" for letter, _ in segments):
        assert found == [b for a, b in pairwise([None, *tenths(wanted)]) if a != b]


def test_path_data_is_short():
    assert path_data("M 10 20 \nL 10.04 20 \nL 13 20 \nL 13 -4.25 \nL 12.5 0.25 z") == (
        "M10 20h3v-24.2l-.5 4.4z"
    )
