"""How much of goroutines' running time their threads were on a CPU, by samples.

In a trace, a running goroutine has a thread and a P, but the operating system may be
running another process. CPU samples, which the trace contains if a CPU profiler was on,
count only time on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pprofdiff.analysis.judge.calibration import DISPERSION, LIMIT
from pprofdiff.analysis.traces.interval_rows import row_at
from pprofdiff.analysis.traces.processors import processors
from pprofdiff.model.traces.trace import State, Trace

__all__ = ["OnCPU", "added", "on_cpu"]

# The period of runtime/pprof.StartCPUProfile; a trace does not record it.
_PERIOD_NS = 10_000_000
# With fewer periods of running time, 3 standard deviations of the sample count are half
# of it or more.
_FEWEST = 50
# The profiler covers a trace if samples reach within this share of either end.
_EDGE = 0.1


@dataclass(frozen=True, slots=True)
class OnCPU:
    """CPU samples of a trace against its running time; times in ns.

    `samples` counts samples of goroutines that were running, each of `period_ns`;
    `running_ns` is the goroutines' running time, `wall_ns` the trace's length. `cores`
    is the number of CPUs the process used, from all samples.
    """

    samples: int
    period_ns: int
    running_ns: int
    wall_ns: int
    cores: float

    @property
    def missing(self) -> float:
        """The share of running time off-CPU; 0 where samples exceed running time."""
        if not self.running_ns:
            return 0.0
        return max(1 - self.samples * self.period_ns / self.running_ns, 0.0)

    @property
    def error(self) -> float:
        """The sampling error of `missing`: `LIMIT` standard deviations."""
        spread = LIMIT * sqrt(DISPERSION * max(self.samples, 1)) * self.period_ns
        return spread / max(self.running_ns, 1)


def on_cpu(*traces: Trace, period_ns: int = _PERIOD_NS) -> OnCPU | None:
    """Return `OnCPU` summed over traces; None if a trace is short or lacks samples.

    Samples must cover each trace: a profiler may have run for a part of it. `period_ns`
    is the time one sample stands for.
    """
    return added([_of_one(trace, period_ns) for trace in traces])


def added(parts: Sequence[OnCPU | None]) -> OnCPU | None:
    """Return the sums over several traces, None if one is None."""
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
