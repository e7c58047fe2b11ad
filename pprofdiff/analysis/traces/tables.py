"""Rows of the trace tables run by run, and the intervals of their ratios.

A row's figure is the sum over a side's traces. How much it varies between runs of one
build shows in each trace's own rate: time per second of trace, or per op. Those are
judged, one table together, as in `Judge.of_ratios`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import nan
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from pprofdiff.analysis.judge.calibration import TRACED, TRACED_LEAST
from pprofdiff.analysis.judge.judge import Judge
from pprofdiff.analysis.judge.judgement import Mark, Runs
from pprofdiff.analysis.traces.goroutines import STATE_TIMES
from pprofdiff.analysis.traces.side import TraceSide

TableName = Literal[
    "states",
    "latency",
    "goroutines.running",
    "goroutines.runnable",
    "created.running",
    "created.runnable",
    "causes",
    "gc",
    "stops",
    "processors",
    "tasks",
    "regions",
]

K = TypeVar("K", bound=Hashable)


class RowChange(NamedTuple):
    """New ÷ base of a row: ratio of geometric means over runs, with 95% interval."""

    ratio: float
    low: float
    high: float
    mark: Mark

    @property
    def significant(self) -> bool:
        """Whether the row changed significantly."""
        return self.mark in ("more", "less")


class Table(NamedTuple):
    """A table: its rows for one trace, and how they are normalized.

    Rows by ``wall`` or ``work`` are raw ns, 0 if absent from the trace; ``each`` rows
    are quantiles of durations, computed for each trace.
    """

    of: Callable[[TraceSide], Mapping[str, int]]
    by: Literal["wall", "work", "each"] = "work"


def changes_of(
    base: Sequence[Mapping[K, float]],
    new: Sequence[Mapping[K, float]],
    *,
    in_turns: bool = False,
) -> dict[K, RowChange]:
    """Return each row's change; a run's values are above 0, or NaN if unknown.

    Rows that are unknown in all runs of a side are left out. Runs taken `in_turns`
    (base and new alternating) are compared in pairs.
    """
    keys = list(dict.fromkeys(key for run in (*base, *new) for key in run))
    old, now = (
        tuple(np.array([run.get(key, nan) for key in keys], np.float64) for run in side)
        for side in (base, new)
    )
    judged = Judge.of_ratios([TRACED] * len(keys)).rows(Runs(old, now, in_turns))
    columns = (np.exp(c) for c in (judged.delta, judged.low, judged.high))
    rows = zip(
        *(column.tolist() for column in columns), judged.mark.tolist(), strict=True
    )
    return {
        key: RowChange(*row)
        for key, row, known in zip(keys, rows, judged.known.tolist(), strict=True)
        if known
    }


def times_of(
    sides: tuple[Sequence[TraceSide], Sequence[TraceSide]],
    raw: tuple[Sequence[Mapping[K, float]], Sequence[Mapping[K, float]]],
    rates: tuple[float, float] = (1.0, 1.0),
) -> tuple[list[dict[K, float]], list[dict[K, float]]]:
    """Return raw times of each trace as ns per second, or per op by `rates`.

    Every run has all rows that any run has. Time below a share `TRACED_LEAST` of a
    trace is raised to it, and rows that exceed it in no trace are left out.
    """
    walls = [[max(trace.wall_ns, 1) for trace in side] for side in sides]
    shares = [
        [
            {key: ns / wall for key, ns in run.items()}
            for run, wall in zip(*side, strict=True)
        ]
        for side in zip(raw, walls, strict=True)
    ]
    most: dict[K, float] = {}
    for run in (*shares[0], *shares[1]):
        for key, share in run.items():
            most[key] = max(most.get(key, 0.0), share)
    kept = [key for key, share in most.items() if share > TRACED_LEAST]

    def scaled(run: Mapping[K, float], rate: float) -> dict[K, float]:
        return {k: max(run.get(k, 0.0), TRACED_LEAST) * 1e9 / rate for k in kept}

    base, new = (
        [scaled(run, rate) for run in side]
        for side, rate in zip(shares, rates, strict=True)
    )
    return base, new


def _states(side: TraceSide) -> dict[str, int]:
    times = {state: side.of_program(column) for state, column in STATE_TIMES.items()}
    reasons = {
        f"blocked.{name}": side.of_program("block_ns", place)
        for place, name in enumerate(side.groups.reasons)
    }
    return {**times, "blocked": sum(reasons.values()), **reasons}


def _latency(side: TraceSide) -> dict[str, int]:
    waits = side.latency
    times = {
        "wait.p50": waits.p50_ns,
        "wait.p90": waits.p90_ns,
        "wait.p99": waits.p99_ns,
        "wait.p99.9": waits.p999_ns,
        "wait.longest": waits.max_ns,
    }
    return {name: ns for name, ns in times.items() if ns}


def _of_groups(grouping: str, column: str) -> Callable[[TraceSide], dict[str, int]]:
    def of(side: TraceSide) -> dict[str, int]:
        groups = getattr(side, grouping)
        return dict(zip(groups.names, getattr(groups, column).tolist(), strict=True))

    return of


def _causes(side: TraceSide) -> dict[str, int]:
    causes = side.causes
    names = (f"cause.{name}" for name in causes.name)
    times = dict(zip(names, causes.total_ns.tolist(), strict=True))
    return times | side.waits.during_ns


def _collector(side: TraceSide) -> dict[str, int]:
    gc = side.collections
    return {
        "gc.mark.wall": gc.mark_wall_ns,
        **{f"gc.mark.{mode}": ns for mode, ns in gc.worker_ns.items()},
        "gc.mark.assist": gc.assist_cpu_ns,
        "gc.mark.assist.wait": gc.assist_wait_ns,
        "gc.sweep": gc.sweep_ns,
        "gc.stw": gc.gc_stw_ns,
    }


def _stops(side: TraceSide) -> dict[str, int]:
    return {stop.kind: stop.total_ns for stop in side.collections.stops}


def _processors(side: TraceSide) -> dict[str, int]:
    return {
        "running.mean": side.processors.goroutine_ns,
        "running.runtime": side.of_runtime("exec_ns"),
        "runnable.mean": int(side.waits.duration_ns.sum()),
        "runnable.runtime": side.of_runtime("sched_wait_ns"),
    }


def _durations(what: str) -> Callable[[TraceSide], dict[str, int]]:
    def of(side: TraceSide) -> dict[str, int]:
        times = getattr(side, what).durations
        rows = zip(times.name, times.p50_ns.tolist(), strict=True)
        return {name: ns for name, ns in rows if ns > 0}

    return of


TABLES: dict[TableName, Table] = {
    "states": Table(_states),
    "latency": Table(_latency, "each"),
    "goroutines.running": Table(_of_groups("groups", "exec_ns")),
    "goroutines.runnable": Table(_of_groups("groups", "sched_wait_ns")),
    "created.running": Table(_of_groups("by_creation", "exec_ns")),
    "created.runnable": Table(_of_groups("by_creation", "sched_wait_ns")),
    "causes": Table(_causes),
    "gc": Table(_collector),
    "stops": Table(_stops),
    "processors": Table(_processors, "wall"),
    "tasks": Table(_durations("tasks"), "each"),
    "regions": Table(_durations("regions"), "each"),
}
"""The tables of the trace report, with rows keyed as in the report."""
