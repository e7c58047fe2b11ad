"""The page in a real browser: nothing asked of the network, everything by keyboard."""

from __future__ import annotations

import re

import pytest

from tests.conftest import STORIES
from tests.examples import daily

# Folders with every kind of capture of a program.
FOLDERS = ("syncpool", "rss-search", "health-check", "node-pool")
# The most of all kinds, and the longest.
FULL = ("rss-search",)
# Each of both themes and of both widths, and for each story another pair of them.
LOOKS = (("light", 390), ("dark", 1280), ("dark", 390), ("light", 1280))
SEEN = [(story, *LOOKS[i % len(LOOKS)]) for i, story in enumerate(STORIES)]
# Of the first rows of each table: how far down its name and its figures are, and how
# many figures have nothing to say what they are.
CARDS = """() => [...document.querySelectorAll(".table table")].flatMap((table) => {
  const seen = (element) => element.checkVisibility();
  const top = (element) => element.getBoundingClientRect().top;
  return [...table.querySelectorAll("tbody tr")].filter(seen).slice(0, 3).map((row) => [
    top(row.querySelector("th")),
    [...row.querySelectorAll("td.number")].filter(seen).map(top),
    row.querySelectorAll("td.number:not(:empty):not([data-label])").length,
  ]);
})"""


def sides(story):
    return f"{story}/base", f"{story}/new"


def unfolded(page):
    """Open all that a reader may open."""
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


@pytest.mark.parametrize(("story", "theme", "width"), daily(SEEN, SEEN[1:2]))
def test_a_story_opens_offline_and_leaves_nobody_out(
    opened, written, axe, story, theme, width
):
    with opened(written(*sides(story)), theme=theme, width=width) as page:
        assert page.locator("#summary h2").inner_text()
        assert page.locator("canvas").count() >= 1
        assert axe.run(page).response["violations"] == []


@pytest.mark.whole
@pytest.mark.parametrize(("theme", "width"), daily(LOOKS, LOOKS[:1]))
def test_what_is_folded_leaves_nobody_out(opened, written, axe, theme, width):
    with opened(written(*sides("rss-search")), theme=theme, width=width) as page:
        unfolded(page)
        assert axe.run(page).response["violations"] == []


@pytest.mark.parametrize("width", daily((390, 1280, 1920), [390]))
def test_no_page_is_wider_than_its_window(opened, written, width):
    with opened(written(*sides("syncpool")), width=width) as page:
        for _ in range(2):
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            unfolded(page)


@pytest.mark.whole
@pytest.mark.parametrize(
    ("width", "most"), daily(((390, 8_300), (1280, 6_000)), [(390, 8_300)])
)
@pytest.mark.parametrize("story", daily(STORIES, ["zstd"]))
def test_a_folder_is_not_a_long_way_down(opened, written, story, width, most):
    """With its listings, where it has any."""
    listed = ("--source=../workloads",) if story == "zstd" else ()
    with opened(written(*sides(story), *listed), width=width) as page:
        assert bool(listed) == (page.locator("#source .source").count() > 0)
        assert page.evaluate("document.documentElement.scrollHeight") <= most


@pytest.mark.parametrize("story", daily(FOLDERS, FULL))
def test_the_flame_graph_comes_second_and_begins_on_the_first_screen(
    opened, written, story
):
    with opened(written(*sides(story))) as page:
        of_sections = page.locator("main > section")
        ids = of_sections.evaluate_all("list => list.map(s => s.id)")
        assert ids[:2] == ["summary", "flame"]
        frames = page.locator("#flame canvas[role=application]").bounding_box()
        assert frames["y"] < 700


def test_a_wide_window_is_the_flame_graphs(opened, written):
    with opened(written(*sides("syncpool")), width=1920) as page:
        frames = page.locator("#flame canvas[role=application]").bounding_box()
        assert frames["width"] > 1800
        assert page.locator("#summary").bounding_box()["width"] < 1300


@pytest.mark.whole
def test_the_account_is_a_bar_whose_pieces_lie_end_to_end(opened, written):
    with opened(written(*sides("rss-search"), "--work=1:1")) as page:
        rows = page.locator(".account tbody tr")
        labels = rows.locator("th").all_inner_texts()
        assert labels[-1] == "total"
        boxes = [box.bounding_box() for box in rows.locator("rect").all()]
        texts = (row.locator("td.number").all_inner_texts() for row in rows.all())
        got = [[float(text.replace("−", "-")) for text in row] for row in texts]
        at = boxes[-1]["x"] + (0 if got[-1][2] > 0 else boxes[-1]["width"])
        for box, (_, _, delta) in zip(boxes[:-1], got, strict=False):
            begin = box["x"] if delta > 0 else box["x"] + box["width"]
            assert begin == pytest.approx(at, abs=1.5)
            at = box["x"] + box["width"] if delta > 0 else box["x"]
        end = boxes[-1]["x"] + (boxes[-1]["width"] if got[-1][2] > 0 else 0)
        assert at == pytest.approx(end, abs=1.5)


def test_what_did_not_move_is_a_line(opened, written):
    """Its sentence is there, the rest is a click away, and so is what a link names."""
    with opened(written(*sides("rss-search"))) as page:
        goroutines = page.locator("section:has(h2:text-matches('^goroutine'))")
        assert goroutines.bounding_box()["height"] < 60
        assert "20 → 20" in goroutines.inner_text()
        assert not goroutines.locator("table").first.is_visible()
        page.get_by_role("navigation").get_by_text("goroutine").click()
        goroutines.locator("table").first.wait_for()
        got = page.locator("section:has(h2:text-matches('^cpu'))")
        assert got.locator("table").first.is_visible()


def test_a_tile_of_a_thing_that_did_not_move_is_not_there(opened, written):
    with opened(written(*sides("syncpool"))) as page:
        tiles = " ".join(page.locator(".tiles dt").all_inner_texts())
        assert "scheduling latency" in tiles
        for quiet in ("block", "mutex", "goroutine"):
            assert quiet not in tiles


def test_a_row_is_a_card_on_a_phone(opened, written):
    """The name comes first, and each figure has its own next to it."""
    with opened(written(*sides("rss-search")), width=390) as page:
        unfolded(page)
        rows = page.evaluate(CARDS)
        assert len(rows) > 20
        for name, cells, unnamed in rows:
            assert all(cell > name for cell in cells)
            assert unnamed == 0


def test_the_first_screen_answers(opened, written):
    """What happened, how sure that is, and where to look next."""
    with opened(written(*sides("syncpool"))) as page:

        def above_the_fold(text):
            box = page.get_by_text(text).first.bounding_box()
            return 0 <= box["y"] < box["y"] + box["height"] <= 800

        assert above_the_fold("GC runs")
        assert above_the_fold("GOGC=")
        assert above_the_fold("Can't tell")
        assert above_the_fold("Flame graph: every stack")
        assert above_the_fold("What adds up")


def test_a_heading_sorts_and_a_pattern_filters(opened, written):
    with opened(written(*sides("syncpool"))) as page:
        unfolded(page)
        table = page.locator("table[data-seen]").first
        rows = table.locator("tbody tr:visible")
        assert rows.count() == 10
        heading = table.get_by_role("button", name="new")
        for down in (True, False):
            heading.click()
            values = [
                float(cell.get_attribute("data-value"))
                for cell in rows.locator("td:nth-child(2)").all()
            ]
            assert values == sorted(values, reverse=down)
        assert table.locator("th[aria-sort=ascending]").count() == 1
        page.get_by_role("searchbox", name="Filter").first.fill(r"parse(Tags|Line)$")
        names = rows.locator("th").all_inner_texts()
        assert names
        assert all(name.endswith(("parseTags", "parseLine")) for name in names)
        page.get_by_role("searchbox", name="Filter").first.fill("(")
        assert rows.count() > 0


def test_all_rows_are_one_click_away(opened, written):
    with opened(written(*sides("syncpool"))) as page:
        unfolded(page)
        table = page.locator("table[data-seen]").first
        whole = table.locator("tbody tr").count()
        page.get_by_role("button", name=f"Show all {whole}").first.click()
        assert table.locator("tbody tr:visible").count() == whole
        page.get_by_role("button", name="Show 10").first.click()
        assert table.locator("tbody tr:visible").count() == 10


@pytest.mark.whole
def test_the_theme_goes_round(opened, written):
    with opened(written(*sides("zstd")), theme="light") as page:

        def background():
            return page.evaluate("getComputedStyle(document.body).backgroundColor")

        light = background()
        page.keyboard.press("d")
        assert background() == light
        page.keyboard.press("d")
        assert background() != light
        page.keyboard.press("d")
        assert background() == light


@pytest.mark.whole
def test_the_keys_are_reported(opened, written):
    with opened(written(*sides("zstd"))) as page:
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog")
        assert dialog.get_by_text("search").count()
        page.keyboard.press("Escape")
        assert not dialog.is_visible()


def test_without_scripts_the_tables_still_show(opened, written):
    page_file = written(*sides("syncpool"))
    with opened(page_file, java_script_enabled=False) as page:
        assert page.get_by_text("GC runs").first.is_visible()
        assert page.locator("#part0 table tbody tr:visible").count() > 20
        notes = page.get_by_text("scripts are switched off").all()
        assert [note.is_visible() for note in notes] == [True, True]


def test_everything_can_be_reached_by_tabs_alone(opened, written):
    """Each stop is seen: inside the window, and marked by more than a colour."""
    with opened(written(*sides("syncpool"))) as page:
        wanted = page.evaluate(
            """() => [...document.querySelectorAll(
                'a[href], button, input, select, summary, canvas, .table')]
              .filter(e => e.checkVisibility() && e.tabIndex >= 0).length"""
        )
        stops = set()
        for _ in range(wanted + 20):
            page.keyboard.press("Tab")
            at = page.evaluate(
                """() => {
                  const e = document.activeElement;
                  if (e === document.body) return null;
                  window.stops ??= [];
                  if (!window.stops.includes(e)) window.stops.push(e);
                  const style = getComputedStyle(e);
                  return [window.stops.indexOf(e), style.outlineStyle !== 'none'];
                }"""
            )
            if at is not None:
                assert at[1], "the focus cannot be seen"
                stops.add(at[0])
        assert len(stops) >= wanted


def test_no_theme_lasts_on_paper(opened, written):
    with opened(written(*sides("zstd")), theme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        white = "rgb(255, 255, 255)"
        background = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(background) == white
        assert not page.locator(".tools").is_visible()


def test_a_link_in_the_page_leads_to_its_section(opened, written):
    with opened(written(*sides("zstd")), reduced_motion="reduce") as page:
        links = page.locator("nav a")
        for i in range(links.count()):
            target = links.nth(i).get_attribute("href")
            links.nth(i).click()
            top = page.locator(target).bounding_box()["y"]
            end = page.evaluate(
                "innerHeight + scrollY >= document.body.scrollHeight - 2"
            )
            assert 0 <= top < 120 or end, target


@pytest.mark.whole
def test_paper_has_small_letters_whole_tables_and_says_what_it_leaves_out(
    opened, written
):
    """Nothing that a click would show is promised, and no column runs off the sheet."""
    sheet = 700
    with opened(written(*sides("health-check")), width=sheet, theme="dark") as page:
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth") <= sheet
        for button in page.locator("main :is(button, input):not(th *)").all():
            assert not button.is_visible()
        for table in page.locator(".table:visible").all():
            wide = table.evaluate("table => [table.scrollWidth, table.clientWidth]")
            assert wide[0] <= wide[1]
            rows = table.locator("tbody tr")
            shown, whole = rows.locator("visible=true").count(), rows.count()
            got = table.evaluate("(t) => t.previousElementSibling?.innerText ?? ''")
            assert (f"{shown} of {whole} rows" in got) == (shown < whole)
        sizes = page.evaluate(
            "[...document.querySelectorAll('main .table td, main p')]"
            ".map((part) => parseFloat(getComputedStyle(part).fontSize))"
        )
        assert max(sizes) <= 13


@pytest.mark.parametrize("story", daily(FOLDERS, FULL))
def test_figures_stand_below_one_another_and_units_next_to(opened, written, story):
    """Of each table of trace and log: a unit in the heading, or in a column of its own.

    No number that is counted, a time or a size shares its cell with a unit.
    """
    with opened(written(*sides(story))) as page:
        unfolded(page)
        units = set()
        for title in ("gctrace", "trace"):
            part = page.locator(f"section:has(h2:text-matches('^{title}, '))")
            for table in part.locator(".table table").all():
                heads = table.locator("thead :is(th, td)").all_inner_texts()
                numbered = enumerate(heads)
                places = [i for i, head in numbered if head[:4] in ("base", "new")]
                for row in table.locator("tbody tr").all():
                    cells = row.locator("th, td").all_inner_texts()
                    for place in places:
                        figure = r"[−+]?[\d,.]+%?|–|\d+ to \d+"
                        assert re.fullmatch(figure, cells[place])
                    if len(places) == 2 and heads[places[1] + 1] == "":
                        units.add(cells[places[1] + 1])
                units |= {word for head in heads for word in head.split()[1:]}
        assert units >= {"ms", "MiB"}
        assert "GiB" not in units
