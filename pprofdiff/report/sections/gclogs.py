"""The section on GC logs: totals, rates under load, and the GOGC to match base.

Rows name the fields of a gctrace line that they use: wall and CPU time differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import floor, log, log10

from msgspec.structs import replace

from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.gclogs.catalogue import RATES, SUMS, Form, LogFigure
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture
from pprofdiff.report.model import Input, ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Column,
    Mark,
    Row,
    Section,
    SectionPart,
    Sentence,
    Table,
    Tile,
    name_column,
    sides,
)
from pprofdiff.report.sections.folding import first
from pprofdiff.report.sections.gc_price import gc_price_parts
from pprofdiff.units import SMALL, Scale, inverse, percent, scale_for, times

_MIB = 1 << 20
# What intervals and marks are based on.
_OF_RUNS = (
    "95%: interval of the ratio of geometric means, each run one observation. "
    "Of the ratios that are marked, 5% may be false."
)
_OF_ONE_RUN = (
    "A ratio is marked if it is further from 1 than single runs of one build were "
    "seen to differ. Several runs per side show how far theirs do."
)
_LINE = "gc N @T U%: s+m+t ms clock, S+A/D/I+T ms cpu, H0->H1->H2 MB, G MB goal, P P"
# A ratio this close to 1 is not marked, even if it is significant.
_ALIKE = 0.05
# Numbers this large get a larger unit, however small others in their table are.
_LONG = 1e6
# From here on, a bound of an interval has no decimals.
_MANY = 99.5
# Below this, decimals have an exponent.
_TINY = 1e-4
# With fewer cycles, a tile shows their number: all may be from startup.
_SOME = 5

# Base and new as written, and the unit after both, "" for none.
_Words = tuple[str, str, str]


def _exact(us: float) -> str:
    """Return exact milliseconds from whole microseconds."""
    digits = f"{us / 1000:,.3f}".rstrip("0")
    return digits.removesuffix(".")


def _of_all(sizes: Sequence[float]) -> Scale:
    """Return the scale of the smallest, unless the largest is a million in it."""
    least, most = (_MIB * of(sizes, default=0.0) for of in (min, max))
    scale = scale_for((least,), "bytes")
    return scale if most < _LONG * scale.size else scale_for((most,), "bytes")


def _in_scale(base: float, new: float, scale: Scale) -> _Words:
    """Return two values in a scale, with three or more digits of the larger one."""
    # Sizes in a damaged log may be negative.
    top = max(abs(base), abs(new)) / scale.size
    decimals = max(0, 2 - floor(log10(top))) if top and scale.unit != "B" else 0
    fitting = scale._replace(decimals=decimals)
    return fitting.number(base), fitting.number(new), scale.unit


# How each value is written, and the unit after both; the unit and factor of others,
# which are written in one scale.
_EACH: dict[Form, tuple[Callable[[float], str], str]] = {
    "ms": (_exact, "ms"),
    "count": ("{:,.0f}".format, ""),
    "share": (lambda share: percent(share, 1), ""),
    "percent": ("{:.0f}".format, "%"),
}
_IN_SCALE: dict[Form, tuple[str, int]] = {
    "time": ("us", 1),
    "rate": ("", 1),
    "bytes": ("bytes", _MIB),
}


def written(figure: LogFigure, base: float, new: float) -> _Words:
    """Return a figure's values as written, and the unit after both, "" for none."""
    if figure.form in _EACH:
        write, unit = _EACH[figure.form]
        return write(base), write(new), unit
    unit, size = _IN_SCALE[figure.form]
    scale = scale_for((base * size, new * size), unit)
    return scale.number(base * size), scale.number(new * size), scale.unit


def gc_inputs(captures: Iterable[Capture[GCLog]]) -> Iterator[Input]:
    """Yield each log's length, its longest process's, and its cycles."""
    for capture in captures:
        runs = capture.content.runs
        ends = [int(run.cycles.start_ms[-1]) for run in runs if run.lines_seen]
        cycles = sum(run.lines_seen for run in runs)
        expected = sum(run.lines_expected for run in runs)
        of = "" if cycles == expected else f" of {expected:,}"
        yield Input(
            capture.path,
            "gctrace",
            duration_ns=max(ends) * 1_000_000 if ends else None,
            amount=f"{cycles:,}{of} cycles",
            counts={"cycles": cycles, "expected": expected},
        )


def gc_sections(gc: GCDiff, report: ReportModel, _scope: Scope) -> Iterator[Section]:
    """Yield the section on GC logs."""
    span = "the windows" if gc.base.shown.asked or gc.new.shown.asked else "all lines"
    runs = len(gc.base.runs), len(gc.new.runs)
    of = f", means of {runs[0]} and {runs[1]} runs" if gc.several_runs else ""
    yield Section(
        kind="gctrace",
        id="gctrace",
        title="gctrace",
        measure=f"sums of {span}{of}",
        short="GC log",
        compared=gc,
        build=lambda: chain(
            gc_parts(gc),
            # Or else the section on the CPU profile has them.
            gc_price_parts(report) if report.comparison.cpu is None else (),
        ),
        short_parts=lambda rows, _: _short_parts(gc, rows),
    )


def gc_parts(gc: GCDiff) -> Iterator[SectionPart]:
    """Yield totals of the logs, rates under load, and the GOGC to match base."""
    yield Sentence(f"fields: {_LINE}", "legend")
    yield _table(gc, "sums", SUMS)
    windows = "; ".join(f"{s.label} {_window(s)}" for s in (gc.base, gc.new))
    yield replace(_table(gc, "rates", RATES), title=f"Under load: {windows}")
    yield Sentence(_OF_RUNS if gc.several_runs else _OF_ONE_RUN, "legend")
    yield from _factors(gc)


def _short_parts(gc: GCDiff, most: int) -> Iterator[SectionPart]:
    """Yield the metrics that can get worse and changed most, marked ones first."""
    costs = tuple(f for f in (*RATES, *SUMS) if f.worse)
    whole = _table(gc, "figures", costs)
    at = whole.place("ratio")

    def moved(row: Row) -> tuple[bool, float]:
        ratio = row.cells[at].value
        return row.cells[at].mark != "", abs(log(ratio)) if ratio and ratio > 0 else 0.0

    some = tuple(first(whole.rows, most, moved))
    title = "What changed most (rates are under load)"
    yield replace(whole, rows=some, title=title, total=len(whole.rows))
    yield from _factors(gc)


def _window(side: GCSide) -> str:
    reasons = dict.fromkeys(run.window.reason for run in side.runs)
    many = f"windows of {len(side.runs)} runs"
    return next(iter(reasons)) if len(reasons) == 1 else many


def _table(gc: GCDiff, key: str, figures: tuple[LogFigure, ...]) -> Table:
    """Return the metrics that either side has, each in its own unit."""
    rows = []
    several = gc.several_runs
    known = [(figure, gc.estimates[figure.key]) for figure in figures]
    known = [one for one in known if any(one[1][:2])]
    sizes = [v for f, one in known if f.form == "bytes" for v in one[:2] if v]
    scale = _of_all(sizes)
    for figure, estimate in known:
        base, new = estimate.base, estimate.new
        words = written(figure, base or 0, new or 0)
        if figure.form == "bytes":
            words = _in_scale(_MIB * (base or 0), _MIB * (new or 0), scale)
        cells = (
            Cell(figure.label),
            Cell("–" if base is None else words[0], base, figure.unit),
            Cell("–", None, figure.unit)
            if new is None
            else Cell(words[1], new, figure.unit, suffix=words[2]),
            _ratio(estimate, worse=figure.worse == "more"),
            *([Cell(_interval(estimate), tone="faint")] if several else []),
            Cell(figure.fields, tone="faint"),
        )
        rows.append(Row(figure.key, "figure", cells, figure.level))
    columns = (
        name_column(""),
        *sides((gc.base.label, gc.new.label)),
        Column("ratio", "ratio"),
        *([Column("95%", "interval")] if several else []),
        Column("fields", "source", "<"),
    )
    return Table(key, columns, tuple(rows))


def _ratio(one: Estimate[float | None], *, worse: bool) -> Cell:
    """Return new ÷ base, marked if more is worse and runs do not differ by as much."""
    ratio = one.ratio
    if ratio is None:
        return Cell("")
    text = times(ratio)
    if not worse or not one.significant or abs(ratio - 1) < _ALIKE:
        return Cell(text, ratio)
    mark: Mark = "more" if ratio > 1 else "less"
    return Cell(text, ratio, mark=mark, tone="worse" if ratio > 1 else "better")


def _interval(one: Estimate[float | None]) -> str:
    if one.bounds is None:
        return ""
    # Bounds have the form of the ratio between them.
    small = one.bounds[0] > 0 and one.ratio is not None and one.ratio < SMALL
    return " to ".join(inverse(b) if small else _bound(b) for b in one.bounds)


def _bound(ratio: float) -> str:
    if ratio >= _MANY:
        return f"{ratio:,.0f}"
    return inverse(ratio) if 0 < ratio < _TINY else f"{ratio:.2g}"


def _factors(gc: GCDiff) -> Iterator[Sentence]:
    factors = gc.factors
    if factors is None:
        return
    per = "per op" if gc.per_work else "per second"
    # Three digits each, so that the product can be checked.
    ratios = {name: times(f, significant=3) for name, f in factors._asdict().items()}
    yield Sentence(
        f"GC CPU {per} {ratios['gc_cpu']} = allocation {ratios['allocation']} ÷ "
        f"bytes per cycle {ratios['bytes_per_cycle']} × CPU per cycle "
        f"{ratios['cpu_per_cycle']}; cycles {per} {ratios['cycles']}."
    )
    restored = gc.restored
    if restored is None or factors.bytes_per_cycle > 1:
        return
    text = f"To collect as seldom as {gc.base.label}: GOGC={restored.gogc:.0f}"
    if restored.heap_mb is not None:
        limit = restored.heap_mb + (restored.outside_mb or 0)
        text += f", or GOMEMLIMIT at {limit:,.0f} MiB plus memory outside the heap"
    yield Sentence(f"{text}.")


def gc_tiles(section: Section) -> Iterator[Tile]:
    """Yield how often GC runs under load, else the number of cycles."""
    gc: GCDiff = section.compared
    often, *_ = RATES
    often_of = gc.estimates[often.key]
    base, new = often_of.base, often_of.new
    if base and new and min(gc.base.steady.cycles, gc.new.steady.cycles) >= _SOME:
        *both, unit = written(often, base, new)
        change = _ratio(often_of, worse=often.worse == "more")
        values = f"{' → '.join(both)} {unit}".rstrip()
        yield Tile("GC cycles per second, under load", values, change)
        return
    counts = gc.base.whole.cycles, gc.new.whole.cycles
    change = Cell(times(counts[1] / counts[0]) if counts[0] else "")
    yield Tile("GC cycles, whole logs", f"{counts[0]:,} → {counts[1]:,}", change)
