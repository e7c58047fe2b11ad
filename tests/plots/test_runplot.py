"""Runs as dots: each at its value, in order, next to the interval of the outcome."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
from matplotlib.figure import Figure

from pprofdiff import palette, plots
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.errors import UsageError
from pprofdiff.plots.pagecharts import run_charts
from pprofdiff.plots.runplot import runs_in_words
from tests.plots.captured import measured_runs

BASE, NEW = (100, 104, 98, 170), (121, 118)


@pytest.fixture
def compared():
    """Return four runs of base, the last next to a busy neighbour, and two of new."""
    return measured_runs(base=BASE, new=NEW)


def dots(ax):
    """Return the lines that are dots: base's and new's."""
    return [line for line in ax.lines if line.get_linestyle() == "None"]


def test_each_run_is_a_dot_at_its_value(compared):
    ax = plots.runs(compared, Figure().subplots())
    base, new = dots(ax)
    assert base.get_xdata() == pytest.approx(np.array(BASE) * 1e-9)
    assert new.get_xdata() == pytest.approx(np.array(NEW) * 1e-9)
    for line, name in ((base, "base"), (new, "new")):
        assert line.get_color() == palette.colour(name)
        assert (np.diff(line.get_ydata()) < 0).all(), "the first run is at the top"
    assert min(base.get_ydata()) > max(new.get_ydata())
    # More than their colour tells sides apart.
    assert base.get_marker() != new.get_marker()
    assert (base.get_fillstyle(), new.get_fillstyle()) == ("none", "full")
    # Means, and the run that stands apart.
    assert [text.get_text() for text in ax.texts] == ["115 ns", "run 4", "119 ns"]


def test_the_bar_is_the_interval_of_the_outcome(compared):
    ax = plots.runs(compared, Figure().subplots())
    judged = outcome(compared).headline.judged
    mean = np.exp(np.log(np.array(BASE) * 1e-9).mean())
    ends = mean * judged.low, mean * judged.high
    assert any(line.get_xdata() == pytest.approx(ends) for line in ax.lines)
    low, high = ax.get_xlim()
    assert low < min(*ends, 98e-9)
    assert high > max(*ends, 170e-9)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["main: 4 runs", "pr: 2 runs", "95% interval"]


def test_words_are_its_alternative(compared):
    assert runs_in_words(compared).startswith(
        "Time per op, run by run (each a dot). main: 4 runs, 98 ns to 170 ns, "
        "mean 115 ns (outlier: run 4); pr: 2 runs, 118 ns to 121 ns, mean 119 ns; by the "
        "95% interval of the ratio, new is at "
    )


def test_the_page_s_chart_is_named_and_described(compared):
    (chart,) = run_charts(compared)
    top = fromstring(chart.svg)  # noqa: S314 - our own
    title, description = list(top)[:2]
    assert top.get("role") == "img"
    assert top.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert (title.text, description.text) == (chart.title, chart.words)
    assert "style" not in chart.svg


def test_one_run_a_side_has_no_dots():
    one = measured_runs(base=(100,), new=(120,))
    assert run_charts(one) == ()
    with pytest.raises(UsageError, match="per op of several runs"):
        plots.runs(one, Figure().subplots())
    with pytest.raises(UsageError, match="no cpu per op"):
        plots.runs(measured_runs(), Figure().subplots(), figure="cpu")


@pytest.mark.slow
def test_runs_that_all_agree_are_drawn():
    ax = plots.runs(measured_runs(base=(100, 100), new=(100,)), Figure().subplots())
    low, high = ax.get_xlim()
    assert low < 100e-9 < high
