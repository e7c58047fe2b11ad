"""`decode` against Go's own reader: every row of what ``go tool trace`` prints."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from pprofdiff.model.csr import offsets_of, row_of_item
from pprofdiff.model.traces.trace import State
from tests.examples import daily
from tests.traces import make, oracle

from . import parsed
from .ours import Plain

pytestmark = pytest.mark.go

CAPTURES = sorted((Path(__file__).parents[2] / "data").glob("*/*/trace.out"))
MAKERS = (
    "generations", "tasks", "samples", "procs", "files", "http", "coroutines", "alloc",
    "flight",
)  # fmt: skip
MADE = [(maker, go) for maker, go in make.pairs() if maker in MAKERS and go >= "1.22"]
FEW = (
    ("generations", "1.26.8"), ("tasks", "1.22.12"), ("samples", "1.26.8"),
    ("procs", "1.22.12"), ("http", "1.26.8"),
)  # fmt: skip
# Called from C, goroutines end and begin again.
SOURCES = [*CAPTURES, *MADE, "cgo-callback"]
SOME = daily(SOURCES, [*FEW, "cgo-callback"], rows=False)
# What the file is made of, next to events of a time.
STRUCTURAL = {
    "EventBatch", "ExperimentalBatch", "Strings", "String", "Stacks", "Stack",
    "CPUSamples", "CPUSample", "Frequency", "Sync", "ClockSnapshot", "EndOfGeneration",
}  # fmt: skip


def name_of(source):
    """Return what a test of a source is called."""
    if isinstance(source, str):
        return source
    if isinstance(source, Path):
        return "-".join(source.parts[-3:-1])
    return "-".join(source)


@pytest.fixture(scope="module", params=SOME, ids=name_of)
def path(request):
    """Return the path of a trace."""
    source = request.param
    if isinstance(source, str):
        return make.goroot_trace(source)
    return source if isinstance(source, Path) else make.trace(*source)


@lru_cache(1)
def reference(path):
    """Return Go's events of a file; None where Go itself finds it broken.

    All tests of a file follow each other, and events of one take 100 MB.
    """
    events, fault = parsed.events_of(path)
    return None if fault else events


@lru_cache(1)
def read(path):
    """Return a decoded trace."""
    return Plain(decode(path.read_bytes(), path.name))


@pytest.fixture(name="both")
def _both(path):
    """Return (ours, Go's events) of a trace that Go can read."""
    events = reference(path)
    if events is None:
        # Go 1.25's flight recorder writes such at times: its first status is missing.
        with pytest.raises(FormatError):
            read(path)
        pytest.skip("Go's reader refuses this trace, and so do we")
    return read(path), events


@pytest.mark.matrix
def test_goroutines(both):
    ours, events = both
    parsed.assert_same(ours.goroutines(), parsed.goroutines(events))


def test_names_of_goroutines(both):
    ours, events = both
    assert ours.names() == parsed.names(events)


def test_processors(both):
    ours, events = both
    parsed.assert_processors(ours.processors(), parsed.processors(events))


def test_ranges(both):
    ours, events = both
    parsed.assert_same(ours.ranges(), parsed.ranges(events))


@pytest.mark.parametrize("read", parsed.MARKS)
def test_tasks_regions_logs_labels_and_samples(both, read):
    parsed.assert_same_marks(*both, read)


def test_metrics(both):
    ours, events = both
    parsed.assert_same_metrics(ours.metrics(), events)


def test_events_are_as_many_as_go_counts(both, path):
    ours, _ = both
    if ours.trace.experimental:
        pytest.skip("Go's footprint knows no experimental events")
    counts = {name: row.count for name, row in oracle.footprint(path).items()}
    assert len(ours.trace.samples) == counts.get("CPUSample", 0)
    timed = sum(n for name, n in counts.items() if name not in STRUCTURAL)
    assert ours.trace.events == timed


def test_begin_and_end(both):
    ours, events = both
    syncs = [event.time for event in events if event.kind == "Sync"]
    held = ours.trace
    assert parsed.same([*(s.time_ns for s in held.syncs), held.end_ns], syncs)
    assert held.start_ns == held.syncs[0].time_ns
    assert held.missing is None


def rows_by_thread(trace):
    """Return what threads do: offsets (threads + 1), and rows of intervals in order.

    A thread has a goroutine in rows of the states RUNNING, SYSCALL and SYSCALL_BLOCKED,
    none between them.
    """
    intervals = trace.intervals
    blocked = intervals.state == State.SYSCALL_BLOCKED
    rows = np.flatnonzero(
        np.isin(intervals.state, (State.RUNNING, State.SYSCALL)) | blocked
    )
    # The event that took the processor may be another thread's.
    first = np.zeros(len(intervals), np.bool_)
    first[intervals.offsets[:-1][np.diff(intervals.offsets) > 0]] = True
    thread = intervals.thread[np.where(blocked & ~first, -1, 0)[rows] + rows]
    rows, thread = rows[thread >= 0], thread[thread >= 0]
    # One that was let go of at once comes before what began at the same time.
    ends = trace.ends_ns(intervals)[rows]
    order = np.lexsort((ends, intervals.start_ns[rows], thread))
    counts = np.bincount(thread, minlength=len(trace.threads))
    return offsets_of(counts), rows[order]


def test_every_thread_does_one_thing_at_a_time(both):
    ours, _ = both
    trace = ours.trace
    offsets, rows = rows_by_thread(trace)
    ends = trace.ends_ns(trace.intervals)
    starts = trace.intervals.start_ns[rows]
    thread = row_of_item(offsets)
    same = thread[1:] == thread[:-1]
    assert (ends[rows][:-1][same] <= starts[1:][same]).all()
