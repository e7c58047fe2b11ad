"""Who waits, and in which system call: reported for programs whose waits are planted."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import permutations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.causes.traces import mostly
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import rated
from pprofdiff.api.comparison import compare_paths
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture
from tests.analysis.growing import findings
from tests.analysis.traces.capture import planted
from tests.field.capture import PAIRS

from .capture import RATES, SOURCE, kept

OFF_CPU = ("blocked-", "syscall-")


@cache
def run(kind, number=0):
    """Return (trace, operations a second) of a run of a kind of program."""
    trace = decode(kept(kind, number), f"{kind}.trace")
    return trace, json.loads(RATES.read_text("utf-8"))[f"{kind}-{number}"]


def findings_of(base, new, *, by_operation):
    """Return what is found of two runs, by id."""
    traces = (Capture("trace.out", "trace", trace) for trace, _ in (base, new))
    work = rated((base[1], new[1])) if by_operation else None
    return findings(*traces, settings=Settings(work=work))


def with_line(words):
    """Return words in which code in braces is the first line of `SOURCE` that has it."""
    before, code, after = re.split("[{}]", words)
    number = next(
        i for i, line in enumerate(SOURCE.read_text().splitlines(), 1) if code in line
    )
    return f"{before}{SOURCE.name}:{number}{after}"


@pytest.mark.parametrize("by_operation", [True, False])
@pytest.mark.parametrize(
    ("more", "less", "id_", "words"),
    [
        ("synced", "unsynced", "syscall-fsync",
         "syscall.Fsync, called by main.(*store).save ({s.file.Sync}),"),
        ("locked", "shared", "blocked-sync",
         "main.(*store).lookup ({s.mu.Lock}) waits in sync.(*Mutex).Lock"),
        ("asked", "alone", "blocked-network",
         "main.(*store).ask ({io.ReadFull}) waits for the network"),
    ],
)  # fmt: skip
def test_what_is_gone_is_named_with_its_caller(more, less, id_, words, by_operation):
    for base, new, way in ((more, less, "better"), (less, more, "worse")):
        found = findings_of(run(base), run(new), by_operation=by_operation)
        finding = found[id_]
        assert finding.title.startswith(with_line(words))
        assert (finding.severity, finding.direction) == ("major", way)
        # What explains most of the goroutines' time stands first.
        assert next(iter(found)) == id_
        gone = finding.evidence[0]
        assert (gone.base == 0, gone.new == 0) == (way == "worse", way == "better")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["synced", "unsynced", "locked", "shared", "asked"])
def test_two_runs_of_one_build_show_nothing_that_matters(kind):
    for base, new in permutations([run(kind, 0), run(kind, 1)]):
        for by_operation in (True, False):
            found = findings_of(base, new, by_operation=by_operation)
            assert [f.title for f in found.values() if f.severity != "info"] == []


@pytest.mark.parametrize("by_operation", [True, False])
def test_a_wait_that_is_new_is_reported_and_not_what_happens_less_for_it(by_operation):
    words = with_line("main.(*store).limit ({select}) waits in select for")
    for base, new, way in (
        ("asked", "limited", "worse"),
        ("limited", "asked", "better"),
    ):
        found = findings_of(run(base), run(new), by_operation=by_operation)
        assert [id_ for id_ in found if id_.startswith(OFF_CPU)] == [
            "blocked-own-select"
        ]
        assert next(iter(found)) == "blocked-own-select"
        finding = found["blocked-own-select"]
        assert (finding.title.startswith(words), finding.direction) == (True, way)
        # Its numbers are its own: none on one side.
        gone = finding.evidence[0]
        assert (gone.base == 0, gone.new == 0) == (way == "worse", way == "better")


@pytest.mark.parametrize("by_operation", [True, False])
def test_goroutines_that_begin_more_often_for_each_of_others(by_operation):
    each = "per op" if by_operation else r"for each of main\.answer"
    title = (
        r"Goroutines of main\.part start (\S+) → (\S+) times "
        rf"{each}, most of them under main\.\(\*store\)\.divide"
    )
    for base, new, way in (
        ("parts1", "parts8", "worse"),
        ("parts8", "parts1", "better"),
    ):
        found = findings_of(run(base), run(new), by_operation=by_operation)[
            "goroutine-starts"
        ]
        match = re.fullmatch(title, found.title)
        assert match is not None, found.title
        wanted = (1, 8) if way == "worse" else (8, 1)
        # What is counted next to a trace lasts a little longer than it.
        assert [float(n) for n in match.groups()] == pytest.approx(wanted, rel=0.1)
        assert found.direction == way


def test_more_operations_begin_more_goroutines():
    # As many per op: nothing shows which of them stands for the work.
    one, other = run("parts8", 0), run("parts8", 1)
    for by_operation in (True, False):
        assert "goroutine-starts" not in findings_of(
            one, other, by_operation=by_operation
        )


@pytest.mark.parametrize(
    ("figures", "left", "is_so"),
    [
        ((0.20, 0.01), (0.27, 0.10), True),  # 20 times less, 7.4 times less run
        ((0.20, 0.01), (0.27, 0.02), False),
        ((0.05, 0.30), (0.10, 0.15), True),
        ((0.05, 0.30), (0.05, 0.60), False),  # that moved the other way
        ((0.20, 0.01), (0.10, 0.0), False),
        ((0.10, 0.10), (0.10, 0.20), False),
    ],
)
def test_what_goes_with_something_else(figures, left, is_so):
    assert mostly(figures, left=left) == is_so
    assert mostly(figures[::-1], left=left[::-1]) == is_so


def test_idle_workers_cost_nothing():
    # Ten times the jobs: each of the pool's goroutines waits for them less.
    for base, new in permutations([run("5000"), run("500")]):
        for by_operation in (True, False):
            found = findings_of(base, new, by_operation=by_operation)
            assert "blocked-receive" not in found


def found_in(pair, *names):
    """Return what is found of a pair of the field test, by id; `names` are its files."""
    sides = (PAIRS / pair / side for side in ("base", "new"))
    both = [[path / name for name in names] if names else path for path in sides]
    return {f.id: f for f in find(compare_paths(*both).data).found}


@pytest.mark.slow
def test_who_waits_for_what_others_do_is_behind_it_and_no_cause_of_its_own():
    found = found_in("sync-added-badger")
    assert [id_ for id_ in found if id_.startswith(OFF_CPU)] == ["syscall-msync"]
    sync = found["syscall-msync"]
    behind = sync.text.partition("Behind it, ")[2]
    assert "badger.(*request).Wait (value.go:694)" in behind
    # Goroutines that wait for work do not wait for it.
    assert ").process " not in behind
    # A client that waits for a server of its process is behind the lock in that.
    found = found_in("third-edge-one-lock")
    lock = next(f for f in found.values() if f.id.startswith(OFF_CPU))
    assert (lock.id, lock.severity) == ("blocked-sync", "major")
    assert lock.title.endswith(", held up by time.Sleep in main.grant")
    assert "readNextByteBuffer" in lock.text


@pytest.mark.slow
def test_profiles_of_locks_are_joined_by_what_a_trace_shows():
    for files, words in (
        (
            # Without operations, waits in a trace this short may be of a moment.
            ("mutex.pb.gz", "cpu.pb.gz", "trace.out"),
            "What held them up in the trace: time.Sleep in main.grant",
        ),
        (
            ("mutex.pb.gz", "cpu.pb.gz"),
            "A trace of each side would show what holds them up.",
        ),
    ):
        assert words in found_in("third-edge-one-lock", *files)["contention"].text


@pytest.mark.slow
def test_as_operations_take_longer_mostly_for_one_end_the_trace_is_no_moment():
    found = found_in("third-edge-one-lock")
    assert (found["blocked-sync"].severity, "contention" in found) == ("major", False)


@pytest.mark.slow
def test_an_end_that_changed_is_found_where_goroutines_wait_for_several_things():
    found = found_in("chain-invoices-open")["blocked-select"]
    assert found.title.endswith(", held up by main.(*books).invoice running")
    # At the place, waits for all ends differ less than twofold.
    assert "they take 8.1 → 12.5 ms per op for all reasons" in found.text
    place = next(f for f in found.evidence if f.what.endswith("for all reasons"))
    assert place.new < 2 * place.base


@pytest.mark.slow
def test_what_waits_for_a_call_is_counted_with_it():
    found = found_in("chain-receipts-each")["syscall-fdatasync"]
    assert "with waits for it 7.5 → 50.1 ms per op" in found.title
    assert "Behind it, bbolt.(*DB).beginRWTx (db.go:824)" in found.text


# Of each mode of tests/workloads/waits, what its name is in; pingpong is one goroutine's
# work on the way to another's, pipeline one wait, begun has no end, and callee is cpu
# under another name.
HOLDS = {
    "fsync": "lockFsync", "sleep": "lockSleep", "cpu": "lockCPU", "channel": "answers",
    "group": "slowMember", "worker": "serve", "timer": "lockTimer", "flight": "flight",
    "pool": "pool",
}  # fmt: skip


@pytest.mark.matrix
@pytest.mark.parametrize(("base", "new"), [*permutations(HOLDS, 2)])
def test_the_first_finding_names_what_a_lock_or_a_channel_was_held_up_by(base, new):
    found = find(compare_paths([planted(base)], [planted(new)]).data).found
    first = next(f for f in found if f.id.startswith((*OFF_CPU, "wait-")))
    ways = {way for way, mode in (("better", base), ("worse", new))
            if re.search(rf"main\.{HOLDS[mode]}\b", first.title)}  # fmt: skip
    assert first.direction in ways


@pytest.mark.parametrize("by_operation", [True, False])
@pytest.mark.parametrize("kinds", [*permutations(("attended", "held"))])
def test_a_client_is_behind_what_holds_up_the_server_of_its_process(
    kinds, by_operation
):
    found = findings_of(*map(run, kinds), by_operation=by_operation)
    (cause,) = (one for one in found.values() if one.severity != "info")
    assert "main.(*store).hold" in cause.title
    assert cause.direction == ("worse" if kinds[1] == "held" else "better")
    # What main.call waits for is shown, and is no cause.
    assert "main.call" in found["blocked-network"].title


def test_readers_of_connections_wait_longer_where_operations_do():
    """Goroutines of gRPC do nothing else: the pool, of two goroutines, is why."""
    sides = [PAIRS / "third-fares-pool" / side for side in ("base", "new")]
    for paths in (sides, sides[::-1]):
        found = find(compare_paths(*paths).data).found
        (first, *_) = (one for one in found if one.id.startswith(("own-", *OFF_CPU)))
        assert "retrieveWorker" in first.title
        assert "main.(*broker).cheapest waits in sync.(*Cond).Wait" in first.title
        said = " ".join(f"{one.title} {one.text}" for one in found)
        assert "controlBuffer" not in said
        assert "readFrameHeader (" not in said
