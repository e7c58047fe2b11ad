"""Runs of collections for hypothesis, and the figures of one by definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil
from statistics import median

import numpy as np
from hypothesis import strategies as st

from pprofdiff.model.gclogs import Cycles, GCRun

_FLAGS = ("forced", "timer", "repaired")
_SPANS = st.one_of(st.just(0), st.integers(0, 300), st.integers(0, 10**9))
_SIZES = st.one_of(st.integers(0, 30), st.integers(0, 1 << 20))
# The columns that each collection draws for itself; the others follow one another.
DRAWN = {
    "percent": st.integers(0, 100),
    "sweep_termination_wall_us": _SPANS,
    "mark_wall_us": _SPANS,
    "mark_termination_wall_us": _SPANS,
    "sweep_termination_cpu_us": _SPANS,
    "assist_cpu_us": _SPANS,
    "background_cpu_us": _SPANS,
    "idle_cpu_us": _SPANS,
    "mark_termination_cpu_us": _SPANS,
    "heap_start_mb": _SIZES,
    "heap_end_mb": _SIZES,
    "heap_live_mb": _SIZES,
    "goal_mb": _SIZES,
    "stacks_mb": st.integers(0, 9),
    "globals_mb": st.integers(0, 9),
    "procs": st.sampled_from((1, 2, 16)),
    **dict.fromkeys(_FLAGS, st.booleans()),
}
PLAIN = {
    "number": 1,
    "start_ms": 0,
    **dict.fromkeys(DRAWN, 0),
    "procs": 4,
    **dict.fromkeys(_FLAGS, False),
}


def cycles_of(rows):
    """Return collections from dicts; what a dict leaves out is 0, or 4 processors.

    Numbers count up where none is given. Without stacks in the first, none has any.
    """
    whole = [{**PLAIN, "number": i, **row} for i, row in enumerate(rows, 1)]
    columns = {
        name: np.array(
            [row[name] for row in whole], np.bool_ if name in _FLAGS else np.int64
        )
        for name in Cycles.__struct_fields__
        if whole[0][name] is not None
    }
    return Cycles(**{"stacks_mb": None, "globals_mb": None} | columns)


def run_of(rows):
    """Return a run of these collections."""
    return GCRun(cycles_of(rows), 0)


@st.composite
def runs(draw, *, least=1, most=12):
    """Draw a run's rows: numbers rise, with gaps; starts may be equal."""
    rows = draw(st.lists(st.fixed_dictionaries(DRAWN), min_size=least, max_size=most))
    old = draw(st.booleans())
    number, start = draw(st.integers(0, 3)), draw(st.integers(0, 5000))
    steps, waits = st.sampled_from((1, 1, 1, 2, 7)), st.sampled_from((0, 0, 1, 250))
    for row in rows:
        number, start = number + draw(steps), start + draw(waits)
        row |= {"number": number, "start_ms": start}
        if old:
            row |= {"stacks_mb": None, "globals_mb": None}
    return rows


def slow(rows):
    """Return the figures of some collections, one after the other, as fractions."""
    first, last = rows[0], rows[-1]
    span = Fraction(last["start_ms"] - first["start_ms"], 1000)
    next_to = [(a, b) for a, b in pairwise(rows) if b["number"] == a["number"] + 1]
    between = [b["heap_start_mb"] - a["heap_live_mb"] for a, b in next_to]
    marking = [row["heap_end_mb"] - row["heap_start_mb"] for row in rows]
    cycle = [
        b["heap_start_mb"] - a["heap_live_mb"] + a["heap_end_mb"] - a["heap_start_mb"]
        for a, b in next_to
    ]
    pauses = sorted(
        row[f"{phase}_wall_us"]
        for row in rows
        for phase in ("sweep_termination", "mark_termination")
    )
    gc_cpu = sum(
        row[f"{part}_cpu_us"]
        for row in rows
        for part in ("sweep_termination", "assist", "background", "mark_termination")
    )
    gogc = [
        Fraction(100 * (b["goal_mb"] - a["heap_live_mb"]), _scanned(a))
        for a, b in next_to
        if a["heap_live_mb"] >= 20
    ]
    rate = (last["number"] - first["number"]) / span if span else None
    count = len(rows)
    procs = Fraction(sum(row["procs"] for row in rows), count)
    marked = sum(row["mark_wall_us"] for row in rows)
    per_cycle = Fraction(sum(cycle), len(cycle)) if cycle else None
    return {
        "rate": rate,
        "gc_cpu_us": gc_cpu,
        "worst": pauses[-1],
        "p99": pauses[ceil(Fraction(99, 100) * len(pauses)) - 1],
        "allocated": sum(between) + sum(marking) if len(next_to) == count - 1 else None,
        "marking": sum(marking),
        "per_cycle": per_cycle,
        "gogc": median(gogc) if gogc and 2 * len(gogc) >= len(next_to) else None,
        "share": None
        if rate is None
        else Fraction(gc_cpu, 10**6 * count) * rate / procs,
        "mark_share": None if rate is None else Fraction(marked, 10**6 * count) * rate,
        "mb_per_second": None
        if rate is None or per_cycle is None
        else per_cycle * rate,
    }


def _scanned(row):
    return row["heap_live_mb"] + (row["stacks_mb"] or 0) + (row["globals_mb"] or 0)
