"""The oracle against itself: Go's summary, its printed events and its profiles agree."""

from __future__ import annotations

import bisect
import gzip
import json
import re
import subprocess
from collections import Counter, defaultdict

import pytest

from pprofdiff.loaders.profiles.pprof import decode
from tests.examples import daily

from . import make, oracle, textform
from .toolchains import MissingGoError, run_go, version

pytestmark = pytest.mark.go

V1 = ("user_task_region_1_11", "stress_start_stop_1_19", "http_1_21", "fmt_1_21_pprof")
TEXT = ("go122-annotations-stress", "go122-gc-stress", "go122-task-across-generations")
MADE = (
    ("sync", "1.17.13"), ("http", "1.21.13"), ("gc", "1.22.12"), ("files", "1.23.12"),
    ("flight", "1.25.14"), ("generations", "1.26.8"), ("http", "1.26.8"),
    ("whole", "1.27.3"), ("procs", "1.27.3"),
)  # fmt: skip
LINE = re.compile(r"M=(-?\d+) P=(-?\d+) G=(-?\d+) (\w+) Time=(-?\d+)(.*)")
MOVE = re.compile(r' (GoID|ProcID)=(-?\d+) (\w+)->(\w+) Reason=(".*")')


@pytest.fixture(
    scope="module", params=[*daily(V1, V1[1:2]), *daily(TEXT, TEXT[:1]), *daily(MADE, MADE[5:6], rows=False)],
    ids=lambda name: name if isinstance(name, str) else "-".join(name),
)  # fmt: skip
def trace(request):
    """Return the path or the bytes of a trace."""
    if isinstance(request.param, tuple):
        return make.trace(*request.param)
    data = textform.data()
    if request.param in TEXT:
        text = textform.text_of(data / "tests" / f"{request.param}.test")
        return textform.encode(text)
    return data.parent / "internal/tracev1/testdata" / f"{request.param}_good"


@pytest.fixture(scope="module")
def summary(trace):
    told = oracle.summary(trace)
    assert told["error"] is None
    assert told["valid_events"] == told["events"]
    return told


@pytest.fixture(scope="module")
def moves(trace):
    return oracle.transitions(trace)["transitions"]


@pytest.mark.matrix
def test_counts_and_transitions_are_those_that_go_prints(trace, summary, moves):
    found = map(LINE.match, oracle.parsed(trace).splitlines())
    printed = [line.groups() for line in found if line]
    assert Counter(kind for _, _, _, kind, _, _ in printed) == summary["kinds"]
    assert len(printed) == summary["events"]
    assert (int(printed[0][4]), int(printed[-1][4])) == (
        summary["first_ns"], summary["last_ns"],
    )  # fmt: skip
    told = []
    for thread, proc, goroutine, kind, time, rest in printed:
        if kind == "StateTransition":
            scope, number, old, new, reason = MOVE.match(rest).groups()
            name = "goroutine" if scope == "GoID" else "proc"
            why = textform.unquoted(reason).decode()
            context = int(thread), int(proc), int(goroutine)
            told.append((int(time), name, int(number), old, new, why, *context))
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
    assert known(told) == known(asked)
    assert statuses(told) == statuses(asked)


def known(rows):
    return [row for row in rows if row[3] != "Undetermined"]


def statuses(rows):
    """Count first statuses without their times: of v1, Go gives them in a random order."""
    return Counter(row[1:] for row in rows if row[3] == "Undetermined")


def test_ordered_events_have_times_of_their_own(moves, summary):
    times = [m["time_ns"] for m in moves] + [s["time_ns"] for s in summary["syncs"]]
    assert len(set(times)) == len(times)
    assert times[: len(moves)] == sorted(times[: len(moves)])


def test_goroutine_sums_follow_from_transitions(summary, moves):
    """By the definitions of internal/trace/summary.go, but for its syscalls."""
    syncs = [s["time_ns"] for s in summary["syncs"]]
    total = defaultdict(Counter)  # by goroutine: ns by (state, reason of a block)
    now = {}
    for move in moves:
        if move["scope"] != "goroutine" or move["from"] == move["to"]:
            continue
        g, time = move["id"], move["time_ns"]
        state = move["to"], move["reason"] if move["to"] == "Waiting" else ""
        if g in now:
            last, since = now[g]
            total[g][last] += time - since
        elif move["from"] == "Undetermined":
            total[g][state] += time - syncs[bisect.bisect(syncs, time) - 1]
        now[g] = state, time
        if state[0] == "NotExist" or state == ("Waiting", "forever"):
            del now[g]
    for g, (state, time) in now.items():
        total[g][state] += summary["last_ns"] - time
    for row in summary["goroutines"]:
        spent = total[row["id"]]
        waits = {
            reason: ns for (name, reason), ns in spent.items() if name == "Waiting"
        }
        assert row["exec_ns"] == spent["Running", ""]
        assert Counter(row["block_ns"]) == Counter(waits)
        # A blocked syscall at the end counts as waiting, too: Go's own double count.
        twice = now.get(row["id"], (("", ""), 0))[0][0] == "Syscall"
        assert row["sched_wait_ns"] == spent["Runnable", ""] or twice


def test_times_of_a_goroutine_do_not_exceed_its_life(summary):
    for row in summary["goroutines"]:
        states = ("exec_ns", "sched_wait_ns", "syscall_ns", "syscall_block_ns")
        known = sum(row[s] for s in states) + sum(row["block_ns"].values())
        assert row["unknown_ns"] == max(0, row["total_ns"] - known)
        end = summary["last_ns"] if row["end_ns"] is None else row["end_ns"]
        assert row["total_ns"] == end - row["creation_ns"]


def test_a_processor_is_always_in_one_state(summary, moves):
    seen = {}
    syncs = [s["time_ns"] for s in summary["syncs"]]
    for move in moves:
        if move["scope"] != "proc" or move["from"] == move["to"]:
            continue
        since = move["time_ns"]
        if move["from"] == "Undetermined":
            since = syncs[bisect.bisect(syncs, since) - 1]
        seen.setdefault(move["id"], since)
    assert {int(p): sum(states.values()) for p, states in summary["procs"].items()} == {
        p: summary["last_ns"] - first for p, first in seen.items()
    }


@pytest.mark.matrix
@pytest.mark.parametrize("kind", oracle.PROFILES)
def test_profiles_are_of_the_same_transitions(trace, summary, moves, kind):
    told = decode(gzip.decompress(oracle.profile(trace, kind)))
    address, at = told.locations.address.tolist(), told.stack_offsets.tolist()
    items = told.stack_locations.tolist()
    by_stack = Counter()
    for i, (count, delay) in enumerate(told.values.tolist()):
        pcs = key(address[j] for j in items[at[i] : at[i + 1]])
        by_stack[pcs, "count"] += count
        by_stack[pcs, "delay"] += delay
    stacks = oracle.transitions(trace)["stacks"]
    expected = Counter()
    for number, duration in delays(kind, moves, summary):
        pcs = key(frame["pc"] for frame in stacks[number])
        expected[pcs, "count"] += 1
        expected[pcs, "delay"] += duration
    assert by_stack == expected


def key(pcs):
    """Return what Go merges stacks by: 128 PCs, 0 where there are fewer frames."""
    found = list(pcs)
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def delays(kind, moves, summary):
    """Yield (stack, ns) of what a profile counts, by cmd/trace/pprof.go."""
    state = {"sched": "Runnable", "syscall": "Syscall"}.get(kind, "Waiting")
    words = {"net": ("network",), "sync": ("chan", "sync", "select")}.get(kind, ("",))
    lives = {
        g["id"]: (g["start_ns"] or 0, g["end_ns"] or summary["last_ns"])
        for g in summary["goroutines"]
    }
    begun = {}
    for move in moves:
        tracked = move["id"] in begun
        if move["scope"] != "goroutine" or (tracked and move["to"] == state):
            continue
        if tracked:
            since = begun.pop(move["id"])
            start, end = lives[move["id"]]
            spent = min(end, move["time_ns"]) - max(start, since["time_ns"])
            if spent > 0:
                yield since["stack"], spent
        elif move["to"] == state and any(w in move["reason"] for w in words):
            begun[move["id"]] = move


def test_waits_are_what_the_scheduler_latency_is_made_of(summary):
    ran = {g["id"]: g for g in summary["goroutines"]}
    total = Counter()
    for wait in summary["sched_waits"]:
        assert wait["start_ns"] < wait["end_ns"]
        total[wait["goroutine"]] += wait["end_ns"] - wait["start_ns"]
    for g, waited in total.items():
        assert waited <= ran[g]["sched_wait_ns"]


def test_ranges_begin_before_they_end(summary):
    counts = Counter()
    for r in summary["ranges"]:
        counts[r["name"]] += 1
        assert r["end_ns"] is None or r["start_ns"] < r["end_ns"]
        stop = r["last_stop_ns"]
        assert stop is None or r["start_ns"] < stop <= (r["end_ns"] or stop)
    assert counts == summary["range_counts"]


def test_without_workers_the_corrected_utilization_is_go_s(trace):
    rows = oracle.mutators(trace)
    assert len(rows) == 64
    for (flags, corrected), row in rows.items():
        if "background" not in flags and not corrected:
            assert row == rows[flags, True] | {"corrected": False}


@pytest.mark.parametrize("name", ["http_1_19", "http_1_21", "stress_start_stop_1_11"])
def test_corrected_utilization_counts_each_worker_while_it_runs(name):
    trace = textform.data().parent / f"internal/tracev1/testdata/{name}_good"
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
        told = decode(gzip.decompress(oracle.profile(trace, "sched")))
        plain = decode(gzip.decompress(done.stdout))
        assert sorted(plain.values.tolist()) == sorted(told.values.tolist())


def test_two_versions_of_go_answer_alike():
    trace = make.trace("tasks", "1.26.8")
    words = ("oracle", "summary", str(trace))
    told = [
        subprocess.run([oracle.program(go), *words], capture_output=True, check=True)
        for go in ("1.26.8", "1.27.3")
    ]
    assert json.loads(told[0].stdout) == json.loads(told[1].stdout)


def test_a_torn_trace_tells_how_far_it_goes():
    content = make.trace("generations", "1.24.13").read_bytes()
    told = oracle.summary(content[: len(content) // 2])
    assert told["error"]
    assert 0 < told["valid_events"] <= told["events"]
    assert 0 < len(told["syncs"]) < len(oracle.summary(content)["syncs"])


def test_what_is_no_trace_is_refused_in_go_s_words():
    for content in (b"", b"go 1.99 trace\0\0\0", b"hello"):
        with pytest.raises(oracle.RefusedError, match=r"(?i)trace"):
            oracle.summary(content)


def test_a_go_that_is_not_to_be_had_says_so():
    with pytest.raises(MissingGoError, match=r"no Go 1\.22\.999"):
        version("1.22.999")
    assert run_go("version").startswith("go version go")
