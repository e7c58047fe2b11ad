"""Mutator utilisation: Go's own where it is right, the corrected one where it is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.traces.mutators import (
    Utilisation,
    mmu,
    mmu_curve,
    share_below,
    utilisation,
)
from pprofdiff.model.traces.trace import RangeKind, State
from tests.examples import daily
from tests.traces import oracle

from .built import (
    END,
    PROCESSORS,
    SOME,
    WORKERS,
    empty,
    limit_at,
    rows_of,
    traces,
    within,
)
from .real import CAPTURES, SIDES, path_of, slack_ns, trace_of

# Traces made for what takes a processor away.
COLLECTING = ("gc-1.22.12", "stops-1.22.12", "stops-1.25.14", "procs-1.26.8")
# An assist was on before these traces, where Go counts one too many.
EARLY = ("zstd/base", "rss-search/base")
COMPARED = [name for name in (*CAPTURES, *COLLECTING) if name not in EARLY]

ALL = frozenset(("stw", "background", "assist", "sweep"))


def mean(series):
    """Return the mean share of a series, None for one without duration."""
    if not series.duration_ns:
        return None
    lasts = np.diff(series.time_ns)
    return float(np.dot(series.share[:-1], lasts) / series.duration_ns)


@pytest.mark.whole
@pytest.mark.go
@pytest.mark.parametrize("name", daily(COMPARED, [*SIDES, *COLLECTING]))
def test_it_matches_go_with_its_defects_corrected(name):
    trace, go = trace_of(name), oracle.mutators(path_of(name))
    row = go[ALL, True]
    assert row["panic"] is None
    found = utilisation(trace)
    # Go moves times by some ns where events meet; each change may be that much off.
    slack = slack_ns(trace) * (len(found.time_ns) + 1)
    assert abs(mean(found) - row["mean"][0]) * found.duration_ns <= slack
    for window in row["windows"]:
        length = min(window["window_ns"], found.duration_ns)
        inside = min(slack, slack_ns(trace) * (2 + busiest(found, length)))
        assert abs(mmu(found, length) - window["mmu"]) * length <= inside


def busiest(series, window):
    """Return the most changes that a window of a length meets."""
    last = np.searchsorted(series.time_ns, series.time_ns + window, "right")
    return int((last - np.arange(len(series.time_ns))).max())


@pytest.mark.slow
@given(traces())
@SOME
def test_it_is_right_at_every_nanosecond(trace):
    found = utilisation(trace)
    first = int(trace.gomaxprocs.time_ns[0])
    taken, stopped = taken_at(trace)
    expected = {}
    for time in range(first, END):
        limit = limit_at(trace, time)
        busy = sum((p, time) in taken for p in range(PROCESSORS))
        expected[time] = 0 if time in stopped else 1 - min(busy, limit) / limit
    assert (found.time_ns[0], found.time_ns[-1]) == (first, END)
    assert (np.diff(found.time_ns) > 0).all()
    assert found.share[-1] == 0
    lasts = np.diff(found.time_ns)
    assert np.repeat(found.share[:-1], lasts).tolist() == list(expected.values())
    assert mean(found) == pytest.approx(np.mean(list(expected.values())))


def taken_at(trace):
    """Return (processor, time) that is the GC's, and the times that the world stood."""
    held = trace.ranges
    stopped = {
        t
        for i, t in within(trace, RangeKind.STOP_THE_WORLD)
        if "GC" in trace.strings[held.name[i]]
    }
    taken = {(int(held.processor[i]), t) for i, t in within(trace, RangeKind.SWEEP)}
    assists = {
        (int(held.goroutine[i]), t) for i, t in within(trace, RangeKind.MARK_ASSIST)
    }
    for g in range(len(trace.goroutines)):
        for start, end, state, row in rows_of(trace, g):
            processor = int(trace.intervals.processor[row])
            if state in (State.RUNNING, State.SYSCALL):
                taken |= {
                    (processor, t) for t in range(start, end) if (g, t) in assists
                }
            label = [
                (int(t), trace.strings[n])
                for t, owner, n in zip(*columns(trace.labels), strict=True)
                if owner == g and start <= t < end and state == State.RUNNING
            ]
            worker = trace.goroutines.name[g] in (0, WORKERS)
            if label and worker and label[0][1] != "GC (idle)":
                taken |= {(processor, t) for t in range(label[0][0], end)}
    return taken, stopped


def columns(labels):
    """Return the columns of labels."""
    return labels.time_ns, labels.goroutine, labels.label


@st.composite
def series(draw):
    """Return a utilisation of whole quarters that begins somewhere."""
    steps = draw(
        st.lists(
            st.tuples(st.integers(1, 9), st.integers(0, 4)), min_size=1, max_size=8
        )
    )
    begin = draw(st.integers(0, 2**60))
    time = np.cumsum([begin, *(lasts for lasts, _ in steps)])
    return Utilisation(time, np.array([*(share / 4 for _, share in steps), 0.0]))


def window_means(found, window):
    """Return the mean share of windows that begin at whole nanoseconds, exactly.

    Between those it is linear, as the series changes at whole nanoseconds only.
    """
    each = np.repeat(found.share[:-1], np.diff(found.time_ns))
    share = [Fraction(value) for value in each]
    window = min(window, len(share))
    sums = [sum(share[i : i + window]) for i in range(len(share) - window + 1)]
    return [total / window for total in sums]


@given(series(), st.integers(1, 80))
@settings(derandomize=True)
def test_the_minimum_matches_all_windows(found, window):
    assert mmu(found, window) == pytest.approx(
        min(window_means(found, window)), abs=1e-12
    )
    assert mmu_curve(found, np.array([window, 0])).tolist() == [mmu(found, window), 0]


@given(series(), st.integers(1, 80), st.sampled_from([0.001, 0.01, 0.05, 0.5, 0.9]))
@settings(derandomize=True)
def test_quantiles_part_the_windows(found, window, below):
    value = share_below(found, window, below)
    means = window_means(found, window)
    edge = Fraction(1, 10**9)
    if len(means) == 1:
        assert value == pytest.approx(means[0], abs=1e-12)
        return
    wanted = Fraction(below) * (len(means) - 1)
    assert mass_until(means, Fraction(value) + edge) >= wanted
    assert mass_until(means, Fraction(value) - edge) <= wanted


def mass_until(means, value):
    """Return for how long the mean share, linear between points, is at most a value."""
    total = Fraction(0)
    for a, b in pairwise(means):
        low, high = min(a, b), max(a, b)
        if low == high:
            total += value >= low
        else:
            total += min(max((value - low) / (high - low), 0), 1)
    return total


def test_a_trace_that_shows_no_gomaxprocs_has_none():
    found = utilisation(empty())
    assert len(found.time_ns) == found.duration_ns == 0
    assert mean(found) is None
    assert mmu(found, 1000) is None
    assert share_below(found, 1000, 0.5) is None
    assert len(mmu_curve(found, np.array([1000]))) == 0
