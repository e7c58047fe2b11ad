"""What `load` returns for an execution trace: its figures as DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from pprofdiff.diff.trace.collector import Collections, collections
from pprofdiff.diff.trace.exports import export
from pprofdiff.diff.trace.goroutines import groups, stats
from pprofdiff.diff.trace.latency import runnable
from pprofdiff.diff.trace.processors import Processors, processors
from pprofdiff.diff.trace.states import StateName, state_profile
from pprofdiff.model import trace as columns
from pprofdiff.model.profile import Profile
from pprofdiff.model.tracemarks import RangeKind

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Trace"]


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """An execution trace, analysed as far as is asked; times are int64 nanoseconds.

    `data` holds what was decoded, column by column; see `model.trace.Trace`.
    """

    data: columns.Trace
    label: str | None = None
    path: str = "trace"

    def __repr__(self) -> str:
        """Return one line: format, duration, events, goroutines."""
        return repr(self.data)

    @cached_property
    def goroutines(self) -> pd.DataFrame:
        """One row a root function: count, and time by state, reason and range.

        The figures are those of ``go tool trace``; see `diff.trace.goroutines.Groups`.
        """
        return groups(self.data, stats(self.data)).to_frame()

    @cached_property
    def states(self) -> pd.DataFrame:
        """One row an interval of a goroutine; see `model.trace.Trace.to_frame`."""
        return self.data.to_frame()

    @cached_property
    def latency(self) -> pd.DataFrame:
        """One row a wait for a processor; see `diff.trace.latency.Waits.to_frame`."""
        return runnable(self.data).to_frame()

    @cached_property
    def stw(self) -> pd.DataFrame:
        """One row a stop of the world: kind, start_ns, duration_ns.

        Missing where the trace does not show the end.
        """
        import pandas as pd

        held, strings = self.data.ranges, self.data.strings
        stops = held.take(held.kind == RangeKind.STOP_THE_WORLD)
        duration = pd.Series(stops.end_ns - stops.start_ns, dtype="Int64")
        return pd.DataFrame(
            {
                "kind": [strings[i] for i in stops.name.tolist()],
                "start_ns": stops.start_ns,
                "duration_ns": duration.mask(stops.end_ns < 0),
            }
        )

    @cached_property
    def heap(self) -> pd.DataFrame:
        """One row a change of live_bytes or goal_bytes, by time_ns; both are filled."""
        import pandas as pd

        parts = [
            pd.DataFrame({name: series.value}, index=series.time_ns)
            for name, series in (
                ("live_bytes", self.data.heap_live_bytes),
                ("goal_bytes", self.data.heap_goal_bytes),
            )
        ]
        parts = [part[~part.index.duplicated(keep="last")] for part in parts]
        whole = parts[0].join(parts[1], how="outer").ffill().astype("Int64")
        return whole.rename_axis("time_ns").reset_index()

    @cached_property
    def gc(self) -> Collections:
        """What the garbage collector did."""
        return collections(self.data)

    @cached_property
    def processors(self) -> Processors:
        """What processors did."""
        return processors(self.data)

    def profile(self, state: StateName) -> Profile:
        """Return time running, runnable, blocked or syscall by stack."""
        return state_profile(self.data, state)

    def export(self, kind: Literal["net", "sync", "syscall", "sched"]) -> Profile:
        """Return what ``go tool trace -pprof=kind`` writes."""
        return export(self.data, kind)
