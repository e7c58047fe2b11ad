"""Functions that goroutines take longer in per op, by what fgprof captured."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.api.comparison import compare_paths
from tests.conftest import DATA

SERVER = DATA / "fgprof"
# Requests that `quotes.go` answered.
REQUESTS = {"base": 6446, "new": 1368}


def found(base, new):
    """Return the causes of a pair of sides of the server, by id."""
    sides = [SERVER / f"{side}.pb.gz" for side in (base, new)]
    settings = Settings(work=counted((REQUESTS[base], REQUESTS[new])))
    return find(compare_paths(*sides, settings).data).causes


def test_the_lock_is_first_and_idle_workers_are_none():
    first, *others = found("base", "new")
    assert first.title == "main.audit takes time in new only: 0.0 → 17.0 ms/op"
    assert first.text == "Most of it is waiting (sync.Mutex.Lock): 0.0 → 12.5 ms/op."
    # Workers are idle, and clients wait for what audit does.
    assert not others


def test_the_other_way_it_is_better():
    first = found("new", "base")[0]
    assert (first.id, first.direction) == ("goroutine-time", "better")
    assert "main.audit takes time in base only" in first.title


def test_one_side_twice_has_no_cause():
    assert found("new", "new") == ()


@pytest.mark.parametrize("work", [(), ("--work", "6446:1368")])
def test_what_one_side_lacks_is_known_without_work(cli, work):
    out = cli(*work, *(SERVER / f"{side}.pb.gz" for side in ("base", "new"))).out
    assert ("operation count unknown" in out) == (not work)
    assert "1. main.audit takes time in new only: 0.0" in out
    assert "\n2. " not in out


def test_folded_stacks_of_parked_goroutines_are_their_time(cli):
    sides = [SERVER / f"{side}.folded" for side in ("base", "new")]
    out = cli("--work", "400:400", *sides).out
    assert "1. main.fetchQuote takes 3.50× the time: 0.273 → 0.953 samples/op" in out
    assert "Most of it is waiting (sleep)" in out
    assert "Scheduler" not in out
    # Not time.Sleep, which all of its samples are in.
    assert "main.fetchQuote  (+2 in its chain)" in cli(*sides).out
