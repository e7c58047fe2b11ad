"""Which collections of a run to compare: those under load, or those asked for.

Rates mean something only while the program does what it is for. A run begins idle,
then the heap grows from the runtime's minimum (4 MiB × GOGC/100) to its size, and ends
at some moment after the last collection began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pprofdiff.errors import UsageError
from pprofdiff.model.gclogs import Cycles, GCRun

__all__ = ["Span", "Window", "window_of"]

# The heap is up to size when a trigger reaches this share of the median trigger.
_GROWN = 0.2
# With fewer collections than this the whole run is the window.
_FEW = 5


class Span(NamedTuple):
    """Seconds since the process started, as asked for; None leaves an end open."""

    start: float | None
    end: float | None


class Window(NamedTuple):
    """Rows ``first:stop`` of a run's cycles, and why these, for people."""

    first: int
    stop: int
    reason: str

    def of(self, cycles: Cycles) -> Cycles:
        """Return the collections in the window."""
        return cycles.take(slice(self.first, self.stop))


def window_of(run: GCRun, span: Span | None = None, path: str = "log") -> Window:
    """Return the collections that started within `span`, by default those under load.

    The default begins where the heap when a collection starts first reaches a fifth of
    its median, which leaves out waiting for load and growing to size, and leaves out
    the last collection: nothing tells how long the next would have taken to come.
    Raises UsageError where no collection started within `span`.
    """
    count = run.lines_seen
    if span is not None:
        return _asked_for(run, span, path)
    if count < _FEW:
        return Window(0, count, "the whole log")
    heap = run.cycles.heap_start_mb
    first = int(np.argmax(heap >= _GROWN * np.median(heap)))
    if count - 1 - first < _FEW - 1:
        return Window(0, count, "the whole log")
    numbers = run.cycles.number
    return Window(
        first,
        count - 1,
        f"gc {numbers[first]} to {numbers[count - 2]}: without start-up and the last",
    )


def _asked_for(run: GCRun, span: Span, path: str) -> Window:
    seconds = run.cycles.start_ms / 1000
    low = -np.inf if span.start is None else span.start
    high = np.inf if span.end is None else span.end
    rows = np.flatnonzero((seconds >= low) & (seconds < high))
    if not len(rows):
        held = f"{seconds[0]:.3f} to {seconds[-1]:.3f} s" if len(seconds) else "none"
        raise UsageError(
            f"{path}: no collection started within --window; they started at {held}"
        )
    first, stop = int(rows[0]), int(rows[-1]) + 1
    numbers = run.cycles.number
    return Window(first, stop, f"--window: gc {numbers[first]} to {numbers[stop - 1]}")
