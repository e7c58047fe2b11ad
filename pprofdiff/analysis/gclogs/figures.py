"""Sums and means of the GC cycles of one window; each name ends in its unit.

Wall and CPU time never share a figure. Sums are over the lines that were read; rates
use cycle numbers, so missing lines do not lower them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.durations import RANKS, quantile
from pprofdiff.model.gclogs import Cycles

# Smaller heaps say too little: gctrace rounds to whole MiB.
_LEAST_MB = 20


@dataclass(frozen=True, slots=True)
class HeapFigures:
    """Heap sizes and allocation over a window, in MiB.

    H0, H1, H2 and G are the sizes in ``H0->H1->H2 MB, G MB goal`` of a line: the heap
    when a cycle started, the heap when marking ended, the live heap and the goal. None
    if the log cannot say.
    """

    mean_trigger: float
    mean_peak: float
    mean_live: float
    mean_goal: float
    median_live: float
    median_goal: float
    effective_gogc: float | None
    """Median of (G_next − H2) ÷ (H2 + stacks + globals), percent; None if most heaps
    are too small for it."""
    allocated: int | None
    """Σ(H0_next − H2) + Σ(H1 − H0); None if lines are missing."""
    allocated_during_mark: int
    """The second of these sums: allocated while marking."""
    allocated_error: int
    """Largest error of `allocated`, since every heap size is rounded down."""
    per_cycle: float | None
    """Allocated from one cycle's start to the next one's, mean."""


@dataclass(frozen=True, slots=True)
class CycleTimes:
    """Sums of a window's times, microseconds, by field of a gctrace line.

    The line: ``gc N @T U%: s+m+t ms clock, S+A/D/I+T ms cpu, …``.
    """

    sweep_termination_wall_us: int
    """Σs."""
    mark_wall_us: int
    """Σm."""
    mark_termination_wall_us: int
    """Σt."""
    sweep_termination_cpu_us: int
    """ΣS."""
    assist_cpu_us: int
    """ΣA."""
    background_cpu_us: int
    """ΣD: dedicated and fractional workers."""
    idle_cpu_us: int
    """ΣI: workers on Ps with nothing else to do."""
    mark_termination_cpu_us: int
    """ΣT."""

    @property
    def stw_wall_us(self) -> int:
        """Σ(s+t): both stop-the-world phases, wall time."""
        return self.sweep_termination_wall_us + self.mark_termination_wall_us

    @property
    def stw_cpu_us(self) -> int:
        """Σ(S+T): both stop-the-world phases, CPU capacity lost to the program."""
        return self.sweep_termination_cpu_us + self.mark_termination_cpu_us

    @property
    def gc_cpu_us(self) -> int:
        """Σ(S+A+D+T): GC CPU time as the runtime defines it, without idle marking."""
        return self.stw_cpu_us + self.assist_cpu_us + self.background_cpu_us


@dataclass(frozen=True, slots=True)
class GCFigures:
    """Sums and means over a window; None if the log cannot say."""

    cycles: int
    first_cycle: int
    last_cycle: int
    start_s: float
    end_s: float
    """When the first and the last cycle of the window started."""
    cycles_per_second: float | None
    """(N_last − N_first) ÷ (T_last − T_first)."""
    times: CycleTimes
    gc_cpu_us_per_cycle: float
    """Mean GC CPU time of a cycle, without idle marking."""
    worst_pause_us: int
    p99_pause_us: int
    """Of all stop-the-world phases, each counted by itself; nearest rank."""
    forced: int
    timer: int
    procs: float
    """GOMAXPROCS, mean."""
    heap: HeapFigures

    @property
    def gc_cpu_share(self) -> float | None:
        """Share of all CPU capacity: GC CPU per cycle × cycles/s ÷ GOMAXPROCS."""
        if self.cycles_per_second is None:
            return None
        return self.gc_cpu_us_per_cycle / 1e6 * self.cycles_per_second / self.procs

    @property
    def mark_wall_share(self) -> float | None:
        """Share of wall time spent marking."""
        if self.cycles_per_second is None:
            return None
        return self.times.mark_wall_us / self.cycles / 1e6 * self.cycles_per_second

    @property
    def allocated_mb_per_second(self) -> float | None:
        """MiB per cycle × cycles/s."""
        if self.heap.per_cycle is None or self.cycles_per_second is None:
            return None
        return self.heap.per_cycle * self.cycles_per_second


def figures(cycles: Cycles) -> GCFigures:
    """Return the sums and means of one or more GC cycles of one process."""
    number, start = cycles.number, cycles.start_ms
    seconds = (int(start[-1]) - int(start[0])) / 1000
    pauses = np.concatenate(
        [cycles.sweep_termination_wall_us, cycles.mark_termination_wall_us]
    )
    times = _times(cycles)
    return GCFigures(
        cycles=len(cycles),
        first_cycle=int(number[0]),
        last_cycle=int(number[-1]),
        start_s=int(start[0]) / 1000,
        end_s=int(start[-1]) / 1000,
        cycles_per_second=(
            (int(number[-1]) - int(number[0])) / seconds if seconds > 0 else None
        ),
        times=times,
        gc_cpu_us_per_cycle=times.gc_cpu_us / len(cycles),
        worst_pause_us=int(pauses.max()),
        p99_pause_us=quantile(pauses, RANKS["p99"]),
        forced=int(cycles.forced.sum()),
        timer=int(cycles.timer.sum()),
        procs=float(cycles.procs.mean()),
        heap=_heap(cycles),
    )


def _times(cycles: Cycles) -> CycleTimes:
    names = [field.name for field in fields(CycleTimes)]
    return CycleTimes(*[int(getattr(cycles, name).sum()) for name in names])


def _heap(cycles: Cycles) -> HeapFigures:
    followed = np.flatnonzero(np.diff(cycles.number) == 1)
    between = cycles.heap_start_mb[followed + 1] - cycles.heap_live_mb[followed]
    during = cycles.heap_end_mb - cycles.heap_start_mb
    per_cycle = between + during[followed]
    whole = len(followed) == len(cycles) - 1
    return HeapFigures(
        mean_trigger=float(cycles.heap_start_mb.mean()),
        mean_peak=float(cycles.heap_end_mb.mean()),
        mean_live=float(cycles.heap_live_mb.mean()),
        mean_goal=float(cycles.goal_mb.mean()),
        median_live=float(np.median(cycles.heap_live_mb)),
        median_goal=float(np.median(cycles.goal_mb)),
        effective_gogc=_effective_gogc(cycles, followed),
        allocated=int(between.sum() + during.sum()) if whole else None,
        allocated_during_mark=int(during.sum()),
        # The sum telescopes to H0_last − H0_first + Σ(H1 − H2), each off by under 1.
        allocated_error=len(cycles) + 1,
        per_cycle=float(per_cycle.mean()) if len(per_cycle) else None,
    )


def scanned_mb(cycles: Cycles) -> NDArray[np.float64]:
    """Return what GOGC is a percentage of: the live heap, as printed, and the rest.

    From Go 1.18 on, stacks and globals count as live (runtime/mgcpacer.go, commit).
    """
    scanned = cycles.heap_live_mb.astype(np.float64)
    for more in (cycles.stacks_mb, cycles.globals_mb):
        if more is not None:
            scanned = scanned + more
    return scanned


def _effective_gogc(cycles: Cycles, followed: NDArray[np.integer]) -> float | None:
    """Return the GOGC that the goals imply, which a memory limit lowers."""
    live, scanned = cycles.heap_live_mb[followed], scanned_mb(cycles)[followed]
    large = live >= _LEAST_MB
    # A few large heaps do not represent the window.
    if 2 * large.sum() < max(len(live), 1):
        return None
    grown = cycles.goal_mb[followed + 1] - live
    return float(np.median(100 * grown[large] / scanned[large]))
