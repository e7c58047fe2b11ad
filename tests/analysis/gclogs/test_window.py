"""Which collections are compared: those under load, or those asked for."""

from __future__ import annotations

import re

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.gclogs.side import window_of
from pprofdiff.analysis.settings import Span
from pprofdiff.errors import UsageError
from tests.analysis.building import given

from .cycles import run_of, runs


def triggered(*heaps):
    """Return a run of collections that started at these heap sizes, a second apart."""
    return run_of(
        {"heap_start_mb": mb, "start_ms": 1000 * i} for i, mb in enumerate(heaps)
    )


def bounds(window):
    return window.first, window.stop


@given(runs())
def test_the_default_is_of_rows_in_the_run(rows):
    run = run_of(rows)
    window = window_of(run)
    assert 0 <= window.first < window.stop <= len(rows)
    held = window.of(run.cycles)
    assert len(held) == window.stop - window.first
    if len(rows) < 5:
        assert bounds(window) == (0, len(rows))
    else:
        assert len(held) >= 4


@pytest.mark.slow
@given(runs(least=5))
def test_the_default_begins_where_the_heap_is_a_fifth_of_its_median(rows):
    heap = sorted(row["heap_start_mb"] for row in rows)
    n = len(heap)
    median = (heap[(n - 1) // 2] + heap[n // 2]) / 2
    grown = next(i for i, row in enumerate(rows) if row["heap_start_mb"] >= median / 5)
    wanted = (grown, n - 1) if n - 1 - grown >= 4 else (0, n)
    # 0.2 × the median is not a fifth of it to the last bit.
    if all(abs(row["heap_start_mb"] * 5 - median) > 1e-6 for row in rows):
        assert bounds(window_of(run_of(rows))) == wanted


@given(st.lists(st.integers(1, 1000), min_size=6, max_size=30), st.integers(2, 1000))
def test_the_window_does_not_depend_on_how_large_the_heap_is(heaps, times):
    one, other = (triggered(*(mb * k for mb in heaps)) for k in (10, 10 * times))
    assert bounds(window_of(one)) == bounds(window_of(other))


def test_start_up_and_the_last_are_left_out():
    window = window_of(triggered(4, 4, 8, 16, 100, 110, 90, 105, 100, 95, 101))
    assert bounds(window) == (4, 10)
    assert window.reason == "gc 5 to 10: excluding start-up and the last cycle"


@pytest.mark.parametrize("heaps", [[50] * 4, [4, 4, 4, 100, 100, 100, 100], [0]])
def test_too_few_are_taken_whole(heaps):
    window = window_of(triggered(*heaps))
    assert (*bounds(window), window.reason) == (0, len(heaps), "the whole log")


@pytest.mark.slow
@given(
    runs(),
    st.none() | st.integers(0, 9000).map(lambda ms: ms / 1000),
    st.none() | st.integers(0, 9000).map(lambda ms: ms / 1000),
)
def test_a_span_holds_what_started_in_it_its_end_left_out(rows, start, end):
    run = run_of(rows)
    wanted = [
        row["number"]
        for row in rows
        if (start is None or row["start_ms"] >= round(start * 1000))
        and (end is None or row["start_ms"] < round(end * 1000))
    ]
    if not wanted:
        with pytest.raises(UsageError, match="log: no collection started within"):
            window_of(run, Span(start, end))
        return
    window = window_of(run, Span(start, end))
    assert window.of(run.cycles).number.tolist() == wanted
    assert window.reason == f"--window: gc {wanted[0]} to {wanted[-1]}"


def test_an_empty_span_says_when_they_started():
    run = triggered(1, 2, 3)
    said = re.escape("x.log: no collection started within --window; they started at ")
    with pytest.raises(UsageError, match=f"^{said}0.000 to 2.000 s$"):
        window_of(run, Span(50.0, None), "x.log")
