"""Every maker gives, with every Go, the situation that it is named after."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.examples import daily

from . import make, oracle
from .toolchains import VERSIONS

pytestmark = pytest.mark.go

FORMATS = {
    (1, 11): 11, (1, 19): 19, (1, 21): 21, (1, 22): 22, (1, 23): 23, (1, 25): 25,
    (1, 26): 26, (1, 27): 26,
}  # fmt: skip


def release(go):
    return tuple(map(int, go.split(".")[:2]))


def made(path):
    """Return Go's summary of a trace."""
    got = oracle.summary(path)
    assert got["error"] is None
    return got


def blocked(got):
    """Return the ns that goroutines were blocked, by reason."""
    total = Counter()
    for g in got["goroutines"]:
        total.update(g["block_ns"])
    return total


def region(got, name):
    """Return the only region of a name."""
    found = [r for g in got["goroutines"] for r in g["regions"] if r["name"] == name]
    assert len(found) == 1
    return found[0]


def each(maker):
    """Return what runs a test with each Go: the version, and a trace of a maker.

    On a busy machine a trace may not show what it is made for; one of a few does.
    """
    versions = [go for name, go in make.pairs() if name == maker]

    def tried(test):
        @pytest.mark.parametrize("go", versions)
        def run(go):
            for number in range(make.TRIES):
                try:
                    test(go, make.another(maker, go, number))
                except AssertionError:
                    if number + 1 == make.TRIES:
                        raise
                else:
                    return

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run

    return tried


@pytest.mark.parametrize("go", VERSIONS)
def test_a_version_writes_its_format(go):
    head = make.trace("tasks", go).read_bytes()[:16]
    assert head == b"go 1.%d trace\0\0\0" % FORMATS[release(go)]


@each("http")
def test_a_server_waits_for_the_network(go, path):
    got = made(path)
    assert blocked(got)["network"] > 0
    assert blocked(got)["select"] > 0
    serving = [g["name"] == "net/http.(*conn).serve" for g in got["goroutines"]]
    assert sum(serving) == 6
    assert any(w["reason"] == "network" for w in got["sched_waits"])


@each("sync")
def test_goroutines_block_on_channels_locks_and_timers(go, path):
    got = made(path)
    total = blocked(got)
    assert all(total[r] > 0 for r in ("sync", "select", "sync.(*Cond).Wait", "sleep"))
    assert total["chan send"] + total["chan receive"] > 0
    yields = [w for w in got["sched_waits"] if w["reason"] == "runtime.Gosched"]
    assert len(yields) >= 50
    ended = [g["name"] for g in got["goroutines"] if g["end_ns"] is not None]
    assert {"main.synchronize.func1", "main.synchronize.func2"} <= set(ended)


@each("gc")
def test_the_collector_takes_assists_sweeps_and_workers(go, path):
    got = made(path)
    assert got["gc"]["begun"] == got["gc"]["ended"] >= 5
    assert got["gc"]["mark_wall_ns"] > 0
    counts = got["range_counts"]
    assert counts["GC mark assist"] > 0
    assert counts["GC incremental sweep"] > 0
    for phase in ("sweep termination", "mark termination"):
        assert counts[f"stop-the-world (GC {phase})"] == got["gc"]["begun"]
    assert got["assist_ns"]["Running"] > 0
    assert got["mark_worker_ns"]["GC (dedicated)"] > 0
    swept = [r["attributes"] for r in got["ranges"] if "sweep" in r["name"]]
    assert sum(a["bytes swept"] for a in swept if a) > 0
    heap = got["metrics"]["/memory/classes/heap/objects:bytes"]
    assert max(v for _, v in heap) > 1 << 20


@each("stops")
def test_the_world_stops_for_every_reason(go, path):
    counts = {
        name.removeprefix("stop-the-world (").rstrip(")"): count
        for name, count in made(path)["range_counts"].items()
    }
    assert counts["GC sweep termination"] >= 3
    assert counts["GC mark termination"] >= 3
    if release(go) >= (1, 21):
        assert counts["read mem stats"] == 3
        assert counts["GOMAXPROCS"] >= 2
        assert counts["goroutine profile"] >= 3
        assert counts.get("all goroutines stack trace", 0) + counts.get(
            "all goroutine stack trace", 0
        ) == 3  # fmt: skip


@each("files")
def test_system_calls_block_and_pipes_are_polled(go, path):
    got = made(path)
    assert got["transitions"]["goroutine"]["Syscall->Runnable"] > 0
    assert blocked(got)["network"] > 0
    lost = [g for g in got["goroutines"] if g["syscall_block_ns"]]
    assert lost
    assert any(w["cause"] == "syscall" for w in got["sched_waits"])


@each("procs")
def test_gomaxprocs_changes(go, path):
    values = [v for _, v in made(path)["metrics"]["/sched/gomaxprocs:threads"]]
    changes = [v for i, v in enumerate(values) if not i or values[i - 1] != v]
    assert changes[-4:] == [1, 4, 2, 3]


@each("tasks")
def test_tasks_and_regions_nest_and_some_have_no_end(go, path):
    got = made(path)
    tasks = {t["id"]: t for t in got["tasks"]}
    names = Counter(t["name"] for t in tasks.values() if t["complete"])
    assert names == {"order": 5, "mail": 5, "ended elsewhere": 1}
    (open_task,) = [t for t in tasks.values() if t["name"] == "never ended"]
    assert open_task["end_ns"] is None
    mails = [t for t in tasks.values() if t["name"] == "mail"]
    assert {tasks[t["parent"]]["name"] for t in mails} == {"order"}
    regions = Counter(r["name"] for g in got["goroutines"] for r in g["regions"])
    expected = ("whole order", "check", "stock", "price", "send")
    assert [regions[name] for name in expected] == [5] * 5
    # A goroutine that starts in a region inherits its task, in a region without a name.
    assert regions[""] == 5
    assert regions["never ended"] == regions["no task"] == 1
    logs = Counter(log["category"] for log in got["logs"])
    assert logs == {"number": 5, "state": 5, "": 1}
    (odd,) = [log["message"] for log in got["logs"] if not log["category"]]
    assert odd.startswith("é世 \0")


@each("samples")
def test_cpu_samples_are_in_the_trace_since_1_19(go, path):
    got = made(path)
    if release(go) < (1, 19):
        assert got["cpu_samples"] == []
        return
    frames = Counter(
        f["func"] for s in got["cpu_samples"] for f in got["stacks"][s["stack"]]
    )
    assert frames["main.spin"] > 0


@each("whole")
def test_some_goroutines_live_longer_than_the_trace(go, path):
    got = made(path)
    whole = [
        g for g in got["goroutines"]
        if g["from"] == "Undetermined" and g["end_ns"] is None
    ]  # fmt: skip

    life = got["last_ns"] - got["first_ns"]

    def always(*states):
        return {g["name"] for g in whole if sum(g[state] for state in states) == life}

    running = always("exec_ns", "sched_wait_ns")
    blocked_all = {g["name"] for g in whole if sum(g["block_ns"].values()) == life}
    calling = always("syscall_ns", "syscall_block_ns")
    # The name is a stack's; there is none of what never stopped, and before 1.23
    # of what did not move.
    assert running & {"main.runningThroughout", ""}
    if release(go) >= (1, 23):
        assert {"main.blockedThroughout", "main.asleepThroughout"} <= blocked_all
        assert "main.inSyscallThroughout" in calling
    else:
        assert "" in blocked_all & calling


@each("profiled")
def test_system_calls_go_on_before_and_after_the_trace(go, path):
    got = made(path)
    open_ = [g for g in got["goroutines"] if g["end_ns"] is None and g["syscall_ns"]]
    before = [g["name"] for g in open_ if g["from"] == "Undetermined"]
    since = [g["name"] for g in open_ if g["from"] != "Undetermined"]
    assert "main.inSyscallToTheEnd" in since
    # Before 1.23 there is no name of what did not move.
    assert "main.inSyscallThroughout" in before or (release(go) < (1, 23) and before)
    # Before 1.26 the writer of a profile sleeps between its reads.
    assert release(go) < (1, 26) or "runtime/pprof.profileWriter" in before


@each("generations")
def test_a_trace_has_many_generations_since_1_22(go, path):
    got = made(path)
    generations = len(got["syncs"]) - 1
    assert generations >= 8 if release(go) >= (1, 22) else generations == 1
    long = region(got, "long")
    assert long["end_ns"] - long["start_ns"] > 10**9
    snapshots = [s["clock_wall_ns"] for s in got["syncs"][:-1]]
    assert (None not in snapshots) == (release(go) >= (1, 25))


@each("coroutines")
def test_coroutines_switch(go, path):
    events = oracle.footprint(path)
    assert events["GoSwitch"].count >= 500
    assert events["GoCreateBlocked"].count == 5
    assert events["GoSwitchDestroy"].count == 5
    assert made(path)["error"] is None


@each("alloc")
def test_allocations_are_in_the_trace(go, path):
    got = made(path)
    assert got["experimental"]["HeapObjectAlloc"] > 1000
    assert got["experimental"]["SpanAlloc"] > 0
    assert sum(got["experimental_batches"].values()) > 0


@each("flight")
def test_a_flight_recorder_forgets_how_it_began(go, path):
    got = made(path)
    # The first generation's number follows the header and the type of a batch.
    assert path.read_bytes()[17] > 1
    assert "stop-the-world (start trace)" not in got["range_counts"]
    names = {g["name"] for g in got["goroutines"] if g["from"] == "Undetermined"}
    assert {"main.churn.func1", "main.blockedThroughout"} <= names
    long = region(got, "long")
    assert long["start_ns"] is None
    assert long["end_ns"] is not None


@pytest.mark.parametrize("name", daily(make.TESTPROGS, make.TESTPROGS[:1]))
def test_go_s_own_programs_are_traced(name):
    assert oracle.summary(make.goroot_trace(name))["error"] is None


def test_a_big_trace_has_about_the_events_asked_for(tmp_path):
    path = make.big(tmp_path / "big.trace", 200_000)
    count = sum(events.count for events in oracle.footprint(path).values())
    assert 150_000 < count < 300_000
    before = path.stat().st_mtime_ns
    assert make.big(path, 200_000).stat().st_mtime_ns == before
