"""Two execution traces compared: goroutines' time, latency, GC and processors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.diff.align import align
from pprofdiff.diff.comparable import Caveat
from pprofdiff.diff.evidence import TraceRun
from pprofdiff.diff.trace.collector import Collections, collections
from pprofdiff.diff.trace.goroutines import GoroutineStats, Groups, groups, stats
from pprofdiff.diff.trace.latency import Waits, blocks, runnable
from pprofdiff.diff.trace.mutators import Utilisation, mmu, utilisation
from pprofdiff.diff.trace.processors import Processors, processors
from pprofdiff.diff.trace.quantiles import spread
from pprofdiff.diff.work import Work
from pprofdiff.goruntime.names import canonical_user
from pprofdiff.model.trace import Trace

__all__ = [
    "RANKS",
    "WINDOWS_NS",
    "GroupPair",
    "StateTime",
    "TraceDiff",
    "TraceSide",
    "compare_traces",
]

Column = NDArray[np.int64]

WINDOWS_NS = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
"""Windows of minimum mutator utilisation."""

RANKS = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
"""Quantiles of latencies, in thousandths."""

_SHORT_NS = 1_000_000_000


class StateTime(NamedTuple):
    """Time in one state over all goroutines of the program, raw nanoseconds.

    `state` is running, runnable, syscall, syscall_block, unknown or blocked; `reason`
    says why blocked, "" otherwise.
    """

    state: str
    reason: str
    base_ns: int
    new_ns: int


class GroupPair(NamedTuple):
    """Goroutines of one root function: rows of each side's `Groups`, -1 for none."""

    name: str
    base: int
    new: int


@dataclass(frozen=True, eq=False)
class TraceSide:
    """One build's trace, analysed as far as is asked.

    `others` counts further traces of the side: the longest stands for it.
    """

    label: str
    path: str
    trace: Trace
    others: int

    @property
    def wall_ns(self) -> int:
        """How long was traced."""
        return self.trace.end_ns - self.trace.start_ns

    @cached_property
    def stats(self) -> GoroutineStats:
        """Times of each goroutine."""
        return stats(self.trace)

    @cached_property
    def groups(self) -> Groups:
        """Times by root function."""
        return groups(self.trace, self.stats)

    @cached_property
    def waits(self) -> Waits:
        """Time runnable, wait by wait."""
        return runnable(self.trace)

    @cached_property
    def collections(self) -> Collections:
        """What the garbage collector did."""
        return collections(self.trace)

    @cached_property
    def processors(self) -> Processors:
        """What processors did."""
        return processors(self.trace)

    def of_program(self, column: str, place: int | None = None) -> int:
        """Return a column's sum over the program's own goroutines."""
        held = self.groups
        own = ~(held.system | held.tracing)
        values = getattr(held, column)
        return int((values if place is None else values[:, place])[own].sum())


@dataclass(frozen=True, eq=False)
class TraceDiff:
    """Base and new traces; `rates` are operations per second (base, new) if known."""

    base: TraceSide
    new: TraceSide
    rates: tuple[float, float] | None

    @property
    def sides(self) -> tuple[TraceSide, TraceSide]:
        """Base and new."""
        return self.base, self.new

    @property
    def mode(self) -> str:
        """``per_work`` where rates are known, else ``per_second`` of wall time."""
        return "per_second" if self.rates is None else "per_work"

    @cached_property
    def factors(self) -> tuple[float, float]:
        """What raw times are multiplied by: 1 / wall seconds, or 1 / operations."""
        rates = self.rates or (1.0, 1.0)
        base, new = (
            1e9 / max(side.wall_ns, 1) / rate
            for side, rate in zip(self.sides, rates, strict=True)
        )
        return base, new

    @cached_property
    def states(self) -> tuple[StateTime, ...]:
        """Where the program's goroutines spend time; blocked by reason."""
        columns = {
            "running": "exec_ns",
            "runnable": "sched_wait_ns",
            "syscall": "syscall_ns",
            "syscall_block": "syscall_block_ns",
            "unknown": "unknown_ns",
        }
        rows = [
            StateTime(state, "", *(side.of_program(column) for side in self.sides))
            for state, column in columns.items()
        ]
        held = [_blocked(side) for side in self.sides]
        reasons = {*held[0], *held[1]}
        blocked = [
            StateTime("blocked", name, held[0].get(name, 0), held[1].get(name, 0))
            for name in reasons
        ]
        blocked.sort(key=lambda row: (-max(row.base_ns, row.new_ns), row.reason))
        return (*rows, *(row for row in blocked if row.base_ns or row.new_ns))

    @cached_property
    def groups(self) -> tuple[GroupPair, ...]:
        """Root functions of both sides, paired by name, those that moved most first."""
        base, new = (side.groups for side in self.sides)
        found = align(base.names, new.names, [(_loosely(base), _loosely(new))])
        pairs = [
            GroupPair(new.names[fresh] if fresh >= 0 else base.names[old], old, fresh)
            for old, fresh in zip(
                found.base_row.tolist(), found.new_row.tolist(), strict=True
            )
        ]
        return tuple(sorted(pairs, key=lambda pair: -self._moved(pair)))

    def _moved(self, pair: GroupPair) -> float:
        """Return how much a group's time on and before processors moved, scaled."""
        amounts = [
            0
            if row < 0
            else int(held.exec_ns[row] + held.sched_wait_ns[row] + held.syscall_ns[row])
            for held, row in (
                (self.base.groups, pair.base),
                (self.new.groups, pair.new),
            )
        ]
        return abs(amounts[1] * self.factors[1] - amounts[0] * self.factors[0])

    @cached_property
    def latency_intervals(self) -> dict[str, tuple[int, int] | None]:
        """95 % intervals of new's less base's latency quantiles, by `RANKS`.

        None where a side has too few generations or GC cycles to draw again.
        """
        base, new = (_in_blocks(side) for side in self.sides)
        return {name: spread(base, new, rank) for name, rank in RANKS.items()}

    @cached_property
    def utilisation(self) -> tuple[Utilisation, Utilisation]:
        """The program's share of the processors over time, base and new."""
        base, new = (utilisation(side.trace) for side in self.sides)
        return base, new

    def mmu(self) -> dict[int, tuple[float | None, float | None]]:
        """Return minimum mutator utilisation, base and new, by window in ns.

        Windows longer than a trace are left out.
        """
        base, new = self.utilisation
        longest = min(side.wall_ns for side in self.sides)
        return {
            window: (mmu(base, window), mmu(new, window))
            for window in WINDOWS_NS
            if window <= longest
        }

    def caveats(self) -> list[Caveat]:
        """Return what to know of the traces: short, cut off, further ones, versions."""
        return [caveat for side in self.sides for caveat in _caveats(side)]


def _loosely(held: Groups) -> Callable[[int], str]:
    """Return the key by which root functions pair whose closures were renumbered."""
    return lambda row: canonical_user(held.names[row])


def _blocked(held: TraceSide) -> dict[str, int]:
    """Return how long the program's goroutines were blocked, by reason."""
    return {
        name: held.of_program("block_ns", place)
        for place, name in enumerate(held.groups.reasons)
    }


def _in_blocks(held: TraceSide) -> tuple[Column, Column]:
    """Return latencies, and the stretch of the trace that each lies in."""
    waits = held.waits
    return waits.latencies_ns, blocks(held.trace, waits.start_ns[~waits.cut])


def _caveats(held: TraceSide) -> list[Caveat]:
    found = []
    if held.wall_ns < _SHORT_NS:
        found.append(
            Caveat(
                "trace-short",
                f"{held.label}: a trace of {held.wall_ns / 1e9:.1f} s, GC cycles begun "
                f"in it: {held.collections.begun}; another run may differ",
            )
        )
    missing = held.trace.missing
    if missing is not None:
        share = 100 * (1 - missing.read / max(missing.total, 1))
        found.append(
            Caveat(
                "trace-cut",
                f"{held.path}: {share:.0f} % of the file could not be read: "
                f"{missing.why}",
            )
        )
    if held.others:
        found.append(
            Caveat(
                "trace-several",
                f"{held.label}: {held.others + 1} traces; compared is the longest, "
                f"{held.path}",
            )
        )
    return found


def compare_traces(
    base: tuple[str, Sequence[TraceRun]],
    new: tuple[str, Sequence[TraceRun]],
    work: Work | None = None,
    seconds: tuple[float | None, float | None] = (None, None),
) -> TraceDiff:
    """Compare both sides' traces, each (label, at least one trace).

    `seconds` are what counted `work` took.
    """
    rates = None if work is None else work.per_second(seconds)
    return TraceDiff(_side(*base), _side(*new), rates)


def _side(label: str, runs: Sequence[TraceRun]) -> TraceSide:
    longest = max(runs, key=lambda run: run.trace.end_ns - run.trace.start_ns)
    return TraceSide(label, longest.path, longest.trace, len(runs) - 1)
