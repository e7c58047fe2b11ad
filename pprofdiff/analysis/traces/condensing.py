"""A trace without its rows: compute what reports need, then free the rows.

The rows of two 40 MB traces take half a gigabyte, ten times what reports show of them.
Rows that are needed again come from temporary files, in a fiftieth of the time to
decode.
"""

from __future__ import annotations

from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

import numpy as np

from pprofdiff.analysis.traces.collector import stops
from pprofdiff.analysis.traces.latency import busy_times
from pprofdiff.analysis.traces.movers import spent
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.snapshot import at_end
from pprofdiff.analysis.traces.unit_time import running_if_named
from pprofdiff.analysis.traces.waited import spent_off
from pprofdiff.model.traces.trace import Intervals, ProcessorIntervals, Rows, Trace
from pprofdiff.unused_memory import give_back

# What findings and the short report need from a trace's rows.
_TOLD: tuple[Callable[[TraceSide], object], ...] = (
    lambda side: side.groups,
    lambda side: side.waits.cause,
    lambda side: busy_times(side.trace),
    lambda side: side.collections,
    lambda side: stops(side.trace),
    lambda side: side.processors,
    lambda side: side.cores,
    lambda side: spent(side, "blocked"),
    lambda side: spent(side, "syscall"),
    at_end,
    running_if_named,
)
# What the full tables and the JSON need in addition. The few reports with moments,
# Perfetto slices or chains of waits read the rows again.
_SHOWN: tuple[Callable[[TraceSide], object], ...] = (
    spent_off,
    lambda side: side.running_at_once,
    lambda side: side.runnable_at_once,
    lambda side: side.utilisation,
)


def condense(trace: Trace, *, full: bool = True) -> None:
    """Compute what reports need of a trace, then free its rows.

    Unless `full`, compute only what the short report shows. The rows stay if no
    temporary file can be written.
    """
    side = TraceSide("", "", trace)
    # Following waits takes the most memory: first, while little else is kept.
    for make in (*_SHOWN, *_TOLD) if full else _TOLD:
        make(side)
    try:
        again = _written(Rows(trace.intervals, trace.processor_intervals))
    except OSError:
        return
    trace.let_go(again)


def _written(rows: Rows) -> Callable[[], Rows]:
    """Write rows to a temporary file; return what reads them."""
    file = TemporaryFile()  # noqa: SIM115 - closed with what reads it
    shapes: list[list[tuple[np.dtype[Any], int]]] = []
    for table in rows:
        columns = [getattr(table, name) for name in table.__struct_fields__]
        for column in columns:
            file.write(column.data)
        shapes.append([(column.dtype, len(column)) for column in columns])
    file.flush()

    def again() -> Rows:
        give_back()
        file.seek(0)
        intervals, processors = (
            [np.fromfile(file, dtype, size) for dtype, size in shape]
            for shape in shapes
        )
        return Rows(Intervals(*intervals), ProcessorIntervals(*processors))

    finalize(again, file.close)
    return again
