"""CPU time of marking, as the GC log and the CPU profile of one run count it.

The log counts the time that mark workers had a P (runtime/mgc.go: wall time × Ps), with
a CPU or without. Where other processes have the CPU, the profile's samples are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import OF_CPU, Fact, Finding
from pprofdiff.analysis.causes.wording import fixed
from pprofdiff.analysis.policy import FEW_SAMPLES, MAJOR, MOST, MUCH
from pprofdiff.analysis.profiles.dimensions import BACKGROUND_MARK

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import GCDiff
    from pprofdiff.analysis.gclogs.side import GCSide

_MARK = (*BACKGROUND_MARK, "gc.mark.assist")
# The difference must exceed this many standard errors of the sample count, and this
# part of the log's figure: log and profile do not cover the same seconds.
_ERRORS, _PART = 3.0, 0.25


class Marking(NamedTuple):
    """Cores that marking took, base and new, by the log and by the profile.

    `busy` says on which sides the log counts more than the profile's samples allow,
    `substantial` on which of these it would mislead. `enough` says that both profiles
    have enough samples for a number.
    """

    logged: tuple[float, float]
    profiled: tuple[float, float]
    busy: tuple[bool, bool]
    substantial: tuple[bool, bool]
    enough: bool

    def per_cycle_us(self, rates: tuple[float, float]) -> tuple[float, float]:
        """Return the profile's CPU time per cycle (µs), given cycles per second."""
        base, new = (
            1e6 * cores / max(rate, 1e-9)
            for cores, rate in zip(self.profiled, rates, strict=True)
        )
        return base, new


def marking(case: Case) -> Marking | None:
    """Return both counts; None without GC logs and CPU profiles of known duration."""
    gc, cpu = case.gc, case.cpu
    if gc is None or cpu is None:
        return None
    sides = cpu.diff.base, cpu.diff.new
    base_ns, new_ns = cpu.diff.spans_ns
    if not base_ns or not new_ns:
        return None
    spans = base_ns, new_ns
    logged = (
        _logged(gc.base, base_ns / len(sides[0].runs)),
        _logged(gc.new, new_ns / len(sides[1].runs)),
    )
    if logged[0] is None or logged[1] is None:
        return None
    sums = cpu.sums(cpu.of(_MARK))
    profiled = sums[0] / spans[0], sums[1] / spans[1]
    worth = cpu.model.worth
    busy = [
        log_cores - cores
        > max(_ERRORS * sqrt(max(raw, one) * one) / span, _PART * log_cores)
        for log_cores, cores, raw, one, span in zip(
            (logged[0], logged[1]), profiled, sums, worth, spans, strict=True
        )
    ]
    substantial = [
        waited and log_cores - cores >= max(MUCH, MAJOR * total / span)
        for waited, log_cores, cores, total, span in zip(
            busy, (logged[0], logged[1]), profiled, cpu.diff.totals, spans, strict=True
        )
    ]
    enough = all(raw >= FEW_SAMPLES * one for raw, one in zip(sums, worth, strict=True))
    return Marking(
        (logged[0], logged[1]),
        profiled,
        (busy[0], busy[1]),
        (substantial[0], substantial[1]),
        enough,
    )


def _logged(side: GCSide, profiled_ns: float) -> float | None:
    """Return the cores that a log counts for marking, None if rates are unknown.

    A few cycles at process start say nothing about the profiled time.
    """
    steady = side.steady
    if steady.cycles_per_second is None or not steady.cycles:
        return None
    if (steady.end_s - steady.start_s) * 1e9 < MOST * profiled_ns:
        return None
    times = steady.times
    whole = times.assist_cpu_us + times.background_cpu_us + times.idle_cpu_us
    return whole / steady.cycles / 1e6 * steady.cycles_per_second


class CycleCPU(NamedTuple):
    """CPU time per cycle in µs; `source` says where it is from, "" for the GC log."""

    base: float
    new: float
    source: str = ""


def cycle_cpu_us(case: Case, gc: GCDiff) -> CycleCPU | None:
    """Return CPU per cycle: the log's, or the CPU profile's where that is less.

    None where the profile has too few samples, or the log mostly counts STW pauses.
    """
    base, new = gc.base.steady, gc.new.steady
    counted, rates = marking(case), (base.cycles_per_second, new.cycles_per_second)
    if counted is not None and any(counted.busy) and rates[0] and rates[1]:
        if not counted.enough:
            return None
        sides = counted.per_cycle_us((rates[0], rates[1]))
        return CycleCPU(*sides, ", by the CPU profile, as the machine was busy")
    if stopped(gc):
        return None
    return CycleCPU(base.gc_cpu_us_per_cycle, new.gc_cpu_us_per_cycle)


def stopped(gc: GCDiff) -> bool:
    """Return whether the log's GC CPU is mostly stop-the-world, rather than marking.

    A pause counts as wall time × Ps: where pauses dominate, threads waited for a CPU,
    and the figure does not show what GC costs. On one side alone there may also be
    hardly anything left to mark.
    """
    sides = gc.base.steady, gc.new.steady
    most = [2 * side.times.stw_cpu_us > side.times.gc_cpu_us for side in sides]
    base, new = (side.gc_cpu_us_per_cycle for side in sides)
    return all(most) or (any(most) and not marked(gc, new / base if base else 0.0))


def marked(gc: GCDiff, ratio: float) -> bool:
    """Return whether marking and assists explain most of a ratio of GC's CPU."""
    sides = gc.base.steady, gc.new.steady
    base, new = (
        (side.times.assist_cpu_us + side.times.background_cpu_us) / side.cycles
        for side in sides
    )
    if min(base, new) <= 0 or ratio <= 0 or ratio == 1:
        return False
    return log(new / base) / log(ratio) >= MOST


def busy(case: Case) -> Iterator[Finding]:
    """Yield a finding where the log counts more CPU than the process had."""
    found = marking(case)
    if found is None or not any(found.substantial):
        return
    logged, profiled = found.logged, found.profiled
    yield Finding(
        "machine-busy",
        f"The GC log counts {fixed(*logged, 2)} cores of marking, the CPU profile "
        f"{fixed(*profiled, 2)}: threads waited for a CPU",
        "Other processes or a CPU limit took the rest; the profile's CPU is right.",
        (
            Fact("cores of marking", "gctrace A+D+I", *logged, "cores"),
            Fact("cores of marking", OF_CPU, *profiled, "cores"),
        ),
        weight=abs(logged[1] - profiled[1]) / max(*logged, 1e-9),
    )
