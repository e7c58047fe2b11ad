"""One build's execution traces, analyzed lazily; results are kept with each trace.

Times and counts of several traces are sums, in whole nanoseconds. Quantiles are over
the durations of all traces: waits, STW pauses, tasks and regions. Series over time and
MMU come from the longest trace.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.traces.collector import (
    Collections,
    all_collections,
    collections,
    triggers,
)
from pprofdiff.analysis.traces.goroutines import Groups, added_up, both_groups
from pprofdiff.analysis.traces.latency import (
    Waits,
    by_cause,
    by_group,
    runnable,
    together,
)
from pprofdiff.analysis.traces.mutators import Utilisation, utilisation
from pprofdiff.analysis.traces.processors import (
    Concurrency,
    Processors,
    all_processors,
    at_once,
    concurrency,
    cores,
    mean_over,
    processors,
)
from pprofdiff.analysis.traces.quantiles import (
    GroupQuantiles,
    Quantiles,
    grouped_quantiles,
    quantiles,
)
from pprofdiff.analysis.traces.tasks import Durations, regions, tasks
from pprofdiff.model.arrays import Column, Mask
from pprofdiff.model.traces.trace import State, Trace
from pprofdiff.units import scaled

_SHORT_NS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class TraceSide:
    """One build's trace, or several, one per run: `runs`.

    Of several, `trace` and `path` are the longest's, and goroutines are numbered from
    trace to trace, in order: `Groups.group_of` has one entry for each, and
    `Waits.goroutine` indexes them. Times are on each trace's own clock. `others` counts
    further traces of the run.
    """

    label: str
    path: str
    trace: Trace
    others: int = 0
    runs: tuple[TraceSide, ...] = ()

    @property
    def parts(self) -> tuple[TraceSide, ...]:
        """The side's traces, each as a side."""
        return self.runs or (self,)

    @property
    def longest(self) -> TraceSide:
        """The longest trace, for what cannot be added up."""
        return next(part for part in self.parts if part.trace is self.trace)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of `parts`."""
        return tuple([part.trace for part in self.parts])

    @property
    def wall_ns(self) -> int:
        """The total length of all traces in ns."""
        return sum(trace.end_ns - trace.start_ns for trace in self.traces)

    @cached_property
    def groups(self) -> Groups:
        """Times by root function."""
        return added_up([trace.once("groups", both_groups)[0] for trace in self.traces])

    @cached_property
    def by_creation(self) -> Groups:
        """Times by the function that created the goroutines."""
        return added_up([trace.once("groups", both_groups)[1] for trace in self.traces])

    @cached_property
    def waits(self) -> Waits:
        """All runnable intervals."""
        return together([trace.once("waits", runnable) for trace in self.traces])

    @cached_property
    def measured(self) -> Mask:
        """Which of `waits` are known, and of the program's goroutines (bool)."""
        groups, waits = self.groups, self.waits
        own = ~(groups.system | groups.tracing)[groups.group_of]
        return own[waits.goroutine] & waits.known

    @property
    def latencies_ns(self) -> Column:
        """The durations of the waits that are `measured`."""
        return self.waits.duration_ns[self.measured]

    @cached_property
    def latency(self) -> Quantiles:
        """The quantiles of `latencies_ns`."""
        return quantiles(self.latencies_ns)

    @cached_property
    def causes(self) -> GroupQuantiles:
        """Latencies by what made the goroutine runnable."""
        return by_cause(self.waits)

    @cached_property
    def group_waits(self) -> GroupQuantiles:
        """Latencies by root function."""
        waits, groups = self.waits, self.groups
        if not self.runs:
            return by_group(waits, self.trace)
        group = groups.group_of[waits.goroutine[waits.known]]
        lasts = waits.duration_ns[waits.known]
        return grouped_quantiles(group, lasts, tuple(groups.names))

    @cached_property
    def collections(self) -> Collections:
        """What the garbage collector did."""
        parts = [trace.once("collections", collections) for trace in self.traces]
        return all_collections(parts, self.traces)

    @cached_property
    def triggers(self) -> dict[str, int]:
        """The number of GC cycles by cause, most frequent first."""
        if not self.runs:
            return triggers(self.trace)
        causes = sum((Counter(run.triggers) for run in self.runs), Counter[str]())
        return dict(sorted(causes.items(), key=lambda one: (-one[1], one[0])))

    @cached_property
    def processors(self) -> Processors:
        """What each P did."""
        return all_processors(
            [trace.once("processors", processors) for trace in self.traces]
        )

    @property
    def running_at_once(self) -> Concurrency:
        """How many goroutines are running at once."""
        return self._in_state(State.RUNNING)

    @property
    def runnable_at_once(self) -> Concurrency:
        """How many goroutines are runnable at once."""
        return self._in_state(State.RUNNABLE)

    def _in_state(self, state: State) -> Concurrency:
        parts = [
            trace.once(f"{state.name} at once", lambda t: concurrency(t, state))
            for trace in self.traces
        ]
        return at_once(parts, [part.wall_ns for part in self.parts])

    @cached_property
    def tasks(self) -> Durations:
        """Durations of user tasks by type."""
        return tasks(*self.traces)

    @cached_property
    def regions(self) -> Durations:
        """Durations of user regions by type."""
        return regions(*self.traces)

    @property
    def utilisation(self) -> Utilisation:
        """The program's share of the Ps over time, in the longest trace."""
        return self.trace.once("utilisation", utilisation)

    @property
    def cores(self) -> float | None:
        """How many CPUs the process used, by the CPU samples of all traces."""
        parts = [trace.once("cores", cores) for trace in self.traces]
        return mean_over(parts, [part.wall_ns for part in self.parts])

    def of_program(self, column: str, place: int | None = None) -> int:
        """Return the sum of a column of `groups` over application goroutines.

        `place` selects one column of a two-dimensional field such as ``block_ns``.
        """
        groups = self.groups
        own = ~(groups.system | groups.tracing)
        values = getattr(groups, column)
        return int((values if place is None else values[:, place])[own].sum())

    def of_runtime(self, column: str) -> int:
        """Return the sum of a column of `groups` over all other goroutines."""
        return int(getattr(self.groups, column).sum()) - self.of_program(column)

    def caveats(self) -> list[Caveat]:
        """Return caveats: short or truncated traces, and which figures are of one."""
        if self.runs:
            known = [caveat for run in self.runs for caveat in run.caveats()]
            cut = [caveat for caveat in known if caveat.id == "trace-cut"]
            short = self._short(f"{len(self.runs)} traces together")
            return [*short, *cut, self._of_one()]
        caveats = self._short("a trace")
        missing = self.trace.missing
        if missing is not None:
            share = 100 * (1 - missing.read / max(missing.total, 1))
            caveats.append(
                Caveat(
                    "trace-cut",
                    f"{self.path}: {share:.0f}% of the file could not be read: "
                    f"{missing.why}",
                )
            )
        if self.others:
            caveats.append(
                Caveat(
                    "trace-several",
                    f"{self.label}: {self.others + 1} traces of one run; figures are "
                    f"of the longest, {self.path}",
                )
            )
        return caveats

    def _of_one(self) -> Caveat:
        text = (
            f"{self.label}: {len(self.runs)} traces, added up; heap over time and MMU "
            f"are of the longest, {self.path}"
        )
        if left := self.others + 1 - len(self.runs):
            text += f"; {left} more of runs that have a longer one are left out"
        return Caveat("trace-several", text)

    def _short(self, what: str) -> list[Caveat]:
        if self.wall_ns >= _SHORT_NS:
            return []
        return [
            Caveat(
                "trace-short",
                f"{self.label}: {what} of {scaled(self.wall_ns, 'ns')} with "
                f"{self.collections.started} GC cycles; another run may differ",
            )
        ]
