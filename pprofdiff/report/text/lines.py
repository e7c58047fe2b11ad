"""Blocks as lines of styled words, in the available width.

If there is not enough room, names lose their asides first, then their middle. Numbers
are never cut: a row of a table takes several lines, the name, and the numbers below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from pprofdiff.report.rows import Part
from pprofdiff.report.text.fitting import (
    broken,
    clipped,
    columns,
    distinct_within,
    end_cut,
    middle_cut,
    named_short,
)
from pprofdiff.report.text.layout import (
    Block,
    Close,
    Grid,
    Lines,
    Paragraph,
    Style,
    Word,
    laid_out,
)

_GAP = 2
# Minimum room for a name and for another word, before a row takes several lines.
_NAME, _WORD = 20, 8
# A longer word in a heading is cut if the column is narrower.
_HEADING = 8
# A shorter aside says nothing: ``(was x…``.
_ASIDE = 7
_INSET = 2

Span = tuple[str, Style]
Line = tuple[Span, ...]


class Page(Struct, frozen=True):
    """How wide text is: sentences always, tables and names only if they must `fit`."""

    width: int
    fit: bool


def lines(blocks: Iterable[Block], page: Page) -> Iterator[Line]:
    """Yield the lines of blocks, with an empty one between blocks."""
    for i, block in enumerate(blocks):
        if i:
            yield ()
        for line in _block(block, page):
            yield _stripped(line)


def _block(block: Block, page: Page) -> Iterable[Line]:
    if isinstance(block, Grid):
        return _grid(block, page)
    if isinstance(block, Lines):
        return _fixed(block, page)
    if isinstance(block, Close):
        return (line for part in block.blocks for line in _block(part, page))
    return _paragraph(block, page)


def _stripped(line: Line) -> Line:
    spans = [span for span in line if span[0]]
    while spans:
        text, style = spans.pop()
        if text.rstrip():
            return (*spans, (text.rstrip(), style))
    return ()


def _paragraph(block: Paragraph, page: Page) -> Iterator[Line]:
    room = max(page.width - columns(block.lead), _NAME)

    def split(text: str) -> list[str]:
        return broken(text, room, whole=not page.fit)

    text = block.text
    if block.most:
        shorten = named_short if block.title else clipped
        text = shorten(text, lambda some: len(split(some)) <= block.most)
    for i, line in enumerate(split(text)):
        lead = " " * columns(block.lead) if i else block.lead
        yield ((f"{lead}{line}", block.style),)


def _fixed(block: Lines, page: Page) -> Iterator[Line]:
    """Yield lines that are not wrapped; on a terminal, what does not fit is cut."""
    for word in block.lines:
        text = word.whole
        if page.fit:
            text = (middle_cut if block.names else end_cut)(text, page.width)
        yield ((text, word.style),)


def _grid(block: Grid, page: Page) -> Iterator[Line]:
    room = _Room.of(block)
    widths = room.widths(page.width if page.fit else None)
    if widths is None:
        yield from _stacked(block, page.width)
        return
    if any(block.headings):
        yield from _headings(block.headings, block.align, widths)
    names = _names(block, widths[block.flexible])
    for row, name in zip(block.rows, names, strict=True):
        yield _row(_fitted(block, row, widths, name), block.align, widths)


class _Room(NamedTuple):
    """Widths per column: the minimum, without asides, and of everything."""

    least: list[int]
    named: list[int]
    whole: list[int]
    flexible: int

    @classmethod
    def of(cls, block: Grid) -> _Room:
        """Return the widths of a table's columns."""
        least, named, whole = [], [], []
        for i, heading in enumerate(block.headings):
            words = [row[i] for row in block.rows]
            texts = max((columns(w.text) + w.indent for w in words), default=0)
            whole.append(max(columns(heading), *(columns(w.whole) for w in words), 0))
            if i in block.words:
                kept = _NAME if i == block.flexible else _WORD
                least.append(min(texts, kept))
                named.append(texts)
            else:
                word = max(map(columns, heading.split()), default=0)
                least.append(max(texts, min(word, _HEADING)))
                named.append(least[-1])
        return cls(least, named, whole, block.flexible)

    def widths(self, width: int | None) -> list[int] | None:
        """Return columns' widths; spare room goes to names first, to asides last."""
        if width is None:
            return self.whole
        left = width - sum(self.least) - _GAP * (len(self.least) - 1)
        if left < 0:
            return None
        widths = list(self.least)
        places = [i for i in range(len(widths)) if i != self.flexible]
        for wanted, order in (
            (self.named, [self.flexible]),
            (self.named, places),
            (self.whole, places),
            (self.whole, [self.flexible]),
        ):
            for i in order:
                more = min(left, max(wanted[i] - widths[i], 0))
                widths[i] += more
                left -= more
        return widths


def _fitted(
    block: Grid, row: Sequence[Word], widths: Sequence[int], name: str
) -> list[Span]:
    """Return a row's cells, with words cut to their columns; `name` is its name."""
    cells = []
    for i, (word, width) in enumerate(zip(row, widths, strict=True)):
        text = name if i == block.flexible else word.whole
        if i in block.words and columns(text) > width:
            text = _fitting(word, width)
        cells.append((text, word.style))
    return cells


def _names(block: Grid, room: int) -> list[str]:
    """Return the names of rows in `room` columns, different ones still different."""
    words = [row[block.flexible] for row in block.rows]
    names = [
        word.whole if columns(word.whole) <= room else _fitting(word, room)
        for word in words
    ]
    cut = [i for i, word in enumerate(words) if word.indent + columns(word.text) > room]
    # Rows of several levels are distinguished by what they are part of.
    for indent in {words[i].indent for i in cut}:
        places = [i for i in cut if words[i].indent == indent]
        shortened = distinct_within([words[i].text for i in places], room - indent)
        for i, text in zip(places, shortened, strict=True):
            names[i] = f"{' ' * indent}{text}"
    return names


def _fitting(word: Word, room: int) -> str:
    """Return a name with as much of its aside as fits, or with its middle cut."""
    indent = " " * word.indent
    left = room - word.indent - columns(word.text)
    if left < 0:
        return f"{indent}{middle_cut(word.text, room - word.indent)}"
    aside = end_cut(word.aside, left - _GAP)
    fits = columns(aside) >= _ASIDE
    return f"{indent}{word.text}{' ' * _GAP}{aside}" if fits else f"{indent}{word.text}"


def _row(cells: Sequence[Span], align: str, widths: Sequence[int]) -> Line:
    spans: list[Span] = []
    for (text, style), side, width in zip(cells, align, widths, strict=True):
        pad = " " * max(width - columns(text), 0)
        if spans:
            spans.append((" " * _GAP, ""))
        spans += (
            [(pad, ""), (text, style)] if side == ">" else [(text, style), (pad, "")]
        )
    return tuple(spans)


def _headings(
    headings: Sequence[str], align: str, widths: Sequence[int]
) -> Iterator[Line]:
    columns_of = []
    for heading, width in zip(headings, widths, strict=True):
        words = [middle_cut(word, width) for word in heading.split()]
        fits = columns(heading) <= width
        columns_of.append(
            [heading] if fits else broken(" ".join(words), width, whole=True)
        )
    tall = max(map(len, columns_of))
    for i in range(tall):
        cells: list[Span] = [
            ("" if i < tall - len(texts) else texts[i - tall + len(texts)], "strong")
            for texts in columns_of
        ]
        if any(text for text, _ in cells):
            yield _row(cells, align, widths)


def _stacked(block: Grid, width: int) -> Iterator[Line]:
    """Yield rows of several lines: a name, and numbers in columns below it."""
    groups = _in_lines(block, width)
    if any(block.headings):
        heading = middle_cut(block.headings[block.flexible], width)
        if heading:
            yield ((heading, "strong"),)
        for places, widths in groups:
            align = "".join(block.align[i] for i in places)
            for line in _headings([block.headings[i] for i in places], align, widths):
                yield ((" " * _INSET, ""), *line)
    for row in block.rows:
        word = row[block.flexible]
        yield ((_fitting(word, width), word.style),)
        for places, widths in groups:
            align = "".join(block.align[i] for i in places)
            cells: list[Span] = [
                (
                    middle_cut(row[i].whole, w) if i in block.words else row[i].whole,
                    row[i].style,
                )
                for i, w in zip(places, widths, strict=True)
            ]
            if any(text for text, _ in cells):
                yield ((" " * _INSET, ""), *_row(cells, align, widths))


def _in_lines(block: Grid, width: int) -> list[tuple[list[int], list[int]]]:
    """Return which columns share a line below a name, and their widths."""
    room = _Room.of(block)
    groups: list[tuple[list[int], list[int]]] = []
    left = 0
    for i, least in enumerate(room.least):
        if i == block.flexible:
            continue
        most = width - _INSET
        wide = min(room.named[i], most) if i in block.words else least
        if not groups or wide + _GAP > left:
            groups.append(([], []))
            left = most + _GAP
        groups[-1][0].append(i)
        groups[-1][1].append(wide)
        left -= wide + _GAP
    return groups


PAGE = Page(100, fit=False)
"""The page to use if the width is unknown."""


def render(parts: Iterable[Part | Block]) -> str:
    """Return parts of a report as text, with an empty line between them."""
    text = (
        "".join(words for words, _ in line) for line in lines(laid_out(parts), PAGE)
    )
    return "\n".join(text) + "\n"
