"""A figure at the commits that a search measured, and the steps it found."""

from __future__ import annotations

from math import exp
from operator import add, sub
from typing import TYPE_CHECKING, Literal

import numpy as np

from pprofdiff.analysis.bisection.result import Bisection, Curve
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    add_note,
    add_title,
    mark_axis,
    set_ticks,
    shortened,
    themed,
)
from pprofdiff.plots.drawing import image
from pprofdiff.units import Scale, many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW = 1000, 300
_PERCENT = Scale(1.0, "%", 1)
# Share of the height that stays empty above and below the points.
_MARGIN = 0.1
# Characters of a ref.
_LONGEST = 12


def commits(
    found: Bisection, curve: Curve, ax: Axes | None = None, *, theme: Theme = "light"
) -> Axes:
    """Draw a figure's change at each measured commit, with 95% intervals.

    x is the position in the history, y the change from the good end in percent. A step
    that was found has a dashed line before its commit, and levels are thick lines.
    """
    ax = themed(ax, theme)
    places = [0, *(point.commit for point in curve.points)]
    middle = [0.0, *(100 * (point.ratio - 1) for point in curve.points)]
    below = [0.0, *(100 * (point.ratio - point.low) for point in curve.points)]
    above = [0.0, *(100 * (point.high - point.ratio) for point in curve.points)]
    shade = colour("base", theme)
    ax.errorbar(places, middle, [below, above], fmt="o", color=shade, markersize=4)
    last = len(found.commits) - 1
    ends = _limits(middle, below, above)
    ax.set_ylim(*ends)
    ax.set_xlim(-0.02 * last - 0.5, 1.02 * last + 0.5)
    _draw_steps(ax, found, curve, theme)
    mark_axis(ax, "y", ends, _PERCENT)
    _mark_ends(ax, found)
    of = f", {curve.figure}" if curve.figure else ""
    add_title(ax, f"{curve.name}{of}: change from {found.ends[0]}", theme)
    return ax


def _limits(
    middle: list[float], below: list[float], above: list[float]
) -> tuple[float, float]:
    """Return limits of y with all points, and the intervals that are not far wider.

    An interval of one round may be 100 times as wide as others.
    """
    low, high = min(middle), max(middle)
    beyond = max(high - low, 2 * float(np.median([*below[1:], *above[1:]] or [0.0])))
    low = max(low - beyond, min(map(sub, middle, below)))
    high = min(high + beyond, max(map(add, middle, above)))
    room = max(high - low, 1.0) * _MARGIN
    return low - room, high + room


def _draw_steps(ax: Axes, found: Bisection, curve: Curve, theme: Theme) -> None:
    """Draw levels and the steps between them, if they were found."""
    if curve.conclusion.ending != "found":
        return
    level, start = 0.0, 0.0
    last = len(found.commits) - 1
    top = ax.get_ylim()[1]
    for step in curve.conclusion.steps:
        shade = colour("worse" if step.size > 0 else "better", theme)
        at = step.commits[0] - 0.5
        height = 100 * (exp(level) - 1)
        ax.plot([start, at], [height, height], color=shade, linewidth=2.2, alpha=0.6)
        ax.axvline(at, color=shade, linewidth=1, linestyle=(0, (4, 3)))
        right = at < last / 2
        name = found.commits[step.commits[-1]].short
        shift = (4.0, -8.0) if right else (-4.0, -8.0)
        side = "left" if right else "right"
        add_note(ax, name, (at, top), shift, ha=side, color=shade)
        level += step.size
        start = at
    height = 100 * (exp(level) - 1)
    ax.plot([start, last], [height, height], color=shade, linewidth=2.2, alpha=0.6)


def _mark_ends(ax: Axes, found: Bisection) -> None:
    last = len(found.commits) - 1
    words = [found.ends[0], many(last, "commit"), found.ends[1]]
    places = [0.0, last / 2, float(last)]
    set_ticks(ax, "x", places, [shortened(word, _LONGEST) for word in words])


def commits_in_words(found: Bisection, curve: Curve) -> str:
    """Return what `commits` shows: where each measured commit stands."""
    some = "; ".join(
        f"{found.commits[point.commit].short} {100 * (point.ratio - 1):+.1f}%"
        for point in curve.points
    ).replace("-", "−")
    return f"{curve.name} at the measured commits: {some}."


def commits_picture(found: Bisection, form: Literal["svg", "png"]) -> bytes:
    """Return all curves as an image, one below the other."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots(len(found.curves), 1, squeeze=False)[:, 0]
        for ax, curve in zip(axes, found.curves, strict=True):
            commits(found, curve, ax)

    words = " ".join(commits_in_words(found, curve) for curve in found.curves)
    size = (_WIDTH, _ROW * len(found.curves))
    return image(draw, form, size=size, description=words)
