"""Small traces, made by hypothesis, and what happens in them nanosecond by nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import (
    CPUSamples,
    Goroutines,
    Intervals,
    Labels,
    Logs,
    ProcessorIntervals,
    ProcessorState,
    RangeKind,
    Ranges,
    Regions,
    Series,
    Stacks,
    State,
    Sync,
    Tasks,
    Trace,
)
from tests.examples import examples

# How long it takes to make an example says what else the machine does.
SOME = settings(
    derandomize=True,
    max_examples=examples(50),
    suppress_health_check=[HealthCheck.too_slow],
)

START, END = 1_000, 1_048
PROCESSORS = 3
STRINGS = (
    "", "main.work", "runtime.gcBgMarkWorker", "GC (dedicated)", "GC (fractional)",
    "GC (idle)", "GC mark termination", "start trace",
)  # fmt: skip
WORKERS, LABELS, STOPS = 2, (3, 4, 5), (6, 7)
REASONS = ("", "sync", "network", "preempted", "runtime.Gosched")
S, P = State, ProcessorState
_NEXT = {
    S.RUNNABLE: [S.RUNNING],
    S.RUNNING: [S.RUNNABLE, S.WAITING, S.SYSCALL, S.GONE],
    S.WAITING: [S.RUNNABLE],
    S.SYSCALL: [S.RUNNING, S.SYSCALL_BLOCKED],
    S.SYSCALL_BLOCKED: [S.RUNNABLE],
}
_times = st.lists(st.integers(START, END - 1), max_size=12, unique=True).map(sorted)


@st.composite
def _goroutine(draw):
    """Return (whether its creation is seen, rows of (start, state, reason, processor))."""
    times = draw(_times) or [START]
    born = draw(st.booleans())
    if born:
        state = draw(st.sampled_from([S.RUNNABLE, S.WAITING]))
    else:
        state = draw(st.sampled_from(sorted(_NEXT)))
        times[0] = START
    rows = []
    for time in times:
        reason = draw(st.integers(0, len(REASONS) - 1))
        rows.append((time, state, reason, draw(st.integers(0, PROCESSORS - 1))))
        if state == S.GONE:
            break
        state = draw(st.sampled_from(_NEXT[state]))
    return born, rows


@st.composite
def _spans(draw, open_too):
    """Return (start, end) of spans that do not meet; the last may have no end."""
    times = draw(_times)
    found = list(zip(times[::2], times[1::2], strict=False))
    if open_too and len(times) % 2:
        found.append((times[-1], -1))
    return found


@st.composite
def traces(draw):
    """Return a trace from START to END of some goroutines and `PROCESSORS` Ps."""
    goroutines = draw(st.lists(_goroutine(), min_size=1, max_size=4))
    processors = []
    for _ in range(PROCESSORS):
        times = [START, *draw(_times)]
        states = draw(st.lists(st.sampled_from(list(P)), min_size=13, max_size=13))
        rows = [(t, states[i]) for i, t in enumerate(dict.fromkeys(times))]
        processors.append(rows)
    ranges = [
        (RangeKind.GC_MARK, 0, -1, -1, *s) for s in draw(_spans(open_too=True))
    ] + [
        (RangeKind.STOP_THE_WORLD, draw(st.sampled_from(STOPS)), 0, -1, *s)
        for s in draw(_spans(open_too=True))
    ]
    for g in range(len(goroutines)):
        ranges += [
            (RangeKind.MARK_ASSIST, 0, g, -1, *s) for s in draw(_spans(open_too=True))
        ]
    for p in range(PROCESSORS):
        ranges += [(RangeKind.SWEEP, 0, -1, p, *s) for s in draw(_spans(open_too=True))]
    names = [draw(st.integers(0, WORKERS)) for _ in goroutines]
    labels = []
    for g, (_, rows) in enumerate(goroutines):
        for i, row in enumerate(rows):
            ends = rows[i + 1][0] if i + 1 < len(rows) else END
            if row[1] == S.RUNNING and ends > row[0] + 1 and draw(st.booleans()):
                time = draw(st.integers(row[0], ends - 1))
                labels.append((time, g, draw(st.sampled_from(LABELS))))
    changes = sorted(
        draw(
            st.dictionaries(
                st.integers(START, END - 1), st.integers(1, 4), min_size=1, max_size=3
            )
        ).items()
    )
    return _trace(goroutines, processors, (names, ranges, labels), changes)


def _trace(goroutines, processors, marks, changes):
    names, ranges, labels = marks
    rows = [row for _, held in goroutines for row in held]
    counts = [len(held) for _, held in goroutines]
    size, none = len(goroutines), np.zeros(len(rows), np.int32)
    of_ps = [row for held in processors for row in held]
    columns = list(zip(*ranges, strict=True)) or [()] * 6
    n = len(ranges)
    return empty(
        goroutines=Goroutines(
            np.arange(1, size + 1), np.array(names, np.int32),
            np.array([born for born, _ in goroutines], np.bool_),
            np.array([held[0][0] for _, held in goroutines], np.int64),
            np.zeros(size, np.int64), np.full(size, -1, np.int32), np.zeros(size, np.int32),
        ),
        intervals=Intervals(
            offsets_of(np.array(counts)), np.array([r[0] for r in rows], np.int64),
            np.array([r[1] for r in rows], np.uint8),
            np.array([r[2] for r in rows], np.uint16), none,
            np.array([r[3] for r in rows], np.int16), none, none - 1,
        ),
        processors=np.arange(PROCESSORS),
        processor_intervals=ProcessorIntervals(
            offsets_of(np.array([len(held) for held in processors])),
            np.array([r[0] for r in of_ps], np.int64),
            np.array([r[1] for r in of_ps], np.uint8),
            np.zeros(len(of_ps), np.int32), np.zeros(len(of_ps), np.bool_),
        ),
        ranges=Ranges(
            np.array(columns[0], np.uint8), np.array(columns[1], np.int32),
            np.array(columns[2], np.int32), np.array(columns[2], np.int32),
            np.array(columns[3], np.int32), np.array(columns[4], np.int64),
            np.array(columns[5], np.int64), np.ones(n, np.bool_), np.zeros(n, np.int32),
            np.full(n, -1), np.full(n, -1),
        ),
        labels=Labels(
            np.array([r[0] for r in labels], np.int64),
            np.array([r[1] for r in labels], np.int32),
            np.array([r[2] for r in labels], np.int32),
        ),
        gomaxprocs=Series(*(np.array(c, np.int64) for c in zip(*changes, strict=True))),
    )  # fmt: skip


def empty(**more):
    """Return a trace in which nothing happens, but for what is given."""
    i, n, b = np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    u, o = np.zeros(0, np.uint8), np.zeros(1, np.int64)
    held = {
        "version": 26, "start_ns": START, "end_ns": END, "events": 0, "experimental": 0,
        "syncs": (Sync(1, START),), "missing": None, "strings": STRINGS,
        "reasons": REASONS, "stacks": Stacks(np.zeros(2, np.int64), i, i, i, n),
        "goroutines": Goroutines(n, i, b, n, n, i, i), "processors": n, "threads": n,
        "intervals": Intervals(o, n, u, u.astype(np.uint16), i, i.astype(np.int16), i, i),
        "processor_intervals": ProcessorIntervals(o, n, u, i, b),
        "ranges": Ranges(u, i, i, i, i, n, n, b, i, n, n),
        "heap_live_bytes": Series(n, n), "heap_goal_bytes": Series(n, n),
        "gomaxprocs": Series(n, n), "tasks": Tasks(n, n, i, i, i, n, n, i),
        "regions": Regions(i, n, i, i, n, n, i), "logs": Logs(n, i, n, i, i, i),
        "labels": Labels(n, i, i), "samples": CPUSamples(n, i, i, i, i),
    }  # fmt: skip
    return Trace(**(held | more))


def rows_of(trace, g):
    """Return goroutine g's rows as (start, end, state, row)."""
    held = trace.intervals
    found = []
    for row in range(*held.offsets[g : g + 2].tolist()):
        last = row + 1 == held.offsets[g + 1]
        end = trace.end_ns if last else int(held.start_ns[row + 1])
        found.append((int(held.start_ns[row]), end, State(held.state[row]), row))
    return found


def processor_states(trace, p):
    """Return processor p's state in each nanosecond of the trace."""
    held = trace.processor_intervals
    states = {}
    for row in range(*held.offsets[p : p + 2].tolist()):
        last = row + 1 == held.offsets[p + 1]
        end = trace.end_ns if last else int(held.start_ns[row + 1])
        for time in range(int(held.start_ns[row]), end):
            states[time] = ProcessorState(held.state[row])
    return states


def limit_at(trace, time):
    """Return GOMAXPROCS at a time; before the first event, that event's value."""
    held = trace.gomaxprocs
    got = [v for t, v in zip(held.time_ns, held.value, strict=True) if t <= time]
    return int(got[-1] if got else held.value[0])


def within(trace, kind):
    """Return the nanoseconds in ranges of a kind, as a list of (range, time)."""
    held = trace.ranges
    return [
        (i, time)
        for i in range(len(held))
        if held.kind[i] == kind
        for time in range(
            int(held.start_ns[i]),
            int(held.end_ns[i]) if held.end_ns[i] >= 0 else trace.end_ns,
        )
    ]
