"""A report as plain text: nothing is cut, whatever its length."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from pprofdiff.report.rows import Part
from pprofdiff.report.text.layout import (
    Block,
    Grid,
    Lines,
    Paragraph,
    Stanza,
    Word,
    laid_out,
)

__all__ = ["render"]

_WIDTH = 80
_GAP = "  "


def render(parts: Iterable[Part]) -> str:
    """Return parts of a report as text, an empty line between them."""
    return "\n\n".join("\n".join(_lines(block)) for block in laid_out(parts)) + "\n"


def _lines(block: Block) -> list[str]:
    """Return one block's lines."""
    if isinstance(block, Grid):
        return _grid(block)
    if isinstance(block, Lines):
        return [word.whole for word in block.lines]
    if isinstance(block, Stanza):
        return [line for part in block.paragraphs for line in _paragraph(part)]
    return _paragraph(block)


def _paragraph(block: Paragraph) -> list[str]:
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
    headings = tuple(Word(text) for text in block.headings)
    table = [[word.whole for word in row] for row in (headings, *block.rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(headings))]
    return [
        _GAP.join(
            f"{text:{side}{width}}"
            for text, side, width in zip(row, block.align, widths, strict=True)
        ).rstrip()
        for row in table
        if any(row)
    ]
