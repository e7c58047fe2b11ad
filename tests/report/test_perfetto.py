"""Traces as Trace Event JSON: whole, exact to the nanosecond, cut with a sentence."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

import pprofdiff
from pprofdiff.analysis.traces.wait_chains import ENDS
from pprofdiff.model.traces.trace import RangeKind, State
from pprofdiff.report import perfetto
from pprofdiff.report.files import writer_for
from tests.conftest import DATA
from tests.examples import daily

STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")
# Those in which goroutines with a thread wake each other.
WAKING = ("syncpool", "rss-search", "zstd", "node-pool")
ON_PROCESSORS = ((State.RUNNING, "running"), (State.SYSCALL, "syscall"))
THREADS = (("GC", RangeKind.GC_MARK), ("stop the world", RangeKind.STOP_THE_WORLD))


def compared(story):
    """Return both traces of a story compared."""
    base, new = (
        pprofdiff.load(DATA / story / side / "trace.out", label=side)
        for side in ("base", "new")
    )
    return pprofdiff.diff(base, new)


def events_of(diff):
    """Return all events of the file; times are decimals, as they are written."""
    data = b"".join(writer_for("x.perfetto.json")(diff.report()))
    return json.loads(data, parse_float=Decimal)["traceEvents"]


def ns(microseconds):
    """Return a time of the file in ns, exactly."""
    value = Decimal(microseconds) * 1000
    assert value == int(value)
    return int(value)


def named(events, what, key="name"):
    """Return what metadata events of a kind say."""
    return [e["args"][key] for e in events if e["name"] == what]


def threads(events):
    """Return slices by process and name of the thread: (start, end, event), sorted."""
    names = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["name"] == "thread_name"
    }
    lanes = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            start = ns(e["ts"])
            row = start, start + ns(e["dur"]), e
            lanes[e["pid"], names[e["pid"], e["tid"]]].append(row)
    return {key: sorted(rows, key=lambda r: r[:2]) for key, rows in lanes.items()}


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_slices_of_a_thread_do_not_overlap(story):
    for rows in threads(events_of(compared(story))).values():
        for one, other in pairwise(rows):
            assert one[1] <= other[0]


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(STORIES, ("rss-search", "zstd")))
def test_slices_add_up_to_the_trace(story):
    diff = compared(story)
    lanes = threads(events_of(diff))
    for pid, side in enumerate(diff.data.sides, 1):
        trace = side.trace
        rows = trace.intervals
        length = trace.ends_ns(rows) - rows.start_ns
        ran = 0
        for p, number in enumerate(trace.processors.tolist()):
            on = lanes.get((pid, f"P{number}"), ())
            for state, category in ON_PROCESSORS:
                some = (rows.state == state) & (rows.processor == p)
                ours = [end - start for start, end, e in on if e["cat"] == category]
                assert len(ours) == np.count_nonzero(some)
                assert sum(ours) == int(length[some].sum())
                ran += sum(ours) if category == "running" else 0
        assert ran == side.processors.goroutine_ns
        for thread, kind in THREADS:
            ranges = trace.ranges.take(trace.ranges.kind == kind)
            until = np.where(ranges.end_ns < 0, trace.end_ns, ranges.end_ns)
            both = (ranges.start_ns - trace.start_ns, until - trace.start_ns)
            ours = [row[:2] for row in lanes.get((pid, thread), ())]
            assert ours == sorted(zip(*(c.tolist() for c in both), strict=True))


@pytest.mark.whole
@pytest.mark.slow
def test_the_goroutines_are_those_that_waited_longest():
    diff = compared("health-check")
    lanes = threads(events_of(diff))
    for pid, side in enumerate(diff.data.sides, 1):
        names = [name for process, name in lanes if (process, name[0]) == (pid, "G")]
        assert len(names) == perfetto.GOROUTINES + 1  # and GC
        waits = [
            end - start
            for (process, _), rows in lanes.items()
            for start, end, e in rows
            if process == pid and e["name"] == "waiting for a processor"
        ]
        assert max(waits) == side.latency.max_ns


def arrows_of(events):
    """Return the arrows of the file: both ends, each with its time and its slices."""
    ends = {}
    for phase in "sf":
        some = [e for e in events if e["ph"] == phase]
        ends[phase] = {e["id"]: e for e in some}
        assert len(ends[phase]) == len(some)
    assert ends["s"].keys() == ends["f"].keys()
    lanes = defaultdict(list)
    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: ns(e["ts"])):
        begin = ns(e["ts"])
        lanes[e["pid"], e["tid"]].append((begin, begin + ns(e["dur"]), e))
    for key in ends["s"]:
        pair = ends["s"][key], ends["f"][key]
        assert pair[0]["pid"] == pair[1]["pid"]
        at = ns(pair[0]["ts"])
        assert at == ns(pair[1]["ts"])
        rows = (lanes[end["pid"], end["tid"]] for end in pair)
        yield (
            at,
            *([e for begin, end, e in some if begin <= at <= end] for some in rows),
        )


def woken(trace, goroutines):
    """Return who woke whom when, of some goroutines, read row by row."""
    rows, ids = trace.intervals, trace.goroutines.id.tolist()
    for g in range(len(ids)):
        for row in range(rows.offsets[g] + 1, rows.offsets[g + 1]):
            by, reason = int(rows.by[row]), trace.reasons[rows.reason[row - 1]]
            waited = rows.state[row - 1] == State.WAITING and reason not in ENDS
            begun, ended = rows.start_ns[row - 1 : row + 1].tolist()
            if waited and by not in (-1, g) and ended > begun and ids[g] in goroutines:
                yield ids[by], ids[g], ended - trace.start_ns


@pytest.mark.slow
@pytest.mark.parametrize("story", daily(WAKING, ("syncpool", "zstd")))
def test_an_arrow_leads_from_what_ends_a_wait_to_what_it_wakes(story):
    diff = compared(story)
    events = events_of(diff)
    found = defaultdict(set)
    for at, before, after in arrows_of(events):
        # The wait ends there, and the goroutine begins to wait for a processor.
        begun = [e for e in after if ns(e["ts"]) == at]
        assert begun[0]["name"] == "waiting for a processor"
        assert any(ns(e["ts"]) + ns(e["dur"]) == at for e in after)
        assert before
        who = {e["args"]["goroutine"] for e in before}
        found[begun[0]["pid"]].add((at, begun[0]["args"]["goroutine"], *sorted(who)))
    for pid, side in enumerate(diff.data.sides, 1):
        slices = (e for e in events if e["ph"] == "X" and e["pid"] == pid)
        threads_of = (e for e in slices if e["cat"] == "goroutine")
        wanted = [*woken(side.trace, {e["args"]["goroutine"] for e in threads_of})]
        assert len(found[pid]) == len(wanted) > 0
        for by, who, at in wanted:
            assert any(one[:2] == (at, who) and by in one[2:] for one in found[pid])


def test_processes_are_the_sides_from_time_0():
    events = events_of(compared("syncpool"))
    assert named(events, "process_name") == ["base", "new"]
    assert named(events, "process_labels", "labels") == []
    # Goroutines begin when the pause that starts the trace ends.
    assert 0 <= min(ns(e["ts"]) for e in events if e["ph"] == "X") < 1_000_000


@pytest.mark.slow
def test_what_is_too_much_is_cut_and_says_so(monkeypatch):
    diff = compared("syncpool")
    whole = threads(events_of(diff))
    monkeypatch.setattr(perfetto, "MOST", 2_000)
    events = events_of(diff)
    few = threads(events)
    labels = named(events, "process_labels", "labels")
    assert labels == [e["name"] for e in events if e["ph"] == "i"]
    assert len(labels) == 2
    for pid, label in enumerate(labels, 1):
        kept, were = (
            sum(len(rows) for (p, n), rows in lanes.items() if (p, n[0]) == (pid, "P"))
            for lanes in (few, whole)
        )
        assert 0 < kept <= 2_000
        assert label.startswith(f"cut here: {were - kept:,} more slices begin after ")
        assert label.endswith(f"; processors have their first {kept:,}")


def test_names_of_any_letters_are_text():
    trace = pprofdiff.load(DATA / "syncpool/base/trace.out", label='a"\\b\n%s</script>')
    events = events_of(pprofdiff.diff(trace, trace))
    assert named(events, "process_name")[0] == 'base: a"\\b\\n%s</script>'


def test_the_command_writes_it(cli, tmp_path):
    path = tmp_path / "x.perfetto.json"
    sides = [DATA / "syncpool" / side / "trace.out" for side in ("base", "new")]
    assert cli(*sides, "-q", "-o", path).status == 0
    assert json.loads(path.read_bytes())["displayTimeUnit"] == "ns"
