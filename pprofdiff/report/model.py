"""`ReportModel`: all that any writer may show, so that writers cannot disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pprofdiff.analysis.comparison import Comparison, gc_caveats, load_caveats
from pprofdiff.analysis.findings.model import Findings
from pprofdiff.analysis.findings.rules import find
from pprofdiff.analysis.gate.model import Verdict
from pprofdiff.analysis.profiles.caveats import Caveat, go_version
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.granularity import Granularity
from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.analysis.profiles.side import Run
from pprofdiff.analysis.side import LogRun, Side, TraceRun

if TYPE_CHECKING:
    from pprofdiff.analysis.gate.rules import Gate

__all__ = ["SCREEN", "Input", "ReportModel", "Scope", "report_of"]


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
    saved: tuple[Sequence[str | None], Sequence[str | None]] | None = None,
    gate: Gate | None = None,
) -> ReportModel:
    """Return the report of a comparison, judged by the gate if there is one.

    `saved` names, for each side, the copy of each of its runs; None for local files.
    """
    told: dict[str, Caveat] = {c.text: c for c in warnings}
    for diff in comparison.profiles:
        for caveat in diff.warnings:
            told.setdefault(caveat.text, caveat)
    of_logs = [] if comparison.gc is None else comparison.gc.caveats()
    if comparison.trace is not None:
        of_logs += comparison.trace.caveats()
    of_sides = comparison.base, comparison.new
    for caveat in (*of_logs, *gc_caveats(*of_sides), *load_caveats(*of_sides)):
        told.setdefault(caveat.text, caveat)
    findings, verdict = find(comparison), Verdict()
    if gate is not None and gate.rules:
        from pprofdiff.analysis.gate.judging import judge, verdict_caveats
        from pprofdiff.analysis.gate.measures import Judged

        verdict = judge(gate, Judged(comparison, findings))
        for caveat in verdict_caveats(verdict):
            told.setdefault(caveat.text, caveat)
    sides = (comparison.base, comparison.new)
    copies = saved or tuple([None] * len(side.runs) for side in sides)
    return ReportModel(
        labels=(comparison.base.label, comparison.new.label),
        inputs=(_inputs(sides[0], copies[0]), _inputs(sides[1], copies[1])),
        comparison=comparison,
        warnings=tuple(told.values()),
        filters=tuple(filters),
        findings=findings,
        verdict=verdict,
    )


def _inputs(side: Side, saved: Sequence[str | None]) -> tuple[Input, ...]:
    """Return a side's files; all profiles together tell which Go built the program."""
    version = go_version(*(run.profile for run in side.runs))
    profiles = [
        _input(run, version, copy) for run, copy in zip(side.runs, saved, strict=True)
    ]
    benchmarks = [
        Input(path, "benchmark", results=len({r.name for r in output.results}))
        for path, output in side.benchmarks
    ]
    loads = [
        Input(path, load.tool, per_second=load.per_second) for path, load in side.loads
    ]
    traces = [_trace_input(entry) for entry in side.traces]
    return (*profiles, *map(_log_input, side.logs), *traces, *benchmarks, *loads)


def _trace_input(entry: TraceRun) -> Input:
    """Return what an execution trace holds."""
    trace = entry.trace
    return Input(
        path=entry.path,
        kind="trace",
        duration_ns=trace.end_ns - trace.start_ns,
        events=trace.events,
    )


def _log_input(entry: LogRun) -> Input:
    """Return what a GC log holds, all its runs together."""
    runs = entry.log.runs
    ends = [int(run.cycles.start_ms[-1]) for run in runs if run.lines_seen]
    return Input(
        path=entry.path,
        kind="gctrace",
        duration_ns=max(ends) * 1_000_000 if ends else None,
        cycles=sum(run.lines_seen for run in runs),
        expected=sum(run.lines_expected for run in runs),
    )


def _input(run: Run, version: str | None, saved_to: str | None) -> Input:
    profile = run.profile
    kinds = [kind.type for kind in profile.sample_types]
    samples = len(profile)
    if "samples" in kinds:
        samples = int(np.abs(profile.values[:, kinds.index("samples")]).sum())
    return Input(
        path=run.path,
        kind=kind_name(profile),
        samples=samples,
        go_version=version,
        build_id=profile.mappings[0].build_id or None if profile.mappings else None,
        duration_ns=profile.duration_ns,
        time_ns=profile.time_ns,
        period=profile.period,
        saved_to=saved_to,
    )
