"""The pause in which a trace starts is no time of the program's goroutines."""

from pathlib import Path

import numpy as np
import pytest

from pprofdiff.loaders.traces import decode, read
from pprofdiff.model.traces.trace import State
from tests.analysis.traces.real import times_of

PAIRS = Path(__file__).parents[2] / "field" / "pairs"
TRACE = PAIRS / "sync-added-tidwall-wal" / "new" / "trace.out"


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
    data = (TRACE.parents[1] / side / "trace.out").read_bytes()
    whole, found = decode(data), read(data)
    later = whole.intervals.start_ns >= pause_of(whole)
    assert later.sum() > 500
    assert (found.intervals.start_ns >= whole.intervals.start_ns).all()
    assert (found.intervals.start_ns == whole.intervals.start_ns)[later].all()
