"""Garbage collection in a trace: mark phases, workers, assists, sweeps, STW pauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.interval_rows import (
    ranges_of,
    row_at,
    row_ends,
    rows_within,
)
from pprofdiff.analysis.traces.quantiles import Quantiles, quantiles
from pprofdiff.analysis.traces.time_sets import TimeSet, stretches, union, value_at
from pprofdiff.model.arrays import Column, Mask, Table
from pprofdiff.model.csr import distinct
from pprofdiff.model.traces.trace import ProcessorState, RangeKind, Series, State, Trace

if TYPE_CHECKING:
    import pandas as pd

_HEAP = "the heap at its goal"
_TIMER = "two minutes without a cycle"
_UNKNOWN = "unknown"
_BY_PROGRAM = "runtime.GC"
_BY_TIMER = "runtime.forcegchelper"
_RUNTIME = ("runtime.", "runtime/debug.")


def triggers(trace: Trace) -> dict[str, int]:
    """Return the number of GC cycles by cause, most frequent first.

    A cause follows from the stack that began the cycle (``gcStart`` in runtime/mgc.go):
    `_HEAP`, `_TIMER`, "runtime.GC in" and the calling function, or `_UNKNOWN`.
    """
    marking, _ = ranges_of(trace, RangeKind.GC_MARK)
    stacks = Counter(marking.stack[marking.seen].tolist())
    causes: Counter[str] = Counter()
    for stack, count in stacks.items():
        causes[_cause(trace, stack)] += count
    return dict(causes.most_common())


def _cause(trace: Trace, stack: int) -> str:
    names = trace.functions_of(stack)
    if not names:
        return _UNKNOWN
    if _BY_TIMER in names:
        return _TIMER
    if _BY_PROGRAM not in names:
        return _HEAP
    above = names[names.index(_BY_PROGRAM) + 1 :]
    caller = next((name for name in above if not name.startswith(_RUNTIME)), "")
    return f"{_BY_PROGRAM} in {caller}" if caller else _BY_PROGRAM


WORKER = "runtime.gcBgMarkWorker"
_MODES = {f"GC ({mode})": mode for mode in ("dedicated", "fractional", "idle")}


class _WorkerIntervals(Table, frozen=True):
    """Intervals in which mark workers run, sorted by goroutine, then by time.

    `row` is a row of `Trace.intervals`, from `start_ns` to `end_ns`; all int64. The
    runtime labeled the worker at `label_ns` as "dedicated", "fractional" or "idle".
    """

    row: Column
    start_ns: Column
    end_ns: Column
    label_ns: Column
    mode: NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class _Stop:
    """Stop-the-world pauses of one `kind`, such as "GC mark termination".

    `duration` runs from the request to the end, `stopping` until the last P goes idle
    (0 if none was running): quantiles in ns of the pauses wholly in the trace. `count`
    and `total_ns` cover all pauses.
    """

    kind: str
    count: int
    total_ns: int
    duration: Quantiles
    stopping: Quantiles

    @property
    def of_gc(self) -> bool:
        """Whether the GC stopped the world, decided by name as internal/trace does."""
        return "GC" in self.kind


class Cycles(Table, frozen=True):
    """Mark phases of GC cycles, one row each; columns are int64, -1 if unknown.

    `seen` marks those that begin in the trace, `ended` those that end in it.
    `live_start_bytes` and `live_end_bytes` are the live heap at either end,
    `goal_bytes` is the heap goal at the start.
    """

    start_ns: Column
    end_ns: Column
    seen: Mask
    ended: Mask
    live_start_bytes: Column
    live_end_bytes: Column
    goal_bytes: Column

    def to_frame(self) -> pd.DataFrame:
        """Return one row per mark phase, with the fields as columns."""
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(self, name) for name in self.__struct_fields__}
        )


@dataclass(frozen=True, slots=True, eq=False)
class Collections:
    """What the garbage collector did in a trace; times in nanoseconds.

    `started` counts the mark phases that began in the trace. `worker_ns` is mark worker
    time by mode (dedicated, fractional, idle). Mark assists are split into running
    (`assist_cpu_ns`) and blocked or runnable (`assist_wait_ns`); `sweep_ns` is P time.
    `gc_busy_ns` is the P time the program lost: dedicated and fractional workers,
    assists, and GOMAXPROCS Ps in GC pauses; overlaps count once. `allocated_bytes` is
    the sum of all rises of the live heap, None if unknown.
    """

    started: int
    cycles: Cycles
    mark_wall_ns: int
    worker_ns: dict[str, int]
    assists: int
    assist_cpu_ns: int
    assist_wait_ns: int
    sweeps: int
    sweep_ns: int
    stops: tuple[_Stop, ...]
    stw_ns: int
    gc_stw_ns: int
    gc_busy_ns: int
    capacity_ns: int
    allocated_bytes: int | None

    @property
    def gc_fraction(self) -> float | None:
        """Return `gc_busy_ns` ÷ (GOMAXPROCS × wall time); None if either is unknown."""
        return self.gc_busy_ns / self.capacity_ns if self.capacity_ns else None


# They add up over traces.
_COUNTED = tuple(field.name for field in fields(Collections) if field.type == "int")


def collections(trace: Trace) -> Collections:
    """Return what the garbage collector did in a trace."""
    workers = worker_intervals(trace)
    length = workers.end_ns - workers.start_ns
    assists, assist_end = ranges_of(trace, RangeKind.MARK_ASSIST)
    _, row, start, end = rows_within(
        trace, assists.goroutine, assists.start_ns, assist_end
    )
    state = trace.intervals.state[row]
    ran, waited = state == State.RUNNING, state == State.WAITING
    waited |= state == State.RUNNABLE
    sweeps, sweep_end = ranges_of(trace, RangeKind.SWEEP)
    stopping, stop_end = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    stopped = gc_stops(trace)
    # Idle workers take nothing from the program, and an assist is not a worker.
    ours = workers.mode != "idle"
    used = (
        np.concatenate((workers.start_ns[ours], start[ran])),
        np.concatenate((workers.end_ns[ours], end[ran])),
    )
    free_ns = int((used[1] - used[0] - stopped.overlap(*used)).sum())
    cycles = _cycles(trace)
    whole = union(np.array([trace.start_ns]), np.array([trace.end_ns]))
    return Collections(
        started=int(cycles.seen.sum()),
        cycles=cycles,
        mark_wall_ns=int((cycles.end_ns - cycles.start_ns).sum()),
        worker_ns={m: int(length[workers.mode == m].sum()) for m in _MODES.values()},
        assists=len(assists),
        assist_cpu_ns=int((end - start)[ran].sum()),
        assist_wait_ns=int((end - start)[waited].sum()),
        sweeps=len(sweeps),
        sweep_ns=int((sweep_end - sweeps.start_ns).sum()),
        stops=stops(trace),
        stw_ns=int((stop_end - stopping.start_ns).sum()),
        gc_stw_ns=stopped.total_ns,
        gc_busy_ns=free_ns + _capacity(trace, stopped),
        capacity_ns=_capacity(trace, whole),
        allocated_bytes=_grown(trace.heap_live_bytes),
    )


def all_collections(
    parts: Sequence[Collections], traces: Sequence[Trace]
) -> Collections:
    """Return what the garbage collector did in all traces, summed."""
    if len(parts) == 1:
        return parts[0]
    allocated = [part.allocated_bytes for part in parts]
    known = [some for some in allocated if some is not None]
    return Collections(
        cycles=Cycles.concatenate([part.cycles for part in parts]),
        worker_ns={
            mode: sum(part.worker_ns[mode] for part in parts)
            for mode in parts[0].worker_ns
        },
        stops=stops(*traces),
        allocated_bytes=sum(known) if len(known) == len(allocated) else None,
        **{name: sum(getattr(p, name) for p in parts) for name in _COUNTED},
    )


def gc_stops(trace: Trace) -> TimeSet:
    """Return when the world was stopped for the GC."""
    stops, end = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    of_gc = np.array(["GC" in trace.strings[n] for n in stops.name.tolist()], np.bool_)
    return union(stops.start_ns[of_gc], end[of_gc])


def worker_intervals(trace: Trace) -> _WorkerIntervals:
    """Return the intervals in which mark workers ran, and in which mode.

    Sometimes the runtime labels an application goroutine that got the worker's P; those
    are skipped by root function.
    """
    labels, rows = trace.labels, trace.intervals
    texts = [_MODES.get(trace.strings[n], "") for n in labels.label.tolist()]
    mode = np.array(texts, np.str_) if texts else np.zeros(0, "U1")
    names = ("", WORKER)
    worker = np.array([text in names for text in trace.strings], np.bool_)
    some = worker[trace.goroutines.name[labels.goroutine]] & (mode != "")
    goroutine, time = labels.goroutine[some].astype(np.int64), labels.time_ns[some]
    row = row_at(rows.offsets, rows.start_ns, goroutine, time)
    running = (row >= 0) & (rows.state[row] == State.RUNNING)
    row, time, mode = row[running], time[running], mode[some][running]
    # The last label of an interval wins.
    order = np.lexsort((time, row))
    last = np.ones(len(row), np.bool_)
    last[:-1] = row[order][1:] != row[order][:-1]
    order = order[last]
    row, goroutine = row[order], goroutine[running][order]
    end = row_ends(trace, row, goroutine)
    return _WorkerIntervals(row, rows.start_ns[row], end, time[order], mode[order])


def stops(*traces: Trace) -> tuple[_Stop, ...]:
    """Return the STW pauses of all traces by kind, largest total first."""
    parts: dict[str, list[tuple[Column, Column, Column]]] = {}
    for trace in traces:
        for kind, columns in trace.once("stops", _stops_of).items():
            parts.setdefault(kind, []).append(columns)
    kinds = []
    for kind, columns_of in parts.items():
        lengths, lasted, stopped = map(np.concatenate, zip(*columns_of, strict=True))
        kinds.append(
            _Stop(
                kind=kind,
                count=len(lengths),
                total_ns=int(lengths.sum()),
                duration=quantiles(lasted),
                stopping=quantiles(stopped),
            )
        )
    return tuple(sorted(kinds, key=lambda stop: (-stop.total_ns, stop.kind)))


def _stops_of(trace: Trace) -> dict[str, tuple[Column, Column, Column]]:
    """Return pause lengths by kind: all, complete ones, and these ones' `stopping`."""
    rows, end = ranges_of(trace, RangeKind.STOP_THE_WORLD)
    whole = rows.seen & (rows.end_ns >= 0)
    length, stopping = end - rows.start_ns, _stopping(trace, rows.start_ns, end)
    kinds = {}
    for name in distinct(rows.name).tolist():
        some = rows.name == name
        columns = length[some], length[some & whole], stopping[some & whole]
        kinds[trace.strings[name]] = columns
    return kinds


def _stopping(trace: Trace, start_ns: Column, end_ns: Column) -> Column:
    """Return the time from each pause's start until the last P stopped (int64 ns)."""
    rows = trace.processor_intervals
    # A P's first row is its initial status, not a transition.
    transition = np.ones(len(rows), np.bool_)
    transition[rows.offsets[:-1][np.diff(rows.offsets) > 0]] = False
    idle = np.sort(rows.start_ns[transition & (rows.state == ProcessorState.IDLE)])
    place = np.searchsorted(idle, end_ns, "right")
    last = np.append(start_ns.min(initial=0) - 1, idle)[place]
    return np.maximum(last - start_ns, 0)


def _cycles(trace: Trace) -> Cycles:
    marking, end = ranges_of(trace, RangeKind.GC_MARK)
    return Cycles(
        start_ns=marking.start_ns,
        end_ns=end,
        seen=marking.seen,
        ended=marking.end_ns >= 0,
        live_start_bytes=value_at(trace.heap_live_bytes, marking.start_ns),
        live_end_bytes=value_at(trace.heap_live_bytes, end),
        goal_bytes=value_at(trace.heap_goal_bytes, marking.start_ns),
    )


def _capacity(trace: Trace, times: TimeSet) -> int:
    """Return GOMAXPROCS integrated over a set of times, in P-nanoseconds."""
    low, high = trace.start_ns, trace.end_ns
    start, end, value = stretches(trace.gomaxprocs, low_ns=low, high_ns=high)
    return int((times.overlap(start, end) * value).sum())


def _grown(series: Series) -> int | None:
    """Return the sum of all rises of a series; None for fewer than two values."""
    if len(series.value) < 2:
        return None
    return int(np.maximum(np.diff(series.value), 0).sum())
