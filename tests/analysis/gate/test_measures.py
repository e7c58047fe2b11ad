"""Figures in words: a factor where percent no longer read, with its interval."""

from __future__ import annotations

from math import inf

import pytest

from pprofdiff.analysis.gate.measures import Figure
from pprofdiff.units import Scale


@pytest.mark.parametrize(
    ("base", "new", "bounds", "text"),
    [
        (10, 99, (60, 120), "10 → 99 ms, +890.0% (+600.0% to +1,200.0%)"),
        (10, 125, (50, 1_405), "10 → 125 ms, 12.5× (6.00× to 142×)"),
        (10, 1_250, (-9.5, inf), "10 → 1,250 ms, 125× (0.050× or more)"),
        (10, 125, (-30, 1_405), "10 → 125 ms, 12.5× (−2.00× to 142×)"),
    ],
)
def test_factors_are_written_as_in_reports(base, new, bounds, text):
    scale = Scale(1, "ms", 0)
    figure = Figure("wait", base, new, "ms", scale, noise=False, bounds=bounds)
    assert figure.text == text
