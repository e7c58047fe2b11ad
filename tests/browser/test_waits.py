"""What goroutines waited for, in a real browser: widths are times, links lead on."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.call_tree import inclusive
from pprofdiff.analysis.chain_tree import chain_tree
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.palette import THEMES
from tests.traces.captured import FIELD, trace_pair

NAME = "third-edge-one-lock"
# Left and width of the marked frame, as parts of the picture's width.
CURSOR = """() => {
  const canvas = document.querySelector("#waits .flame-space canvas").getBoundingClientRect();
  const cursor = document.querySelector("#waits .flame-cursor").getBoundingClientRect();
  return [(cursor.left - canvas.left) / canvas.width, cursor.width / canvas.width];
}"""
LINES = "#waits p.flame-note[aria-live]"


@pytest.fixture(scope="module")
def page_file(written):
    """Return the page of two traces."""
    return written(*(FIELD / NAME / side / "trace.out" for side in ("base", "new")))


def node(chains, sums, row, scale):
    """Return (name, larger of both sides, children) of a node, and the next row."""
    tree = chains.tree
    name = tree.name[row]
    text = f"({tree.folded[row]} smaller)" if name < 0 else chains.names[name]
    own = max(side[row + 1] * by for side, by in zip(sums, scale, strict=True))
    children, after = [], row + 1
    while after < row + tree.size[row]:
        child, after = node(chains, sums, after, scale)
        children.append(child)
    return (text, max(own, sum(child[1] for child in children)), children), after


@pytest.fixture(scope="module")
def roots():
    """Return the goroutines that wait as nodes: name, width, children."""
    diff = trace_pair(NAME)
    chains = chain_tree(diff, 3_000)
    sums, rows, row = merged(inclusive(chains.tree)), [], 0
    while row < len(chains.tree):
        one, row = node(chains, sums, row, diff.factors)
        rows.append(one)
    return rows


@pytest.mark.parametrize("width", [1280, 390])
def test_widths_are_times(opened, page_file, roots, width):
    whole = sum(root[1] for root in roots)
    with opened(page_file, width=width) as page:
        canvas = page.locator("#waits .flame-space canvas")
        canvas.focus()
        page.keyboard.press("ArrowDown")
        pixels, left, nodes = canvas.bounding_box()["width"], 0.0, roots
        # Down along the first of each level, at each with its neighbour.
        while nodes and nodes[0][1] / whole * pixels > 2:
            (text, own, children), *others = nodes
            at, wide = page.evaluate(CURSOR)
            assert page.locator(LINES).inner_text().startswith(f"{text}: ")
            assert (at, wide) == pytest.approx((left, own / whole), abs=2 / pixels)
            if others and others[0][1] / whole * pixels > 2:
                page.keyboard.press("ArrowRight")
                at, wide = page.evaluate(CURSOR)
                beside = left + own / whole, others[0][1] / whole
                assert (at, wide) == pytest.approx(beside, abs=2 / pixels)
                page.keyboard.press("ArrowLeft")
            page.keyboard.press("ArrowDown")
            nodes = children
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_row_leads_to_its_frame_and_back(opened, page_file):
    with opened(page_file) as page:
        row = page.locator("#waits tbody th a", has_text="time.Sleep in main.grant")
        row.first.click()
        assert page.evaluate("location.hash").startswith("#waits;f=time.Sleep")
        found = page.locator("#waits output")
        assert found.inner_text().startswith("matched: ")
        assert "time.Sleep in main.grant: " in page.locator(LINES).inner_text()
        page.locator("#waits button", has_text="who waits for it").click()
        trail = page.locator("#waits .flame-trail")
        assert trail.inner_text().startswith("Chains that lead to: ")
        page.go_back()
        page.locator("#waits .flame-trail button", has_text="row").click()
        assert page.evaluate("document.activeElement.textContent") == (
            "time.Sleep in main.grant"
        )


def test_lanes_lead_to_chains_and_back(opened, page_file):
    with opened(page_file) as page:
        lanes = page.locator("#lanes")
        assert not lanes.get_by_role("link").first.is_visible()
        page.locator("#waits a[href='#lanes']").click()
        link = lanes.get_by_role("link").first
        link.wait_for()
        root = link.inner_text()
        link.click()
        assert page.evaluate("location.hash").startswith("#waits;f=")
        assert f"{root}: " in page.locator(LINES).inner_text()
        page.locator("#waits .flame-trail button", has_text="lanes").click()
        assert page.evaluate("document.activeElement.textContent") == root


@pytest.mark.parametrize("theme", THEMES)
def test_ends_have_the_fills_of_the_chart(opened, page_file, theme):
    with opened(page_file, theme=theme) as page:
        page.locator("#waits button", has_text="end").first.click()
        legend = page.locator("#waits .flame-legend")
        fills = page.evaluate(
            """() => Object.fromEntries([...document.querySelectorAll("#waits .flame-legend > span")]
              .map((span) => [span.textContent, span.querySelector("canvas")
                .getContext("2d").getImageData(3, 3, 1, 1).data.slice(0, 3).join()]))"""
        )
        drawn = page.evaluate(
            """() => [...document.querySelectorAll("#waits svg.chart [class*=c-group]")]
              .map((bar) => getComputedStyle(bar).fill.match(/\\d+/g).slice(0, 3).join())"""
        )
        assert "timers" in legend.inner_text()
        assert {fills["timers"], fills["code running"]} <= set(drawn)
        assert set(drawn) <= set(fills.values())


def test_both_pictures_keep_to_themselves(opened, written):
    """A page with profiles too has two pictures: each key and link is of one."""
    folder = FIELD / NAME
    with opened(written(folder / "base", folder / "new")) as page:
        page.locator("#waits .flame-space canvas").focus()
        page.keyboard.press("t")
        assert page.locator("#waits [role=treegrid]").is_visible()
        assert page.locator("#flame [role=treegrid]").count() == 0
        page.keyboard.press("t")
        page.locator("#waits tbody th a").first.click()
        assert page.evaluate("location.hash").startswith("#waits;")
        assert page.locator("#flame output").inner_text() == ""
        page.go_back()
        assert page.locator("#waits output").inner_text() == ""
        here = {
            of: page.locator(f"{of} .flame-trail [aria-current]")
            for of in ("#flame", "#waits")
        }
        for of in here:
            page.locator(f"{of} .flame-space canvas").click(position={"x": 60, "y": 28})
        assert "all" not in [one.inner_text() for one in here.values()]
        page.go_back()
        page.locator("#waits .flame-trail [aria-current]", has_text="all").wait_for()
        assert here["#flame"].inner_text() != "all"
        page.go_back()
        page.locator("#flame .flame-trail [aria-current]", has_text="all").wait_for()
