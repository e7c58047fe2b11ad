"""Collections and torn lines as they were found: one array, a column each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.loaders.gcnumbers import COLUMNS, MISSING, Columns, numbers, unified
from pprofdiff.model.gclogs import Cycles

__all__ = [
    "FLAGS",
    "FORCED",
    "GLOBALS",
    "NUMBER",
    "PROCS",
    "REPAIRED",
    "STACKS",
    "START",
    "TIMER",
    "TORN",
    "Rows",
    "cycles",
    "joined",
    "made_rows",
    "mended_row",
    "packed",
    "torn_row",
    "whole_rows",
]

Rows = NDArray[np.signedinteger]
"""`gcnumbers.COLUMNS` and flags, by lines in the order of the text; int32 or int64."""

NUMBER, START = COLUMNS.index("number"), COLUMNS.index("start_ms")
STACKS, GLOBALS = COLUMNS.index("stacks_mb"), COLUMNS.index("globals_mb")
PROCS = COLUMNS.index("procs")
FLAGS = len(COLUMNS)
# Bits of the flags. A torn line has its number and start, and nothing else.
FORCED, TIMER, REPAIRED, TORN = 1, 2, 4, 8

# Lines whose numbers are read at once: their arrays stay in the processor's cache.
_BATCH = 2048


def whole_rows(lines: list[bytes], forced: NDArray[np.bool_]) -> Rows:
    """Return the rows of lines that match to their end."""
    batches = [slice(at, at + _BATCH) for at in range(0, len(lines), _BATCH)]
    made = [made_rows(numbers(lines[b]), forced[b]) for b in batches]
    none = np.empty((FLAGS + 1, 0), np.int32)
    return np.concatenate([none, *made], axis=1)


def made_rows(columns: Columns, forced: NDArray[np.bool_]) -> Rows:
    """Return the rows of whole lines that say this, `gcnumbers.COLUMNS` by lines."""
    rows = np.empty((FLAGS + 1, len(forced)), _least(columns))
    rows[:FLAGS] = columns
    np.multiply(forced, FORCED, out=rows[FLAGS])
    return rows


def mended_row(values: tuple[int, ...], *, forced: bool) -> Rows:
    """Return the row of a line that was put together."""
    row = np.empty((FLAGS + 1, 1), np.int64)
    row[:FLAGS] = unified(np.array([values], np.int64))
    row[FLAGS] = REPAIRED | FORCED * forced
    return row


def torn_row(number: int, start_ms: int) -> Rows:
    """Return the row of a line of which only the beginning is known."""
    row = np.full((FLAGS + 1, 1), MISSING, np.int64)
    row[NUMBER], row[START], row[FLAGS] = number, start_ms, TORN
    return row


def packed(rows: Rows) -> Rows:
    """Return the rows in half the memory where they fit."""
    return rows.astype(_least(rows), copy=False)


def _least(rows: Rows) -> type[np.int32 | np.int64]:
    """Return the type in which rows or columns fit."""
    if rows.dtype == np.int32 or rows.max(initial=0) <= np.iinfo(np.int32).max:
        return np.int32
    return np.int64


def joined(chunks: list[Rows], *, wide: bool = False) -> Rows:
    """Return all rows, and empty the list of chunks; `wide` makes them int64."""
    rows = np.concatenate(chunks, axis=1, dtype=np.int64 if wide else None)
    chunks.clear()
    return rows


def cycles(rows: Rows) -> Cycles:
    """Return rows that are not torn as collections."""
    columns = dict(zip(COLUMNS, rows[:FLAGS].astype(np.int64, copy=False), strict=True))
    scanned = bool((rows[STACKS] != MISSING).all())
    stacks, scanned_globals = columns.pop("stacks_mb"), columns.pop("globals_mb")
    flags = rows[FLAGS]
    return Cycles(
        **columns,
        stacks_mb=stacks if scanned else None,
        globals_mb=scanned_globals if scanned else None,
        forced=flags & FORCED != 0,
        timer=flags & TIMER != 0,
        repaired=flags & REPAIRED != 0,
    )
