"""What one side brought: profiles, traces, logs, benchmarks, load figures, by file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.profiles.side import Run

if TYPE_CHECKING:
    from pprofdiff.model.benchmarks import Benchmarks, Load
    from pprofdiff.model.gclogs import GCLog
    from pprofdiff.model.traces.trace import Trace

__all__ = ["BenchmarkRun", "LoadRun", "LogRun", "Side", "TraceRun"]


class LogRun(NamedTuple):
    """One GC log of a side: the name the user knows it by, and what it holds."""

    path: str
    log: GCLog


class TraceRun(NamedTuple):
    """One execution trace of a side: the name the user knows it by, and the trace."""

    path: str
    trace: Trace


class BenchmarkRun(NamedTuple):
    """One benchmark output of a side: the name the user knows it by, and results."""

    path: str
    benchmarks: Benchmarks


class LoadRun(NamedTuple):
    """One load generator's summary, and the name the user knows it by."""

    path: str
    load: Load


class Side(NamedTuple):
    """All that is known of one side, under the word for it in tables."""

    label: str
    runs: tuple[Run, ...] = ()
    logs: tuple[LogRun, ...] = ()
    benchmarks: tuple[BenchmarkRun, ...] = ()
    loads: tuple[LoadRun, ...] = ()
    traces: tuple[TraceRun, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which kinds other than profiles there are, as reports name them."""
        held = {
            "trace": self.traces,
            "gctrace": self.logs,
            "benchmark": self.benchmarks,
            "load": self.loads,
        }
        return tuple(kind for kind, runs in held.items() if runs)
