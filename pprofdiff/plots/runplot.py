"""Each run as a dot: time and CPU per op, next to the interval of their ratio.

A mean and its interval hide whether runs agree, drift, or fall into two groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pprofdiff.analysis.causes.wording import listed
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.judge.totals import mean_of_runs
from pprofdiff.analysis.outcome.figures import measures
from pprofdiff.analysis.outcome.model import Measure
from pprofdiff.analysis.runs.declared import declared, known
from pprofdiff.analysis.runs.headline import (
    RunValues,
    headline_runs,
    outliers,
    run_names,
)
from pprofdiff.analysis.side import numbered
from pprofdiff.errors import UsageError
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    SIDES,
    HasComparison,
    add_note,
    add_title,
    artist_style,
    comparison_of,
    mark_axis,
    set_ticks,
    shortened,
    themed,
    value_words,
)
from pprofdiff.units import Scale, scale_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How far a side's dots spread above and below the middle of its line, in run order.
_BAND = 0.24
# Heights of base, new and the interval of their ratio, from the top.
_LINES = 2.0, 1.0, 0.25
# Base's dots are hollow circles, new's are filled diamonds.
_DOTS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "markersize": 6, "fillstyle": "none"},
    {"marker": "D", "markersize": 5},
)


@dataclass(frozen=True, eq=False)
class _Side:
    """A side's seconds per op in each run, and the run numbers of `outliers`."""

    label: str
    values: tuple[float, ...]
    outliers: Mapping[int, int]

    @property
    def mean(self) -> float:
        """The geometric mean, which ratios of runs use."""
        return mean_of_runs([[value] for value in self.values])


@dataclass(frozen=True, eq=False)
class _Shown:
    """One figure of both sides' runs; `bounds` limit its ratio, or are None."""

    figure: str
    sides: tuple[_Side, _Side]
    bounds: tuple[float, float] | None
    confidence: int
    scale: Scale

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the ratio's interval places new's mean."""
        if self.bounds is None:
            return None
        base = self.sides[0].mean
        return base * self.bounds[0], base * self.bounds[1]


def runs(
    compared: Comparison | HasComparison,
    ax: Axes | None = None,
    *,
    figure: str | None = None,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw a dot per run of base and new, their means, and the interval.

    `figure` is ``time`` or ``cpu``, per op, None for the first one that is known, or
    the key of a figure of GC logs or traces. A side's runs are drawn in order from the
    top down, so that a drifting machine shows as a slope; outliers have their run
    numbers. x is seconds per op, or the figure's unit; `kwargs` go to `Axes.plot`.
    Raises UsageError if the figure is not known and above 0 in each run, or no side has
    several runs.
    """
    (shown,) = _shown(comparison_of(compared), figure)[:1]
    ax = themed(ax, theme, "x")
    ends = _ends(shown)
    ax.set_xlim(*ends)
    ax.set_ylim(-0.1, 2.6)
    base = shown.sides[0].mean
    shade = colour("base", theme)
    ax.plot([base, base], [0.0, _LINES[0]], color=shade, linewidth=1.0, linestyle="--")
    for number in range(len(shown.sides)):
        _add_side(ax, shown, number, theme, kwargs)
    _add_interval(ax, shown, theme)
    interval = "" if shown.bounds is None else f"{shown.confidence}% interval"
    words = [*map(_whose, shown.sides), interval]
    set_ticks(ax, "y", _LINES, words)
    for text, name in zip(ax.get_yticklabels(), (*SIDES, SIDES[1]), strict=True):
        text.set_color(colour(name, theme))
    mark_axis(ax, "x", ends, shown.scale)
    add_title(ax, f"{shown.figure}, run by run", theme)
    return ax


def runs_in_words(comparison: Comparison) -> str:
    """Return the range, mean and outliers of both sides' runs, by figure."""
    return " ".join(_in_words(shown) for shown in _shown(comparison, None))


def runs_of(compared: Comparison, drawing: Figure) -> None:
    """Draw all figures that are known per run, one below the other."""
    figures = headline_runs(compared)
    axes = drawing.subplots(len(figures), 1, squeeze=False)[:, 0]
    for one, ax in zip(figures, axes, strict=True):
        runs(compared, ax, figure=one.id)


def _shown(comparison: Comparison, figure: str | None) -> list[_Shown]:
    if figure is not None and figure in declared():
        return [_declared(comparison, figure)]
    figures = [one for one in headline_runs(comparison) if figure in (None, one.id)]
    if not figures:
        what = "time or CPU" if figure is None else figure
        raise UsageError(
            f"no {what} per op of several runs: give folders of runs, each with "
            "benchmarks and a CPU profile"
        )
    of = {measure.id: measure for measure in measures(comparison)}
    return [_one(comparison, one, of.get(one.id)) for one in figures]


def _one(comparison: Comparison, runs: RunValues, measure: Measure | None) -> _Shown:
    found = outliers(runs.sides)
    sides = []
    for number, (side, values) in enumerate(
        zip((comparison.base, comparison.new), runs.sides, strict=True)
    ):
        names, order = run_names(numbered(side)), list(values)
        named = {
            order.index(one.run): names[one.run].number
            for one in found
            if one.side == number
        }
        sides.append(_Side(side.label, tuple(values.values()), named))
    return _Shown(
        runs.figure.capitalize() if runs.id == "time" else runs.figure,
        (sides[0], sides[1]),
        None if measure is None else measure.judged.bounds,
        95 if measure is None else measure.confidence,
        _scale(sides, "s"),
    )


def _declared(comparison: Comparison, key: str) -> _Shown:
    """Return a figure of GC logs or traces; a run may lack it, so none is named."""
    found = known(comparison, key)
    values = () if found is None else found.runs
    if found is None or max(map(len, values)) < 2 or min(map(min, values)) <= 0:
        raise UsageError(f"no {key} of several runs that is above 0 in each")
    labels = comparison.base.label, comparison.new.label
    base, new = (_Side(*of, {}) for of in zip(labels, values, strict=True))
    unit = found.figure.shown
    scale = Scale(0.01, "%", 1) if unit == "share" else _scale((base, new), unit)
    return _Shown(found.figure.label, (base, new), found.estimate.bounds, 95, scale)


def _scale(sides: Sequence[_Side], unit: str) -> Scale:
    return scale_for([max(side.values) for side in sides], unit)


def _ends(shown: _Shown) -> tuple[float, float]:
    places = [value for side in shown.sides for value in side.values]
    places += shown.interval or ()
    low, high = min(places), max(places)
    room = 0.06 * (high - low) or 0.06 * high
    return max(low - room, 0.0), high + room


def _add_side(
    ax: Axes, shown: _Shown, number: int, theme: Theme, kwargs: Mapping[str, Any]
) -> None:
    """Draw a side's dots, and its mean as a line through them, with its value."""
    side, middle, shade = (
        shown.sides[number],
        _LINES[number],
        colour(SIDES[number], theme),
    )
    count = len(side.values)
    heights = middle + (np.linspace(_BAND, -_BAND, count) if count > 1 else np.zeros(1))
    plain = {"color": shade, "linestyle": "none", **_DOTS[number]}
    ax.plot(side.values, heights, **artist_style(plain, kwargs))
    reach = _BAND + 0.1
    mean = [side.mean, side.mean], [middle - reach, middle + reach]
    ax.plot(*mean, color=shade, linewidth=2.2)
    words = value_words(shown.scale, side.mean)
    add_note(
        ax,
        words,
        (side.mean, middle + reach),
        (0, 1),
        ha="center",
        va="bottom",
        color=shade,
    )
    for place, run in side.outliers.items():
        at = side.values[place], float(heights[place])
        left = at[0] > side.mean
        shift, aligned = ((-7, 0), "right") if left else ((7, 0), "left")
        add_note(ax, f"run {run}", at, shift, ha=aligned, color=colour("text", theme))


def _add_interval(ax: Axes, shown: _Shown, theme: Theme) -> None:
    interval = shown.interval
    if interval is None:
        return
    shade = colour("new", theme)
    height = _LINES[2]
    ax.plot(interval, [height, height], color=shade, linewidth=1.6)
    for end in interval:
        ax.plot([end, end], [height - 0.09, height + 0.09], color=shade, linewidth=1.6)


def _whose(side: _Side) -> str:
    several = "" if len(side.values) == 1 else "s"
    return f"{shortened(side.label, 20)}: {len(side.values)} run{several}"


def _in_words(shown: _Shown) -> str:
    parts = []
    for side in shown.sides:
        low, high = (value_words(shown.scale, f(side.values)) for f in (min, max))
        span = "" if len(side.values) == 1 else f", {low} to {high}"
        words = f"{_whose(side)}{span}, mean {value_words(shown.scale, side.mean)}"
        far = [f"run {run}" for run in side.outliers.values()]
        noun = "outlier" if len(far) == 1 else "outliers"
        parts.append(words + (f" ({noun}: {listed(far)})" if far else ""))
    head = f"{shown.figure}, run by run (each a dot). {'; '.join(parts)}"
    if shown.interval is None:
        return f"{head}."
    low, high = (value_words(shown.scale, end) for end in shown.interval)
    by = f"by the {shown.confidence}% interval of the ratio"
    return f"{head}; {by}, new is at {low} to {high}."
