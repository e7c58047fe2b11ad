"""The hunks between two texts by their code, whatever its indentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from pprofdiff.analysis.source.text import WORD, code_of, plain_lines, worded_lines
from pprofdiff.model.arrays import Column
from pprofdiff.model.source import Hunk, SourceText

# The most pairs of lines to compare: 16 MB.
_COMPARED = 4_000_000
# A line with a word is worth more than any number of braces.
_WORDED = 1_000


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
    spans = [range(first + 1, last) for first, last in zip(before, after, strict=True)]
    sides = [_code(text, span) for text, span in zip(texts, spans, strict=True)]
    indents = [
        np.array([_indent(text, line) for line in side], np.int64)
        for text, side in zip(texts, sides, strict=True)
    ]
    pairs = _aligned(sides[0], sides[1], indents[0], indents[1])
    worded = sum(bool(WORD.search(sides[0][i])) for i, _ in pairs)
    if worded <= len(worded_lines(base, spans[0])) - len(changed[0]):
        return hunks
    same = [
        (i, j)
        for i, j in pairs
        if _indent(base, i) == _indent(new, j) or _blocks(base, i) == _blocks(new, j)
    ]
    return list(_between([before, *same, after]))


def _at(hunk: Hunk, side: int) -> range:
    """Return a hunk's lines on a side, or else the empty range where they would be."""
    lines = hunk.sides[side]
    return lines or range(lines.start + 1, lines.start + 1)


def _code(text: SourceText, span: range) -> dict[int, str]:
    """Return the code of lines that have any, by number."""
    lines = zip(span, plain_lines(text, span), strict=True)
    return {number: code for number, line in lines if (code := code_of([line]))}


def _aligned(
    base: dict[int, str], new: dict[int, str], indents: Column, others: Column
) -> list[tuple[int, int]]:
    """Return the longest common subsequence of lines, as pairs of their numbers.

    Lines without a word count for little. Of equal ones, those with the same
    indentation pair. Empty for texts that are very long.
    """
    if len(base) * len(new) > _COMPARED:
        return []
    ids: dict[str, int] = {}
    old, now = (
        np.array([ids.setdefault(code, len(ids)) for code in side.values()], np.int64)
        for side in (base, new)
    )
    worth = np.array([_WORDED if WORD.search(code) else 1 for code in ids], np.int64)
    best = np.zeros((len(old) + 1, len(now) + 1), np.int64)
    for i, code in enumerate(old.tolist()):
        alike = worth[code] + (others == indents[i])
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


def _indent(text: SourceText, line: int) -> int:
    """Return the width of the space before a line's code."""
    code = text.lines[line - 1]
    return len(code) - len(code.lstrip())


def _blocks(text: SourceText, line: int) -> list[str]:
    """Return the code that begins the blocks around a line, innermost first.

    Those of its function, as gofmt indents them. A brace alone begins none: what is
    inside it always runs.
    """
    indent, found = _indent(text, line), []
    for before in range(line - 1, 0, -1):
        code = code_of(plain_lines(text, range(before, before + 1)))
        if code and _indent(text, before) < indent:
            indent = _indent(text, before)
            if not indent:
                break
            if code != "{":
                found.append(code)
    return found
