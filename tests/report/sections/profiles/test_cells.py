"""Cells of profiles: values that compare, marks that say what chance explains."""

from __future__ import annotations

from math import inf

import pytest

from pprofdiff.report.sections.profiles.cells import delta_cell, ratio_cell, value_cells
from tests.analysis.building import compared, profile

WORK = (100, 50)


@pytest.fixture(scope="module")
def diff():
    """Return 900 samples of base next to 600 of new, by operation."""
    sides = [profile([(("main.f",), count)]) for count in (900, 600)]
    return compared(*sides, work=WORK)


@pytest.mark.parametrize(
    ("noise", "mark", "tone"),
    [(False, "more", "worse"), (True, "noise", "faint"), (None, "", "")],
)
def test_the_delta_is_new_less_base_and_marked_as_judged(diff, noise, mark, tone):
    base, new = value_cells(diff, *diff.totals)
    cell = delta_cell(diff, *diff.totals, noise=noise)
    assert cell.value == new.value - base.value > 0
    assert (cell.mark, cell.tone) == (mark, tone)
    less = delta_cell(diff, diff.totals[0], diff.totals[1] // 4, noise=False)
    assert (less.mark, less.tone) == ("less", "better")
    assert delta_cell(diff, 0, 0, noise=False).mark == ""


def test_a_ratio_is_of_scaled_values_and_sorts_what_is_new_or_gone(diff):
    base, new = diff.totals
    assert ratio_cell(diff, base, new).value == pytest.approx(2 * new / base)
    assert ratio_cell(diff, base, new).text == "1.33×"
    assert (ratio_cell(diff, 0, 1).text, ratio_cell(diff, 0, 1).value) == ("new", inf)
    assert (ratio_cell(diff, 1, 0).text, ratio_cell(diff, 1, 0).value) == ("gone", 0)
    assert ratio_cell(diff, 0, 0).value is None


@pytest.mark.slow
def test_what_is_printed_as_no_change_has_no_sign_of_one(diff):
    base = 2 * diff.totals[1]
    cell = delta_cell(diff, base, diff.totals[1] + 1, noise=False)
    assert cell.value > 0
    assert (cell.text.strip("0."), cell.mark, cell.tone) == ("", "", "")
