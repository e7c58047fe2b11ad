"""Two execution traces as Trace Event JSON, for ui.perfetto.dev.

Base and new are one process each, both from time 0. Their threads are the GC,
stop-the-world pauses, Ps with what runs on them, and the goroutines that waited longest
for a P. A flow event leads from what ends a wait to the goroutine that it wakes. Times
are microseconds with three decimals, exact to the nanosecond.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.goroutines import (
    GoroutineChunk,
    goroutine_chunks,
    root_name,
)
from pprofdiff.analysis.traces.interval_rows import owners_of, ranges_of, row_at
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.wait_chains import wakers
from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct, slices
from pprofdiff.model.traces.trace import RangeKind, State, Trace
from pprofdiff.report.model import ReportModel
from pprofdiff.units import printable, scaled

MOST = 1_000_000
"""Maximum slices per side, about 100 MB of text; later ones are left out."""

GOROUTINES = 10
"""Goroutines per side that get a thread: those with the longest single waits."""

# Threads of a process, in page order: these, then Ps, then goroutines.
_GC, _STOPS, _FIRST_PROCESSOR = 1, 2, 10
_SLICE = (
    ',\n{"ph":"X","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,"cat":"%s","name":%s,'
    '"args":{"goroutine":%d}}'
)
_ARROW = (
    ',\n{"ph":"s","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"cat":"wait","name":"wakes"}'
    ',\n{"ph":"f","id":%d,"pid":%d,"tid":%d,"ts":%d.%03d,"cat":"wait","name":"wakes",'
    '"bp":"e"}'
)
_BINS = 4096
_STATES = {
    State.RUNNABLE: "waiting for a processor",
    State.RUNNING: "running",
    State.SYSCALL: "system call",
    State.SYSCALL_BLOCKED: "system call, no processor",
    State.WAITING: "blocked",
}


def render(report: ReportModel) -> Iterator[bytes]:
    """Yield the file in parts; of several traces of a side, the longest.

    Raises UsageError if no traces are compared.
    """
    diff: TraceDiff | None = report.comparison.results.get("trace")
    if diff is None:
        raise UsageError("a .perfetto.json needs execution traces on both sides")
    return _document(diff)


def _document(diff: TraceDiff) -> Iterator[bytes]:
    sides = enumerate(diff.sides, 1)
    events = (part for pid, side in sides for part in _side(pid, side.longest))
    yield b'{"displayTimeUnit":"ns","traceEvents":[\n'
    # Each event but the first starts with a comma.
    yield next(events).removeprefix(b",\n")
    yield from events
    yield b"\n]}\n"


def _side(pid: int, side: TraceSide) -> Iterator[bytes]:
    trace = side.trace
    role = ("base", "new")[pid - 1]
    label = printable(side.label)
    name = role if label == role else f"{role}: {label}"
    until, kept, left = _cut(trace)
    yield _metadata(pid, 0, "process_name", name=name)
    yield _metadata(pid, 0, "process_sort_index", sort_index=pid)
    if left:
        at = scaled(until - trace.start_ns, "ns")
        words = (
            f"cut here: {left:,} more slices begin after {at} of "
            f"{scaled(side.wall_ns, 'ns')}; processors have their first {kept:,}"
        )
        yield _metadata(pid, 0, "process_labels", labels=words)
        mark = {"ph": "i", "s": "p", "pid": pid, "tid": _GC, "name": words}
        yield b",\n" + _text({**mark, "ts": (until - trace.start_ns) / 1000})
    yield from _collector(pid, trace)
    for p, number in enumerate(trace.processors.tolist()):
        yield _thread(pid, _FIRST_PROCESSOR + p, f"P{number}")
    for chunk in goroutine_chunks(trace):
        yield from _on_processors(pid, chunk, until)
    yield from _goroutines(pid, side, until)


def _cut(trace: Trace) -> tuple[int, int, int]:
    """Return when slices on Ps are cut off, and how many begin before and after that.

    The time is after the end of the trace if there are at most `MOST` slices.
    """
    edges = np.linspace(trace.start_ns, trace.end_ns + 1, _BINS + 1).astype(np.int64)
    counts = np.zeros(_BINS, np.int64)
    for chunk in goroutine_chunks(trace):
        rows = np.flatnonzero(_busy(chunk.state))
        place = np.searchsorted(edges, chunk.start_ns[rows], "right") - 1
        counts += np.bincount(np.clip(place, 0, _BINS - 1), minlength=_BINS)
    total = np.cumsum(counts)
    if total[-1] <= MOST:
        return trace.end_ns + 1, int(total[-1]), 0
    kept = int(np.searchsorted(total, MOST, "right"))
    before = int(total[kept - 1]) if kept else 0
    return int(edges[kept]), before, int(total[-1]) - before


def _busy(state: NDArray[np.uint8]) -> NDArray[np.bool_]:
    busy: NDArray[np.bool_] = (state == State.RUNNING) | (state == State.SYSCALL)
    return busy


def _collector(pid: int, trace: Trace) -> Iterator[bytes]:
    for tid, kind, thread in (
        (_GC, RangeKind.GC_MARK, "GC"),
        (_STOPS, RangeKind.STOP_THE_WORLD, "stop the world"),
    ):
        ranges, end = ranges_of(trace, kind)
        names = [trace.strings[i] or "GC marking" for i in ranges.name.tolist()]
        ids = np.append(trace.goroutines.id, -1)[ranges.goroutine]
        order = np.argsort(ranges.start_ns, kind="stable")
        yield _thread(pid, tid, thread)
        yield _slices(
            (pid, np.full(len(order), tid)),
            (ranges.start_ns[order] - trace.start_ns, (end - ranges.start_ns)[order]),
            ["gc"] * len(order),
            [_quoted(names[i]) for i in order.tolist()],
            ids[order],
        )


def _on_processors(pid: int, chunk: GoroutineChunk, until: int) -> Iterator[bytes]:
    """Yield what the goroutines of a chunk do on Ps before a time."""
    trace = chunk.trace
    names = _roots(trace)
    processor = trace.intervals.processor[chunk.rows]
    rows = np.flatnonzero(_busy(chunk.state) & (processor >= 0))
    start = chunk.start_ns[rows]
    rows = rows[start < until]
    for here in slices(len(rows)):
        some = rows[here]
        goroutine = chunk.goroutines[chunk.owner_of(some)]
        ran = chunk.state[some] == State.RUNNING
        text = names[trace.goroutines.name[goroutine]]
        yield _slices(
            (pid, processor[some].astype(np.int64) + _FIRST_PROCESSOR),
            (chunk.start_ns[some] - trace.start_ns, chunk.durations_of(some)),
            np.where(ran, "running", "syscall").tolist(),
            np.where(ran, text, _quoted("system call")).tolist(),
            trace.goroutines.id[goroutine],
        )


def _goroutines(pid: int, side: TraceSide, until: int) -> Iterator[bytes]:
    """Yield all states of the goroutines with the longest waits, before a time."""
    trace, rows = side.trace, side.trace.intervals
    chosen = _longest_waits(side)
    reasons = np.array([_quoted(f"blocked: {t}") for t in trace.reasons], object)
    threads = np.full(len(trace.goroutines), -1, np.int64)
    first = _FIRST_PROCESSOR + len(trace.processors)
    threads[chosen] = first + np.arange(len(chosen))
    yield from _arrows(pid, trace, threads, until)
    for g in chosen:
        tid = int(threads[g])
        name = root_name(trace.strings[int(trace.goroutines.name[g])])
        number = int(trace.goroutines.id[g])
        yield _thread(pid, tid, f"G{number} {printable(name)}")
        whole = slice(*rows.offsets[g : g + 2].tolist())
        start, state = rows.start_ns[whole], rows.state[whole]
        end = np.append(start[1:], trace.end_ns)
        some = np.flatnonzero((state != State.GONE) & (start < until))
        for here in slices(len(some)):
            at = some[here]
            words = np.empty(len(at), object)
            for one, text in _STATES.items():
                words[state[at] == one] = _quoted(text)
            why = rows.reason[whole][at]
            known = (state[at] == State.WAITING) & (why > 0)
            words[known] = reasons[why[known]]
            yield _slices(
                (pid, np.full(len(at), tid)),
                (start[at] - trace.start_ns, (end - start)[at]),
                ["goroutine"] * len(at),
                words.tolist(),
                np.full(len(at), number),
            )


def _arrows(pid: int, trace: Trace, threads: Column, until: int) -> Iterator[bytes]:
    """Yield arrows before a time to goroutines that have a thread, from their wakers.

    `threads` has the thread of each goroutine, -1 for none: its arrow begins at its P.
    """
    rows = trace.intervals
    waits, waker = wakers(trace)
    woken = owners_of(rows.offsets, waits)
    drawn = (threads[woken] >= 0) & (rows.start_ns[waits + 1] < until)
    waits, waker, woken = waits[drawn].astype(np.int64), waker[drawn], woken[drawn]
    at = rows.start_ns[waits + 1]
    does = row_at(rows.offsets, rows.start_ns, waker, at)
    # What it does next may begin at the same time.
    passed = (does > rows.offsets[:-1][waker]) & (rows.start_ns[does] == at)
    does = np.where(passed & (rows.state[does] != State.RUNNING), does - 1, does)
    thread = threads[waker]
    on = _busy(rows.state[does]) & (rows.processor[does] >= 0) & (does >= 0)
    thread = np.where(
        (thread < 0) & on, _FIRST_PROCESSOR + rows.processor[does], thread
    )
    shown = np.flatnonzero(thread >= 0)
    for here in slices(len(shown)):
        some = shown[here]
        # Rows are unique in a side: so are ids in the file.
        ids = 2 * waits[some] + pid - 1
        time = divmod(at[some] - trace.start_ns, 1000)
        begin = ids, pid, thread[some], *time
        yield _written(_ARROW, len(some), *begin, ids, pid, threads[woken[some]], *time)


def _longest_waits(side: TraceSide) -> list[int]:
    waits = side.waits
    longest = np.zeros(len(side.trace.goroutines), np.int64)
    whole = ~waits.cut
    np.maximum.at(longest, waits.goroutine[whole], waits.duration_ns[whole])
    order = np.argsort(-longest, kind="stable")[:GOROUTINES]
    return [g for g in order.tolist() if longest[g]]


def _roots(trace: Trace) -> NDArray[np.object_]:
    """Return quoted root function names, indexed by string; "" for other strings."""
    roots = distinct(trace.goroutines.name)
    names = np.full(len(trace.strings), "", object)
    for i in roots.tolist():
        names[i] = _quoted(root_name(trace.strings[i]))
    return names


def _slices(
    place: tuple[int, Column],
    times_ns: tuple[Column, Column],
    categories: Sequence[str],
    names: Sequence[str],
    goroutines: Column,
) -> bytes:
    """Return slices as text; a name is a JSON string."""
    start, duration = (divmod(times, 1000) for times in times_ns)
    columns = *place, *start, *duration, categories, names, goroutines
    return _written(_SLICE, len(names), *columns)


def _written(
    form: str, size: int, *columns: NDArray[Any] | Sequence[str] | int
) -> bytes:
    """Return rows as text, all formatted at once; a number is the same in all."""
    rows = np.empty((size, len(columns)), object)
    for i, values in enumerate(columns):
        rows[:, i] = values.tolist() if isinstance(values, np.ndarray) else values
    return (form * size % tuple(rows.ravel().tolist())).encode()


def _quoted(text: str) -> str:
    return json.dumps(printable(text))


def _thread(pid: int, tid: int, name: str) -> bytes:
    named = _metadata(pid, tid, "thread_name", name=name)
    return named + _metadata(pid, tid, "thread_sort_index", sort_index=tid)


def _metadata(pid: int, tid: int, what: str, **args: str | int) -> bytes:
    event = {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}
    return b",\n" + _text(event)


def _text(event: dict[str, object]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode()
