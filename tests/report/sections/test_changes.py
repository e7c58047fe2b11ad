"""Changes of totals in words: percent, factors from tenfold on, and from nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.analysis.outcome.model import Counted
from pprofdiff.report.sections.changes import change, counts_and_change, total_change


@pytest.mark.parametrize(
    ("base", "new", "words"),
    [
        (100, 139.8, "+39.8%"),
        (100, 60, "−40.0%"),
        (100, 0, "−100%"),
        (1, 9.99, "+899%"),
        (1, 10, "10.0×"),
        (0.0225, 1.0, "44.4×"),
        (0.00448, 482.3, "107,656×"),
        (0, 482.3, "from 0"),
        (0, 0, ""),
    ],
)
def test_a_total_in_words(base, new, words):
    assert total_change(base, new) == words


@pytest.mark.parametrize("power", range(-12, 13))
def test_no_percentage_has_five_digits(power):
    """Nobody reads +10,764,939%."""
    for base in (1e-6, 0.3, 7e9):
        words = total_change(base, base * 10.0**power)
        assert not re.search(r"\d,\d+%|\d{4,}%", words)


_COUNTS = st.floats(20, 900)


@given(_COUNTS, _COUNTS, st.sampled_from(["B/op", "allocs/op"]))
def test_a_change_of_counts_matches_the_figures_as_printed(base, new, unit):
    text = counts_and_change(Counted(unit, base, new))
    if "(" not in text:
        assert "→" not in text
        return
    figures, _, said = text.removesuffix(")").partition(" (")
    old, now = map(float, re.findall(r"[\d.]+", figures))
    assert said == change(new / base)
    # Near the border between two percentages, no digits would do.
    assert now / old == pytest.approx(new / base, rel=0.002 if "." in figures else 0.05)


@pytest.mark.parametrize(
    ("unit", "base", "new", "text"),
    [
        ("allocs/op", 29.462, 31, "29.46 → 31 (+5.2%)"),
        ("allocs/op", 28, 5, "28 → 5 (−82%)"),
        ("B/op", 17731, 17270, "17.32 → 16.87 KiB (−2.6%)"),
        ("B/op", 300, 0, "300 → 0 B"),
        ("B/op", 300, 300, "300 B"),
    ],
)
def test_counts_have_the_digits_that_their_change_needs(unit, base, new, text):
    assert counts_and_change(Counted(unit, base, new)) == text
