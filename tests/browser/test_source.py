"""The listings of the page in a real browser: readable, within the window, escaped."""

from __future__ import annotations

import pytest

from pprofdiff.cli.main import main
from tests.browser.test_page import LOOKS
from tests.examples import daily

STORY = ("zstd/base/cpu.pb.gz", "zstd/new/cpu.pb.gz", "--source=../workloads")


@pytest.mark.whole
@pytest.mark.parametrize(("theme", "width"), daily(LOOKS, LOOKS[:1]))
def test_listings_leave_nobody_out(opened, written, axe, theme, width):
    with opened(written(*STORY), theme=theme, width=width) as page:
        listings = page.locator("#source .source")
        page.locator("nav a", has_text="source").click()
        assert 2 < listings.count() <= 10
        for i in range(listings.count()):
            listings.nth(i).locator("summary").click()
        listings.nth(1).locator("pre").wait_for()
        assert axe.run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_line_is_a_line_and_what_changed_stands_out(opened, written):
    with opened(written(*STORY)) as page:
        page.get_by_role("link", name="source").click()
        page.locator("#source .source summary").first.click()
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


@pytest.mark.go
def test_changed_lines_lead_to_their_listing(
    opened, planted_repo, tmp_path, monkeypatch
):
    monkeypatch.chdir(planted_repo.repo.folder)
    path = tmp_path / "x.html"
    assert main([*planted_repo.words, "-q", "-o", str(path)]) == 0
    with opened(path, reduced_motion="reduce") as page:
        listing = page.locator("#source .source", has_text="store.Price in")
        assert listing.get_attribute("open") is None
        page.locator("#summary a", has_text="17-19").click()
        listing.locator("pre").wait_for()
        assert "+" in listing.locator("pre .worse").first.inner_text()
        assert 0 <= listing.bounding_box()["y"] < 800
        page.go_back()
        assert page.locator("#summary h2").bounding_box()["y"] >= 0
