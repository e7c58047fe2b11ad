"""Time that goroutines spend in a state, by stack: a trace as a profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.pieces import Piece, pieces
from pprofdiff.analysis.traces.profiles import DELAYS, Sums, profile_of, summed, told
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import Offsets, grouped, offsets_of, slices, take_rows
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["STATES", "StateName", "named_for_state", "state_profile"]

StateName = Literal["running", "runnable", "blocked", "syscall"]
Column = NDArray[np.int64]
S = State

STATES: tuple[StateName, ...] = ("running", "runnable", "blocked", "syscall")
_OF = {"running": S.RUNNING, "runnable": S.RUNNABLE, "blocked": S.WAITING}
_RUNS = (ValueType("intervals", "count"), ValueType("time", "nanoseconds"))


def state_profile(
    trace: Trace,
    state: StateName,
    *,
    by: Literal["own", "waker"] = "own",
    goroutines: NDArray[np.bool_] | None = None,
) -> Profile:
    """Return the time that goroutines are in a state, by stack.

    Sample types are contentions (count) and delay (nanoseconds); of "running" they are
    intervals (count) and time (nanoseconds). All time in the state counts, whatever was
    cut off by the trace's begin or end among it: the sums are those of `GoroutineStats`
    (and, for "blocked", the time that goroutines block forever).

    A sample's stack is the goroutine's own: where it blocks ("blocked"), enters the
    system call ("syscall", with and without a processor), stands ready to go on
    ("runnable": where it blocked, stopped or made its system call), or stops running
    ("running": a trace does not tell where it was before). The root function stands for
    stacks that the trace lacks, as of goroutines that have not run yet, or that end.
    With `by` "waker", runnable time has the stack of who made the goroutine runnable,
    as ``go tool trace -pprof=sched`` has it; see `exports` for that profile itself.

    Labels are ``goroutine``, the root function, and ``reason``, what it waits for or
    stops because of; of runnable time, what it waited for before.
    `goroutines` (bool, one a goroutine) says which ones count; all if None.
    Raises UsageError for any other state or `by`.
    """
    if state not in STATES:
        raise UsageError(
            f"no state {state!r} of goroutines; there are {', '.join(STATES)}"
        )
    if by == "waker" and state != "runnable":
        raise UsageError(f"only runnable goroutines have a waker, {state} ones do not")
    names, name_of = grouped(trace.goroutines.name)
    table = _with_roots(trace, names)
    scene = _Scene(state, by == "waker", told(trace), table.roots[name_of], goroutines)
    parts = (_of_piece(piece, scene, name_of) for piece in pieces(trace))
    total = summed([part for some in parts for part in some], 3)
    stack, name, reason = total.keys
    roots = [root_name(trace.strings[i]) for i in names.tolist()]
    labels: list[tuple[str, Sequence[str], Column]] = [
        ("goroutine", roots, name),
        ("reason", trace.reasons, reason),
    ]
    frames = take_rows(table.offsets, table.frame, stack)
    kinds = _RUNS if state == "running" else DELAYS
    profile = profile_of(trace, frames, total.values, kinds, labels)
    return _timed(trace, profile)


def named_for_state(trace: Trace, state: StateName) -> Profile:
    """Return `state_profile` with sample types that tell which state it is of.

    They are intervals (count) and the state's name (nanoseconds): a block profile has
    contentions and delay too.
    """
    kinds = ValueType("intervals", "count"), ValueType(state, "nanoseconds")
    return replace(state_profile(trace, state), sample_types=kinds)


class _Scene(NamedTuple):
    """What is asked for, each stack's own number, each goroutine's root stack."""

    state: StateName
    by_waker: bool
    stacks: Column
    roots: Column
    goroutines: NDArray[np.bool_] | None


class _Table(NamedTuple):
    """The trace's stacks with more of them behind, and which is that of each root."""

    offsets: Offsets
    frame: NDArray[np.int32]
    roots: Column


def _with_roots(trace: Trace, names: NDArray[np.int32]) -> _Table:
    """Add stacks of root functions alone, where the trace has none such.

    Of a function's root frames that with the lowest line is where it begins.
    """
    stacks = trace.stacks
    filled = np.flatnonzero(np.diff(stacks.offsets))
    frame = stacks.frame[stacks.offsets[1:][filled] - 1]
    order = np.lexsort((stacks.line[frame], stacks.function[frame]))
    functions = stacks.function[frame[order]]
    at = np.minimum(np.searchsorted(functions, names), max(len(order) - 1, 0))
    known = np.zeros(len(names), np.bool_)
    known[:] = (names > 0) & (functions[at] == names) if len(order) else False
    root = frame[order[at[known]]]
    alone = np.full(len(stacks.function), -1, np.int64)
    single = filled[np.diff(stacks.offsets)[filled] == 1]
    alone[stacks.frame[stacks.offsets[single]]] = single
    added = alone[root] < 0
    place = len(stacks) - 1 + np.cumsum(added)
    roots = np.zeros(len(names), np.int64)
    roots[known] = np.where(added, place, alone[root])
    more = np.ones(int(added.sum()), np.int64)
    return _Table(
        offsets_of(np.append(np.diff(stacks.offsets), more)),
        np.append(stacks.frame, root[added]),
        roots,
    )


def _of_piece(piece: Piece, scene: _Scene, name_of: Column) -> Iterator[Sums]:
    """Yield the times of some goroutines by stack, name and reason, bit by bit."""
    begins = _rows(piece, scene.state)
    calls = _call_lengths(piece, begins) if scene.state == "syscall" else None
    direct = scene.state == "blocked" or scene.by_waker
    stood = None if direct else _stands(piece)
    for here in slices(len(begins)):
        rows = begins[here]
        lasts = piece.lasting(rows) if calls is None else calls[here]
        owner = piece.goroutines[np.searchsorted(piece.last, rows)]
        if scene.goroutines is not None:
            kept = scene.goroutines[owner]
            rows, lasts, owner = rows[kept], lasts[kept], owner[kept]
        stack = _stacks(piece, rows, scene, stood)
        stack = np.where(stack == 0, scene.roots[owner], stack)
        reason = _reasons(piece, rows, scene.state)
        keys = np.stack((stack, name_of[owner], reason))
        yield summed([Sums(keys, np.ones(len(rows), np.int64), lasts)], 3)


def _calls(piece: Piece) -> NDArray[np.bool_]:
    """Mark rows in system calls."""
    calls: NDArray[np.bool_] = piece.state == S.SYSCALL
    calls |= piece.state == S.SYSCALL_BLOCKED
    return calls


def _rows(piece: Piece, state: StateName) -> Column:
    """Return the rows that begin the state: of several of one call, the first."""
    if state != "syscall":
        return np.flatnonzero(piece.state == _OF[state])
    calls = _calls(piece)
    return np.flatnonzero(calls & ~_before(piece, calls))


def _before(piece: Piece, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark rows whose predecessor, of the same goroutine, is marked."""
    before = np.zeros_like(marked)
    before[1:] = marked[:-1]
    before[piece.first] = False
    return before


def _call_lengths(piece: Piece, rows: Column) -> Column:
    """Return how long the system calls last that begin at some rows, all there are."""
    if not len(rows):
        return np.zeros(0, np.int64)
    return np.add.reduceat(np.where(_calls(piece), piece.durations(), 0), rows)


def _following(piece: Piece, rows: Column) -> tuple[Column, NDArray[np.bool_]]:
    """Return the row after each, and whether the goroutine has one."""
    follows = rows < piece.last[np.searchsorted(piece.last, rows)]
    return np.where(follows, rows + 1, rows), follows


def _stacks(
    piece: Piece, rows: Column, scene: _Scene, stood: NDArray[np.int32] | None
) -> Column:
    """Return the stack of each row, 0 where the trace has none."""
    if stood is None:
        return scene.stacks[piece.stack[rows]]
    if scene.state != "running":
        return _at(piece, stood[rows], scene)
    after, follows = _following(piece, rows)
    ends = piece.state[after] == S.GONE
    return np.where(ends & follows, 0, _at(piece, stood[after], scene))


def _at(piece: Piece, place: NDArray[np.int32], scene: _Scene) -> Column:
    """Return the stacks of some rows, 0 for -1."""
    return np.where(place < 0, 0, scene.stacks[piece.stack[place]])


def _stands(piece: Piece) -> NDArray[np.int32]:
    """Return for each row the last by which its goroutine says where it stands.

    That is -1 for one that was created: it stands at its root, whoever's stack its
    first row has.
    """
    own = _own(piece)
    place = np.where(own, np.arange(len(own), dtype=np.int32), np.int32(0))
    place[piece.first] = piece.first
    np.maximum.accumulate(place, out=place)
    place[~own[place]] = -1
    return place


def _own(piece: Piece) -> NDArray[np.bool_]:
    """Mark rows that begin with an event of the goroutine itself, or tell of it."""
    state = piece.state
    stops = (state == S.RUNNABLE) & _before(piece, state == S.RUNNING)
    calls = (state == S.SYSCALL) & ~_before(piece, _calls(piece))
    own: NDArray[np.bool_] = stops | calls | (state == S.WAITING)
    own[piece.first] = ~piece.trace.goroutines.born[piece.goroutines]
    return own


def _reasons(piece: Piece, rows: Column, state: StateName) -> Column:
    """Return the reason (a position in `Trace.reasons`) of each row."""
    if state == "running":
        after, follows = _following(piece, rows)
        return np.where(follows, piece.reason[after], 0).astype(np.int64)
    reason = piece.reason[rows].astype(np.int64)
    if state != "runnable":
        return reason
    before = np.maximum(rows - 1, 0)
    waited = piece.state[before] == S.WAITING
    waited &= rows != piece.first[np.searchsorted(piece.last, rows)]
    return np.where(waited, piece.reason[before], reason)


def _timed(trace: Trace, profile: Profile) -> Profile:
    """Return the profile with the traced time and, where it is known, the date."""
    time = None
    for sync in trace.syncs:
        if sync.wall_ns is not None and sync.snapshot_ns is not None:
            time = sync.wall_ns - sync.snapshot_ns + trace.start_ns
            break
    return replace(profile, time_ns=time, duration_ns=trace.end_ns - trace.start_ns)
