"""Every figure that is known run by run, as rows of (side, run, figure, value).

A run's figures come from its own evidence: sums of a profile, times of a benchmark, a
process's GC cycles. A run without evidence for a figure has no row for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pprofdiff.analysis.benchmarks.times import BenchmarkKey, results_of, written
from pprofdiff.analysis.benchmarks.units import tidy
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.control.totals import costs_by_run
from pprofdiff.analysis.gclogs.figures import figures
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.analysis.run_order import starts_of
from pprofdiff.analysis.runs.headline import run_names
from pprofdiff.analysis.side import numbered
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Side

if TYPE_CHECKING:
    import pandas as pd

SideWord = Literal["base", "new"]
SIDES: tuple[SideWord, SideWord] = ("base", "new")
"""The words for the sides, whatever their labels are."""


class RunFigure(NamedTuple):
    """One figure of one run.

    `run` is the number of `RunName`; `start_ns` is when the run's profile or trace
    started, nanoseconds since 1970. `figure` is a stable id. Counts are exact ints.
    """

    side: SideWord
    run: int
    start_ns: int | None
    figure: str
    unit: str
    value: int | float


class _Value(NamedTuple):
    """A figure of the run with this `Capture.run`; see `RunFigure`."""

    run: int
    figure: str
    unit: str
    value: int | float


def count_runs(comparison: Comparison) -> tuple[int, int]:
    """Return the number of runs of (base, new)."""
    base, new = (
        len({capture.run for capture in numbered(side).captures})
        for side in (comparison.base, comparison.new)
    )
    return base, new


def run_figures(comparison: Comparison) -> list[RunFigure]:
    """Return the figures of all runs: base first, then by run, in a fixed order.

    ============================== ================================ ==================
    figure                         meaning                          unit
    ============================== ================================ ==================
    benchmark.NAME.UNIT            geometric mean of a benchmark's  UNIT, such as
                                   values in the run, or their mean sec/op
                                   if one is not above 0
    load.per_second                what a load generator counted    1/s
    PROFILE                        sum of the sample type named     the profile's
                                   like the profile, such as cpu
    PROFILE.TYPE                   sum of another sample type:      the profile's
                                   cpu.samples, allocs.alloc_space
    cpu.group.GROUP                sum of a group of runtime costs  the profile's
    cpu.gc_share                   sum of group gc ÷ cpu            share
    … .per_operation               a sum ÷ the run's operations     the profile's/op
    gc.cycles                      GC cycles read                   count
    gc.cycles_per_second           by the cycles' numbers           1/s
    gc.cpu                         Σ(S+A+D+T) of the lines          us
    gc.cpu_share                   of all CPU capacity              share
    gc.pause.p99, gc.pause.longest of all stop-the-world phases     us
    trace.wait.p99, p50 …          scheduling latency               ns
    trace.gc.share,                shares of a trace's Ps,          share
    trace.utilisation,             and MMU (10 ms)
    trace.mmu.10000000
    ============================== ================================ ==================

    Those of a profile are int64 sums: over a side's runs they add up to the sum of the
    merged profile. Those of a GC log are of the process with the most cycles.
    """
    found: list[RunFigure] = []
    for number, side in enumerate(map(numbered, (comparison.base, comparison.new))):
        values = [*_of_benchmarks(side), *_of_loads(side)]
        values += _of_profiles(comparison, number)
        values += [*_of_logs(side), *_of_traces(comparison, number)]
        names, starts = run_names(side), starts_of(side)
        found += [
            RunFigure(
                SIDES[number],
                names[value.run].number,
                starts.get(value.run),
                *value[1:],
            )
            for value in sorted(values, key=lambda one: one.run)
            # A benchmark may print inf or NaN.
            if isfinite(value.value)
        ]
    return found


def _of_benchmarks(side: Side) -> Iterator[_Value]:
    """Yield each benchmark's values, with its package if names are ambiguous."""
    values: dict[tuple[BenchmarkKey, str], dict[int, list[float]]] = {}
    for run, key, result in results_of(side):
        runs = values.setdefault((key, result.unit), {})
        runs.setdefault(run, []).extend(result.values)
    packages: dict[str, set[str | None]] = {}
    for key, _ in values:
        packages.setdefault(written(key), set()).add(key[2])
    for (key, unit), runs in values.items():
        name = written(key)
        if len(packages[name]) > 1 and key[2]:
            name = f"{key[2]}.{name}"
        clean = tidy(unit)
        figure = f"benchmark.{name}.{clean.unit}"
        for run, several in runs.items():
            yield _Value(run, figure, clean.unit, _mean(several) * clean.factor)


def _mean(values: list[float]) -> float:
    """Return the geometric mean, or the mean if a value is not above 0."""
    if len(values) == 1:
        return values[0]
    with np.errstate(over="ignore", invalid="ignore"):
        if min(values) <= 0:
            return float(np.mean(values))
        return float(np.exp(np.mean(np.log(values))))


def _of_loads(side: Side) -> Iterator[_Value]:
    """Yield operations per second, except of runs with several generators."""
    captures = side.of("load")
    several = Counter(capture.run for capture in captures)
    for capture in captures:
        rate = capture.content.per_second
        if several[capture.run] == 1 and rate is not None:
            yield _Value(capture.run, "load.per_second", "1/s", rate)


def _of_profiles(comparison: Comparison, number: int) -> list[_Value]:
    values: list[_Value] = []
    names = set()
    for diff in comparison.profiles:
        side = (diff.base, diff.new)[number]
        if diff.name not in names:
            names.add(diff.name)
            values += _added(_sums(diff.name, side))
        if diff.is_cpu:
            values += _of_groups(diff, number)
        figure = f"{_figure(diff.name, diff.sample_type.type)}.per_operation"
        values += [
            _Value(run, figure, f"{diff.unit}/op", cost)
            for run, cost in costs_by_run(diff, number).items()
        ]
    return values


def _figure(name: str, sample_type: str) -> str:
    return name if name == sample_type else f"{name}.{sample_type}"


def _sums(name: str, side: ProfileSide) -> Iterator[_Value]:
    """Yield the sum of each sample type, in the unit of the merged profile."""
    for capture, totals in zip(
        side.runs, side.by_run.sum(axis=0).tolist(), strict=True
    ):
        for kind, total in zip(side.profile.sample_types, totals, strict=True):
            yield _Value(capture.run, _figure(name, kind.type), kind.unit, total)


def _added(values: Iterator[_Value]) -> list[_Value]:
    sums: dict[tuple[int, str], _Value] = {}
    for value in values:
        before = sums.get(value[:2])
        more = 0 if before is None else before.value
        sums[value[:2]] = value._replace(value=value.value + more)
    return list(sums.values())


def _of_groups(diff: ProfileDiff, number: int) -> Iterator[_Value]:
    """Yield CPU time by group of runtime costs, and the GC's share."""
    if not diff.grouped:
        return
    captures = (diff.base, diff.new)[number].runs
    runs = diff.ledger.every("group").runs
    groups = (runs.base, runs.new)[number]
    values = (
        _Value(capture.run, f"{diff.name}.group.{group.id}", diff.unit, total)
        for capture, totals in zip(captures, groups, strict=True)
        for group, total in zip(rules().groups, totals.tolist(), strict=True)
    )
    added = _added(values)
    yield from added
    totals: dict[int, int | float] = {}
    for value in added:
        totals[value.run] = totals.get(value.run, 0) + value.value
    for value in added:
        if value.figure == f"{diff.name}.group.gc" and totals[value.run] > 0:
            share = value.value / totals[value.run]
            yield _Value(value.run, f"{diff.name}.gc_share", "share", share)


def _of_logs(side: Side) -> Iterator[_Value]:
    """Yield figures of GC logs, except logs that mix processes.

    Of several logs of one run, the one with the most cycles counts.
    """
    logs: dict[int, GCLog] = {}
    for capture in side.of("gctrace"):
        log = capture.content
        if log.mixed or not any(run.lines_seen for run in log.runs):
            continue
        before = logs.get(capture.run)
        if before is None or log.longest.lines_seen > before.longest.lines_seen:
            logs[capture.run] = log
    for run, log in logs.items():
        of = figures(log.longest.cycles)
        for figure, unit, value in (
            ("cycles", "count", of.cycles),
            ("cycles_per_second", "1/s", of.cycles_per_second),
            ("cpu", "us", of.times.gc_cpu_us),
            ("cpu_share", "share", of.gc_cpu_share),
            ("pause.p99", "us", of.p99_pause_us),
            ("pause.longest", "us", of.worst_pause_us),
        ):
            if value is not None:
                yield _Value(run, f"gc.{figure}", unit, value)


def _of_traces(comparison: Comparison, number: int) -> Iterator[_Value]:
    if comparison.trace is None:
        return
    from pprofdiff.analysis.traces.catalogue import ALONE

    for run, trace in comparison.trace.runs[number].items():
        for figure in ALONE:
            value = figure.of_run(trace)
            if value is not None:
                yield _Value(run, f"trace.{figure.key}", figure.unit, value)


def runs_frame(rows: Sequence[RunFigure]) -> pd.DataFrame:
    """Return one row per figure of a run; `Reported.runs` documents the columns."""
    import pandas as pd

    columns = {name: [getattr(row, name) for row in rows] for name in RunFigure._fields}
    starts = pd.Series(columns["start_ns"], dtype="Int64")
    return pd.DataFrame(
        {
            "side": pd.Categorical(columns["side"], SIDES),
            "run": pd.Series(columns["run"], dtype="int64"),
            "start": pd.to_datetime(starts, unit="ns", utc=True),
            "figure": columns["figure"],
            "unit": columns["unit"],
            "value": pd.Series(columns["value"], dtype="float64"),
        }
    )
