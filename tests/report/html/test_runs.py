"""The page shows each run where a side has several."""

from __future__ import annotations

import pytest

from pprofdiff.report.html.page import render
from pprofdiff.report.model import report_of
from tests.plots.captured import measured_runs


def test_runs_are_dots_below_the_answer():
    page = render(report_of(measured_runs()))
    answer, chart = page.index('class="answer"'), page.index("<figure>")
    assert answer < chart < page.index('<section id="part0">')
    assert page.count("run by run (each a dot)") == 2, "in the SVG, and below it"


@pytest.mark.slow
def test_one_run_a_side_has_no_dots():
    page = render(report_of(measured_runs(base=(100,), new=(120,))))
    assert "run by run" not in page
