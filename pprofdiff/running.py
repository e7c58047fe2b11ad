"""One run: read both sides, compare, and hand the report to its writers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.diff.bundle import compare_bundles
from pprofdiff.diff.comparable import Caveat
from pprofdiff.diff.evidence import BenchmarkRun, Evidence, LoadRun, LogRun
from pprofdiff.diff.side import Run, halves
from pprofdiff.diff.work import Work, counted, rated
from pprofdiff.errors import UsageError
from pprofdiff.loaders.pprof import decode
from pprofdiff.model.merge import is_diff
from pprofdiff.options import Options, active
from pprofdiff.parallel import both
from pprofdiff.progress import Waiting
from pprofdiff.report.blocks import Block
from pprofdiff.report.model import ReportModel, report_of
from pprofdiff.screen import Screen
from pprofdiff.sources import Bundle, ReadOptions, decompress, read, read_sides

if TYPE_CHECKING:
    from pprofdiff.diff.gcwindow import Span

__all__ = ["compared", "run"]

_PPROF_VIEWS = ("top", "peek", "proto")

# Where the copy of each fetched profile of one side is; None for what is local.
_Copies = tuple[str | None, ...]


class _Inputs(NamedTuple):
    """What was read: each side's profiles, copies made, and what was left out."""

    base: Evidence | None
    new: Evidence
    saved: tuple[_Copies, _Copies]
    notes: list[str]


def run(options: Options, screen: Screen) -> int:
    """Do what the options say and return the exit status."""
    if options.view in _PPROF_VIEWS:
        _pprof_view(options, screen)
        return 0
    renderers = _renderers(options)
    with Waiting(screen.messages, enabled=options.progress) as waiting:
        report = compared(options, screen, waiting)
        shown = list(_shown(report, options))
        if renderers:
            from pprofdiff.report.files import replace_files

            waiting.say("writing")
            replace_files([(path, render(report)) for path, render in renderers])
    _draw(shown, options, screen)
    return 0


def _shown(report: ReportModel, options: Options) -> Iterable[Block]:
    """Return what the screen gets."""
    if options.explain:
        from pprofdiff.report.explain import explain

        return explain(report, options.explain)
    if options.quiet:
        return ()
    from pprofdiff.report.text import blocks

    return blocks(report, joined=options.joined, granularity=options.granularity)


def _renderers(options: Options) -> list[tuple[str, Callable[[ReportModel], bytes]]]:
    """Return each output file and what makes it; refuses unknown endings early."""
    if not options.outputs:
        return []
    from pprofdiff.report.files import renderer_for

    return [(path, renderer_for(path)) for path in options.outputs]


def _pprof_view(options: Options, screen: Screen) -> None:
    """Write what ``go tool pprof`` writes, to where ``-output`` says."""
    from pprofdiff.report.pprof import view_bytes

    with Waiting(screen.messages, enabled=options.progress) as waiting:
        inputs = _read(options, screen, waiting)
        _must_have_profiles(options, inputs)
        profiles = [
            [run.profile for run in side.runs] if side is not None else []
            for side in (inputs.base, inputs.new)
        ]
        data = view_bytes(profiles[0], profiles[1], options, screen.say)
    if options.outputs:
        from pprofdiff.report.files import replace_files

        replace_files([(path, data) for path in options.outputs])
    elif options.view != "proto":
        screen.write(data.decode())
    elif screen.out.isatty():
        raise UsageError("-proto writes binary data, not for a terminal: add -o FILE")
    else:
        screen.write_bytes(data)


def _must_have_profiles(options: Options, inputs: _Inputs) -> None:
    """Refuse a side without profiles: pprof's views are of nothing else."""
    sides = (inputs.base, options.base), (inputs.new, options.new)
    for evidence, names in sides:
        if evidence is not None and not evidence.runs:
            raise UsageError(f"{', '.join(names)}: there is no pprof profile in it")


def _read(options: Options, screen: Screen, waiting: Waiting) -> _Inputs:
    """Read, fetch and decode what was named."""
    how = ReadOptions(
        seconds=options.seconds,
        timeout=options.timeout,
        max_size=options.max_size,
        say=screen.say,
    )
    if options.base:
        bundles = read_sides(options.base, options.new, how)
    else:
        bundles = (Bundle(None, ()), read(options.new, how))
    sources = [source for bundle in bundles for source in bundle.sources]
    words = "base", "new"
    notes = [*_unused(bundles[0], words[0]), *_unused(bundles[1], words[1])]
    base, new = both(
        lambda side: _evidence(side[0], side[1], options, waiting),
        (bundles[0], words[0]),
        (bundles[1], words[1]),
        size=sum(len(source.data) for source in sources),
    )
    saved = _copies(bundles[0]), _copies(bundles[1])
    return _Inputs(base if options.base else None, new, saved, notes)


def _unused(bundle: Bundle, word: str) -> list[str]:
    """Return, in one line, what of a side is not compared."""
    label = bundle.label or word
    foreign = sorted(os.path.basename(entry.path) for entry in bundle.skipped)
    traces = sorted(
        os.path.basename(s.path) for s in bundle.sources if s.kind == "trace"
    )
    notes = []
    if foreign:
        names = ", ".join(foreign)
        notes.append(f"{label}: left out, of no kind that is compared: {names}")
    if traces:
        names = ", ".join(traces)
        notes.append(f"{label}: execution traces are not compared yet: {names}")
    return notes


def _copies(bundle: Bundle) -> _Copies:
    """Return where the copy of each profile is, in the order of the profiles."""
    return tuple(s.saved_to for s in bundle.sources if s.kind == "profile")


def _evidence(
    bundle: Bundle, word: str, options: Options, waiting: Waiting
) -> Evidence:
    """Decode one side's inputs."""
    runs: list[Run] = []
    logs: list[LogRun] = []
    benchmarks: list[BenchmarkRun] = []
    loads: list[LoadRun] = []
    for source in bundle.sources:
        if source.kind == "profile":
            waiting.say(f"reading {source.path}")
            data = decompress(source.data, source.path, options.max_size)
            runs.append(Run(source.path, decode(data, source.path)))
        log = source.log
        if log is None:
            continue
        if source.kind == "gctrace" and log.gc is not None:
            logs.append(LogRun(source.path, log.gc))
        elif source.kind == "benchmark" and log.benchmarks is not None:
            benchmarks.append(BenchmarkRun(source.path, log.benchmarks))
        elif source.kind == "load" and log.load is not None:
            loads.append(LoadRun(source.path, log.load))
    return Evidence(
        bundle.label or word,
        tuple(runs),
        tuple(logs),
        tuple(benchmarks),
        tuple(loads),
    )


def compared(options: Options, screen: Screen, waiting: Waiting) -> ReportModel:
    """Read both sides and return the report of what changed."""
    inputs = _read(options, screen, waiting)
    waiting.say("comparing")
    base, new, saved = inputs.base, inputs.new, inputs.saved
    if base is None:
        base, new = _made_pair(new, options)
        saved = saved[1], saved[1]
    kept = [_filtered(evidence, options) for evidence in (base, new)]
    bundle = compare_bundles(
        kept[0][0],
        kept[1][0],
        sample_type=options.sample_index or None,
        normalize=options.normalize,
        work=_work(options),
        spans=_spans(options),
    )
    unmatched = [note for note in kept[0][1] if note in kept[1][1]]
    return report_of(
        bundle,
        filters=active(options),
        warnings=[
            *(Caveat("filter", note) for note in unmatched),
            *(Caveat("input", note) for note in inputs.notes),
        ],
        saved=saved,
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
    from pprofdiff.diff.gcwindow import Span

    spans = [Span(*span) for span in options.window]
    return spans[0], spans[-1]


def _made_pair(evidence: Evidence, options: Options) -> tuple[Evidence, Evidence]:
    """Return the two sides of one input: a diff, or benchmarks under two names."""
    if options.pair:
        return _benchmark_pair(evidence, options.pair)
    path = evidence.runs[0].path if evidence.runs else options.new[0]
    if len(evidence.runs) != 1 or not is_diff(evidence.runs[0].profile):
        hint = "" if evidence.runs else "; benchmarks of one file: --pair suffix=Old"
        alone = "; one alone: add -top" if evidence.runs else hint
        raise UsageError(f"{path}: compared with what? pprofdiff BASE NEW{alone}")
    base, new = halves(evidence.runs[0].profile)
    return Evidence("base", (Run(path, base),)), Evidence("new", (Run(path, new),))


def _benchmark_pair(evidence: Evidence, suffix: str) -> tuple[Evidence, Evidence]:
    """Return benchmarks with a suffix as base, those without it as new."""
    from pprofdiff.diff.benchmarks import pair_by_suffix

    if not evidence.benchmarks:
        raise UsageError("--pair compares benchmarks: there are none in this input")
    pairs = [
        (run.path, *pair_by_suffix(run.benchmarks, suffix))
        for run in evidence.benchmarks
    ]
    base = tuple(BenchmarkRun(path, old) for path, old, _ in pairs)
    new = tuple(BenchmarkRun(path, fresh) for path, _, fresh in pairs)
    return Evidence("base", benchmarks=base), Evidence("new", benchmarks=new)


def _filtered(evidence: Evidence, options: Options) -> tuple[Evidence, list[str]]:
    """Return a side with the patterns applied, and which of them matched nothing."""
    if not options.patterns:
        return evidence, []
    from pprofdiff.diff.filters import filtered

    runs: list[Run] = []
    notes: list[str] = []
    for run in evidence.runs:
        kept = filtered(run.profile, options)
        runs.append(Run(run.path, kept.profile))
        notes += kept.warnings
    return evidence._replace(runs=tuple(runs)), notes


def _draw(blocks: list[Block], options: Options, screen: Screen) -> None:
    """Put blocks on the screen: drawn on a terminal, plain everywhere else."""
    if not blocks:
        return
    color, terminal = screen.wants_color(options.color), screen.out.isatty()
    if color or terminal:
        from pprofdiff.report.terminal import render as drawn

        screen.write(drawn(blocks, color=color, fit=terminal))
        return
    from pprofdiff.report.plain import render

    screen.write(render(blocks))
