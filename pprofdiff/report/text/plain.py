"""A report as plain text: nothing is cut to a width, whatever its length."""

from __future__ import annotations

from collections.abc import Iterable

from pprofdiff.report.rows import Part
from pprofdiff.report.text.layout import Block, laid_out
from pprofdiff.report.text.lines import Page, lines

PAGE = Page(100, fit=False)
"""The page to use if the width is unknown."""


def render(parts: Iterable[Part | Block]) -> str:
    """Return parts of a report as text, with an empty line between them."""
    text = (
        "".join(words for words, _ in line) for line in lines(laid_out(parts), PAGE)
    )
    return "\n".join(text) + "\n"
