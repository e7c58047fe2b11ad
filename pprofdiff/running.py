"""One run: read both sides, compare, and hand the report to its writers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pprofdiff.diff.bundle import Evidence, compare_bundles
from pprofdiff.diff.comparable import Caveat
from pprofdiff.diff.side import Run, halves
from pprofdiff.diff.work import counted
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
    if not new.runs or (options.base and not base.runs):
        empty = options.new if not new.runs else options.base
        raise UsageError(f"{', '.join(empty)}: there is no pprof profile in it")
    saved = _copies(bundles[0]), _copies(bundles[1])
    return _Inputs(base if options.base else None, new, saved, notes)


def _unused(bundle: Bundle, word: str) -> list[str]:
    """Return, in one line, what of a side is no profile."""
    paths = [entry.path for entry in bundle.skipped]
    paths += [s.path for s in bundle.sources if s.kind != "profile"]
    names = sorted(os.path.basename(path) for path in paths)
    if not names:
        return []
    return [f"{bundle.label or word}: left out, not profiles: {', '.join(names)}"]


def _copies(bundle: Bundle) -> _Copies:
    """Return where the copy of each profile is, in the order of the profiles."""
    return tuple(s.saved_to for s in bundle.sources if s.kind == "profile")


def _evidence(
    bundle: Bundle, word: str, options: Options, waiting: Waiting
) -> Evidence:
    """Decode one side's profiles."""
    runs = []
    for source in bundle.sources:
        if source.kind == "profile":
            waiting.say(f"reading {source.path}")
            data = decompress(source.data, source.path, options.max_size)
            runs.append(Run(source.path, decode(data, source.path)))
    return Evidence(bundle.label or word, tuple(runs))


def compared(options: Options, screen: Screen, waiting: Waiting) -> ReportModel:
    """Read both sides and return the report of what changed."""
    inputs = _read(options, screen, waiting)
    waiting.say("comparing")
    base, new, saved = inputs.base, inputs.new, inputs.saved
    if base is None:
        base, new = _made_pair(new)
        saved = saved[1], saved[1]
    kept = [_filtered(evidence, options) for evidence in (base, new)]
    bundle = compare_bundles(
        kept[0][0],
        kept[1][0],
        sample_type=options.sample_index or None,
        normalize=options.normalize,
        work=counted(options.work) if options.work else None,
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


def _made_pair(evidence: Evidence) -> tuple[Evidence, Evidence]:
    """Return the two sides of one profile that already is a diff."""
    path = evidence.runs[0].path
    if len(evidence.runs) != 1 or not is_diff(evidence.runs[0].profile):
        raise UsageError(
            f"{path}: compared with what? pprofdiff BASE NEW; one alone: add -top"
        )
    base, new = halves(evidence.runs[0].profile)
    return Evidence("base", (Run(path, base),)), Evidence("new", (Run(path, new),))


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
    return Evidence(evidence.label, tuple(runs)), notes


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
