"""Comparison of two execution traces: goroutine time, latency, GC and Ps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.figures.estimate import Estimate, of_ratio
from pprofdiff.analysis.judge.durations import RANKS, Durations, changes_of_quantiles
from pprofdiff.analysis.judge.judgement import Change
from pprofdiff.analysis.judge.scaling import Mode, Normalization
from pprofdiff.analysis.judge.totals import all_paired
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.side import cpu_seconds, stacks_of
from pprofdiff.analysis.traces.catalogue import MMU, TraceFigure
from pprofdiff.analysis.traces.goroutines import STATE_TIMES, Groups
from pprofdiff.analysis.traces.latency import blocks
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tables import (
    TABLES,
    changes_of,
    run_ratios,
    times_of,
)
from pprofdiff.analysis.traces.time import BLOCKED, GoroutineTime, goroutine_time
from pprofdiff.analysis.work import Work
from pprofdiff.identity.deciding import identify
from pprofdiff.identity.model import SAME_NAMES, Identity
from pprofdiff.identity.rows import pair_names
from pprofdiff.model.side import Capture, Side
from pprofdiff.model.traces.trace import Trace

T = TypeVar("T")

_Values = dict[Hashable, float]

_NONE: Mapping[int, TraceSide] = MappingProxyType({})

# Fewest user tasks that show the load, and the rate ratio beyond which it differs.
_FEW_TASKS, _UNLIKE = 20, 1.25


class StateTime(NamedTuple):
    """Raw time in one state over all application goroutines, in nanoseconds.

    `state` is running, runnable, syscall, syscall_block, unknown or blocked; `reason`
    is the block reason, "" for other states.
    """

    state: str
    reason: str
    base_ns: int
    new_ns: int


class GroupPair(NamedTuple):
    """Goroutines of one function: rows of each side's `Groups`, -1 if absent."""

    name: str
    base: int
    new: int


class TracedRow(NamedTuple):
    """A table row, named by key or function, and how it changed over runs."""

    table: str
    row: str
    change: Estimate[float]


@dataclass(frozen=True, eq=False)
class TraceDiff:
    """Base and new traces; `rates` are ops per second (base, new) if known.

    `identity` matches functions. `runs` has each side's traces by `Capture.run`; with
    several, `base` and `new` are their sums. `in_turns` is
    true if runs of base and new alternated, first with first.
    """

    base: TraceSide
    new: TraceSide
    rates: tuple[float, float] | None
    identity: Identity = SAME_NAMES
    runs: tuple[Mapping[int, TraceSide], Mapping[int, TraceSide]] = (_NONE, _NONE)
    in_turns: bool = False

    @property
    def sides(self) -> tuple[TraceSide, TraceSide]:
        """Base and new."""
        return self.base, self.new

    @property
    def mode(self) -> Mode:
        """``per_work`` if rates are known, else ``per_second`` of wall time."""
        return "per_second" if self.rates is None else "per_work"

    @cached_property
    def normalization(self) -> Normalization:
        """How raw times are scaled: per second of wall time, or per op."""
        base, new = (self._factor(i, side) for i, side in enumerate(self.sides))
        return Normalization(self.mode, base, new, "of the traces' wall time")

    def _factor(self, number: int, side: TraceSide) -> float:
        """Return the factor of times of base (0) or new (1), or of one of its runs."""
        return 1e9 / max(side.wall_ns, 1) / (self.rates or (1.0, 1.0))[number]

    @property
    def factors(self) -> tuple[float, float]:
        """Factors applied to raw times: 1 / wall seconds, or 1 / operations."""
        return self.normalization.factors

    @cached_property
    def time(self) -> GoroutineTime:
        """Time of all goroutines by root function and state; roots are `groups`."""
        rows = {pair: row for row, pair in enumerate(self.groups)}
        base, new = _keys(self.groups, self.base.groups, self.new.groups)
        return goroutine_time(
            self.sides,
            (
                {name: rows[pair] for name, pair in base.items()},
                {name: rows[pair] for name, pair in new.items()},
            ),
        )

    @cached_property
    def states(self) -> tuple[StateTime, ...]:
        """Time of application goroutines in each state; blocked time is by reason."""
        times = {
            state: (int(view.base[0]), int(view.new[0]))
            for state, view in self.time.by_state().items()
        }
        rows = [
            StateTime(state, "", *times.get(state, (0, 0))) for state in STATE_TIMES
        ]
        blocked = [
            StateTime("blocked", state.removeprefix(BLOCKED), *pair)
            for state, pair in times.items()
            if state.startswith(BLOCKED)
        ]
        blocked.sort(key=lambda row: (-max(row.base_ns, row.new_ns), row.reason))
        return (*rows, *blocked)

    def within(self, roots: Sequence[int]) -> dict[str, tuple[int, int]]:
        """Return the raw ns of some `groups` in ranges such as mark assists."""
        found: dict[str, tuple[int, int]] = {}
        pairs = [self.groups[row] for row in roots]
        for number, side in enumerate(self.sides):
            rows = [(pair.base, pair.new)[number] for pair in pairs]
            sums = side.groups.range_ns[[row for row in rows if row >= 0]].sum(axis=0)
            for name, ns in zip(side.groups.range_names, sums.tolist(), strict=True):
                base, new = found.get(name, (0, 0))
                found[name] = (base, ns) if number else (ns, new)
        return found

    @cached_property
    def groups(self) -> tuple[GroupPair, ...]:
        """Root functions of both sides, paired by `identity`, largest change first."""
        return self._paired(self.base.groups, self.new.groups)

    @cached_property
    def creations(self) -> tuple[GroupPair, ...]:
        """As `groups`, for the functions that create goroutines."""
        return self._paired(self.base.by_creation, self.new.by_creation)

    def once(self, name: str, work: Callable[[TraceDiff], T]) -> T:
        """Return `work` of the comparison, computed on first use, as `Trace.once`."""
        if name not in self._made:
            self._made[name] = work(self)
        made: T = self._made[name]
        return made

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    @property
    def several(self) -> bool:
        """Whether a side has traces of several runs."""
        return any(len(side.parts) > 1 for side in self.sides)

    def changes(self, table: str) -> Mapping[Hashable, Estimate[float]]:
        """Return the change of each row of a table; empty without several runs.

        Keys are those of `tables.TABLES`; for goroutines by function, a `GroupPair`.
        """
        if not self.several:
            return {}
        return self.once(f"changes {table}", lambda _: self._judged(table))

    @property
    def row_changes(self) -> Iterator[TracedRow]:
        """The change of each row of all tables, table by table."""
        for table in TABLES:
            for key, change in self.changes(table).items():
                name = key.name if isinstance(key, GroupPair) else str(key)
                yield TracedRow(table, name, change)

    def _judged(self, table: str) -> dict[Hashable, Estimate[float]]:
        of, by = TABLES[table]
        keys: tuple[dict[str, GroupPair], dict[str, GroupPair]] = {}, {}
        if table.startswith("goroutines."):
            keys = _keys(self.groups, self.base.groups, self.new.groups)
        elif table.startswith("created."):
            keys = _keys(self.creations, self.base.by_creation, self.new.by_creation)

        def values(run: TraceSide, pairs: Mapping[str, GroupPair]) -> _Values:
            return {pairs.get(name, name): v for name, v in of(run).items()}

        base, new = (
            [values(run, key) for run in side.parts]
            for side, key in zip(self.sides, keys, strict=True)
        )
        if by == "each":
            return changes_of(base, new, in_turns=self.in_turns)
        return self.changes_of_times(base, new, by)

    def changes_of_times(
        self,
        base: Sequence[Mapping[T, float]],
        new: Sequence[Mapping[T, float]],
        by: Literal["work", "wall"] = "work",
    ) -> dict[T, Estimate[float]]:
        """Return the changes of raw times, given for each of a side's `parts`."""
        rates = self.rates if by == "work" and self.rates else (1.0, 1.0)
        times = times_of((self.base.parts, self.new.parts), (base, new), rates)
        return changes_of(*times, in_turns=self.in_turns)

    def _paired(self, base: Groups, new: Groups) -> tuple[GroupPair, ...]:
        old, now = self.identity.sides
        paired = pair_names(
            [old.function(name) for name in base.names],
            [now.function(name) for name in new.names],
        )
        pairs = [
            GroupPair(base.names[old] if now < 0 else new.names[now], old, now)
            for old, now in zip(
                paired.base_row.tolist(), paired.new_row.tolist(), strict=True
            )
        ]
        return tuple(sorted(pairs, key=lambda pair: -self._moved(pair, base, new)))

    def _moved(self, pair: GroupPair, base: Groups, new: Groups) -> float:
        """Return the scaled change in a group's running, runnable and syscall time."""
        old, now = (
            sum(int(column[row]) for column in columns if row >= 0)
            for side, row in ((base, pair.base), (new, pair.new))
            for columns in [(side.exec_ns, side.sched_wait_ns, side.syscall_ns)]
        )
        return abs(self.normalization.delta(old, now))

    @cached_property
    def latency_changes(self) -> dict[str, Change]:
        """Change in latency quantiles (new − base, ns) with 95% CI, keyed by `RANKS`.

        Unknown if a side has too few generations or GC cycles to resample. With several
        traces, runs are resampled.
        """
        base, new = (_in_blocks(side) for side in self.sides)
        changes = changes_of_quantiles(base, new, RANKS.values())
        return dict(zip(RANKS, changes, strict=True))

    @cached_property
    def run_ratios(self) -> Mapping[str, Estimate[float]]:
        """Figures over all traces, by key; empty unless a side has several runs."""
        if not self.several:
            return {}
        return run_ratios(self.base.parts, self.new.parts, in_turns=self.in_turns)

    def varies(self, figure: str) -> bool:
        """Return whether a figure's change is within noise over several runs."""
        return figure in self.run_ratios and not self.run_ratios[figure].significant

    @property
    def latency_intervals(self) -> dict[str, tuple[int, int] | None]:
        """The 95% intervals of `latency_changes`, None if unknown."""
        return {
            name: None
            if change.low is None or change.high is None
            else (int(change.low), int(change.high))
            for name, change in self.latency_changes.items()
        }

    @cached_property
    def mmu(self) -> dict[int, tuple[float | None, float | None]]:
        """Minimum mutator utilization of the longest traces, by window in ns."""
        longest = min(side.longest.wall_ns for side in self.sides)
        base, new = self.sides
        return {
            window: (figure.of(base), figure.of(new))
            for window, figure in MMU.items()
            if window <= longest
        }

    def estimate(self, figure: TraceFigure) -> Estimate[float | None]:
        """Return a figure as tables show it: see `catalogue.By`.

        The interval and mark are those of its table's row over runs; with one trace a
        side, only latency quantiles have them.
        """
        base, new = (self.shown(figure, i, side) for i, side in enumerate(self.sides))
        alone = of_ratio(base, new)
        if self.several:
            one = self.run_ratios.get(figure.key)
            if figure.time and figure.table:
                one = self.changes(figure.table).get(figure.key)
            return alone if one is None else Estimate(*alone[:3], *one[3:])
        change = self.latency_changes.get(figure.key.removeprefix("wait."))
        if change is None or not base:
            return alone
        low, high = (
            None if delta is None else 1 + delta / base
            for delta in (change.low, change.high)
        )
        return alone._replace(low=low, high=high, mark=change.mark)

    def by_run(
        self, figure: TraceFigure
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return a figure's known values in the runs of (base, new), as shown."""
        values = (
            (self.shown(figure, i, run) for run in side.parts)
            for i, side in enumerate(self.sides)
        )
        base, new = (tuple(v for v in side if v is not None) for side in values)
        return base, new

    def shown(self, figure: TraceFigure, number: int, side: TraceSide) -> float | None:
        """Return a figure as shown, of base (0), new (1), or one of its runs."""
        value = figure.of(side)
        if value is None or figure.by not in ("work", "wall"):
            return value
        if figure.by == "wall":
            return value / max(side.wall_ns, 1)
        return value * self._factor(number, side)

    def caveats(self) -> list[Caveat]:
        """Return caveats: short or truncated traces, several traces, unequal load."""
        caveats = [caveat for side in self.sides for caveat in side.caveats()]
        return caveats if self.rates else [*caveats, *_unlike_work(*self.sides)]


def _keys(
    pairs: Iterable[GroupPair], base: Groups, new: Groups
) -> tuple[dict[str, GroupPair], dict[str, GroupPair]]:
    rows = list(pairs)
    return (
        {base.names[pair.base]: pair for pair in rows if pair.base >= 0},
        {new.names[pair.new]: pair for pair in rows if pair.new >= 0},
    )


def _unlike_work(base: TraceSide, new: TraceSide) -> list[Caveat]:
    """Return a caveat if the rate of the most frequent user task differs much."""
    by_name = base.tasks.counts, new.tasks.counts
    counts = {
        name: (by_name[0][name], by_name[1][name])
        for name in {*by_name[0]} & {*by_name[1]}
    }
    name = max(counts, key=lambda name: (sum(counts[name]), name), default="")
    if not name or min(counts[name]) < _FEW_TASKS:
        return []
    old, now = (
        count / side.wall_ns * 1e9
        for count, side in zip(counts[name], (base, new), strict=True)
    )
    if 1 / _UNLIKE <= now / old <= _UNLIKE:
        return []
    return [
        Caveat(
            "trace-work",
            f"user tasks {name}: {old:,.0f} → {now:,.0f} per second: times per second "
            f"are of different work; --rps {old:.0f}:{now:.0f} gives them by task",
        )
    ]


def _in_blocks(side: TraceSide) -> Durations:
    """Return latencies with the block to resample each by: trace stretch, or run."""
    if len(side.parts) > 1:
        sizes = [len(run.latencies_ns) for run in side.parts]
        return Durations(side.latencies_ns, np.repeat(np.arange(len(sizes)), sizes))
    stretch = blocks(side.trace, side.waits.start_ns[side.measured])
    return Durations(side.latencies_ns, stretch)


def compare_sides(base: Side, new: Side, settings: Settings) -> TraceDiff:
    """Compare the traces of two sides, each with at least one.

    A work count in `settings` covers the duration of each side's CPU profiles. If that
    has set-up in it, as a trace then has, times are per second.
    """
    work = settings.work
    diff = compare_traces(
        (base.label, base.of("trace")),
        (new.label, new.of("trace")),
        None if work is not None and work.with_set_up else work,
        (cpu_seconds(base), cpu_seconds(new)),
        settings.identity,
    )
    return replace(diff, in_turns=all_paired(*diff.runs, settings.pairs))


def caveats(_base: Side, _new: Side, result: TraceDiff | None) -> list[Caveat]:
    """Return caveats about the compared traces."""
    return [] if result is None else result.caveats()


def compare_traces(
    base: tuple[str, Sequence[Capture[Trace]]],
    new: tuple[str, Sequence[Capture[Trace]]],
    work: Work | None = None,
    seconds: tuple[float | None, float | None] = (None, None),
    identity: Identity | None = None,
) -> TraceDiff:
    """Compare both sides' traces, each given as (label, at least one trace).

    `seconds` is the time in which a counted `work` was done. `identity` matches
    functions of base and new; if None, it is decided from the traces alone.
    """
    rates = None if work is None else work.per_second(seconds)
    if identity is None:
        sides = (Side(label, tuple(runs)) for label, runs in (base, new))
        identity = identify(stacks_of(next(sides)), stacks_of(next(sides)))
    runs = _runs(*base), _runs(*new)
    old, current = (_summed(tuple(side.values())) for side in runs)
    return TraceDiff(old, current, rates, identity, runs)


def _summed(runs: tuple[TraceSide, ...]) -> TraceSide:
    if len(runs) == 1:
        return runs[0]
    one = _longest(runs)
    return TraceSide(one.label, one.path, one.trace, one.others, runs)


def _runs(label: str, traces: Sequence[Capture[Trace]]) -> dict[int, TraceSide]:
    """Return one trace per run: the longest, if a run has several."""
    runs: dict[int, list[TraceSide]] = {}
    for one in traces:
        side = TraceSide(label, one.path, one.content, len(traces) - 1)
        runs.setdefault(one.run, []).append(side)
    return {run: _longest(runs[run]) for run in sorted(runs)}


def _longest(traces: Iterable[TraceSide]) -> TraceSide:
    return max(traces, key=lambda one: one.wall_ns)
