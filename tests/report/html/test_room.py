"""Sections of a page are open in their order while the page has room for them."""

from __future__ import annotations

import pytest

from pprofdiff.report.html.parts import Chunk, Paragraph, Text
from pprofdiff.report.html.room import heights, opened, text_height


@pytest.mark.parametrize(
    ("got", "high", "others", "answers"),
    [
        ((True, True, True), (500, 500, 500), 0, (True, True, True)),
        ((True, False, True), (500, 9000, 500), 0, (True, False, True)),
        # What has no room does not take the room of what is behind it.
        ((True, True, True), (500, 9000, 500), 0, (True, False, True)),
        ((True, True, True), (500, 500, 500), 9000, (True, False, False)),
        # The first that shows something is open, however long it is.
        ((False, True, True), (500, 9000, 500), 0, (False, True, False)),
        ((), (), 0, ()),
    ],
)
def test_sections_with_news_are_open_while_there_is_room(got, high, others, answers):
    assert opened(got, high, others) == answers


def test_what_is_folded_takes_a_line():
    long = Text((Paragraph("word " * 4000),))
    shown, hidden = (Chunk("", "x", "", (long,), shown=s) for s in (True, False))
    assert heights([hidden], 0, 0) < 200
    assert heights([shown], 0, 0) > text_height([long]) > 20 * 200
    assert heights([], 3, 0) > heights([], 0, 3)
