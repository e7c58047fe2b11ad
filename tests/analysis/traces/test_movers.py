"""Who waits: sums by function are the states' sums, but for goroutines that do nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.traces.interval_rows import waits_throughout
from pprofdiff.analysis.traces.movers import movers
from pprofdiff.analysis.traces.profiles import STATES, state_profile
from tests.analysis.traces.built import SOME, traces
from tests.analysis.traces.real import STORIES, compared, story, trace_of


def unmoved(side):
    """Return how long the program's goroutines wait that do nothing else, by reason."""
    trace, held = side.trace, side.groups
    rows = trace.intervals
    only = waits_throughout(trace) & ~(held.system | held.tracing)[held.group_of]
    first, found = rows.offsets[:-1][only], Counter()
    for reason, start in zip(rows.reason[first], rows.start_ns[first], strict=True):
        found[trace.reasons[reason]] += int(trace.end_ns - start)
    del found["forever"]
    return found


def check_sums(diff):
    """Check the times of all functions against the states' times."""
    for state, names in (
        ("running", {"running"}),
        ("runnable", {"runnable"}),
        ("syscall", {"syscall", "syscall_block"}),
        ("blocked", {"blocked"}),
    ):
        found = [m for m in movers(diff, state) if m.reason != "forever"]
        rows = [row for row in diff.states if row.state in names]
        for side, field in ((diff.base, "base_ns"), (diff.new, "new_ns")):
            got = sum(getattr(row, field) for row in rows)
            got -= unmoved(side).total() if state == "blocked" else 0
            assert sum(getattr(m, field) for m in found) == got, (state, field)


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_times_add_up_to_the_states(name):
    diff = story(name)
    check_sums(diff)
    by_reason = {}
    for m in movers(diff, "blocked"):
        base, new = by_reason.get(m.reason, (0, 0))
        by_reason[m.reason] = base + m.base_ns, new + m.new_ns
    base, new = map(unmoved, diff.sides)
    rows = {
        r.reason: (r.base_ns - base[r.reason], r.new_ns - new[r.reason])
        for r in diff.states
        if r.state == "blocked"
    }
    by_reason.pop("forever", None)
    assert {k: v for k, v in by_reason.items() if any(v)} == {
        k: v for k, v in rows.items() if any(v)
    }


@pytest.mark.slow
@SOME
@given(traces(), traces(), st.sampled_from(STATES))
def test_of_any_traces_it_is_the_time_of_the_programs_goroutines(base, new, state):
    diff = compared(base, new)
    found = movers(diff, state)
    for side, field in ((diff.base, "base"), (diff.new, "new")):
        held = side.groups
        own = ~(held.system | held.tracing)[held.group_of]
        own &= ~waits_throughout(side.trace)
        whole = state_profile(side.trace, state, goroutines=own).values.sum(axis=0)
        got = [
            sum(getattr(m, f"{field}_{what}") for m in found)
            for what in ("number", "ns")
        ]
        assert got == whole.tolist()


@pytest.mark.parametrize("name", STORIES)
def test_what_moved_most_is_first_and_each_is_there_once(name):
    diff = story(name)
    found = movers(diff, "blocked")
    moved = [
        abs(m.new_ns * diff.factors[1] - m.base_ns * diff.factors[0]) for m in found
    ]
    assert np.all(np.diff(moved) <= 0)
    places = {(m.root, m.reason, m.call, m.function, m.under) for m in found}
    assert len(places) == len(found)


def test_it_is_the_programs_function_nearest_the_leaf():
    diff = story("health-check")
    locks = [m for m in movers(diff, "blocked") if m.reason == "sync"]
    # log.(*Logger).Printf and sync.(*Mutex).Lock are nearer, and the library's.
    assert locks[0].function.endswith("debuglog.(*Logger).Debug")
    here = [m for m in locks if m.function == locks[0].function]
    assert sum(m.base_number for m in here) == 239
    assert sum(m.new_number for m in here) == 0


def test_backwards_sides_are_swapped():
    base, new = trace_of("zstd/base"), trace_of("zstd/new")
    there, back = (
        {(m.root, m.reason, m.call, m.function): (m.base_ns, m.new_ns) for m in found}
        for found in (
            movers(compared(base, new), "blocked"),
            movers(compared(new, base), "blocked"),
        )
    )
    assert there == {key: times[::-1] for key, times in back.items()}
