"""Mutator utilization: the program's share of the Ps over time.

The definition is as on ``go tool trace``'s /mmu page (`MutatorUtilizationV2` and
`MMUCurve` of internal/trace/gc.go), except for three defects of Go 1.26.8:

- A goroutine remains a mark worker after it stops, and its next start counts twice: a
real trace with a mean of 0.86 shows 0.27. Here it is a worker from its label until it
stops.
- An assist from before the trace, on a goroutine that is not running, is never removed.
Here it counts while it runs.
- `MMUCurve.MUD`, which gives quantiles of windows, returns the minimum for each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.collector import gc_stops, worker_intervals
from pprofdiff.analysis.traces.interval_rows import ranges_of, rows_within
from pprofdiff.analysis.traces.time_sets import clipped, open_at_once, union, value_at
from pprofdiff.model.arrays import Column, Table
from pprofdiff.model.csr import distinct
from pprofdiff.model.traces.trace import RangeKind, State, Trace

Shares = NDArray[np.float64]


class Utilisation(Table, frozen=True):
    """The program's share of the Ps: ``share[i]`` from ``time_ns[i]`` on.

    `time_ns` is int64 and strictly increasing; `share` is float64 in [0, 1]. The last
    row marks the end, with share 0.
    """

    time_ns: Column
    share: Shares

    @property
    def duration_ns(self) -> int:
        """The time from the first row to the last, in ns; 0 without rows."""
        return int(self.time_ns[-1] - self.time_ns[0]) if len(self.time_ns) else 0


def utilisation(trace: Trace) -> Utilisation:
    """Return 1 − (Ps working for the GC) / GOMAXPROCS, and 0 in the GC's STW pauses.

    It begins where GOMAXPROCS is first known. Idle workers do not count, assists count
    only while their goroutine executes, and a P that does two at once counts once.
    """
    limits = trace.gomaxprocs
    if not len(limits.value) or limits.time_ns[0] >= trace.end_ns:
        return Utilisation.none()
    low, high = int(limits.time_ns[0]), trace.end_ns
    start, end = _per_processor(trace, low, high)
    used = open_at_once(start, end)
    stops = gc_stops(trace)
    stopped = union(*clipped(stops.start_ns, stops.end_ns, low, high))
    edges = np.array([low, high]), stopped.start_ns, stopped.end_ns
    times = distinct(np.concatenate((*edges, used.time_ns, limits.time_ns)))
    times = times[times <= high]
    gc = np.append(0, used.value)[np.searchsorted(used.time_ns, times, "right")]
    limit = np.maximum(value_at(limits, times), 1)
    share = 1 - np.minimum(gc, limit) / limit
    share[stopped.overlap(times, times + 1) > 0] = 0
    share[-1] = 0
    kept = np.ones(len(times), np.bool_)
    kept[1:-1] = share[1:-1] != share[:-2]
    return Utilisation(times[kept], share[kept])


def mmu(series: Utilisation, window_ns: int) -> float | None:
    """Return the minimum mutator utilization: the lowest mean share of any window.

    A window longer than the series is cut to it; one of 0 ns has 0, as in Go. None for
    a series without duration.
    """
    if not series.duration_ns:
        return None
    if window_ns <= 0:
        return 0.0
    window = min(window_ns, series.duration_ns)
    share, time = series.share, series.time_ns - series.time_ns[0]
    # Of the positions of `_turns`, those where the mean can turn from falling to
    # rising: where the left edge meets a fall or the right edge a rise.
    falls = np.append(False, share[1:] < share[:-1])
    rises = np.append(False, share[1:] > share[:-1])
    last = int(time[-1]) - window
    left = np.concatenate((time[falls], time[rises] - window, [0, last]))
    left = left[(left >= 0) & (left <= last)]
    return float((_gained(series, left, window) / window).min())


def mmu_curve(series: Utilisation, windows_ns: Column) -> Shares:
    """Return the MMU of each window (float64); empty without a duration."""
    if not series.duration_ns:
        return np.zeros(0)
    return np.array([mmu(series, window) for window in windows_ns.tolist()], np.float64)


def share_below(series: Utilisation, window_ns: int, below: float) -> float | None:
    """Return a quantile of the mean share over all windows of a length (Go's MUD).

    At 0.01, it is the mean share that the worst 1% of windows do not exceed. If only
    one window fits, it is its mean; None without duration.
    """
    if not series.duration_ns or window_ns <= 0:
        return None
    window = min(window_ns, series.duration_ns)
    left = _turns(series, window)
    value = _gained(series, left, window) / window
    if len(left) == 1:
        return float(value[0])
    low = np.minimum(value[:-1], value[1:])
    high = np.maximum(value[:-1], value[1:])
    mass = np.diff(left).astype(np.float64)
    return _quantile(low, high, mass, below)


def worst_window(series: Utilisation, window_ns: int) -> int | None:
    """Return the start (ns) of the first window with the lowest mean share, or None."""
    if not series.duration_ns:
        return None
    window = min(window_ns, series.duration_ns)
    left = _turns(series, window)
    worst = int(_gained(series, left, window).argmin())
    return int(left[worst] + series.time_ns[0])


def _quantile(low: Shares, high: Shares, mass: Shares, below: float) -> float:
    """Return the smallest value that covers a fraction `below` of the mass.

    Mass i is spread evenly over [low, high], so the mass up to a value is linear
    between neighboring ends. Bisect over the remaining ends, and set aside intervals
    with no end left inside: all bisections together visit the ends about twice. Sums
    add non-negative parts of the mass, so steep slopes do not cancel.
    """
    wanted = below * float(mass.sum())
    bottom, top = float(low.min()), float(high.max())
    # Set aside so far: the mass up to `bottom`, and its slope from there.
    until, slope = float(mass[high <= bottom].sum()), 0.0
    while until < wanted:
        through = (low <= bottom) & (high >= top) & (high > low)
        steep = mass[through] / (high[through] - low[through])
        until += float(np.dot(steep, bottom - low[through]))
        slope += float(steep.sum())
        left = (high > bottom) & (low < top) & ~through
        low, high, mass = low[left], high[left], mass[left]
        ends = np.concatenate((low, high))
        ends = ends[(ends > bottom) & (ends < top)]
        if not len(ends):
            return min(top, bottom + (wanted - until) / slope) if slope else top
        middle = float(np.partition(ends, len(ends) // 2)[len(ends) // 2])
        width = np.where(high > low, high - low, 1.0)
        parts = np.where(high > middle, np.clip((middle - low) / width, 0, 1), 1.0)
        if until + slope * (middle - bottom) + float(np.dot(parts, mass)) >= wanted:
            top = middle
        else:
            until += slope * (middle - bottom) + float(mass[high <= middle].sum())
            bottom = middle
    return bottom


def _turns(series: Utilisation, window: int) -> Column:
    """Return the window starts at which an edge meets a change, and both extremes.

    Times (int64, sorted) count from the first row. Between two of them the mean of a
    moving window is monotonic.
    """
    time = series.time_ns - series.time_ns[0]
    last = int(time[-1]) - window
    left = distinct(np.concatenate((time, time - window, [0, last])))
    return left[(left >= 0) & (left <= last)]


def _gained(series: Utilisation, left: Column, window: int) -> Shares:
    """Return the program's nanoseconds in each window from `left` on (float64)."""
    time = series.time_ns - series.time_ns[0]
    total = np.append(0.0, np.cumsum(series.share[:-1] * np.diff(time)))
    gained = np.interp(left + window, time, total) - np.interp(left, time, total)
    return np.asarray(gained, np.float64)


def _per_processor(trace: Trace, low: int, high: int) -> tuple[Column, Column]:
    """Return periods of GC work (start, end), which do not overlap on one P."""
    rows, workers = trace.intervals, worker_intervals(trace)
    ours = workers.mode != "idle"
    of_worker = rows.processor[workers.row[ours]]
    assists, end = ranges_of(trace, RangeKind.MARK_ASSIST)
    _, row, start, end = rows_within(trace, assists.goroutine, assists.start_ns, end)
    state = rows.state[row]
    some = (state == State.RUNNING) | (state == State.SYSCALL)
    sweeps, swept = ranges_of(trace, RangeKind.SWEEP)
    processor = np.concatenate((of_worker, rows.processor[row[some]], sweeps.processor))
    begins = workers.label_ns[ours], start[some], sweeps.start_ns
    ends = workers.end_ns[ours], end[some], swept
    start, end = clipped(np.concatenate(begins), np.concatenate(ends), low, high)
    # Concatenated time axes give the union of each P separately.
    shift = processor.astype(np.int64) * (high - low + 1)
    merged = union(start - low + shift, end - low + shift)
    shift = merged.start_ns // (high - low + 1) * (high - low + 1) - low
    return merged.start_ns - shift, merged.end_ns - shift
