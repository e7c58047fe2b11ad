"""What goroutines did before a trace began: they wait, or the tracer stopped them."""

from dataclasses import replace

import numpy as np
import pytest

import pprofdiff
from pprofdiff.loaders.traces import decode, read
from pprofdiff.loaders.traces.before_tracing import with_earlier_waits
from pprofdiff.model.traces.trace import Intervals, State
from tests.analysis.traces.real import times_of
from tests.conftest import DATA

NAMES = (
    "service/base/flight.trace",
    "service/new/trace.out",
    "rss-search/new/trace.out",
    "errands/base.trace",
    "node-pool/base/trace.out",
)
# So many waits of each reason, spread over a trace.
MOST = 40


def begun_at(trace, goroutine, row):
    """Return a trace of one goroutine's rows from a wait on, whose cause is unknown."""
    rows = trace.intervals
    end = int(rows.offsets[goroutine + 1])
    columns = {
        name: np.array(getattr(rows, name)[row:end])
        for name in Intervals.__struct_fields__
        if name != "offsets"
    }
    columns["reason"][0] = columns["stack"][0] = 0
    offsets = np.array([0, end - row], np.int64)
    return replace(
        trace, reasons=("", *trace.reasons[1:]), intervals=Intervals(offsets, **columns)
    )


def method_of(trace, stack):
    """Return the method of a file descriptor in a stack, "" if there is none."""
    names = trace.functions_of(int(stack))
    return next((name for name in names if ".(*FD)." in name), "")


@pytest.mark.parametrize("name", NAMES)
def test_a_wait_has_its_own_reason_or_none(name):
    trace = decode((DATA / name).read_bytes(), name)
    rows, found = trace.intervals, dict.fromkeys(trace.reasons, 0)
    owner = np.repeat(np.arange(len(trace.goroutines)), np.diff(rows.offsets))
    for code, reason in enumerate(trace.reasons):
        waits = np.flatnonzero((rows.state == State.WAITING) & (rows.reason == code))
        for row in waits[:: len(waits) // MOST + 1].tolist() if reason else ():
            begun = with_earlier_waits(begun_at(trace, int(owner[row]), row))
            got = begun.reasons[begun.intervals.reason[0]]
            assert got in ("", reason)
            if got:
                found[reason] += 1
                theirs = method_of(begun, rows.stack[row])
                assert method_of(begun, begun.intervals.stack[0]) == theirs
    assert not any(found[reason] for reason in found if reason != "network")
    if "service/base" in name:
        assert found["network"] >= 0.8 * MOST


def test_what_waits_throughout_has_a_stack_that_says_why():
    """1,791 goroutines of main.price.func1 wait to send when the trace begins."""
    name = "service/new/trace.out"
    trace = read((DATA / name).read_bytes(), name)
    rows = trace.intervals
    roots = [trace.strings[i] for i in trace.goroutines.name.tolist()]
    first = rows.offsets[:-1][[root == "main.price.func1" for root in roots]]
    whole = first[
        (rows.state[first] == State.WAITING) & (rows.start_ns[first] <= trace.start_ns)
    ]
    assert len(whole) == 1791
    assert {trace.reasons[i] for i in rows.reason[whole].tolist()} == {"chan send"}


def test_no_wait_in_the_account_is_without_a_reason():
    base, new = (
        pprofdiff.load(DATA / f"service/{side}/flight.trace")
        for side in ("base", "new")
    )
    assert "not recorded" not in str(new - base)


PAIR = DATA.parent / "field" / "pairs" / "sync-added-tidwall-wal"
TRACE = PAIR / "new" / "trace.out"


def pause_of(trace):
    """Return when the pause that starts a trace ends."""
    names = [trace.strings[name] for name in trace.ranges.name.tolist()]
    return int(trace.ranges.end_ns[names.index("start trace")])


def test_goroutines_that_the_tracer_stopped_do_not_wait_for_a_processor():
    data = TRACE.read_bytes()
    whole, found = decode(data), read(data)
    began = pause_of(whole) - whole.start_ns
    assert began > 3_000_000
    old = ~found.goroutines.born & (np.diff(found.intervals.offsets) > 0)
    first = found.intervals.offsets[:-1][old]
    assert (found.intervals.start_ns[first] == pause_of(whole)).all()
    assert (times_of(found).unknown_ns[old] == began).all()
    stopped = whole.intervals.state[first] == State.RUNNABLE
    assert stopped.any()
    less = (times_of(whole).sched_wait_ns - times_of(found).sched_wait_ns)[old]
    assert (less == np.where(stopped, began, 0)).all()


def test_lives_stay_as_long():
    data = TRACE.read_bytes()
    assert (times_of(read(data)).total_ns == times_of(decode(data)).total_ns).all()


@pytest.mark.parametrize("side", ["base", "new"])
def test_what_goroutines_do_later_stays_as_it_is(side):
    data = (PAIR / side / "trace.out").read_bytes()
    whole, found = decode(data), read(data)
    later = whole.intervals.start_ns >= pause_of(whole)
    assert later.sum() > 500
    assert (found.intervals.start_ns >= whole.intervals.start_ns).all()
    assert (found.intervals.start_ns == whole.intervals.start_ns)[later].all()
