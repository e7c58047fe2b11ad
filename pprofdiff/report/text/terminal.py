"""A report on a terminal, with rich: in color, and names cut to the width.

Names reach rich only as `Text`: its markup would eat ``Cache[go.shape.string]``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from pprofdiff.report.rows import Part
from pprofdiff.report.text.fitting import columns
from pprofdiff.report.text.layout import Block, Style, laid_out
from pprofdiff.report.text.lines import Line, Page, lines

# Blue is less and orange more; every number also has a sign and a mark. Both colors are
# readable on black and on white: a terminal cannot be asked which it has.
_STYLES: dict[Style, str] = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "worse": "#d75f00",
    "better": "#0087d7",
    "warn": "yellow",
}


def render(parts: Iterable[Part | Block], *, color: bool, page: Page) -> str:
    """Return parts of a report as a terminal draws them, on a page of its width."""
    drawn = io.StringIO()
    console = Console(
        file=drawn,
        highlight=False,
        color_system="auto" if color else None,
        no_color=False,
        force_terminal=True,
    )
    printed = list(lines(laid_out(parts), page))
    widths = (sum(columns(words) for words, _ in line) for line in printed)
    console.width = max(page.width, *widths)
    _print(printed, console)
    return drawn.getvalue()


def _print(printed: Iterable[Line], console: Console) -> None:
    for line in printed:
        text = Text(no_wrap=True, overflow="ignore")
        for words, style in line:
            text.append(words, _STYLES[style])
        console.print(text, crop=False)
