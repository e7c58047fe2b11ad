"""What goroutines do within user tasks or regions, by their name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.interval_rows import row_at, rows_within
from pprofdiff.analysis.traces.movers import StackFrames
from pprofdiff.analysis.traces.profiles import frames_of, profile_of
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.waited import SYSTEM_CALL, Naming, Wait
from pprofdiff.model.arrays import Column, Index, Integers, Mask, Table
from pprofdiff.model.csr import distinct, offsets_of, slices, sums
from pprofdiff.model.traces.trace import State, Trace

UnitKind = Literal["task", "region"]
T = TypeVar("T")
K = TypeVar("K", bound=tuple[object, ...])
S = State


def unit_kind(diff: TraceDiff) -> UnitKind | None:
    """Return which of tasks or regions have several names, None if neither."""
    return _kind(diff.sides)


def _kind(sides: Sequence[TraceSide]) -> UnitKind | None:
    for kind in ("task", "region"):
        parts = (side.tasks if kind == "task" else side.regions for side in sides)
        if len({name for part in parts for name in part.counts if name}) > 1:
            return kind
    return None


def running_if_named(side: TraceSide) -> None:
    """Compute `running_ns` of a trace whose tasks or regions have several names."""
    kind = _kind([side])
    if kind is not None:
        running_ns(side, kind)


class Spans(Table, frozen=True):
    """When a goroutine is within a task or region, sorted by goroutine, then by start.

    `name` (int32) is a string of the trace. `whole` (bool) is False if the trace begins
    or ends within the span. On one goroutine, spans of different names may overlap,
    spans of one name do not.
    """

    goroutine: Index
    name: Index
    start_ns: Column
    end_ns: Column
    whole: Mask


def spans(trace: Trace, kind: UnitKind) -> Spans:
    """Return the spans of a trace's tasks, or of its regions.

    A task's span is on the goroutine that began it. If tasks of a name end on other
    goroutines, only the regions that name the task count.
    """
    regions = _of_regions(trace)
    if kind == "region":
        return _sorted(regions)
    tasks = trace.tasks
    started = (tasks.start_ns >= 0) & (tasks.goroutine >= 0)
    ended = (tasks.end_ns >= 0) & (tasks.last_goroutine >= 0)
    away = started & ended & (tasks.goroutine != tasks.last_goroutine)
    own = (
        started & (ended | (tasks.end_ns < 0)) & ~np.isin(tasks.name, tasks.name[away])
    )
    rows = tasks.take(np.flatnonzero(own))
    end = np.where(rows.end_ns < 0, trace.end_ns, rows.end_ns)
    whole = rows.end_ns >= 0
    some = Spans(rows.goroutine, rows.name, rows.start_ns, end, whole)
    # Tasks are sorted by id.
    task = trace.regions.task
    at = np.minimum(np.searchsorted(tasks.id, task), max(len(tasks) - 1, 0))
    known = np.flatnonzero((task > 0) & (np.append(tasks.id, -1)[at] == task))
    name = np.append(tasks.name, 0)[at].astype(np.int32)
    of_tasks = Spans(
        regions.goroutine, name, regions.start_ns, regions.end_ns, regions.whole
    ).take(known)
    return _sorted(Spans.concatenate([some, of_tasks]))


def _of_regions(trace: Trace) -> Spans:
    rows = trace.regions
    start = np.where(rows.start_ns < 0, trace.start_ns, rows.start_ns)
    end = np.where(rows.end_ns < 0, trace.end_ns, rows.end_ns)
    whole = (rows.start_ns >= 0) & (rows.end_ns >= 0)
    return Spans(rows.goroutine, rows.name, start, end, whole)


def _sorted(rows: Spans) -> Spans:
    """Return spans in order, without those inside another of the same name."""
    named = rows.take(np.flatnonzero((rows.name > 0) & (rows.goroutine >= 0)))
    order = np.lexsort((-named.end_ns, named.start_ns, named.name, named.goroutine))
    rows = named.take(order)
    if not len(rows):
        return rows
    first = np.ones(len(rows), np.bool_)
    first[1:] = rows.goroutine[1:] != rows.goroutine[:-1]
    first[1:] |= rows.name[1:] != rows.name[:-1]
    # Groups one after the other, so that one running maximum serves each.
    low = int(rows.start_ns.min())
    shift = (np.cumsum(first) - 1) * (int(rows.end_ns.max()) - low + 1) - low
    reached = np.maximum.accumulate(rows.end_ns + shift)
    inside = np.zeros(len(rows), np.bool_)
    inside[1:] = ~first[1:] & (rows.end_ns[1:] + shift[1:] <= reached[:-1])
    rows = rows.take(np.flatnonzero(~inside))
    return rows.take(np.lexsort((rows.start_ns, rows.goroutine)))


def _kept(
    side: TraceSide, kind: UnitKind, of: str, work: Callable[[Trace, Spans], T]
) -> T:
    return side.trace.once(
        f"{of} by {kind}", lambda trace: work(trace, spans(trace, kind))
    )


def running_ns(side: TraceSide, kind: UnitKind) -> dict[str, Column]:
    """Return how long goroutines run within each whole span (int64 ns), by name."""
    total: dict[str, Column] = {}
    for part in side.parts:
        for name, ns in _kept(part, kind, "running", _running).items():
            total[name] = np.append(total[name], ns) if name in total else ns
    return total


def _running(trace: Trace, rows: Spans) -> dict[str, Column]:
    rows = rows.take(np.flatnonzero(rows.whole))
    ran = np.zeros(len(rows), np.int64)
    for first, period, row, lasts in _rows(trace, rows):
        at = np.flatnonzero(trace.intervals.state[row] == S.RUNNING)
        np.add.at(ran, first + period[at], lasts[at])
    names = distinct(rows.name).tolist()
    return {trace.strings[name]: ran[rows.name == name] for name in names}


class Within(NamedTuple):
    """Where goroutines wait within tasks or regions of a name.

    `whole` is False for spans that the trace cuts off. System calls have the reason
    `SYSTEM_CALL`; other places have no call.
    """

    name: str
    whole: bool
    wait: Wait


def waiting_ns(side: TraceSide, kind: UnitKind) -> Counter[Within]:
    """Return the time (ns) that goroutines wait, or are in calls, over all traces."""
    return _counted(side, kind, "waiting", _waiting)


def _waiting(trace: Trace, rows: Spans) -> Counter[Within]:
    total, naming = Counter[Within](), Naming(trace)
    for first, period, row, lasts in _rows(trace, rows):
        some = rows.take(first + period)
        state = trace.intervals.state[row]
        owner = some.goroutine.astype(np.int64)
        at = np.flatnonzero(state == S.WAITING)
        named, code = naming.waits(row[at], owner[at])
        places = [wait._replace(call="") for wait, _ in named]
        _add(total, trace, some.take(at), places, code, lasts[at])
        at = np.flatnonzero((state == S.SYSCALL) | (state == S.SYSCALL_BLOCKED))
        ends, code = naming.others(row[at], owner[at])
        places = [Wait(SYSTEM_CALL, end.function, end.call) for end in ends]
        _add(total, trace, some.take(at), places, code, lasts[at])
    return total


def _add(
    total: Counter[Within],
    trace: Trace,
    some: Spans,
    places: list[Wait],
    code: Column,
    lasts: Column,
) -> None:
    """Add the times of rows, each with its span and a code among `places`."""
    key = (some.name.astype(np.int64) * 2 + some.whole) * len(places) + code
    used, of = np.unique(key, return_inverse=True)
    for one, ns in zip(used.tolist(), sums(of, lasts, len(used)).tolist(), strict=True):
        span, place = divmod(one, len(places))
        total[Within(trace.strings[span // 2], span % 2 > 0, places[place])] += ns


def _rows(trace: Trace, rows: Spans) -> Iterator[tuple[int, Column, Column, Column]]:
    """Yield the overlaps of spans and rows of `Trace.intervals`, some spans at a time.

    Yields the first of these spans, then by overlap: the span, counted from the first,
    the row, and the overlap in ns.
    """
    for here in slices(len(rows)):
        period, row, start, end = rows_within(
            trace, rows.goroutine[here], rows.start_ns[here], rows.end_ns[here]
        )
        yield here.start, period, row, end - start


def _counted(
    side: TraceSide,
    kind: UnitKind,
    name: str,
    count: Callable[[Trace, Spans], Counter[K]],
) -> Counter[K]:
    return sum((_kept(part, kind, name, count) for part in side.parts), Counter[K]())


def sampled(side: TraceSide, kind: UnitKind) -> Counter[tuple[str, str]]:
    """Return how many CPU samples of the traces are in each span and function.

    The function is the program's innermost, "" if a stack has none.
    """
    return _counted(side, kind, "sampled", _sampled)


def _sampled(trace: Trace, rows: Spans) -> Counter[tuple[str, str]]:
    held = trace.samples
    some = held.take(np.flatnonzero(held.goroutine >= 0))
    name = _name_at(trace, rows, some.goroutine, some.time_ns)
    at = np.flatnonzero(name > 0)
    if not len(at):
        return Counter()
    stack, name = some.stack[at].astype(np.int64), name[at]
    none = np.zeros((len(at), 1), np.int64)
    profile = profile_of(trace, frames_of(trace, stack), none)
    frames = StackFrames.of(profile)
    function = frames.function_at(frames.owner, 0).tolist()
    return Counter(
        (trace.strings[i], profile.strings[j])
        for i, j in zip(name.tolist(), function, strict=True)
    )


def _name_at(
    trace: Trace, rows: Spans, goroutine: Integers, time_ns: Column
) -> Integers:
    """Return the name of the span that goroutines are in at some times, 0 for none.

    A span that began later and has ended hides one that goes on: rather no name.
    """
    counts = np.bincount(rows.goroutine, minlength=len(trace.goroutines))
    at = row_at(offsets_of(counts), rows.start_ns, goroutine, time_ns)
    within = (at >= 0) & (np.append(rows.end_ns, 0)[at] > time_ns)
    return np.where(within, np.append(rows.name, 0)[at], 0)


def starts(side: TraceSide, kind: UnitKind) -> Counter[tuple[str, str]]:
    """Return how many goroutines start, by span ("" outside) and root function."""
    return _counted(side, kind, "starts", _starts)


def _starts(trace: Trace, rows: Spans) -> Counter[tuple[str, str]]:
    table = trace.goroutines
    born = np.flatnonzero(table.born & (table.creator >= 0))
    creator, time = table.creator[born], table.created_ns[born]
    name = _name_at(trace, rows, creator, time)
    pairs = Counter(zip(name.tolist(), table.name[born].tolist(), strict=True))
    text = trace.strings
    return Counter({(text[n], root_name(text[r])): k for (n, r), k in pairs.items()})
