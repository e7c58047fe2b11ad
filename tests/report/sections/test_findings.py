"""What causes explain, and the rest: numbers that add up as they are printed."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest

from pprofdiff.analysis.causes.finding import Explained
from pprofdiff.analysis.profiles.groups import JudgedSum
from pprofdiff.report.model import report_of
from pprofdiff.report.sections.findings import _together, why
from tests.analysis.measuring import Unit, compared, path

NUMBER = re.compile(r"([+−]?)(\d[\d,]*(?:\.\d+)?)")


def numbers(text):
    """Return the numbers of a sentence, exactly."""
    return [
        Decimal(digits.replace(",", "")) * (-1 if sign == "−" else 1)
        for sign, digits in NUMBER.findall(text)
    ]


@pytest.fixture(scope="module", params=[1, 10, 1000])
def cpu(request):
    """Return a CPU comparison whose totals have 1 to 4 digits before the point."""
    base, new = ({path("F"): n * request.param} for n in (300, 237))
    return compared(Unit(base), Unit(new)).cpu


def test_what_is_explained_and_the_rest_add_up_in_print(cpu):
    random = np.random.default_rng(7)
    whole = cpu.normalization.delta(*cpu.totals)
    for part in random.normal(1, 0.3, 300):
        explained = Explained(whole, whole * part, ())
        text = _together(explained, cpu, "Together they explain", None)
        if "all of the" in text:
            continue
        if abs(1 - part) > 0.21 * max(part, 1):
            # So large a rest is not called noise.
            assert "not significant" not in text
            continue
        if abs(1 - part) > 0.19 * max(part, 1):
            continue
        assert text.endswith(" is not significant.")
        got, *others = numbers(text)
        rest, total = others if "; the rest, " in text else others[::-1]
        # Where causes explain more than there is, the rest went the other way.
        assert ("; the rest, " in text) == (abs(got) > abs(total))
        assert got + rest == total
        # What the one cause has in its title is not said again.
        alone = _together(explained, cpu, "Cause 1 explains", whole * part)
        assert numbers(alone) == [rest, total]
        assert alone.startswith("The rest, ")


def test_a_rest_of_nothing_is_not_written(cpu):
    whole = cpu.normalization.delta(*cpu.totals)
    text = _together(Explained(whole, whole, ()), cpu, "Cause 1 explains", whole)
    assert re.fullmatch(r"Cause 1 explains all of the −[\d.,]+ \S+/op\.", text)


def test_what_is_not_explained_is_named(cpu):
    whole = cpu.normalization.delta(*cpu.totals)
    groups = (JudgedSum("gc", "GC", 1, 2, whole / 2, noise=False),)
    text = _together(Explained(whole, whole / 2, groups), cpu, "Cause 1 explains", None)
    assert re.fullmatch(
        r"Cause 1 explains −[\d.,]+ of −[\d.,]+ \S+\. "
        r"The rest, by group: GC −[\d.,]+ \S+\.",
        text,
    )


@pytest.mark.parametrize(
    ("without", "closing"),
    [
        (["2"], "what cause 2 costs or saves directly"),
        (["2", "3"], "what causes 2 and 3 cost or save directly"),
    ],
)
def test_causes_without_an_amount_are_in_the_rest(cpu, without, closing):
    whole = cpu.normalization.delta(*cpu.totals)
    groups = (JudgedSum("gc", "GC", 1, 2, whole / 2, noise=False),)
    explained = Explained(whole, whole / 2, groups)
    text = _together(explained, cpu, "Cause 1 explains", None, without)
    assert text.endswith(f"; {closing} is in the rest.")


def test_what_a_title_says_of_all_that_follows_is_not_said_again():
    """The amount "with consequences" is what the cause explains."""
    inner, other, mark = path("F"), path("G"), ("runtime.gcBgMarkWorker",)
    base = Unit({inner: 400, other: 300, mark: 300}, {inner: (3, 3000)})
    new = Unit({inner: 200, other: 303, mark: 100}, {inner: (1, 1000)})
    got = why(report_of(compared(base, new)))
    first, *_ = got.reasons
    follows = re.search(r"(−[\d.]+) with consequences", first.title)
    (closing,) = (one.text for one in got.rest)
    rest, total = numbers(closing)
    assert closing.startswith("The rest, ")
    assert sum(numbers(follows[1])) + rest == total


def test_a_sure_verdict_without_a_cause_says_that_there_is_none():
    """Wall time rose; the samples of five functions are what they were."""
    same = {path(name): 120 for name in "ABCDE"}
    report = report_of(compared(Unit(same), Unit(same, wall=1.3)))
    assert report.outcome.verdict == "slower"
    assert report.findings.found == ()
    (said,) = why(report).rest
    assert (
        said.text == "No function or allocation site changed significantly by itself."
    )
