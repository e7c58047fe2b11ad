"""The pause in which a trace starts, which is the tracer's time and no goroutine's."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.traces.timeline import RangeKind
from pprofdiff.model.traces.trace import Trace

# The reason of the STW pause in which runtime.StartTrace begins to record.
_START = "start trace"


def from_start(trace: Trace) -> Trace:
    """Return the trace, in which goroutines do nothing until tracing started.

    runtime.StartTrace stops the world, records who is in which state, and starts the
    world again, up to milliseconds later. In a short trace that is a large part of the
    time that goroutines are runnable. It becomes time in an unknown state, so that all
    times still add up to goroutines' lives. A trace that begins without this pause, as
    of a flight recorder, stays as it is. Changes the trace's rows in place.
    """
    rows, stops = trace.intervals, trace.ranges
    stops = stops.take((stops.kind == RangeKind.STOP_THE_WORLD) & (stops.end_ns >= 0))
    starts = [trace.strings[reason] == _START for reason in stops.name.tolist()]
    stops = stops.take(np.array(starts, np.bool_))
    old = np.flatnonzero((np.diff(rows.offsets) > 0) & ~trace.goroutines.born)
    first = rows.offsets[old]
    until = np.full(len(first), trace.end_ns, np.int64)
    more = np.flatnonzero(first + 1 < rows.offsets[old + 1])
    until[more] = rows.start_ns[first[more] + 1]
    # Nothing else is in the trace before the pause that starts it.
    if len(stops) and int(until.min(initial=trace.end_ns)) >= int(stops.start_ns[0]):
        since = np.maximum(rows.start_ns[first], int(stops.end_ns[0]))
        rows.start_ns[first] = np.minimum(since, until)
    return trace
