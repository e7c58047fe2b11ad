"""Which GC cycles of a process to compare: those under load, or those asked for.

Rates mean something only while the program does its work. A program starts idle; then
its heap grows from the runtime's minimum (4 MiB × GOGC/100) to its size; and its log
ends some time after the last cycle started.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.settings import Span
from pprofdiff.errors import UsageError
from pprofdiff.model.gclogs import Cycles, GCRun

__all__ = ["Window", "window_of"]

# The heap has grown once a trigger reaches this share of the median trigger.
_GROWN = 0.2
# With fewer cycles than this the whole run is the window.
_FEW = 5


class Window(NamedTuple):
    """Rows ``first:stop`` of a run's cycles, and the reason, for people."""

    first: int
    stop: int
    reason: str

    def of(self, cycles: Cycles) -> Cycles:
        """Return the cycles in the window."""
        return cycles.take(slice(self.first, self.stop))


def window_of(run: GCRun, span: Span | None = None, path: str = "log") -> Window:
    """Return the cycles that started within `span`, by default those under load.

    Parameters
    ----------
    run
        The cycles of one process.
    span
        The seconds asked for. By default the window starts with the first cycle whose
        heap at start is a fifth of the median, which leaves out waiting for load and
        growing to size. It ends before the last cycle, since the next one's start is
        unknown. It is the whole log if that would leave fewer than four.
    path
        The log as the user knows it, for errors.

    Raises
    ------
    UsageError
        No cycle started within `span`.

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
        f"gc {numbers[first]} to {numbers[count - 2]}: excluding start-up and the "
        "last cycle",
    )


def _asked_for(run: GCRun, span: Span, path: str) -> Window:
    """Return the cycles that started within the span."""
    seconds = run.cycles.start_ms / 1000
    low = -np.inf if span.start is None else span.start
    high = np.inf if span.end is None else span.end
    rows = np.flatnonzero((seconds >= low) & (seconds < high))
    if not len(rows):
        known = f"{seconds[0]:.3f} to {seconds[-1]:.3f} s" if len(seconds) else "none"
        raise UsageError(
            f"{path}: no collection started within --window; they started at {known}"
        )
    first, stop = int(rows[0]), int(rows[-1]) + 1
    numbers = run.cycles.number
    return Window(first, stop, f"--window: gc {numbers[first]} to {numbers[stop - 1]}")
