"""What the rows of goroutines add up to, and when goroutines start and end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.pieces import Piece, pieces
from pprofdiff.model.csr import first_in_row, last_in_row, slices
from pprofdiff.model.traces.trace import State, Trace

__all__ = [
    "BLOCK_REASONS",
    "FOREVER",
    "absences",
    "add_blocks",
    "block_reasons",
    "ends",
    "starts",
    "state_sums",
]

Column = NDArray[np.int64]
S = State

# Go takes a goroutine that blocks for this reason for ended.
FOREVER = "forever"
# What Go 1.22 to 1.27 can name besides (runtime/traceruntime.go), in its order. Older
# traces tell some of them; "" stands for what a trace does not tell.
BLOCK_REASONS = (
    "unspecified",
    "network",
    "select",
    "sync.(*Cond).Wait",
    "sync",
    "chan send",
    "chan receive",
    "GC mark assist wait for work",
    "GC background sweeper wait",
    "system goroutine wait",
    "preempted",
    "wait for debug call",
    "wait until GC ends",
    "sleep",
    "GC weak to strong wait",
    "synctest",
)


def block_reasons(trace: Trace) -> tuple[tuple[str, ...], Column]:
    """Return the reasons that goroutines block for, and where each of all is there."""
    held = np.zeros(len(trace.reasons), np.bool_)
    for piece in pieces(trace):
        held[piece.reason[piece.state == S.WAITING]] = True
    place = np.full(len(held), -1, np.int64)
    chosen = [i for i in np.flatnonzero(held) if trace.reasons[i] != FOREVER]
    place[chosen] = np.arange(len(chosen))
    return tuple([trace.reasons[i] for i in chosen]), place


def _times(piece: Piece, rows: Column) -> Column:
    """Return when some rows begin."""
    return piece.trace.intervals.start_ns[piece.rows][rows]


def starts(piece: Piece) -> Column:
    """Return when each goroutine first ran, or -1.

    One that runs when the trace begins does so since its first event, for Go.
    """
    row = first_in_row(piece.state == S.RUNNING, piece.offsets)
    seen = piece.trace.goroutines.seen_ns[piece.goroutines]
    time = np.where(row == piece.first, seen, _times(piece, row))
    return np.where(row < 0, -1, time)


def ends(piece: Piece) -> Column:
    """Return when each goroutine ended, or blocked forever, or -1."""
    over = np.zeros(len(piece.state), np.bool_)
    over[piece.last] = piece.state[piece.last] == S.GONE
    if FOREVER in piece.trace.reasons:
        forever = piece.reason == piece.trace.reasons.index(FOREVER)
        over |= (piece.state == S.WAITING) & forever
    row = last_in_row(over, piece.offsets)
    return np.where(row < 0, -1, _times(piece, row))


def absences(piece: Piece) -> Column:
    """Return how long each goroutine was gone before it began again, in ns."""
    back = piece.returns()
    away = _times(piece, back) - _times(piece, back - 1)
    total = np.zeros(len(piece.goroutines), np.int64)
    np.add.at(total, np.searchsorted(piece.last, back), away)
    return total


def state_sums(piece: Piece, lasts: Column, calls: Column) -> Column:
    """Return exec, sched wait, syscall and syscall block times (4, goroutines).

    `calls` are the rows that `unnoticed` returns.
    """
    state = piece.state.copy()
    here = np.searchsorted(calls, (piece.rows.start, piece.rows.stop))
    state[calls[slice(*here)] - piece.rows.start] = S.SYSCALL
    sums = np.empty((4, len(piece.goroutines)), np.int64)
    order = (S.RUNNING, S.RUNNABLE, S.SYSCALL, S.SYSCALL_BLOCKED)
    for line, one in enumerate(order):
        sums[line] = piece.sums(lasts, state == one)
    last = piece.last
    open_call = np.where(state[last] == S.SYSCALL_BLOCKED, lasts[last], 0)
    sums[1] += open_call
    sums[2] += open_call
    sums[3] -= open_call
    return sums


def add_blocks(piece: Piece, lasts: Column, place: Column, block: Column) -> None:
    """Add up the times of waiting, by goroutine and reason."""
    for here in slices(len(lasts)):
        column = place[piece.reason[here]]
        rows = np.flatnonzero((piece.state[here] == S.WAITING) & (column >= 0))
        owner = np.searchsorted(piece.last, rows + here.start)
        cells = piece.goroutines[owner], column[rows]
        np.add.at(block, cells, lasts[here][rows])
