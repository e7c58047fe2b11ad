"""Scheduling latency: how long goroutines that could run had to wait, and for what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.stats.calibration import FEWEST_BLOCKS
from pprofdiff.analysis.traces.goroutine_chunks import GoroutineChunk, goroutine_chunks
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.interval_rows import ranges_of
from pprofdiff.analysis.traces.processors import all_processors_busy
from pprofdiff.analysis.traces.quantiles import (
    GroupQuantiles,
    Quantiles,
    grouped_quantiles,
)
from pprofdiff.analysis.traces.quantiles import quantiles as quantiles_of
from pprofdiff.analysis.traces.time_sets import union
from pprofdiff.model.csr import grouped, slices
from pprofdiff.model.traces.timeline import RangeKind
from pprofdiff.model.traces.trace import State, Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FIXED_CAUSES", "Waits", "blocks", "by_cause", "by_group", "runnable"]

Column = NDArray[np.int64]

# What comes after these is "unblocked: " and a reason of `Trace.reasons`.
FIXED_CAUSES = ("created", "preempted", "yielded", "stopped", "system call", "unknown")
_UNBLOCKED = "unblocked: "
_CREATED, _PREEMPTED, _YIELDED, _STOPPED, _CALL, _UNKNOWN = range(len(FIXED_CAUSES))
_NONE = 255


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Runnable intervals, one row each, by goroutine, then in the order they happened.

    A wait begins at `start_ns` and lasts `duration_ns`. `goroutine` is an index of
    `Trace.goroutines`; `cause`, an index of `causes`, tells what made the goroutine
    runnable. `cut` marks waits of which the trace shows only a part, and waits that did
    not lead to running; their durations are no latencies.

    `gc_mark_ns`, `stw_ns` and `busy_ns` say for how much of the wait the GC was
    marking, the world was stopped, and no processor was idle. Each is at most
    `duration_ns`; they overlap one another.
    """

    causes: tuple[str, ...]
    start_ns: Column
    duration_ns: Column
    goroutine: NDArray[np.int32]
    cause: NDArray[np.uint16]
    cut: NDArray[np.bool_]
    gc_mark_ns: Column
    stw_ns: Column
    busy_ns: Column

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.start_ns)

    @property
    def latencies_ns(self) -> Column:
        """Return the durations of the waits that are seen from begin to end."""
        return self.duration_ns[~self.cut]

    def quantiles(self) -> Quantiles:
        """Return the quantiles of the latencies."""
        return quantiles_of(self.latencies_ns)

    def to_frame(self, trace: Trace) -> pd.DataFrame:
        """Return one row a wait of the trace that these are of.

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
        for part in ("cut", "gc_mark_ns", "stw_ns", "busy_ns"):
            columns[part] = getattr(self, part)
        cause = pd.Categorical.from_codes(self.cause, pd.Index(self.causes))
        return pd.DataFrame({**columns, "cause": cause})


def blocked_reason(cause: str) -> str | None:
    """Return what a goroutine was blocked on before, None for any other cause."""
    return cause.removeprefix(_UNBLOCKED) if cause.startswith(_UNBLOCKED) else None


def runnable(trace: Trace) -> Waits:
    """Return all intervals in which goroutines were runnable."""
    size = int(np.count_nonzero(trace.intervals.state == State.RUNNABLE))
    unblocked = (
        f"{_UNBLOCKED}{text}" if text else "unblocked" for text in trace.reasons
    )
    waits = Waits(
        causes=(*FIXED_CAUSES, *unblocked),
        start_ns=np.empty(size, np.int64),
        duration_ns=np.empty(size, np.int64),
        goroutine=np.empty(size, np.int32),
        cause=np.empty(size, np.uint16),
        cut=np.empty(size, np.bool_),
        gc_mark_ns=np.empty(size, np.int64),
        stw_ns=np.empty(size, np.int64),
        busy_ns=np.empty(size, np.int64),
    )
    marking, marked = ranges_of(trace, RangeKind.GC_MARK)
    stops, stopped = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    causes_of_delay = (
        (waits.gc_mark_ns, union(marking.start_ns, marked)),
        (waits.stw_ns, union(stops.start_ns, stopped)),
        (waits.busy_ns, all_processors_busy(trace)),
    )
    first = 0
    for chunk in goroutine_chunks(trace):
        first += _put_waits(chunk, waits, first)
    for here in slices(size):
        start = waits.start_ns[here]
        for column, times in causes_of_delay:
            column[here] = times.overlap(start, start + waits.duration_ns[here])
    return waits


def _put_waits(chunk: GoroutineChunk, waits: Waits, first: int) -> int:
    """Put the waits of some goroutines at row `first`; return how many they are."""
    trace, state = chunk.trace, chunk.state
    rows = np.flatnonzero(state == State.RUNNABLE)
    place = chunk.owner_of(rows)
    goroutine = chunk.goroutines[place]
    begins, ends = rows == chunk.first[place], rows == chunk.last[place]
    before = np.where(begins, np.uint8(_NONE), state[rows - 1])
    after = state[np.minimum(rows + 1, len(state) - 1)]
    born = trace.goroutines.born[goroutine]
    here = slice(first, first + len(rows))
    waits.start_ns[here] = chunk.start_ns[rows]
    waits.duration_ns[here] = chunk.durations()[rows]
    waits.goroutine[here] = goroutine
    waits.cut[here] = ends | (after != State.RUNNING) | (begins & ~born)
    waits.cause[here] = _causes(trace, rows + chunk.rows.start, before, born)
    return len(rows)


def by_group(waits: Waits, trace: Trace) -> GroupQuantiles:
    """Return the latencies' quantiles by the root function of the goroutine."""
    whole = ~waits.cut
    names, place = grouped(trace.goroutines.name)
    texts = tuple(root_name(trace.strings[i]) for i in names.tolist())
    group = place[waits.goroutine[whole]]
    return grouped_quantiles(group, waits.duration_ns[whole], texts)


def by_cause(waits: Waits) -> GroupQuantiles:
    """Return the latencies' quantiles by what made the goroutine runnable."""
    whole = ~waits.cut
    return grouped_quantiles(waits.cause[whole], waits.duration_ns[whole], waits.causes)


def blocks(trace: Trace, time_ns: Column) -> Column:
    """Return which stretch of the trace each time lies in (int64, from 0).

    Stretches are generations; where there are fewer than 5, GC cycles. They are what
    the judge of latencies draws again.
    """
    begins = np.array([sync.time_ns for sync in trace.syncs], np.int64)
    if len(begins) < FEWEST_BLOCKS:
        cycles = ranges_of(trace, RangeKind.GC_MARK)[0].start_ns
        begins = np.sort(cycles)
    return np.searchsorted(begins, time_ns, "right").astype(np.int64)


def _causes(
    trace: Trace,
    rows: Column,
    before: NDArray[np.uint8],
    born: NDArray[np.bool_],
) -> NDArray[np.uint16]:
    """Return the cause of each row, as a place in `Waits.causes`."""
    intervals, reasons = trace.intervals, trace.reasons
    why = intervals.reason[rows]
    cause = np.full(len(rows), _UNKNOWN, np.uint16)
    cause[(before == _NONE) & born] = _CREATED
    stops = {"preempted": _PREEMPTED, "runtime.Gosched": _YIELDED}
    stopped = np.array([stops.get(text, _STOPPED) for text in reasons], np.uint16)
    ran = before == State.RUNNING
    cause[ran] = stopped[why[ran]]
    cause[(before == State.SYSCALL) | (before == State.SYSCALL_BLOCKED)] = _CALL
    blocked = before == State.WAITING
    cause[blocked] = intervals.reason[rows[blocked] - 1] + len(FIXED_CAUSES)
    return cause
