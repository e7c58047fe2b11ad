"""Changes of totals in words: percent, factors from tenfold on, and from nothing."""

from __future__ import annotations

import re

import pytest

from pprofdiff.report.sections.changes import total_change


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
