"""`decode` of traces of Go 1.11 to 1.21 against Go's own reader, and by hand."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from pprofdiff.errors import FormatError
from pprofdiff.loaders.traces import decode
from pprofdiff.model.traces.trace import State
from tests.examples import daily
from tests.loaders.traces import parsed
from tests.loaders.traces.ours import Plain
from tests.traces import make
from tests.traces.toolchains import MissingGoError, run_go

from .writing import small

VERSIONS = ("1.11.13", "1.19.4", "1.21.13")
MAKERS = ("http", "sync", "files", "procs", "tasks", "samples", "whole")
MADE = [(maker, version) for version in VERSIONS for maker in MAKERS]
# GOROOT's own, in src/internal/trace/internal/tracev1/testdata.
CANNED = (
    "fmt_1_21_pprof_good", "http_1_19_good", "http_1_21_good", "stress_1_11_good",
    "stress_1_19_good", "stress_1_21_good", "stress_start_stop_1_11_good",
    "stress_start_stop_1_19_good", "stress_start_stop_1_21_good",
    "user_task_region_1_11_good", "user_task_region_1_19_good",
    "user_task_region_1_21_good",
)  # fmt: skip
# One of each format.
CANNED_FEW = ("fmt_1_21_pprof_good", "http_1_19_good", "stress_1_11_good")
# Processors that Go's reader makes up for timers, the network poller and system calls.
MADE_UP = range(1_000_000, 1_000_006)


def canned(name):
    """Return the path of a trace of GOROOT; skip the test without one."""
    try:
        root = Path(run_go("env", "GOROOT").strip())
    except MissingGoError as missing:
        pytest.skip(str(missing))
    path = root / "src/internal/trace/internal/tracev1/testdata" / name
    if not path.exists():
        pytest.skip("this Go has no traces of old versions")
    return path


@lru_cache(1)
def read(path):
    """Return a decoded trace, and Go's events: all tests of a file follow each other."""
    events, fault = parsed.events_of(path)
    assert not fault
    events = [e._replace(processor=-1) if e.processor in MADE_UP else e for e in events]
    return Plain(decode(path.read_bytes(), path.name)), events


@pytest.fixture(
    name="both",
    scope="module",
    params=[*daily(CANNED, CANNED_FEW), *MADE],
    ids=lambda s: "-".join([s] if isinstance(s, str) else s),
)
def _both(request):
    """Return (ours, Go's events) of a trace."""
    source = request.param
    return read(canned(source) if isinstance(source, str) else make.trace(*source))


def sound(events):
    """Return the goroutines whose changes of state go on from each other.

    Go's reader takes a system call to be over where a CPU sample comes before the event
    that says it is not; its goroutine then leaves a call that it is not in.
    """
    states, bad = {}, set()
    for _, goroutine, old, new, _ in parsed.transitions(events, "GoID"):
        if states.get(goroutine, old) != old:
            bad.add(goroutine)
        states[goroutine] = new
    sampled = {e.goroutine for e in events if e.kind == "StackSample"}
    assert bad <= sampled
    return set(states) - bad


@pytest.mark.go
def test_goroutines(both):
    ours, events = both
    good = sound(events)
    mine = {g: rows for g, rows in ours.goroutines().items() if g in good}
    got = parsed.goroutines(events, stopped_first=True)
    theirs = {g: rows for g, rows in got.items() if g in good}
    parsed.assert_same(mine, theirs)
    assert set(ours.goroutine_ids[:-1]) >= good


@pytest.mark.go
def test_names_of_goroutines(both):
    ours, events = both
    names = {}
    for event, goroutine, *_ in parsed.transitions(events, "GoID"):
        # Some stacks of Go 1.20 and 1.21 name no function.
        if event.own_stack and event.own_stack[-1][0]:
            names.setdefault(goroutine, event.own_stack[-1][0])
    assert ours.names() == names


@pytest.mark.go
def test_processors(both):
    ours, events = both
    mine = {p: [row[:3] for row in rows] for p, rows in ours.processors().items()}
    theirs = {
        p: [row[:3] for row in rows] for p, rows in parsed.processors(events).items()
    }
    parsed.assert_same({p: rows for p, rows in mine.items() if rows}, theirs)
    assert not ours.trace.processor_intervals.stolen.any()


@pytest.mark.go
def test_ranges(both):
    ours, events = both
    begun, known = set(), []
    for event in events:
        if event.kind.startswith("Range"):
            name, scope, owner, _ = parsed.RANGE.fullmatch(event.rest).groups()
            if event.kind == "RangeEnd" and (name, scope, owner) not in begun:
                # An assist from before the trace: Go's summary leaves it out.
                assert name == "GC mark assist"
                continue
            begun.add((name, scope, owner))
        known.append(event)
    mine = {key: [r for r in rows if r[1]] for key, rows in ours.ranges().items()}
    parsed.assert_same(
        {key: rows for key, rows in mine.items() if rows}, parsed.ranges(known)
    )


@pytest.mark.go
@pytest.mark.parametrize("read", parsed.MARKS)
def test_tasks_regions_logs_labels_and_samples(both, read):
    parsed.assert_same_marks(*both, read)


@pytest.mark.go
def test_metrics(both):
    ours, events = both
    found = ours.metrics()
    # Go's reader leaves out the first, which says what GOMAXPROCS is at the begin.
    first = found.pop("/sched/gomaxprocs:threads")
    found |= {"/sched/gomaxprocs:threads": first[1:]} if len(first) > 1 else {}
    parsed.assert_same_metrics(found, events)


@pytest.mark.go
def test_begin_and_end(both):
    ours, events = both
    begin, end = [event.time for event in events if event.kind == "Sync"]
    assert (ours.trace.start_ns, ours.trace.missing) == (begin, None)
    assert parsed.same(ours.trace.end_ns, end)


def test_what_a_small_trace_says():
    trace = decode(small())
    ours = Plain(trace)
    where = (("main.work", 42),)
    one, two = ours.goroutines().values()
    assert one == [
        (-1, State.RUNNING, "", 0, 11, -1, ()),
        (200, State.WAITING, "chan receive", 0, 11, -1, where),
    ]
    assert two == [
        (100, State.RUNNABLE, "", 0, 11, 1, where),
        (210, State.RUNNING, "", 1, 12, -1, ()),
        (300, State.SYSCALL, "", 1, 12, -1, where),
        (301, State.RUNNING, "", 1, 12, -1, ()),
        (400, State.SYSCALL, "", 1, 12, -1, where),
        (500, State.SYSCALL_BLOCKED, "", 1, 12, -1, ()),
        (900, State.RUNNABLE, "", -1, -1, -1, ()),
        (960, State.RUNNING, "", 0, 11, -1, ()),
        (1000, State.GONE, "", 0, 11, -1, ()),
    ]
    assert ours.names() == {1: "main.work", 7: "main.work"}
    assert trace.gomaxprocs.value.tolist() == [2]
    assert trace.heap_live_bytes.value.tolist() == [5 << 30]
    assert ours.logs() == [(125, 1, 0, "work.go", "done")]
    assert (trace.start_ns, trace.end_ns, trace.events) == (-1, 1001, 17)


@pytest.mark.parametrize("version", [11, 19, 21])
@pytest.mark.parametrize(
    "text", ["é", "名前", "名前" * 50, "%" * 200, "x" * 70_000, "\x80é" * 40_000]
)
def test_text_of_any_bytes_is_only_text(version, text):
    plain = decode(small(version))
    trace = decode(small(version, texts=(text, "b.go"), said=text))
    assert Plain(trace).names() == {1: text, 7: text}
    assert Plain(trace).logs()[0][4] == text
    assert trace.intervals.start_ns.tolist() == plain.intervals.start_ns.tolist()
    assert trace.missing is None


def test_goroutines_have_ids_of_any_size():
    trace = decode(small(goroutine=1 << 40))
    assert trace.goroutines.id.tolist() == [1, 1 << 40]
    assert trace.intervals.state.tolist() == decode(small()).intervals.state.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("version", [5, 7, 8, 9, 10, 12, 20])
def test_formats_that_go_does_not_read_either(version):
    with pytest.raises(
        FormatError, match=r"format 1\.\d+; the formats read are 1\.11, "
    ):
        decode(small(version))
