"""On every pair: base for new turns the answer around, and changes nothing else."""

from collections import Counter
from fractions import Fraction
from math import isclose

import pytest

from tests.field.cases import CASES, each, report

cases = each(CASES)

_OTHER_WAY = {
    "slower": "faster", "faster": "slower", "same": "same", "unknown": "unknown",
    "worse": "better", "better": "worse", "neutral": "neutral",
}  # fmt: skip
# A quotient is rounded once; logarithms and exponentials of intervals a few times more.
_ONCE, _FEW = 2**-52, 1e-12


def both(case):
    """Return the reports of a pair, and with its sides swapped."""
    return report(case), report(case.swapped)


def times(got):
    """Return what the amounts of a swapped pair are divided by: 1, or the work of new.

    Base keeps its values where sides are brought to about equal work.
    """
    cpu = got.comparison.cpu
    about = cpu is not None and cpu.normalization.mode == "about"
    return 1 / Fraction(cpu.normalization.new_factor) if about else Fraction(1)


def alike(one, other):
    """Return whether two amounts are equal but for a quotient's rounding."""
    return isclose(one, other, rel_tol=1e-9)


def mixed(case):
    """Tell whether the work is of several benchmarks, at what they cost in base.

    Then an operation is another mix when the sides are swapped.
    """
    work = report(case).comparison.work
    return work is not None and work.reason.count("Benchmark") > 1


@cases
def test_the_outcome_turns_around(case):
    there, back = (got.outcome for got in both(case))
    if mixed(case) and there.headline.id != "time":
        pytest.skip("an operation is another mix")
    assert back.verdict == _OTHER_WAY[there.verdict]
    assert [m.id for m in back.measures] == [m.id for m in there.measures]
    for one, other in zip(there.measures, back.measures, strict=True):
        if mixed(case) and one.id == "cpu":
            continue
        assert (one.base, one.new) == (other.new, other.base)
        assert isclose(one.judged.ratio * other.judged.ratio, 1, rel_tol=_FEW)
        assert isclose(one.judged.low * other.judged.high, 1, rel_tol=_FEW)
        assert isclose(one.judged.high * other.judged.low, 1, rel_tol=_FEW)
        assert one.cost.more_is == other.cost.more_is
    assert set(there.contrary) == set(back.contrary)
    assert (there.alike is None) == (back.alike is None)


@cases
def test_the_account_is_negated(case):
    by = times(report(case))
    there, back = (got.account for got in both(case))
    if there is None or back is None:
        assert there is back
        return
    assert there.of == back.of
    if mixed(case):
        pytest.skip("an operation is another mix")
    for rows, others in ((there.parts, back.parts), (there.within, back.within), (there.outside, back.outside)):  # fmt: skip
        swapped = {part.id: part.amount[::-1] for part in others}
        assert {part.id for part in rows} == swapped.keys()
        for part in rows:
            amounts = [amount / by for amount in swapped[part.id]]
            if by == 1:
                assert list(part.amount) == amounts
            assert all(map(alike, part.amount, amounts))
    assert alike(there.total.delta, -back.total.delta / by)
    assert set(there.gaps) == set(back.gaps)


def kinds(findings, turned):
    """Return how often there is each (id, direction), ids without their numbers."""
    counted = Counter()
    for finding in findings:
        id_, _, number = finding.id.rpartition("-")
        id_ = id_ if number.isdigit() else finding.id
        way = finding.direction
        if turned:
            way = _OTHER_WAY[way]
        counted[id_, way] += 1
    return counted


@cases
def test_every_finding_is_there_the_other_way(case):
    there, back = (got.findings.found for got in both(case))
    if mixed(case):
        pytest.skip("an operation is another mix")
    assert kinds(there, turned=False) == kinds(back, turned=True)


@cases
def test_what_findings_explain_is_negated(case):
    by = float(times(report(case)))
    there, back = (got.findings for got in both(case))
    if mixed(case):
        pytest.skip("an operation is another mix")
    amounts = sorted(f.explains for f in there.found if f.explains)
    turned = sorted(-f.explains / by for f in back.found if f.explains)
    assert len(amounts) == len(turned)
    assert all(map(alike, amounts, turned))
    one, other = there.explained, back.explained
    assert (one is None) == (other is None)
    if one is not None:
        assert alike(one.total, -other.total / by)
        assert alike(one.explained, -other.explained / by)


@cases
def test_what_matters_matters_the_other_way_too(case):
    """But for memory: what is held may not fit, what no longer is costs nobody."""
    there, back = (
        [finding for finding in got.findings.found if finding.id != "heap-growth"]
        for got in both(case)
    )
    if mixed(case):
        pytest.skip("an operation is another mix")
    assert Counter(f.severity for f in there) == Counter(f.severity for f in back)
    assert Counter(f.parent is None for f in there) == Counter(f.parent is None for f in back)  # fmt: skip
