"""How much of the time that goroutines run their threads are on a CPU, as samples tell.

A trace's running time is that of goroutines with a thread and a processor of Go's; the
operating system may meanwhile run another process. CPU samples, which the trace has if
a CPU profiler ran beside it, count only what ran on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pprofdiff.analysis.stats.calibration import DISPERSION, LIMIT
from pprofdiff.analysis.traces.interval_rows import row_at
from pprofdiff.analysis.traces.processors import processors
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["OnCPU", "added", "on_cpu"]

# What runtime/pprof.StartCPUProfile asks for; a trace does not tell the period.
_PERIOD_NS = 10_000_000
# Where goroutines run for less than so many periods, 3 standard deviations of the
# number of samples are half of it and more.
_FEWEST = 50
# The profiler ran for all of a trace if samples are within this part of either end.
_EDGE = 0.1


@dataclass(frozen=True, slots=True)
class OnCPU:
    """What CPU samples tell of a trace; times in ns.

    `samples` is how many there are of goroutines that were running then, each of
    `period_ns`; `running_ns` is how long goroutines ran, `wall_ns` the trace's length.
    `cores` is how many CPUs the process used, whatever on.
    """

    samples: int
    period_ns: int
    running_ns: int
    wall_ns: int
    cores: float

    @property
    def missing(self) -> float:
        """The share of running time that was not on a CPU; 0 where samples say more."""
        if not self.running_ns:
            return 0.0
        return max(1 - self.samples * self.period_ns / self.running_ns, 0.0)

    @property
    def error(self) -> float:
        """How far `missing` may be off by sampling: `LIMIT` standard deviations."""
        spread = LIMIT * sqrt(DISPERSION * max(self.samples, 1)) * self.period_ns
        return spread / max(self.running_ns, 1)


def on_cpu(*traces: Trace, period_ns: int = _PERIOD_NS) -> OnCPU | None:
    """Return what traces' CPU samples tell, None for short ones and where none are.

    Samples have to cover each trace: a profiler may have run for a part of it. What
    they tell is summed over the traces.

    `period_ns` is what one sample stands for.
    """
    return added([_of_one(trace, period_ns) for trace in traces])


def added(parts: Sequence[OnCPU | None]) -> OnCPU | None:
    """Return the sums over several traces, None where one is None."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not known:
        return None
    if len(known) == 1:
        return known[0]
    wall = sum(part.wall_ns for part in known)
    return OnCPU(
        sum(part.samples for part in known),
        known[0].period_ns,
        sum(part.running_ns for part in known),
        wall,
        sum(part.cores * part.wall_ns for part in known) / wall,
    )


def _of_one(trace: Trace, period_ns: int) -> OnCPU | None:
    samples, wall = trace.samples, trace.end_ns - trace.start_ns
    edge = int(wall * _EDGE)
    if not len(samples) or samples.time_ns[0] > trace.start_ns + edge:
        return None
    if samples.time_ns[-1] < trace.end_ns - edge:
        return None
    running = processors(trace).goroutine_ns
    if running < _FEWEST * period_ns:
        return None
    rows = trace.intervals
    own = np.flatnonzero(samples.goroutine >= 0)
    at = row_at(
        rows.offsets, rows.start_ns, samples.goroutine[own], samples.time_ns[own]
    )
    ran = (at >= 0) & (np.append(rows.state, 0)[at] == State.RUNNING)
    return OnCPU(
        int(ran.sum()),
        period_ns,
        running,
        wall,
        len(samples) * period_ns / wall,
    )
