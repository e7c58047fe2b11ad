"""The worst moments of two traces: what Ps and goroutines did around them.

A moment is the longest scheduling wait, the longest STW pause, or the window with the
least mutator utilization. Base's and new's have one length and start at one offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Literal, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.goroutines import is_system, is_tracing, root_name
from pprofdiff.analysis.traces.interval_rows import ranges_of, row_at, rows_within
from pprofdiff.analysis.traces.mutators import worst_window
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.time_sets import clipped, union, value_at
from pprofdiff.model.arrays import Codes, Column, Mask, Table
from pprofdiff.model.csr import distinct
from pprofdiff.model.traces.trace import RangeKind, State, Trace

MomentId = Literal["wait", "stop", "mutator"]

MOMENTS: tuple[MomentId, ...] = ("wait", "stop", "mutator")
"""The ids of moments, in report order."""

WINDOW_NS = 10_000_000
"""The window of the mutator moment: one from the report's MMU table."""

PROCESSORS, GOROUTINES = 12, 4
"""The most P lanes, and goroutine lanes, of a moment."""

GC_ROOTS = frozenset(
    ("runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge")
)
"""Root functions of goroutines that only do GC work."""

# The STW pause that starts the trace is not the program's.
_OF_TRACE = "start trace"
# Time shown ÷ duration of the moment: half as much again as context.
_AROUND = 1.5
# Goroutines run for tens of microseconds: this shows some around a short moment.
_SHORTEST_NS = 500_000


class Look(IntEnum):
    """What a lane shows; where two overlap, the greater wins.

    SYSCALL is a system call with or without a P, RUNTIME a running runtime goroutine,
    GC a mark worker, assist or sweep, MARKING a concurrent mark phase.
    """

    NOTHING = 0
    WAITING = 1
    SYSCALL = 2
    RUNTIME = 3
    PROGRAM = 4
    GC = 5
    MARKING = 6
    STOPPED = 7


class Slices(Table, frozen=True):
    """What a lane shows, in time order; slices do not overlap.

    Slice i lasts from `start_ns` to `end_ns` (int64), relative to the start of the
    moment. `look` (uint8) is a `Look`. `several` (bool) marks slices that merge many
    too narrow to draw, with the gaps between them, by the look with the most time.
    """

    start_ns: Column
    end_ns: Column
    look: Codes
    several: Mask


class Lane(Struct, frozen=True, eq=False):
    """One row of a moment: ``P3``, ``G18`` with its root function, or ``GC``."""

    kind: Literal["gc", "processor", "goroutine"]
    label: str
    name: str
    slices: Slices


class Moment(Struct, frozen=True, eq=False):
    """One side's moment.

    `name` is the waiting goroutine's root function, the reason for the pause, or "".
    `share` is the mutator utilization of a window, else None. `lanes` are GC, Ps and
    goroutines from the top; `processors` counts the trace's Ps. `traced_ns` is the
    start and end of the trace, relative to the start of the moment.

    `program`, `gc` and `other` are shares of GOMAXPROCS × `duration_ns`: application
    goroutines running, GC work, and other goroutines running or in system calls; None
    if GOMAXPROCS is unknown. `stopped_ns` is the STW time within the moment.
    """

    label: str
    duration_ns: int
    name: str
    share: float | None
    lanes: tuple[Lane, ...]
    processors: int
    traced_ns: tuple[int, int]
    program: float | None
    gc: float | None
    other: float | None
    stopped_ns: int


class MomentPair(Struct, frozen=True, eq=False):
    """A moment of base and of new, shown from `low_ns` to `high_ns` of their starts."""

    id: MomentId
    low_ns: int
    high_ns: int
    sides: tuple[Moment | None, Moment | None]


class _Event(NamedTuple):
    """Where a moment is: trace, start, end, and goroutine (-1 for none)."""

    side: TraceSide
    start_ns: int
    end_ns: int
    goroutine: int = -1
    name: str = ""
    share: float | None = None

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


def moment_pair(diff: TraceDiff, moment: MomentId) -> MomentPair | None:
    """Return a moment of both sides, None if neither side has one.

    Waits and pauses are complete ones from all traces of a side; windows are from the
    longest trace.
    """
    if moment == "mutator":
        events = _worst_windows(diff)
    else:
        find = _longest_wait if moment == "wait" else _longest_stop
        events = [_longest(map(find, side.parts)) for side in diff.sides]
    lengths = [event.duration_ns for event in events if event is not None]
    if not lengths:
        return None
    shown = max(int(max(lengths) * _AROUND), _SHORTEST_NS)
    low = -((shown - max(lengths)) // 2)
    base, new = (event and _moment(event, low, low + shown) for event in events)
    return MomentPair(moment, low, low + shown, (base, new))


def thinned(slices: Slices, narrowest_ns: float) -> Slices:
    """Merge adjacent slices shorter than `narrowest_ns`.

    The result has at most twice as many slices as that width fits into the time.
    """
    if not len(slices):
        return slices
    length = slices.end_ns - slices.start_ns
    short = length < narrowest_ns
    first = np.ones(len(slices), np.bool_)
    near = slices.start_ns[1:] - slices.end_ns[:-1] < narrowest_ns
    first[1:] = ~(short[1:] & short[:-1] & near)
    begins = np.flatnonzero(first)
    last = np.append(begins[1:], len(slices)) - 1
    spent = np.stack(
        [
            np.add.reduceat(np.where(slices.look == look, length, 0), begins)
            for look in Look
        ]
    )
    return Slices(
        slices.start_ns[begins],
        slices.end_ns[last],
        spent.argmax(axis=0).astype(np.uint8),
        slices.several[begins] | (last > begins),
    )


def _longest(events: map[_Event | None]) -> _Event | None:
    known = [event for event in events if event is not None]
    return max(known, key=lambda event: event.duration_ns, default=None)


def _longest_wait(side: TraceSide) -> _Event | None:
    """Return the longest wait of the program that lies wholly in the trace."""
    waits = side.waits
    length = np.where(side.measured, waits.duration_ns, 0)
    if not length.any():
        return None
    row = int(length.argmax())
    start, goroutine = int(waits.start_ns[row]), int(waits.goroutine[row])
    name = _root(side.trace, goroutine)
    return _Event(side, start, start + int(length[row]), goroutine, name)


def _longest_stop(side: TraceSide) -> _Event | None:
    """Return the longest STW pause in the trace, without the one that starts it."""
    stops, end = ranges_of(side.trace, RangeKind.STOP_THE_WORLD)
    own = np.array([name == _OF_TRACE for name in side.trace.strings], np.bool_)
    whole = stops.seen & (stops.end_ns >= 0) & ~own[stops.name]
    length = np.where(whole, end - stops.start_ns, 0)
    if not length.any():
        return None
    row = int(length.argmax())
    name = side.trace.strings[int(stops.name[row])]
    place = int(stops.start_ns[row]), int(end[row]), int(stops.goroutine[row])
    return _Event(side, *place, name)


def _worst_windows(diff: TraceDiff) -> list[_Event | None]:
    """Return the windows of least mutator utilization, None where the GC took nothing.

    None for both if a side has no trace that long.
    """
    events: list[_Event | None] = []
    shares = diff.mmu.get(WINDOW_NS, (None, None))
    for side, share in zip(diff.sides, shares, strict=True):
        start = worst_window(side.utilisation, WINDOW_NS)
        if share is None or share >= 1 or start is None:
            events.append(None)
        else:
            one = side.longest
            end = min(start + WINDOW_NS, one.trace.end_ns)
            events.append(_Event(one, start, end, share=share))
    return events


def _root(trace: Trace, goroutine: int) -> str:
    return root_name(trace.strings[int(trace.goroutines.name[goroutine])])


class _Shown(Table, frozen=True):
    """What lanes show in a window, unsorted; times are the trace's."""

    goroutine: Column
    processor: Column
    start_ns: Column
    end_ns: Column
    look: Codes


def _moment(event: _Event, low: int, high: int) -> Moment:
    trace = event.side.trace
    ends = event.start_ns + low, event.start_ns + high
    shown = _shown(trace, *ends)
    lanes = [_collector_lane(trace, ends)]
    every = [
        Lane("processor", f"P{number}", "", _painted(shown.take(shown.processor == p)))
        for p, number in enumerate(trace.processors.tolist())
    ]
    spent = _times(every, event)
    stopped = int(_times(lanes, event)[Look.STOPPED])
    lanes += sorted(_busiest(every), key=lambda lane: int(lane.label[1:]))
    lanes += [
        Lane(
            "goroutine",
            f"G{trace.goroutines.id[g]}",
            _root(trace, g),
            _painted(shown.take(shown.goroutine == g)),
        )
        for g in _concerned(trace, event, shown)
    ]
    limit = int(value_at(trace.gomaxprocs, np.array([event.start_ns]))[0])
    whole = limit * event.duration_ns if limit > 0 else 0
    program, gc, other = (
        int(spent[list(looks)].sum()) / whole if whole else None
        for looks in ((Look.PROGRAM,), (Look.GC,), (Look.SYSCALL, Look.RUNTIME))
    )
    return Moment(
        label=event.side.label,
        duration_ns=event.duration_ns,
        name=event.name,
        share=event.share,
        lanes=tuple(_moved(lane, event.start_ns) for lane in lanes),
        processors=len(trace.processors),
        traced_ns=(trace.start_ns - event.start_ns, trace.end_ns - event.start_ns),
        program=program,
        gc=gc,
        other=other,
        stopped_ns=stopped,
    )


def _shown(trace: Trace, low: int, high: int) -> _Shown:
    """Return what goroutines do in a window, and on which P (-1 for none)."""
    size = len(trace.goroutines)
    goroutines = np.arange(size)
    _, row, start, end = rows_within(
        trace, goroutines, np.full(size, low), np.full(size, high)
    )
    owner = np.searchsorted(trace.intervals.offsets, row, "right") - 1
    state = trace.intervals.state[row]
    look = np.zeros(len(row), np.uint8)
    look[state == State.RUNNABLE] = Look.WAITING
    look[(state == State.SYSCALL) | (state == State.SYSCALL_BLOCKED)] = Look.SYSCALL
    ran = state == State.RUNNING
    look[ran] = _running_looks(trace)[trace.goroutines.name[owner[ran]]]
    on = ran | (state == State.SYSCALL)
    processor = np.where(on, trace.intervals.processor[row], -1).astype(np.int64)
    some = look != Look.NOTHING
    parts = [_Shown(owner, processor, start, end, look).take(some)]
    parts += [_assisting(trace, low, high), _sweeping(trace, low, high)]
    return _Shown.concatenate(parts)


def _running_looks(trace: Trace) -> Codes:
    """Return, for each string, the `Look` of that root function running (uint8)."""
    return np.array(
        [
            Look.GC
            if name in GC_ROOTS
            else Look.RUNTIME
            if is_system(name) or is_tracing(name)
            else Look.PROGRAM
            for name in trace.strings
        ],
        np.uint8,
    )


def _assisting(trace: Trace, low: int, high: int) -> _Shown:
    assists, end = ranges_of(trace, RangeKind.MARK_ASSIST)
    period, row, start, end = rows_within(
        trace, assists.goroutine, *clipped(assists.start_ns, end, low, high)
    )
    ran = trace.intervals.state[row] == State.RUNNING
    row, start, end = row[ran], start[ran], end[ran]
    goroutine = assists.goroutine[period[ran]].astype(np.int64)
    processor = trace.intervals.processor[row].astype(np.int64)
    return _Shown(goroutine, processor, start, end, _all(Look.GC, len(row)))


def _sweeping(trace: Trace, low: int, high: int) -> _Shown:
    sweeps, end = ranges_of(trace, RangeKind.SWEEP)
    start, end = clipped(sweeps.start_ns, end, low, high)
    some = end > start
    return _Shown(
        sweeps.goroutine[some].astype(np.int64),
        sweeps.processor[some].astype(np.int64),
        start[some],
        end[some],
        _all(Look.GC, int(some.sum())),
    )


def _all(look: Look, size: int) -> Codes:
    return np.full(size, look, np.uint8)


def _collector_lane(trace: Trace, ends: tuple[int, int]) -> Lane:
    parts = []
    for kind, look in (
        (RangeKind.GC_MARK, Look.MARKING),
        (RangeKind.STOP_THE_WORLD, Look.STOPPED),
    ):
        ranges, end = ranges_of(trace, kind)
        start, end = clipped(ranges.start_ns, end, *ends)
        nobody = np.full(len(start), -1)
        parts.append(_Shown(nobody, nobody, start, end, _all(look, len(start))))
    return Lane("gc", "GC", "", _painted(_Shown.concatenate(parts)))


def _painted(shown: _Shown) -> Slices:
    """Return the visible slices, with greater looks drawn over lesser ones."""
    edges = distinct(np.concatenate((shown.start_ns, shown.end_ns)))
    if len(edges) < 2:
        return Slices.none()
    seen = np.zeros(len(edges), np.uint8)
    for look in distinct(shown.look).tolist():
        some = shown.look == look
        times = union(shown.start_ns[some], shown.end_ns[some])
        seen[:-1][times.overlap(edges[:-1], edges[1:]) > 0] = look
    # The last edge ends the slice before it.
    changes = np.append(True, seen[1:] != seen[:-1])
    changes[-1] = True
    start, seen = edges[changes], seen[changes]
    end, some = np.append(start[1:], start[-1]), seen != Look.NOTHING
    several = np.zeros(int(some.sum()), np.bool_)
    return Slices(start[some], end[some], seen[some], several)


def _busiest(lanes: Sequence[Lane]) -> list[Lane]:
    spent = [-int((lane.slices.end_ns - lane.slices.start_ns).sum()) for lane in lanes]
    return [lanes[place] for place in np.argsort(spent, kind="stable")[:PROCESSORS]]


def _times(lanes: Sequence[Lane], event: _Event) -> Column:
    """Return how long lanes show each `Look` during a moment (int64 ns)."""
    times = np.zeros(len(Look), np.int64)
    for lane in lanes:
        rows = lane.slices
        start, end = clipped(rows.start_ns, rows.end_ns, event.start_ns, event.end_ns)
        np.add.at(times, rows.look, end - start)
    return times


def _concerned(trace: Trace, event: _Event, shown: _Shown) -> list[int]:
    """Return the moment's own goroutine, the one that made it runnable, and others.

    The others are application goroutines that wait or assist the GC longest.
    """
    first = [event.goroutine] if event.goroutine >= 0 else []
    if first:
        rows = trace.intervals
        owner, time = np.array(first), np.array([event.start_ns])
        row = int(row_at(rows.offsets, rows.start_ns, owner, time)[0])
        if row >= 0 and rows.start_ns[row] == event.start_ns and rows.by[row] >= 0:
            first.append(int(rows.by[row]))
    start, end = clipped(shown.start_ns, shown.end_ns, event.start_ns, event.end_ns)
    looks = _running_looks(trace)[trace.goroutines.name[shown.goroutine]]
    waits = (shown.look == Look.WAITING) | (shown.look == Look.GC)
    some = waits & (looks == Look.PROGRAM) & (shown.goroutine >= 0)
    spent = np.zeros(len(trace.goroutines), np.int64)
    np.add.at(spent, shown.goroutine[some], (end - start)[some])
    order = np.argsort(-spent, kind="stable")[: GOROUTINES + len(first)]
    first += order[spent[order] > 0].tolist()
    return list(dict.fromkeys(first))[:GOROUTINES]


def _moved(lane: Lane, begin: int) -> Lane:
    """Return a lane with times relative to the start of a moment."""
    rows = lane.slices
    slices = replace(rows, start_ns=rows.start_ns - begin, end_ns=rows.end_ns - begin)
    return replace(lane, slices=slices)
