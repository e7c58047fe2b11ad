"""Figures in words: a factor where percent no longer read, with its interval."""

from math import inf

import pytest

from pprofdiff.analysis.gate.measures import Figure
from pprofdiff.units import Scale


@pytest.mark.parametrize(
    ("base", "new", "bounds", "text"),
    [
        (10, 99, (60, 120), "10 → 99 ms, +890.0% (+600.0% to +1,200.0%)"),
        (10, 125, (50, 1_405), "10 → 125 ms, 12.5× (6.00× to 142×)"),
        (10, 1_250, (-9.5, inf), "10 → 1,250 ms, can't tell by how much"),
        (10, 1_250, (90, inf), "10 → 1,250 ms, 125× (10.0× or more)"),
        # Of a thing that is 1/20 or 202 times what it was nothing is known.
        (46.4, 146.9, (-44.1, 9_340), "46 → 147 ms, can't tell by how much"),
        (10, 20, (-20, 1_000), "10 → 20 ms, can't tell by how much"),
        # Where one end is known, that is a figure.
        (10, 300, (-5, 400), "10 → 300 ms, 30.0× (0.50× to 41.0×)"),
        (10, 2_000, (5, 90_000), "10 → 2,000 ms, 200× (1.50× to 9,001×)"),
        (10, 125, (-30, 1_405), "10 → 125 ms, can't tell by how much"),
    ],
)
def test_factors_are_written_as_in_reports(base, new, bounds, text):
    scale = Scale(1, "ms", 0)
    figure = Figure("wait", base, new, "ms", scale, noise=False, bounds=bounds)
    assert figure.text == text
