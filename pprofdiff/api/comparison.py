"""Two folders of evidence compared, as the command line does it: `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING

from pprofdiff.api.benchmarks import Benchmarks, BenchmarksDiff
from pprofdiff.api.logs import GCLogDiff, as_gc_log
from pprofdiff.api.profiles import Diff
from pprofdiff.api.reported import Reported
from pprofdiff.api.tracediff import TraceDiff
from pprofdiff.api.traces import Trace
from pprofdiff.diff.bundle import BundleDiff, compare_bundles
from pprofdiff.diff.comparable import Caveat
from pprofdiff.diff.compare import ProfileDiff
from pprofdiff.diff.evidence import Evidence
from pprofdiff.diff.gcwindow import Span
from pprofdiff.diff.work import Work
from pprofdiff.errors import UsageError
from pprofdiff.gathering import gather
from pprofdiff.options import Options
from pprofdiff.progress import Waiting
from pprofdiff.report.model import ReportModel, report_of
from pprofdiff.screen import Screen

if TYPE_CHECKING:
    from pprofdiff.diff.gate.rules import Gate

__all__ = ["Comparison", "Paths", "compare_paths"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Everything that two sides' evidence tells, kind by kind.

    `findings` are drawn from all of it: the cause of a CPU profile's change is often in
    the GC log beside it. `notes` say what was left out.
    """

    held: BundleDiff
    notes: tuple[str, ...] = ()

    def report(self, gate: Gate | None = None) -> ReportModel:
        """Return the report that writers take, judged by the gate if there is one."""
        notes = [Caveat("input", note) for note in self.notes]
        return report_of(self.held, warnings=notes, gate=gate)

    def __repr__(self) -> str:
        """Return one line: the two sides, and what is compared."""
        logs = {
            "GC logs": self.gc,
            "traces": self.trace,
            "benchmarks": self.benchmarks,
        }
        kinds = [*self.profiles, *(name for name, found in logs.items() if found)]
        base, new = self.held.base.label, self.held.new.label
        return f"<Comparison {base!r} → {new!r}: {', '.join(kinds)}>"

    @property
    def bundle(self) -> BundleDiff:
        """What is compared, as `pprofdiff.diff.bundle` holds it."""
        return self.held

    @cached_property
    def profiles(self) -> dict[str, Diff]:
        """The profiles' diffs by name, such as cpu or ``allocs/alloc_objects``."""
        found: dict[str, Diff] = {}
        for one in self.held.profiles:
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
        found = self.held.gc
        if found is None:
            return None
        base, new = (
            tuple(as_gc_log(run.log, side.label, run.path) for run in side.logs)
            for side in (self.held.base, self.held.new)
        )
        return GCLogDiff(found.base, found.new, found.rates, (base, new))

    @cached_property
    def trace(self) -> TraceDiff | None:
        """The execution traces' diff, None where a side has none."""
        if self.held.trace is None:
            return None
        base, new = (
            tuple(Trace(run.trace, side.label, run.path) for run in side.traces)
            for side in (self.held.base, self.held.new)
        )
        return TraceDiff(self.held.trace, (base, new))

    @cached_property
    def benchmarks(self) -> BenchmarksDiff | None:
        """The benchmarks' diff, None where a side has none."""
        if self.held.benchmarks is None:
            return None
        base, new = (_outputs(side) for side in (self.held.base, self.held.new))
        return BenchmarksDiff(self.held.benchmarks, (base, new))


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
    found = compare_bundles(
        inputs.base, inputs.new, normalize=normalize, work=work, spans=spans
    )
    return Comparison(found, tuple(inputs.notes))


def _words(paths: Paths) -> tuple[str, ...]:
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)


def _outputs(side: Evidence) -> tuple[Benchmarks, ...]:
    return tuple(
        Benchmarks(run.benchmarks, side.label, run.path) for run in side.benchmarks
    )
