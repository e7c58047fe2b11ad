"""The gate on real captures: it fails no total that the headline cannot tell."""

import pytest

from pprofdiff.analysis.causes.finding import Findings
from pprofdiff.analysis.gate.judging import judge
from pprofdiff.analysis.gate.measures import Judged
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.outcome.figures import measures
from tests.field.cases import CASES, UNCHANGED, compared, each

LIMITS = (0, 2, 5, 10, 20, 50, 100, 400)
KNOWN = [case for case in (*CASES, *UNCHANGED) if case.counts or case.rates]


def test_there_are_enough_of_them():
    assert len(KNOWN) >= 60


@pytest.mark.matrix
@each(KNOWN)
def test_the_total_is_the_headline_s(case):
    comparison = compared(case).data
    figure = next((m for m in measures(comparison) if m.id == "cpu"), None)
    gate = Gate.of([f"total@cpu:+{limit}%" for limit in LIMITS])
    rulings = judge(gate, Judged(comparison, Findings((), None))).rules
    for limit, ruling in zip(LIMITS, rulings, strict=True):
        if figure is None:
            assert ruling.outcome == "no data"
        elif figure.judged.low > 1 + limit / 100:
            assert ruling.outcome == "fail"
        elif figure.judged.high <= 1 + limit / 100:
            assert ruling.outcome == "pass"
        else:
            assert ruling.outcome == "cannot tell"
