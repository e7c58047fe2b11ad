"""By how much Go may have moved events that had equal times."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.csr import row_of_item
from tests.traces import oracle


class Ties:
    """The times of all events of a trace, as Go gives them.

    Of events with equal times Go's reader puts each a nanosecond after the one before:
    a time that is part of a run of consecutive ones may have been moved along it.
    """

    def __init__(self, path):
        """Read the times that ``go tool trace -d=parsed`` prints."""
        self.times = np.unique(oracle.times(path))
        gaps = np.diff(self.times) != 1
        self.first = self.times[np.append(True, gaps)]
        self.last = self.times[np.append(gaps, True)]

    def after(self, time):
        """Return how far an event of ours, not yet moved, may have been moved (int64)."""
        place = np.minimum(np.searchsorted(self.last, time), len(self.last) - 1)
        known = np.isin(time, self.times)
        return np.where(known, self.last[place] - time, 0)

    def before(self, time):
        """Return how far an event of Go's may have been moved (int64)."""
        return time - self.first[np.searchsorted(self.first, time, "right") - 1]

    def of_goroutines(self, trace):
        """Return the most that ties make of sums over each goroutine's rows, and ranges."""
        held, ranges = trace.intervals, trace.ranges
        moved = self.after(held.start_ns)
        size = len(trace.goroutines)
        edge = self.after(trace.goroutines.seen_ns) + self.after(trace.end_ns)
        rows = np.bincount(row_of_item(held.offsets), moved, size) + edge
        known = ranges.goroutine >= 0
        moved = self.after(ranges.start_ns) + self.after(ranges.end_ns)
        spans = np.bincount(ranges.goroutine[known], moved[known], size) + edge
        return rows.astype(np.int64), spans.astype(np.int64)
