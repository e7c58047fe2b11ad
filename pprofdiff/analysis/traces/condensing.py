"""A trace without its rows: compute what reports need, then free the rows.

The rows of two 40 MB traces take half a gigabyte; what reports show of them takes a
tenth. So the command keeps the rows of only one trace in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from pprofdiff.analysis.traces.collector import stops
from pprofdiff.analysis.traces.latency import busy_times
from pprofdiff.analysis.traces.movers import spent
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.waited import spent_in_calls, spent_waiting
from pprofdiff.model.traces.trace import Trace

# What findings and the short report need from a trace's rows.
_TOLD: tuple[Callable[[TraceSide], object], ...] = (
    lambda side: side.groups,
    lambda side: side.waits.cause,
    lambda side: busy_times(side.trace),
    lambda side: side.collections,
    lambda side: stops(side.trace),
    lambda side: side.processors,
    lambda side: side.on_cpu,
    lambda side: spent(side, "blocked"),
    lambda side: spent(side, "syscall"),
)
# What the full tables and the JSON need in addition. Moments and Perfetto slices are
# not included: they read the trace again. So does a short report that shows what waits
# waited for: most do not, and millions of waits take longer than reading them.
_SHOWN: tuple[Callable[[TraceSide], object], ...] = (
    spent_waiting,
    spent_in_calls,
    lambda side: side.running_at_once,
    lambda side: side.runnable_at_once,
    lambda side: side.utilisation,
)


def condense(trace: Trace, again: Callable[[], Trace], *, full: bool = True) -> Trace:
    """Return the trace after freeing its rows; `again` re-reads it.

    Unless `full`, it keeps only what the short report shows.
    """
    side = TraceSide("", "", trace)
    # Following waits takes the most memory: first, while little else is kept.
    for make in (*_SHOWN, *_TOLD) if full else _TOLD:
        make(side)
    trace.let_go(again)
    return trace
