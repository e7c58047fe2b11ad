"""The profiles that ``go tool trace -pprof`` writes, sample for sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.pieces import Piece, pieces
from pprofdiff.analysis.traces.profiles import Sums, profile_of, summed, taken, told
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import first_in_row, row_of_item, slices
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["EXPORTS", "Export", "export"]

Export = Literal["net", "sync", "syscall", "sched"]
Column = NDArray[np.int64]
Mask = NDArray[np.bool_]

EXPORTS: tuple[Export, ...] = ("net", "sync", "syscall", "sched")
_SYNC = ("chan", "sync", "select")


def export(trace: Trace, kind: Export) -> Profile:
    """Return what ``go tool trace -pprof=kind`` exports of a trace.

    Sample types are contentions (count) and delay (nanoseconds). A stack is that of the
    event which began the wait: of "sched", that is the stack of who made the goroutine
    runnable. As Go does (cmd/trace/pprof.go), this leaves out waits that have not ended
    at the trace's end, everything of a goroutine before it first runs in the trace (but
    nothing of one that never runs), and what was going on before a goroutine's first
    event. Go tells stacks apart by addresses, this by functions, files and lines.
    Raises UsageError for any other kind.
    """
    if kind not in EXPORTS:
        raise UsageError(
            f"no export {kind!r} of a trace; there are {', '.join(EXPORTS)}"
        )
    wanted, stacks = _wanted(trace, kind), told(trace)
    parts = (_of_piece(piece, kind, wanted, stacks) for piece in pieces(trace))
    total = summed([part for some in parts for part in some], 1)
    return profile_of(trace, taken(trace, total.keys[0]), total.values)


def _wanted(trace: Trace, kind: Export) -> Mask:
    """Return which reasons to wait count."""
    if kind == "net":
        counts = [reason == "network" for reason in trace.reasons]
    else:
        counts = [any(word in reason for word in _SYNC) for reason in trace.reasons]
    return np.array(counts, np.bool_)


def _of_piece(
    piece: Piece, kind: Export, wanted: Mask, stacks: Column
) -> Iterator[Sums]:
    """Yield the waits of some goroutines by stack, some thousand at a time."""
    begins = np.flatnonzero(_begins(piece, kind, wanted))
    runs, unseen = _first_runs(piece), _unseen(piece)
    for here in slices(len(begins)):
        rows = begins[here]
        owner = np.searchsorted(piece.last, rows)
        last, ran = piece.last[owner], runs[owner]
        lasts, over = piece.lasting(rows), rows + 1
        if kind == "syscall":
            # A call goes on without its processor.
            after = np.minimum(over, len(piece.state) - 1)
            longer = (rows < last) & (piece.state[after] == State.SYSCALL_BLOCKED)
            lasts += piece.lasting(after) * longer
            over += longer
        # The first row of one that was there before begins before its first event.
        lasts -= unseen[owner] * (rows == piece.first[owner])
        kept = (over <= last) & ((ran < 0) | (rows > ran))
        stack = stacks[piece.stack[rows[kept]]]
        ones = np.ones(len(stack), np.int64)
        yield summed([Sums(stack[None], ones, lasts[kept])], 1)


def _begins(piece: Piece, kind: Export, wanted: Mask) -> Mask:
    """Mark the rows that begin what is asked for."""
    state = piece.state
    code = {"sched": State.RUNNABLE, "syscall": State.SYSCALL}.get(kind, State.WAITING)
    marked: Mask = state == code
    if code == State.WAITING:
        marked &= wanted[piece.reason]
    return marked


def _first_runs(piece: Piece) -> Column:
    """Return the row with which each goroutine first runs, -1 if it never does.

    Of one that begins again Go remembers the last time only.
    """
    runs = piece.state == State.RUNNING
    back = piece.returns()
    if len(back):
        since = piece.first.copy()
        since[np.searchsorted(piece.last, back)] = back
        runs &= np.arange(len(runs)) >= since[row_of_item(piece.offsets)]
    return first_in_row(runs, piece.offsets)


def _unseen(piece: Piece) -> Column:
    """Return how long before its first event each goroutine's first row begins."""
    start = piece.trace.intervals.start_ns[piece.rows][piece.first]
    seen = piece.trace.goroutines.seen_ns[piece.goroutines]
    before: Column = np.maximum(seen - start, 0)
    return before
