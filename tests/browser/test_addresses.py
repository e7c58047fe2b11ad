"""Names lead to frames, frames to rows; an address says by names what it opens."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

import pytest

import pprofdiff
from tests.browser.conftest import stacks_of
from tests.browser.test_flame import HOSTILE, current, growing, status
from tests.conftest import DATA

RUNS = [DATA / f"unchanged/run{i}" for i in range(1, 9)]
STORY = ("syncpool/base", "syncpool/new")


@pytest.fixture(scope="module")
def first(written):
    """Return a page of one build's first runs."""
    return written(RUNS[0], RUNS[1])


@pytest.fixture(scope="module")
def again(written):
    """Return the page of the same build's other runs."""
    return written(RUNS[6], RUNS[7])


def paths_of(*runs):
    """Return the paths of all CPU stacks of two runs, root first."""
    diff = pprofdiff.diff(*(run / "cpu.pb.gz" for run in runs)).data
    stacks = (stack for side in (0, 1) for stack in stacks_of(diff, side))
    return {tuple(stack[:n]) for stack in stacks for n in range(1, len(stack) + 1)}


def follow(page, fragment):
    """Follow an address within the page, as its links do."""
    page.evaluate("text => location.hash = text", fragment)
    page.wait_for_function("text => location.hash === text", arg=fragment)


def linked(page, where=""):
    """Return the addresses of the names in a part of the page."""
    page.locator("a.flame-to").first.wait_for(state="attached")
    code = "links => [...new Set(links.map((link) => link.hash))]"
    return page.locator(f"{where} a.flame-to").evaluate_all(code)


def named(fragment):
    """Return (view, function) of an address."""
    view, _, name = fragment[1:].partition(";f=")
    return unquote(view), unquote(name)


def test_names_in_findings_and_tables_lead_to_their_function(opened, written):
    with opened(written(*STORY)) as page:
        findings, tables = (
            linked(page, ":is(#summary, #why)"),
            linked(page, "main .table"),
        )
        assert len(findings) >= 4
        assert len(tables) >= 100
        assert {named(link)[0] for link in tables} >= {"cpu", "allocs/alloc_space"}
        assert "heap/inuse_space" in {named(link)[0] for link in findings}
        for link in [*findings, *tables[::9]]:
            view, name = named(link)
            follow(page, link)
            home = page.locator("#waits" if view == "waits" else "#flame")
            said = home.locator("p[aria-live]").inner_text()
            assert re.match(rf"(The heaviest.*\. )?{re.escape(name)}: ", said)
            assert home.locator("output").inner_text().startswith("matched: ")
            if view != "waits":
                shown = home.locator("[aria-label=profile] option:checked").inner_text()
                assert view.partition("/")[0] == shown.partition(" ")[0]


def test_a_click_on_a_name_shows_its_frames_and_back_returns(opened, written):
    with opened(written(*STORY), reduced_motion="reduce") as page:
        link = page.locator("#why a.flame-to").first
        view, name = named(link.get_attribute("href"))
        link.scroll_into_view_if_needed()
        before = link.bounding_box()["y"]
        link.click()
        assert status(page).startswith(f"{name}: ")
        box = page.locator("#flame .flames").bounding_box()
        assert 0 <= box["y"] < 300
        assert page.evaluate("document.activeElement.tagName") == "CANVAS"
        page.go_back()
        page.wait_for_function("() => !location.hash && scrollY > 0")
        # The reader sees the name where it was, within a line, whatever grew above it.
        assert link.bounding_box()["y"] == pytest.approx(before, abs=30)
        assert current(page) == "all"
        assert page.evaluate("location.hash") == ""
        page.go_forward()
        page.wait_for_function(
            "text => location.hash === text", arg=f"#{view};f={name}"
        )
        assert status(page).startswith(f"{name}: ")


def test_back_undoes_one_zoom_at_a_time(opened, first):
    with opened(first) as page:
        canvas = page.locator(".flame-space canvas").first
        seen = [current(page)]
        for y in (28, 47, 66):
            canvas.click(position={"x": 60, "y": y})
            seen.append(current(page))
        assert len(set(seen)) == 4
        page.get_by_role("button", name="callers").click()
        page.get_by_label("search frames").fill("a")
        page.get_by_label("search frames").fill("ab")
        page.go_back()
        for name in seen[::-1]:
            page.wait_for_function(
                """name => document.querySelector(".flame-trail [aria-current]")
                  .textContent.endsWith(name)""",
                arg=name,
            )
            assert page.get_by_label("search frames").input_value() == ""
            if name != "all":
                page.go_back()
        assert page.url.startswith(first.as_uri())


@pytest.mark.whole
def test_a_section_link_leaves_the_zoom_and_back_still_undoes_it(opened, first):
    with opened(first) as page:
        page.locator(".flame-space canvas").first.click(position={"x": 60, "y": 28})
        zoomed = current(page)
        page.locator("nav a[href='#part0']").click()
        assert current(page) == zoomed
        page.locator(".flame-space canvas").first.click(position={"x": 60, "y": 66})
        page.go_back()
        page.wait_for_function("() => location.hash === '#part0'")
        assert current(page) == zoomed
        page.go_back()
        page.go_back()
        page.wait_for_function("() => location.hash === ''")
        assert current(page) == "all"


@pytest.mark.whole
def test_an_address_outlives_the_report(opened, first, again):
    """Of other runs of the build: the same frame, or the nearest, and words."""
    with opened(first) as page:
        links = linked(page, "main .table")
        paths = []
        for right in range(8):
            page.keyboard.press("Escape")
            page.get_by_role("application").focus()
            for key in ("ArrowDown", *["ArrowRight"] * right, *["ArrowDown"] * 16):
                page.keyboard.press(key)
            page.keyboard.press("Enter")
            paths.append(page.evaluate("location.hash"))
    there = paths_of(*RUNS[6:])
    names = {name for path in there for name in path}
    exact = 0
    with opened(again) as page:
        for link in links:
            view, name = named(link)
            if view != "cpu":
                continue
            follow(page, link)
            missing = f"{name} is not in cpu of this report. "
            assert (missing in status(page)) == (name not in names), name
            assert f"{name}: " in status(page) or name not in names
        for address in paths:
            assert address.startswith("#cpu;z=")
            path = tuple(map(unquote, address.removeprefix("#cpu;z=").split(",")))
            assert len(path) > 3
            follow(page, address)
            near = max(n for n in range(len(path) + 1) if not n or path[:n] in there)
            got = f"{path[near]} is not there" if near < len(path) else ""
            exact += not got
            wanted = f"{path[near - 1] if near else 'all'}: "
            assert status(page).startswith(got or wanted), address
            assert wanted in status(page)
    assert 0 < exact < len(paths)


def test_a_frame_leads_to_its_row(opened, written):
    with opened(written(*STORY), reduced_motion="reduce") as page:
        linked(page)
        rows = page.locator("#part0 tbody tr[hidden] th a.flame-to")
        address = rows.first.get_attribute("href")
        assert not rows.first.is_visible()
        follow(page, address)
        page.get_by_role("button", name="row", exact=True).click()
        focused = page.locator("th a.flame-to:focus")
        assert focused.get_attribute("href") == address
        assert focused.is_visible()
        focused.press("Enter")
        page.keyboard.press("o")
        assert page.locator("th a.flame-to:focus").get_attribute("href") == address


@pytest.mark.whole
def test_hostile_names_have_addresses_too(opened, written, tmp_path):
    stacks = [("leaf", name, "main") for name in HOSTILE]
    with opened(written(*growing(tmp_path, stacks), "--work=1:1")) as page:
        assert linked(page)
        for name in HOSTILE:
            follow(page, f"#cpu;f={quote(name, safe=chr(39) + '!()*~/')}")
            assert " is not " not in status(page)
            assert current(page) != "all"
        # A path too long for an address gives way to its function.
        long = quote(HOSTILE[4])
        follow(page, f"#cpu;z=main,{long},leaf")
        assert current(page) == "leaf"
        page.keyboard.press("Escape")
        follow(page, "#cpu;z=main,nowhere,leaf")
        assert status(page).startswith("nowhere is not there in this report")
        assert current(page) == "main"
        assert page.title() != "owned"


def test_a_word_of_prose_is_no_name(opened, written, tmp_path):
    """In profiles of other languages functions are called as anything is."""
    words = ("the", "functions", "of", "CPU", "code")
    stacks = [(name, "main.main") for name in words]
    with opened(written(*growing(tmp_path, stacks), "--work=1:1")) as page:
        assert {named(link)[1] for link in linked(page, "th")} >= {"code", "main.main"}
        texts = page.locator("main p a.flame-to").all_inner_texts()
        assert set(texts) <= {"main.main"}
