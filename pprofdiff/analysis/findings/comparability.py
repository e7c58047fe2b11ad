"""What else differs between the sides: load, GOMAXPROCS."""

from __future__ import annotations

from collections.abc import Iterator

from pprofdiff.analysis.findings.case import Case
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.load import Load
from pprofdiff.analysis.findings.model import Fact, Finding
from pprofdiff.analysis.findings.wording import times

__all__ = ["processors", "unlike_load"]

_POINT = 0.01
# A ratio known no better than this factor is given as a range.
_CLOSE = 1.5


def unlike_load(case: Case) -> Iterator[Finding]:
    """Most functions moved by one factor: the sides did not do equal work."""
    load = None if case.cpu is None else _a_second(case.cpu)
    if load is None or not load.sure:
        return
    base, new = case.labels
    low, high = load.low, load.high
    factor = times(load.ratio) if high < _CLOSE * low else f"{low:.2g} to {times(high)}"
    yield Finding(
        "not-comparable",
        f"{new} probably did {factor} the work of {base}",
        "That is what most functions outside the runtime cost, new over base: another "
        "load moves them together. What moved otherwise is what changed.",
        (Fact("pace of most functions", "cpu profile", 1.0, load.ratio, "ratio"),),
        f"Give --rps {base.upper()}:{new.upper()}, operations a second, and all is by "
        "operation.",
        severity="minor",
    )


def _a_second(cpu: CPUComparison) -> Load | None:
    """Return the load, of shares too as CPU time a second.

    The share of all other code falls where one function costs more: that is no less
    work.
    """
    load = cpu.load
    if load is None or not cpu.in_shares:
        return load
    base_by, new_by = cpu.diff.normalization.factors
    base_ns, new_ns = (
        side.profile.duration_ns for side in (cpu.diff.base, cpu.diff.new)
    )
    seconds = base_ns / new_ns if base_ns and new_ns else 1.0
    return load.times(base_by / new_by * seconds)


def processors(case: Case) -> Iterator[Finding]:
    """GOMAXPROCS differs."""
    gc = case.gc
    if gc is None or gc.base.steady.procs == gc.new.steady.procs:
        return
    base, new = gc.base.steady.procs, gc.new.steady.procs
    yield Finding(
        "gomaxprocs",
        f"GOMAXPROCS differs: {base:g} → {new:g}",
        "Shares of capacity, scheduling and idle marking change with it.",
        (Fact("GOMAXPROCS", "gctrace P", base, new, "processors"),),
        "Compare builds under one GOMAXPROCS.",
        severity="minor",
    )
