"""Builds side by side: bars are the frame's numbers, and reach the totals."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import pprofdiff
from pprofdiff import palette, plots
from tests.plots.captured import DATA, HOSTILE


def builds(kind="cpu"):
    """Return nine builds of one program."""
    return pprofdiff.load_many(sorted((DATA / "versions").glob(f"*/{kind}.pb.gz")))


@pytest.mark.parametrize("kind", ["cpu", "allocs"])
def test_bars_are_groups_and_add_up(kind):
    many = builds(kind)
    ax = many.plot(Figure().subplots())
    tops = {}
    for bar in ax.patches:
        left = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_y() == pytest.approx(tops.get(left, 0.0))
        tops[left] = bar.get_y() + bar.get_height()
    assert [tops[i] for i in range(9)] == pytest.approx(many.totals["scaled"].tolist())
    assert [text.get_text() for text in ax.get_xticklabels()] == list(many.names)


def test_heights_and_fills_match_the_groups():
    many = builds()
    ax = many.plot(Figure().subplots(), theme="dark")
    heights = {}
    for bar in ax.patches:
        heights.setdefault(to_hex(bar.get_facecolor()), []).append(bar.get_height())
    for name, column in many.groups_scaled.items():
        assert heights[palette.group(name, "dark")] == pytest.approx(column.tolist())


def test_names_next_to_the_last_bar_do_not_overlap():
    ax = builds().plot(Figure().subplots())
    places = sorted(text.xyann[1] for text in ax.texts if text.arrow_patch)
    assert len(places) == 8
    assert np.diff(places).min() > 0.05 * ax.get_ylim()[1]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_names(label):
    path = DATA / "versions/go1.20/cpu.pb.gz"
    many = pprofdiff.load_many({label: path, "x": path})
    assert plots.image(lambda f: many.plot(f.subplots()), "svg").startswith(b"<svg")
