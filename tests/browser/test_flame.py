"""The flame graph in a real browser: its numbers, keys, links, search and table."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

import pprofdiff
from pprofdiff import palette
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.goruntime.readable import short, with_path
from pprofdiff.loaders.profiles.encode import compress, encode
from tests.building import MS, Frame, Place, Sample, built

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
)


@pytest.fixture(scope="session")
def axe():
    """Return axe-core, which finds what keeps people out."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright")
    return module.Axe()


@pytest.fixture(scope="module")
def diff(data_folder):
    """Return the comparison that the page in `page_file` shows."""
    folder = data_folder / "health-check"
    return pprofdiff.diff(folder / "base/cpu.pb.gz", folder / "new/cpu.pb.gz").data


@pytest.fixture(scope="module")
def page_file(written):
    """Return the page of one pair of CPU profiles."""
    return written("health-check/base/cpu.pb.gz", "health-check/new/cpu.pb.gz")


@pytest.fixture(scope="module")
def hostile_file(written, tmp_path_factory):
    """Return a page whose functions have names that mean harm, and deep recursion."""
    folder = tmp_path_factory.mktemp("hostile")
    stacks = [("leaf", name, "main") for name in HOSTILE]
    stacks.append(("end", *["again"] * 2000, "main"))
    for side, cpu in enumerate((50 * MS, 90 * MS)):
        rows = [Sample(tuple(map(place, s)), (5, cpu)) for s in stacks[side:]]
        (folder / "ab"[side]).write_bytes(compress(encode(built(rows))))
    return written(folder / "a", folder / "b")


def place(name):
    return Place((Frame(name),), 0x400000 + hash(name) % 0x100000)


def go(page, **state):
    """Follow a link to a view, as somebody else would send it."""
    text = ";".join(f"{key}={quote(str(value))}" for key, value in state.items())
    page.evaluate("text => location.hash = text", f"#cpu;{text}")
    page.wait_for_function("text => location.hash === text", arg=f"#cpu;{text}")


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
    return page.locator(".flames p[aria-live]").inner_text()


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


@pytest.mark.parametrize("pivot", ["callers", "merged"])
def test_a_pivot_has_the_cumulative_values_of_its_function(
    opened, page_file, diff, pivot
):
    """`diff.functions`, which agrees with pprof, has them by another way."""
    table = diff.functions.sort_values("base_cum", ascending=False)
    stacks = [stack.split(";") for stack in diff.stacks.index]
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


def test_frames_say_what_the_judge_said(opened, page_file, diff):
    """A function's pivot is marked as its row of the table is, each in its words."""
    table = diff.functions.sort_values("base_cum", ascending=False)
    names = [*table.index[:40:4], *table.index[table["noise_cum"]][:3]]
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
            words = "within noise (needs ±" if noise[name] else "beyond noise"
            assert words in status(page), name
    assert said == noise


def test_what_is_merged_of_several_frames_is_not_judged(opened, page_file):
    """Callers of malloc come from everywhere: the largest has no mark."""
    with opened(page_file, fragment="#cpu;p=callers;f=runtime.mallocgc") as page:
        page.get_by_role("application").focus()
        page.keyboard.press("ArrowDown")
        assert "merged here: not judged" in status(page)


@pytest.mark.parametrize("pattern", ["mallocgc", "^runtime\\.gc", "JSON|json", "net"])
def test_a_search_counts_no_sample_twice(opened, page_file, diff, pattern):
    stacks = diff.stacks
    flags = 0 if re.search("[A-Z]", pattern) else re.IGNORECASE
    hit = [
        any(re.search(pattern, name, flags) for name in stack.split(";"))
        for stack in stacks.index
    ]
    sums = stacks[hit][["base_cum", "new_cum"]].sum()
    with opened(page_file) as page:
        page.get_by_label("search frames").fill(pattern)
        words = page.locator(".flames output").inner_text()
    shares = re.findall(r"([\d.]+)%", words)
    for share, part, whole in zip(shares, sums, diff.totals, strict=True):
        assert_shown(share, 100 * part / whole)


def test_a_click_zooms_and_a_link_brings_it_back(opened, page_file):
    with opened(page_file) as page:
        page.locator(".flames canvas").click(position={"x": 60, "y": 28})
        zoomed = page.evaluate("location.hash")
        assert re.fullmatch("#cpu;z=1", zoomed)
        where = page.locator(".flame-trail [aria-current]").inner_text()
        page.keyboard.press("Escape")
        assert page.locator(".flame-trail [aria-current]").inner_text() == "all"
    with opened(page_file, fragment=zoomed) as page:
        assert page.locator(".flame-trail [aria-current]").inner_text() == where


def test_everything_can_be_reached_by_keyboard(opened, page_file):
    with opened(page_file) as page:
        page.get_by_role("application").focus()
        for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
        assert " %, " in status(page)
        assert page.get_by_role("tooltip").is_visible()
        page.keyboard.press("Enter")
        assert "z=" in page.evaluate("location.hash")
        for key, part in (("2", "w=new"), ("4", "w=delta"), ("i", "l=flame")):
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
        assert page.locator(".flames output").inner_text() == "not a regular expression"


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


@pytest.mark.parametrize("link", LINKS)
def test_a_hostile_link_is_a_link(opened, hostile_file, link):
    with opened(hostile_file, fragment=link) as page:
        page.get_by_role("button", name="table").click()
        assert page.get_by_role("treegrid").is_visible()


@pytest.mark.parametrize(
    "view", ["", "t=1", "t=1;q=script", "l=flame;c=kind", "w=delta"]
)
@pytest.mark.parametrize("width", [390, 1280])
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


def colours(page):
    """Return every colour on the canvas."""
    code = """() => {
      const { width, height } = document.querySelector(".flames canvas");
      const flat = new OffscreenCanvas(width, height).getContext("2d");
      flat.drawImage(document.querySelector(".flames canvas"), 0, 0);
      const { data } = flat.getImageData(0, 0, width, height);
      const seen = new Set();
      for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
      return [...seen];
    }"""
    return {tuple(map(int, text.split(","))) for text in page.evaluate(code)}


def rgb(name, theme):
    text = palette.colour(name, theme)
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


@pytest.mark.parametrize("theme", palette.THEMES)
def test_frames_have_the_colours_of_the_palette(opened, page_file, theme):
    """Much of this program got cheaper, and one call dearer."""
    with opened(page_file, theme=theme) as page:
        shown = colours(page)
        assert {rgb(n, theme) for n in ("neutral", "better_4", "worse_4")} <= shown
        go(page, c="kind")
        assert rgb("group_gc", theme) in colours(page)
        go(page, c="change", q="json")
        assert rgb("match", theme) in colours(page)


def test_the_canvas_follows_the_theme(opened, page_file):
    with opened(page_file, theme="light") as page:
        assert rgb("neutral", "light") in colours(page)
        page.emulate_media(color_scheme="dark")
        page.evaluate(
            "new Promise((done) => setTimeout(requestAnimationFrame, 0, done))"
        )
        assert rgb("neutral", "dark") in colours(page)


@pytest.mark.parametrize("theme", palette.THEMES)
@pytest.mark.parametrize("view", ["", "t=1", "z=3;q=e", "p=callers;f=runtime.mallocgc"])
def test_no_view_leaves_anybody_out(opened, page_file, axe, theme, view):
    with opened(page_file, theme=theme, fragment="#cpu;" + view) as page:
        found = axe.run(page, context=".flames").response["violations"]
        assert [f for f in found if f["impact"] in ("serious", "critical")] == []
