"""Scheduling latency: how long runnable goroutines waited to run, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.calibration import FEWEST_BLOCKS
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.interval_rows import owners_of, ranges_of
from pprofdiff.analysis.traces.processors import all_processors_busy
from pprofdiff.analysis.traces.quantiles import (
    GroupQuantiles,
    Quantiles,
    grouped_quantiles,
)
from pprofdiff.analysis.traces.quantiles import quantiles as quantiles_of
from pprofdiff.analysis.traces.time_sets import TimeSet, union
from pprofdiff.model.arrays import Column, Index, Mask
from pprofdiff.model.csr import grouped, slices
from pprofdiff.model.traces.trace import RangeKind, State, Trace

if TYPE_CHECKING:
    import pandas as pd

# Followed by "unblocked: " plus each reason of `Trace.reasons`.
FIXED_CAUSES = ("created", "preempted", "yielded", "stopped", "system call", "unknown")
_CREATED, _PREEMPTED, _YIELDED, _HALTED, _CALL, _UNKNOWN = range(len(FIXED_CAUSES))
_NONE = 255


class BusyTotals(NamedTuple):
    """Total wait while no P is idle, and while some P is idle, in ns.

    The latter excludes stop-the-world time: idle Ps are not available then.
    """

    busy_ns: int
    while_idle_ns: int


@dataclass(frozen=True, eq=False)
class Waits:
    """Runnable intervals, one row each, sorted by goroutine, then by time.

    A wait begins at `start_ns` and lasts `duration_ns` (both int64). `goroutine`
    (int32) is an index of `Trace.goroutines`. `cut` marks waits that the trace shows
    only in part and waits that did not lead to running.

    Rows of several `traces` follow each other in the order of the traces, and
    `goroutine` counts on from trace to trace; `parts` then has the waits of each trace.
    The other columns are computed on first use.
    """

    start_ns: Column
    duration_ns: Column
    goroutine: Index
    cut: Mask
    traces: tuple[Trace, ...]
    parts: tuple[Waits, ...] = ()

    @cached_property
    def causes(self) -> tuple[str, ...]:
        """What makes goroutines runnable, as text."""
        words = [[*map(_unblocked, trace.reasons)] for trace in self.traces]
        if len(words) > 1:
            words = [sorted({word for some in words for word in some})]
        return (*FIXED_CAUSES, *words[0])

    @cached_property
    def cause(self) -> NDArray[np.uint16]:
        """What made the goroutine runnable, an index of `causes` (uint16)."""
        place = {cause: i for i, cause in enumerate(self.causes)}
        if self.parts:
            columns = []
            for part in self.parts:
                of_part = np.array([place[word] for word in part.causes], np.uint16)
                columns.append(of_part[part.cause])
            return np.concatenate(columns)
        (trace,) = self.traces
        words = (*FIXED_CAUSES, *map(_unblocked, trace.reasons))
        places = np.array([place[word] for word in words], np.uint16)
        column, first = np.empty(len(self), np.uint16), 0
        for rows, goroutine in _runnable_rows(trace):
            here = slice(first, first + len(rows))
            column[here] = places[_causes(trace, rows, goroutine)]
            first = here.stop
        return column

    def held_up_ns(self, name: str) -> Column:
        """Return how much of each wait overlaps the times of `_HELD_UP` (int64)."""
        column = np.empty(len(self), np.int64)
        for here, lasts in self._overlaps(_HELD_UP[name]):
            column[here] = lasts
        return column

    @cached_property
    def busy_totals(self) -> BusyTotals:
        """How long waits are while no P is idle, and while one is."""
        busy = idle = 0
        both = zip(self._overlaps(busy_times), self._overlaps(_stopped), strict=True)
        for (here, none_idle), (_, stopped) in both:
            busy += int(none_idle.sum())
            rest = self.duration_ns[here] - none_idle - stopped
            idle += int(np.maximum(rest, 0).sum())
        return BusyTotals(busy, idle)

    @cached_property
    def during_ns(self) -> dict[str, int]:
        """How much of all waits overlaps each of `_HELD_UP`."""
        return {
            name: sum(int(lasts.sum()) for _, lasts in self._overlaps(times_of))
            for name, times_of in _HELD_UP.items()
        }

    def while_marking_ns(self, goroutines: Mask) -> int:
        """Return how long the marked goroutines waited during GC marking."""
        return sum(
            int(lasts[goroutines[self.goroutine[here]]].sum())
            for here, lasts in self._overlaps(_marking)
        )

    def _overlaps(
        self, times_of: Callable[[Trace], TimeSet]
    ) -> Iterator[tuple[slice, Column]]:
        """Yield how much of each wait overlaps a set of times (int64 ns), in slices."""
        first = 0
        for part in self.parts or (self,):
            times = times_of(part.traces[0])
            for rows in slices(len(part)):
                here = slice(first + rows.start, first + rows.stop)
                start = self.start_ns[here]
                yield here, times.overlap(start, start + self.duration_ns[here])
            first += len(part)

    def __len__(self) -> int:
        return len(self.duration_ns)

    @cached_property
    def known(self) -> Mask:
        """Which waits latency is of (bool): complete ones, and the longest at the end.

        One that the end of its trace cuts off, and that is longer than all complete
        ones of its root function, is known to be of the longest. Without it, a side on
        which goroutines still wait has the shorter latency.
        """
        if self.parts:
            return np.concatenate([part.known for part in self.parts])
        (trace,) = self.traces
        root = trace.goroutines.name[self.goroutine]
        longest = np.zeros(len(trace.strings), np.int64)
        whole = ~self.cut
        np.maximum.at(longest, root[whole], self.duration_ns[whole])
        at_end = self.start_ns + self.duration_ns == trace.end_ns
        known: Mask = whole | (at_end & (self.duration_ns > longest[root]))
        return known

    def quantiles(self, goroutines: Mask) -> Quantiles:
        """Return the latency quantiles of the marked goroutines."""
        return quantiles_of(self.duration_ns[goroutines[self.goroutine] & self.known])

    def to_frame(self, trace: Trace) -> pd.DataFrame:
        """Return one row per wait of `trace`.

        Columns: start_ns, duration_ns, goroutine (its id), name (its root function, as
        in `Groups`), cut, gc_mark_ns, stw_ns, busy_ns, cause.
        """
        import pandas as pd

        goroutines = trace.goroutines
        roots = np.array([root_name(text) for text in trace.strings], object)
        place, names = pd.factorize(roots[goroutines.name])
        columns: dict[str, object] = {
            "start_ns": self.start_ns,
            "duration_ns": self.duration_ns,
            "goroutine": goroutines.id[self.goroutine],
            "name": pd.Categorical.from_codes(place[self.goroutine], pd.Index(names)),
        }
        columns |= {"cut": self.cut}
        columns |= {name: self.held_up_ns(name) for name in _HELD_UP}
        cause = pd.Categorical.from_codes(self.cause, pd.Index(self.causes))
        return pd.DataFrame({**columns, "cause": cause})


def _runnable_rows(trace: Trace) -> Iterator[tuple[Column, Column]]:
    """Yield runnable rows of `Trace.intervals`, in order, and their goroutines."""
    intervals = trace.intervals
    for here in slices(len(intervals)):
        rows = np.flatnonzero(intervals.state[here] == State.RUNNABLE)
        rows += here.start
        yield rows, owners_of(intervals.offsets, rows)


def _unblocked(reason: str) -> str:
    return f"unblocked: {reason}" if reason else "unblocked"


def _times_of(trace: Trace, kind: RangeKind) -> TimeSet:
    ranges, end = ranges_of(trace, kind)
    return union(ranges.start_ns, end)


def _marking(trace: Trace) -> TimeSet:
    return _times_of(trace, RangeKind.GC_MARK)


def _stopped(trace: Trace) -> TimeSet:
    return _times_of(trace, RangeKind.STOP_THE_WORLD)


def busy_times(trace: Trace) -> TimeSet:
    """Return when no P was idle; computed once per trace."""
    return trace.once("busy", all_processors_busy)


_HELD_UP: Mapping[str, Callable[[Trace], TimeSet]] = {
    "gc_mark_ns": _marking,
    "stw_ns": _stopped,
    "busy_ns": busy_times,
}
"""When waits pass during GC marking, during STW pauses and with no P idle."""


def runnable(trace: Trace) -> Waits:
    """Return all runnable intervals of a trace."""
    intervals = trace.intervals
    offsets, start_ns, state = intervals.offsets, intervals.start_ns, intervals.state
    size = int(np.count_nonzero(state == State.RUNNABLE))
    waits = Waits(
        start_ns=np.empty(size, np.int64),
        duration_ns=np.empty(size, np.int64),
        goroutine=np.empty(size, np.int32),
        cut=np.empty(size, np.bool_),
        traces=(trace,),
    )
    first = 0
    for rows, goroutine in _runnable_rows(trace):
        here = slice(first, first + len(rows))
        after = rows + 1
        ends = after == offsets[1:][goroutine]
        after[ends] = rows[ends]
        lasts = start_ns[after] - start_ns[rows]
        lasts[ends] = trace.end_ns - start_ns[rows[ends]]
        cut = state[after] != State.RUNNING
        begins = np.flatnonzero(rows == offsets[goroutine])
        cut[begins] |= ~trace.goroutines.born[goroutine[begins]]
        waits.start_ns[here] = start_ns[rows]
        waits.duration_ns[here] = lasts
        waits.goroutine[here] = goroutine
        waits.cut[here] = cut
        first = here.stop
    return waits


def together(parts: Sequence[Waits]) -> Waits:
    """Return the waits of several traces as one table."""
    if len(parts) == 1:
        return parts[0]
    traces = tuple([trace for part in parts for trace in part.traces])
    sizes = [sum(len(t.goroutines) for t in part.traces) for part in parts]
    before = np.cumsum([0, *sizes[:-1]])
    goroutine = [
        part.goroutine + np.int32(n) for part, n in zip(parts, before, strict=True)
    ]
    return Waits(
        start_ns=np.concatenate([part.start_ns for part in parts]),
        duration_ns=np.concatenate([part.duration_ns for part in parts]),
        goroutine=np.concatenate(goroutine),
        cut=np.concatenate([part.cut for part in parts]),
        traces=traces,
        parts=tuple(parts),
    )


def by_group(waits: Waits, trace: Trace) -> GroupQuantiles:
    """Return latency quantiles by the goroutine's root function."""
    whole = waits.known
    names, place = grouped(trace.goroutines.name)
    texts = tuple(root_name(trace.strings[i]) for i in names.tolist())
    group = place[waits.goroutine[whole]]
    return grouped_quantiles(group, waits.duration_ns[whole], texts)


def by_cause(waits: Waits) -> GroupQuantiles:
    """Return latency quantiles by what made the goroutine runnable."""
    whole = waits.known
    return grouped_quantiles(waits.cause[whole], waits.duration_ns[whole], waits.causes)


def blocks(trace: Trace, time_ns: Column) -> Column:
    """Return which stretch of the trace each time lies in (int64, from 0).

    Stretches, which latency intervals resample, are generations, or GC cycles if there
    are fewer than 5 generations.
    """
    begins = np.array([sync.time_ns for sync in trace.syncs], np.int64)
    if len(begins) < FEWEST_BLOCKS:
        cycles = ranges_of(trace, RangeKind.GC_MARK)[0].start_ns
        begins = np.sort(cycles)
    return np.searchsorted(begins, time_ns, "right").astype(np.int64)


def _causes(trace: Trace, rows: Column, goroutine: Column) -> NDArray[np.uint16]:
    """Return the cause of each wait: a fixed one, or one by reason.

    `rows` are the waits' rows of `Trace.intervals`, `goroutine` their goroutines.
    """
    intervals, reasons = trace.intervals, trace.reasons
    begins = rows == intervals.offsets[goroutine]
    before = np.where(begins, np.uint8(_NONE), intervals.state[rows - 1])
    cause = np.full(len(rows), _UNKNOWN, np.uint16)
    cause[begins & trace.goroutines.born[goroutine]] = _CREATED
    stops = {"preempted": _PREEMPTED, "runtime.Gosched": _YIELDED}
    stopped = np.array([stops.get(text, _HALTED) for text in reasons], np.uint16)
    ran = before == State.RUNNING
    cause[ran] = stopped[intervals.reason[rows[ran]]]
    cause[(before == State.SYSCALL) | (before == State.SYSCALL_BLOCKED)] = _CALL
    blocked = before == State.WAITING
    cause[blocked] = intervals.reason[rows[blocked] - 1] + len(FIXED_CAUSES)
    return cause
