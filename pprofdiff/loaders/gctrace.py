"""``GODEBUG=gctrace=1`` lines anywhere in a text, read block by block."""

from __future__ import annotations

import re
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import FormatError
from pprofdiff.loaders.gcfound import Found, find
from pprofdiff.loaders.gclines import (
    FORCED_BY_TIMER,
    FORCED_LATE,
    GRAMMARS,
    HEAD,
    OTHERS,
    grammar,
)
from pprofdiff.loaders.gcrepair import MOST_BYTES, MOST_LINES, beginnings, mended
from pprofdiff.loaders.gcrows import (
    FLAGS,
    FORCED,
    TIMER,
    Rows,
    mended_row,
    packed,
    torn_row,
)
from pprofdiff.loaders.gcruns import split
from pprofdiff.model.gclogs import GCLog

__all__ = ["GCScanner", "parse"]

# How the program's own lines begin is learnt from so much of the text's beginning.
_SAMPLE = 1 << 20
_BLOCK = 1 << 22
# How much is kept of a line that a block's end cuts.
_LONGEST = 1 << 12


def parse(data: bytes, name: str) -> GCLog:
    """Return the collections that a log tells of.

    Raises FormatError, with `name` in front, where there is no gctrace line.
    """
    scanner = GCScanner()
    at = 0
    while at < len(data):
        end = data.rfind(b"\n", at, at + _BLOCK) + 1 or at + _BLOCK
        scanner.feed(data[at:end])
        at = end
    log = scanner.close()
    if log is None:
        raise FormatError(
            f"{name}: no gctrace line of Go 1.5 or later in it; run the program with "
            "GODEBUG=gctrace=1 and keep its standard error"
        )
    return log


class _Piece(NamedTuple):
    """The row of a torn line, and where it begins."""

    first: int
    row: Rows


class GCScanner:
    """Reads gctrace lines from the blocks of a text; memory grows with collections.

    Blocks are fed in order and end where lines end. A line that is longer than a block
    may come in parts.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._starts: re.Pattern[bytes] | None = None
        self._learnt = False
        self._rows: list[Rows] = []
        self._skipped: dict[str, int] = {}
        self._timer = False
        # The grammar of the last whole line; if other output stands right behind it.
        self._grammar: int | None = None
        self._open = False

    def feed(self, block: bytes) -> None:
        """Read a block."""
        text = self._rest + block
        if len(text) < _SAMPLE and not self._learnt:
            self._rest = text
            return
        self._rest = text[self._scan(text, last=False) :]

    def close(self) -> GCLog | None:
        """Return what was read, or None where there is no gctrace line, torn or whole.

        Lines of Go 1.4 and older count as none. Nothing can be fed afterwards.
        """
        self._scan(self._rest, last=True)
        self._rest = b""
        if not self._rows:
            return None
        runs, mixed = split(self._rows)
        return GCLog(runs, self._skipped, mixed)

    def _scan(self, text: bytes, *, last: bool) -> int:
        """Read the text up to what may go on in the next block; return that place."""
        if not self._learnt:
            self._starts, self._learnt = beginnings(text[:_SAMPLE]), True
        found = find(text)
        cut = len(text) if last else _whole_lines(found)
        pieces, cut = self._pieces(found, cut, last=last)
        whole = np.flatnonzero(found.whole)
        whole = whole[found.first[whole] < cut]
        first, ends = found.first[whole], found.last[whole]
        rows = found.rows[:, : len(whole)]
        if pieces:
            first = np.append(first, [p.first for p in pieces])
            ends = np.append(ends, [-1] * len(pieces))
            order = np.argsort(first)
            rows = np.concatenate([rows, *(p.row for p in pieces)], axis=1)[:, order]
            first, ends = first[order], ends[order]
        self._mark(found, cut, rows, first, ends)
        if rows.shape[1]:
            self._rows.append(packed(rows))
        if len(whole):
            self._grammar = grammar(found.line(whole[-1]))
        self._skip(found, cut)
        return cut

    def _skip(self, found: Found, cut: int) -> None:
        """Count lines of other runtime traces."""
        between = (other.outside(cut) for other in found.others)
        text = b"\n".join(chain.from_iterable(between))
        for name, pattern in OTHERS.items():
            if lines := len(pattern.findall(text)):
                self._skipped[name] = self._skipped.get(name, 0) + lines

    def _pieces(
        self, found: Found, cut: int, *, last: bool
    ) -> tuple[list[_Piece], int]:
        """Return the torn lines, mended or not, and where the text is cut.

        That is before a torn line whose pieces may go on in the next block.
        """
        pieces: list[_Piece] = []
        short = np.flatnonzero(~found.whole).tolist()
        heads = [i for i in short if HEAD.fullmatch(found.line(i))]
        whole = np.flatnonzero(found.whole)
        gates = np.sort(np.append(whole, heads)).astype(np.int64)
        marked = set(heads)
        for i in short:
            first = int(found.first[i])
            if first >= cut:
                break
            head = i in marked
            if not head and not self._cut_off(found.text, first, int(found.last[i])):
                continue
            after = int(np.searchsorted(gates, i, "right"))
            end = int(found.first[gates[after]]) if after < len(gates) else None
            region = _region(found.text, first, end)
            if region is None and not last and self._starts:
                return pieces, first
            before = int(np.searchsorted(whole, i))
            known = grammar(found.line(whole[before - 1])) if before else self._grammar
            row = self._mended(region or found.text[first:], known)
            if row is None and head:
                row = torn_row(*_head(found.line(i)))
            if row is not None:
                pieces.append(_Piece(first, row))
        return pieces, cut

    def _cut_off(self, text: bytes, first: int, last: int) -> bool:
        """Tell if a line of the program cuts off what matches here: gc, and a number.

        Digits of the program's line may have matched as well.
        """
        starts = self._starts
        places = range(first + len(b"gc "), last + 1)
        return starts is not None and any(starts.match(text, at) for at in places)

    def _mended(self, region: bytes, known: int | None) -> Rows | None:
        """Return the row of the torn line that begins a region, or None.

        `known` is the grammar of the whole line before, if there is one.
        """
        if self._starts is None:
            return None
        # What stands behind the last line end may go on.
        lines = [p.removesuffix(b"\r") for p in region.split(b"\n", MOST_LINES)[:-1]]
        if not lines:
            return None
        line = mended(lines, self._starts, [known] if known else GRAMMARS)
        return mended_row(line.values, forced=line.forced) if line else None

    def _mark(
        self,
        found: Found,
        cut: int,
        rows: Rows,
        first: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> None:
        """Mark rows that stand behind ``GC forced``, or before a late ``(forced)``."""
        text = found.text[:cut]
        at = _places(FORCED_BY_TIMER, found, cut)
        follow = np.searchsorted(first, [-1] * self._timer + at)
        rows[FLAGS, follow[follow < len(first)]] |= TIMER
        self._timer = bool((follow == len(first)).any())
        late = _places(FORCED_LATE, found, cut)
        if text.startswith(b" (forced)"):
            late.insert(0, -1)
        for row in (np.searchsorted(first, late) - 1).tolist():
            if row >= 0 and _goes_on(text, int(ends[row])):
                rows[FLAGS, row] |= FORCED
            elif row < 0 and self._open:
                self._rows[-1][FLAGS, -1] |= FORCED
        if len(first):
            self._open = _goes_on(text, int(ends[-1]))


def _whole_lines(found: Found) -> int:
    """Return where to cut a text so that no line is cut, or only a very long one."""
    text = found.text
    cut = max(text.rfind(b"\n") + 1, len(text) - _LONGEST)
    split = np.flatnonzero((found.first < cut) & (cut < found.last))
    return int(found.first[split[0]]) if len(split) else cut


def _places(pattern: re.Pattern[bytes], found: Found, cut: int) -> list[int]:
    """Return where a pattern, that matches nowhere in pure lines, matches before a cut.

    It may begin with the line end before a part.
    """
    return [
        match.start()
        for other in found.others
        for match in pattern.finditer(
            found.text, max(other.begin - 1, 0), min(other.end, cut)
        )
    ]


def _head(line: bytes) -> tuple[int, int]:
    """Return the number and start (ms) that a line begins with."""
    number, start = line[len(b"gc ") :].split(b" @")
    return int(number), int(start.replace(b".", b""))


def _region(text: bytes, first: int, end: int | None) -> bytes | None:
    """Return where a torn line's pieces may be, None if the text ends before that."""
    far = first + MOST_BYTES
    region = text[first : far if end is None else min(end, far)]
    if end is None and len(text) < far and region.count(b"\n") < MOST_LINES:
        return None
    return region


def _goes_on(text: bytes, end: int) -> bool:
    """Tell if a whole line that ends here has something right behind it."""
    return 0 <= end < len(text) and text[end] not in b"\r\n"
