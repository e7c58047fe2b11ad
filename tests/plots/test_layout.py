"""The layout of a picture is the same numbers each time."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from pprofdiff.plots.layout import RoundedLayout


def placed(figure):
    """Return the places of all Axes and subfigures of a figure, relative to it."""
    figure.draw_without_rendering()
    boxes = [ax.get_position() for ax in figure.axes]
    return np.array(
        [box.get_points() for box in boxes]
        + [part.bbox_relative.get_points() for part in figure.subfigs]
    )


def divided(layout):
    """Return a figure like a picture's: strips of uneven heights, one of two Axes."""
    figure = Figure((10, 20), layout=layout)
    strips = figure.subfigures(5, 1, height_ratios=(50, 330, 374, 230, 331))
    strips[1].subplots(1, 2)[1].set_yticks([0, 1], ["a name", "a longer name"])
    for strip in strips[2:]:
        strip.subplots().set_title("Title")
    return figure


@pytest.mark.slow
def test_positions_match_constrained_layout_rounded():
    rounded, plain = placed(divided(RoundedLayout())), placed(divided("constrained"))
    assert np.abs(rounded - plain).max() < 1e-6
    assert np.array_equal(rounded, rounded.round(7))
    assert not np.array_equal(plain, plain.round(7))


@pytest.mark.slow
def test_a_figure_drawn_twice_stays_where_it_was():
    figure = divided(RoundedLayout())
    first = placed(figure)
    assert all(ax.get_in_layout() for ax in figure.axes)
    assert np.array_equal(placed(figure), first)
    figure.axes[0].set_yticks([0], ["a name that is much longer than others"])
    assert not np.array_equal(placed(figure), first)
