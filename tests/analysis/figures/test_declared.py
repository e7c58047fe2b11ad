"""A declared figure is everywhere: table, JSON, DataFrame, gate and plot."""

import json
import re

import pytest

import pprofdiff
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.measures import Judged
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.gclogs.catalogue import FIGURES as OF_LOGS
from pprofdiff.analysis.runs.declared import declared, known
from pprofdiff.analysis.traces.catalogue import FIGURES as OF_TRACES
from pprofdiff.analysis.traces.catalogue import figures_of
from pprofdiff.errors import UsageError
from pprofdiff.report.rows import Table
from pprofdiff.report.sections.gclogs import gc_parts
from pprofdiff.report.sections.traces.section import trace_parts
from tests.conftest import DATA


@pytest.fixture(scope="module")
def both():
    """Return a comparison with a GC log and a trace a side."""
    return pprofdiff.compare(DATA / "syncpool/base", DATA / "syncpool/new")


def rows_of(parts):
    """Return the name of each row by its key, per table."""
    tables = [part for part in parts if isinstance(part, Table)]
    return {t.key: {row.key: row.cells[0].text for row in t.rows} for t in tables}


@pytest.mark.parametrize("kind", ["gctrace", "trace"])
def test_json_and_frames_have_every_figure(both, kind):
    figures, diff = {"gctrace": (OF_LOGS, both.gc), "trace": (OF_TRACES, both.trace)}[
        kind
    ]
    assert len(declared(kind)) == len(figures)
    entries = json.loads(both.to_json())["comparisons"]
    (entry,) = [one for one in entries if one["kind"] == kind]
    assert [one["id"] for one in entry["figures"]] == [one.key for one in figures]
    names = [getattr(one, "name", one.key) for one in figures]
    assert diff.figures.index.tolist() == names
    for one, row in zip(entry["figures"], diff.figures.itertuples(), strict=True):
        assert (
            one["base"] == pytest.approx(row.base, nan_ok=True) or row.base != row.base
        )


def test_tables_have_every_figure_that_is_known(both):
    gc, diff = both.gc.data, both.trace.data
    rows = rows_of(gc_parts(gc))
    shown = {**rows["sums"], **rows["rates"]}
    known_of = {f.key: f.label for f in OF_LOGS if any(gc.estimates[f.key][:2])}
    assert shown == known_of
    rows = rows_of(trace_parts(diff))
    for name in ("states", "latency", "causes", "gc", "processors"):
        for figure in figures_of(name):
            estimate = diff.estimate(figure)
            if any(estimate[:2]):
                assert rows[name][figure.key].startswith(figure.title)
            elif figure.unit != "share":
                assert figure.key not in rows[name]


@pytest.mark.parametrize("source", ["gctrace", "trace"])
def test_the_gate_takes_every_figure_by_its_key(both, source):
    limits = {"share": "2pp"}
    rules = [
        f"figure@{source}:{key}:{'-' if figure.worse == 'less' else '+'}"
        f"{limits.get(figure.unit, '1%')}"
        for key, figure in declared(source).items()
    ]
    verdict = judge(Gate.of(rules), Judged(both.comparison, find(both.comparison)))
    for ruling, (key, figure) in zip(
        verdict.rules, declared(source).items(), strict=True
    ):
        found = known(both.comparison, key, source)
        assert (ruling.outcome == "no data" and ruling.matched == 0) == (found is None)
        if found is not None:
            assert ruling.what == figure.label
            # The limit's unit may be another, the ratio is the same.
            if found.estimate.ratio is not None:
                assert ruling.new / ruling.base == pytest.approx(found.estimate.ratio)


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("figure:nothing:+1", "there is no figure nothing; there are: "),
        ("figure@cpu:cycles:+1", "figures are in gctrace or trace"),
        ("figure:wait.p99:-5%", "less is better: the limit is +5%"),
        ("figure:mmu.10000000:+5pp", "more is better: the limit is -5pp"),
        ("figure:gc_cpu_share:+5ms", "GC share of capacity, CPU is in pp"),
        ("figure:mean_live:+5ms", "live heap, mean is in B"),
    ],
)
def test_what_a_figure_cannot_be_held_to_is_an_error(rule, why):
    with pytest.raises(UsageError, match=re.escape(why)):
        Gate.of([rule])


def test_any_figure_of_several_runs_is_drawn(data_folder):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    pauses = pprofdiff.compare(data_folder / "pauses/base", data_folder / "pauses/new")
    found = known(pauses.comparison, "p99_pause_us")
    ax = pauses.plot_runs(Figure().subplots(), figure="p99_pause_us")
    drawn = [tuple(line.get_xdata()) for line in ax.lines]
    assert {*found.runs} <= {*drawn}
    base, (low, high) = found.estimate.base, found.estimate.bounds
    assert any(one == pytest.approx((base * low, base * high)) for one in drawn)
    with pytest.raises(UsageError, match="no forced of several runs"):
        pauses.plot_runs(Figure().subplots(), figure="forced")
