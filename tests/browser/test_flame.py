"""The flame graph in a real browser: its numbers, keys, links, search and table."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest

import pprofdiff
from pprofdiff import palette
from pprofdiff.analysis.call_tree import call_tree, inclusive, noise_limit
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.goruntime.readable import short, with_path
from pprofdiff.units import times
from tests.browser.conftest import pair_of, stacks_of
from tests.building import MS, Frame, Place, Sample
from tests.conftest import DATA
from tests.examples import daily
from tests.report.html.unpacking import names_of

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "evil\u202egnp.exe",
    "line\nbreak\tand\x07bell",
    "x" * 10_000,
    "main.(*Cache[go.shape.string,example.com/a.T]).Get",
    "\N{GRINNING FACE}" * 40,
    "e\u0301" * 80,
    "__proto__",
    "constructor",
    "a" * 50 + "!",
)
GET = "(*Cache[go.shape.int,go.shape.*uint8]).Get"
# Links that ask for what isn't there, or for a search that would never end.
LINKS = (
    "#",
    "#%",
    "#cpu;%zz",
    "#cpu;z=99999999;w=constructor;c=__proto__;l=1;t=2;p=callers;f=nope",
    "#__proto__;z=1",
    "#cpu;q=(a%2B)%2B%24",
    "#cpu;q=(a|a)*%24",
    "#cpu;q=a*a*a*a*a*a*a*b",
    "#cpu;q=a?a?a?a?a?a?a?b",
    "#cpu;q=%28;z=-1",
    "#cpu;z=,,,%00,;x=__proto__;f=constructor",
    "#cpu;z=%ff",
    "#cpu;x=%3D;z=" + "a," * 5000,
)


@pytest.fixture(scope="module")
def compared(data_folder):
    """Return the comparison that the page in `page_file` shows."""
    folder = data_folder / "health-check"
    return pprofdiff.diff(folder / "base/cpu.pb.gz", folder / "new/cpu.pb.gz")


@pytest.fixture(scope="module")
def diff(compared):
    """Return its data."""
    return compared.data


@pytest.fixture(scope="module")
def page_file(written):
    """Return the page of one pair of CPU profiles."""
    return written("health-check/base/cpu.pb.gz", "health-check/new/cpu.pb.gz")


@pytest.fixture(scope="module")
def hostile_file(written, tmp_path_factory):
    """Return a page whose functions have names that mean harm, and deep recursion."""
    stacks = [("leaf", name, "main") for name in HOSTILE]
    stacks.append(("end", *["again"] * 2000, "main"))
    sides = (
        [sample(stack, 5, cpu) for stack in some]
        for some, cpu in ((stacks, 50 * MS), (stacks[1:], 90 * MS))
    )
    return written(*pair_of(tmp_path_factory.mktemp("hostile"), *sides))


def sample(stack, count, cpu, labels=()):
    """Return a sample of a stack, leaf first, whose functions have these names."""
    places = (Place((Frame(f),), 0x400000 + hash(f) % 0x100000) for f in stack)
    return Sample(tuple(places), (count, cpu), labels)


def growing(folder, stacks, labels=None):
    """Write profiles in which each stack costs more than the one before; in new, more."""
    labels = labels or [()] * len(stacks)
    sides = (
        [
            sample(stack, 5, cpu * i, own)
            for i, (stack, own) in enumerate(zip(stacks, labels, strict=True), 1)
        ]
        for cpu in (50 * MS, 90 * MS)
    )
    return pair_of(folder, *sides)


PATTERNS = ("mallocgc", "^runtime\\.gc", "JSON|json", "net")
FRAME = "requestAnimationFrame"


def go(page, **state):
    """Follow a link to a view, as somebody else would send it."""
    text = ";".join(f"{key}={quote(str(value))}" for key, value in state.items())
    page.evaluate("text => location.hash = text", f"#cpu;{text}")
    page.wait_for_function("text => location.hash === text", arg=f"#cpu;{text}")
    # It is drawn by the second frame from here.
    page.evaluate(f"new Promise(done => {FRAME}(() => {FRAME}(done)))")


def row(page, number=0):
    """Return the cells of a row of the tree table."""
    cells = page.locator(f"[role=treegrid] tbody tr >> nth={number}").locator("td")
    return [cell.inner_text().strip() for cell in cells.all()]


def read(text):
    """Return the number in a cell, and how far rounding may have moved it."""
    digits = re.sub(r"[^0-9.−]", "", text).replace("−", "-")
    return float(digits), 0.51 * 10 ** -len(digits.partition(".")[2])


def assert_shown(text, value):
    number, slack = read(text)
    assert abs(number - value) <= slack, (text, value)


def scaled(diff, base, new):
    by, size = diff.normalization, scale_of(diff).size
    return base * by.base_factor / size, new * by.new_factor / size


def status(page):
    return page.locator(".flames p[aria-live]").first.inner_text()


def current(page, part=""):
    """Return the frame that a flame graph is zoomed to."""
    here = page.locator(f"{part} .flame-trail [aria-current]").first
    return here.inner_text().removeprefix("… › ")


def matched(page):
    return page.locator(".flames output").inner_text()


def test_the_tree_has_the_totals(opened, page_file, diff):
    with opened(page_file, fragment="#cpu;t=1") as page:
        name, base, new, delta, ratio, share = row(page)
        before, after = scaled(diff, *diff.totals)
        assert name.startswith("all")
        assert_shown(base, before)
        assert_shown(new, after)
        assert_shown(delta, after - before)
        assert_shown(ratio, after / before)
        assert share == "100% → 100%"


@pytest.mark.parametrize("pivot", daily(("callers", "merged"), ("callers",)))
def test_a_pivot_has_the_cumulative_values_of_its_function(
    opened, page_file, compared, diff, pivot
):
    """`Diff.functions`, which agrees with pprof, has them by another way."""
    table = compared.functions.sort_values("base_cum", ascending=False)
    stacks = [stack.split(";") for stack in compared.stacks.index]
    twice = {n for names in stacks for n in set(names) if names.count(n) > 1}
    # A name may hold a ";" itself: struct { A int; B int }.
    twice = sorted(twice.intersection(table.index))
    assert twice
    with opened(page_file, fragment="#cpu;t=1") as page:
        for name in [*table.index[:30:2], *twice]:
            base, new = table.loc[name, ["base_cum", "new_cum"]]
            go(page, t=1, p=pivot, f=name)
            cells = row(page)
            before, after = scaled(diff, base, new)
            shown = page.locator("[role=treegrid] tbody td span").first
            assert shown.get_attribute("title") == name
            assert cells[0].split("\n")[0] in (short(name), with_path(name))
            assert_shown(cells[1], before)
            assert_shown(cells[2], after)


def test_frames_say_what_the_judge_said(opened, page_file, compared):
    """A function's pivot is marked as its row of the table is, each in its words."""
    table = compared.functions.sort_values("base_cum", ascending=False)
    noisy = table["noise_cum"].astype(bool)
    names = [*table.index[:40:4], *table.index[noisy][:3], *table.index[~noisy][:3]]
    noise = {name: bool(table.loc[name, "noise_cum"]) for name in names}
    assert set(noise.values()) == {False, True}
    said = {}
    with opened(page_file, fragment="#cpu;t=1") as page:
        for name in names:
            go(page, t=1, p="merged", f=name)
            said[name] = row(page)[3].startswith("~")
            go(page, p="merged", f=name)
            page.get_by_role("application").focus()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("ArrowUp")
            words = "within noise (needs ±" if noise[name] else "significant"
            assert words in status(page), name
    assert said == noise


@pytest.fixture(scope="module")
def unlike(written, tmp_path_factory):
    """Return a page, and base and new of its functions, which moved by any factor."""
    sizes = {
        "main.rare": (62_500, 2), "main.rarer": (20_000_000, 3), "main.less": (220, 2),
        "main.tenth": (1_000, 94), "main.twentieth": (10_000, 501), "main.same": (7, 7),
        "main.more": (400, 691), "main.tenfold": (300, 2_994), "main.many": (3, 312),
        "main.most": (2, 62_500), "main.edge": (9_996, 100), "main.over": (10_005, 100),
    }  # fmt: skip
    sides = (
        [sample((f,), 1, both[side] * MS) for f, both in sizes.items()]
        for side in (0, 1)
    )
    paths = pair_of(tmp_path_factory.mktemp("unlike"), *sides)
    return written(*paths, "--work=1:1"), sizes


def test_a_factor_is_written_as_in_the_rest_of_the_report(opened, unlike):
    path, sizes = unlike
    with opened(path, fragment="#cpu;t=1") as page:
        got = {}
        for number in range(1, len(sizes) + 1):
            name, *_, ratio, _ = row(page, number)
            got[name.split("\n")[0]] = ratio
        assert got == {name: times(new / base) for name, (base, new) in sizes.items()}
        assert {got["main.rare"], got["main.most"]} == {"1/31,000", "31,250×"}


def test_what_nearly_vanished_is_no_minus_100_percent(opened, unlike):
    """Less than a hundredth is written as a fraction: as a percentage it would be all."""
    path, sizes = unlike
    with opened(path) as page:
        for name, (base, new) in sizes.items():
            go(page, f=name)
            words = status(page)
            assert "100.0%" not in words
            assert "0.00×" not in words
            factor = times(new / base)
            assert (f" {factor}, " in words) == (new / base < 0.01 or new / base >= 10)


def test_what_is_merged_of_several_frames_is_not_judged(opened, page_file):
    """Callers of malloc come from everywhere: the largest has no mark."""
    with opened(page_file, fragment="#cpu;p=callers;f=runtime.mallocgc") as page:
        page.get_by_role("application").focus()
        page.keyboard.press("ArrowDown")
        assert "merged here: not judged" in status(page)


@pytest.mark.parametrize("pattern", daily(PATTERNS, PATTERNS[2:]))
def test_a_search_counts_no_sample_twice(opened, page_file, compared, diff, pattern):
    stacks = compared.stacks
    flags = 0 if re.search("[A-Z]", pattern) else re.IGNORECASE
    hit = [
        any(re.search(pattern, name, flags) for name in stack.split(";"))
        for stack in stacks.index
    ]
    sums = stacks[hit][["base_cum", "new_cum"]].sum()
    with opened(page_file) as page:
        page.get_by_label("search frames").fill(pattern)
        words = matched(page)
    shares = re.findall(r"([\d.]+)%", words)
    for share, part, whole in zip(shares, sums, diff.totals, strict=True):
        assert_shown(share, 100 * part / whole)


@pytest.fixture(scope="module")
def folding():
    """Return stacks, a few of them kept by a tree of 10 000 nodes: (root first, sides).

    What functions of one kind have is spread over very many callers, and some of it
    is recursion.
    """
    stacks = {("main", "main.hot"): (70_000 * MS, 90_000 * MS)}
    for i in range(9_000):
        names = [f"main.call{i:05}", f"main.Method{i % 300}"]
        if i % 7 == 0:
            names += [f"main.again{i % 3}", names[1]]
        if i % 11 == 0:
            names.append(f"main.Method{(i + 1) % 300}")
        if i % 500 == 0:
            names.append(f"main.rare{i}")
        stacks["main", *names] = (MS * (1 + i % 5), MS * (1 + i % 3) * (i % 2))
    return stacks


@pytest.fixture(scope="module")
def folded_file(folding, written, tmp_path_factory):
    """Return the page of such stacks: milliseconds an operation."""
    sides = (
        [sample(stack[::-1], 1, both[side]) for stack, both in folding.items()]
        for side in (0, 1)
    )
    return written(*pair_of(tmp_path_factory.mktemp("folding"), *sides), "--work=1:1")


def amounts(text):
    """Return the amounts of change in words, in the order of reading."""
    return re.findall(r"Δ ([+−]?[\d,.]+|0) s", text)


def exact(folding, test, *, leaf=False):
    """Return the change of stacks with such a function, in seconds."""
    return sum(
        new - base
        for stack, (base, new) in folding.items()
        if any(map(test, stack[-1:] if leaf else stack))
    ) / (1000 * MS)


@pytest.mark.whole
def test_a_search_is_exact_whatever_is_folded(opened, folded_file, folding):
    with opened(folded_file) as page:
        for name in ("main.Method123", "main.Method7", "main.call00014", "main.again2"):
            go(page)
            page.get_by_label("search frames").fill(f"^{name}$".replace(".", "\\."))
            words = matched(page)
            assert "count twice" not in words
            assert " functions" not in words
            cum, flat, *hidden = amounts(words)
            assert_shown(cum, exact(folding, name.__eq__))
            assert_shown(flat, exact(folding, name.__eq__, leaf=True))
            assert len(hidden) == words.count("in folded frames")
            assert hidden or "call" in name
            go(page, f=name)
            assert matched(page) == words
            # Callers and callees of it, wherever they are, add up to the same.
            for pivot in ("callers", "merged"):
                go(page, t=1, p=pivot, f=name)
                assert_shown(row(page)[3], exact(folding, name.__eq__))


def test_a_sum_over_folded_functions_says_what_it_is(opened, folded_file, folding):
    def wanted(name):
        return re.search("Method12[0-9]$", name)

    with opened(folded_file) as page:
        page.get_by_label("search frames").fill("Method12[0-9]$")
        words = matched(page)
        drawn, more, _ = map(read, amounts(words))
        assert_shown(amounts(words)[2], exact(folding, wanted, leaf=True))
        assert words.endswith("exactly · 10 functions")
        assert "stacks of several count twice" in words
        # All changes here are losses: what is drawn is too little, with more too much.
        slack = drawn[1] + more[1]
        assert drawn[0] + more[0] - slack <= exact(folding, wanted) <= drawn[0] + slack
        page.get_by_label("search frames").fill("main.hot$")
        assert "folded" not in matched(page)
        assert_shown(amounts(matched(page))[0], 20)


def test_a_function_that_is_only_folded_says_so(opened, folded_file, folding):
    with opened(folded_file) as page:
        code = "() => JSON.parse(document.querySelector('.flame-data').textContent)"
        known = set(names_of(page.evaluate(code)))
        assert known == {name for stack in folding for name in stack}
        go(page, f="main.rare8500")
        assert status(page).startswith("main.rare8500 is in folded frames alone. ")
        words = matched(page)
        assert_shown(amounts(words)[0], exact(folding, "main.rare8500".__eq__))


def test_a_click_zooms_and_a_link_brings_it_back(opened, page_file):
    with opened(page_file) as page:
        page.locator(".flame-space canvas").click(position={"x": 60, "y": 28})
        zoomed = page.evaluate("location.hash")
        assert re.fullmatch("#cpu;z=[^,;]+", zoomed)
        where = current(page)
        page.keyboard.press("Escape")
        assert current(page) == "all"
    with opened(page_file, fragment=zoomed) as page:
        assert current(page) == where


def test_everything_can_be_reached_by_keyboard(opened, page_file):
    with opened(page_file) as page:
        page.get_by_role("application").focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
        assert " %, " in status(page)
        assert page.get_by_role("tooltip").is_visible()
        page.keyboard.press("Enter")
        assert "z=" in page.evaluate("location.hash")
        for key, part in (
            ("2", "w=new"),
            ("4", "w=delta"),
            ("5", "w=both"),
            ("i", "l=flame"),
        ):
            page.keyboard.press(key)
            assert part in page.evaluate("location.hash")
        page.keyboard.press("c")
        assert "p=callers" in page.evaluate("location.hash")
        page.keyboard.press("0")
        page.keyboard.press("t")
        focused = page.locator("[role=row]:focus")
        assert focused.get_attribute("aria-level") == "1"
        count = page.locator("[role=treegrid] tbody tr").count()
        page.keyboard.press("ArrowLeft")
        assert focused.get_attribute("aria-expanded") == "false"
        assert page.locator("[role=treegrid] tbody tr").count() == 1
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert focused.get_attribute("aria-level") == "2"
        assert count > 1
        page.keyboard.press("z")
        assert page.get_by_role("application").is_visible()


def test_typing_in_a_field_is_only_typing(opened, page_file):
    with opened(page_file) as page:
        page.keyboard.press("/")
        page.keyboard.type("ti(")
        assert page.get_by_label("search frames").input_value() == "ti("
        assert "t=1" not in page.evaluate("location.hash")
        assert matched(page) == "not a regular expression"


def test_matches_are_visited_in_turn(opened, page_file):
    with opened(page_file) as page:
        page.keyboard.press("/")
        page.keyboard.type("mallocgc")
        page.keyboard.press("Enter")
        first = status(page)
        page.keyboard.press("n")
        assert status(page).startswith("match 2 of")
        page.keyboard.press("N")
        assert status(page) == first


def test_collapsed_recursion_is_one_frame(opened, hostile_file):
    """The table opens along the only callers of `end`: 2 000 times `again`."""
    with opened(hostile_file, fragment="#cpu;t=1;p=callers;f=end") as page:
        again = page.locator("td.flame-name", has_text="again")
        assert again.count() > 2
        go(page, t=1, r=1, p="callers", f="end")
        assert again.count() == 1
        assert page.locator("td.flame-name", has_text="main").count() == 1


@pytest.mark.whole
def test_hostile_labels_are_only_labels(opened, written, tmp_path):
    labels = [((HOSTILE[i // 6], n),) for i, n in enumerate(HOSTILE) if len(n) < 500]
    stacks = [(f"main.f{i}", "main.main") for i in range(len(labels))]
    with opened(written(*growing(tmp_path, stacks, labels)), width=390) as page:
        part = page.get_by_label("samples shown")
        kinds = part.locator("optgroup").evaluate_all("list => list.map(g => g.label)")
        assert kinds == ["goroutine root", f"label {HOSTILE[0]}", f"label {HOSTILE[1]}"]
        texts = part.locator("option").all_text_contents()
        assert not any("\u202e" in text for text in texts)
        for value in part.locator("option").evaluate_all(
            "list => list.map(o => o.value)"
        ):
            part.select_option(value)
            assert page.title() != "owned"
            assert page.locator(".flames img, .flames script:not([type])").count() == 0
            address = page.evaluate("location.hash")
            go(page)
            page.evaluate("text => location.hash = text", address)
            page.wait_for_function("text => location.hash === text", arg=address)
            assert part.input_value() == value
            assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("link", daily(LINKS, LINKS[1:2]))
def test_a_hostile_link_is_a_link(opened, hostile_file, link):
    with opened(hostile_file, fragment=link) as page:
        page.get_by_role("button", name="table").click()
        page.get_by_role("treegrid").wait_for()


HOSTILE_VIEWS = (
    ("", 390), ("t=1", 1280), ("t=1;q=script", 390), ("l=flame;c=kind", 1280),
    ("w=delta", 390),
)  # fmt: skip


@pytest.mark.parametrize(("view", "width"), daily(HOSTILE_VIEWS, HOSTILE_VIEWS[:1]))
def test_hostile_names_are_only_names(opened, hostile_file, view, width):
    with opened(hostile_file, fragment="#cpu;" + view, width=width) as page:
        assert page.title() != "owned"
        assert page.locator(".flames img, .flames script:not([type])").count() == 0
        text = page.locator(".flames").inner_text()
        assert "\u202e" not in text
        if view == "t=1":
            assert "evil\\u202egnp.exe" in text
            assert HOSTILE[0] in text
        assert page.evaluate("document.documentElement.scrollWidth") <= width


# Every colour on the canvas.
COLOURS = """() => {
      const { width, height } = document.querySelector(".flame-space canvas");
      const flat = new OffscreenCanvas(width, height).getContext("2d");
      flat.drawImage(document.querySelector(".flame-space canvas"), 0, 0);
      const { data } = flat.getImageData(0, 0, width, height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
      return [...seen];
    }"""


def colours(page):
    return {tuple(map(int, text.split(","))) for text in page.evaluate(COLOURS)}


def wait_for_colour(page, colour):
    """Wait until the canvas has a colour: when media change is the browser's choice."""
    code = f"colour => ({COLOURS})().includes(colour)"
    page.wait_for_function(code, arg=",".join(map(str, colour)))


def pixels(canvas):
    """Return how many pixels of each colour a canvas has."""
    code = """canvas => {
      const { width, height } = canvas, seen = {};
      const flat = new OffscreenCanvas(width, height).getContext("2d");
      flat.drawImage(canvas, 0, 0);
      const { data } = flat.getImageData(0, 0, width, height);
      for (let i = 0; i < data.length; i += 4) {
        const colour = data.slice(i, i + 3).join();
        seen[colour] = 1 + (seen[colour] ?? 0);
      }
      return seen;
    }"""
    counts = canvas.evaluate(code)
    return {tuple(map(int, c.split(","))): n for c, n in counts.items()}


def first_pixel(canvas):
    """Return the one colour of a canvas."""
    (colour,) = pixels(canvas)
    return colour


def rgb(name, theme):
    text = palette.colour(name, theme)
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


SHADES = (*palette.BETTER[::-1], "neutral", *palette.WORSE)
FAINT = (*palette.BETTER[: palette.FAINT], *palette.WORSE[: palette.FAINT])
# The least part of the largest change, of each shade but the first: of significant
# changes, and of others.
PARTS, FAINT_PARTS = (0.1, 0.4), (0.1,)


@pytest.mark.whole
@pytest.mark.parametrize("theme", daily(palette.THEMES, ("dark",)))
def test_frames_have_the_shade_of_their_part_of_the_change(
    opened, page_file, diff, theme
):
    """Much of this program got cheaper, and one call dearer."""
    below, limit = inclusive(call_tree(diff, 10_000)[0]), noise_limit(diff)
    scaled_sides = diff.normalization.scaled(*merged(below))
    delta = scaled_sides[1] - scaled_sides[0]
    size, sure = np.abs(delta), np.abs(delta) >= diff.model.needs(below, limit)
    largest = size[sure].max()
    steps = np.where(
        sure,
        palette.FAINT + 1 + np.searchsorted(PARTS, size / largest, "right"),
        1 + np.searchsorted(FAINT_PARTS, size / size.max(), "right"),
    )
    shade = 5 + np.sign(delta).astype(int) * steps
    wide = np.maximum(*scaled_sides) > max(map(np.max, scaled_sides)) / 100
    with opened(page_file, theme=theme) as page:
        shown = colours(page)
        for i, name in enumerate(SHADES):
            if np.any(shade[wide] == i):
                assert rgb(name, theme) in shown, name
            assert rgb(name, theme) not in shown or np.any(shade == i), name
        assert len(set(shade[wide])) >= 5
        # The legend says from which change on a shade is used.
        scale = page.locator(".flame-scale span")
        assert scale.count() == len(SHADES)
        most = largest / scale_of(diff).size
        for i, part in zip((1, 0), PARTS, strict=True):
            assert_shown(scale.nth(i).inner_text(), -part * most)
            assert_shown(scale.nth(10 - i).inner_text(), part * most)
        swatches = [first_pixel(s) for s in scale.locator("canvas").all()]
        assert swatches == [rgb(name, theme) for name in SHADES]
        go(page, s="1")
        assert not {rgb(name, theme) for name in FAINT} & colours(page)
        assert scale.count() == len(SHADES) - len(FAINT)
        go(page, c="kind")
        assert rgb("group_gc", theme) in colours(page)
        go(page, c="change", q="json")
        assert rgb("match", theme) in colours(page)


def test_the_canvas_follows_the_theme(opened, page_file):
    with opened(page_file, theme="light") as page:
        assert rgb("worse_0", "light") in colours(page)
        page.emulate_media(color_scheme="dark")
        wait_for_colour(page, rgb("worse_0", "dark"))


@pytest.mark.parametrize("theme", daily(palette.THEMES, ("light",)))
def test_the_legend_shows_frames_as_they_are_drawn(opened, page_file, theme):
    """A gone frame's lines and a new one's edge have the same colours in both."""
    with opened(page_file, theme=theme) as page:
        go(page, s="1")
        drawn = colours(page)
        gone, new = (
            page.locator(".flame-legend > span", has_text=text).locator("canvas")
            for text in ("gone: only in base", "new: only in new")
        )
        for swatch in (gone, new):
            counts = pixels(swatch)
            assert rgb("neutral", theme) in counts
            assert set(counts) <= drawn
        assert rgb("text", theme) in pixels(new)
        # A quarter of it is lines, as of any gone frame.
        assert 0.1 < 1 - pixels(gone)[rgb("neutral", theme)] / (22 * 14) < 0.5


def test_the_status_line_is_of_what_is_shown(opened, written):
    with opened(written("syncpool/base", "syncpool/new")) as page:
        flame = page.locator("#flame")
        flame.get_by_role("application").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert re.search(r": [\d.,]+ → [\d.,]+ s, ", status(page))
        flame.get_by_label("profile").select_option("heap (inuse_space)")
        assert re.match(r"all: [\d.,]+ → [\d.,]+ MiB, ", status(page))
        flame.get_by_label("profile").select_option("block (delay)")
        assert re.match(r"all: [\d.,]+ → [\d.,]+ s, ", status(page))


def test_paper_says_which_profile_and_has_the_legend(opened, written):
    with opened(written("syncpool/base", "syncpool/new"), theme="dark") as page:
        profile = page.locator("#flame").get_by_label("profile")
        profile.select_option("heap (inuse_space)")
        page.emulate_media(media="print")
        wait_for_colour(page, rgb("neutral", "light"))
        assert not profile.is_visible()
        legend = page.locator("#flame .flame-legend")
        assert legend.is_visible()
        assert "heap (inuse_space): values " in legend.inner_text()
        assert status(page).startswith("all: ")
        scale = legend.locator(".flame-scale canvas")
        shades = [first_pixel(canvas) for canvas in scale.all()]
        assert shades == [rgb(name, "light") for name in SHADES]


def test_a_legend_without_a_change_has_no_shades(opened, written):
    """Where all is noise a scale from 0 to 0 would show changes that are not."""
    sides = (f"../field/pairs/memlimit-chi/{side}" for side in ("base", "new"))
    with opened(written(*sides)) as page:
        legend = page.locator(".flame-legend")
        assert legend.locator(".flame-scale canvas").count() == len(SHADES)
        assert re.search(r"of the largest, ±[1-9][\d.]* ", legend.inner_text())
        page.get_by_label("profile").select_option("allocs (alloc_space)")
        assert legend.locator(".flame-scale").count() == 0
        assert "nothing here changed significantly" in legend.inner_text()
        assert "±" not in legend.inner_text()


def test_the_first_cause_is_in_sight_and_has_its_number(opened, written):
    """On a small phone the mark workers, an eighth of the CPU, need a zoom."""
    pages = written("syncpool/base", "syncpool/new")
    with opened(pages, width=320) as page:
        assert status(page).startswith("Zoomed to cause 1. runtime.gcBgMark")
        assert status(page).endswith("; cause 1")
        assert rgb("text", "light") in colours(page)
        page.get_by_role("button", name="reset").click()
        assert status(page).startswith("all: ")
    with opened(pages) as page:
        assert status(page).startswith("all: ")
        assert "cause, by number" in page.locator("#flame .flame-legend").inner_text()


def test_it_opens_where_a_cause_costs_cpu(opened, written):
    """The first cause leaks goroutines, at no CPU; a regexp takes a seventh of it."""
    with opened(written("service/base", "service/new")) as page:
        shown = page.locator("#flame select").first
        assert shown.evaluate("(e) => e.selectedOptions[0].text") == "cpu"
        assert status(page).startswith("all: ")


def labelled(diff, side):
    """Return (stack root first, handler or "", value) of a side's CPU samples."""
    profile = (diff.base, diff.new)[side].profile
    strings, labels = profile.strings, profile.labels
    rows = (column.tolist() for column in (labels.sample, labels.key, labels.text))
    handler = {
        sample: strings[text]
        for sample, key, text in zip(*rows, strict=True)
        if strings[key] == "handler"
    }
    values = diff.values[side].tolist()
    for i, stack in enumerate(stacks_of(diff, side)):
        yield stack, handler.get(i, ""), values[i]


CHOSEN = (
    ("handler=write", lambda stack, handler: handler == "write"),
    ("handler=", lambda stack, handler: handler == ""),
    (
        "=net/http.(*conn).serve",
        lambda stack, _: stack[:1] == ["net/http.(*conn).serve"],
    ),
)


@pytest.mark.parametrize(("part", "chosen"), daily(CHOSEN, CHOSEN[:1]))
def test_a_part_of_the_samples_is_shown_alone(
    opened, written, data_folder, part, chosen
):
    """What is below a root or has a label, as the samples themselves say."""
    folder = data_folder / "syncpool"
    diff = pprofdiff.diff(folder / "base/cpu.pb.gz", folder / "new/cpu.pb.gz").data
    sides = [
        [
            (stack, v)
            for stack, handler, v in labelled(diff, i)
            if chosen(stack, handler)
        ]
        for i in (0, 1)
    ]

    def sums(test):
        raw = (sum(v for stack, v in side if test(stack)) for side in sides)
        return scaled(diff, *raw)

    with opened(written("syncpool/base/cpu.pb.gz", "syncpool/new/cpu.pb.gz")) as page:
        page.get_by_label("samples shown").select_option(part)
        page.get_by_role("button", name="table").click()
        for cell, value in zip(row(page)[1:3], sums(lambda _: True), strict=True):
            assert_shown(cell, value)
        assert (
            f"only {part}".replace(" =", " below ")
            in page.locator(".flame-legend").inner_text()
        )
        for name in (
            "runtime.mallocgc",
            "runtime.scanobject",
            "net/http.(*conn).serve",
        ):
            wanted = sums(lambda stack, name=name: name in stack)
            go(page, t=1, x=part, p="merged", f=name)
            if any(wanted):
                for cell, value in zip(row(page)[1:3], wanted, strict=True):
                    assert_shown(cell, value)
        go(page, x=part, q="mallocgc$")
        words = matched(page)
        shares = re.findall(r"([\d.]+)%", words)
        wanted = sums(lambda stack: any(n.endswith("mallocgc") for n in stack))
        for share, value, whole in zip(
            shares, wanted, scaled(diff, *diff.totals), strict=True
        ):
            assert_shown(share, 100 * value / whole)
        go(page, x="handler=nobody")
        assert status(page).startswith("handler=nobody is not in this report")


@pytest.fixture(scope="module")
def pair_file(written, tmp_path_factory):
    """Return a page of 200 ms of base and 300 ms of new, of three functions."""
    times = {"main.a": 100, "main.b": 100}, {"main.a": 200, "main.c": 100}
    sides = (
        [sample((f, "main.main"), 1, ms * MS) for f, ms in t.items()] for t in times
    )
    return written(*pair_of(tmp_path_factory.mktemp("pair"), *sides), "--work=1:1")


def named_at(page, x, row):
    """Return the hint at a place of the picture, "" for none."""
    canvas = page.locator(".flame-space canvas")
    canvas.evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
    box = canvas.bounding_box()
    # From elsewhere: a pointer that stays where it was says nothing of a new picture.
    page.mouse.move(box["x"] + x, box["y"] - 40)
    page.mouse.move(box["x"] + x, box["y"] + 19 * row + 9)
    tip = page.get_by_role("tooltip")
    return tip.locator("b").inner_text() if tip.is_visible() else ""


@pytest.mark.whole
@pytest.mark.parametrize("width", daily((390, 1280), (1280,)))
def test_base_and_new_stand_next_to_each_other_on_one_scale(opened, pair_file, width):
    with opened(pair_file, width=width, reduced_motion="reduce") as page:
        page.get_by_role("button", name="both").click()
        whole = page.locator(".flame-space canvas").bounding_box()["width"]
        room = (whole - 9) / 2
        second = whole - room
        # Pixels of each millisecond are the same: 300 of them fill the room.
        at = [ms / 300 * room for ms in (50, 150, 199, 205)]
        assert [named_at(page, x, 1) for x in at] == ["main.main"] * 3 + [""]
        assert [named_at(page, x, 2) for x in at] == ["main.a", "main.b", "main.b", ""]
        right = [second + ms / 300 * room for ms in (50, 150, 205, 299)]
        names = ["main.a", "main.a", "main.c", "main.c"]
        assert [named_at(page, x, 2) for x in right] == names
        assert (
            "Width: base left, new right" in page.locator(".flame-legend").inner_text()
        )
        # One zoom for both: the frame fills the side that has more of it.
        named_at(page, right[0], 2)
        page.mouse.down()
        page.mouse.up()
        assert page.evaluate("location.hash") == "#cpu;w=both;z=main.main,main.a"
        assert named_at(page, 0.48 * room, 2) == "main.a"
        assert named_at(page, 0.52 * room, 2) == ""
        assert named_at(page, second + 0.98 * room, 2) == "main.a"
        go(page, w="both", f="main.c")
        assert named_at(page, second + 0.98 * room, 2) == "main.c"
        assert named_at(page, 0.5 * room, 2) == ""
        page.get_by_role("application").focus()
        page.keyboard.press("ArrowUp")
        assert status(page).startswith("main.main: ")


def test_a_renamed_function_is_one_frame(opened, written):
    pair = DATA.parent / "field/pairs/lru-v2"
    with opened(written(pair / "base", pair / "new")) as page:
        go(page, f=f"github.com/hashicorp/golang-lru/v2.{GET}")
        assert " gone" not in status(page)
        assert " new" not in status(page)
        page.get_by_role("application").focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        assert "was v0/v1" in page.get_by_role("tooltip").inner_text().splitlines()
        before = quote("github.com/hashicorp/golang-lru.(*Cache).Get", safe="/()*")
        go(page, f=before)
        assert "is not in cpu of this report" in status(page)


VIEWS = (
    "", "t=1", "w=both", "z=target.answer;q=e", "f=runtime.mallocgc", "z=main.gone",
    "p=callers;f=runtime.mallocgc", "x=%3Druntime.mcall;c=self",
)  # fmt: skip
# Each view in one theme, in turns; the first two have every control, in both.
IN_THEMES = [(view, palette.THEMES[i % 2]) for i, view in enumerate(VIEWS)]
IN_THEMES += [(view, palette.THEMES[1 - i]) for i, view in enumerate(VIEWS[:2])]


@pytest.mark.whole
@pytest.mark.parametrize(("view", "theme"), daily(IN_THEMES, IN_THEMES[1:2]))
def test_no_view_leaves_anybody_out(opened, page_file, axe, theme, view):
    with opened(page_file, theme=theme, fragment="#cpu;" + view) as page:
        found = axe.run(page, context=".flames").response["violations"]
        assert [f for f in found if f["impact"] in ("serious", "critical")] == []
