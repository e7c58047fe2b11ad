"""Traces of Go 1.11 to 1.21 that are cut off, damaged or nonsense."""

from __future__ import annotations

import pytest

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from pprofdiff.loaders.traces.v1.schema import V1Type as E
from pprofdiff.model.traces.trace import Trace
from tests.loaders.profiles.spelling import varint

from .writing import event, header, log, small, stack, string

SMALL = small()


def tried(data):
    """Return the trace, or None where there is one line that says why not."""
    try:
        trace = decode(data, "x.trace")
    except FormatError as error:
        line = str(error)
        assert line.startswith("x.trace: ")
        assert "\n" not in line
        return None
    assert isinstance(trace, Trace)
    starts = trace.intervals.start_ns
    assert (trace.ends_ns(trace.intervals) >= starts).all()
    assert len(starts) == 0 or starts.min() >= trace.start_ns
    return trace


def error_of(*events, version=21):
    """Return what is said of a trace with these events on processor 0."""
    begin = (
        event(E.BATCH, 0, 1000),
        event(E.GO_CREATE, 0, 1, 0, 0),
        event(E.PROC_START, 1, 11),
        event(E.GO_START, 1, 1, 1),
        event(E.GOMAXPROCS, 8, 2, 0),
    )
    end = (
        event(E.BATCH, (1 << 64) - 1, 2000),
        event(E.FREQUENCY, 1_000_000_000),
    )
    return decode(b"".join((header(version), *begin, *events, *end)))


def test_a_file_cut_off_anywhere():
    whole = decode(SMALL)
    events = SMALL.index(event(E.FREQUENCY, 1_000_000_000))
    clocked = events + len(event(E.FREQUENCY, 1_000_000_000))
    for size in range(16, len(SMALL)):
        trace = tried(SMALL[:size])
        # The clock comes after all events, before the stacks.
        assert (trace is not None) == (size >= clocked), size
        if trace is not None:
            assert (
                trace.intervals.start_ns.tolist() == whole.intervals.start_ns.tolist()
            )
            assert trace.missing is None or trace.missing.read == clocked
            assert (trace.missing is None) == (size == clocked)


def test_a_file_without_its_clock_says_so():
    with pytest.raises(FormatError, match=r"x: .* (within an event|before its clock)"):
        decode(SMALL[:60], "x")


@pytest.mark.parametrize(
    "data", [b"gotrace\0\x020", b"gotrace\0Q00\x020", b"gotrace\0T00\x020"]
)
def test_what_once_crashed_go(data):
    # From internal/trace/internal/tracev1/parser_test.go.
    assert tried(data) is None
    assert tried(b"go 1.5 trace\0\0\0\0" + data[8:]) is None
    assert tried(header(11) + data[8:]) is None


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([event(E.GO_START, 1, 1, 2)], "two goroutines at a time"),
        ([event(E.GO_UNBLOCK, 1, 1, 2, 0)], "its state does not allow"),
        ([event(E.GO_SYSEXIT, 1, 1, 2, 0)], "its state does not allow"),
        ([event(E.GO_CREATE, 1, 2, 0, 0)] * 2, "not in sequence"),
        ([event(E.GO_END, 1), event(E.GO_START, 1, 1, 2)], "its state does not allow"),
        ([event(E.GO_END, 1), event(E.GO_START, 1, 9, 1)], "never mentioned"),
        ([event(E.GO_END, 1), event(E.GO_BLOCK, 1, 0)], "that runs none"),
        ([event(E.PROC_STOP, 1)], "stops that runs a goroutine"),
        ([event(E.PROC_START, 1, 3)], "processor that runs starts"),
        ([event(E.GO_END, 1), *[event(E.PROC_STOP, 1)] * 2], "does not stops"),
        ([event(E.STW_DONE, 1)], "without having begun"),
        ([event(E.GC_START, 1, i, 0) for i in (0, 1)], "begins twice"),
        ([event(E.REGION, 1, 0, 2, 0, 0)], "neither begins nor ends"),
        ([event(E.HEAP_ALLOC, 1 << 61, 0)] * 2, "an impossible time"),
        ([event(E.FREQUENCY, 0)], "runs backwards"),
        ([event(E.BATCH, 1 << 40, 0)], "an unknown processor number"),
        (
            [
                event(E.GO_CREATE, 100, 2, 0, 0),
                event(E.BATCH, 1, 1050),
                event(E.PROC_START, 0, 12),
                event(E.GO_START, 1, 2, 1),
            ],
            "time stamps out of order",
        ),
        (
            [
                event(E.GO_SYSCALL, 100, 0),
                event(E.GO_SYSBLOCK, 1),
                event(E.GO_SYSEXIT_LOCAL, 10, 1, 1050),
            ],
            "ends before it began",
        ),
    ],
)
def test_events_that_contradict_each_other(events, why):
    with pytest.raises(FormatError, match=why):
        error_of(*events)


def test_what_the_cases_above_are_built_on_can_be_read():
    trace = error_of(event(E.GO_END, 1), event(E.PROC_STOP, 1))
    assert trace.missing is None
    assert trace.events == 6


@pytest.mark.parametrize(
    "odd",
    [
        bytes((50,)),
        bytes((0,)),
        bytes((E.BATCH | 2 << 6, 1, 2, 3)),
        bytes((E.GO_END | 1 << 6, 1, 2)),
        bytes((E.GO_CREATE | 3 << 6, 5, 1, 2, 3, 4)),
        bytes((E.GO_CREATE | 3 << 6,)) + varint(5000) + bytes(5000),
        bytes((E.STRING, 9)) + varint(2_000_000) + bytes(2_000_000),
        string(3, "a") + string(3, "b"),
        log(1, 0, 0, 0, text="x")[:-2] + b"\xff\xff\xff\xff\x7fx",
        stack(1, (1, 1, 1, 1))[:-4] + bytes(4) + stack(1)[:1] + varint(3) + b"\1\5\0",
    ],
)
def test_an_event_that_is_none_ends_what_is_read(odd):
    trace = tried(SMALL + odd + SMALL[16:])
    assert trace.missing is not None
    assert len(SMALL) <= trace.missing.read < len(SMALL + odd)
    assert (
        trace.intervals.start_ns.tolist() == decode(SMALL).intervals.start_ns.tolist()
    )


@pytest.mark.slow
def test_many_texts_that_end_within_a_number():
    texts = b"".join(string(n, "é") for n in range(3, 60_000))
    trace = tried(SMALL + texts)
    assert trace.missing is None
    assert "é" in trace.strings


def test_cpu_samples_are_of_format_1_19_and_later():
    sample = event(E.CPU_SAMPLE, 1, 1500, 1, 7, 1)
    assert len(tried(small(19) + sample).samples) == 1
    assert tried(small(11) + sample).missing.why.startswith("a type of event")
