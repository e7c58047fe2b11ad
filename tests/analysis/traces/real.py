"""Real traces, decoded once: the captures in `tests/data`, and new ones by version."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from pprofdiff.analysis.traces.goroutines import Times, times_in_parts
from pprofdiff.loaders.traces import decode
from tests.traces import make

DATA = Path(__file__).parents[2] / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
CAPTURES = [f"{story}/{side}" for story in STORIES for side in ("base", "new")]
# Situation and Go version; with the captures, every format since 1.22.
MADE = [
    "gc-1.22.12", "stops-1.22.12", "sync-1.23.12", "stops-1.25.14", "http-1.26.8", "procs-1.26.8",
    "files-1.26.8", "generations-1.27.3",
]  # fmt: skip
ALL = [*CAPTURES, *MADE]
# Each program's trace of one side, by turns.
SIDES = CAPTURES[::3]


def path_of(name):
    """Return the file of one of `ALL`; skip the test if it cannot be made here."""
    if "/" in name:
        return DATA / name / "trace.out"
    maker, version = name.rsplit("-", 1)
    return make.trace(maker, version)


@cache
def trace_of(name):
    """Return one of `ALL`, decoded."""
    return decode(path_of(name).read_bytes(), name)


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
