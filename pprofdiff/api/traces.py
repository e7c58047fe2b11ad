"""Execution traces and their comparison: `Trace`, `TraceDiff`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.analysis.side import stacks_of
from pprofdiff.analysis.traces import compare
from pprofdiff.analysis.traces.frames import (
    figures_frame,
    groups_frame,
    heap_frame,
    latency_frame,
    mmu_frame,
    sided,
    states_frame,
    stops_frame,
    waits_frame,
)
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.mutators import mmu_curve
from pprofdiff.analysis.traces.processors import Processors
from pprofdiff.analysis.traces.profiles import (
    StateName,
    cpu_profile,
    export,
    named_for_state,
)
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.tasks import regions, tasks
from pprofdiff.api.profiles import Profile
from pprofdiff.api.reported import KindDiff
from pprofdiff.api.shown import LoadedInput, plotted, side_of
from pprofdiff.kinds import KindId
from pprofdiff.model.traces import trace as columns
from pprofdiff.model.traces.trace import RangeKind
from pprofdiff.units import scaled

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.notebook.flames import FlameGraph


@dataclass(frozen=True, eq=False, repr=False)
class Trace(LoadedInput[columns.Trace]):
    """An execution trace, analysed on demand; times are int64 nanoseconds.

    `data` has the decoded columns; see `model.traces.trace.Trace`.
    """

    kind: ClassVar[KindId] = "trace"

    path: str = "trace"

    def __repr__(self) -> str:
        return repr(self.data)

    def __sub__(self, base: Trace) -> TraceDiff:
        """Return what changed from base to this trace."""
        return subtracted([base], [self])

    @property
    def _analysed(self) -> TraceSide:
        return self.side

    @cached_property
    def side(self) -> TraceSide:
        """The data for comparisons, in numpy columns."""
        return TraceSide(self.label or self.path, self.path, self.data)

    @property
    def goroutines(self) -> pd.DataFrame:
        """One row per root function, largest total first; index: its name.

        Times are sums over its goroutines, int64 nanoseconds, 0 if there were none, and
        match ``go tool trace`` (`analysis.traces.goroutines.Times`).

        ==================== ========================================= ==========
        count                number of goroutines                      int64
        total_ns             their lifetimes within the trace          int64
        exec_ns              running                                   int64
        sched_wait_ns        runnable, not running                     int64
        syscall_ns,          in system calls, with and without a P     int64
        syscall_block_ns
        unknown_ns           while the trace starts                    int64
        block_ns (reason)    blocked; one column per reason that Go    int64
                             names (`analysis.traces.times`), such as
                             network, sync or sleep, and
                             ``block_ns ()`` if there is no reason
        range_ns (GC mark    in mark assists and sweeps; overlaps with int64
        assist), range_ns    the others
        (GC incremental
        sweep)
        range_ns             stopping the world, for each kind in the  int64
        (stop-the-world (…)) trace
        system, tracing      all of them belong to the runtime, or to  bool
                             the tracer
        ==================== ========================================= ==========
        """
        return self._copy("goroutines", self.side.groups.to_frame)

    @property
    def states(self) -> pd.DataFrame:
        """One row per goroutine state interval, by goroutine, then time.

        ============== ============================================= ============
        goroutine      Go's goroutine id, as in `latency`            int64
        name           its root function, as in `goroutines`         categorical
        state          running, runnable, waiting, syscall,          categorical
                       syscall_blocked or gone
        reason         why it waits or stopped, may be ""            categorical
        start_ns,      start and end                                 int64
        end_ns
        stack          index of the stack where it began             int32
        processor,     Go's ids; `by` is the goroutine that caused   Int64
        thread, by     the transition; missing if there is none
        ============== ============================================= ============
        """
        return self._copy("states", self._states)

    @property
    def latency(self) -> pd.DataFrame:
        """One row per scheduling wait, by goroutine, then time.

        ============== ============================================= ============
        start_ns,      start and length                              int64
        duration_ns
        goroutine      Go's goroutine id, as in `states`             int64
        name           its root function, as in `goroutines`         categorical
        cut            only partly recorded, or did not end in       bool
                       running: the duration is not a latency
        gc_mark_ns,    how much of it was in GC mark phases, in      int64
        stw_ns,        stop-the-world, without an idle P; these
        busy_ns        overlap
        cause          what made it runnable: created, preempted,    categorical
                       yielded, stopped, system call, unknown or
                       ``unblocked: reason``
        ============== ============================================= ============
        """
        return self._copy("latency", lambda: self.side.waits.to_frame(self.data))

    @property
    def stw(self) -> pd.DataFrame:
        """One row per stop-the-world: kind, start_ns (int64), duration_ns (Int64).

        A duration is missing if its end is not in the trace.
        """
        return self._copy("stw", self._stw)

    @property
    def heap(self) -> pd.DataFrame:
        """One row per change of live_bytes or goal_bytes (Int64), by time_ns.

        Each column keeps its last value; it is missing before the first one.
        """
        return self._copy("heap", lambda: heap_frame(self.data))

    @cached_property
    def processors(self) -> Processors:
        """What the Ps did."""
        return self.side.processors

    @property
    def tasks(self) -> pd.DataFrame:
        """One row per type of user task; see `traces.tasks.Durations.to_frame`."""
        return self._copy("tasks", lambda: tasks(self.data).to_frame())

    @property
    def regions(self) -> pd.DataFrame:
        """One row per type of user region; see `traces.tasks.Durations.to_frame`."""
        return self._copy("regions", lambda: regions(self.data).to_frame())

    def mmu(self, windows_ns: Sequence[int]) -> pd.Series[float]:
        """Return the minimum mutator utilization (a fraction) by window in ns.

        Windows are clipped to the trace's length; missing if that is 0.
        """
        import numpy as np
        import pandas as pd

        windows = np.asarray(windows_ns, np.int64)
        index = pd.Index(windows, name="window_ns")
        shares = mmu_curve(self.side.utilisation, windows)
        return pd.Series(shares if len(shares) else np.nan, index, "float64", "mmu")

    def profile(self, state: StateName) -> Profile:
        """Return time running, runnable, blocked or in system calls, by stack.

        Sample types are intervals/count and the state's name/nanoseconds, as with
        ``--state``; labels are goroutine and reason. Raises UsageError for any other
        state.
        """
        return Profile(named_for_state(self.data, state), self.label, self.path)

    def cpu(self) -> Profile | None:
        """Return the CPU samples in the trace; None if no CPU profile ran."""
        samples = cpu_profile(self.data)
        return None if samples is None else Profile(samples, self.label, self.path)

    def export(self, kind: Literal["net", "sync", "syscall", "sched"]) -> Profile:
        """Return what ``go tool trace -pprof=kind`` writes."""
        return Profile(export(self.data, kind), self.label, self.path)

    @cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        return {}

    def _copy(self, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a copy of a cached frame, which the caller may change."""
        if name not in self._frames:
            self._frames[name] = make()
        return self._frames[name].copy()

    def _states(self) -> pd.DataFrame:
        frame = self.data.to_frame()
        frame["name"] = frame["name"].map(root_name).astype("category")
        return frame

    def _stw(self) -> pd.DataFrame:
        import pandas as pd

        ranges, strings = self.data.ranges, self.data.strings
        stops = ranges.take(ranges.kind == RangeKind.STOP_THE_WORLD)
        duration = pd.Series(stops.end_ns - stops.start_ns, dtype="Int64")
        return pd.DataFrame(
            {
                "kind": pd.Series(
                    [strings[i] for i in stops.name.tolist()], dtype="str"
                ),
                "start_ns": stops.start_ns,
                "duration_ns": duration.mask(stops.end_ns < 0),
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class TraceDiff(KindDiff[compare.TraceDiff]):
    """What changed between two execution traces.

    Raw times are int64 nanoseconds; ``…_scaled`` are nanoseconds per second of wall
    time, or per op if `work` or `rps` were given: see ``data.mode``.
    """

    kind: ClassVar[KindId] = "trace"

    def __repr__(self) -> str:
        base, new = self.data.sides
        wall = " → ".join(scaled(side.wall_ns, "ns") for side in (base, new))
        p99 = " → ".join(
            "–" if side.latency.p99_ns is None else scaled(side.latency.p99_ns, "ns")
            for side in (base, new)
        )
        return (
            f"<TraceDiff {base.label!r} → {new.label!r}: {wall}, p99 scheduling "
            f"latency {p99}>"
        )

    @property
    def states(self) -> pd.DataFrame:
        """Time of the program's goroutines by state: one row per state.

        ============== ============================================= ============
        state          running, runnable, syscall, syscall_block,    string
                       unknown or blocked
        reason         why blocked, "" otherwise                     string
        base_ns,       raw nanoseconds over all goroutines           int64
        new_ns,
        delta_ns
        base_scaled,   the same per second or per op                 float64
        new_scaled,
        delta_scaled
        ============== ============================================= ============
        """
        return states_frame(self.data)

    @property
    def waited(self) -> pd.DataFrame:
        """What goroutines that do the work waited for: one row per place and end.

        A wait is followed through the goroutines that ended it to what held it up. Rows
        add up to the time blocked, exactly.

        ============== ============================================= ============
        reason,        where goroutines wait: Go's reason, the       string
        function, call program's function and what it called
        line           the line there with most of the time, or ""   string
        end_kind       running, processor, syscall, network, timer,  string
                       gc, blocked (no goroutine ended it) or
                       created (the waker did not exist yet)
        end_function,  where: the program's function, and the system string
        end_call       call or reason
        base_ns,       raw nanoseconds over all goroutines           int64
        new_ns,
        delta_ns
        base_scaled,   the same per second or per op                 float64
        new_scaled,
        delta_scaled
        ============== ============================================= ============
        """
        return waits_frame(self.data)

    @property
    def goroutines(self) -> pd.DataFrame:
        """One row per root function, largest change first; index: its name.

        For each of total, exec (running), sched_wait (runnable), syscall,
        syscall_block, unknown and block there are ``base_T_ns``, ``new_T_ns``,
        ``delta_T_ns`` (int64, 0 if a side has none) and ``delta_T_scaled``.

        ============== ============================================= ============
        status         both, new or gone                             categorical
        base_count,    number of goroutines                          int64
        new_count,
        delta_count
        runtime        all belong to the runtime or the tracer       bool
        ============== ============================================= ============
        """
        return groups_frame(self.data)

    @property
    def latency(self) -> pd.DataFrame:
        """Scheduling latency: one row per quantile; index: p50, p90, p99, p99.9, max.

        ============== ============================================= ============
        base_ns,       nearest rank; missing without waits           Int64
        new_ns,
        delta_ns
        delta_low_ns,  95% CI of the delta; missing if the trace is  Int64
        delta_high_ns  too short
        base_count,    number of waits                               int64
        new_count
        ============== ============================================= ============
        """
        return latency_frame(self.data)

    @property
    def waits(self) -> pd.DataFrame:
        """Both sides' scheduling waits: `Trace.latency` with a column `side`.

        If a side has several traces, the longest is used.
        """
        longest = (side.longest for side in self.data.sides)
        frames = (side.waits.to_frame(side.trace) for side in longest)
        return sided(*frames)

    @property
    def stw(self) -> pd.DataFrame:
        """One row per kind of stop-the-world; index: the kind.

        Columns: base_, new_, delta_count (int64); base_, new_, delta_total_ns (int64),
        delta_total_scaled; base_longest_ns, new_longest_ns (Int64).
        """
        return stops_frame(self.data)

    @property
    def mmu(self) -> pd.DataFrame:
        """Minimum mutator utilization by window_ns (index).

        Columns: base, new, delta (float64); windows longer than a trace are left out.
        """
        return mmu_frame(self.data)

    @property
    def figures(self) -> pd.DataFrame:
        """Every figure of the report, raw: one row per figure; index: its name.

        Columns: label, base, new, delta, ratio (float64; NaN if unknown or base is 0),
        unit (ns, bytes, share or count). Times are sums over the whole traces.
        """
        return figures_frame(self.data)

    plot_latency = plotted("latency", "the distribution of scheduling latency")
    plot_mmu = plotted("mmu", "the minimum mutator utilization")
    plot_waits = plotted("waits", "what goroutines waited for in the end")
    plot_wait_chains = plotted("flamegraph", "who waited for whom as one flame graph")
    plot_states = plotted("states", "goroutine time by state and root function")

    def wait_chains(self, height: int = 340, *, budget: int = 1_500) -> FlameGraph:
        """Return who waited for whom for Jupyter, `height` CSS pixels high.

        Each place waits for what is below it; the last is what was done in the
        meantime. Where frames are not supported, a picture is shown instead.
        """
        from pprofdiff.notebook.flames import FlameGraph

        return FlameGraph(self.data, height, budget)


def subtracted(
    base: Sequence[Trace], new: Sequence[Trace], settings: Settings = DEFAULTS
) -> TraceDiff:
    """Return new minus base; several traces of a side are added up."""
    sides = side_of(base, "base"), side_of(new, "new")
    old, current = (
        sum(one.data.end_ns - one.data.start_ns for one in traces) / 1e9
        for traces in (base, new)
    )
    data = compare.compare_traces(
        (sides[0].label, sides[0].of("trace")),
        (sides[1].label, sides[1].of("trace")),
        settings.work,
        (old, current),
        settings.identity_of(*map(stacks_of, sides)),
    )
    return TraceDiff(data, sides)
