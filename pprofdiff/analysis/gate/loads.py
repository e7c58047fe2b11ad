"""Rules on load generators: their rate, failures and latencies, ``load:p99:+10%``."""

from __future__ import annotations

import re

from pprofdiff.analysis.benchmarks.loads import FAILED, LONGEST, MEAN, RATE
from pprofdiff.analysis.gate.benchmarks import figure_of
from pprofdiff.analysis.gate.measures import (
    Asked,
    Figure,
    Judged,
    Kind,
    NoDataError,
)
from pprofdiff.units import Scale, scale_for

_PERCENTILE = re.compile(r"p\d{1,2}(?:\.\d{1,3})?")


def _check(asked: Asked) -> None:
    """Reject a figure that no tool prints, and a limit in another unit or direction."""
    name, limit = asked.subject, asked.limit
    times = name in (MEAN, LONGEST) or _PERCENTILE.fullmatch(name)
    if not times and name not in (RATE, FAILED):
        raise asked.wrong(
            f"there is no figure {name}; there are: {RATE}, {FAILED}, {MEAN}, p99 and "
            f"other percentiles, {LONGEST}"
        )
    unit = "ns" if times else "pp" if name == FAILED else "%"
    fits = limit.unit == "pp" if unit == "pp" else limit.relative
    if not fits and not (times and limit.fits("ns")):
        example = {"ns": "p99:+10%", "pp": "failed:+1pp", "%": "rate:-5%"}[unit]
        raise asked.wrong(f"the limit has another unit; type load:{example}")
    if limit.sign != (-1 if name == RATE else 1):
        word = "less" if name == RATE else "more"
        raise asked.wrong(f"{word} is worse: the limit needs the other sign")


def _loads(asked: Asked, judged: Judged) -> list[Figure]:
    loads = judged.comparison.loads
    if loads is None:
        raise NoDataError("no load generators' summaries are compared")
    row = next((row for row in loads.rows if row.name == asked.subject), None)
    if row is None or row.base is None or row.new is None:
        names = [row.name for row in loads.rows if row.change is not None]
        raise NoDataError(f"both sides do not have it; both have: {', '.join(names)}")
    if row.name == RATE and row.better is None:
        raise NoDataError("the load generator sets the rate: this is no closed loop")
    unit = "ns" if row.unit == "sec" else row.unit
    compared = judged.comparison
    figure = figure_of(row, unit, asked.limit, compared, machine=False)
    if unit == "ns":
        return [figure._replace(scale=scale_for((figure.base, figure.new), "ns"))]
    unit = "pp" if unit == "%" else unit
    return [figure._replace(unit=unit, scale=Scale(1, unit, 2))]


LOAD = Kind(_check, _loads)
