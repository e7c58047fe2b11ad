"""Five questions of people who see a page for the first time, answered by clicks."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

import pprofdiff
from tests.browser.test_flame import current, read, scaled
from tests.conftest import DATA
from tests.examples import daily

PAIRS = DATA.parent / "field/pairs"
FOLDERS = {
    "syncpool": DATA / "syncpool",
    "health-check": DATA / "health-check",
    "rss-search": DATA / "rss-search",
    "gomaxprocs-16-chi": PAIRS / "gomaxprocs-16-chi",
    "third-nats-busy": PAIRS / "third-nats-busy",
}
WITH_JSON = {
    "health-check": DATA / "health-check",
    "json-standard": PAIRS / "json-standard",
    "third-nats-busy": PAIRS / "third-nats-busy",
}
# It has an answer to each question; `test_page.py` opens one without an outcome.
EACH = ("health-check",)
SCREEN = 800


@pytest.fixture
def seen(opened, written):
    """Return a function: a folder of two sides in, its page out, just opened."""

    def visit(folder, **more):
        path = written(folder / "base", folder / "new")
        return opened(path, reduced_motion="reduce", **more)

    return visit


def top(where):
    """Return how far down the window a part of the page begins."""
    return where.bounding_box()["y"]


def in_sight(where):
    box = where.bounding_box()
    return box is not None and 0 <= box["y"] < box["y"] + box["height"] <= SCREEN


@pytest.mark.parametrize("name", daily(FOLDERS, EACH))
def test_is_it_slower_and_by_how_much(seen, name):
    """The first heading says so, with its interval or with what would be needed."""
    with seen(FOLDERS[name]) as page:
        answer = page.locator("#summary h2")
        assert in_sight(answer)
        verdict = r"^(Slower|Faster|The same|Can't tell|No outcome)\b"
        assert re.search(verdict, answer.inner_text())
        assert re.search(r"\d%|not costs", answer.inner_text())


@pytest.mark.parametrize("name", daily(FOLDERS, EACH))
def test_which_line_or_setting(seen, name):
    """The first cause stands below it; what it names is a click from its frames."""
    with seen(FOLDERS[name]) as page:
        cause = page.locator("#summary p.strong")
        assert in_sight(cause)
        links = page.locator("#summary .answer a.flame-to")
        got = page.locator("#summary .answer").inner_text()
        if "GOGC=" in got or "No group" in got or not links.count():
            return
        links.first.click()
        # A page of traces has a second graph, of waits.
        assert current(page, "#flame") != "all"
        assert in_sight(page.locator("#flame .flame-trail"))


@pytest.mark.whole
@pytest.mark.parametrize("name", daily(FOLDERS, EACH))
def test_who_pays_for_gc(seen, name):
    """A line of the first screen names who pays most; a click shows all who do."""
    with seen(FOLDERS[name]) as page:
        line = page.locator("#summary > p", has_text="Pays for GC")
        assert in_sight(line)
        line.get_by_role("link").first.click()
        table = page.locator("details:has(> summary:has-text('Pays for GC')) table")
        assert in_sight(table.locator("tbody tr").first)
        name_of, *figures = re.search(
            r"largest(?:, and changed most)?: (.*?) ([\d.,]+) → ([\d.,]+) ",
            line.inner_text(),
        ).groups()
        rows = [
            (row.locator("th").inner_text(), row.locator("td.number").all_inner_texts())
            for row in table.locator("tbody tr").all()
        ]
        (own,) = [cells for name, cells in rows if name.strip() == name_of]
        assert own[:2] == figures
        largest = max(max(map(float_of, cells[:2])) for _, cells in rows)
        assert max(map(float_of, figures)) == largest


def float_of(text):
    return float(re.sub(r"[^\d.]", "", text) or 0)


@pytest.mark.parametrize("name", daily(FOLDERS, EACH))
def test_is_the_wait_for_a_processor_worse_and_where(seen, name):
    """A line of the first screen says how long a wait is and whose; a click, of all."""
    with seen(FOLDERS[name]) as page:
        line = page.locator("#summary > p", has_text="time runnable")
        assert in_sight(line)
        got = line.inner_text()
        assert re.match(r"P99 scheduling latency [\d.,]+ → [\d.,]+ [mµ]?s \(", got)
        line.get_by_role("link", name="Goroutines by root function").click()
        folds = page.locator("details:has(> summary:has-text('time runnable'))")
        table = folds.locator("table").last
        assert in_sight(table.locator("tbody tr").first)
        names = table.locator("tbody th").all_inner_texts()
        most = re.search(r"largest(?:, and changed most)?: (\S+) [\d.,]+ →", got)[1]
        assert most in names


@pytest.mark.parametrize("name", daily(WITH_JSON, EACH))
def test_what_moved_in_a_package(seen, name):
    """Its name in the search gives its sum, and the functions of it that moved."""
    folder = WITH_JSON[name]
    cpu = pprofdiff.compare(folder / "base", folder / "new")["cpu"]
    whole = cpu.functions[["base_cum", "new_cum"]]
    table = whole[["encoding/json" in name for name in whole.index]]
    stacks = cpu.stacks[["encoding/json" in stack for stack in cpu.stacks.index]]
    with seen(folder) as page:
        page.locator("#flame").get_by_label("search frames").fill("encoding/json")
        words = page.locator("#flame .flames output").inner_text()
        wanted = scaled(cpu.data, stacks["base_flat"].sum(), stacks["new_flat"].sum())
        delta, slack = read(re.search(r"Δ ([+−]?[\d.]+)", words)[1])
        assert abs(delta - (wanted[1] - wanted[0])) <= slack
        assert words.endswith(f"{len(table)} functions")
        line = page.locator("#flame .flames p", has_text="Changed most:")
        assert in_sight(line)
        links = line.locator("a.flame-to").all()
        got = re.findall(r" ([▲▼~])? ?([\d.,]+) → ([\d.,]+) ", line.inner_text())
        assert len(links) == len(got) == min(len(table), 6)
        moved = []
        for link, (mark, *sides) in zip(links, got, strict=True):
            row = table.loc[link.evaluate("link => link.name")]
            values = scaled(cpu.data, row["base_cum"], row["new_cum"])
            for text, value in zip(sides, values, strict=True):
                number, slack = read(text)
                assert abs(number - value) <= slack
            moved.append((mark == "~", -abs(values[1] - values[0])))
        assert moved == sorted(moved)
        title = links[0].get_attribute("title")
        links[0].click()
        assert current(page, "#flame") in title
        page.go_back()
        field = page.locator("#flame").get_by_label("search frames")
        assert field.input_value() == "encoding/json"


@pytest.mark.whole
@pytest.mark.parametrize("name", daily(FOLDERS, EACH))
def test_a_folded_table_says_what_changed_most_in_it(seen, name):
    """The row that its line names is there, marked, and none moved further."""
    with seen(FOLDERS[name]) as page:
        folds = page.locator(
            "details.fold:has(> summary small:has-text('changed most'))"
        )
        assert folds.count() >= 3
        for fold in folds.all():
            # A part without room is folded itself.
            fold.evaluate("fold => fold.closest('details.part').open = true")
            note = fold.locator("> summary small").inner_text()
            got = re.search(
                r"changed most: (.*) ([\d.,–]+) → ([\d.,–]+)", note
            ).groups()
            fold.evaluate("fold => fold.open = true")
            rows = []
            for row in fold.locator("tbody tr").all():
                texts = row.locator("td.number").all_inner_texts()
                rows.append((row.locator("th").inner_text().strip(), texts))
            assert [cells for label, cells in rows if same(label, got[0])]


def same(label, short):
    """Return whether a label is what a short one with a gap in its middle is of."""
    head, _, tail = short.partition("…")
    return label.startswith(head) and label.endswith(tail)


@pytest.mark.parametrize("width", daily((390, 1280), (390,)))
def test_what_is_asked_first_stands_before_the_flame_graph(seen, width):
    with seen(FOLDERS["syncpool"], width=width) as page:
        parts = [page.locator("#summary h2"), *page.locator("#summary > p").all()]
        parts.append(page.locator("#flame"))
        assert len(parts) == 4
        assert all(top(a) < top(b) for a, b in pairwise(parts))


def test_an_endpoint_of_the_list_filters_the_flame_graph(seen):
    with seen(DATA / "service") as page:
        link = page.get_by_role("rowheader").get_by_role(
            "link", name="/search", exact=True
        )
        row = page.get_by_role("row").filter(has=link)
        base, new = row.get_by_role("cell").all_inner_texts()[:2]
        link.click()
        flame = page.locator("#flame")
        assert flame.get_by_label("samples shown").input_value() == "endpoint=/search"
        flame.get_by_text(f"all: {base} → {new} µs/op").wait_for()
