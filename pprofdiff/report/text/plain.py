"""Blocks as plain text: nothing is cut, whatever its length."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from pprofdiff.report.text.layout import Block, Cell, Grid, Lines, Stanza, Words

__all__ = ["render"]

_WIDTH = 80
_GAP = "  "


def render(blocks: Iterable[Block]) -> str:
    """Return the blocks as text, an empty line between them."""
    return "\n\n".join("\n".join(_lines(block)) for block in blocks) + "\n"


def _lines(block: Block) -> list[str]:
    """Return one block's lines."""
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Lines):
        return [cell.text for cell in block.lines]
    if isinstance(block, Stanza):
        return [line for words in block.words for line in _words(words)]
    return _words(block)


def _words(block: Words) -> list[str]:
    """Return a paragraph's lines; a word longer than a line stays whole."""
    return wrap(
        block.text,
        _WIDTH,
        initial_indent=block.lead,
        subsequent_indent=" " * len(block.lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _grid(block: Grid) -> list[str]:
    """Return a table's lines, numbers to the right; the last column is not padded."""
    heading = [Cell(text) for text in block.headings]
    table = [[cell.text for cell in row] for row in (heading, *block.rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(heading))]
    return [
        _GAP.join(
            f"{text:{side}{width}}"
            for text, side, width in zip(row, block.align, widths, strict=True)
        ).rstrip()
        for row in table
        if any(row)
    ]
