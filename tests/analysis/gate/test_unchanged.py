"""Noise never trips a rule: eight runs of one build in pairs, both ways."""

from itertools import permutations

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.gate import measures
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.side import Capture, Side

GROUPS = [
    f"group:{group.id}:+0{unit}" for group in rules().groups for unit in ("%", "pp")
]
CATEGORIES = [f"category:{name}:+0{unit}" for name in rules().categories for unit in ("%", "pp")]  # fmt: skip
TABLES = [f"{kind}:.:+0{unit}" for kind in ("cum", "flat", "package") for unit in ("%", "pp")]  # fmt: skip
ALL = ["total:+0%", "finding:minor", *GROUPS, *CATEGORIES, *TABLES]


@pytest.fixture(scope="module")
def pairs(load_capture, data_folder, request):
    """Return ordered pairs of runs, compared, with their findings.

    With ``--whole`` it is every one of 56, else every third: all runs, on both sides.
    """
    paths = sorted((data_folder / "unchanged").glob("run*/cpu.pb.gz"))
    sides = [
        Side(p.parent.name, (Capture(p.name, "profile", load_capture(p)),))
        for p in paths
    ]
    assert len(sides) == 8
    step = 1 if request.config.getoption("whole") else 3
    chosen = list(permutations(sides, 2))[::step]
    inputs = [compare_sides(base, new) for base, new in chosen]
    return [(comparison, find(comparison)) for comparison in inputs]


@pytest.mark.slow
def test_no_rule_trips_by_noise(pairs):
    """A table holds a false change in one of twenty pairs at most, here in none."""
    gate = Gate.of(ALL)
    tripped = [
        (comparison.base.label, comparison.new.label, ruling.text)
        for comparison, findings in pairs
        for ruling in judge(gate, measures.Judged(comparison, findings)).rules
        if ruling.outcome == "fail"
    ]
    assert tripped == []


@pytest.mark.slow
def test_but_a_strict_gate_does(pairs):
    gate = Gate.of(["total:+0%", "group:gc:+0%", "flat:.:+0%"], strict=True)
    tripped = [0, 0, 0]
    for comparison, findings in pairs:
        for place, ruling in enumerate(
            judge(gate, measures.Judged(comparison, findings)).rules
        ):
            tripped[place] += ruling.outcome == "fail"
    # The total of shares has no data. No pair shows that GC takes no larger share.
    assert tripped == [len(pairs)] * 3
