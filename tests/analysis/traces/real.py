"""Real traces, decoded once: the captures in `tests/data`, and new ones by version."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.analysis.traces.goroutines import Times, times_in_parts
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture
from tests.traces import make, upstream

DATA = Path(__file__).parents[2] / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
CAPTURES = [f"{story}/{side}" for story in STORIES for side in ("base", "new")]
# Situation and Go version; with the captures, every format since 1.22.
MADE = [
    "gc-1.22.12", "stops-1.22.12", "sync-1.23.12", "stops-1.25.14", "http-1.26.8", "procs-1.26.8",
    "files-1.26.8", "generations-1.27.3",
]  # fmt: skip
ALL = [*CAPTURES, *MADE]
# Kept: on a busy machine a goroutine may not be in its call yet when the trace begins.
PROFILED = ("profiled-1.21.13", "profiled-1.22.12", "profiled-1.26.8")
# GOROOT's programs, and its traces of old formats.
PROGRAMS = ("stress", "stress-start-stop", "cgo-callback")
OLD = (
    "stress_1_11_good", "http_1_19_good", "stress_start_stop_1_19_good",
    "stress_1_21_good", "fmt_1_21_pprof_good",
)  # fmt: skip
# Each program's trace of one side, by turns.
SIDES = CAPTURES[::3]


def path_of(name):
    """Return a trace's file: a capture's, a maker's, one of GOROOT's programs or data."""
    if "/" in name:
        return DATA / name / "trace.out"
    if name in PROFILED:
        return make.kept(name)
    if name in PROGRAMS:
        return make.goroot_trace(name)
    if name in OLD:
        return upstream.data().parent / "internal/tracev1/testdata" / name
    return make.trace(*name.rsplit("-", 1))


@cache
def trace_of(name):
    """Return the trace in the file of `path_of`, decoded."""
    return decode(path_of(name).read_bytes(), name)


def compared(base, new=None, *how):
    """Return two traces compared, or one with itself; `how` is work, and its time."""
    sides = (("base", base), ("new", base if new is None else new))
    runs = [(name, [Capture(name, "trace", trace)]) for name, trace in sides]
    return compare_traces(*runs, *how)


def story(name, *how):
    """Return the traces of a story compared."""
    return compared(trace_of(f"{name}/base"), trace_of(f"{name}/new"), *how)


def times_of(trace):
    """Return the times of all goroutines, of all parts of a trace."""
    parts = [times for _, times in times_in_parts(trace)]
    columns = {}
    for name in Times.__struct_fields__:
        values = [getattr(part, name) for part in parts]
        named = name in ("reasons", "range_names")
        columns[name] = values[0] if named else np.concatenate(values)
    return Times(**columns)


@cache
def slack_ns(trace):
    """Return by how much Go may move the time of an event.

    Go adds a nanosecond to one of two equal times. A thread has one event a clock unit,
    so as many meet as there are threads. More meet where one thread's clock is behind:
    its events must follow one of another thread, and get that one's time; we count how
    many have one time. Where generations overlap, Go moves all events of the overlap
    behind its end, and one status of each goroutine and processor, which we do not keep.
    """
    ranges, heap = trace.ranges, trace.heap_live_bytes
    columns = (
        trace.intervals.start_ns, trace.processor_intervals.start_ns,
        ranges.start_ns, ranges.end_ns[ranges.end_ns >= 0], heap.time_ns,
        trace.heap_goal_bytes.time_ns, trace.gomaxprocs.time_ns, trace.labels.time_ns,
    )  # fmt: skip
    slack = len(trace.threads)
    slack += int(np.unique(np.concatenate(columns), return_counts=True)[1].max())
    if len(trace.syncs) > 1:
        slack += len(trace.goroutines) + len(trace.processors)
    return slack
