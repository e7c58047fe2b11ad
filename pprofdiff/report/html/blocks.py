"""Blocks of the text report as what the page's template draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import isfinite
from typing import NamedTuple

from pprofdiff.report.text.layout import Block, Cell, Grid, Lines, Stanza, Words
from pprofdiff.units import printable

__all__ = ["Bars", "Column", "Drawn", "Paragraph", "Square", "drawn", "split"]

# So many rows are in sight at first, where a table has clearly more.
_SEEN = 10
_TOTAL = "total"
_SPARE = 3
# A name longer than this is folded behind its beginning.
_LONG = 300
# How long the longest bar is, in pixels.
_BAR = 88.0


class Column(NamedTuple):
    """A heading, its unit or "", whether it holds numbers and may be sorted by."""

    text: str
    unit: str
    numbers: bool
    sortable: bool


class Bars(NamedTuple):
    """Widths of two bars in pixels, as the SVG has them: base above new."""

    base: str
    new: str


class Square(NamedTuple):
    """One cell: text, the words behind it, style, what it is sorted by ("": nothing).

    `head` tells that it names the row, `level` how far it is indented; of a long name
    `start` is what is seen of it at first, else "".
    """

    text: str
    aside: str
    style: str
    value: str
    head: bool
    level: int
    start: str


class Paragraph(NamedTuple):
    """Text behind its lead, in a style."""

    text: str
    lead: str
    style: str


class Drawn(NamedTuple):
    """One block: its `kind` is ``title``, ``text``, ``lines`` or ``table``.

    `paragraphs` are those of text, `columns`, `rows` and `bars` (one a row, or none)
    a table's, of which the first `seen` rows are shown until one asks for more. Bars
    stand before the column at `place`, and `code` tells that rows are Go's names.
    """

    kind: str
    text: str = ""
    paragraphs: tuple[Paragraph, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Square, ...], ...] = ()
    bars: tuple[Bars | None, ...] = ()
    seen: int = 0
    place: int = 0
    code: bool = False


def drawn(
    blocks: Iterable[Block], labels: tuple[str, str], unit: str = ""
) -> list[Drawn]:
    """Return blocks as the template draws them.

    Columns of `labels` and their Δ are in `unit`; where their cells hold numbers,
    bars show them beside each other.
    """
    return [_block(block, labels, unit) for block in blocks]


def _block(block: Block, labels: tuple[str, str], unit: str) -> Drawn:
    if isinstance(block, Grid):
        return _table(block, labels, unit)
    if isinstance(block, Lines):
        return Drawn("lines", "\n".join(cell.text for cell in block.lines))
    if isinstance(block, Stanza):
        return Drawn("text", paragraphs=tuple(map(_paragraph, block.words)))
    if block.style == "strong" and not block.lead:
        return Drawn("title", block.text)
    return Drawn("text", paragraphs=(_paragraph(block),))


def _paragraph(words: Words) -> Paragraph:
    return Paragraph(words.text.strip(), words.lead.strip(), words.style)


def _table(grid: Grid, labels: tuple[str, str], unit: str) -> Drawn:
    pair = _pair(grid, labels)
    flat = not any(row[grid.flexible].style == "strong" for row in grid.rows)
    columns = tuple(
        Column(
            printable(text),
            unit if pair is not None and (text == "Δ" or pair <= i <= pair + 1) else "",
            side == ">",
            flat and len(grid.rows) > 1 and _ordered(grid, i),
        )
        for i, (text, side) in enumerate(zip(grid.headings, grid.align, strict=True))
    )
    rows = tuple(
        tuple(_square(cell, head=i == grid.flexible) for i, cell in enumerate(row))
        for row in grid.rows
    )
    many = any(c.sortable for c in columns) and len(rows) > _SEEN + _SPARE
    return Drawn(
        kind="table",
        columns=columns,
        rows=rows,
        bars=() if pair is None else _bars(grid, pair),
        seen=_SEEN if many else len(rows),
        place=grid.flexible or len(columns),
        code=grid.flexible > 0,
    )


def _pair(grid: Grid, labels: tuple[str, str]) -> int | None:
    """Return which column is the base's, before the new's, None without numbers."""
    for i in range(len(grid.headings) - 1):
        if grid.headings[i : i + 2] == labels and all(
            row[j].value is not None for row in grid.rows for j in (i, i + 1)
        ):
            return i
    return None


def _ordered(grid: Grid, column: int) -> bool:
    """Return whether a column can be sorted by: all numbers, or names beside some."""
    cells = [row[column] for row in grid.rows]
    if column == grid.flexible:
        return any(cell.value is not None for row in grid.rows for cell in row)
    return all(cell.value is not None for cell in cells)


def _square(cell: Cell, *, head: bool) -> Square:
    text, aside = cell.text.strip(), ""
    if cell.style == "strong":
        text, _, aside = text.partition("  ")
    value = "" if cell.value is None else _sorting(cell.value)
    level = (len(cell.text) - len(cell.text.lstrip(" "))) // 2
    start = text[: _LONG // 2] if len(text) > _LONG else ""
    return Square(text, aside.strip(), cell.style, value, head, level, start)


def _sorting(value: float) -> str:
    """Return a number as a script reads it."""
    return f"{value:.9g}" if isfinite(value) else "Infinity"


def _bars(grid: Grid, base: int) -> tuple[Bars | None, ...]:
    """Return a row's base and new as bars; the longest part of a total fills its cell.

    A total itself has none.
    """
    pairs = [
        None
        if row[grid.flexible].text == _TOTAL
        else (abs(row[base].value or 0.0), abs(row[base + 1].value or 0.0))
        for row in grid.rows
    ]
    largest = max((max(pair) for pair in pairs if pair), default=0.0)
    if not largest:
        return ()
    size = _BAR / largest
    return tuple(
        None if pair is None else Bars(*(f"{size * value:.1f}" for value in pair))
        for pair in pairs
    )


def split(blocks: Sequence[Drawn]) -> list[list[Drawn]]:
    """Return blocks in parts, each beginning with a title but perhaps the first."""
    number = 0
    keyed = []
    for block in blocks:
        number += block.kind == "title"
        keyed.append((number, block))
    return [
        [block for _, block in part] for _, part in groupby(keyed, lambda pair: pair[0])
    ]
