"""The first line of a report of benchmarks in turns: verdict, figures, exact counts."""

from __future__ import annotations

import json
import re

import pytest

from pprofdiff.report.json.document import render
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.outcome import told_outcome
from pprofdiff.report.text.plain import render as as_text
from pprofdiff.report.text.report import report_parts
from tests.analysis.measuring import Unit, compared, path

F = path("F")
ONE = Unit({F: 600}, {F: (3, 300)})
THREE = [ONE._replace(name=name) for name in "ABC"]


def of(base, new):
    return report_of(compared(base, new))


def told(base, new):
    """Return the headline, and the sentences below it."""
    told = told_outcome(of(base, new).outcome)
    return told.headline, [sentence.text for sentence in told.below]


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (ONE, ["The same within 2%: time/op 6.12 → 6.12 ms, 0.0% (99% CI −0.3% to +0.3%)",
               "CPU/op 0.0% (not significant)", "B/op 300 B as before",
               "allocs/op 3 as before."]),
        (Unit({F: 300}, {F: (1, 100)}),
         ["Faster: time/op 6.12 → 3.06 ms, −50% (99% CI ", "CPU/op −50%",
          "B/op 300 → 100 B (−67%)", "allocs/op 3 → 1 (−67%)."]),
        (Unit({F: 1800}, {F: (30, 300)}),
         ["Slower: time/op ", " 3.00× (99% CI ", "CPU/op 3.00×", "B/op 300 B as before",
          "allocs/op 3 → 30 (10.0×)."]),
        (Unit({F: 600}), ["The same within 2%: ", "B/op 300 → 0 B", "allocs/op 3 → 0."]),
    ],
)  # fmt: skip
def test_one_benchmark(new, words):
    headline, below = told(ONE, new)
    places = [headline.find(word) for word in words]
    assert -1 not in places
    assert places == sorted(places)
    assert headline.startswith(words[0].partition(":")[0])
    assert below == []


def test_of_several_those_that_moved_are_named():
    slower = [THREE[0]._replace(cpu={F: 1200}), *THREE[1:]]
    headline, below = told(THREE, slower)
    assert headline.startswith("Slower: A 2.00× time/op (")
    assert headline.endswith("; 2 others unchanged.")
    # The geometric mean of 2, 1 and 1.
    (mean,) = below
    assert mean.startswith("All 3 together: time/op 6.12 → 7.71 ms, +26% (99% CI ")


def test_benchmarks_that_moved_both_ways_are_no_verdict():
    mixed = [
        THREE[0]._replace(cpu={F: 1200}),
        THREE[1]._replace(cpu={F: 450}),
        THREE[2],
    ]
    headline, below = told(THREE, mixed)
    assert headline.startswith("Both ways: 1 of 3 benchmarks slower, A 2.00× time/op (")
    assert "; 1 faster, B −25% time/op (" in headline
    assert headline.endswith("; the other one unchanged.")
    assert [line.split(":")[0] for line in below] == ["All 3 together"]


def test_counts_and_benchmarks_are_in_json():
    outcome = json.loads(render(of(THREE, THREE)))["outcome"]
    assert outcome["confidence"] == 0.99
    assert outcome["counted"] == [
        {
            "unit": "B/op",
            "base": pytest.approx(300),
            "new": pytest.approx(300),
            "noise": True,
        },
        {
            "unit": "allocs/op",
            "base": pytest.approx(3),
            "new": pytest.approx(3),
            "noise": True,
        },
    ]
    units = outcome["units"]
    assert [unit["name"] for unit in units] == ["A", "B", "C"]
    assert [u["ratio"] for u in units] == pytest.approx([1, 1, 1])
    assert all(u["low"] < u["ratio"] < u["high"] for u in units)
    assert json.loads(render(of(ONE, ONE)))["outcome"]["units"] == []


def test_what_nobody_allocates_is_no_figure():
    headline, _ = told(Unit({F: 600}), Unit({F: 600}))
    assert "/op" in headline
    assert "B/op" not in headline
    assert "allocs/op" not in headline


def test_what_moved_most_has_no_more_words_than_it_needs():
    """Its causes say what they count; tables of other captures do not have such."""
    both = {F: 600, path("G", "F"): 600}
    report = of(Unit(both), Unit({F: 1800, path("G", "F"): 900}))
    text = as_text(report_parts(report))
    title = re.escape("What moved most (flat, with library code)")
    assert re.search(rf"^{title}$", text, re.MULTILINE)
    assert "own ratio" not in text
