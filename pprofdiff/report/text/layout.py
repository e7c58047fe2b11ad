"""Pieces of a text report: paragraphs and tables of words that carry a style.

Writers for terminals and for files lay the same blocks out differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pprofdiff.units import printable

__all__ = ["Block", "Cell", "Grid", "Lines", "Stanza", "Words"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A word and its style: "", strong, faint, worse, better or warn.

    `value` is the number that a column is sorted by, None where it says nothing.
    """

    text: str
    style: str = ""
    value: float | None = None

    def __post_init__(self) -> None:
        """Escape control characters: a name must not move the cursor."""
        object.__setattr__(self, "text", printable(self.text))


@dataclass(frozen=True, slots=True)
class Words:
    """A paragraph, wrapped to the width at hand, behind a hanging `lead`."""

    text: str
    style: str = ""
    lead: str = ""

    def __post_init__(self) -> None:
        """Escape control characters: a name must not move the cursor."""
        object.__setattr__(self, "text", printable(self.text))


class Stanza(NamedTuple):
    """Paragraphs that belong together: no empty line between them."""

    words: tuple[Words, ...]


class Lines(NamedTuple):
    """Lines that are never wrapped, such as commands."""

    lines: tuple[Cell, ...]


class Grid(NamedTuple):
    """A table: headings, rows of cells, and how columns align (``<`` or ``>``).

    The column at `flexible` holds names: it is the one that a narrow terminal cuts.
    """

    headings: tuple[str, ...]
    align: str
    rows: tuple[Sequence[Cell], ...]
    flexible: int


Block = Words | Stanza | Lines | Grid
