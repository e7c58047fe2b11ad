"""Several traces a side add up, exactly, and say how sure a ratio is over runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.figures import run_figures
from pprofdiff.analysis.traces.catalogue import BY_KEY
from pprofdiff.analysis.traces.compare import GroupPair, compare_traces
from pprofdiff.analysis.traces.goroutines import TIMES
from pprofdiff.analysis.traces.movers import movers
from pprofdiff.analysis.traces.quantiles import quantiles
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.json.traces import trace_row
from pprofdiff.report.rows import Table
from pprofdiff.report.sections.traces.section import trace_parts
from tests.analysis.traces.built import empty
from tests.plots.captured import traces

STORIES = ("health-check", "node-pool", "syncpool")
_ADDED = ("count", "total_ns", *TIMES)


def captures(*numbered):
    """Return traces as captures, from (run, trace) pairs."""
    return tuple(
        Capture(f"{i}/trace.out", "trace", trace, run, run_known=True)
        for i, (run, trace) in enumerate(numbered)
    )


def of_stories(side, stories=STORIES):
    """Return a trace of each story as a run of one side."""
    return captures(*enumerate(traces(story)[side] for story in stories))


def compared(base, new):
    """Return both sides' traces compared."""
    return compare_traces(("base", base), ("new", new))


def as_comparison(base, new):
    """Return the comparison that the traces are all of."""
    diff = compared(base, new)
    return Comparison(Side("base", base), Side("new", new), {"trace": diff})


@pytest.fixture(scope="module")
def diff():
    """Return unlike traces a side, so that most rows are in one of them alone."""
    return compared(of_stories(0), of_stories(1))


@pytest.fixture(scope="module")
def alike():
    """Return the two sides of a story as runs of both sides: no more than chance."""
    old, now = traces("health-check")
    return compared(captures((0, old), (1, now)), captures((0, now), (1, old)))


@pytest.fixture(scope="module")
def apart():
    """Return a change that every run shows."""
    old, now = traces("health-check")
    return compared(*(captures(*((i, one) for i in range(3))) for one in (old, now)))


def by_name(groups, column):
    values = getattr(groups, column).tolist()
    return Counter(dict(zip(groups.names, values, strict=True)))


def blocked(groups):
    return Counter(
        {
            (name, reason): ns
            for name, row in zip(groups.names, groups.block_ns.tolist(), strict=True)
            for reason, ns in zip(groups.reasons, row, strict=True)
        }
    )


@pytest.mark.parametrize("grouping", ["groups", "by_creation"])
def test_goroutines_add_up_exactly(diff, grouping):
    for side in diff.sides:
        whole, parts = (
            getattr(side, grouping),
            [getattr(p, grouping) for p in side.parts],
        )
        assert len(parts) == len(STORIES)
        for column in _ADDED:
            each = [by_name(part, column) for part in parts]
            assert by_name(whole, column) == sum(each, Counter())
        assert blocked(whole) == sum(map(blocked, parts), Counter())
        assert len(whole.group_of) == sum(len(part.group_of) for part in parts)
        first = 0
        for part in parts:
            rows = whole.group_of[first : first + len(part.group_of)].tolist()
            assert [whole.names[row] for row in rows] == [
                part.names[row] for row in part.group_of.tolist()
            ]
            first += len(rows)


def test_states_collections_and_processors_add_up(diff):
    ones = [compared(base, new) for base, new in pairs()]
    whole = {(row.state, row.reason): row[2:] for row in diff.states}
    for i in (0, 1):
        total = Counter()
        for one in ones:
            total.update({row[:2]: row[2 + i] for row in one.states})
        assert {key: row[i] for key, row in whole.items() if row[i]} == +total
    for side in diff.sides:
        parts = side.parts
        assert side.wall_ns == sum(part.wall_ns for part in parts)
        for field in ("started", "mark_wall_ns", "assist_cpu_ns", "sweep_ns", "stw_ns"):
            assert getattr(side.collections, field) == sum(
                getattr(part.collections, field) for part in parts
            )
        stops = Counter()
        for part in parts:
            stops.update({s.kind: s.total_ns for s in part.collections.stops})
        assert Counter({s.kind: s.total_ns for s in side.collections.stops}) == stops
        for field in ("capacity_ns", "goroutine_ns"):
            assert getattr(side.processors, field) == sum(
                getattr(part.processors, field) for part in parts
            )


def pairs():
    """Return (base, new) of each run alone."""
    return zip(
        *([captures((0, traces(s)[i])) for s in STORIES] for i in (0, 1)), strict=True
    )


def test_waits_are_of_all_traces(diff):
    for side in diff.sides:
        each = [part.latencies_ns for part in side.parts]
        assert side.latency == quantiles(np.concatenate(each))
        total = Counter()
        for part in side.parts:
            total.update({k: one.total_ns for k, one in part.causes.items()})
        assert total == {k: one.total_ns for k, one in side.causes.items()}


@pytest.mark.parametrize("state", ["blocked", "syscall"])
def test_places_add_up(diff, state):
    total, numbers = Counter(), Counter()
    for base, new in pairs():
        for row in movers(compared(base, new), state):
            total.update({place(row): row.new_ns})
            numbers.update({place(row): row.new_number})
    rows = movers(diff, state)
    assert Counter({place(row): row.new_ns for row in rows}) == total
    assert Counter({place(row): row.new_number for row in rows}) == numbers


def place(row):
    return row.root, row.reason, row.call, row.function, row.under


def test_the_order_of_inputs_does_not_matter(diff):
    """Neither the order of files, nor which run is which."""
    shuffled = compared(of_stories(0)[::-1], of_stories(1)[::-1])
    assert trace_row(shuffled) == trace_row(diff)
    turned = compared(*(of_stories(side, STORIES[::-1]) for side in (0, 1)))
    one, other = trace_row(turned), trace_row(diff)
    for key in ("states", "goroutines", "created_by", "latency", "tasks", "regions"):
        assert one[key] == other[key]
    assert [row[:2] for row in key_rows(turned)] == [row[:2] for row in key_rows(diff)]


def key_rows(diff):
    return sorted(
        (row["table"], row["row"], row["mark"]) for row in trace_row(diff)["rows"]
    )


def test_runs_that_differ_as_much_mark_nothing(alike):
    rows = list(alike.row_changes)
    assert rows
    assert {one.change.mark for one in rows} == {"noise"}
    cells = [
        cell
        for part in trace_parts(alike)
        if isinstance(part, Table) and part.key != "runs"
        for row in part.rows
        for cell in row.cells
    ]
    assert cells
    assert {cell.mark for cell in cells} == {""}
    assert all(row.varies for row in movers(alike, "blocked"))


def test_what_every_run_shows_is_marked(apart):
    got = {(one.table, one.row) for one in apart.row_changes if one.change.significant}
    marked = {
        (part.key, row.key)
        for part in trace_parts(apart)
        if isinstance(part, Table) and part.key != "runs"
        for row in part.rows
        if any(cell.mark for cell in row.cells)
    }
    assert ("causes", "busy_ns") in marked
    assert marked <= got


def test_a_row_s_figures_match_each_trace(diff):
    """Rates of a second of each trace; a run without the row has the least time."""
    changes = diff.changes("goroutines.running")
    for pair, change in changes.items():
        assert isinstance(pair, GroupPair)
        means = []
        for side, row in zip(diff.sides, pair[1:], strict=True):
            name = side.groups.names[row] if row >= 0 else ""
            shares = [
                by_name(p.groups, "exec_ns")[name] / p.wall_ns for p in side.parts
            ]
            means.append(np.log(np.maximum(shares, 1e-3)).mean())
        assert change.ratio == pytest.approx(np.exp(means[1] - means[0]))
        assert change.low <= change.ratio <= change.high


def test_one_trace_a_side_has_no_rows_over_runs():
    old, now = traces("health-check")
    diff = compared(captures((0, old)), captures((0, now)))
    assert diff.base.parts == (diff.base,)
    assert diff.base.longest is diff.base
    assert list(diff.row_changes) == []
    assert diff.run_ratios == {}
    assert not diff.varies("wait.p99")
    assert not {"rows", "runs"} & {*trace_row(diff)}
    assert "runs" not in {part.key for part in trace_parts(diff)}
    assert not any(row.varies for row in movers(diff, "blocked"))
    headings = [
        column.text
        for part in trace_parts(diff)
        if isinstance(part, Table)
        for column in part.columns
    ]
    assert "ratio over runs, 95 %" not in headings


@pytest.mark.slow
def test_every_run_s_trace_is_looked_at(diff):
    got = diff.run_ratios
    assert {"wait.p50", "wait.p99", "gc.share", "utilisation"} <= {*got}
    for side, runs in enumerate(diff.runs):
        assert [*runs] == [0, 1, 2]
        assert [run.trace for run in runs.values()] == [
            traces(story)[side] for story in STORIES
        ]
    for name, one in got.items():
        values = [[BY_KEY[name].of_run(t) for t in side.values()] for side in diff.runs]
        means = [np.exp(np.log(side).mean()) for side in values]
        assert (one.base, one.new) == pytest.approx(means)
        assert one.low < one.ratio < one.high
        assert one.ratio == pytest.approx(means[1] / means[0])


def test_waits_match_each_trace(diff):
    """Nearest rank, by sorting."""
    figures = run_figures(as_comparison(of_stories(0), of_stories(1)))
    rows = [row for row in figures if row.figure == "trace.wait.p99"]
    assert [(row.side, row.run) for row in rows] == [
        (side, run) for side in ("base", "new") for run in (0, 1, 2)
    ]
    for row, trace in zip(
        rows, [t for s in diff.runs for t in s.values()], strict=True
    ):
        ranked = np.sort(trace.latencies_ns)
        assert row.value == ranked[int(np.ceil(0.99 * len(ranked))) - 1]


def test_of_several_traces_of_one_run_the_longest_counts():
    short, long = sorted(
        (traces(story)[0] for story in STORIES[:2]), key=lambda t: t.end_ns - t.start_ns
    )
    diff = compared(captures((0, short), (0, long)), captures((0, long)))
    assert [side.trace for side in diff.runs[0].values()] == [long]
    assert diff.base.trace is long
    assert diff.run_ratios == {}
    assert "trace-several" in {caveat.id for caveat in diff.caveats()}


def test_a_figure_that_a_trace_lacks_is_left_out():
    """One of the traces has no wait, nor a collection; it is not taken for 0."""
    trace, none = traces("syncpool")[0], empty()
    sides = captures((0, none), (1, trace)), captures((0, trace), (1, trace))
    assert not any(key.startswith("wait.") for key in compared(*sides).run_ratios)
    waits = {
        (row.side, row.run)
        for row in run_figures(as_comparison(*sides))
        if row.figure == "trace.wait.p50"
    }
    assert waits == {("base", 1), ("new", 0), ("new", 1)}


def test_a_wait_that_runs_differ_in_is_no_finding():
    """Zstd's waits for GC; not where runs of each side differ as much."""
    old, now = traces("zstd")
    for base, new, shown in (
        ([old], [now], True),
        ([old, now, old], [now, old, now], False),
        ([old, old, old], [now, now, now], True),
    ):
        both = as_comparison(*(captures(*enumerate(side)) for side in (base, new)))
        assert ("wait-gc" in {one.id for one in find(both).found}) == shown


def test_the_report_has_them(diff):
    (table,) = [part for part in trace_parts(diff) if part.key == "runs"]
    assert table.title == "All traces, 3 and 3 runs"
    assert [row.key for row in table.rows] == [*diff.run_ratios]
    rows = trace_row(diff)["runs"]
    shown = zip(rows, diff.run_ratios.values(), table.rows, strict=True)
    for row, one, cells in shown:
        assert (row["ratio"], row["low"], row["high"]) == one[2:5]
        assert cells.cells[table.place("ratio")].value == row["ratio"]
        assert cells.cells[table.place("base")].value == row["base"]
