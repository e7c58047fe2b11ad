"""Print parts of a report: drawn on a terminal, plain elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pprofdiff.cli.screen import Screen
from pprofdiff.report.rows import Part
from pprofdiff.report.text.lines import Page
from pprofdiff.report.text.plain import PAGE

if TYPE_CHECKING:
    from pprofdiff.report.text.layout import Block


def page_of(screen: Screen) -> Page:
    """Return the page width for a report on the screen."""
    width = screen.width()
    return PAGE if width is None else Page(width, fit=True)


def draw(parts: Sequence[Part | Block], color: str, screen: Screen) -> None:
    """Print parts; `color` is auto, always or never."""
    if not parts:
        return
    colored = screen.wants_color(color)
    if colored or screen.out.isatty():
        from pprofdiff.report.text.terminal import render as drawn

        screen.write(drawn(parts, color=colored, page=page_of(screen)))
        return
    from pprofdiff.report.text.plain import render

    screen.write(render(parts))
