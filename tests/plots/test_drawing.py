"""SVG for the page and files that stand alone: themable, small, safe, the same bytes."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pprofdiff import palette, plots
from pprofdiff.plots.compact import path_data
from pprofdiff.plots.drawing import CLASSES, SIZE, chart_css
from pprofdiff.plots.pagecharts import charts
from tests.examples import daily
from tests.plots.captured import (
    HOSTILE,
    STORIES,
    pools,
    profile_diff,
    story_logs,
    trace_diff,
)
from tests.plots.svgs import ids_of, references_of, resolved

mpl.use("agg")

PATHS = re.compile(r"([MlhvqcZz])|(-?(?:\d+\.?\d*|\.\d+))")


def charts_of(*stories):
    """Return every chart of stories, and of the logs of sync-pool-gctrace."""
    diffs = [pools(), *map(story_logs, stories), *map(trace_diff, stories)]
    return [
        chart
        for number, diff in enumerate(diffs)
        for chart in charts(diff, f"chart{number}")
    ]


@pytest.fixture(scope="module")
def whole_page():
    """Return the charts of every story."""
    return charts_of(*STORIES)


@pytest.fixture(
    scope="module", params=["one", pytest.param("all", marks=pytest.mark.whole)]
)
def page(request):
    """Return the charts of one story, or of all stories, but not every day."""
    if request.param == "all":
        return request.getfixturevalue("whole_page")
    return charts_of(STORIES[0])


def parsed(svg):
    """Return the root of an SVG text that we wrote."""
    return fromstring(svg)  # noqa: S314 - our own


def everything(svg):
    """Return all elements of an SVG text."""
    return [*parsed(svg).iter()]


def text_of(svg):
    """Return all text in an SVG."""
    return ["".join(element.itertext()) for element in everything(svg)]


@pytest.mark.whole
@pytest.mark.slow
def test_the_page_has_the_charts_it_should(whole_page):
    ids = [chart.id for chart in whole_page]
    assert ids.count("heap") == 11
    assert ids.count("pauses") == 6
    assert ids.count("latency") == ids.count("mmu") == 5
    assert ids.count("wait") == ids.count("stop") == ids.count("mutator") == 5


@pytest.mark.whole
@pytest.mark.slow
def test_charts_are_small(whole_page):
    assert max(len(chart.svg.encode()) for chart in whole_page) <= 20_000


@pytest.mark.slow
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
    css = chart_css()
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
        r"\.([cs])-(\w+)\{(fill|stroke):var\((--[\w-]+)\)\}", chart_css()
    )
    assert len(rules) == 2 * len(CLASSES)
    for letter, name, what, variable in rules:
        assert (letter, what) in (("c", "fill"), ("s", "stroke"))
        assert name in palette.COLOURS
        assert variable == palette.css_name(name)


def test_references_of_each_chart_resolve(page):
    for chart in page:
        root = resolved(chart.svg)
        assert set(ids_of(root)) == set(references_of(root))


@pytest.mark.whole
@pytest.mark.slow
def test_ids_are_unique_on_the_page_and_so_match_hatching(whole_page):
    """As many SVGs as there are in one document, plots with hatching among them."""
    diff = profile_diff("zstd", "cpu")
    hatched = [
        plots.svg(
            lambda figure: plots.flamegraph(diff, figure.subplots()),
            title="Stacks",
            description="Stacks of both sides.",
            prefix=f"stacks{number}",
        )
        for number in range(2)
    ]
    svgs = [*(chart.svg for chart in whole_page), *hatched]
    root = resolved(f"<body>{''.join(svgs)}</body>")
    assert len(root.findall(".//pattern")) == len(hatched)


def test_the_words_of_a_chart_are_its_text_alternative(page):
    for chart in page:
        root = parsed(chart.svg)
        title, words = (root.find(f"./{tag}") for tag in ("title", "desc"))
        assert (title.text, words.text) == (chart.title, chart.words)
        named = root.get("aria-labelledby").split()
        assert named == [title.get("id"), words.get("id")]


@pytest.mark.slow
def test_charts_are_the_same_bytes_twice_whatever_the_settings(page):
    diff = pools()
    plain = charts(diff, "chart0")
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        mpl.rcParams["lines.linewidth"] = 9
        again = charts(diff, "chart0")
        assert mpl.rcParams["font.size"] == 30
        assert mpl.rcParams["lines.linewidth"] == 9
    assert again == plain == tuple(page[: len(plain)])


@pytest.mark.slow
@pytest.mark.parametrize("label", daily(HOSTILE, HOSTILE[:1]), ids=ascii)
def test_hostile_labels_are_text(label):
    shown = "a\\u202eb\\x00\\n" if "\x00" in label else label
    for diff in (pools((label, label)), trace_diff("zstd", (label, label))):
        for chart in charts(diff, label):
            assert sum(shown in text for text in text_of(chart.svg)) > 2
            assert "<b>" not in chart.svg
            assert "</script" not in chart.svg


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png"])
@pytest.mark.parametrize("theme", palette.THEMES)
def test_files_are_the_same_bytes_twice(form, theme):
    def draw(figure):
        plots.pauses(pools(), figure.subplots(), theme=theme)

    one = plots.image(draw, form, theme=theme, description="Pauses.")
    assert one == plots.image(draw, form, theme=theme, description="Pauses.")
    assert not re.search(rb"20\d\d-\d\d|date|creator|matplotlib", one, re.IGNORECASE)


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_not_ours_is_kept_in_a_file():
    """`plots.image` takes any drawing: pictures, formulas, paths with holes, hatching."""

    def draw(figure):
        left, right = figure.subplots(1, 2)
        left.imshow([[0, 1], [2, 3]])
        left.set_title("$\\alpha^2$", weight="bold")
        right.bar([1, 2], [1, 2], hatch=["x", "."], alpha=0.5)
        right.contourf([[0, 1, 0], [1, 3, 1], [0, 1, 0]])
        right.text(1, 1, "turned", rotation=30, style="italic")

    root = resolved(plots.image(draw, "svg"))
    (picture,) = root.findall(".//{*}image")
    assert picture.get("href").startswith("data:image/png;base64,")
    assert picture.get("transform").startswith("scale(1 -1)")
    assert len(root.findall(".//{*}pattern")) == 2
    assert "".join(root.find(".//{*}tspan").itertext()).strip()
    (turned,) = [text for text in root.iter() if text.text == "turned"]
    assert turned.get("transform").endswith("rotate(-30)")
    assert turned.get("font-style") == "italic"


@pytest.mark.slow
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
    at, reached, letter, numbers = (0.0, 0.0), [], "", []
    sizes = {"M": 2, "l": 2, "h": 1, "v": 1, "q": 4, "c": 6}
    for command, number in PATHS.findall(data):
        if command:
            letter, numbers = command, []
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
        reached += [(origin[0] + x, origin[1] + y) for x, y in places]
        at, numbers = reached[-1], []
        letter = "l" if letter == "M" else letter
    return reached


coordinates = st.floats(-900, 900).map(lambda x: round(x, 6))
places = st.tuples(coordinates, coordinates)


def tenths(places):
    """Return places in whole tenths."""
    return [tuple(round(n * 10) for n in place) for place in places]


@pytest.mark.slow
@settings(derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from("LQC"), st.lists(places, min_size=3, max_size=3))
    ),
    places,
)
def test_path_data_goes_where_it_went(segments, start):
    wanted, text = [start], f"M {start[0]} {start[1]} \n"
    for letter, drawn in segments:
        chosen = drawn[: {"L": 1, "Q": 2, "C": 3}[letter]]
        wanted += chosen
        text += f"{letter} {' '.join(f'{x} {y}' for x, y in chosen)} \n"
    reached = tenths(points(path_data(text)))
    # Lines of no length are left out.
    assert set(reached) == set(tenths(wanted))
    if all(letter == "L" for letter, _ in segments):
        assert reached == [b for a, b in pairwise([None, *tenths(wanted)]) if a != b]


def test_path_data_is_short():
    assert path_data("M 10 20 \nL 10.04 20 \nL 13 20 \nL 13 -4.25 \nL 12.5 0.25 z") == (
        "M10 20h3v-24.2l-.5 4.4z"
    )
