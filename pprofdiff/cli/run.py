"""One run: read both sides, compare, and write the report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.side import stacks_of
from pprofdiff.analysis.work import Work, counted, rated
from pprofdiff.cli.options import Options, active
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.screen import Screen
from pprofdiff.cli.settings import with_settings
from pprofdiff.errors import FetchError, PprofDiffError, UsageError
from pprofdiff.inputs.model import ReadOptions, silent
from pprofdiff.inputs.places import displayed, of_fleet
from pprofdiff.inputs.sides import Loaded, load_sides
from pprofdiff.kinds import KINDS, KindId
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.files import (
    Writer,
    github_summary,
    no_folder,
    replace_file,
    writer_for,
)
from pprofdiff.report.model import ReportModel, Scope, report_of
from pprofdiff.report.rows import Part
from pprofdiff.report.sections.verdict import verdict_lines
from pprofdiff.report.text.lines import PAGE, Page
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.analysis.bisection.result import Bisection
    from pprofdiff.analysis.gate.rules import Gate
    from pprofdiff.analysis.profiles.rows import Granularity
    from pprofdiff.analysis.settings import Span
    from pprofdiff.fleets.sides import FleetOptions
    from pprofdiff.model.source import Sources
    from pprofdiff.report.pprof.profile import ViewKind
    from pprofdiff.report.pprof.view import ViewOptions
    from pprofdiff.report.text.layout import Block


_TRACES: tuple[KindId, ...] = ("trace",)
_PPROF_VIEWS = ("top", "peek", "proto")


def run(
    options: Options,
    screen: Screen,
    sources: Sources | None = None,
    bisection: Bisection | None = None,
) -> int:
    """Run with the given options and return the exit status.

    `sources` are both builds' if known; otherwise flags name them.
    """
    if options.view in _PPROF_VIEWS:
        return _pprof_view(options, screen)
    if options.judged:
        options = with_settings(options)
    gate = _gate(options)
    renderers = _renderers(options)
    page_url = _page_url(options)
    sources = sources or _sources(options)
    with Waiting(screen.messages, enabled=options.progress) as waiting:
        report = compared(options, screen, waiting, gate, sources)
        if options.no_source:
            report = report._replace(sources=None)
        report = report._replace(page_url=page_url, bisection=bisection)
        silent = options.only_if_changed and _unchanged(report)
        page = page_of(screen)
        shown = [] if silent else list(_shown(report, options, sources, page))
        failed: list[Exception] = []
        if renderers and not silent:
            waiting.say("writing")
            failed = write_files(
                [(p, partial(render, report)) for p, render in renderers]
            )
    # A reader (head, less) may leave early; the verdict stays.
    with suppress(BrokenPipeError):
        draw(shown, options.color, screen)
        _say(report, options, screen, free=not shown)
    if report.comparison.of_fleets and (options.explain or options.listed):
        notes = (one.text for one in report.warnings if one.id == "input")
        _say_left_out(notes, screen)
    say_failed(failed, screen)
    if failed or report.verdict.unread:
        return 2
    return 1 if report.verdict.outcome == "fail" else 0


def write_files(
    outputs: Sequence[tuple[str, Callable[[], bytes | Iterable[bytes]]]],
) -> list[Exception]:
    """Write each file, and return what could not be written, and why."""
    failed: list[Exception] = []
    for path, made in outputs:
        try:
            replace_file(path, made())
        except UsageError as error:
            # The error is about the request: the writer does not know its file's name.
            failed.append(UsageError(f"{printable(path)}: {error}"))
        except Exception as error:  # noqa: BLE001 - reported when all else is done
            failed.append(error)
    return failed


def _say_left_out(notes: Iterable[str], screen: Screen) -> None:
    """Report what was left out of a fleet, for a view that has no place for it."""
    for note in notes:
        screen.say(f"pprofdiff: {printable(note)}")


def say_failed(failed: Sequence[Exception], screen: Screen) -> None:
    """Report why outputs could not be made; re-raise errors that are not the user's."""
    for error in failed:
        if isinstance(error, PprofDiffError):
            screen.say(f"pprofdiff: {printable(str(error))}")
    for error in failed:
        if not isinstance(error, PprofDiffError):
            raise error


def _say(report: ReportModel, options: Options, screen: Screen, *, free: bool) -> None:
    """Report rules that tripped or had no data; `free`: no report was printed.

    GitHub's runner reads commands from both streams of a step. They go to standard
    error with a report, which may be piped to a file or another program.
    """
    if options.github_summary:
        from pprofdiff.report.markdown.annotations import commands

        sources = (finding.source for finding in report.findings.found)
        changed = [lines for source in sources if source for lines in source.lines]
        for line in commands(report.verdict, changed):
            if free:
                screen.write(f"{line}\n")
            else:
                screen.say(line)
    elif free:
        for line in verdict_lines(report.verdict):
            screen.say(printable(line))


def _gate(options: Options) -> Gate | None:
    """Return the rules; None if there are none or the view shows no verdict."""
    if not options.judged or not options.fail_on:
        return None
    from pprofdiff.analysis.gate.rules import Gate

    return Gate.of(options.fail_on, strict=options.strict, typed=options.fail_on_of)


def _page_url(options: Options) -> str:
    """Return the URL of the future page; raises UsageError if it is invalid."""
    if not options.page_url:
        return ""
    from pprofdiff.report.markdown.links import web

    if not web(options.page_url):
        raise UsageError(
            f"--page-url {printable(options.page_url)}: must be the address of the "
            "page that -o x.html makes, such as https://example.com/report.html"
        )
    return options.page_url


def _unchanged(report: ReportModel) -> bool:
    """Return whether all inputs were read, nothing changed and no rule tripped."""
    from pprofdiff.analysis.causes.table import changed

    if report.verdict.outcome == "fail" or report.verdict.unread:
        return False
    return not changed(report.comparison, report.findings)


def _sources(options: Options) -> Sources | None:
    named = options.git, options.repo, options.source
    if not any(named) and not options.listed:
        return None
    from pprofdiff.inputs.sources.lookup import sources_of

    return sources_of(*named)


def _shown(
    report: ReportModel, options: Options, sources: Sources | None, page: Page
) -> Iterable[Part | Block]:
    if options.listed and sources is not None:
        from pprofdiff.report.sections.source import listed

        return listed(report, options.listed, sources)
    if options.explain:
        from pprofdiff.report.sections.profiles.explain import explain

        return explain(report, options.explain)
    if options.view == "waits":
        from pprofdiff.report.sections.traces.waits import waits_view

        return waits_view(report)
    if options.quiet:
        return ()
    from pprofdiff.report.text.report import report_parts

    # Other granularities are for pprof views only, and refused elsewhere.
    granularity = cast("Granularity", options.granularity)
    scope = Scope(granularity, joined=options.joined, full=options.full)
    parts = report_parts(report, scope, page)
    if report.bisection is None:
        return parts
    from pprofdiff.report.sections.bisection import bisection_parts

    return [*bisection_parts(report.bisection), *parts]


def _renderers(options: Options) -> list[tuple[str, Writer]]:
    """Return each output file and its writer; raises for unknown suffixes early."""
    if not options.outputs and not options.github_summary:
        return []
    files = [(path, writer_for(path)) for path in options.outputs]
    return [*files, github_summary()] if options.github_summary else files


def refuse_early(options: Options) -> None:
    """Raise errors that can be found before there is anything to compare.

    A measurement takes minutes, too long to lose to a misspelt rule. Raises UsageError,
    and FetchError if an output's folder does not exist.
    """
    from pprofdiff.analysis.profiles.regexp import matcher

    _gate(options)
    _renderers(options)
    _page_url(options)
    for name in ("focus", "ignore", "hide", "show", "show_from", "explain"):
        matcher(getattr(options, name), name)
    for path in options.outputs:
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise FetchError(no_folder(path))


def _pprof_view(options: Options, screen: Screen) -> int:
    """Write what ``go tool pprof`` writes, to where ``-output`` says."""
    from pprofdiff.report.pprof.profile import net, view_bytes

    with Waiting(screen.messages, enabled=options.progress) as waiting:
        loaded = _loaded(options, screen, waiting)
        _must_have_profiles(options, loaded)
        profiles = [
            [capture.content for capture in side.of("profile")] if side else []
            for side in (loaded.base, loaded.new)
        ]
        profile = net(
            profiles[1],
            profiles[0],
            label=options.subtract == "diff_base",
            normalize=options.normalize,
        )
        if loaded.new.fleet is not None:
            _say_left_out(loaded.notes, screen)
        kind = cast("ViewKind", options.view)
        shaped = _view_options(options)
        data = view_bytes(profile, kind, shaped, pattern=options.peek, warn=screen.say)
    failed: list[Exception] = []
    if options.outputs:
        failed = write_files([(path, lambda: data) for path in options.outputs])
    elif options.view != "proto":
        screen.write(data.decode())
    elif screen.out.isatty():
        raise UsageError("-proto writes binary data, not for a terminal: add -o FILE")
    else:
        screen.write_bytes(data)
    say_failed(failed, screen)
    return 2 if failed or loaded.unread else 0


def _view_options(options: Options) -> ViewOptions:
    from dataclasses import fields

    from pprofdiff.report.pprof.view import ViewOptions

    names = (field.name for field in fields(ViewOptions))
    return ViewOptions(**{name: getattr(options, name) for name in names})


def _must_have_profiles(options: Options, loaded: Loaded) -> None:
    """Refuse a side without profiles: pprof's views need them."""
    for side, names in ((loaded.base, options.base), (loaded.new, options.new)):
        if side is not None and not side.of("profile"):
            listed = ", ".join(map(displayed, names))
            instead = "; --state running makes one of a trace: running, runnable, …"
            traces = instead if side.of("trace") else ""
            raise UsageError(f"{listed}: there is no pprof profile in it{traces}")


def compared(
    options: Options,
    screen: Screen,
    waiting: Waiting,
    gate: Gate | None = None,
    sources: Sources | None = None,
) -> ReportModel:
    """Read both sides and return the report of what changed, judged by the gate."""
    loaded = _loaded(options, screen, waiting)
    waiting.say("comparing")
    base, new = _two_sides(loaded, options)
    settings = Settings(
        sample_type=options.sample_index or None,
        normalize=options.normalize,
        by="" if loaded.new.fleet is not None else options.by,
        work=_work(options),
        spans=_spans(options),
        pair_names=options.pair_names,
        pairing=not options.no_pairing,
        sources=sources if sources is not None and sources.given else None,
        same_within=SAME_WITHIN if options.same_within is None else options.same_within,
    )
    # Functions are matched by all stacks, before patterns select some.
    identity = settings.identity_of(stacks_of(base), stacks_of(new))
    base, unmatched_in_base = _filtered(base, options)
    new, unmatched_in_new = _filtered(new, options)
    comparison = compare_sides(base, new, replace(settings, identity=identity))
    unmatched = [note for note in unmatched_in_base if note in unmatched_in_new]
    return report_of(
        comparison,
        filters=active(options),
        warnings=[
            *(Caveat("filter", note) for note in unmatched),
            *(Caveat("input", note) for note in loaded.notes),
        ],
        gate=gate,
        unread=loaded.unread,
        sources=None if options.listed else sources,
    )


def _loaded(options: Options, screen: Screen, waiting: Waiting) -> Loaded:
    """Read the inputs; with ``--state``, only traces, as profiles."""
    named = any(map(of_fleet, (*options.base, *options.new)))
    asked = options.group_by or options.scheduler
    if named or asked or options.max_skipped is not None:
        return _fleets(options, waiting)
    how = ReadOptions(
        seconds=options.seconds,
        timeout=options.timeout,
        max_size=options.max_size,
        anonymous=options.no_paths,
        within=options.within,
        # Removing paths needs the full trace; views of a state use nothing of what
        # condensing precomputes, and what waits waited for is in a full report.
        condense="no"
        if options.no_paths or options.state
        else "full"
        if options.outputs
        or options.full
        or options.github_summary
        or options.view == "waits"
        else "short",
        # Messages name hosts and the location of copies.
        say=silent if options.no_paths else screen.say,
        progress=waiting.say,
    )
    kinds = _TRACES if options.state else KINDS
    loaded = load_sides(options.base, options.new, how, kinds)
    for line in loaded.unread:
        screen.say(f"pprofdiff: {line}")
    if not options.state:
        return loaded
    from pprofdiff.analysis.derived import State, by_state

    state = cast("State", options.state)
    return replace(
        loaded,
        base=None if loaded.base is None else by_state(loaded.base, state),
        new=by_state(loaded.new, state),
    )


def _fleets(options: Options, waiting: Waiting) -> Loaded:
    from pprofdiff.fleets.sides import load_fleets

    if not options.base:
        raise UsageError("give two fleets: pprofdiff BASE NEW")
    if options.rps:
        raise UsageError("--rps is for one process; for a fleet, use --work BASE:NEW")
    if options.state:
        raise UsageError("--state needs traces, and a fleet has only pprof profiles")
    how = fleet_options(options, waiting)
    loaded = load_fleets(options.base, options.new, how)
    if not options.no_paths:
        return loaded
    from pprofdiff.inputs.trimpath import without_paths

    base = None if loaded.base is None else without_paths(loaded.base)
    return replace(loaded, base=base, new=without_paths(loaded.new))


def fleet_options(options: Options, waiting: Waiting) -> FleetOptions:
    """Return the options for reading fleets; `waiting` shows progress."""
    from pprofdiff.fleets.sides import MAX_SKIPPED, FleetOptions

    return FleetOptions(
        by=options.by or None,
        scheduler=options.scheduler,
        max_skipped=(
            MAX_SKIPPED if options.max_skipped is None else options.max_skipped
        ),
        labels=bool(options.tagfocus or options.tagignore),
        max_size=options.max_size,
        anonymous=options.no_paths,
        progress=waiting.say,
        group_by=options.group_by,
    )


def _two_sides(loaded: Loaded, options: Options) -> tuple[Side, Side]:
    """Return base and new, derived from one input if no base was named."""
    if loaded.base is not None:
        return loaded.base, loaded.new
    from pprofdiff.analysis.derived import of_diff, of_suffix

    if options.pair:
        return of_suffix(loaded.new, options.pair)
    return of_diff(loaded.new, options.new[0])


def _work(options: Options) -> Work | None:
    if options.work is not None:
        return counted(options.work)
    return None if options.rps is None else rated(options.rps)


def _spans(options: Options) -> tuple[Span | None, Span | None]:
    if not options.window:
        return None, None
    from pprofdiff.analysis.settings import Span

    spans = [Span(*span) for span in options.window]
    return spans[0], spans[-1]


def _filtered(side: Side, options: Options) -> tuple[Side, list[str]]:
    """Return a side with the patterns applied, and notes on those without a match."""
    if not options.patterns:
        return side, []
    captures, notes = _with_patterns(side.captures, options)
    fleet = side.fleet
    if fleet is not None:
        groups = {
            name: group._replace(captures=_with_patterns(group.captures, options)[0])
            for name, group in fleet.groups.items()
        }
        fleet = replace(fleet, groups=groups)
    return replace(side, captures=captures, fleet=fleet), notes


def _with_patterns(
    given: Sequence[Capture[Any]], options: Options
) -> tuple[tuple[Capture[Any], ...], list[str]]:
    """Return captures with the patterns applied, and notes on those without a match."""
    from pprofdiff.analysis.profiles.filters import filtered

    captures: list[Capture[Any]] = []
    notes: list[str] = []
    for capture in given:
        if capture.kind == "profile":
            left = filtered(capture.content, options.filters)
            captures.append(replace(capture, content=left.profile))
            notes += left.warnings
        else:
            captures.append(capture)
    return tuple(captures), notes


def quietly(
    options: Options,
    screen: Screen,
    gate: Gate | None = None,
    sources: Sources | None = None,
) -> ReportModel:
    """Compare as `compared` does, and show no progress."""
    with Waiting(screen.messages, enabled=False) as waiting:
        return compared(options, screen, waiting, gate, sources)


def page_of(screen: Screen) -> Page:
    """Return the page width for a report on the screen."""
    width = screen.width()
    return PAGE if width is None else Page(width, fit=True)


def draw(parts: Sequence[Part | Block], color: str, screen: Screen) -> None:
    """Print parts; `color` is auto, always or never."""
    if not parts:
        return
    colored = screen.wants_color(color)
    if colored or screen.out.isatty():
        from pprofdiff.report.text.terminal import render as drawn

        screen.write(drawn(parts, color=colored, page=page_of(screen)))
        return
    from pprofdiff.report.text.lines import render

    screen.write(render(parts))
