"""Goroutine growth: reported for places with far more, not for what comes and goes."""

from __future__ import annotations

import re

import pytest

from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import rated
from tests.analysis.growing import findings, goroutines, served

PARK = "runtime.gopark"
AUDIT = (PARK, "runtime.chanrecv", "runtime.chanrecv1", "a.com/s.Audit")
HANDLE = (PARK, "runtime.selectgo", "a.com/s.Handle", "net/http.(*conn).serve")
LOCKED = (
    PARK, "runtime.semacquire1", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock",
    "a.com/s.Handle", "net/http.(*conn).serve",
)  # fmt: skip
READ = (
    PARK, "runtime.netpollblock", "internal/poll.runtime_pollWait", "net.(*conn).Read",
    "net/http.(*conn).serve",
)  # fmt: skip
WRITE = (PARK, "runtime.selectgo", "net/http.(*persistConn).writeLoop")
MAIN = ("runtime/pprof.(*Profile).WriteTo", "main.main", "runtime.main")

BASE = {HANDLE: 20, READ: 30, WRITE: 25, MAIN: 1}


def grown(base, new, **how):
    return findings(goroutines(base), goroutines(new), **how).get("goroutine-growth")


def test_goroutines_that_nobody_ends():
    findings_of = grown(BASE, BASE | {AUDIT: 17_000})
    assert findings_of.title == (
        "76 → 17,076 goroutines: 17,000 more wait in s.Audit (chan receive)"
    )
    assert findings_of.text == "s.Audit (chan receive) at main.go:1: 0 → 17,000."
    assert (findings_of.severity, findings_of.direction) == ("major", "worse")
    facts = {fact.what: (fact.base, fact.new) for fact in findings_of.evidence}
    assert facts == {
        "goroutines": (76, 17_076),
        "in s.Audit (chan receive)": (0, 17_000),
    }
    back = grown(BASE | {AUDIT: 17_000}, BASE)
    assert back.title == (
        "17,076 → 76 goroutines: 17,000 fewer wait in s.Audit (chan receive)"
    )
    assert (back.severity, back.direction, back.advice) == ("major", "better", "")


def test_why_most_of_the_additional_ones_wait_and_who_started_them():
    findings_of = grown(BASE, BASE | {LOCKED: 3000, HANDLE: 25})
    assert "3,005 more wait in s.Handle (sync.Mutex.Lock)" in findings_of.title
    assert "started as http.(*conn).serve" in findings_of.text


def test_connections_are_reported_by_the_root_that_reads():
    findings_of = grown(BASE, BASE | {READ: 9000})
    assert "8,970 more wait in http.(*conn).serve (IO wait)" in findings_of.title


@pytest.mark.parametrize("number", [0, 25, 60])
def test_a_few_more_are_what_an_instant_shows(number):
    assert grown(BASE, BASE | {AUDIT: number // 2, READ: 30 + number}) is None


def test_some_hundreds_are_minor():
    assert grown(BASE, BASE | {AUDIT: 400}).severity == "minor"


def test_a_part_of_the_goroutines_must_stand_out():
    """Connections come and go by hundreds; the program's own by fewer."""
    many = {HANDLE: 200, READ: 800, WRITE: 600, AUDIT: 10}
    assert grown(many, many | {READ: 3000}) is None
    findings_of = grown(many, many | {AUDIT: 1800})
    assert (findings_of.severity, "s.Audit" in findings_of.title) == ("minor", True)


def test_what_waits_elsewhere_now_is_no_growth():
    there = {AUDIT: 5000, MAIN: 1}
    here = {LOCKED: 5200, MAIN: 1}
    assert grown(there, here) is None


def test_more_of_all_are_the_load():
    more = {stack: 20 * number for stack, number in BASE.items()}
    findings_of = grown(BASE, more)
    assert findings_of.title == "76 → 1,520 goroutines, 20.0×: in all places alike"
    assert (findings_of.severity, findings_of.direction) == ("info", "neutral")


def test_as_many_more_as_the_work_are_no_change():
    more = BASE | {HANDLE: 2000}
    assert grown(BASE, more).severity == "major"
    assert grown(BASE, more, settings=Settings(work=rated((10, 900)))) is None


def test_an_empty_profile_is_no_base():
    assert grown({}, BASE) is None


def test_a_server_whose_requests_leave_one_behind(load_capture):
    def findings_of(base, new):
        sides = (load_capture(served(s) / "goroutine.pb.gz") for s in (base, new))
        return findings(*sides).get("goroutine-growth")

    grew = findings_of("none", "goroutines")
    assert re.fullmatch(
        r"\d+ → [\d,]+ goroutines: [\d,]+ more wait in main\.\(\*server\)\.audit "
        r"\(chan receive\)",
        grew.title,
    )
    assert "main.(*server).audit (chan receive) at main.go:" in grew.text
    assert (grew.severity, grew.direction) == ("major", "worse")
    for base, new in (("none", "again"), ("again", "none"), ("none", "heap")):
        assert findings_of(base, new) is None
