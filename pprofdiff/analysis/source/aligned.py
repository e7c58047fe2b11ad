"""The hunks between two texts by their code, whatever its indentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.source.text import (
    WORD,
    code_of,
    without_comments,
    worded_lines,
)
from pprofdiff.model.source import Hunk, SourceText

# The most pairs of lines to compare: 32 MB.
_COMPARED = 4_000_000
# A line with a word is worth more than any number of braces.
_WORDED = 1_000


class _Line(NamedTuple):
    """A line with code: without space, how far it is indented, and inside of what.

    `blocks` is the code that begins the blocks around it in its function, outermost
    first, as gofmt indents them. A brace alone begins none: what is inside always runs.
    """

    code: str
    indent: int
    blocks: tuple[str, ...]

    @property
    def worded(self) -> bool:
        """Whether it has a name or number."""
        return WORD.search(self.code) is not None


def ignoring_space(
    hunks: Sequence[Hunk], base: SourceText, new: SourceText
) -> Sequence[Hunk]:
    """Return the hunks between the same lines by their code, if more lines pair so.

    As GitHub does with whitespace hidden: code that moved into a block is indented. It
    is of a hunk even so if another condition or loop decides whether it runs.
    """
    texts = base, new
    changed = [
        [c for one in hunks for c in worded_lines(text, one.sides[side]).values()]
        for side, text in enumerate(texts)
    ]
    if set(changed[0]).isdisjoint(changed[1]):
        return hunks
    before = _at(hunks[0], 0).start - 1, _at(hunks[0], 1).start - 1
    after = _at(hunks[-1], 0).stop, _at(hunks[-1], 1).stop
    old, now = (
        _lines(text, range(first + 1, last))
        for text, first, last in zip(texts, before, after, strict=True)
    )
    pairs = _aligned(old, now)
    paired = sum(old[i].worded for i, _ in pairs)
    if paired <= sum(line.worded for line in old.values()) - len(changed[0]):
        return hunks
    same = [
        (i, j)
        for i, j in pairs
        if old[i].indent == now[j].indent or old[i].blocks == now[j].blocks
    ]
    return list(_between([before, *same, after]))


def _at(hunk: Hunk, side: int) -> range:
    """Return a hunk's lines on a side, or else the empty range where they would be."""
    lines = hunk.sides[side]
    return lines or range(lines.start + 1, lines.start + 1)


def _lines(text: SourceText, span: range) -> dict[int, _Line]:
    """Return the lines with code, by number."""
    first, plain = span.start, without_comments(text.lines)
    # What is not indented begins a function.
    while first > 1 and plain[first - 2][:1] in ("", "\t", " "):
        first -= 1
    found, around = dict[int, _Line](), list[tuple[int, str]]()
    for number in range(first, span.stop):
        code = code_of([plain[number - 1]])
        if not code:
            continue
        line = text.lines[number - 1]
        indent = len(line) - len(line.lstrip())
        while around and around[-1][0] >= indent:
            around.pop()
        if number in span:
            blocks = tuple(one for at, one in around if at and one != "{")
            found[number] = _Line(code, indent, blocks)
        around.append((indent, code))
    return found


def _aligned(base: dict[int, _Line], new: dict[int, _Line]) -> list[tuple[int, int]]:
    """Return the longest common subsequence of lines, as pairs of their numbers.

    Lines without a word count for little. Of equal ones, those with the same
    indentation pair. Empty for texts that are very long.
    """
    if len(base) * len(new) > _COMPARED:
        return []
    ids: dict[str, int] = {}
    old, now = (
        np.array(
            [ids.setdefault(one.code, len(ids)) for one in side.values()], np.int64
        )
        for side in (base, new)
    )
    worth = np.array([_WORDED if WORD.search(code) else 1 for code in ids], np.int64)
    indents = np.array([line.indent for line in new.values()], np.int64)
    best = np.zeros((len(old) + 1, len(now) + 1), np.int64)
    for i, (code, line) in enumerate(zip(old.tolist(), base.values(), strict=True)):
        alike = worth[code] + (indents == line.indent)
        matched = best[i, :-1] + np.where(now == code, alike, 0)
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], matched))
    numbers = list(base), list(new)
    i, j = len(old), len(now)
    pairs = []
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((numbers[0][i], numbers[1][j]))
    return pairs[::-1]


def _between(pairs: Sequence[tuple[int, int]]) -> Iterator[Hunk]:
    """Yield what lies between lines that are the same, given as (base, new)."""
    for (i, j), (k, m) in pairwise(pairs):
        old, now = k - i - 1, m - j - 1
        if old or now:
            yield Hunk(i + bool(old), old, j + bool(now), now)
