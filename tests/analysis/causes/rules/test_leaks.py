"""Leaked goroutines: counts as they are, places, lines; silence where sides are alike."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.parked import WAITS, line_at, stacks_of_both
from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.causes.tree import tree
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.measures import Judged
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import rated
from pprofdiff.model.profiles.profile import stack_names
from tests.analysis.growing import comparison, findings, goroutines
from tests.analysis.leaking import LEAKED, dumped, leaks

PARK = "runtime.gopark"
MAIN = ("runtime/pprof.(*Profile).WriteTo", "main.main", "runtime.main")
SEND = (PARK, "runtime.chansend", "runtime.chansend1", ("a.com/s.Ask", "/s/ask.go", 12))
LATER = (
    PARK,
    "runtime.chansend",
    "runtime.chansend1",
    ("a.com/s.Ask", "/s/ask.go", 20),
)
LOCK = (
    PARK, "runtime.semacquire1", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock",
    ("a.com/s.Get", "/s/get.go", 7), ("a.com/s.Serve", "/s/serve.go", 30),
)  # fmt: skip


def leaked(base, new, **how):
    return findings(leaks(base), leaks(new), **how).get("goroutine-leak")


def test_a_leak_names_its_number_its_place_and_its_line():
    got = leaked({}, {SEND: 3194})
    assert got.title == (
        "0 → 3,194 leaked goroutines: blocked forever in s.Ask (chan send)"
    )
    assert got.text.startswith("s.Ask (chan send) at ask.go:12: 0 → 3,194. GC found")
    assert got.advice == (
        "Give the channel of the send at ask.go:12 room, or select on ctx.Done() there."
    )
    assert (got.severity, got.direction) == ("major", "worse")
    back = leaked({SEND: 3194}, {})
    assert back.title == (
        "3,194 → 0 leaked goroutines: blocked forever in s.Ask (chan send)"
    )
    assert (back.severity, back.direction, back.advice) == ("major", "better", "")


def test_of_several_lines_the_one_that_most_wait_at():
    """Lines of base have other numbers, and count where base has more."""
    assert "at ask.go:20: 5 → 900" in leaked({SEND: 5}, {SEND: 100, LATER: 800}).text
    assert "at ask.go:12: 900 → 5" in leaked({SEND: 800, LATER: 100}, {LATER: 5}).text


def test_a_lock_and_what_the_goroutine_started_as():
    got = leaked({SEND: 40}, {SEND: 40, LOCK: 200})
    assert got.title == (
        "40 → 240 leaked goroutines: blocked forever in s.Get (sync.Mutex.Lock)"
    )
    assert "at get.go:7, started as s.Serve: 0 → 200" in got.text
    assert got.advice == "Unlock the mutex that get.go:7 waits for on every path."


def test_a_place_that_leaks_less_is_no_part_of_more():
    got = leaked({LOCK: 50}, {SEND: 400, LOCK: 20})
    assert got.title == (
        "50 → 420 leaked goroutines: 400 more are blocked forever in s.Ask (chan send)"
    )


@pytest.mark.parametrize("sides", [
    ({}, {}), ({SEND: 900}, {SEND: 900}), ({SEND: 900}, {SEND: 1000}),
    ({SEND: 900}, {LOCK: 910}), ({}, {SEND: 0}),
])  # fmt: skip
def test_sides_that_leak_alike_are_no_finding(sides):
    assert leaked(*sides) is None


def test_one_goroutine_is_a_proof_but_minor():
    assert leaked({}, {SEND: 1}).severity == "minor"


def test_a_new_leak_stands_first_whichever_side_is_faster():
    other = Finding("work-vanished", "", "", (), severity="major", direction="better")
    other = other._replace(weight=0.9)
    worse, better = leaked({}, {SEND: 3194}), leaked({SEND: 3194}, {})
    for way in ("worse", "better", None):
        assert tree(None, [other, worse], way)[0][0].id == "goroutine-leak"
    slower = other._replace(direction="worse")
    assert tree(None, [better, slower], "worse")[0][0].id == "work-vanished"


def test_a_snapshot_is_not_divided_by_the_work():
    how = {"settings": Settings(work=rated((5000, 200_000)))}
    diff = comparison(leaks({}), leaks({SEND: 3194}), **how).of_type("goroutineleak")
    assert diff.normalization.mode == "absolute"
    assert "0 → 3,194 leaked goroutines" in leaked({}, {SEND: 3194}, **how).title


def test_next_to_it_a_goroutine_profile_asks_for_no_second_capture():
    base, new = {MAIN: 30}, {MAIN: 30, SEND: 3000}
    alone = findings(goroutines(base), goroutines(new))
    assert "once more" in alone["goroutine-growth"].advice
    both = findings(
        (goroutines(base), leaks({})), (goroutines(new), leaks({SEND: 3010}))
    )
    assert list(both) == ["goroutine-leak"]


def test_go_says_the_same_of_every_way_to_wait(load_capture):
    profile = load_capture(LEAKED / "goroutineleak.pb.gz")
    diff = comparison(leaks({}), profile).of_type("goroutineleak")
    names, stacks = diff.paired_functions.names, stacks_of_both(diff)
    found: Counter[tuple[str, str, str]] = Counter()
    for function, _, wait, line, _, number in zip(*stacks, strict=True):
        found[names[function], WAITS[wait], line_at(profile, line)] += number
    assert found == dumped()
    got = findings(leaks({}), profile)["goroutine-leak"]
    assert "main.two (chan send) at main.go:48: 0 → 3" in got.text


def test_a_nil_channel_is_made_not_closed(load_capture):
    profile = load_capture(LEAKED / "goroutineleak.pb.gz")
    for function, wait, advice in (
        ("main.sendNil", "chan send", "Make the channel of the send at main.go:83"),
        (
            "main.receiveNil",
            "chan receive",
            "Make the channel received from at main.go",
        ),
    ):
        stacks, _ = stack_names(profile)
        kept = np.array([function in stack for stack in stacks])
        values = profile.values * kept[:, None]
        got = findings(leaks({}), profile.with_values(values))["goroutine-leak"]
        assert got.title.endswith(f"in {function} ({wait} (nil chan))")
        assert got.advice.startswith(advice)


def test_goroutines_that_are_not_leaked_are_another_finding():
    base, new = {MAIN: 30}, {MAIN: 30, SEND: 3000}
    found = findings(
        (goroutines(base), leaks({LOCK: 9})), (goroutines(new), leaks({LOCK: 9}))
    )
    assert list(found) == ["goroutine-growth"]
    assert "are not leaked" in found["goroutine-growth"].advice


@pytest.mark.parametrize("label", ["base", "new"])
def test_leaks_of_a_side_that_alone_has_a_profile_are_no_change(label):
    own = goroutines({MAIN: 30}), leaks({SEND: 40, LOCK: 2})
    alone = (goroutines({MAIN: 30}),)
    sides = (own, alone) if label == "base" else (alone, own)
    got = findings(*sides)["goroutine-leak"]
    assert got.title.startswith(f"42 leaked goroutines in {label}: blocked forever in")
    assert got.direction == "neutral"
    values = [(fact.base, fact.new) for fact in got.evidence]
    numbers = [42, 40, 2]
    assert values == [(n, None) if label == "base" else (None, n) for n in numbers]
    none = goroutines({MAIN: 30}), leaks({})
    assert "goroutine-leak" not in findings(none, alone)


@pytest.mark.parametrize(
    ("sides", "outcome"),
    [
        (({}, {SEND: 40}), "fail"),
        (({SEND: 40}, {SEND: 42}), "cannot tell"),
        (({SEND: 40}, {SEND: 4000}), "fail"),
        (({SEND: 40}, {}), "pass"),
    ],
)
def test_a_gate_knows_what_is_leaked(sides, outcome):
    compared = comparison(*map(leaks, sides))
    gate = Gate.of(["total@goroutineleak:+5"])
    verdict = judge(gate, Judged(compared, find(compared)))
    assert verdict.rules[0].outcome == outcome
