"""Totals at a glance: one tile a comparison, base and new beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.benchmarks import benchmark_headline
from pprofdiff.report.sections.traces.cells import arrow_of
from pprofdiff.report.text.report import Section
from pprofdiff.units import percent

__all__ = ["Tile", "tiles"]


class Tile(NamedTuple):
    """What is counted, ``base → new unit``, how it changed, and in which style."""

    name: str
    values: str
    change: str
    style: str = ""


def tiles(report: ReportModel, held: list[Section]) -> Iterator[Tile]:
    """Yield a tile for each profile's total, then for logs, traces and benchmarks."""
    for section in held:
        if section.diff is not None:
            yield _total(section.diff)
    if report.comparison.gc is not None:
        yield _cycles(report.comparison.gc)
    if report.comparison.trace is not None:
        yield from _waits(report.comparison.trace)
    if report.comparison.benchmarks is not None:
        told = benchmark_headline(report.comparison.benchmarks).removesuffix(".")
        worse, _, rest = told.partition(", ")
        yield Tile("benchmarks", worse, rest)


def _total(diff: ProfileDiff) -> Tile:
    """Return a profile's total, marked as its tables are."""
    scale, by = scale_of(diff), diff.normalization
    base, new = diff.totals[0] * by.base_factor, diff.totals[1] * by.new_factor
    name = f"{diff.title}, absolute" if by.mode == "absolute" else diff.title
    values = f"{scale.number(base)} → {scale.number(new)} {scale.unit}"
    change = percent(new - base, base, signed=True) if base else ""
    judged = diff.judge([diff.totals[0]], [diff.totals[1]])
    if judged is None or new == base:
        return Tile(name, values, change)
    if judged.noise[0]:
        return Tile(name, values, f"~ {change}, within noise", "faint")
    if new > base:
        return Tile(name, values, f"▲ {change}", "worse")
    return Tile(name, values, f"▼ {change}", "better")


def _cycles(gc: GCDiff) -> Tile:
    base, new = gc.base.whole.cycles, gc.new.whole.cycles
    change = f"{new / base:.2f}×" if base else ""
    return Tile("GC cycles, whole logs", f"{base:,} → {new:,}", change)


def _waits(diff: TraceDiff) -> Iterator[Tile]:
    """Yield within what time 99 % of waits for a processor end."""
    base, new = (side.latency.p99_ns for side in diff.sides)
    if base and new:
        name = "wait for a processor, p99"
        yield Tile(name, arrow_of([base, new], "ns"), f"{new / base:.2f}×")
