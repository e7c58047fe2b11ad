"""What `load` returns for an execution trace: its figures as DataFrames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pprofdiff.analysis.traces.collector import Collections
from pprofdiff.analysis.traces.exports import export
from pprofdiff.analysis.traces.goroutines import root_name
from pprofdiff.analysis.traces.mutators import mmu_curve
from pprofdiff.analysis.traces.processors import Processors, runnable, running
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.analysis.traces.states import StateName, named_for_state
from pprofdiff.analysis.traces.tasks import cpu_profile, regions, tasks
from pprofdiff.api.profiles import Profile, merged
from pprofdiff.api.tracediff import TraceDiff, compare_traces
from pprofdiff.model.traces import trace as columns
from pprofdiff.model.traces.timeline import RangeKind

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Trace"]


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """An execution trace, analysed as far as is asked; times are int64 nanoseconds.

    `data` holds what was decoded, column by column; see `model.traces.trace.Trace`.
    """

    data: columns.Trace
    label: str | None = None
    path: str = "trace"

    def __repr__(self) -> str:
        """Return one line: format, duration, events, goroutines."""
        return repr(self.data)

    def __sub__(self, base: Trace) -> TraceDiff:
        """Return what changed from base to this."""
        return compare_traces([base], [self])

    @property
    def drawable(self) -> TraceSide:
        """What `pprofdiff.plots` draws."""
        return self.side

    @cached_property
    def side(self) -> TraceSide:
        """What comparisons are made of, in columns of numpy."""
        return TraceSide(self.label or self.path, self.path, self.data)

    @cached_property
    def goroutines(self) -> pd.DataFrame:
        """One row a root function, largest total first; index: its name.

        Times are sums over its goroutines, int64 nanoseconds, 0 for what there was
        none of; they are those of ``go tool trace`` (`diff.trace.goroutines.Times`).

        ==================== ========================================= ==========
        column               meaning                                   type
        ==================== ========================================= ==========
        count                how many goroutines                       int64
        total_ns             their lives within the trace              int64
        exec_ns              running                                   int64
        sched_wait_ns        runnable, not running                     int64
        syscall_ns,          in system calls, with a processor and     int64
        syscall_block_ns     without
        unknown_ns           not told by the trace                     int64
        block_ns (reason)    blocked; a column for each reason that    int64
                             Go names (`diff.trace.times`), such as
                             network, sync or sleep, and
                             ``block_ns ()`` if the trace tells none
        range_ns (GC mark    within mark assists and sweeps; overlaps  int64
        assist), range_ns    with the others
        (GC incremental
        sweep)
        range_ns             stopping the world, for each kind that    int64
        (stop-the-world (…)) the trace has
        system, tracing      all of them are the runtime's, or there   bool
                             because of the trace
        ==================== ========================================= ==========
        """
        return self.side.groups.to_frame()

    @cached_property
    def created(self) -> pd.DataFrame:
        """As `goroutines`, by the function that created them."""
        return self.side.by_creation.to_frame()

    @cached_property
    def states(self) -> pd.DataFrame:
        """One row an interval of a goroutine, by goroutine, then in time.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        goroutine      Go's id of it, as in `latency`                int64
        name           its root function, as in `goroutines`         categorical
        state          running, runnable, waiting, syscall,          categorical
                       syscall_blocked or gone
        reason         why it waits or stopped, "" if not told       categorical
        start_ns,      when it begins and ends                       int64
        end_ns
        stack          number of where it began                      int32
        processor,     Go's ids of these, and of the goroutine that  Int64
        thread, by     made the change; missing if there is none
        ============== ============================================= ============
        """
        frame = self.data.to_frame()
        frame["name"] = frame["name"].map(root_name).astype("category")
        return frame

    @cached_property
    def latency(self) -> pd.DataFrame:
        """One row a wait for a processor, by goroutine, then in time.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        start_ns,      when it began, and how long it was            int64
        duration_ns
        goroutine      Go's id of it, as in `states`                 int64
        name           its root function, as in `goroutines`         categorical
        cut            only a part is seen, or it did not lead to    bool
                       running: the duration is no latency
        gc_mark_ns,    how much of it the GC was marking, the world  int64
        stw_ns,        was stopped, no processor was idle; these
        busy_ns        overlap
        cause          what made it runnable: created, preempted,    categorical
                       yielded, stopped, system call, unknown or
                       ``unblocked: reason``
        ============== ============================================= ============
        """
        return self.side.waits.to_frame(self.data)

    @cached_property
    def stw(self) -> pd.DataFrame:
        """One row a stop of the world: kind, start_ns (int64), duration_ns (Int64).

        A duration is missing where the trace does not show the end.
        """
        import pandas as pd

        held, strings = self.data.ranges, self.data.strings
        stops = held.take(held.kind == RangeKind.STOP_THE_WORLD)
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

    @cached_property
    def heap(self) -> pd.DataFrame:
        """One row a change of live_bytes or goal_bytes (Int64), by time_ns.

        Each is what it last was; missing before the trace first tells it.
        """
        from pprofdiff.analysis.traces.frames import heap_frame

        return heap_frame(self.data)

    @cached_property
    def concurrency(self) -> pd.DataFrame:
        """One row a change of how many goroutines run or could, by time_ns.

        Columns: running, runnable (int64); both are 0 before the first row.
        """
        from pprofdiff.analysis.traces.frames import over_time

        held = over_time(running=running(self.data), runnable=runnable(self.data))
        return held.fillna(0).astype("int64")

    @cached_property
    def gc(self) -> Collections:
        """What the garbage collector did."""
        return self.side.collections

    @cached_property
    def processors(self) -> Processors:
        """What processors did."""
        return self.side.processors

    @cached_property
    def tasks(self) -> pd.DataFrame:
        """One row a type of user task; see `diff.trace.tasks.Durations.to_frame`."""
        return tasks(self.data).to_frame()

    @cached_property
    def regions(self) -> pd.DataFrame:
        """One row a type of user region; see `diff.trace.tasks.Durations.to_frame`."""
        return regions(self.data).to_frame()

    def mmu(self, windows_ns: Sequence[int]) -> pd.Series[float]:
        """Return the minimum mutator utilisation (a share) by window in ns.

        Windows longer than the trace are as long as it; missing in one of no length.
        """
        import numpy as np
        import pandas as pd

        windows = np.asarray(windows_ns, np.int64)
        index = pd.Index(windows, name="window_ns")
        found = mmu_curve(self.side.utilisation, windows)
        return pd.Series(found if len(found) else np.nan, index, "float64", "mmu")

    def profile(self, state: StateName) -> Profile:
        """Return time running, runnable, blocked or syscall by stack.

        Sample types are intervals/count and the state's name/nanoseconds, as with
        ``--state``; labels are goroutine and reason. Raises UsageError for any other.
        """
        return merged([named_for_state(self.data, state)], self.label, self.path)

    def cpu(self) -> Profile | None:
        """Return the CPU samples inside the trace; None if no CPU profile ran."""
        found = cpu_profile(self.data)
        return None if found is None else merged([found], self.label, self.path)

    def export(self, kind: Literal["net", "sync", "syscall", "sched"]) -> Profile:
        """Return what ``go tool trace -pprof=kind`` writes."""
        return merged([export(self.data, kind)], self.label, self.path)

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return what Jupyter shows: a table, and its twin in text."""
        from pprofdiff.notebook import shown
        from pprofdiff.notebook.inputs import trace_card

        return shown(lambda: trace_card(self.side), repr(self), include, exclude)
