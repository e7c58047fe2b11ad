"""Times of goroutines are as in Go's own summary, to the nanosecond but for ties.

Where Go's summary is wrong, `deviations` says how.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from pprofdiff.analysis.traces.goroutines import (
    BLOCK_REASONS,
    FOREVER,
    INACTIVE,
    TIMES,
    both_groups,
)
from pprofdiff.loaders.traces import decode
from pprofdiff.model.csr import row_of_item
from pprofdiff.model.traces.trace import State
from tests.examples import daily
from tests.traces import oracle
from tests.traces.toolchains import run_go

from . import built
from .deviations import (
    as_go_has_it,
    marked_by_chance,
    miscounted_by_go,
)
from .real import (
    CAPTURES,
    OLD,
    PROFILED,
    PROGRAMS,
    SIDES,
    path_of,
    times_of,
    trace_of,
)
from .ties import Ties

VERSIONS = ("1.22.12", "1.23.12", "1.25.14", "1.26.8", "1.27.3")
MAKERS = ("gc", "sync", "files")
MADE = [
    *(f"{maker}-{version}" for version in VERSIONS for maker in MAKERS),
    "stops-1.22.12", "coroutines-1.23.12", "alloc-1.25.14", "flight-1.25.14",
    "generations-1.26.8", "whole-1.27.3", "procs-1.27.3",
    *PROFILED,
    "http-1.11.13", "http-1.22.12", "http-1.26.8", "sync-1.11.13", "gc-1.19.4",
    "files-1.21.13", "stops-1.21.13",
]  # fmt: skip
# Each situation once, by turns of the formats of releases that are at hand every day.
FEW = (
    "http-1.22.12", "gc-1.26.8", "sync-1.22.12", "files-1.26.8", "stops-1.21.13",
    "generations-1.26.8", "profiled-1.26.8",
)  # fmt: skip
ALL = [*CAPTURES, *MADE, *PROGRAMS, *OLD]
SOME = daily(ALL, [SIDES[0], *FEW, PROGRAMS[-1], OLD[0]])
FIGURES = ("total_ns", *TIMES)
IN_CALLS = ("sched_wait_ns", "syscall_ns", "syscall_block_ns", "unknown_ns")


def read(name):
    """Return a trace, and its figures."""
    return trace_of(name), times_of(trace_of(name))


def differences(trace, held, got, ties):
    """Yield where figures, with Go's mistakes, differ from Go's."""
    held = as_go_has_it(trace, held)
    places = {g: i for i, g in enumerate(trace.goroutines.id.tolist())}
    assert set(places) == {g["id"] for g in got}
    rows, spans = ties.of_goroutines(trace)
    again, by_chance = returning(trace), marked_by_chance(trace)
    for theirs in got:
        g = theirs["id"]
        i = places[g]
        if i in again:
            continue
        slack = int(rows[i])
        if trace.strings[trace.goroutines.name[i]] != theirs["name"]:
            yield g, "name", trace.strings[trace.goroutines.name[i]], theirs["name"]
        for field in FIGURES:
            ours = int(getattr(held, field)[i])
            if i in by_chance and field in IN_CALLS:
                continue
            if abs(ours - theirs[field]) > slack:
                yield g, field, ours, theirs[field], slack
        for names, table, key, most in (
            (held.reasons, held.block_ns, "block_ns", slack),
            (held.range_names, held.range_ns, "range_ns", int(spans[i])),
        ):
            assert set(theirs[key]) <= set(names), key
            for column, name in enumerate(names):
                ours = int(table[i, column])
                if abs(ours - theirs[key].get(name, 0)) > most:
                    yield g, name, ours, theirs[key].get(name, 0), most


def returning(trace):
    """Return the goroutines that begin again: Go's summary has their last life only."""
    held = trace.intervals
    gone = held.state == State.GONE
    gone[held.offsets[1:] - 1] = False
    return set(row_of_item(held.offsets)[gone].tolist())


@pytest.mark.go
def test_only_goroutines_of_c_begin_again():
    trace, held = read("cgo-callback")
    found = sorted(returning(trace))
    names = {trace.strings[trace.goroutines.name[i]] for i in found}
    assert names <= {"runtime.cgocallback", ""}
    parts = np.sum([getattr(held, field) for field in TIMES], axis=0)
    assert (parts + held.block_ns.sum(axis=1) == held.total_ns)[found].all()
    assert not any(returning(read(name)[0]) for name in CAPTURES)


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("name", SOME)
def test_figures_match_go(name):
    trace, held = read(name)
    got = oracle.summary(path_of(name))
    assert got["error"] is None
    found = list(differences(trace, held, got["goroutines"], Ties(path_of(name))))
    assert found == []


NOBODY = 18446744073709551615
FORGOTTEN = (
    (0, """ProcStatus dt=1 p=0 pstatus=1
        GoStatus dt=1 g=1 m=0 gstatus=2
        GoSyscallBegin dt=10 p_seq=1 stack=0
        GoSyscallEndBlocked dt={end}"""),
    (1, """ProcStatus dt=1 p=1 pstatus=1
        GoStatus dt=1 g=2 m=1 gstatus=2
        GoStop dt=100 reason_string=0 stack=0
        ProcStop dt=1
        ProcSteal dt=1 p=0 p_seq=2 m=0
        ProcStart dt=1 p=0 p_seq=3
        GoStart dt=1 g=2 g_seq=1
        GoSyscallBegin dt=10 p_seq=4 stack=0
        GoSyscallEndBlocked dt=9000"""),
    (2, """ProcStatus dt=1 p=2 pstatus=1
        GoStatus dt=1 g=3 m=2 gstatus=2
        ProcSteal dt=5000 p=0 p_seq=5 m=1"""),
    *((NOBODY, text) for text in ("Frequency freq=15625000", "Stacks", "Strings")),
)  # fmt: skip


def written(batches):
    """Return a trace of one generation, of (thread, events in text form)."""
    text = "Trace Go1.22\n"
    for thread, events in batches:
        size = len(oracle.encoded("Trace Go1.22\n" + events)) - 16
        text += f"EventBatch gen=1 m={thread} time=0 size={size}\n{events}\n"
    return oracle.encoded(text)


@pytest.mark.go
@pytest.mark.parametrize(("end", "noticed"), [(50, True), (1000, False), (8000, True)])
def test_a_lost_processor_is_noticed_where_go_misses_it(end, noticed):
    content = written([(m, text.format(end=end)) for m, text in FORGOTTEN])
    trace = decode(content)
    held = times_of(trace)
    second = trace.goroutines.id.tolist().index(2)
    got = oracle.summary(content)
    (theirs,) = [g for g in got["goroutines"] if g["id"] == 2]
    assert held.syscall_block_ns[second] > 0
    assert (theirs["syscall_block_ns"] > 0) == noticed
    assert bool(len(miscounted_by_go(trace))) == (not noticed)
    ties = Ties(content)
    assert list(differences(trace, held, got["goroutines"], ties)) == []


@pytest.mark.parametrize("name", daily(CAPTURES, SIDES))
@pytest.mark.parametrize("by", [0, 1], ids=["name", "creation"])
def test_groups_add_up(name, by):
    trace, held = read(name)
    found = both_groups(trace)[by]
    assert found.count.sum() == len(trace.goroutines)
    assert (np.bincount(found.group_of) == found.count).all()
    for field in (*FIGURES, "block_ns", "range_ns"):
        whole = getattr(held, field)
        for row in range(len(found)):
            own = whole[found.group_of == row].sum(axis=0)
            assert (own == getattr(found, field)[row]).all()
    assert (np.diff(found.total_ns) <= 0).all()
    frame = found.to_frame()
    assert frame["exec_ns"].sum() == held.exec_ns.sum()


@pytest.mark.go
def test_reasons_are_those_that_go_has():
    root = Path(run_go("env", "GOROOT").strip())
    source = (root / "src/runtime/traceruntime.go").read_text("utf-8")
    table = source.partition("traceBlockReasonStrings = ")[2].partition("\n}")[0]
    found = re.findall(r'^\s+traceBlock\w+:\s+"(.+)",$', table, re.MULTILINE)
    assert [*BLOCK_REASONS] == [reason for reason in found if reason != FOREVER]


def test_groups_by_name_match_the_page():
    trace, _ = read("health-check/base")
    found, _ = both_groups(trace)
    names = [trace.strings[i] for i in trace.goroutines.name.tolist()]
    assert found.names == [
        names[found.group_of.tolist().index(i)] or INACTIVE for i in range(len(found))
    ]
    got = dict(zip(found.names, found.system.tolist(), strict=True))
    assert got["main.main"] is False
    assert got["runtime.bgsweep"] is True
    tracing = {n for n, t in zip(found.names, found.tracing, strict=True) if t}
    assert tracing == {
        "runtime/trace.(*traceMultiplexer).startLocked.func1",
        "runtime.(*traceAdvancerState).start.func1",
        "runtime.traceStartReadCPU.func1",
    }


def test_a_request_for_the_trace_is_not_the_service_s_own(data_folder):
    """It is served by a goroutine of net/http, which sleeps while the trace is taken."""
    path = data_folder / "service/new/trace.out"
    trace = decode(path.read_bytes(), path.name)
    found, _ = both_groups(trace)
    tracing = dict(zip(found.names, found.tracing.tolist(), strict=True))
    assert tracing["net/http/pprof.Trace"]
    assert tracing["net/http.(*conn).serve"] is False


@given(built.traces())
@settings(derandomize=True)
def test_figures_are_those_counted_nanosecond_by_nanosecond(trace):
    held = times_of(trace)
    for g in range(len(trace.goroutines)):
        spent = dict.fromkeys(State, 0)
        blocked = dict.fromkeys(held.reasons, 0)
        rows = built.rows_of(trace, g)
        for start, end, state, row in rows:
            for _ in range(start, end if state != State.GONE else start):
                spent[state] += 1
                if state == State.WAITING:
                    blocked[trace.reasons[trace.intervals.reason[row]]] += 1
        last = rows[-1]
        assert held.exec_ns[g] == spent[State.RUNNING]
        assert held.sched_wait_ns[g] == spent[State.RUNNABLE]
        assert held.syscall_ns[g] == spent[State.SYSCALL]
        assert held.syscall_block_ns[g] == spent[State.SYSCALL_BLOCKED]
        assert held.block_ns[g].tolist() == list(blocked.values())
        ended = last[0] if last[2] == State.GONE else -1
        assert held.total_ns[g] == (ended if ended >= 0 else trace.end_ns) - rows[0][0]
