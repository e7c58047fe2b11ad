"""Several traces a side: all of them count, and say how sure a ratio is."""

from __future__ import annotations

import numpy as np
import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.runs.figures import run_figures
from pprofdiff.analysis.traces.catalogue import BY_KEY
from pprofdiff.analysis.traces.compare import compare_traces
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.json.traces import trace_row
from pprofdiff.report.sections.traces.section import trace_parts
from tests.analysis.traces.built import empty
from tests.plots.captured import traces

STORIES = ("health-check", "node-pool", "syncpool")


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
    """Return both sides' traces compared, and the comparison that they are of."""
    diff = compare_traces(("base", base), ("new", new))
    return diff, Comparison(Side("base", base), Side("new", new), {"trace": diff})


@pytest.fixture(scope="module")
def several():
    """Return three traces a side."""
    return compared(of_stories(0), of_stories(1))


@pytest.mark.slow
def test_every_run_s_trace_is_looked_at(several):
    diff, _ = several
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


def test_waits_match_each_trace(several):
    """Nearest rank, by sorting."""
    diff, comparison = several
    rows = [row for row in run_figures(comparison) if row.figure == "trace.wait.p99"]
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
    diff, _ = compared(captures((0, short), (0, long)), captures((0, long)))
    assert [side.trace for side in diff.runs[0].values()] == [long]
    assert diff.base.trace is long
    assert diff.run_ratios == {}
    assert "trace-several" in {caveat.id for caveat in diff.caveats()}


def test_a_figure_that_a_trace_lacks_is_left_out():
    """One of the traces has no wait, nor a collection; it is not taken for 0."""
    trace, none = traces("syncpool")[0], empty()
    diff, comparison = compared(
        captures((0, none), (1, trace)), captures((0, trace), (1, trace))
    )
    assert not any(key.startswith("wait.") for key in diff.run_ratios)
    waits = {
        (row.side, row.run)
        for row in run_figures(comparison)
        if row.figure == "trace.wait.p50"
    }
    assert waits == {("base", 1), ("new", 0), ("new", 1)}


def test_a_wait_that_runs_differ_in_is_no_finding():
    """Zstd's waits for GC; not where runs of each side differ as much."""
    old, now = traces("zstd")
    _, one = compared(captures((0, old)), captures((0, now)))
    assert "wait-gc" in {finding.id for finding in find(one).found}
    _, mixed = compared(
        captures((0, old), (1, now), (2, old)), captures((0, now), (1, old), (2, now))
    )
    assert "wait-gc" not in {finding.id for finding in find(mixed).found}
    _, alike = compared(
        captures((0, old), (1, old), (2, old)), captures((0, now), (1, now), (2, now))
    )
    assert "wait-gc" in {finding.id for finding in find(alike).found}


def test_the_report_has_them(several):
    diff, _ = several
    (table,) = [part for part in trace_parts(diff) if part.key == "runs"]
    assert table.title == "All traces, 3 and 3 runs"
    assert [row.key for row in table.rows] == [*diff.run_ratios]
    rows = trace_row(diff)["runs"]
    shown = zip(rows, diff.run_ratios.values(), table.rows, strict=True)
    for row, one, cells in shown:
        assert (row["ratio"], row["low"], row["high"]) == one[2:5]
        assert cells.cells[table.place("ratio")].value == row["ratio"]
        assert cells.cells[table.place("base")].value == row["base"]
