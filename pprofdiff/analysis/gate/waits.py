"""Rules on waits in traces: the time off the CPU for what a pattern names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    NoDataError,
)
from pprofdiff.analysis.judge.calibration import WAITED
from pprofdiff.analysis.judge.judge import judged_ratios
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.policy import MINOR, NAMED
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.analysis.profiles.scaling import scale_in_mode
from pprofdiff.goruntime.readable import short

if TYPE_CHECKING:
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.waited import End


def _check(asked: Asked) -> None:
    """Reject an invalid pattern, and a limit that is no time."""
    matcher(asked.subject, asked.named)
    if not asked.limit.relative and not asked.limit.fits("ns"):
        raise asked.wrong("waits are times; a limit is +10% or +50us")


def _waits(asked: Asked, judged: Judged) -> list[Figure]:
    """Measure the time waited for all ends of a kind, or that match the pattern.

    Raises UsageError if the pattern matches no end on either side.
    """
    diff = judged.comparison.trace
    if diff is None:
        raise NoDataError("no traces are compared")
    from pprofdiff.analysis.traces.waited import by_end, off_cpu

    times = by_end(off_cpu(diff))
    matches = _matcher(asked)
    chosen = {end: pair for end, pair in times.items() if matches(end)}
    if not chosen and asked.subject not in _kinds():
        raise asked.wrong(_unknown(asked.subject, times))
    least = MINOR * _largest(diff, times.values())
    return [_figure(diff, _words(asked, chosen), matches, least)]


def _words(asked: Asked, chosen: Mapping[End, tuple[int, int]]) -> str:
    """Return what was measured: the end with most time, and how many more."""
    from pprofdiff.analysis.traces.waited import off_cpu_in_words

    if not chosen:
        return f"waiting for {asked.subject}"
    most = max(chosen, key=lambda end: max(chosen[end]))
    others = f" and {len(chosen) - 1:,} more" if len(chosen) > 1 else ""
    return f"{off_cpu_in_words(most)}{others}"


def _largest(diff: TraceDiff, times: Collection[tuple[int, int]]) -> float:
    base, new = (sum(pair[side] for pair in times) for side in (0, 1))
    old, now = diff.normalization.scaled(base, new)
    return float(max(old, now))


def _figure(
    diff: TraceDiff, what: str, matches: Callable[[End], bool], least: float
) -> Figure:
    """Return the time waited for some ends, and the interval of its change.

    Each trace's time per second, or per op, is one observation. Less than `least` (ns)
    counts as that much, and is noise if no trace has more.
    """
    from pprofdiff.analysis.traces.waited import off_cpu_by_run

    by_run, rates = off_cpu_by_run(diff), diff.rates or (1.0, 1.0)
    raw = [[_sum(ends, matches) for ends in side] for side in (by_run.base, by_run.new)]
    base, new = diff.normalization.scaled(sum(raw[0]), sum(raw[1]))
    each = [
        tuple(
            np.array([max(ns * 1e9 / max(trace.wall_ns, 1) / rate, least)])
            for ns, trace in zip(times, side.parts, strict=True)
        )
        for times, side, rate in zip(raw, diff.sides, rates, strict=True)
    ]
    runs = Runs(each[0], each[1], diff.in_turns)
    noise, bounds = True, None
    if any(ns > least for side in each for ns in side):
        change = judged_ratios((WAITED,), runs).change()
        noise = change.noise is not False
        low, high = (
            max(base, least) * exp(part or 0.0) - base
            for part in (change.low, change.high)
        )
        # The ratio is of means of logarithms.
        bounds = min(low, new - base), max(high, new - base)
    mode = diff.normalization.mode
    return Figure(
        what=what,
        base=base,
        new=new,
        unit="ns",
        scale=scale_in_mode((base, new), "ns", mode, cpu=False),
        noise=noise,
        bounds=bounds,
        by_ratio=True,
        runs=min(map(len, each)),
    )


def _sum(ends: Mapping[End, int], matches: Callable[[End], bool]) -> int:
    return sum(ns for end, ns in ends.items() if matches(end))


def _kinds() -> tuple[str, ...]:
    from typing import get_args

    from pprofdiff.analysis.traces.wait_chains import EndKind

    return get_args(EndKind)


def _matcher(asked: Asked) -> Callable[[End], bool]:
    """Return whether an end is of the rule's kind, or its function or call matches.

    A pattern ignores case: ``fdatasync`` matches ``syscall.Fdatasync``.
    """
    if asked.subject in _kinds():
        return lambda end: end.kind == asked.subject
    matches: Matches = matcher(f"(?i){asked.subject}", asked.named)
    return lambda end: matches(end.function) or matches(end.call)


def _unknown(subject: str, times: Iterable[End]) -> str:
    """Return the error that no wait ends there, with similar names and the kinds."""
    kinds = f"kinds are {', '.join(_kinds())}"
    names = dict.fromkeys(
        name for end in times for name in (end.call, end.function) if name
    )
    words: dict[str, str] = {}
    for name in names:
        for word in (short(name), name.rpartition(".")[2]):
            words.setdefault(word.lower(), short(name))
    near = get_close_matches(subject.lower(), words, n=NAMED, cutoff=0.5)
    found = dict.fromkeys(words[word] for word in near)
    said = found or dict.fromkeys(short(name) for name in [*names][:NAMED])
    if not said:
        return f"no wait ends in {subject}; {kinds}"
    which = "the nearest are" if found else "there are, among others,"
    return f"no wait ends in {subject}; {which} {', '.join(said)}; {kinds}"


WAIT = Kind(_check, _waits)
