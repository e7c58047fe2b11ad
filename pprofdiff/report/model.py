"""`ReportModel`: all that any writer may show, so that writers cannot disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.findings.model import Findings
from pprofdiff.analysis.findings.rules import find
from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.analysis.profiles.caveats import Caveat, go_version
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.granularity import Granularity
from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side

if TYPE_CHECKING:
    from pprofdiff.analysis.gate.rules import Gate
    from pprofdiff.model.gclogs import GCLog
    from pprofdiff.model.traces.trace import Trace

__all__ = ["SCREEN", "Input", "ReportModel", "Scope", "judged", "report_of"]


class Input(NamedTuple):
    """One file that went in; None where it does not say.

    `samples` are of a profile; of a GC log, `cycles` were read where the numbers tell
    of `expected`, up to `duration_ns` after the start; `results` are a benchmark's.
    """

    path: str
    kind: str
    samples: int | None = None
    go_version: str | None = None
    build_id: str | None = None
    duration_ns: int | None = None
    time_ns: int | None = None
    period: int | None = None
    saved_to: str | None = None
    cycles: int | None = None
    expected: int | None = None
    results: int | None = None
    events: int | None = None
    per_second: float | None = None


class ReportModel(NamedTuple):
    """A finished comparison: inputs, what changed, and what to know about it.

    `labels`, `inputs` are (base, new); `filters` are the choices that differ from the
    defaults, as typed; `findings` say why; `verdict` is the gate's.
    """

    labels: tuple[str, str]
    inputs: tuple[tuple[Input, ...], tuple[Input, ...]]
    comparison: Comparison
    warnings: tuple[Caveat, ...]
    filters: tuple[str, ...]
    findings: Findings
    verdict: Verdict = Verdict()

    @property
    def profiles(self) -> tuple[ProfileDiff, ...]:
        """The comparisons, most telling first."""
        return self.comparison.profiles


class Scope(NamedTuple):
    """How much of a report is told.

    `granularity` is that of the rows: functions, lines or files. `joined` lists
    functions paired under two names. Tables of functions and call sites get up to
    `rows` rows, None for a screen's worth.
    """

    granularity: Granularity = "functions"
    joined: bool = False
    rows: int | None = None


SCREEN = Scope()
"""What fits a screen."""


def report_of(
    comparison: Comparison,
    *,
    filters: Sequence[str] = (),
    warnings: Sequence[Caveat] = (),
    gate: Gate | None = None,
    unread: Sequence[str] = (),
) -> ReportModel:
    """Return the report of a comparison, judged by the gate if there is one.

    `unread` has a line for each input that could not be read.
    """
    told: dict[str, Caveat] = {}
    lost = (Caveat("unread", line) for line in unread)
    for caveat in (*lost, *warnings, *comparison.caveats()):
        told.setdefault(caveat.text, caveat)
    report = ReportModel(
        labels=(comparison.base.label, comparison.new.label),
        inputs=(_inputs(comparison.base), _inputs(comparison.new)),
        comparison=comparison,
        warnings=tuple(told.values()),
        filters=tuple(filters),
        findings=find(comparison),
        verdict=Verdict(unread=tuple(unread)),
    )
    return report if gate is None else judged(report, gate)


def judged(report: ReportModel, gate: Gate) -> ReportModel:
    """Return the report with the gate's verdict; its findings are those it has.

    Nothing passes where an input could not be read.
    """
    if not gate.rules:
        return report
    from pprofdiff.analysis.gate.judging import judge, verdict_caveats
    from pprofdiff.analysis.gate.measures import Judged

    verdict = judge(gate, Judged(report.comparison, report.findings))
    unread = report.verdict.unread
    if unread:
        outcome = "none" if verdict.outcome == "pass" else verdict.outcome
        verdict = verdict._replace(outcome=outcome, unread=unread)
    told = {caveat.text: caveat for caveat in report.warnings}
    for caveat in verdict_caveats(verdict):
        told.setdefault(caveat.text, caveat)
    return report._replace(verdict=verdict, warnings=tuple(told.values()))


def _inputs(side: Side) -> tuple[Input, ...]:
    """Return a side's files; all profiles together tell which Go built the program."""
    profiles = side.of("profile")
    version = go_version(*(capture.content for capture in profiles))
    benchmarks = [
        Input(
            capture.path,
            "benchmark",
            results=len({result.name for result in capture.content.results}),
        )
        for capture in side.of("benchmark")
    ]
    summaries = [
        Input(capture.path, capture.content.tool, per_second=capture.content.per_second)
        for capture in side.of("load")
    ]
    return (
        *(_input(capture, version) for capture in profiles),
        *map(_log_input, side.of("gctrace")),
        *map(_trace_input, side.of("trace")),
        *benchmarks,
        *summaries,
    )


def _trace_input(entry: Capture[Trace]) -> Input:
    """Return what an execution trace holds."""
    trace = entry.content
    return Input(
        path=entry.path,
        kind="trace",
        duration_ns=trace.end_ns - trace.start_ns,
        events=trace.events,
    )


def _log_input(entry: Capture[GCLog]) -> Input:
    """Return what a GC log holds, all its runs together."""
    runs = entry.content.runs
    ends = [int(run.cycles.start_ms[-1]) for run in runs if run.lines_seen]
    return Input(
        path=entry.path,
        kind="gctrace",
        duration_ns=max(ends) * 1_000_000 if ends else None,
        cycles=sum(run.lines_seen for run in runs),
        expected=sum(run.lines_expected for run in runs),
    )


def _input(capture: Capture[Profile], version: str | None) -> Input:
    profile = capture.content
    kinds = [kind.type for kind in profile.sample_types]
    samples = len(profile)
    if "samples" in kinds:
        samples = int(np.abs(profile.values[:, kinds.index("samples")]).sum())
    return Input(
        path=capture.path,
        kind=kind_name(profile),
        samples=samples,
        go_version=version,
        build_id=profile.mappings[0].build_id or None if profile.mappings else None,
        duration_ns=profile.duration_ns,
        time_ns=profile.time_ns,
        period=profile.period,
        saved_to=capture.saved_to,
    )
