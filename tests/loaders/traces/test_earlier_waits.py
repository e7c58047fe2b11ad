"""Waits that began before a trace: those within one, had it begun in their middle."""

from dataclasses import replace

import numpy as np
import pytest

import pprofdiff
from pprofdiff.loaders.traces import decode, read
from pprofdiff.loaders.traces.earlier_waits import with_earlier_waits
from pprofdiff.model.traces.trace import Intervals, State
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
                methods = [
                    next(
                        (f for f in begun.functions_of(int(stack)) if ".(*FD)." in f),
                        "",
                    )
                    for stack in (rows.stack[row], begun.intervals.stack[0])
                ]
                assert methods[0] == methods[1]
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
    sides = (
        pprofdiff.load(DATA / "service" / side / "flight.trace")
        for side in ("base", "new")
    )
    base, new = sides
    assert "not recorded" not in str(new - base)
