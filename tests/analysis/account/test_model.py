"""Amounts are exact, and a total is the sum of its parts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.account.model import Account, Amount, Part

amounts = st.builds(Amount, st.fractions(), st.fractions())


@given(st.lists(amounts))
def test_the_total_is_the_exact_sum(parts):
    whole = Account(
        "x", "ns", tuple(Part(str(i), "", a, "") for i, a in enumerate(parts))
    )
    assert whole.total.base == sum((a.base for a in parts), Fraction(0))
    assert whole.total.new == sum((a.new for a in parts), Fraction(0))
    assert whole.total.delta == sum((a.delta for a in parts), Fraction(0))


@given(amounts, amounts)
def test_what_was_added_can_be_taken_away(one, other):
    assert one.plus(other).less(other) == one
    assert one.plus(other) == other.plus(one)
    assert one.less(other).delta == one.delta - other.delta


@pytest.mark.slow
def test_what_is_inside_or_beside_is_in_no_sum():
    part = Part("a", "A", Amount(Fraction(1), Fraction(3)), "")
    told = Account("x", "ns", (part,), within=(part,), outside=(part, part))
    assert told.total == part.amount
