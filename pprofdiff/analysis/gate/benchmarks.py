"""Rules on benchmarks: a unit such as ``allocs/op``, of all or those that match."""

from __future__ import annotations

from pprofdiff.analysis.benchmarks.compare import BenchmarkRow
from pprofdiff.analysis.benchmarks.units import better, tidy
from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Measured,
    Missing,
)
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.analysis.stats.calibration import SAMPLES_FOR_TEST
from pprofdiff.units import Scale

__all__ = ["BENCH"]


def _benchmarks(asked: Asked, judged: Judged) -> Measured:
    """Measure the medians of each benchmark in a unit: ``UNIT`` or ``UNIT:REGEX``."""
    unit, pattern, matches = _subject(asked)
    compared = judged.comparison.benchmarks
    if compared is None:
        return Missing("no benchmark output is compared")
    wanted = tidy(unit)
    rows = [row for row in compared.rows if tidy(row.unit).unit == wanted.unit]
    if not rows:
        units = ", ".join(dict.fromkeys(row.unit for row in compared.rows))
        return Missing(f"no benchmark tells {unit}; there are: {units}")
    named = [row for row in rows if matches(row.full_name)]
    figures = [
        _figure(row, unit, wanted.factor, more=asked.limit.sign > 0)
        for row in named
        if row.tidy_base is not None and row.tidy_new is not None
    ]
    if figures:
        return figures
    return Missing(
        "no benchmark that matches is on both sides"
        if named
        else f"no benchmark with {unit} matches {pattern}"
    )


def _subject(asked: Asked) -> tuple[str, str, Matches]:
    """Return the unit, the pattern, and what it matches."""
    unit, _, pattern = asked.subject.partition(":")
    return unit, pattern, matcher(pattern, f"--fail-on {asked.text}")


def _check(asked: Asked) -> None:
    """Refuse a limit that is of another unit, or that what is better would trip."""
    unit, _, _ = _subject(asked)
    limit = asked.limit
    if limit.unit not in ("", "%"):
        raise asked.wrong(
            f"a limit here is a percentage, or a number of {unit}; type "
            f"bench:{unit}:+5%"
        )
    known = better(tidy(unit).unit)
    worse = {"lower": 1, "higher": -1, None: limit.sign}[known]
    if limit.sign != worse:
        word = {1: "less", -1: "more"}[worse]
        sign = "+" if worse > 0 else "-"
        raise asked.wrong(
            f"{word} {unit} is better; type bench:{unit}:{sign}{limit.amount:f}"
            f"{limit.unit}"
        )


def _figure(row: BenchmarkRow, unit: str, factor: float, *, more: bool) -> Figure:
    """Return a row's medians in the rule's unit, and what the U test says."""
    base, new = row.tidy_base, row.tidy_new
    if base is None or new is None:
        raise ValueError(row.full_name)
    medians = base.median / factor, new.median / factor
    return Figure(
        what=row.full_name,
        base=medians[0],
        new=medians[1],
        unit=unit,
        scale=_scale(min((abs(m) for m in medians if m), default=0.0), unit),
        noise=None if row.change is None else row.change.noise,
        unsure=f"{min(base.n, new.n)} samples a side cannot tell a change from chance: "
        f"-count={SAMPLES_FOR_TEST} or more",
        more=more,
    )


def _scale(least: float, unit: str) -> Scale:
    """Return how medians are written: in the unit as typed, digits for the smaller."""
    whole = least.is_integer() or least >= 100
    decimals = 0 if whole else 2 if least >= 1 else 6
    return Scale(1, unit, decimals)


BENCH = Kind(_check, _benchmarks)
