"""What was named on the command line -> each side's evidence, read and decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple, cast

from pprofdiff.diff.evidence import BenchmarkRun, Evidence, LoadRun, LogRun, TraceRun
from pprofdiff.diff.side import Run, halves
from pprofdiff.errors import UsageError
from pprofdiff.loaders.pprof import decode
from pprofdiff.model.merge import is_diff
from pprofdiff.options import Options
from pprofdiff.parallel import both
from pprofdiff.progress import Waiting
from pprofdiff.screen import Screen
from pprofdiff.sources import (
    Bundle,
    Kind,
    ReadOptions,
    Source,
    read,
    read_sides,
)

__all__ = ["Inputs", "gather", "made_pair"]

# Where the copy of each fetched profile of one side is; None for what is local.
_Copies = tuple[str | None, ...]


class Inputs(NamedTuple):
    """What was read: each side's evidence, copies made, and what was left out."""

    base: Evidence | None
    new: Evidence
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
        bundles = read_sides(options.base, options.new, how)
    else:
        bundles = (Bundle(None, ()), read(options.new, how))
    if options.no_paths:
        from pprofdiff.sources.hiding import without_places

        bundles = without_places(bundles[0]), without_places(bundles[1])
    sources = [source for bundle in bundles for source in bundle.sources]
    words = "base", "new"
    notes = [*_unused(bundles[0], words[0]), *_unused(bundles[1], words[1])]
    base, new = both(
        lambda side: _evidence(side[0], side[1], options, waiting),
        (bundles[0], words[0]),
        (bundles[1], words[1]),
        # Two traces at once take twice the memory, and hardly less time.
        size=sum(len(source.data) for source in sources if source.kind != Kind.TRACE),
    )
    kind = "trace" if options.state else "profile"
    saved = _copies(bundles[0], kind), _copies(bundles[1], kind)
    if options.no_paths:
        from pprofdiff.diff.placeless import without_paths

        base, new = without_paths(base), without_paths(new)
    return Inputs(base if options.base else None, new, saved, notes)


def _silent(_message: str) -> None:
    """Drop the message."""


def _unused(bundle: Bundle, word: str) -> list[str]:
    """Return, in one line, what of a side is not compared."""
    label = bundle.label or word
    foreign = sorted(os.path.basename(entry.path) for entry in bundle.skipped)
    if not foreign:
        return []
    names = ", ".join(foreign)
    return [f"{label}: left out, of no kind that is compared: {names}"]


def _copies(bundle: Bundle, kind: str) -> _Copies:
    """Return where the copy of each input of a kind is, in their order."""
    return tuple(s.saved_to for s in bundle.sources if s.kind == kind)


def _evidence(
    bundle: Bundle, word: str, options: Options, waiting: Waiting
) -> Evidence:
    """Decode one side's inputs; by state, the traces alone are asked for."""

    def of(kind: Kind) -> Iterator[Source]:
        return (source for source in bundle.sources if source.kind == kind)

    def content(source: Source) -> bytes:
        waiting.say(f"reading {source.path}")
        return source.content(options.max_size)

    def trace(source: Source) -> TraceRun:
        from pprofdiff.loaders.trace import decode as decode_trace

        data = content(source)
        return TraceRun(source.path, decode_trace(data, source.path, waiting.say))

    label = bundle.label or word
    traces = tuple(trace(s) for s in of(Kind.TRACE))
    if options.state:
        if bundle.sources and not traces:
            raise UsageError(
                f"{label}: --state {options.state} is of execution traces: there is "
                "none on this side"
            )
        return Evidence(label, tuple(_by_stack(run, options.state) for run in traces))
    return Evidence(
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
    from pprofdiff.diff.trace.states import StateName, named_for_state

    return Run(run.path, named_for_state(run.trace, cast("StateName", state)))


def _sampled(run: TraceRun) -> Run:
    """Return the CPU samples inside a trace as a profile."""
    from pprofdiff.diff.trace.tasks import cpu_profile

    profile = cpu_profile(run.trace)
    if profile is None:
        raise UsageError(
            f"{run.path}: no CPU samples in this trace: run a CPU profile while it is "
            "traced (Go 1.19 or later), or ask for another --state"
        )
    return Run(run.path, profile)


def made_pair(evidence: Evidence, options: Options) -> tuple[Evidence, Evidence]:
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
