"""The section on execution traces: states, latency, GC, Ps, goroutines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from pprofdiff.analysis.causes.traces import of_tracer, per, sides_of
from pprofdiff.analysis.figures.estimate import Estimate
from pprofdiff.analysis.traces.catalogue import BY_KEY, TraceFigure, figures_of
from pprofdiff.analysis.traces.collector import Collections
from pprofdiff.analysis.traces.compare import GroupPair, StateTime, TraceDiff
from pprofdiff.analysis.traces.quantiles import QUANTILES
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.side import Capture
from pprofdiff.model.traces.trace import Trace
from pprofdiff.report.model import Input, ReportModel, Scope
from pprofdiff.report.rows import (
    Cell,
    Column,
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
from pprofdiff.report.sections.named import function_cells
from pprofdiff.report.sections.traces.cells import (
    INDENT,
    arrow,
    arrows,
    compared,
    compared_columns,
    figure,
    in_one_unit,
    of_whole,
    percents,
    ratio_or_word,
    shares,
    span,
    table_of,
    time_scale,
)
from pprofdiff.report.sections.traces.waits import kind_rows, wait_rows
from pprofdiff.units import Scale, scale_for, times

_ROWS = 8
_FEWEST_WAITS = 100
_COUNT = Scale(1.0, "", 0)


def trace_inputs(captures: Iterable[Capture[Trace]]) -> Iterator[Input]:
    """Yield each trace with its length, number of events, and when it begins."""
    traces = [(capture, capture.content) for capture in captures]
    longest = {
        capture.run: capture
        for capture, trace in sorted(traces, key=lambda one: _length(one[1]))
    }
    for capture, trace in traces:
        when = ""
        if (begin := trace.begin_wall_ns) is not None:
            moment = datetime.fromtimestamp(begin // 1_000_000_000, UTC)
            when = f"from {moment:%H:%M:%S}.{begin // 1_000_000 % 1000:03} UTC"
        yield Input(
            capture.path,
            "trace",
            duration_ns=_length(trace),
            time_ns=begin,
            amount=f"{trace.events:,} events",
            counts={"events": trace.events},
            when=when,
            within=capture is not longest[capture.run],
        )


def _length(trace: Trace) -> int:
    return trace.end_ns - trace.start_ns


def trace_sections(
    diff: TraceDiff, _report: ReportModel, _scope: Scope
) -> Iterator[Section]:
    """Yield the section on execution traces."""
    by = per(diff) + (" of wall time" if diff.rates is None else "")
    yield Section(
        kind="trace",
        id="trace",
        title="trace",
        measure=f"times {by}",
        short="trace",
        compared=diff,
        build=lambda: trace_parts(diff),
        short_parts=lambda rows, _: _short_parts(diff, rows),
    )


def trace_tiles(section: Section) -> Iterator[Tile]:
    """Yield the p99 scheduling latency, or the longest wait if there are few."""
    diff: TraceDiff = section.compared
    base, new = (side.latency.p99_ns for side in diff.sides)
    if base and new:
        (words,) = arrows([[base, new]])
        counts = [side.latency.count for side in diff.sides]
        if min(counts) >= _FEWEST_WAITS:
            change = Cell(times(new / base))
            yield Tile(BY_KEY["wait.p99"].label, words, change)
        else:
            # With so few waits, p99 is the longest one: show that for both sides.
            longest = [side.latency.max_ns or 0 for side in diff.sides]
            (words,) = arrows([longest])
            of = " and ".join(f"{count:,}" for count in counts)
            yield Tile(BY_KEY["wait.longest"].label, words, Cell(f"of {of} waits"))


def trace_parts(diff: TraceDiff) -> Iterator[SectionPart]:
    """Yield the tables; keys of rows are states, reasons, metrics and functions."""
    labels, life = _labels(diff), (Column("of lifetime", "share"),)
    name = f"goroutine time {per(diff)}"
    states = table_of(labels, "states", name, [*_state_rows(diff)], life)
    yield _over_runs(diff, states)
    if rows := [*kind_rows(diff)]:
        more = (Column("of time", "share"),)
        title = "Goroutines that do the work"
        yield table_of(labels, "kinds", f"time {per(diff)}", rows, more, title=title)
    if rows := [*wait_rows(diff)]:
        name = f"what goroutines waited for {per(diff)}"
        yield table_of(labels, "waits", name, rows)
    yield from _runs_table(diff)
    yield from _latency_tables(diff)
    yield from _collector_parts(diff)
    ran = table_of(labels, "processors", "processors", [*_processor_rows(diff)])
    yield _over_runs(diff, ran)
    yield from _durations(diff, "tasks")
    yield from _durations(diff, "regions")
    yield from _goroutines(diff)


def _over_runs(diff: TraceDiff, table: Table) -> Table:
    """Return a table with each ratio's interval over runs, if there are several."""
    if not diff.several:
        return table
    changes = {
        one.row: one.change for one in diff.row_changes if one.table == table.key
    }
    # Before the names, if they are last.
    place = len(table.columns) - (table.columns[-1].role == "name")
    rows = []
    for row in table.rows:
        change = changes.get(row.key)
        sure = change is not None and change.significant
        cells = [*(row if sure else _unmarked(row)).cells]
        cells.insert(place, _bounds(change))
        rows.append(replace(row, cells=tuple(cells)))
    columns = [
        replace(column, signs=True) if column.role == "ratio" else column
        for column in table.columns
    ]
    columns.insert(place, Column("ratio over runs, 95% CI", "interval"))
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _bounds(one: Estimate[float | None] | None) -> Cell:
    known = None if one is None else one.bounds
    return Cell("" if known is None else " to ".join(map(times, known)))


def _unmarked(row: Row) -> Row:
    cells = tuple(replace(cell, mark="", tone="") for cell in row.cells)
    return replace(row, cells=cells)


def _short_parts(diff: TraceDiff, most: int) -> Iterator[SectionPart]:
    """Yield time by state in one unit, then scheduling latency and GC."""
    states = [row for row in diff.states if row.base_ns or row.new_ns]
    yield _states_at_once(diff, states, most)
    keys = "wait.p50", "wait.p99", "gc.share", "utilisation"
    rows = [*filter(None, (_row(diff, BY_KEY[key], whole=True) for key in keys))]
    yield table_of(_labels(diff), "figures", "figures", rows)


def _rows(diff: TraceDiff, table: str) -> Iterator[Row]:
    yield from filter(None, (_row(diff, one) for one in figures_of(table)))


def _row(diff: TraceDiff, one: TraceFigure, *, whole: bool = False) -> Row | None:
    """Return a figure's row, None if empty; `whole`: its label needs no table."""
    estimate = diff.estimate(one)
    name = one.label if whole else one.title
    if one.by == "trace":
        name += f" in the {'traces' if diff.several else 'trace'}"
    if one.by == "longest" and diff.several:
        name += ", longest trace"
    pair = estimate.base, estimate.new
    if one.unit == "share":
        known = one.by != "longest" or None not in pair
        return shares(one.key, name, *pair) if known else None
    if not any(pair):
        return None
    unit = "ns" if one.shown == "ns" else ""
    worse = one.worse == "more" and not whole
    level = 0 if whole else one.level
    return figure(one.key, name, pair, unit, worse=worse, level=level)


def _states_at_once(diff: TraceDiff, states: Sequence[StateTime], most: int) -> Table:
    """Return the states with the most time and the rest as one, all in one unit."""
    named = [
        (
            f"blocked.{row.reason}" if row.state == "blocked" else row.state,
            f"blocked: {row.reason or 'reason not recorded'}"
            if row.state == "blocked"
            else BY_KEY[row.state].title,
            (row.base_ns, row.new_ns),
        )
        for row in states
    ]
    kept = first(named, most, lambda one: max(diff.normalization.scaled(*one[2])))
    left = [one for one in named if one not in kept]
    if left:
        sums = sum(one[2][0] for one in left), sum(one[2][1] for one in left)
        kept.append(("rest", f"{len(left)} other states", sums))
    kept.append(("total", "all goroutines", _sums(states)))
    scaled = {key: diff.normalization.scaled(*raw) for key, _, raw in kept}
    scale = scale_for([value for pair in scaled.values() for value in pair], "ns")
    scale = scale._replace(decimals=max(scale.decimals, 1))
    rows = []
    for key, name, _ in kept:
        old, now = scaled[key]
        cells = (
            Cell(name),
            Cell(scale.number(old), old),
            Cell(scale.number(now), now),
            Cell(scale.number(now - old, signed=True), now - old),
            Cell(ratio_or_word(old, now)),
        )
        rows.append(Row(key, "total" if key == "total" else "figure", cells))
    return Table(
        "states",
        (
            name_column(""),
            *sides(_labels(diff), scale.unit),
            Column("Δ", "delta", unit=scale.unit, signs=False),
            Column("ratio", "ratio", signs=False),
        ),
        tuple(rows),
        title=f"Goroutine time {per(diff)}, in {scale.unit}",
        one_unit=True,
        indent=INDENT,
    )


def _sums(states: Sequence[StateTime]) -> tuple[int, int]:
    return sum(row.base_ns for row in states), sum(row.new_ns for row in states)


def _labels(diff: TraceDiff) -> tuple[str, str]:
    return diff.base.label, diff.new.label


def _state_rows(diff: TraceDiff) -> Iterator[Row]:
    states = [row for row in diff.states if row.base_ns or row.new_ns]
    lives = _sums(states)

    def row_of(
        key: str, name: str, rows: Sequence[StateTime], *, worse: bool = False
    ) -> Row:
        raw = _sums(rows)
        pair, level = diff.normalization.scaled(*raw), int(key not in BY_KEY)
        return of_whole(
            figure(key, name, pair, "ns", worse=worse, level=level), raw, lives
        )

    blocked = [row for row in states if row.state == "blocked"]
    for one in figures_of("states"):
        rows = [row for row in states if row.state == one.key]
        if rows:
            yield row_of(one.key, one.title, rows, worse=one.worse == "more")
    least = max(lives) / 1000
    for row in blocked:
        if max(row.base_ns, row.new_ns) >= least:
            name = row.reason or "reason not recorded"
            yield row_of(f"blocked.{row.reason}", name, [row])


def _latency_tables(diff: TraceDiff) -> Iterator[Table]:
    rows = [*_rows(diff, "latency")]
    sides_of_latency = [side.latency for side in diff.sides]
    fields = (*QUANTILES.values(), "max_ns")
    scale = time_scale(getattr(one, f) for one in sides_of_latency for f in fields)
    bounds = {
        f"wait.{name}": span(*interval, scale)
        for name, interval in diff.latency_intervals.items()
        if interval
    }
    if diff.several:
        sure = {key for key, one in diff.changes("latency").items() if one.significant}
        rows = [row if row.key in sure else _unmarked(row) for row in rows]
    more: tuple[Column, ...] = ()
    if bounds:
        more = (Column("Δ, 95% CI", "interval"),)
        rows = [
            replace(row, cells=(*row.cells, Cell(bounds.get(row.key, ""))))
            for row in rows
        ]
    title, name = "Scheduling latency: from runnable to running", "scheduling latency"
    yield table_of(_labels(diff), "latency", name, rows, more, title=title)
    columns = (
        name_column(f"time runnable {per(diff)}"),
        *sides(_labels(diff)),
        Column("Δ", "delta", signs=False),
        Column("p99", "pair"),
    )
    causes = in_one_unit([*_cause_rows(diff)])
    yield _over_runs(diff, Table("causes", columns, causes, indent=INDENT))


def _runs_table(diff: TraceDiff) -> Iterator[Table]:
    rows = []
    for key, one in diff.run_ratios.items():
        label, unit, pair = BY_KEY[key].label, BY_KEY[key].unit, (one.base, one.new)
        row = (
            shares(key, label, *pair)
            if unit == "share"
            else figure(key, label, pair, unit)
        )
        cells = (*row.cells[:-1], Cell(times(one.ratio or 0), one.ratio), _bounds(one))
        rows.append(replace(row, cells=cells))
    if not rows:
        return
    base, new = map(len, diff.runs)
    interval = (Column("95% CI", "interval"),)
    title, name = f"All traces, {base} and {new} runs", "mean over runs"
    yield table_of(_labels(diff), "runs", name, rows, interval, title=title)


def _cause_rows(diff: TraceDiff) -> Iterator[Row]:
    base, new = (side.causes for side in diff.sides)
    names = list(dict.fromkeys([*[*new][:4], *[*base][:4]]))
    worst = arrows([(base.row(name).p99_ns, new.row(name).p99_ns) for name in names])
    for name, p99 in zip(names, worst, strict=True):
        totals = base.row(name).total_ns, new.row(name).total_ns
        pair = diff.normalization.scaled(*totals)
        cells = compared(name, pair, "ns", worse=True)[:-1]
        yield Row(f"cause.{name}", "figure", (*cells, Cell(p99)))
    for row in _rows(diff, "causes"):
        yield replace(row, cells=(*row.cells[:-1], Cell("")))


def _collector_parts(diff: TraceDiff) -> Iterator[SectionPart]:
    if any(_collected(side.collections) for side in diff.sides):
        rows, name = [*_collector_rows(diff)], f"times {per(diff)}"
        table = table_of(_labels(diff), "gc", name, rows, title="Garbage collection")
        yield _over_runs(diff, table)
    else:
        yield Sentence("No garbage collection ran in either trace.", key="gc")
    stops = tuple(_stop_rows(diff))
    if stops:
        columns = (
            name_column("stop the world for"),
            Column("stops", "pair"),
            Column("p50", "pair"),
            Column("longest", "pair"),
            Column("longest to stop", "pair"),
        )
        yield _over_runs(diff, Table("stops", columns, stops, indent=INDENT))


def _collected(gc: Collections) -> bool:
    works = gc.started, gc.mark_wall_ns, gc.sweep_ns, gc.gc_busy_ns
    return any(works) or any(gc.worker_ns.values())


def _collector_rows(diff: TraceDiff) -> Iterator[Row]:
    triggers = [side.triggers for side in diff.sides]
    for row in _rows(diff, "gc"):
        yield row
        if row.key == "gc.cycles":
            for cause in dict.fromkeys([*triggers[0], *triggers[1]]):
                counts = triggers[0].get(cause, 0), triggers[1].get(cause, 0)
                yield figure(f"gc.cycles.{cause}", f"by {cause}", counts, "", level=1)


def _stop_rows(diff: TraceDiff) -> Iterator[Row]:
    by_kind = [{stop.kind: stop for stop in s.collections.stops} for s in diff.sides]
    kinds = dict.fromkeys([*by_kind[0], *by_kind[1]])
    pairs = [[known.get(kind) for known in by_kind] for kind in kinds]
    columns = zip(
        kinds,
        [arrow([stop.count if stop else 0 for stop in p], _COUNT) for p in pairs],
        arrows([[stop.duration.p50_ns if stop else None for stop in p] for p in pairs]),
        arrows([[stop.duration.max_ns if stop else None for stop in p] for p in pairs]),
        arrows([[stop.stopping.max_ns if stop else None for stop in p] for p in pairs]),
        strict=True,
    )
    for kind, *words in columns:
        yield Row(kind, "figure", (Cell(kind), *map(Cell, words)))


def _processor_rows(diff: TraceDiff) -> Iterator[Row]:
    yield from _rows(diff, "processors")
    limits = (Cell(_limit(side)) for side in diff.sides)
    cells = Cell("GOMAXPROCS"), *limits, Cell(""), Cell("")
    yield Row("gomaxprocs", "figure", cells)


def _limit(side: TraceSide) -> str:
    values = side.processors.gomaxprocs.value
    if not len(values):
        return "–"
    low, high = int(values.min()), int(values.max())
    return str(low) if low == high else f"{low} to {high}"


def _durations(diff: TraceDiff, what: str) -> Iterator[Table]:
    base, new = (getattr(side, what) for side in diff.sides)
    # Names without a complete task or region come last.
    names = dict.fromkeys([*new.durations, *base.durations, *new.counts, *base.counts])
    rows = []
    shown = [*names][:_ROWS]
    of = [[side.durations.row(name) for side in (base, new)] for name in shown]
    worst = arrows([[time.p99_ns for time in pair] for pair in of])
    for name, pair, p99 in zip(shown, of, worst, strict=True):
        medians = pair[0].p50_ns, pair[1].p50_ns
        own = compared(name or "started before the trace", medians, "ns", worse=True)
        counts = _once([f"{time.count:,}" for time in pair])
        rows.append(Row(name, "figure", (*own, Cell(p99), Cell(counts))))
    if rows:
        more = Column("p99", "pair"), Column("complete", "pair")
        name = f"user {what}, p50 of one"
        yield _over_runs(diff, table_of(_labels(diff), what, name, rows, more))


def _once(words: Sequence[str]) -> str:
    return words[0] if words[0] == words[1] else " → ".join(words)


def _goroutines(diff: TraceDiff) -> Iterator[Table]:
    pairs = [pair for pair in diff.groups if not of_tracer(diff, pair)]
    *both, delta, ratio = compared_columns(_labels(diff))
    name = name_column("root function")
    counts = (ratio, Column("count", "pair"))
    waits = (Column("of lifetime", "share"), Column("p99", "pair"))
    for state, field, more in (
        ("running", "exec_ns", counts),
        ("runnable", "sched_wait_ns", waits),
    ):
        rows = in_one_unit([*_moved(diff, pairs, field)])
        if rows:
            table = Table(
                f"goroutines.{state}",
                (*both, delta, *more, name),
                rows,
                title=f"Goroutines by root function: time {state} {per(diff)}",
                code=True,
            )
            yield _over_runs(diff, table)


def _moved(diff: TraceDiff, pairs: Sequence[GroupPair], column: str) -> Iterator[Row]:
    """Yield the groups whose `column` changed most, without those that have none."""
    spent = {}
    for pair in pairs:
        raw = [value or 0.0 for value in _amounts(diff, pair, column)]
        if any(raw):
            spent[pair] = diff.normalization.scaled(*raw)
    order = sorted(spent, key=lambda pair: -abs(spent[pair][1] - spent[pair][0]))
    waiting = column == "sched_wait_ns"
    moved = order[:_ROWS]
    names = function_cells([pair.name for pair in moved])
    worst = arrows([_worst(diff, pair) for pair in moved])
    for pair, name, p99 in zip(moved, names, worst, strict=True):
        cells = compared(pair.name, spent[pair], "ns", worse=waiting)[1:]
        if waiting:
            own = (*cells[:3], Cell(_of_life(diff, pair)), Cell(p99), name)
        else:
            counts = _amounts(diff, pair, "count")
            words = ["–" if count is None else f"{count:,.0f}" for count in counts]
            own = (*cells, Cell(_once(words)), name)
        yield Row(pair.name, "goroutines", own)


def _amounts(diff: TraceDiff, pair: GroupPair, column: str) -> list[float | None]:
    return [
        None if row < 0 else float(getattr(side.groups, column)[row])
        for side, row in sides_of(diff, pair)
    ]


def _of_life(diff: TraceDiff, pair: GroupPair) -> str:
    amounts = (_amounts(diff, pair, name) for name in ("sched_wait_ns", "total_ns"))
    return percents(
        [
            wait / life if wait is not None and life else None
            for wait, life in zip(*amounts, strict=True)
        ]
    )


def _worst(diff: TraceDiff, pair: GroupPair) -> list[int | None]:
    return [
        None if row < 0 else side.group_waits.row(side.groups.names[row]).p99_ns
        for side, row in sides_of(diff, pair)
    ]
