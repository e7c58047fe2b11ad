"""Rules on a figure of GC logs or traces, by the key of its declaration."""

from __future__ import annotations

from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    NoDataError,
    delta_bounds,
)
from pprofdiff.analysis.runs.declared import SOURCES, declared, known
from pprofdiff.units import Scale, scale_for

# What limits are typed in: units of time and size, and points for shares.
_UNITS = {
    "us": ("ns", 1e3),
    "ns": ("ns", 1.0),
    "MiB": ("B", 1024.0**2),
    "bytes": ("B", 1.0),
    "share": ("pp", 100.0),
}
_PLAIN = ("", 1.0)
_ONE = "one run per side does not show how far runs differ"


def _check(asked: Asked) -> None:
    """Reject an unknown figure or source, and a limit that cannot be met."""
    if asked.source not in ("", *SOURCES):
        raise asked.wrong("figures are in gctrace or trace, such as figure@trace:…")
    figures = declared(asked.source)
    figure = figures.get(asked.subject)
    if figure is None:
        raise asked.wrong(
            f"there is no figure {asked.subject}; there are: {', '.join(figures)}"
        )
    limit, (unit, _) = asked.limit, _UNITS.get(figure.shown, _PLAIN)
    if limit.sign == {"more": -1, "less": 1}.get(figure.worse):
        sign, better = ("+", "less") if limit.sign < 0 else ("-", "more")
        raise asked.wrong(f"{better} is better: the limit is {sign}{str(limit)[1:]}")
    points = limit.unit == "pp" and unit == "pp"
    if not (limit.relative or points or (unit != "pp" and limit.fits(unit))):
        raise asked.wrong(f"{figure.label} is in {unit or figure.shown}")


def _figures(asked: Asked, judged: Judged) -> list[Figure]:
    found = known(judged.comparison, asked.subject, asked.source)
    if found is None:
        raise NoDataError(
            f"no {asked.source or 'GC log or trace'} has it on both sides"
        )
    unit, factor = _UNITS.get(found.figure.shown, _PLAIN)
    one = found.estimate
    base, new = (factor * (side or 0.0) for side in one[:2])
    bounds = one.bounds if base else None
    return [
        Figure(
            what=found.figure.label,
            base=base,
            new=new,
            unit=unit,
            scale=Scale(1, "%", 1) if unit == "pp" else scale_for((base, new), unit),
            noise={"unknown": None, "noise": True}.get(one.mark, False),
            unsure=_ONE,
            more=asked.limit.sign >= 0,
            bounds=delta_bounds(base, *bounds) if bounds else None,
            by_ratio=True,
            runs=min(map(len, found.runs)),
        )
    ]


FIGURE = Kind(_check, _figures)
