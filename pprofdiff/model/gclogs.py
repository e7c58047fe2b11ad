"""GC cycles as printed by ``GODEBUG=gctrace=1``, one column per field.

Source: the printing code at the end of gcMarkTermination, runtime/mgc.go. Times are
exact: the runtime prints at most three decimals of a millisecond. They read low, since
the runtime truncates (at most 10% of one number, 1 to 3% of a sum).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pprofdiff.model.arrays import Column, Integers, Mask

if TYPE_CHECKING:
    import pandas as pd


class Cycles(Struct, frozen=True, eq=False):
    """One row per GC cycle, in the order they ran; int64 columns.

    Wall and CPU time never share a column. CPU time of a stop-the-world phase is as the
    runtime prints it: wall time × min(GOMAXPROCS, CPUs), capacity withheld from the
    program rather than CPU used. Heap sizes are MiB, rounded down.
    """

    number: Column
    """N of ``gc N``: 1 for a process's first cycle, one more each time."""
    start_ms: Column
    """Start of sweep termination, milliseconds since the process started."""
    percent: Column
    """Share of all CPU capacity since the process started, whole percent, truncated."""
    sweep_termination_wall_us: Column
    """First stop-the-world phase."""
    mark_wall_us: Column
    """Concurrent mark (Go 1.5: scan and mark)."""
    mark_termination_wall_us: Column
    """Last stop-the-world phase (Go 1.5: plus the one that installs write barriers)."""
    sweep_termination_cpu_us: Column
    assist_cpu_us: Column
    """Mark assists: marking by goroutines that allocate."""
    background_cpu_us: Column
    """Dedicated and fractional mark workers (Go 1.5: with the scan phase)."""
    idle_cpu_us: Column
    """Mark workers on idle Ps."""
    mark_termination_cpu_us: Column
    heap_start_mb: Column
    """Heap when the cycle started: the trigger that was reached."""
    heap_end_mb: Column
    """Heap when marking ended: the peak."""
    heap_live_mb: Column
    """Live heap: what was marked."""
    goal_mb: Column
    """Heap goal of the cycle."""
    stacks_mb: Column | None
    """Stacks to scan; None before Go 1.18."""
    globals_mb: Column | None
    """Globals to scan; None before Go 1.18."""
    procs: Column
    """GOMAXPROCS."""
    forced: Mask
    """Marked ``(forced)``: requested by runtime.GC or debug.FreeOSMemory."""
    timer: Mask
    """Follows ``GC forced``: no cycle had run for two minutes."""
    repaired: Mask
    """Reassembled from pieces between other output."""

    def __len__(self) -> int:
        return len(self.number)

    def take(self, rows: Integers | slice) -> Cycles:
        """Return the chosen cycles, in that order."""
        return replace(self, **{name: c[rows] for name, c in self._printed().items()})

    def _printed(self) -> dict[str, Column | Mask]:
        columns = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: one for name, one in columns.items() if one is not None}

    def to_frame(self) -> pd.DataFrame:
        """Return the cycles as a DataFrame: index number, columns as above.

        Omits columns that the Go version does not print (stacks, globals before 1.18).
        """
        import pandas as pd

        printed = self._printed()
        index = pd.Index(printed.pop("number"), name="number")
        return pd.DataFrame(printed, index=index)


class GCRun(Struct, frozen=True, eq=False):
    """The GC cycles of one process, and the condition of its log lines.

    `torn` counts partial lines that could not be repaired, `repeated` extra copies of
    lines, and `swapped` lines that stood before the line they follow.
    """

    cycles: Cycles
    torn: int
    repeated: int = 0
    swapped: int = 0

    @property
    def lines_seen(self) -> int:
        """The number of cycles read."""
        return len(self.cycles)

    @property
    def lines_expected(self) -> int:
        """The number of cycles from the first to the last, by their numbers."""
        number = self.cycles.number
        return int(number[-1] - number[0]) + 1 if len(number) else 0


@dataclass(frozen=True, eq=False)
class GCLog:
    """The GC cycles in one log: a run for each process, in the order they begin.

    `mixed` is set if lines of several processes interleave and cannot be separated.
    """

    runs: tuple[GCRun, ...]
    mixed: bool = False

    @cached_property
    def longest(self) -> GCRun:
        """The run with the most cycles, the first if tied."""
        return max(self.runs, key=lambda run: run.lines_seen)

    @property
    def cycles(self) -> pd.DataFrame:
        """The cycles of the longest run; see `Cycles.to_frame`."""
        return self.longest.cycles.to_frame()
