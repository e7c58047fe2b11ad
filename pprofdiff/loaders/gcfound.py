"""Where in a text its gctrace lines are, torn or whole, and what the whole ones say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gclines import LINE, SHORTEST
from pprofdiff.loaders.gcpure import Pure, pure
from pprofdiff.loaders.gcrows import Rows, made_rows, whole_rows

__all__ = ["Found", "Other", "find"]

# As much as is read by its shape at once, or not: arrays stay in the processor's cache.
_PART = 1 << 17


class Other(NamedTuple):
    """A part of a text with anything in it, and where `LINE` matches in the text.

    `between` is the text before, between and behind what matches.
    """

    begin: int
    end: int
    between: list[bytes]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def outside(self, cut: int) -> list[bytes]:
        """Return the text that does not match, up to some place in the whole text."""
        count = int(np.searchsorted(self.first, cut))
        begin = int(self.last[count - 1]) if count else self.begin
        between = self.between[: count + 1]
        between[-1] = between[-1][: max(cut - begin, 0)]
        return between


class Found(NamedTuple):
    """A text, and what `LINE` matches in it: where, and if to the end of a line.

    `rows` are those of the lines that match to the end. `others` are the parts that
    do not consist of such lines alone.
    """

    text: bytes
    others: list[Other]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    whole: NDArray[np.bool_]
    rows: Rows

    def line(self, at: int) -> bytes:
        """Return what matches, by its place among what does."""
        return self.text[self.first[at] : self.last[at]]


def find(text: bytes) -> Found:
    """Find lines, and what begins like one."""
    others: list[Other] = []
    edges: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    whole: list[NDArray[np.bool_]] = []
    rows: list[Rows] = []
    for begin, end, lines in _parts(text):
        if lines is None:
            other, matches = _other(text, begin, end)
            others.append(other)
            edges.append((other.first, other.last))
            whole.append(other.last - other.first > SHORTEST)
            rows.append(_rows(text, other, matches, whole[-1]))
        else:
            edges.append((lines.first + begin, lines.last + begin))
            whole.append(np.ones(len(lines.first), np.bool_))
            rows.append(made_rows(lines.columns, lines.forced))
    first, last = map(np.concatenate, zip(*edges, strict=True))
    held = np.concatenate(rows, axis=1)
    return Found(text, others, first, last, np.concatenate(whole), held)


def _parts(text: bytes) -> Iterator[tuple[int, int, Pure | None]]:
    """Yield from where to where parts of a text go, at least one, and their pure lines.

    Parts are whole lines. No two with anything in them follow each other.
    """
    other = at = 0
    while at < len(text):
        end = text.rfind(b"\n", at, at + _PART) + 1
        lines = pure(text[at:end]) if end else None
        end = end or text.find(b"\n", at + _PART) + 1 or len(text)
        if lines is not None:
            if other < at:
                yield other, at, None
            yield at, end, lines
            other = end
        at = end
    if other < len(text) or not text:
        yield other, len(text), None


def _other(text: bytes, begin: int, end: int) -> tuple[Other, list[bytes]]:
    """Find what matches in a part of a text."""
    parts = LINE.split(text[begin:end])
    edges = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts))) + begin
    return Other(begin, end, parts[0::2], edges[:-1:2], edges[1::2]), parts[1::2]


def _rows(
    text: bytes, other: Other, matches: list[bytes], whole: NDArray[np.bool_]
) -> Rows:
    """Return the rows of what matches to the end."""
    closing = np.frombuffer(text, np.uint8)[other.last[whole] - 1]
    lines = [matches[i] for i in np.flatnonzero(whole).tolist()]
    return whole_rows(lines, closing == ord(")"))
