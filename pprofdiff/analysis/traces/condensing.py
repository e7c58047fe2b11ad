"""A trace without its rows: what reports show is made of them while they are there.

The rows of two traces of 40 MB are half a gigabyte, what reports show of them is a
tenth of that. So the command has the rows of one trace at a time in memory.
"""

from __future__ import annotations

from collections.abc import Callable

from pprofdiff.analysis.traces.collector import stops
from pprofdiff.analysis.traces.latency import busy_times
from pprofdiff.analysis.traces.movers import spent
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.traces.trace import Trace

__all__ = ["condense"]

# What findings and the short report take from a trace's rows.
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
# What all tables and the JSON take besides. Moments and slices for Perfetto are not
# among them: who asks for these has the trace read again.
_SHOWN: tuple[Callable[[TraceSide], object], ...] = (
    lambda side: side.running_at_once,
    lambda side: side.runnable_at_once,
    lambda side: side.utilisation,
)


def condense(trace: Trace, again: Callable[[], Trace], *, full: bool = True) -> Trace:
    """Return the trace after it let go of its rows; `again` reads it anew.

    Unless `full`, it keeps what the short report shows alone.
    """
    side = TraceSide("", "", trace)
    for make in (*_TOLD, *_SHOWN) if full else _TOLD:
        make(side)
    trace.let_go(again)
    return trace
