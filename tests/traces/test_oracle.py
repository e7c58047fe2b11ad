"""The oracle against itself: Go's summary, its printed events and its profiles agree."""

from __future__ import annotations

import gzip
import subprocess
from collections import Counter

import pytest

from pprofdiff.loaders.profiles.pprof import decode
from tests.examples import daily
from tests.loaders.traces import parsed

from . import make, oracle, upstream
from .toolchains import MissingGoError, run_go, version

pytestmark = pytest.mark.go

V1 = ("user_task_region_1_11", "stress_start_stop_1_19", "http_1_21", "fmt_1_21_pprof")
TEXT = ("go122-annotations-stress", "go122-gc-stress", "go122-task-across-generations")
MADE = (
    ("sync", "1.11.13"), ("http", "1.21.13"), ("gc", "1.22.12"), ("files", "1.23.12"),
    ("flight", "1.25.14"), ("generations", "1.26.8"), ("http", "1.26.8"),
    ("whole", "1.27.3"), ("procs", "1.27.3"),
)  # fmt: skip


@pytest.fixture(
    scope="module", params=[*daily(V1, V1[1:2]), *daily(TEXT, TEXT[:1]), *daily(MADE, MADE[5:6], rows=False)],
    ids=lambda name: name if isinstance(name, str) else "-".join(name),
)  # fmt: skip
def trace(request):
    """Return the path or the bytes of a trace."""
    if isinstance(request.param, tuple):
        return make.trace(*request.param)
    data = upstream.data()
    if request.param in TEXT:
        (case,) = [one for one in upstream.cases() if one.name == request.param]
        return case.content
    return data.parent / "internal/tracev1/testdata" / f"{request.param}_good"


@pytest.fixture(scope="module")
def summary(trace):
    got = oracle.summary(trace)
    assert got["error"] is None
    assert got["valid_events"] == got["events"]
    return got


@pytest.fixture(scope="module")
def moves(trace):
    return oracle.transitions(trace)["transitions"]


@pytest.mark.matrix
def test_counts_and_transitions_are_those_that_go_prints(trace, summary, moves):
    printed = list(parsed.read_events(oracle.parsed(trace).splitlines(keepends=True)))
    assert Counter(event.kind for event in printed) == summary["kinds"]
    ends = printed[0].time, printed[-1].time
    assert ends == (summary["first_ns"], summary["last_ns"])
    got = []
    for event in printed:
        if event.moved:
            scope, *move = event.moved
            name = "goroutine" if scope == "GoID" else "proc"
            got.append((event.time, name, *move, *event[:3]))
    fields = [
        "time_ns",
        "scope",
        "id",
        "from",
        "to",
        "reason",
        "thread",
        "proc",
        "goroutine",
    ]
    asked = [tuple(move[f] for f in fields) for move in moves]
    assert known(got) == known(asked)
    assert statuses(got) == statuses(asked)


def known(rows):
    return [row for row in rows if row[3] != "Undetermined"]


def statuses(rows):
    """Count first statuses without their times: of v1, Go gives them in a random order."""
    return Counter(row[1:] for row in rows if row[3] == "Undetermined")


def test_without_workers_the_corrected_utilization_is_go_s(trace):
    rows = oracle.mutators(trace)
    assert len(rows) == 64
    for (flags, corrected), row in rows.items():
        if "background" not in flags and not corrected:
            assert row == rows[flags, True] | {"corrected": False}


@pytest.mark.parametrize("name", ["http_1_19", "http_1_21", "stress_start_stop_1_11"])
def test_corrected_utilization_counts_each_worker_while_it_runs(name):
    trace = upstream.data().parent / f"internal/tracev1/testdata/{name}_good"
    summary, moves = oracle.summary(trace), oracle.transitions(trace)["transitions"]
    (count,) = {value for _, value in summary["metrics"]["/sched/gomaxprocs:threads"]}
    events = [(m["time_ns"], m["id"], m) for m in moves if m["scope"] == "goroutine"]
    events += [(x["time_ns"], x["goroutine"], x) for x in summary["labels"]]
    executing = ("Running", "Syscall")
    starts, spent = {}, 0
    for time, g, event in sorted(events, key=lambda event: event[0]):
        if event.get("label") in ("GC (dedicated)", "GC (fractional)"):
            starts[g] = time
        elif g in starts and event["to"] not in executing:
            spent += time - starts.pop(g)
    assert not starts
    assert spent > 0
    row = oracle.series(trace)[frozenset({"background"}), True]
    wall = row["steps"][0][-1][0]
    assert row["mean"][0] == pytest.approx(1 - spent / (count * wall), rel=1e-12)


@pytest.mark.parametrize("words", [("-d=parsed",), ("-pprof=sched",)])
def test_the_tool_with_answers_is_the_tool_without(words):
    trace = make.trace("files", "1.26.8")
    done = subprocess.run(
        ["go", "tool", "trace", *words, str(trace)], capture_output=True, check=True
    )
    if words == ("-d=parsed",):
        assert done.stdout.decode() == oracle.parsed(trace)
    else:
        got = decode(gzip.decompress(oracle.profile(trace, "sched")))
        plain = decode(gzip.decompress(done.stdout))
        assert sorted(plain.values.tolist()) == sorted(got.values.tolist())


def test_a_torn_trace_shows_how_far_it_goes():
    content = make.trace("generations", "1.26.8").read_bytes()
    got = oracle.summary(content[: len(content) // 2])
    assert got["error"]
    assert 0 < got["valid_events"] <= got["events"]
    assert 0 < len(got["syncs"]) < len(oracle.summary(content)["syncs"])


def test_what_is_no_trace_is_refused_in_go_s_words():
    for content in (b"", b"go 1.99 trace\0\0\0", b"hello"):
        with pytest.raises(oracle.RefusedError, match=r"(?i)trace"):
            oracle.summary(content)


def test_a_go_that_is_not_to_be_had_says_so():
    with pytest.raises(MissingGoError, match=r"no Go 1\.22\.999"):
        version("1.22.999")
    assert run_go("version").startswith("go version go")
