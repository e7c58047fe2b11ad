"""The section on benchmarks, as benchstat shows them: one table per unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite
from typing import NamedTuple

from pprofdiff.analysis.benchmarks.compare import (
    SIDE_NAMES,
    BenchmarkDiff,
    BenchmarkRow,
    BenchmarkTable,
    ConfigDifference,
    Geomean,
)
from pprofdiff.analysis.benchmarks.units import better, in_bytes, tidy
from pprofdiff.analysis.figures.costs import CPU, TIME
from pprofdiff.analysis.judge.calibration import SAMPLES_FOR_TEST
from pprofdiff.analysis.judge.samples import Summary
from pprofdiff.model.benchmarks import Benchmarks
from pprofdiff.model.side import Capture
from pprofdiff.report.model import Input, ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Column,
    Footnote,
    Footnotes,
    Mark,
    Row,
    Section,
    SectionPart,
    Sentence,
    Table,
    Tile,
    Tone,
    name_column,
    sides,
)
from pprofdiff.report.sections.changes import bounds, change
from pprofdiff.report.sections.folding import counted, first, folded, movement
from pprofdiff.units import Scale, first_few, many

# Maximum names listed of benchmarks that only one side has.
_NAMES = 8
# Maximum units, and maximum phrases, in a sentence on what changed or did not.
_UNITS = 3
# Maximum tables, and rows per table, in a short report.
_FEW = 3
_SLIGHT = 0.001
# What a change is, by whether it is worse.
_WAYS = {True: "worse", False: "better", None: "changed"}
_OF_THESE_RUNS = (
    "p compares values of these runs; in time, runs of one build may differ as much."
)
# Units that depend on how busy the machine is.
_TIMED = (tidy(TIME.printed).unit, tidy(CPU.printed).unit, "B/s")
# With limited rows, all tables together have this many times the rows of one.
_SHARE = 10
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

# Sizes and prefixes of golang.org/x/perf/benchunit, and the value from which each
# number of decimals applies: a value that rounds up to the bound has four digits.
# Decimal bounds are parsed, because a product would round once more.
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
# From this ratio on, a common unit would make one side hard to read.
_FAR = 1000

# Separates a median from its bounds.
_BETWEEN = " ± "

_Config = tuple[tuple[str, str], ...]


def benchmark_inputs(captures: Iterable[Capture[Benchmarks]]) -> Iterator[Input]:
    """Yield each benchmark output with its number of benchmarks."""
    for capture in captures:
        count = len({result.name for result in capture.content.results})
        yield Input(
            capture.path,
            "benchmark",
            amount=many(count, "benchmark"),
            counts={"results": count},
        )


def benchmark_sections(
    diff: BenchmarkDiff, report: ReportModel, scope: Scope
) -> Iterator[Section]:
    """Yield the section on benchmarks, with at most `scope.rows` rows per table."""
    labels, unsure = report.labels, _unsure(report)
    yield Section(
        kind="benchmark",
        id="benchmark",
        title="benchmarks",
        measure=_measure(diff, several=bool(report.outcome.units)),
        short="benchmarks",
        compared=diff,
        build=lambda: benchmark_parts(diff, labels, scope.rows, unsure=unsure),
        short_parts=lambda rows, _: benchmark_parts(
            diff, labels, min(rows, _FEW), unsure=unsure
        ),
        instead=_sentence(diff, unsure=unsure),
        noise=unsure or None,
    )


def _unsure(report: ReportModel) -> bool:
    """Return whether runs of one build may differ in time as the values of both do."""
    decided = report.outcome
    times = (one for one in decided.measures if one.id == TIME.id)
    return not report.comparison.measured and (
        not decided.decided or any(one.verdict == "unknown" for one in times)
    )


def _measure(diff: BenchmarkDiff, *, several: bool) -> str:
    medians = "medians ± 95% interval"
    words = {row.of_turns is not None for row in diff.rows if row.change is not None}
    if True not in words:
        return medians
    how = "judged together (false discovery rate 1%)" if several else "99% CI"
    turns = f"times as geometric means of turns, {how}"
    return f"{turns}; other units: {medians}" if False in words else turns


class _InUnit(NamedTuple):
    """What happened to the benchmarks that both sides have in a unit, in words."""

    unit: str
    all: int
    changed: int
    words: str


def _by_unit(diff: BenchmarkDiff, *, unsure: bool) -> list[_InUnit]:
    units: dict[str, list[BenchmarkRow]] = {}
    for table in diff.tables:
        rows = [row for row in table.rows if row.delta is not None]
        if rows:
            units.setdefault(table.unit, []).extend(rows)
    found = []
    for unit, rows in units.items():
        changed = [row for row in rows if row.significant and row.delta]
        words = _words(rows, changed, unsure=unsure and unit in _TIMED)
        found.append(_InUnit(unit, len(rows), len(changed), words))
    return found


def _words(
    rows: Sequence[BenchmarkRow], changed: Sequence[BenchmarkRow], *, unsure: bool
) -> str:
    """Return how one benchmark changed in a unit, or how many of several did."""
    if unsure and changed:
        if len(rows) == 1:
            return " differs in these runs"
        return f": {len(changed)} of {len(rows)} differ in these runs"
    if changed:
        slight = all(row.ratio and abs(row.ratio - 1) < _SLIGHT for row in changed)
        by = " by <0.1%" if slight else ""
        ways = [row.worse for row in changed]
        (count, word), *rest = (
            (ways.count(way), f"{word}{by}")
            for way, word in _WAYS.items()
            if way in ways
        )
        if len(rows) == 1:
            return f" {word}"
        more = "".join(f", {n} {w}" for n, w in rest)
        return f": {count} of {len(rows)} {word}{more}"
    few = sum(_too_few(row) for row in rows)
    if few == len(rows):
        return f" untested (under {SAMPLES_FOR_TEST} values per side)"
    same = " within noise" if any(row.delta for row in rows) else " as before"
    return f"{same} ({few} untested)" if few else same


def _in_words(diff: BenchmarkDiff, *, unsure: bool) -> tuple[str, str, str]:
    """Return what changed and what did not, by unit, and what separates units."""
    units = _by_unit(diff, unsure=unsure)
    # Phrases about several benchmarks have commas.
    between = ", " if all(one.all == 1 for one in units) else "; "
    changed, same = (
        between.join(_by_words([one for one in units if bool(one.changed) is moved]))
        for moved in (True, False)
    )
    return changed, same, between


def _by_words(some: Iterable[_InUnit]) -> list[str]:
    """Return what happened in each unit, merging units with the same phrase."""
    alike: dict[str, list[str]] = {}
    for one in some:
        alike.setdefault(one.words, []).append(one.unit)
    listed = [f"{_listed(units)}{words}" for words, units in alike.items()]
    if len(listed) > _UNITS:
        left = sum(len(units) for units in list(alike.values())[_UNITS:])
        listed = [*listed[:_UNITS], f"{left} more unit{'' if left == 1 else 's'}"]
    return listed


def _listed(units: list[str]) -> str:
    if len(units) > _UNITS:
        units = [*units[: _UNITS - 1], f"{len(units) - _UNITS + 1} more units"]
    *first, last = units
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(diff: BenchmarkDiff, *, unsure: bool) -> str:
    *words, between = _in_words(diff, unsure=unsure)
    return f"{between.join(filter(None, words)) or 'none on both sides'}."


def _too_few(row: BenchmarkRow) -> bool:
    """Return whether values differ but are too few for a test."""
    numbers = [side.n for side in (row.base, row.new) if side is not None]
    few = row.of_turns is None and min(numbers) < SAMPLES_FOR_TEST
    return few and bool(row.delta)


def benchmark_tiles(section: Section) -> Iterator[Tile]:
    """Yield what changed, by unit."""
    changed, same, _ = _in_words(section.compared, unsure=bool(section.noise))
    if not changed:
        changed, same = same or "none on both sides", ""
    yield Tile("benchmarks", changed, Cell(same))


def benchmark_parts(
    diff: BenchmarkDiff,
    labels: tuple[str, str],
    most: int | None = None,
    *,
    unsure: bool = False,
) -> Iterator[SectionPart]:
    """Yield one table per unit, then footnotes, then what was not compared.

    A table's key is its unit; row keys are full names, ``folded`` and ``geomean``. With
    `most`, there are at most that many tables and rows per table, and at most ten times
    as many rows in all: those that changed most. Times that are `unsure` say so.
    """
    notes: dict[str, str] = {}
    shown: _Config = ()
    compared = [table for table in diff.tables if table.compares]
    chosen = first(compared, most, lambda table: max(map(movement, table.rows)))
    limit = None if most is None else min(most, _SHARE * most // max(len(chosen), 1))
    tables: list[Table] = []
    for table in chosen:
        title = "" if table.config == shown else _named(table.config)
        shown = table.config
        tables.append(_table(table, labels, notes, title, limit))
    yield from tables
    if not tables:
        yield Sentence("No benchmark was measured on both sides.", "caution")
    yield from folded(compared, chosen, limit)
    if unsure and any(
        one.unit in _TIMED and one.changed for one in _by_unit(diff, unsure=True)
    ):
        yield Sentence(_OF_THESE_RUNS)
    if notes:
        yield Footnotes(tuple(Footnote(mark, note) for note, mark in notes.items()))
    yield from _left_out(diff, labels, most)


def _named(config: _Config) -> str:
    return "  ".join(f"{key}: {value or 'none'}" for key, value in config)


def _table(
    table: BenchmarkTable,
    labels: tuple[str, str],
    notes: dict[str, str],
    title: str,
    most: int | None,
) -> Table:
    whole = table.rows
    table = table._replace(rows=tuple(first(whole, most, movement)))
    base, base_width = _medians(table, [row.tidy_base for row in table.rows])
    new, new_width = _medians(table, [row.tidy_new for row in table.rows])
    rows = []
    for i, row in enumerate(table.rows):
        cells = (
            Cell(row.full_name),
            Cell(base[i], _median(row.tidy_base), table.unit),
            Cell(new[i], _median(row.tidy_new), table.unit),
            _delta(row),
            _sure(row),
            Cell(_marks(row.notes, notes), tone="faint"),
        )
        rows.append(Row(row.full_name, "benchmark", cells))
    if len(table.rows) < len(whole):
        rows.append(_folded_row(table.rows, whole))
    if len(rows) > 1:
        rows.append(_last(table, notes, (base_width, new_width)))
    more = " (more is better)" if better(table.unit) == "higher" else ""
    columns = (
        name_column(f"{table.unit}{more}"),
        *sides(labels),
        Column("Δ", "delta"),
        Column("", "interval" if _in_turns(table) else "test", "<"),
        Column("", "notes", "<"),
    )
    return Table(table.unit, columns, tuple(rows), title=title)


def _folded_row(shown: Sequence[BenchmarkRow], whole: Sequence[BenchmarkRow]) -> Row:
    """Return the row that counts the rows of a table that are not shown."""
    ids = {id(row) for row in shown}
    left = [row for row in whole if id(row) not in ids]
    empty = Cell("")
    name = Cell(f"({len(left):,} more)", tone="faint")
    counts = Cell(counted(left), tone="faint")
    return Row("folded", "benchmark", (name, empty, empty, empty, counts, empty))


def _median(summary: Summary | None) -> float | None:
    return None if summary is None else summary.median


def _medians(
    table: BenchmarkTable, column: Sequence[Summary | None]
) -> tuple[list[str], int]:
    """Return medians with aligned bounds, and the width of the bounds."""
    numbers = [
        "" if s is None else _number(_row_scale(table, row, s), s.median)
        for row, s in zip(table.rows, column, strict=True)
    ]
    if _in_turns(table):
        return numbers, 0
    reaches = ["" if s is None else _bounds(s) for s in column]
    width = max(map(len, reaches))
    medians = [
        f"{number}{_BETWEEN}{reach:>{width}}" if number else ""
        for number, reach in zip(numbers, reaches, strict=True)
    ]
    return medians, len(_BETWEEN) + width if width else 0


def _in_turns(table: BenchmarkTable) -> bool:
    return any(row.of_turns is not None for row in table.rows)


def _bounds(summary: Summary) -> str:
    """Return how far the interval reaches, such as ``3%``."""
    if summary.low is None or summary.high is None:
        return "∞"
    percent = 100 * (inf if summary.spread is None else summary.spread)
    return f"{percent:.0f}%" if isfinite(percent) else "?"


def _row_scale(table: BenchmarkTable, row: BenchmarkRow, own: Summary) -> Scale:
    """Return the scale of both medians, or of `own` if they are far apart."""
    both = (row.tidy_base, row.tidy_new)
    medians = [abs(s.median) for s in both if s is not None and s.median]
    if medians and max(medians) >= _FAR * min(medians):
        medians = [own.median]
    return _scale(medians, table.unit)


def _scale(values: Iterable[float], unit: str) -> Scale:
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
    """Return the change of the median, marked as noise if not significant."""
    if row.delta is None or row.tidy_base is None:
        return Cell("new" if row.base is None else "gone")
    if row.of_turns is not None:
        return _of_turns(row, row.delta)
    if not row.significant:
        return Cell("", row.delta, mark="noise", tone="faint")
    if row.delta == 0:
        return Cell("0.00%", 0.0)
    mark: Mark = "more" if row.delta > 0 else "less"
    text = "from 0"
    if row.ratio is not None:
        text = _percent(row.ratio - 1 if row.tidy_base.median > 0 else 1 - row.ratio)
    return Cell(text, row.delta, row.unit, mark, tone_of(row))


def _of_turns(row: BenchmarkRow, delta: float) -> Cell:
    """Return the change of a mean over rounds, formatted as in the outcome."""
    text = "" if row.ratio else "from 0"
    if row.ratio is not None and delta:
        text = change(row.ratio) if row.ratio else "−100%"
    text = "" if text == "0.0%" else text
    if row.change is None or row.change.mark not in ("more", "less"):
        return Cell(text, delta, row.unit, "noise", "faint")
    return Cell(text, delta, row.unit, row.change.mark, tone_of(row))


def tone_of(row: BenchmarkRow) -> Tone:
    """Return how a change of a benchmark or load is drawn."""
    return "" if row.worse is None else "worse" if row.worse else "better"


def _sure(row: BenchmarkRow) -> Cell:
    """Return how certain a change is: its interval, or the p of a test."""
    if row.of_turns is None:
        return Cell(_test(row), row.p, tone="" if row.significant else "faint")
    known = row.of_turns.bounds
    if known is None or row.ratio is None:
        return Cell("")
    if not row.significant and not known[0] <= 1 <= known[1]:
        # The verdict asks for more than this interval.
        return Cell("(not significant)", tone="faint")
    return Cell(f"({bounds(row.ratio, *known)})", tone="faint")


def _percent(share: float) -> str:
    return f"{'−' if share < 0 else '+'}{100 * abs(share):,.2f}%"


def _test(row: BenchmarkRow) -> str:
    counts = list(dict.fromkeys(s.n for s in (row.base, row.new) if s is not None))
    words = [] if row.p is None else [f"p={row.p:.3f}"]
    return " ".join([*words, "n=" + "+".join(map(str, counts))])


def _marks(needed: Sequence[str], notes: dict[str, str]) -> str:
    """Return the marks of footnotes, the same mark for the same note."""
    for note in needed:
        notes.setdefault(note, str(len(notes) + 1).translate(_SUPERSCRIPT))
    return " ".join(notes[note] for note in needed)


def _last(table: BenchmarkTable, notes: dict[str, str], widths: Sequence[int]) -> Row:
    means: Geomean = table.geomean
    texts = [
        "" if mean is None else _number(_scale((mean,), table.unit), mean) + " " * width
        for mean, width in zip((means.base, means.new), widths, strict=True)
    ]
    words = "" if means.ratio is None else _percent(means.ratio - 1)
    if means.ratio is not None and _in_turns(table):
        words = change(means.ratio) if means.ratio != 1 else ""
    cells = (
        Cell("geomean"),
        Cell(texts[0], means.base, table.unit),
        Cell(texts[1], means.new, table.unit),
        Cell(words, means.ratio),
        Cell(""),
        Cell(_marks(means.notes, notes), tone="faint"),
    )
    return Row("geomean", "mean", cells)


def _left_out(
    diff: BenchmarkDiff, labels: tuple[str, str], most: int | None
) -> Iterator[Sentence]:
    """Yield what only one side has, what differs, and what could not be read."""
    alone: set[str] = set()
    for side, label in zip(SIDE_NAMES, labels, strict=True):
        names = diff.only(side)
        alone.update(names)
        if names:
            yield Sentence(f"Only in {label}: {first_few(names, _NAMES)}.")
    unpaired = [
        table
        for table in diff.tables
        if not table.compares and any(row.full_name not in alone for row in table.rows)
    ]
    where = {"base": f"in {labels[0]} only", "new": f"in {labels[1]} only"}
    for table in unpaired[:most]:
        of = f" of {_named(table.config)}" if table.config else ""
        by = where.get(table.side, "by no benchmark on both sides")
        yield Sentence(f"{table.unit}{of} was measured {by}.")
    if most is not None and len(unpaired) > most:
        yield Sentence(f"({len(unpaired) - most:,} more units were measured so)")
    for difference in diff.differences:
        yield Sentence(_difference(difference, labels), "caution")
    if torn := sum(diff.torn):
        lines = "1 line names" if torn == 1 else f"{torn} lines name"
        yield Sentence(f"{lines} a benchmark but no figures of it.", "caution")


def _difference(difference: ConfigDifference, labels: tuple[str, str]) -> str:
    words = [
        f"{' and '.join(value or 'none' for value in values)} in {label}"
        for values, label in zip((difference.base, difference.new), labels, strict=True)
    ]
    return f"{difference.key} differs: {words[0]}, {words[1]}."
