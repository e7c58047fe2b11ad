"""One run: read both sides, compare, and hand the report to its writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, cast

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.profiles.side import Run
from pprofdiff.analysis.side import Side
from pprofdiff.analysis.work import Work, counted, rated
from pprofdiff.cli.options import Options, active
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.screen import Screen
from pprofdiff.errors import UsageError
from pprofdiff.inputs.sides import Inputs, gather, made_pair
from pprofdiff.report.model import ReportModel, Scope, report_of
from pprofdiff.report.rows import Part
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.analysis.gate.rules import Gate
    from pprofdiff.analysis.gclogs.window import Span
    from pprofdiff.analysis.profiles.granularity import Granularity
    from pprofdiff.report.pprof.profile import ViewKind
    from pprofdiff.report.pprof.view import ViewOptions

__all__ = ["compared", "run"]

_PPROF_VIEWS = ("top", "peek", "proto")


def run(options: Options, screen: Screen) -> int:
    """Do what the options say and return the exit status."""
    if options.view in _PPROF_VIEWS:
        _pprof_view(options, screen)
        return 0
    gate = _gate(options)
    renderers = _renderers(options)
    with Waiting(screen.messages, enabled=options.progress) as waiting:
        report = compared(options, screen, waiting, gate)
        silent = options.only_if_changed and _unchanged(report)
        shown = [] if silent else list(_shown(report, options))
        if renderers and not silent:
            from pprofdiff.report.files import replace_files

            waiting.say("writing")
            replace_files([(path, render(report)) for path, render in renderers])
    _draw(shown, options, screen)
    _tell(report, options, screen, free=not shown)
    return 1 if report.verdict.outcome == "fail" else 0


def _tell(report: ReportModel, options: Options, screen: Screen, *, free: bool) -> None:
    """Say which rules tripped or had no data; `free`: no report was printed.

    GitHub's runner reads commands from both streams of a step. They go to standard
    output, as documented, where nothing else does; beside a report, which may be on its
    way into a file or another program, they go to standard error.
    """
    if options.github_summary:
        from pprofdiff.report.markdown.annotations import commands

        for line in commands(report.verdict):
            if free:
                screen.write(f"{line}\n")
            else:
                screen.say(line)
    elif free:
        from pprofdiff.report.sections.verdict import verdict_lines

        for line in verdict_lines(report.verdict):
            screen.say(printable(line))


def _gate(options: Options) -> Gate | None:
    """Return the rules, typed or from a file; None where the view shows no verdict."""
    if options.explain:
        return None
    from pprofdiff.cli.settings import with_settings

    options = with_settings(options, "")
    if not options.fail_on:
        return None
    from pprofdiff.analysis.gate.rules import Gate

    return Gate.of(options.fail_on, strict=options.strict)


def _unchanged(report: ReportModel) -> bool:
    """Return whether all is within noise and no rule tripped."""
    from pprofdiff.analysis.unchanged import changed

    if report.verdict.outcome == "fail":
        return False
    return not changed(report.comparison, report.findings)


def _shown(report: ReportModel, options: Options) -> Iterable[Part]:
    """Return what the screen gets."""
    if options.explain:
        from pprofdiff.report.sections.profiles.explain import explain

        return explain(report, options.explain)
    if options.quiet:
        return ()
    from pprofdiff.report.text.report import report_parts

    # Others are for views of go tool pprof alone, and refused without one.
    granularity = cast("Granularity", options.granularity)
    return report_parts(report, Scope(granularity, joined=options.joined))


def _renderers(options: Options) -> list[tuple[str, Callable[[ReportModel], bytes]]]:
    """Return each output file and what makes it; refuses unknown endings early."""
    if not options.outputs and not options.github_summary:
        return []
    from pprofdiff.report.files import github_summary, renderer_for

    found = [(path, renderer_for(path)) for path in options.outputs]
    return [*found, github_summary()] if options.github_summary else found


def _pprof_view(options: Options, screen: Screen) -> None:
    """Write what ``go tool pprof`` writes, to where ``-output`` says."""
    from pprofdiff.report.pprof.profile import net, view_bytes

    with Waiting(screen.messages, enabled=options.progress) as waiting:
        inputs = gather(options, screen, waiting)
        _must_have_profiles(options, inputs)
        profiles = [
            [run.profile for run in side.runs] if side is not None else []
            for side in (inputs.base, inputs.new)
        ]
        profile = net(
            profiles[1],
            profiles[0],
            label=options.subtract == "diff_base",
            normalize=options.normalize,
        )
        kind = cast("ViewKind", options.view)
        shaped = _view_options(options)
        data = view_bytes(profile, kind, shaped, pattern=options.peek, warn=screen.say)
    if options.outputs:
        from pprofdiff.report.files import replace_files

        replace_files([(path, data) for path in options.outputs])
    elif options.view != "proto":
        screen.write(data.decode())
    elif screen.out.isatty():
        raise UsageError("-proto writes binary data, not for a terminal: add -o FILE")
    else:
        screen.write_bytes(data)


def _view_options(options: Options) -> ViewOptions:
    """Return what shapes pprof's own views."""
    from pprofdiff.analysis.profiles.filters import Filters
    from pprofdiff.report.pprof.view import ViewOptions

    return ViewOptions(
        filters=Filters(
            focus=options.focus,
            ignore=options.ignore,
            hide=options.hide,
            show=options.show,
            show_from=options.show_from,
            tagfocus=options.tagfocus,
            tagignore=options.tagignore,
        ),
        sample_index=options.sample_index,
        mean=options.mean,
        unit=options.unit,
        granularity=options.granularity,
        noinlines=options.noinlines,
        relative_percentages=options.relative_percentages,
        drop_negative=options.drop_negative,
        sort="cum" if options.sort == "cum" else "flat",
        nodecount=options.nodecount,
        nodefraction=options.nodefraction,
        edgefraction=options.edgefraction,
        trim=options.trim,
    )


def _must_have_profiles(options: Options, inputs: Inputs) -> None:
    """Refuse a side without profiles: pprof's views are of nothing else."""
    sides = (inputs.base, options.base), (inputs.new, options.new)
    for evidence, names in sides:
        if evidence is not None and not evidence.runs:
            raise UsageError(f"{', '.join(names)}: there is no pprof profile in it")


def compared(
    options: Options, screen: Screen, waiting: Waiting, gate: Gate | None = None
) -> ReportModel:
    """Read both sides and return the report of what changed, judged by the gate."""
    inputs = gather(options, screen, waiting)
    waiting.say("comparing")
    base, new, saved = inputs.base, inputs.new, inputs.saved
    if base is None:
        base, new = made_pair(new, options)
        copies = saved[1] if base.runs else ()
        saved = copies, copies
    kept = [_filtered(evidence, options) for evidence in (base, new)]
    comparison = compare_sides(
        kept[0][0],
        kept[1][0],
        sample_type=options.sample_index or None,
        normalize=options.normalize,
        work=_work(options),
        spans=_spans(options),
    )
    unmatched = [note for note in kept[0][1] if note in kept[1][1]]
    return report_of(
        comparison,
        filters=active(options),
        warnings=[
            *(Caveat("filter", note) for note in unmatched),
            *(Caveat("input", note) for note in inputs.notes),
        ],
        saved=saved,
        gate=gate,
    )


def _work(options: Options) -> Work | None:
    """Return the work that was typed."""
    if options.work is not None:
        return counted(options.work)
    return None if options.rps is None else rated(options.rps)


def _spans(options: Options) -> tuple[Span | None, Span | None]:
    """Return the window of each side's GC log."""
    if not options.window:
        return None, None
    from pprofdiff.analysis.gclogs.window import Span

    spans = [Span(*span) for span in options.window]
    return spans[0], spans[-1]


def _filtered(evidence: Side, options: Options) -> tuple[Side, list[str]]:
    """Return a side with the patterns applied, and which of them matched nothing."""
    if not options.patterns:
        return evidence, []
    from pprofdiff.analysis.profiles.filters import filtered

    runs: list[Run] = []
    notes: list[str] = []
    for run in evidence.runs:
        kept = filtered(run.profile, options)
        runs.append(Run(run.path, kept.profile))
        notes += kept.warnings
    return evidence._replace(runs=tuple(runs)), notes


def _draw(parts: list[Part], options: Options, screen: Screen) -> None:
    """Put a report on the screen: drawn on a terminal, plain everywhere else."""
    if not parts:
        return
    color, terminal = screen.wants_color(options.color), screen.out.isatty()
    if color or terminal:
        from pprofdiff.report.text.terminal import render as drawn

        screen.write(drawn(parts, color=color, fit=terminal))
        return
    from pprofdiff.report.text.plain import render

    screen.write(render(parts))
