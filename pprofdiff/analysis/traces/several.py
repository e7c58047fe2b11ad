"""Several traces of one build added up as one side.

Times and counts are sums over the traces, in whole nanoseconds. Quantiles are over the
durations of all traces: waits, STW pauses, tasks and regions. Series over time and MMU
come from the longest trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.traces.catalogue import FIGURES
from pprofdiff.analysis.traces.collector import COUNTED, Collections, Cycles, stops
from pprofdiff.analysis.traces.goroutines import TIMES, Times
from pprofdiff.analysis.traces.groups import Groups
from pprofdiff.analysis.traces.latency import Waits, together
from pprofdiff.analysis.traces.processors import PER_PROCESSOR, Processors
from pprofdiff.analysis.traces.quantiles import GroupQuantiles, grouped_quantiles
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tables import changes_of
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.traces.trace import Series

TraceRuns = tuple[Mapping[int, TraceSide], Mapping[int, TraceSide]]

ALONE = tuple(figure for figure in FIGURES if figure.alone)
"""Figures that compare without knowing the work."""


def run_ratios(
    runs: TraceRuns, *, in_turns: bool = False
) -> Mapping[str, Estimate[float]]:
    """Return ratios of the `ALONE` figures known and above 0 in every trace, by key.

    They are of geometric means over runs, judged as one table; empty unless a side has
    several runs.
    """
    if min(map(len, runs)) < 1 or max(map(len, runs)) == 1:
        return {}
    sides = [[_figures(trace) for trace in side.values()] for side in runs]
    names = [f.key for f in ALONE if all(f.key in run for s in sides for run in s)]
    base, new = (
        [{name: run[name] for name in names} for run in side] for side in sides
    )
    return changes_of(base, new, in_turns=in_turns)


def _figures(trace: TraceSide) -> dict[str, float]:
    """Return the figures of a trace that are known and above 0, by key."""
    values = ((figure.key, figure.of_run(trace)) for figure in ALONE)
    return {key: value for key, value in values if value is not None and value > 0}


@dataclass(frozen=True, eq=False)
class SeveralTraces(TraceSide):
    """A side with several traces, one per run; `trace` and `path` are the longest's.

    Goroutines are numbered from trace to trace, in order: `Groups.group_of` has one
    entry for each, and `Waits.goroutine` indexes them. Times are on each trace's own
    clock.
    """

    runs: tuple[TraceSide, ...] = ()

    @property
    def parts(self) -> tuple[TraceSide, ...]:
        """The traces, each as a side."""
        return self.runs

    @cached_property
    def groups(self) -> Groups:
        """Times by root function, summed."""
        return _groups([run.groups for run in self.runs])

    @cached_property
    def by_creation(self) -> Groups:
        """Times by the function that created the goroutines, summed."""
        return _groups([run.by_creation for run in self.runs])

    @cached_property
    def waits(self) -> Waits:
        """All runnable intervals of all traces."""
        return together([run.waits for run in self.runs])

    @cached_property
    def group_waits(self) -> GroupQuantiles:
        """Latencies by root function."""
        waits, groups = self.waits, self.groups
        whole = waits.known
        group = groups.group_of[waits.goroutine[whole]]
        return grouped_quantiles(group, waits.duration_ns[whole], tuple(groups.names))

    @cached_property
    def collections(self) -> Collections:
        """What the garbage collector did, summed."""
        parts = [run.collections for run in self.runs]
        modes = Counter[str]()
        for part in parts:
            modes.update(part.worker_ns)
        allocated = [part.allocated_bytes for part in parts]
        known = [some for some in allocated if some is not None]
        return Collections(
            cycles=Cycles.concatenate([part.cycles for part in parts]),
            worker_ns={mode: modes[mode] for mode in parts[0].worker_ns},
            stops=stops(*self.traces),
            allocated_bytes=sum(known) if len(known) == len(allocated) else None,
            **{name: sum(getattr(p, name) for p in parts) for name in COUNTED},
        )

    @cached_property
    def triggers(self) -> dict[str, int]:
        """The number of GC cycles by cause."""
        causes = Counter[str]()
        for run in self.runs:
            causes.update(run.triggers)
        return dict(sorted(causes.items(), key=lambda one: (-one[1], one[0])))

    @cached_property
    def processors(self) -> Processors:
        """What each P did, summed over the traces."""
        parts = [run.processors for run in self.runs]
        ids, row = np.unique(np.concatenate([p.id for p in parts]), return_inverse=True)

        def added(name: str) -> Column:
            total = np.zeros(len(ids), np.int64)
            np.add.at(total, row, np.concatenate([getattr(p, name) for p in parts]))
            return total

        return Processors(
            gomaxprocs=Series.concatenate([part.gomaxprocs for part in parts]),
            wall_ns=self.wall_ns,
            capacity_ns=sum(part.capacity_ns for part in parts),
            goroutine_ns=sum(part.goroutine_ns for part in parts),
            id=ids,
            **{name: added(name) for name in PER_PROCESSOR},
        )

    def caveats(self) -> list[Caveat]:
        """Return caveats: short or truncated traces, figures of one trace alone."""
        known = [caveat for run in self.runs for caveat in run.caveats()]
        cut = [caveat for caveat in known if caveat.id == "trace-cut"]
        return [
            *self._short(f"{len(self.runs)} traces together"),
            *cut,
            *self._unused(),
        ]

    def _unused(self) -> list[Caveat]:
        left = self.others + 1 - len(self.runs)
        text = (
            f"{self.label}: {len(self.runs)} traces, added up; heap over time and MMU "
            f"are of the longest, {self.path}"
        )
        if left:
            text += f"; {left} more of runs that have a longer one are left out"
        return [Caveat("trace-several", text)]


def _groups(parts: Sequence[Groups]) -> Groups:
    """Return groups summed by name; ties of `total_ns` are ordered by name."""
    lives: Counter[str] = Counter()
    for part in parts:
        lives.update(dict(zip(part.names, part.total_ns.tolist(), strict=True)))
    names = sorted(lives, key=lambda name: (-lives[name], name))
    place = {name: row for row, name in enumerate(names)}
    rows = [np.array([place[n] for n in part.names], np.int64) for part in parts]

    def added(field: str) -> Column:
        total = np.zeros(len(names), np.int64)
        for row, part in zip(rows, parts, strict=True):
            np.add.at(total, row, getattr(part, field))
        return total

    def everywhere(field: str) -> Mask:
        marked = np.ones(len(names), np.bool_)
        for row, part in zip(rows, parts, strict=True):
            marked[row] &= getattr(part, field)
        return marked

    reasons, block = _matrix(parts, rows, ("reasons", "block_ns"), len(names))
    ranges, within = _matrix(parts, rows, ("range_names", "range_ns"), len(names))
    return Groups(
        names=names,
        group_of=np.concatenate(
            [row[part.group_of] for row, part in zip(rows, parts, strict=True)]
        ),
        count=added("count"),
        total_ns=added("total_ns"),
        **{field: added(field) for field in TIMES},
        reasons=reasons,
        block_ns=block,
        range_names=ranges,
        range_ns=within,
        system=everywhere("system"),
        tracing=everywhere("tracing"),
    )


def _matrix(
    parts: Sequence[Times],
    rows: Sequence[Column],
    fields: tuple[Literal["reasons", "range_names"], Literal["block_ns", "range_ns"]],
    size: int,
) -> tuple[tuple[str, ...], Column]:
    """Return the column names, sorted, and the sum of shape (size, columns)."""
    named, values = fields
    names = sorted({name for part in parts for name in getattr(part, named)})
    total = np.zeros((size, len(names)), np.int64)
    for row, part in zip(rows, parts, strict=True):
        columns = np.array([names.index(n) for n in getattr(part, named)], np.int64)
        np.add.at(total, np.ix_(row, columns), getattr(part, values))
    return tuple(names), total
