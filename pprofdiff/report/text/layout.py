"""Parts of a report as text blocks, which terminals and files draw differently.

A level becomes an indent, a mark a sign, a role a style. No text is parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from pprofdiff.analysis.gate.model import Outcome
from pprofdiff.report.rows import (
    LEADS,
    STYLES,
    Code,
    ColumnRole,
    Footnotes,
    Heading,
    Part,
    Reason,
    Row,
    Rulings,
    Sentence,
    Table,
    written,
)
from pprofdiff.units import printable

Style = Literal["", "strong", "faint", "worse", "better", "warn"]

_INSET = 2
_OF_OUTCOME: dict[Outcome, Style] = {
    "fail": "worse",
    "pass": "",
    "cannot tell": "warn",
    "no data": "warn",
}
# The outcomes that most reports have, and two spaces.
_WIDTH = len("no data") + 2
# Columns that hold words if they are left-aligned; all others hold numbers.
_WORDS: frozenset[ColumnRole] = frozenset(("name", "source", "side", "text"))


class Word(Struct, frozen=True):
    """Text after `indent` spaces, in a style; `aside` has less precedence."""

    text: str
    style: Style = ""
    indent: int = 0
    aside: str = ""

    def __post_init__(self) -> None:
        """Escape control characters: a name must not move the cursor."""
        force_setattr(self, "text", printable(self.text))
        force_setattr(self, "aside", printable(self.aside))

    @property
    def whole(self) -> str:
        """The text with its indent, and the aside."""
        aside = f"  {self.aside}" if self.aside else ""
        return f"{' ' * self.indent}{self.text}{aside}"


class Paragraph(Struct, frozen=True):
    """Text that is wrapped to the available width, after a hanging `lead`.

    With `most`, it has at most that many lines: as many sentences as fit, or, for a
    `title`, all of it with long names cut in the middle.
    """

    text: str
    style: Style = ""
    lead: str = ""
    most: int = 0
    title: bool = False

    def __post_init__(self) -> None:
        """Escape control characters: a name must not move the cursor."""
        force_setattr(self, "text", printable(self.text))


class Lines(Struct, frozen=True):
    """Lines that are never wrapped, but cut: their middle if `names`, else the end."""

    lines: tuple[Word, ...]
    names: bool = False


class Grid(Struct, frozen=True):
    """A table; `align` is ``<`` or ``>`` by column, `words` are columns that shrink."""

    headings: tuple[str, ...]
    align: str
    rows: tuple[tuple[Word, ...], ...]
    flexible: int
    words: frozenset[int]


class Close(Struct, frozen=True):
    """Blocks without an empty line between them, such as a title and its table."""

    blocks: tuple[Block, ...]


Block = Paragraph | Lines | Grid | Close


def laid_out(parts: Iterable[Part | Block]) -> Iterator[Block]:
    """Yield the blocks of parts; a table's title is a block of its own."""
    for part in parts:
        yield from _blocks(part)


def _blocks(part: Part | Block) -> Iterator[Block]:
    match part:
        case Paragraph() | Lines() | Grid() | Close():
            yield part
        case Table():
            if part.heading:
                yield Paragraph(part.heading, "strong")
            yield _grid(part)
        case Heading():
            yield Paragraph(part.text, "strong")
        case Sentence():
            yield sentence_block(part)
        case Reason():
            yield _reason(part)
        case Rulings():
            yield from _rulings(part)
        case Footnotes():
            notes = (Paragraph(n.text, "faint", f"{n.mark} ") for n in part.notes)
            yield Close(tuple(notes))
        case Code():
            yield from _code(part)


def sentence_block(sentence: Sentence, most: int = 0) -> Paragraph:
    """Return a sentence after its sign, in up to `most` lines, 0 for all."""
    lead = f"{LEADS[sentence.role]} " if sentence.role in LEADS else ""
    return Paragraph(sentence.text, STYLES[sentence.role], lead, most)


def _reason(reason: Reason) -> Close:
    finding, lead = reason.finding, f"{reason.lead} "
    indent = " " * len(lead)
    paragraphs = [Paragraph(reason.title, reason.style, lead)]
    if finding.text:
        paragraphs.append(Paragraph(finding.text, "", indent))
    paragraphs += (Paragraph(note.text, "", indent) for note in reason.sentences)
    if finding.advice:
        paragraphs.append(Paragraph(finding.advice, "faint", f"{indent}→ "))
    return Close(tuple(paragraphs))


def _rulings(part: Rulings) -> Iterator[Block]:
    yield Paragraph(f"Verdict   {part.summary}", "strong")
    width = max(_WIDTH, *(len(rule.outcome) + 2 for rule in part.verdict.rules))
    rules = (
        Paragraph(f"{one.text}.", _OF_OUTCOME[one.outcome], one.outcome.ljust(width))
        for one in part.verdict.rules
    )
    yield Close(tuple(rules))


def flags_to_try(flags: Mapping[str, str]) -> Close:
    """Return the flags to try next, with what they show."""
    listed = ", ".join(f"{flag} ({shows})" for flag, shows in flags.items())
    return Close((Paragraph(f"pprofdiff … {listed}", "faint", "next  "),))


def _code(code: Code) -> Iterator[Block]:
    yield Paragraph(code.title, "strong")
    if code.notes:
        yield Close(tuple(Paragraph(note, "faint") for note in code.notes))
    if code.lines:
        yield Lines(tuple(Word(line.text, line.tone) for line in code.lines))


def _grid(table: Table) -> Grid:
    headings = tuple(c.text if table.headed else "" for c in table.columns)
    align = "".join(column.align for column in table.columns)
    rows = tuple(_words(table, row) for row in table.rows)
    words = frozenset(
        i
        for i, column in enumerate(table.columns)
        if column.role in _WORDS and column.align == "<"
    )
    return Grid(headings, align, rows, table.names, words)


def _words(table: Table, row: Row) -> tuple[Word, ...]:
    """Return a row as words: a level becomes an indent, a mark a sign."""
    words = []
    for i, (cell, column) in enumerate(zip(row.cells, table.columns, strict=True)):
        indent = _INSET if table.inset and i == 0 else 0
        if i == table.names:
            indent += table.indent * row.level
            style: Style = "strong" if row.strong else cell.tone
            aside = "  ".join(filter(None, (cell.remark, cell.detail)))
            words.append(Word(cell.text, style, indent, aside))
        else:
            words.append(Word(written(cell, column), cell.tone, indent))
    return tuple(words)
