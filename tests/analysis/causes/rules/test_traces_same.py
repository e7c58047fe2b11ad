"""Nothing above "info" is said of two runs of one build."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.judge.calibration import LONG_NS
from pprofdiff.loaders.traces import decode
from pprofdiff.model.side import Capture, Side
from tests.traces import make
from tests.traces.toolchains import MissingGoError, version

from .capture import SITUATIONS, kept

EVENTS = 4_000_000


def capture(name, data):
    """Return a capture of a trace."""
    return Capture(name, "trace", decode(data, name))


@cache
def traced(maker):
    """Return a run of a situation, new in each session."""
    path = make.trace(maker, made_by())
    return capture(path.name, path.read_bytes())


def made_by():
    """Return the version of the Go on PATH."""
    try:
        return version()
    except MissingGoError as missing:
        pytest.skip(str(missing))


def findings(base, new):
    """Return what is found of two traces."""
    sides = [Side(s, (run,)) for s, run in (("base", base), ("new", new))]
    return find(compare_sides(*sides)).found


@pytest.mark.slow
@pytest.mark.parametrize("maker", SITUATIONS)
def test_of_two_runs_of_one_build_nothing_matters(maker):
    runs = [capture(maker, kept(maker, number)) for number in range(2)]
    for base, new in permutations(runs):
        found = findings(base, new)
        assert [(f.id, f.title) for f in found if f.severity != "info"] == []
        assert all(f.evidence for f in found)


def long_run(path):
    """Run a busy program for as long as findings ask for, and return its trace."""
    events = EVENTS
    while True:
        try:
            make.big(path, events)
        except MissingGoError as missing:
            pytest.skip(str(missing))
        trace = decode(path.read_bytes(), path.name)
        path.unlink()
        if trace.end_ns - trace.start_ns >= LONG_NS:
            return Capture(path.name, "trace", trace)
        events *= 2


@pytest.mark.whole
@pytest.mark.go
def test_nor_of_runs_that_are_long_enough_to_say_so(tmp_path):
    found = [long_run(tmp_path / f"big{number}.trace") for number in range(2)]
    for base, new in permutations(found, 2):
        got = findings(base, new)
        assert [(f.id, f.title) for f in got if f.severity != "info"] == []


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("maker", SITUATIONS)
def test_of_a_run_and_itself_nothing_is_said(maker):
    run = traced(maker)
    assert findings(run, run) == ()


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize(("one", "other"), list(combinations(SITUATIONS, 2)))
def test_of_any_two_programs_findings_have_numbers_and_turn_round(one, other):
    there = findings(traced(one), traced(other))
    back = findings(traced(other), traced(one))
    opposite = {"better": "worse", "worse": "better", "neutral": "neutral"}
    turned = {f.id: (f.severity, opposite[f.direction]) for f in back}
    assert {f.id: (f.severity, f.direction) for f in there} == turned
    assert sum(f.id.startswith("blocked-") for f in there) <= 2
    for finding in there:
        words = f"{finding.title} {finding.text}"
        assert any(letter.isdigit() for letter in words)
        assert not {"nan", "inf", "None"} & set(words.split())
