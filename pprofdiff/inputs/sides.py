"""What was named on the command line -> each side's evidence, read and decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple, cast

from pprofdiff.analysis.profiles.side import Run, halves
from pprofdiff.analysis.side import BenchmarkRun, LoadRun, LogRun, Side, TraceRun
from pprofdiff.cli.options import Options
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.screen import Screen
from pprofdiff.errors import UsageError
from pprofdiff.inputs import (
    Kind,
    ReadOptions,
    SideInputs,
    Source,
    read,
    read_sides,
)
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.merge import is_diff
from pprofdiff.parallel import both

__all__ = ["Inputs", "gather", "made_pair"]

# Where the copy of each fetched profile of one side is; None for what is local.
_Copies = tuple[str | None, ...]


class Inputs(NamedTuple):
    """What was read: each side's evidence, copies made, and what was left out."""

    base: Side | None
    new: Side
    saved: tuple[_Copies, _Copies]
    notes: list[str]


def gather(options: Options, screen: Screen, waiting: Waiting) -> Inputs:
    """Read, fetch and decode what was named."""
    how = ReadOptions(
        seconds=options.seconds,
        timeout=options.timeout,
        max_size=options.max_size,
        # What it says names hosts and where copies are.
        say=_silent if options.no_paths else screen.say,
    )
    if options.base:
        sides = read_sides(options.base, options.new, how)
    else:
        sides = (SideInputs(None, ()), read(options.new, how))
    if options.no_paths:
        from pprofdiff.inputs.redaction import without_places

        sides = without_places(sides[0]), without_places(sides[1])
    sources = [source for side in sides for source in side.sources]
    words = "base", "new"
    notes = [*_unused(sides[0], words[0]), *_unused(sides[1], words[1])]
    base, new = both(
        lambda named: _evidence(named[0], named[1], options, waiting),
        (sides[0], words[0]),
        (sides[1], words[1]),
        # Two traces at once take twice the memory, and hardly less time.
        size=sum(len(source.data) for source in sources if source.kind != Kind.TRACE),
    )
    kind = "trace" if options.state else "profile"
    saved = _copies(sides[0], kind), _copies(sides[1], kind)
    if options.no_paths:
        from pprofdiff.inputs.trimpath import without_paths

        base, new = without_paths(base), without_paths(new)
    return Inputs(base if options.base else None, new, saved, notes)


def _silent(_message: str) -> None:
    """Drop the message."""


def _unused(side: SideInputs, word: str) -> list[str]:
    """Return, in one line, what of a side is not compared."""
    label = side.label or word
    foreign = sorted(os.path.basename(entry.path) for entry in side.skipped)
    if not foreign:
        return []
    names = ", ".join(foreign)
    return [f"{label}: left out, of no kind that is compared: {names}"]


def _copies(side: SideInputs, kind: str) -> _Copies:
    """Return where the copy of each input of a kind is, in their order."""
    return tuple(s.saved_to for s in side.sources if s.kind == kind)


def _evidence(side: SideInputs, word: str, options: Options, waiting: Waiting) -> Side:
    """Decode one side's inputs; by state, the traces alone are asked for."""

    def of(kind: Kind) -> Iterator[Source]:
        return (source for source in side.sources if source.kind == kind)

    def content(source: Source) -> bytes:
        waiting.say(f"reading {source.path}")
        return source.content(options.max_size)

    def trace(source: Source) -> TraceRun:
        from pprofdiff.loaders.traces import decode as decode_trace

        data = content(source)
        return TraceRun(source.path, decode_trace(data, source.path, waiting.say))

    label = side.label or word
    traces = tuple(trace(s) for s in of(Kind.TRACE))
    if options.state:
        if side.sources and not traces:
            raise UsageError(
                f"{label}: --state {options.state} is of execution traces: there is "
                "none on this side"
            )
        return Side(label, tuple(_by_stack(run, options.state) for run in traces))
    return Side(
        label,
        tuple(Run(s.path, decode(content(s), s.path)) for s in of(Kind.PROFILE)),
        tuple(
            LogRun(s.path, s.log.gc)
            for s in of(Kind.GCTRACE)
            if s.log is not None and s.log.gc is not None
        ),
        tuple(
            BenchmarkRun(s.path, s.log.benchmarks)
            for s in of(Kind.BENCHMARK)
            if s.log is not None and s.log.benchmarks is not None
        ),
        tuple(
            LoadRun(s.path, s.log.load)
            for s in of(Kind.LOAD)
            if s.log is not None and s.log.load is not None
        ),
        traces,
    )


def _by_stack(run: TraceRun, state: str) -> Run:
    """Return a trace's time in one state as a profile whose values are named so.

    State cpu is the CPU samples inside a trace; raises UsageError where it has none.
    """
    if state == "cpu":
        return _sampled(run)
    from pprofdiff.analysis.traces.states import StateName, named_for_state

    return Run(run.path, named_for_state(run.trace, cast("StateName", state)))


def _sampled(run: TraceRun) -> Run:
    """Return the CPU samples inside a trace as a profile."""
    from pprofdiff.analysis.traces.tasks import cpu_profile

    profile = cpu_profile(run.trace)
    if profile is None:
        raise UsageError(
            f"{run.path}: no CPU samples in this trace: run a CPU profile while it is "
            "traced (Go 1.19 or later), or ask for another --state"
        )
    return Run(run.path, profile)


def made_pair(evidence: Side, options: Options) -> tuple[Side, Side]:
    """Return the two sides of one input: a diff, or benchmarks under two names."""
    if options.pair:
        return _benchmark_pair(evidence, options.pair)
    path = evidence.runs[0].path if evidence.runs else options.new[0]
    if len(evidence.runs) != 1 or not is_diff(evidence.runs[0].profile):
        pairs = "; benchmarks of one file: --pair suffix=Old"
        hint = pairs if evidence.benchmarks else ""
        alone = "; one alone: add -top" if evidence.runs else hint
        raise UsageError(f"{path}: compared with what? pprofdiff BASE NEW{alone}")
    base, new = halves(evidence.runs[0].profile)
    return Side("base", (Run(path, base),)), Side("new", (Run(path, new),))


def _benchmark_pair(evidence: Side, suffix: str) -> tuple[Side, Side]:
    """Return benchmarks with a suffix as base, those without it as new."""
    from pprofdiff.analysis.benchmarks.pairing import pair_by_suffix

    if not evidence.benchmarks:
        raise UsageError("--pair compares benchmarks: there are none in this input")
    pairs = [
        (run.path, *pair_by_suffix(run.benchmarks, suffix))
        for run in evidence.benchmarks
    ]
    base = tuple(BenchmarkRun(path, old) for path, old, _ in pairs)
    new = tuple(BenchmarkRun(path, fresh) for path, _, fresh in pairs)
    return Side("base", benchmarks=base), Side("new", benchmarks=new)
