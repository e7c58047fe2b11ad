"""Names on the page: short in rows and frames, whole under the pointer."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.conftest import DATA

PAIR = DATA.parent / "field/pairs/lru-v2"
WHOLE = "github.com/hashicorp/golang-lru/v2.(*Cache[go.shape.int,go.shape.*uint8]).Get"
BEFORE = "github.com/hashicorp/golang-lru.(*Cache).Get"
SHORT = "golang-lru.(*Cache[int,*…]).Get"


@pytest.fixture
def page_file(written):
    return written(PAIR / "base", PAIR / "new")


def test_a_row_is_short_and_has_the_whole_name_under_the_pointer(opened, page_file):
    with opened(page_file) as page:
        cell = page.locator(f'th[title^="{WHOLE}"]').first
        assert cell.inner_text() == f"{SHORT} (was v0/v1)"
        assert cell.get_attribute("title") == f"{WHOLE} (was {BEFORE})"


@pytest.mark.parametrize(
    "wanted", [r"golang-lru\.\(\*Cache\[int", r"^github\.com/hash"]
)
def test_rows_are_filtered_by_both_names(opened, page_file, wanted):
    with opened(page_file) as page:
        page.get_by_label("Filter the rows by name").first.fill(wanted)
        assert page.locator(f'th[title^="{WHOLE}"]').first.is_visible()
        assert not page.get_by_text("runtime.convT64", exact=True).first.is_visible()


@pytest.mark.parametrize("wanted", [r"^golang-lru\..*Get", r"^github\.com/hash.*Get"])
def test_frames_are_searched_by_both_names(opened, page_file, wanted):
    with opened(page_file) as page:
        page.get_by_label("search frames by regexp").fill(wanted)
        page.get_by_text("matched: 86.5% → 96.2%").wait_for()


def test_the_tooltip_of_a_frame_has_the_whole_name_and_what_was(opened, page_file):
    with opened(page_file, fragment="#cpu;w=new") as page:
        page.get_by_role("application").focus()
        for _ in range(5):
            page.keyboard.press("ArrowDown")
        text = page.get_by_role("tooltip").inner_text()
    assert WHOLE in text
    assert "was v0/v1" in text.splitlines()
    assert BEFORE not in text


def test_the_tree_table_is_short_too(opened, page_file):
    with opened(page_file, fragment=f"#cpu;t=1;p=merged;f={quote(WHOLE)}") as page:
        name = page.locator(f'[role=treegrid] span[title="{WHOLE}"]')
        assert name.inner_text() == SHORT
