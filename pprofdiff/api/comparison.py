"""Two folders of evidence compared, as the command line does it: `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.gclogs.window import Span
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.side import Side
from pprofdiff.analysis.work import Work
from pprofdiff.api.benchmarks import Benchmarks, BenchmarksDiff
from pprofdiff.api.logs import GCLogDiff, as_gc_log
from pprofdiff.api.profiles import Diff
from pprofdiff.api.reported import Reported
from pprofdiff.api.tracediff import TraceDiff
from pprofdiff.api.traces import Trace
from pprofdiff.cli.options import Options
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.screen import Screen
from pprofdiff.errors import UsageError
from pprofdiff.inputs.sides import gather
from pprofdiff.report.model import ReportModel, report_of

if TYPE_CHECKING:
    from pprofdiff.analysis.gate.rules import Gate

__all__ = ["Comparison", "Paths", "compare_paths"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Everything that two sides' evidence tells, kind by kind.

    `findings` are drawn from all of it: the cause of a CPU profile's change is often in
    the GC log beside it. `notes` say what was left out.
    """

    data: analysis.Comparison
    notes: tuple[str, ...] = ()

    def report(self, gate: Gate | None = None) -> ReportModel:
        """Return the report that writers take, judged by the gate if there is one."""
        notes = [Caveat("input", note) for note in self.notes]
        return report_of(self.data, warnings=notes, gate=gate)

    def __repr__(self) -> str:
        """Return one line: the two sides, and what is compared."""
        logs = {
            "GC logs": self.gc,
            "traces": self.trace,
            "benchmarks": self.benchmarks,
        }
        kinds = [*self.profiles, *(name for name, found in logs.items() if found)]
        base, new = self.data.base.label, self.data.new.label
        return f"<Comparison {base!r} → {new!r}: {', '.join(kinds)}>"

    @property
    def comparison(self) -> analysis.Comparison:
        """What is compared, as `pprofdiff.analysis.comparison` holds it."""
        return self.data

    @cached_property
    def profiles(self) -> dict[str, Diff]:
        """The profiles' diffs by name, such as cpu or ``allocs/alloc_objects``."""
        found: dict[str, Diff] = {}
        for one in self.data.profiles:
            name = one.name
            key = f"{name}/{one.sample_type.type}" if name in found else name
            values = {f.name: getattr(one, f.name) for f in fields(ProfileDiff)}
            found[key] = Diff(**values)
        return found

    def __getitem__(self, name: str) -> Diff:
        """Return the diff of one kind of profile; UsageError where there is none."""
        if name not in self.profiles:
            there = ", ".join(self.profiles) or "none"
            raise UsageError(f"no {name!r} on both sides; the profiles are: {there}")
        return self.profiles[name]

    @cached_property
    def gc(self) -> GCLogDiff | None:
        """The GC logs' diff, None where a side has none."""
        found = self.data.gc
        if found is None:
            return None
        base, new = (
            tuple(as_gc_log(run.log, side.label, run.path) for run in side.logs)
            for side in (self.data.base, self.data.new)
        )
        return GCLogDiff(found.base, found.new, found.rates, (base, new))

    @cached_property
    def trace(self) -> TraceDiff | None:
        """The execution traces' diff, None where a side has none."""
        if self.data.trace is None:
            return None
        base, new = (
            tuple(Trace(run.trace, side.label, run.path) for run in side.traces)
            for side in (self.data.base, self.data.new)
        )
        return TraceDiff(self.data.trace, (base, new))

    @cached_property
    def benchmarks(self) -> BenchmarksDiff | None:
        """The benchmarks' diff, None where a side has none."""
        if self.data.benchmarks is None:
            return None
        base, new = (_outputs(side) for side in (self.data.base, self.data.new))
        return BenchmarksDiff(self.data.benchmarks, (base, new))


def compare_paths(
    base: Paths,
    new: Paths,
    *,
    normalize: bool = False,
    work: Work | None = None,
    spans: tuple[Span | None, Span | None] = (None, None),
) -> Comparison:
    """Read what lies at both sides' paths and compare it kind by kind.

    Raises FetchError or FormatError for what cannot be read, UsageError where nothing
    pairs.
    """
    options = Options(base=_words(base), new=_words(new))
    screen = Screen(StringIO(), StringIO())
    inputs = gather(options, screen, Waiting(StringIO(), enabled=False))
    if inputs.base is None:
        raise UsageError("base: there is nothing on this side")
    found = analysis.compare_sides(
        inputs.base, inputs.new, normalize=normalize, work=work, spans=spans
    )
    return Comparison(found, tuple(inputs.notes))


def _words(paths: Paths) -> tuple[str, ...]:
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)


def _outputs(side: Side) -> tuple[Benchmarks, ...]:
    return tuple(
        Benchmarks(run.benchmarks, side.label, run.path) for run in side.benchmarks
    )
