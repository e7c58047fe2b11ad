"""The listings of the page in a real browser: readable, within the window, escaped."""

from __future__ import annotations

import pytest

from tests.browser.test_page import axe

__all__ = ["axe"]

STORY = ("zstd/base/cpu.pb.gz", "zstd/new/cpu.pb.gz", "--source=../workloads")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_listings_leave_nobody_out(opened, written, axe, theme, width):
    with opened(written(*STORY), theme=theme, width=width) as page:
        listings = page.locator("#source details")
        assert 2 < listings.count() <= 10
        for i in range(listings.count()):
            if listings.nth(i).get_attribute("open") is None:
                listings.nth(i).locator("summary").click()
        assert listings.nth(1).locator("pre").is_visible()
        assert axe.run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_line_is_a_line_and_what_changed_stands_out(opened, written):
    with opened(written(*STORY)) as page:
        page.get_by_role("link", name="source").click()
        first = page.locator("#source pre").first
        lines = first.inner_text().splitlines()
        gone = next(i for i, line in enumerate(lines) if "zstd.NewWriter(&out)" in line)
        added = next(i for i, line in enumerate(lines) if "encoders.Get()" in line)
        assert added == gone + 4
        # Columns stand below each other: each line's text begins in one place.
        assert lines[gone].index("w, err") == lines[added].index("w := ")
        assert first.locator(".worse").count() == 3
        colours = {
            first.locator(kind).first.evaluate("e => getComputedStyle(e).color")
            for kind in (".worse", ".better")
        }
        assert len(colours) == 2
