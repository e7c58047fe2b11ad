"""Rows of the trace tables run by run, and the intervals of their ratios.

Each trace's own rate, time per second of trace or per op, is one observation. The rows
of a table are judged together by `judged_ratios`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import nan
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.judge.calibration import TRACED, TRACED_LEAST
from pprofdiff.analysis.judge.judge import judged_ratios
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.traces.catalogue import ALONE, figures_of
from pprofdiff.analysis.traces.side import TraceSide

K = TypeVar("K", bound=Hashable)


class Table(NamedTuple):
    """A table: its rows for one trace, and how they are normalized.

    Rows by ``wall`` or ``work`` are raw ns, 0 if absent from the trace; ``each`` rows
    are quantiles of durations, computed for each trace.
    """

    of: Callable[[TraceSide], Mapping[str, float]]
    by: Literal["wall", "work", "each"] = "work"


def changes_of(
    base: Sequence[Mapping[K, float]],
    new: Sequence[Mapping[K, float]],
    *,
    in_turns: bool = False,
) -> dict[K, Estimate[float]]:
    """Return each row's geometric means over runs, and their ratio.

    A run's values are above 0, or NaN if unknown; rows that are unknown in all runs of
    a side are left out. Runs taken `in_turns` are compared in pairs.
    """
    keys = list(dict.fromkeys(key for run in (*base, *new) for key in run))
    old, now = (
        tuple(np.array([run.get(key, nan) for key in keys], np.float64) for run in side)
        for side in (base, new)
    )
    judged = judged_ratios([TRACED] * len(keys), Runs(old, now, in_turns))
    known = np.flatnonzero(judged.known)
    means = [np.nanmean(np.log(side)[:, known], axis=0) for side in (old, now)]
    logs = (*means, *(c[known] for c in (judged.delta, judged.low, judged.high)))
    columns = (*(np.exp(one).tolist() for one in logs), judged.mark[known].tolist())
    names = (keys[row] for row in known.tolist())
    return dict(zip(names, map(Estimate, *columns), strict=True))


def run_ratios(
    base: Sequence[TraceSide], new: Sequence[TraceSide], *, in_turns: bool
) -> Mapping[str, Estimate[float]]:
    """Return ratios of the `ALONE` figures known and above 0 in every trace, by key.

    They are of geometric means over runs, judged as one table.
    """
    sides = [
        [{figure.key: figure.of_run(run) or 0.0 for figure in ALONE} for run in side]
        for side in (base, new)
    ]
    known = [f.key for f in ALONE if all(run[f.key] > 0 for s in sides for run in s)]
    old, now = ([{key: run[key] for key in known} for run in side] for side in sides)
    return changes_of(old, now, in_turns=in_turns)


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


def _declared(table: str) -> Callable[[TraceSide], dict[str, float]]:
    """Return a function that reads the times of a table's figures, except zeros."""
    figures = [one for one in figures_of(table) if one.time]

    def of(side: TraceSide) -> dict[str, float]:
        times = ((one.key, one.of(side)) for one in figures)
        return {key: ns for key, ns in times if ns}

    return of


_states_without_reasons = _declared("states")
_held_up = _declared("causes")


def _states(side: TraceSide) -> dict[str, float]:
    reasons = enumerate(side.groups.reasons)
    return _states_without_reasons(side) | {
        f"blocked.{name}": side.of_program("block_ns", place) for place, name in reasons
    }


def _of_groups(grouping: str, column: str) -> Callable[[TraceSide], dict[str, float]]:
    def of(side: TraceSide) -> dict[str, float]:
        groups = getattr(side, grouping)
        return dict(zip(groups.names, getattr(groups, column).tolist(), strict=True))

    return of


def _causes(side: TraceSide) -> dict[str, float]:
    times = {f"cause.{name}": one.total_ns for name, one in side.causes.items()}
    return {**times, **_held_up(side)}


def _durations(what: str) -> Callable[[TraceSide], dict[str, float]]:
    def of(side: TraceSide) -> dict[str, float]:
        times = getattr(side, what).durations
        return {name: one.p50_ns for name, one in times.items() if one.p50_ns}

    return of


TABLES = {
    "states": Table(_states),
    "latency": Table(_declared("latency"), "each"),
    "goroutines.running": Table(_of_groups("groups", "exec_ns")),
    "goroutines.runnable": Table(_of_groups("groups", "sched_wait_ns")),
    "created.running": Table(_of_groups("by_creation", "exec_ns")),
    "created.runnable": Table(_of_groups("by_creation", "sched_wait_ns")),
    "causes": Table(_causes),
    "gc": Table(_declared("gc")),
    "stops": Table(lambda s: {x.kind: x.total_ns for x in s.collections.stops}),
    "processors": Table(_declared("processors"), "wall"),
    "tasks": Table(_durations("tasks"), "each"),
    "regions": Table(_durations("regions"), "each"),
}
"""The tables of the trace report, with rows keyed as in the report."""
