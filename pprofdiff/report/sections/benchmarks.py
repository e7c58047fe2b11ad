"""Benchmarks as benchstat shows them: one table a unit, and the rows for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

from pprofdiff.analysis.benchmarks.compare import (
    BenchmarkDiff,
    BenchmarkRow,
    BenchmarkTable,
    ConfigDifference,
    Geomean,
)
from pprofdiff.analysis.benchmarks.units import better, in_bytes
from pprofdiff.analysis.stats.samples import Summary
from pprofdiff.report.text.layout import Block, Cell, Grid, Lines, Words
from pprofdiff.units import Scale

__all__ = ["benchmark_blocks", "benchmark_headline", "benchmark_rows"]

# So many names of one side only are written out.
_NAMES = 8
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

# Sizes and prefixes of golang.org/x/perf/benchunit, and from which value in such a
# size on how many decimals follow: what is rounded up to the bound has four digits.
# Decimal bounds are parsed, as printing is, where a product would round once more.
_BOUNDS = (("99.995", 1), ("9.9995", 2), (".99995", 3))
_DECIMAL = [
    (float(f"{bound}e{power}"), Scale(float(f"1e{power}"), prefix, decimals))
    for power, prefix in zip(
        range(12, -12, -3), ("T", "G", "M", "k", "", "m", "µ", "n"), strict=True
    )
    for bound, decimals in _BOUNDS
]
_BINARY = [
    (float(bound) * 2.0**power, Scale(2.0**power, prefix, decimals))
    for power, prefix in zip(
        range(40, -10, -10), ("Ti", "Gi", "Mi", "Ki", ""), strict=True
    )
    for bound, decimals in _BOUNDS
]
_MOST_DECIMALS = 10
# From this ratio on, one unit for both sides would make one of them hard to read.
_FAR = 1000

_Config = tuple[tuple[str, str], ...]


def benchmark_rows(diff: BenchmarkDiff) -> list[dict[str, Any]]:
    """Return one object a benchmark and unit, for JSON.

    ``base``, ``new`` and their bounds are medians in ``unit``, as the benchmark printed
    it; what is missing is None.
    """
    return [
        {
            "name": row.name,
            "procs": row.procs,
            "config": dict(table.config),
            "unit": row.unit,
            "better": row.better,
            **_side("base", row.base),
            **_side("new", row.new),
            "delta": row.delta,
            "ratio": row.ratio,
            "p": row.p,
            "significant": None if row.p is None else row.significant,
            "worse": row.worse,
            "notes": list(row.notes),
        }
        for table in diff.tables
        for row in table.rows
    ]


def _side(side: str, summary: Summary | None) -> dict[str, float | int | None]:
    median, low, high, n = summary or (None, None, None, 0)
    return {side: median, f"{side}_low": low, f"{side}_high": high, f"n_{side}": n}


def benchmark_headline(diff: BenchmarkDiff) -> str:
    """Return in one sentence how many medians changed, and for the worse."""
    rows = [row for table in diff.tables for row in table.rows if row.delta is not None]
    moved = [row.worse for row in rows if row.significant]
    worse, improved = moved.count(True), moved.count(False)
    words = f"{worse} of {len(rows)} medians got worse, {improved} better"
    rest = len(rows) - worse - improved
    return f"{words}; {rest} did not change beyond chance." if rest else f"{words}."


def benchmark_blocks(diff: BenchmarkDiff, labels: tuple[str, str]) -> list[Block]:
    """Return the tables, then why a figure is missing, then what was not compared."""
    notes: dict[str, str] = {}
    blocks: list[Block] = []
    shown: _Config = ()
    for table in diff.tables:
        if not table.compares:
            continue
        if table.config != shown:
            shown = table.config
            blocks.append(Words(_named(shown), "strong"))
        blocks.append(_grid(table, labels, notes))
    if not blocks:
        blocks.append(Words("No benchmark was measured on both sides.", "warn"))
    if notes:
        blocks.append(
            Lines(
                tuple(Cell(f"{mark} {note}", "faint") for note, mark in notes.items())
            )
        )
    blocks += _left_out(diff, labels)
    return blocks


def _named(config: _Config) -> str:
    return "  ".join(f"{key}: {value or 'none'}" for key, value in config)


def _grid(
    table: BenchmarkTable, labels: tuple[str, str], notes: dict[str, str]
) -> Grid:
    """Return one unit's table; `notes` gets the marks of those that it needs."""
    base = _medians(table, [row.tidy_base for row in table.rows])
    new = _medians(table, [row.tidy_new for row in table.rows])
    rows = [
        [
            Cell(row.full_name),
            Cell(base[i]),
            Cell(new[i]),
            _delta(row),
            Cell(_test(row), "" if row.significant else "faint"),
            Cell(_marks(row.notes, notes), "faint"),
        ]
        for i, row in enumerate(table.rows)
    ]
    if len(rows) > 1:
        # As wide as " ± 12%", so that figures stand below figures.
        widths = [
            max(len(text) - text.find(" ± ") if text else 0 for text in column)
            for column in (base, new)
        ]
        rows.append(_last(table, notes, widths))
    unit = table.unit
    if better(unit) == "higher":
        unit += " (more is better)"
    return Grid((unit, *labels, "Δ", "", ""), "<>>><<", tuple(rows), 0)


def _medians(table: BenchmarkTable, column: Sequence[Summary | None]) -> list[str]:
    """Return medians with their bounds; each ± is below another."""
    bounds = ["" if s is None else _bounds(s) for s in column]
    width = max(map(len, bounds))
    return [
        ""
        if s is None
        else f"{_number(_row_scale(table, row, s), s.median)} ± {b:>{width}}"
        for row, s, b in zip(table.rows, column, bounds, strict=True)
    ]


def _bounds(summary: Summary) -> str:
    """Return how far the interval reaches, such as ``3%``."""
    if summary.low is None or summary.high is None:
        return "∞"
    spread = summary.spread
    return "?" if spread is None or not isfinite(spread) else f"{100 * spread:.0f}%"


def _row_scale(table: BenchmarkTable, row: BenchmarkRow, own: Summary) -> Scale:
    """Return the scale of both sides' medians, or own where they lie far apart."""
    sides = (row.tidy_base, row.tidy_new)
    medians = [abs(s.median) for s in sides if s is not None and s.median]
    if medians and max(medians) >= _FAR * min(medians):
        medians = [own.median]
    return _scale(medians, table.unit)


def _scale(values: Iterable[float], unit: str) -> Scale:
    """Return the scale in which the smallest value has four digits."""
    smallest = min((abs(v) for v in values if v), default=0.0)
    if smallest == 0:
        return Scale(1.0, "", 3)
    steps = _BINARY if in_bytes(unit) else _DECIMAL
    for bound, scale in steps:
        if smallest >= bound:
            return scale
    _, last = steps[-1]
    value, decimals = smallest / last.size, 3
    while value < float(f"9.9995e{2 - decimals}") and decimals < _MOST_DECIMALS:
        decimals += 1
    return last._replace(decimals=decimals)


def _number(scale: Scale, value: float) -> str:
    return scale.number(value) + scale.unit


def _delta(row: BenchmarkRow) -> Cell:
    """Return the change of the median, ~ where the samples may be of one kind."""
    if row.delta is None or row.tidy_base is None:
        return Cell("+new" if row.base is None else "-gone")
    if not row.significant:
        return Cell("~", "faint")
    style = {True: "worse", False: "better", None: ""}[row.worse]
    if row.delta == 0:
        return Cell("0.00%")
    mark = "▲" if row.delta > 0 else "▼"
    if row.ratio is None:
        return Cell(f"{mark} from 0", style)
    change = row.ratio - 1 if row.tidy_base.median > 0 else 1 - row.ratio
    return Cell(f"{mark} {_percent(change)}", style)


def _percent(change: float) -> str:
    """Return a signed share with benchstat's two decimals."""
    return f"{'−' if change < 0 else '+'}{100 * abs(change):,.2f}%"


def _test(row: BenchmarkRow) -> str:
    """Return p and how many values there are, as benchstat writes them."""
    counts = list(dict.fromkeys(s.n for s in (row.base, row.new) if s is not None))
    words = [] if row.p is None else [f"p={row.p:.3f}"]
    return " ".join([*words, "n=" + "+".join(map(str, counts))])


def _marks(found: Sequence[str], notes: dict[str, str]) -> str:
    """Return the marks of notes, each note's the same wherever it stands."""
    for note in found:
        notes.setdefault(note, str(len(notes) + 1).translate(_SUPERSCRIPT))
    return " ".join(notes[note] for note in found)


def _last(
    table: BenchmarkTable, notes: dict[str, str], widths: Sequence[int]
) -> list[Cell]:
    """Return the row of geometric means, each above the width of its column's ±."""
    means: Geomean = table.geomean
    sides = [
        "" if mean is None else _number(_scale((mean,), table.unit), mean) + " " * width
        for mean, width in zip((means.base, means.new), widths, strict=True)
    ]
    delta = "" if means.ratio is None else _percent(means.ratio - 1)
    return [
        Cell("geomean", "strong"),
        *map(Cell, sides),
        Cell(delta),
        Cell(""),
        Cell(_marks(means.notes, notes), "faint"),
    ]


def _left_out(diff: BenchmarkDiff, labels: tuple[str, str]) -> Iterator[Block]:
    """Yield what one side alone has, what differs, and what could not be read."""
    alone: set[str] = set()
    for side, label in zip(("base", "new"), labels, strict=True):
        names = diff.only(side)
        alone.update(names)
        if names:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            yield Words(f"Only in {label}: {', '.join(names[:_NAMES])}{more}.")
    for table in diff.tables:
        if table.compares or all(row.full_name in alone for row in table.rows):
            continue
        of = f" of {_named(table.config)}" if table.config else ""
        where = {"base": f"in {labels[0]} only", "new": f"in {labels[1]} only"}
        by = where.get(table.side, "by no benchmark on both sides")
        yield Words(f"{table.unit}{of} was measured {by}.")
    for found in diff.differences:
        yield Words(_difference(found, labels), "warn")
    if torn := sum(diff.torn):
        lines = "1 line names" if torn == 1 else f"{torn} lines name"
        yield Words(f"{lines} a benchmark but no figures of it.", "warn")


def _difference(found: ConfigDifference, labels: tuple[str, str]) -> str:
    sides = [
        f"{' and '.join(value or 'none' for value in values)} in {label}"
        for values, label in zip((found.base, found.new), labels, strict=True)
    ]
    return f"{found.key} differs: {sides[0]}, {sides[1]}."
