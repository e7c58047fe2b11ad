"""Noise never trips a rule: eight runs of one build, every pair, both ways."""

from __future__ import annotations

from itertools import permutations

import pytest

from pprofdiff.diff.bundle import compare_bundles
from pprofdiff.diff.evidence import Evidence
from pprofdiff.diff.findings.rules import find
from pprofdiff.diff.gate import measures
from pprofdiff.diff.gate.judging import judge
from pprofdiff.diff.gate.rules import Gate
from pprofdiff.diff.quiet import changed
from pprofdiff.diff.side import Run
from pprofdiff.goruntime.rules import rules

GROUPS = [
    f"group:{group.id}:+0{unit}" for group in rules().groups for unit in ("%", "pp")
]
CATEGORIES = [f"category:{name}:+0{unit}" for name in rules().categories for unit in ("%", "pp")]  # fmt: skip
TABLES = [f"{kind}:.:+0{unit}" for kind in ("cum", "flat", "package") for unit in ("%", "pp")]  # fmt: skip
ALL = ["total:+0%", "finding:minor", *GROUPS, *CATEGORIES, *TABLES]


@pytest.fixture(scope="module")
def pairs(load_capture, data_folder):
    """Return every ordered pair of runs, compared, with its findings."""
    paths = sorted((data_folder / "unchanged").glob("run*/cpu.pb.gz"))
    sides = [Evidence(p.parent.name, (Run(p.name, load_capture(p)),)) for p in paths]
    bundles = [compare_bundles(base, new) for base, new in permutations(sides, 2)]
    assert len(bundles) == 56
    return [(bundle, find(bundle)) for bundle in bundles]


def test_no_rule_trips_by_noise(pairs):
    """A table holds a false change in one of twenty pairs at most, here in none."""
    gate = Gate.of(ALL)
    tripped = [
        (bundle.base.label, bundle.new.label, ruling.text)
        for bundle, findings in pairs
        for ruling in judge(gate, measures.Judged(bundle, findings)).rules
        if ruling.outcome == "fail"
    ]
    assert tripped == []


def test_but_a_strict_gate_does(pairs):
    gate = Gate.of(["total:+0%", "flat:.:+0%"], strict=True)
    tripped = [0, 0]
    for bundle, findings in pairs:
        for place, ruling in enumerate(
            judge(gate, measures.Judged(bundle, findings)).rules
        ):
            tripped[place] += ruling.outcome == "fail"
    # One of two runs costs more than the other, whichever way they are compared.
    assert tripped == [len(pairs) // 2, len(pairs)]


def test_nothing_counts_as_changed(pairs):
    assert not any(changed(bundle, findings) for bundle, findings in pairs)
