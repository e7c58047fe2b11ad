"""The page in a real browser: nothing asked of the network, everything by keyboard."""

from __future__ import annotations

import pytest

from tests.conftest import STORIES


def sides(story):
    return f"{story}/base", f"{story}/new"


@pytest.fixture(scope="session")
def axe():
    """Return axe-core, which finds what keeps people out."""
    module = pytest.importorskip("axe_playwright_python.sync_playwright")
    return module.Axe()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("story", STORIES)
def test_a_story_opens_offline_and_leaves_nobody_out(
    opened, written, axe, story, theme
):
    with opened(written(*sides(story)), theme=theme) as page:
        assert page.locator("#summary h2").inner_text()
        assert page.locator("canvas").count() >= 1
        assert axe.run(page).response["violations"] == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_no_page_is_wider_than_its_window(opened, written, width):
    with opened(written(*sides("syncpool")), width=width) as page:
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width


def test_the_first_screen_answers(opened, written):
    """What happened, how sure that is, and where to look next."""
    with opened(written(*sides("syncpool"))) as page:

        def above_the_fold(text):
            box = page.get_by_text(text).first.bounding_box()
            return 0 <= box["y"] < box["y"] + box["height"] <= 800

        assert above_the_fold("GC runs")
        assert above_the_fold("GOGC=")
        assert above_the_fold("Cannot tell")
        assert above_the_fold("flame graph")


def test_a_heading_sorts_and_a_pattern_filters(opened, written):
    with opened(written(*sides("syncpool"))) as page:
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
        table = page.locator("table[data-seen]").first
        whole = table.locator("tbody tr").count()
        page.get_by_role("button", name=f"Show all {whole}").first.click()
        assert table.locator("tbody tr:visible").count() == whole
        page.get_by_role("button", name="Show 10").first.click()
        assert table.locator("tbody tr:visible").count() == 10


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


def test_the_keys_are_told(opened, written):
    with opened(written(*sides("zstd"))) as page:
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog")
        assert dialog.get_by_text("search").count()
        page.keyboard.press("Escape")
        assert not dialog.is_visible()


def test_without_scripts_the_tables_still_tell(opened, written):
    page_file = written(*sides("syncpool"))
    with opened(page_file, java_script_enabled=False) as page:
        assert page.get_by_text("GC runs").first.is_visible()
        assert page.locator("#part0 table tbody tr:visible").count() > 20
        assert page.get_by_text("scripts are switched off").is_visible()


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
