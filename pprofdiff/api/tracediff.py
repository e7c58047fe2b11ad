"""What comparing two execution traces gives: figures of both as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.side import Side, TraceRun
from pprofdiff.analysis.traces import compare
from pprofdiff.analysis.work import Work
from pprofdiff.api.plotted import PlottedTraces
from pprofdiff.api.reported import Reported
from pprofdiff.model.traces.trace import Trace
from pprofdiff.units import scaled

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Labelled", "TraceDiff", "compare_traces"]


class Labelled(Protocol):
    """A trace that knows where it is from, as `pprofdiff.Trace` does."""

    @property
    def data(self) -> Trace:
        """What was decoded."""

    @property
    def label(self) -> str | None:
        """The word for it in tables."""

    @property
    def path(self) -> str:
        """The name the user knows it by."""


@dataclass(frozen=True, eq=False, repr=False)
class TraceDiff(Reported, PlottedTraces):
    """What changed between two execution traces.

    Raw times are int64 nanoseconds; ``…_scaled`` are nanoseconds per second of wall
    time, or by operation where `work` or `rps` were given: `mode` says which. `data`
    holds what frames are made of, see `diff.trace.compare.TraceDiff`.
    """

    data: compare.TraceDiff
    traces: tuple[tuple[Labelled, ...], tuple[Labelled, ...]]

    def __repr__(self) -> str:
        """Return one line: lengths, and the 99th percentile of waits."""
        base, new = self.data.sides
        wall = " → ".join(scaled(side.wall_ns, "ns") for side in (base, new))
        p99 = " → ".join(
            "–" if side.latency.p99_ns is None else scaled(side.latency.p99_ns, "ns")
            for side in (base, new)
        )
        return (
            f"<TraceDiff {base.label!r} → {new.label!r}: {wall}, p99 wait for a "
            f"processor {p99}>"
        )

    @property
    def mode(self) -> str:
        """What scaled times are: ``per_second`` of wall time, or ``per_work``."""
        return self.data.mode

    @property
    def drawable(self) -> compare.TraceDiff:
        """What `pprofdiff.plots` draws."""
        return self.data

    @property
    def states(self) -> pd.DataFrame:
        """Where the program's goroutines spend time: one row a state.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        state          running, runnable, syscall, syscall_block,    string
                       unknown or blocked
        reason         why blocked, "" otherwise                     string
        base_ns,       raw nanoseconds over all goroutines           int64
        new_ns,
        delta_ns
        base_scaled,   the same by second or operation               float64
        new_scaled,
        delta_scaled
        ============== ============================================= ============
        """
        from pprofdiff.analysis.traces.frames import states_frame

        return states_frame(self.data)

    @property
    def goroutines(self) -> pd.DataFrame:
        """One row a root function, those that moved most first; index: its name.

        For each of total, exec (running), sched_wait (runnable), syscall,
        syscall_block, unknown and block there are ``base_T_ns``, ``new_T_ns``,
        ``delta_T_ns`` (int64, 0 where a side has none) and ``delta_T_scaled``.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        status         both, new or gone                             categorical
        base_count,    how many goroutines                           int64
        new_count,
        delta_count
        runtime        all of them are the runtime's or the trace's  bool
        ============== ============================================= ============
        """
        from pprofdiff.analysis.traces.frames import groups_frame

        return groups_frame(self.data)

    @property
    def created(self) -> pd.DataFrame:
        """As `goroutines`, by the function that created them."""
        from pprofdiff.analysis.traces.frames import groups_frame

        return groups_frame(self.data, "by_creation")

    @property
    def latency(self) -> pd.DataFrame:
        """Waits for a processor: one row a quantile; index: p50, p90, p99, p99.9, max.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        base_ns,       nearest rank; missing without waits           Int64
        new_ns,
        delta_ns
        delta_low_ns,  95 % interval of the delta; missing where     Int64
        delta_high_ns  too little was traced to tell
        base_count,    how many waits                                int64
        new_count
        ============== ============================================= ============
        """
        from pprofdiff.analysis.traces.frames import latency_frame

        return latency_frame(self.data)

    @property
    def waits(self) -> pd.DataFrame:
        """Both sides' waits for a processor: `Trace.latency`, and a column `side`."""
        from pprofdiff.analysis.traces.frames import sided

        frames = (side.waits.to_frame(side.trace) for side in self.data.sides)
        return sided(*frames)

    @property
    def stw(self) -> pd.DataFrame:
        """One row a kind of stop of the world; index: the kind.

        Columns: base_, new_, delta_count (int64); base_, new_, delta_total_ns (int64),
        delta_total_scaled; base_longest_ns, new_longest_ns (Int64).
        """
        from pprofdiff.analysis.traces.frames import stops_frame

        return stops_frame(self.data)

    @property
    def mmu(self) -> pd.DataFrame:
        """Least shares of the processors left to the program, by window_ns (index).

        Columns: base, new, delta (float64); windows longer than a trace are left out.
        """
        from pprofdiff.analysis.traces.frames import mmu_frame

        return mmu_frame(self.data)

    @property
    def heap(self) -> pd.DataFrame:
        """Both sides' `Trace.heap`: side, time_ns, live_bytes, goal_bytes."""
        from pprofdiff.analysis.traces.frames import heap_frame, sided

        return sided(*(heap_frame(side.trace) for side in self.data.sides))

    @property
    def figures(self) -> pd.DataFrame:
        """Sums over the whole traces, raw: one row a figure; index: its name.

        Columns: base, new, delta, ratio (float64; NaN where a trace does not tell, or
        the base is 0), unit (ns, bytes, share or count).
        """
        from pprofdiff.analysis.traces.frames import figures_frame

        return figures_frame(self.data)

    @property
    def comparison(self) -> Comparison:
        """The comparison by itself, as `pprofdiff.analysis.comparison` holds it."""
        base, new = (
            Side(side.label, traces=tuple(TraceRun(t.path, t.data) for t in traces))
            for side, traces in zip(self.data.sides, self.traces, strict=True)
        )
        return Comparison(base, new, trace=self.data)


def compare_traces(
    base: Sequence[Labelled], new: Sequence[Labelled], *, work: Work | None = None
) -> TraceDiff:
    """Return new minus base; of several traces of a side, the longest.

    Operations counted in `work` were done while the longest was recorded.
    """
    sides = [
        (traces[0].label or word, [TraceRun(t.path, t.data) for t in traces])
        for traces, word in ((base, "base"), (new, "new"))
    ]
    seconds = [
        max(run.trace.end_ns - run.trace.start_ns for run in runs) / 1e9
        for _, runs in sides
    ]
    found = compare.compare_traces(sides[0], sides[1], work, (seconds[0], seconds[1]))
    return TraceDiff(found, (tuple(base), tuple(new)))
