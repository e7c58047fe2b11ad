"""Runs that were taken in turns are known by when they began, and only then."""

import numpy as np
import pytest
from msgspec.structs import replace

from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.run_order import fleet_caveats, started_first, taken_in_turns
from pprofdiff.model.side import Fleet, Side
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.outcome import outcome_text
from tests.analysis.outcome.evidence import bench, compared_sides, cpu

PAIRS = [(0, 1), (3, 2), (5, 4), (6, 7), (9, 8)]
HOSTS = [("a", "cpu"), ("b", "cpu")]
TIMES = [[pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]]


def side(label, times, values=None):
    """Return a side: a CPU profile and an operation's ns a run, begun at these times."""
    captures = []
    for run, at in enumerate(times):
        (profile,) = cpu({"main.f": 100})
        time_ns = None if at is None else (100 + at) * 10**9
        content = replace(profile.content, time_ns=time_ns)
        captures.append(replace(profile, content=content, run=run, run_known=True))
        if values is not None:
            (text,) = bench({"Parse": values[run]})
            captures.append(replace(text, run=run, run_known=True))
    return Side(label, tuple(captures))


def pairs(base, new):
    return taken_in_turns(side("base", base), side("new", new))


def test_blocks_of_one_run_a_side_are_pairs():
    assert pairs(*TIMES) == 5
    assert pairs(*TIMES[::-1]) == 5


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (range(5), range(10, 15)),  # All of base first.
        ([0, 2, 4, 6], [1, 3, 5, 7]),  # Too few.
        ([0, 2, 4, 6, 8], [1, 3, 5, 7, 9, 10]),  # One has no neighbour.
        ([2, 0, 4, 6, 8], [1, 3, 5, 7, 9]),  # Numbers do not follow time.
        ([None, 2, 4, 6, 8], [1, 3, 5, 7, 9]),  # One does not say.
    ],
)
def test_other_runs_are_none(base, new):
    assert pairs(base, new) == 0


@pytest.mark.parametrize(
    ("base", "new", "first"),
    [
        ([0, 1, 2], [3, 4], "base"),
        ([3, 4], [2, 0, 1], "new"),
        ([0, 1, 3], [2, 4], None),
        ([0, 1, 2], [2, 3], None),  # Two began together.
        ([0, 1, 2], [3], None),  # One run shows no order.
        ([0, 1, 2], [3, None], None),  # Nor does the one that knows.
        ([0, None, 2], [3, 4], "base"),
    ],
)
def test_one_side_began_first(base, new, first):
    compared_sides = started_first(side("base", base), side("new", new))
    assert (None if compared_sides is None else compared_sides.label) == first


def test_hosts_of_another_hour_are_doubted():
    sides = [
        replace(side(label, times), fleet=Fleet("", dict.fromkeys(HOSTS), {}))
        for label, times in (("base", [4, 5]), ("new", [1, 2]))
    ]
    (doubt,) = (w for w in fleet_caveats(*sides) if w.id == "one_after_the_other")
    assert doubt.text.startswith("profiles of all hosts of new began first")
    together = sides[0], replace(sides[0], label="new")
    assert "one_after_the_other" not in {w.id for w in fleet_caveats(*together)}


@pytest.mark.slow
def test_outcome_and_gate_take_the_drift_out():
    drift = np.exp(0.2 * np.arange(5))
    noise = [0.01, -0.01, 0.0, 0.01, -0.01]
    values = [drift * (1 + np.array(noise)), drift * 1.06]
    sides = [
        side(label, times, which.tolist())
        for label, times, which in zip(("base", "new"), TIMES, values, strict=True)
    ]
    gate = Gate.of(["bench:ns/op:+1%"])
    both = report_of(compared_sides(*(s.captures for s in sides)), gate=gate)
    assert both.outcome.verdict == "slower"
    (basis,) = outcome_text(both.outcome).below
    assert (
        basis.text
        == "From BenchmarkParse, 5 runs per side in turns, compared in pairs."
    )
    assert both.verdict.outcome == "fail"
    late = side("new", [at + 100 for at in TIMES[1]], values[1].tolist())
    apart = report_of(compared_sides(sides[0].captures, late.captures), gate=gate)
    assert apart.outcome.verdict == "unknown"
    assert apart.verdict.outcome == "cannot tell"
    doubts = [[w.id for w in report.warnings] for report in (both, apart)]
    assert ["one_after_the_other" in ids for ids in doubts] == [False, True]
