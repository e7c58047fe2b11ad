"""Figures of collections: equal to their definitions, and numbers whatever comes in."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite

import hypothesis
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.gclogs.compare import compare_logs
from pprofdiff.analysis.gclogs.figures import CycleTimes, figures
from pprofdiff.analysis.work import counted, rated
from pprofdiff.model.gclogs import GCLog
from pprofdiff.model.side import Capture
from pprofdiff.report.json.gclogs import gc_row
from pprofdiff.report.sections.gclogs import gc_parts
from pprofdiff.report.text.lines import render
from tests.analysis.building import given

from .cycles import cycles_of, run_of, runs, slow

TIMES = [field.name for field in fields(CycleTimes)]


def near(value, wanted):
    """Return whether a float is a fraction but for rounding; None is None only."""
    if wanted is None or value is None:
        return value is wanted
    return value == pytest.approx(float(wanted), rel=1e-9, abs=1e-12)


@given(runs())
def test_figures_are_their_definitions(rows):
    found, wanted = figures(cycles_of(rows)), slow(rows)
    assert found.cycles == len(rows)
    assert (found.first_cycle, found.last_cycle) == (
        rows[0]["number"],
        rows[-1]["number"],
    )
    for field in TIMES:
        assert getattr(found.times, field) == sum(row[field] for row in rows)
    for field in ("forced", "timer"):
        assert getattr(found, field) == sum(row[field] for row in rows)
    exact = {
        "gc_cpu_us": found.times.gc_cpu_us,
        "worst": found.worst_pause_us,
        "p99": found.p99_pause_us,
        "allocated": found.heap.allocated,
        "marking": found.heap.allocated_during_mark,
    }
    assert exact == {name: wanted[name] for name in exact}
    close = {
        "rate": found.cycles_per_second,
        "per_cycle": found.heap.per_cycle,
        "gogc": found.heap.effective_gogc,
        "share": found.gc_cpu_share,
        "mark_share": found.mark_wall_share,
        "mb_per_second": found.allocated_mb_per_second,
    }
    assert {n: v for n, v in close.items() if not near(v, wanted[n])} == {}


def log_of(rows):
    return Capture("log", "gctrace", GCLog((run_of(rows),)))


def leaves(value):
    """Return all numbers inside dicts."""
    if isinstance(value, dict):
        return [leaf for held in value.values() for leaf in leaves(held)]
    return [value] if isinstance(value, float | int) else []


works = st.sampled_from((None, rated((5.0, 7.0)), counted((5, 7))))


@pytest.mark.slow
@hypothesis.example([{}], [{}], None)
@hypothesis.example([{}] * 9, [{}] * 9, counted((1, 1)))
@given(runs(), runs(), works)
def test_whatever_the_log_holds_all_figures_are_numbers(base, new, work):
    base, new = ([dict(row) for row in rows] for rows in (base, new))
    gc = compare_logs((("a", [log_of(base)]), ("b", [log_of(new)])), work=work)
    row = gc_row(gc)
    assert all(isfinite(leaf) for leaf in leaves(row))
    for change in (gc.interval_change, gc.cycle_cpu_change):
        assert change.significant in (True, False)
        known = change.mark != "unknown"
        assert known == (change.low is not None) == (change.high is not None)
    text = render(gc_parts(gc))
    assert not {"nan", "inf"} & set(text.replace("×", " ").split())


@pytest.mark.slow
@given(runs(least=6))
def test_factors_of_a_run_and_itself_are_one(rows):
    gc = compare_logs((("a", [log_of(rows)]), ("b", [log_of(rows)])))
    assert gc.factors is None or set(gc.factors) == {1.0}
    assert not gc.interval_change.significant
    assert not gc.cycle_cpu_change.significant
