"""A function's source in both builds as one listing, with the cost of each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, NamedTuple

import numpy as np

from pprofdiff.analysis.lines.costs import FunctionLines, SideLines
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.source.extents import (
    Extent,
    declared,
    differences,
    extent_of,
    has_declaration,
    hunks_within,
    is_closure,
    matched,
)
from pprofdiff.analysis.source.renamed import renamed_in
from pprofdiff.model.source import SourceFile, Sources, SourceText

Why = Literal["", "missing", "mismatch", "today"]
"""Why there is no text: it was not found, or is not the built one. ``today``: both
builds share one text, as it is in the working directory now."""


Mark = Literal["", "-", "+"]


class Costs(NamedTuple):
    """Raw values of a line or function, base and new."""

    base_flat: int
    new_flat: int
    base_cum: int
    new_cum: int


class ListingLine(NamedTuple):
    """One line: its number on each side, None if a side does not have it.

    `text` is None if the source is unknown. `mark` is ``-`` for lines that only base
    has and ``+`` for those that only new has, if the texts show it.
    """

    base: int | None
    new: int | None
    text: str | None
    costs: Costs
    mark: Mark = ""


class Located(NamedTuple):
    """One side's lines of a function, with their text if it matches."""

    lines: FunctionLines
    text: SourceText | None
    extent: Extent | None

    @property
    def named(self) -> bool:
        """Whether the text comes from a source that the user named."""
        return self.text is not None and self.text.origin in ("git", "folder")

    @property
    def certain(self) -> bool:
        """Whether the text is the built one: named, or of a module version."""
        return self.named or (self.text is not None and self.text.origin == "module")

    @property
    def astray(self) -> bool:
        """Whether the text lacks the declaration that the profile says it has."""
        return (
            self.text is not None
            and self.extent is None
            and has_declaration(self.lines.function, self.text.path, self.text.lines)
        )

    @property
    def path(self) -> str:
        """The file, as people look for it."""
        return self.text.path if self.text is not None else self.lines.file


class Places(NamedTuple):
    """A function's place in both builds; None for a side where nothing is known.

    `absent` is set if the text of the side without it has no such function.
    """

    base: Located | None
    new: Located | None
    absent: bool = False

    @property
    def sides(self) -> tuple[Located, ...]:
        """The sides with a known place."""
        return tuple(side for side in (self.base, self.new) if side is not None)

    def side(self, side: int) -> Located | None:
        """Return the place on a side: 0 for base, 1 for new."""
        return self.new if side else self.base

    @property
    def name(self) -> str:
        """The name in new, or in base if only base has it."""
        return _either(self).lines.function

    @property
    def path(self) -> str:
        """The file in new, or in base if only base has it."""
        return _either(self).path


def _either(places: Places) -> Located:
    side = places.new or places.base
    if side is None:
        raise ValueError("a function is on one side at least")
    return side


@dataclass(frozen=True, eq=False)
class BothSides:
    """The lines of both sides, with functions paired between them."""

    diff: ProfileDiff
    sides: tuple[SideLines, SideLines]

    def pairs(self) -> Iterator[tuple[int, list[str], list[str]]]:
        """Yield (row of the union, names in base, names in new)."""
        paired = self.diff.paired_functions
        names: list[tuple[list[str], list[str]]] = [([], []) for _ in paired.names]
        for side, (rows, union) in enumerate(
            zip(paired.sides, paired.union, strict=True)
        ):
            for name, row in zip(rows.names, union.tolist(), strict=True):
                if name in self.sides[side].functions:
                    names[row][side].append(name)
        for row, (base, new) in enumerate(names):
            if base or new:
                yield row, base, new

    def parts(
        self, base: Sequence[str], new: Sequence[str]
    ) -> Iterator[tuple[FunctionLines | None, FunctionLines | None]]:
        """Yield a function's lines on both sides by file, largest first."""
        old = [part for name in base for part in self.sides[0].functions[name]]
        now = [part for name in new for part in self.sides[1].functions[name]]
        yield from zip_longest(old, now)


class Listing(NamedTuple):
    """A function in both builds, in the order of new, with base's own lines between."""

    places: Places
    lines: tuple[ListingLine, ...]
    costs: Costs
    why: Why


def places_of(
    sources: Sources, base: FunctionLines | None, new: FunctionLines | None
) -> Places:
    """Return where a function is on both sides, looked up by name where unsampled."""
    if base is not None and new is not None:
        return Places(_located(sources, 0, base), _located(sources, 1, new))
    known = base or new
    if known is None:
        raise ValueError("a function is on one side at least")
    side = 0 if base is not None else 1
    here = _located(sources, side, known)
    there, absent = _elsewhere(sources, 1 - side, here)
    return Places(here, there, absent) if side == 0 else Places(there, here, absent)


def _elsewhere(
    sources: Sources, side: int, known: Located
) -> tuple[Located | None, bool]:
    """Return a function on a side without its samples, and whether it is absent there.

    It is where its first line still is, where its file or another one of its package
    declares it, or has its body under another name. Nothing is known if the whole
    package is not found.
    """
    lines, text, extent = known
    if text is None or extent is None or not known.named:
        return None, False
    function, file = lines.function, lines.file
    same = sources.text(side, function, file)
    found = None
    if same is not None:
        if start := _same_line(sources, side, (text, same), extent.start):
            found = extent_of(same.lines, function, file, start, ())
        found = found or declared(same.lines, function, file)
        if found is not None:
            return _silent(lines, same, found), False
    here = SourceFile(text.path, text.origin, text.key)
    folder = sources.folder(side, here)
    others = sources.read([file for file in folder if file.path != text.path])
    for other in filter(None, others):
        found = declared(other.lines, function, file)
        if found is not None:
            return _silent(lines, other, found), False
    texts = [one for one in (same, *others) if one is not None]
    if renamed := renamed_in(text, extent, texts):
        return _silent(lines, *renamed), False
    return None, bool(texts) and not is_closure(function)


def _same_line(
    sources: Sources, side: int, texts: tuple[SourceText, SourceText], line: int
) -> int:
    """Return the line in the second text of a line in the first, or 0."""
    if texts[0].key == texts[1].key:
        return line
    base, new = texts if side == 1 else texts[::-1]
    hunks = sources.hunks(base, new)
    if hunks is None:
        hunks = differences(base.lines, new.lines)
    pairs = matched(hunks, Extent(1, len(base.lines)), None)
    if side == 0:
        pairs = {new: old for old, new in pairs.items()}
    return pairs.get(line, 0)


def _silent(lines: FunctionLines, text: SourceText, extent: Extent) -> Located:
    """Return the place of a function without samples."""
    none = np.zeros(0, np.int64)
    silent = replace(
        lines, start=extent.start, line=none, flat=none, cum=none, row=none
    )
    return Located(silent, text, extent)


def _located(sources: Sources, side: int, lines: FunctionLines) -> Located:
    """Return a side's lines with their text, if it declares the function there."""
    text = sources.text(side, lines.function, lines.file)
    extent = None
    if text is not None:
        extent = extent_of(
            text.lines, lines.function, lines.file, lines.start, _costly(lines)
        )
    return Located(lines, text, extent)


def listing(sources: Sources, places: Places) -> Listing:
    """Return the listing of a function, by number only where a side has no text."""
    base, new = places.base, places.new
    whole = _costs(base, new, None, None)
    why = _why(places)
    if base is not None and new is not None and why in ("", "today"):
        return Listing(places, tuple(_merged(sources, base, new)), whole, why)
    mark: Mark = "" if not places.absent else "-" if new is None else "+"
    with_text_first = sorted(places.sides, key=lambda side: side.extent is None)
    lines = [line for side in with_text_first for line in _alone(places, side, mark)]
    return Listing(places, tuple(lines), whole, why)


def _alone(places: Places, side: Located, mark: Mark) -> Iterator[ListingLine]:
    """Yield one side's text; without it, the numbers of lines with a cost."""
    known = side.extent is not None
    rows = _text(side) if known else ((number, None) for number in _costly(side.lines))
    for number, text in rows:
        old, now = (number, None) if side is places.base else (None, number)
        costs = _costs(places.base, places.new, old, now)
        yield ListingLine(old, now, text, costs, mark if known else "")


def _costly(lines: FunctionLines) -> list[int]:
    costly: list[int] = lines.line[(lines.flat != 0) | (lines.cum != 0)].tolist()
    return costly


def _why(places: Places) -> Why:
    """Return why a function has no listing, or has one on today's text."""
    known = places.sides
    if any(side.text is None for side in known):
        return "missing"
    if any(side.extent is None for side in known):
        return "mismatch"
    texts = [side.text for side in known if side.text is not None]
    return "today" if any(text.origin == "here" for text in texts) else ""


def _text(side: Located) -> Iterator[tuple[int, str]]:
    if side.text is not None and side.extent is not None:
        for number in range(side.extent.start, side.extent.end + 1):
            yield number, side.text.lines[number - 1]


def _merged(sources: Sources, base: Located, new: Located) -> Iterator[ListingLine]:
    """Yield the lines of both texts: what is gone comes before its replacement."""
    if base.text is None or new.text is None or not base.extent or not new.extent:
        return
    old, now = dict(_text(base)), dict(_text(new))
    hunks = hunks_within(sources, (base.text, base.extent), (new.text, new.extent))
    pairs = matched(hunks, base.extent, new.extent)
    kept = set(pairs.values())
    i, j = base.extent.start, new.extent.start
    while i in old or j in now:
        if i in old and i not in pairs:
            yield ListingLine(i, None, old[i], _costs(base, new, i, None), "-")
            i += 1
        elif j in now and j not in kept:
            yield ListingLine(None, j, now[j], _costs(base, new, None, j), "+")
            j += 1
        else:
            yield ListingLine(i, j, now[j], _costs(base, new, i, j))
            i, j = i + 1, j + 1


def _costs(
    base: Located | None, new: Located | None, old: int | None, now: int | None
) -> Costs:
    """Return the cost of a line on each side; of all lines if both are None."""
    whole = old is None and now is None
    sums = []
    for side, number in ((base, old), (new, now)):
        if side is None or (number is None and not whole):
            sums.append((0, 0))
            continue
        lines = side.lines
        chosen = slice(None) if whole else np.flatnonzero(lines.line == number)
        sums.append((int(lines.flat[chosen].sum()), int(lines.cum[chosen].sum())))
    return Costs(sums[0][0], sums[1][0], sums[0][1], sums[1][1])
