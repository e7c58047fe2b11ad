"""A report on a terminal, with rich: colour, and names cut to the width there is.

Names reach rich as `Text` only: its markup would eat ``Cache[go.shape.string]``.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pprofdiff.report.rows import Part
from pprofdiff.report.text.layout import (
    Block,
    Grid,
    Lines,
    Stanza,
    Style,
    Word,
    laid_out,
)

__all__ = ["draw", "render"]

# Wrapping of sentences where no terminal says how wide it is.
_PIPE_WIDTH = 80
# Less of an aside than this says nothing: ``(was x…``.
_TELLING = 7

# Blue is less and orange more, with a sign and a mark on every number. Both stand out
# from a black ground as well as from a white one: nobody can ask a terminal which.
_STYLES: dict[Style, str] = {
    "": "",
    "strong": "bold",
    "faint": "dim",
    "worse": "#d75f00",
    "better": "#0087d7",
    "warn": "yellow",
}


def render(parts: Iterable[Part], *, color: bool, fit: bool) -> str:
    """Return parts of a report as a terminal draws them.

    `fit` keeps them to the terminal's width; else they are as wide as their longest
    name.
    """
    blocks = list(laid_out(parts))
    drawn = io.StringIO()
    console = Console(
        file=drawn,
        highlight=False,
        no_color=not color,
        force_terminal=True,
        width=None if fit else max(_PIPE_WIDTH, *map(_width, blocks)),
    )
    draw(blocks, console)
    return drawn.getvalue()


def draw(blocks: Iterable[Block], console: Console) -> None:
    """Draw the blocks on a console, an empty line between them."""
    for i, block in enumerate(blocks):
        if i:
            console.print()
        console.print(_drawn(block, console.width))


def _width(block: Block) -> int:
    """Return how wide a block must be for nothing of it to be cut."""
    if isinstance(block, Grid):
        return sum(width + 2 for width in _widths(block))
    if isinstance(block, Lines):
        return max((cell_len(word.whole) for word in block.lines), default=0)
    if isinstance(block, Stanza):
        return max(map(_width, block.paragraphs), default=0)
    longest = max(map(cell_len, block.text.split()), default=0)
    return cell_len(block.lead) + longest


def _widths(block: Grid) -> list[int]:
    """Return the width of each column; East Asian characters are two wide."""
    rows = [block.headings, *([word.whole for word in row] for row in block.rows)]
    return [max(cell_len(row[i]) for row in rows) for i in range(len(block.headings))]


def _drawn(block: Block, width: int) -> RenderableType:
    """Return one block as rich draws it."""
    if isinstance(block, Grid):
        return _grid(block, width)
    if isinstance(block, Lines):
        return Text("\n").join(_text(word) for word in block.lines)
    if isinstance(block, Stanza):
        return Group(*(_drawn(part, width) for part in block.paragraphs))
    words = Text(block.text, style=_STYLES[block.style])
    if not block.lead:
        return words
    table = Table.grid(padding=0)
    table.add_row(Text(block.lead, style=_STYLES[block.style]), words)
    return Padding(table, 0)


def _text(word: Word) -> Text:
    return Text(word.whole, style=_STYLES[word.style], no_wrap=True)


def _grid(block: Grid, width: int) -> Table:
    """Return a table; names that do not fit lose the front of their path."""
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        pad_edge=False,
        show_edge=False,
        show_header=any(block.headings),
    )
    widths = _widths(block)
    taken = sum(w + 2 for i, w in enumerate(widths) if i != block.flexible)
    room = max(width - taken, 16)
    for i, (heading, side) in enumerate(zip(block.headings, block.align, strict=True)):
        table.add_column(
            Text(heading),
            justify="right" if side == ">" else "left",
            no_wrap=True,
            max_width=room if i == block.flexible else None,
            header_style="bold",
        )
    for row in block.rows:
        words = list(row)
        words[block.flexible] = _fitting(words[block.flexible], room)
        table.add_row(*map(_text, words))
    return table


def _fitting(word: Word, room: int) -> Word:
    """Return a name with as much of its aside as fits, or else the end of the name.

    That begins with a path's part where there is one.
    """
    if cell_len(word.whole) <= room:
        return word
    used = cell_len(word.text) + word.indent
    if used <= room:
        aside = Text(word.aside)
        aside.truncate(max(room - used - 2, 0), overflow="ellipsis")
        told = aside.plain if aside.cell_len >= _TELLING else ""
        return replace(word, aside=told)
    left = max(room - 2 - word.indent, 1)
    kept = word.text[-left:]
    while cell_len(kept) > left:
        kept = kept[1:]
    slash = kept.find("/")
    if 0 <= slash < len(kept) // 2:
        kept = kept[slash:]
    return Word(f"…{kept}", word.style, word.indent)
