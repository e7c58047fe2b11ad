"""On every pair, both ways: no sentence, sum or mark contradicts its numbers."""

import re
from itertools import chain

import pytest

from pprofdiff.report.checking import contradictions, of_evidence, of_tables
from pprofdiff.report.model import Scope
from pprofdiff.report.sections import sections
from pprofdiff.report.sections.outcome import outcome_text
from tests.field.cases import CASES, each, report

ALL = tuple(chain.from_iterable((case, case.swapped) for case in CASES))
cases = each(ALL)


@cases
def test_nothing_contradicts_its_numbers(case):
    got = report(case)
    assert contradictions(got.outcome, got.findings, got.gc) == []


@pytest.mark.matrix
@cases
def test_no_row_contradicts_its_values(case):
    assert of_tables(sections(report(case), Scope(full=True))) == []


@cases
def test_numbers_of_titles_are_evidence_and_evidence_matches_its_row(case):
    got = report(case)
    shown = tuple(sections(got, Scope(full=True)))
    assert of_evidence(got.findings, shown) == []


class Span:
    """What a rounded number may have been: from `low` to `high`."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    @classmethod
    def of(cls, text):
        """Read a number as it is written: half a last digit to each side."""
        plain = text.replace(",", "").replace("−", "-").replace("+", "")
        half = 0.5 * 10.0 ** -len(plain.partition(".")[2]) * (1 + 1e-9)
        return cls(float(plain) - half, float(plain) + half)

    def meets(self, other):
        """Return whether both may be one number."""
        return self.low <= other.high and other.low <= self.high


@cases
def test_the_headline_has_the_ratio_and_its_interval(case):
    """As ``+17% time (−9.1% to +52%)``, or ``5.36× the operations (4.1 to 7.0×)``.

    Of several benchmarks it is the one that moved most: ``Get, time/op 2.0× (…)``.
    """
    outcome = report(case).outcome
    first = outcome.headline
    headline = outcome_text(outcome).headline
    if first is None or not first.cost.more_is:
        return
    rest, by = headline.partition(": ")[2].removeprefix("about "), first.judged
    for first in outcome.moved[:1]:
        by = first.cost
        noun = {"time": "time/op", "cpu": "CPU/op"}[first.figure]
        _, named, rest = rest.partition(f"{first.name}, {noun} ")
        assert named, headline
    part = r"[+−]?[\d.,]+"
    inverse = re.match(r"1/([\d,]+) [^()]*\(1/([\d,]+) to 1/([\d,]+)\)", rest)
    if inverse:
        # Fractions are written with two digits.
        for number, figure in zip(
            inverse.groups(), (by.ratio, by.low, by.high), strict=True
        ):
            assert float(number.replace(",", "")) * figure == pytest.approx(1, 0.05)
        return
    same = first.verdict == "same"
    of = "90% CI " if same else ""
    percent = re.match(rf"({part})% [^()]*\({of}({part})% to ({part})%\)", rest)
    factor = re.match(rf"({part})× [^()]*\(({part})×? to ({part})×\)", rest)
    got = [Span.of(number) for number in (percent or factor).groups()]
    figures = by.ratio, *(by.narrow if same else (by.low, by.high))
    if percent:
        ratios = [Span(1 + one.low / 100, 1 + one.high / 100) for one in got]
    else:
        ratios = got
    for ratio, figure in zip(ratios, figures, strict=True):
        assert ratio.meets(Span(figure, figure)), headline


@cases
def test_the_outcome_says_what_its_figures_say(case):
    outcome = report(case).outcome
    for measure in outcome.measures:
        by = measure.judged
        assert by.low <= by.narrow[0] <= by.ratio, measure
        assert by.ratio <= by.narrow[1] <= by.high, measure
        if measure.base is not None and measure.id != "time":
            assert abs(measure.new / measure.base / by.ratio - 1) < 1e-12
    first = outcome.headline
    if outcome.verdict != "unknown":
        assert first.verdict == outcome.verdict
    words = outcome_text(outcome)
    headline = words.headline
    if first is None or not first.cost.more_is:
        assert outcome.verdict == "unknown"
        assert headline.startswith("No outcome: ")
        return
    begins = {"slower": "Slower", "faster": "Faster", "same": "The same", "unknown": "Can't tell"}  # fmt: skip
    assert headline.startswith(f"{begins[outcome.verdict]}")
    slower = {"slower": first.judged.ratio > 1, "faster": first.judged.ratio < 1}[
        first.cost.more_is
    ]
    if outcome.verdict in ("slower", "faster"):
        assert slower == (outcome.verdict == "slower"), headline
