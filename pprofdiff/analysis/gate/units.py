"""Rules on cost per op: of each benchmark, or of each value of a label."""

from __future__ import annotations

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    Measured,
    Missing,
)
from pprofdiff.analysis.outcome.model import Outcome, Unit
from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.units import Scale

__all__ = ["UNIT"]

_NOUNS = {"time": "ns/op", "cpu": "CPU-ns/op"}


def _check(asked: Asked) -> None:
    """Reject an invalid pattern, and a limit that is not a percentage."""
    matcher(asked.subject, asked.named)
    if not asked.limit.relative:
        raise asked.wrong(
            f"the limit must be a percentage; type unit:{asked.subject}:+5%"
        )


def _units(asked: Asked, judged: Judged) -> Measured:
    """Measure time per op, or CPU per op on a busy machine, of matching units."""
    matches = matcher(asked.subject, asked.named)
    decided = judged.outcome
    by_label = decided.by_label
    units = decided.units or (by_label and by_label.units) or _one(decided)
    if not units:
        return Missing("no benchmark, and no label of samples, is on both sides")
    figures = [
        _figure(unit, decided) for unit in units if matches(unit.name) and unit.base
    ]
    if figures:
        return figures
    noun = "benchmark" if by_label is None else by_label.key
    return Missing(f"no {noun} matches {asked.subject}")


def _one(decided: Outcome) -> tuple[Unit, ...]:
    """Return the only benchmark as a unit, with the outcome's figure."""
    first = decided.headline
    if first is None or first.id != "time":
        return ()
    name = first.source.removeprefix("Benchmark")
    unit = Unit(name, first.ratio, first.low, first.high, "time", first.base, first.new)
    return (unit,)


def _figure(unit: Unit, decided: Outcome) -> Figure:
    """Return a unit's cost per op, with its bounds."""
    base, new = (1e9 * (side or 0.0) for side in (unit.base, unit.new))
    noun, first = _NOUNS[unit.figure], decided.headline
    return Figure(
        what=unit.name,
        base=base,
        new=new,
        unit=noun,
        scale=Scale(1, noun, 0 if min(base, new) >= 100 else 2),
        noise=not unit.moved,
        bounds=(base * (unit.low - 1), base * (unit.high - 1)),
        by_ratio=True,
        runs=1 if first is None else min(first.runs),
    )


UNIT = Kind(_check, _units)
