"""Base against new, one dot per function: dots off the line changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of, unit_words
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    Plottable,
    Which,
    add_legend,
    add_note,
    add_title,
    artist_style,
    data_of,
    decades,
    set_ticks,
    shortened,
    themed,
    tick_words,
)
from pprofdiff.plots.fitting import Box, room, text_size
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
By = Literal["flat", "cum"]

_NAMED = 6
_BAND = 60
# Clear points around a name; axes have names too, which take room.
_AROUND = 12
# Share of the height where a tick label would collide with the other axis's.
_CORNER = 0.06


@dataclass(frozen=True, eq=False)
class _Dots:
    """Functions of a table, one element of each array per row.

    `base` and `new` (float64) are scaled. `more` and `less` (bool) mark significant
    changes, `even` all other functions with a value. Values that one side lacks are
    drawn at `floor`, half the smallest value of all.
    """

    base: Floats
    new: Floats
    more: Mask
    less: Mask
    even: Mask
    floor: float

    @property
    def x(self) -> Floats:
        """Positions of the dots on the axis of base."""
        return np.maximum(self.base, self.floor)

    @property
    def y(self) -> Floats:
        """Positions of the dots on the axis of new."""
        return np.maximum(self.new, self.floor)

    def counts(self) -> dict[str, int]:
        """Return how many functions changed, and how many did not, by legend label."""
        return {
            "more": int(self.more.sum()),
            "less": int(self.less.sum()),
            "within noise": int(self.even.sum()),
        }


def scatter(
    diff: ProfileDiff | Plottable[ProfileDiff],
    ax: Axes | None = None,
    *,
    by: By = "flat",
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw each function's ``flat`` or ``cum`` in new against that in base.

    The band is the noise range of one function (three standard deviations of the count
    model). Functions on one side only are rings on the axes. The six that changed most
    are named. x is base, y is new, both scaled, logarithmic and in the unit given in
    the title; `kwargs` go to `Axes.plot` for dots and rings.
    """
    diff = data_of(diff)
    ax = themed(ax, theme, "both")
    dots = _dots(diff, by)
    top = float(max(dots.base.max(initial=0), dots.new.max(initial=0))) or 1.0
    ends = dots.floor / 1.5, top * 2
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    _mark_decades(ax, "x", ends, scale_of(diff))
    _mark_decades(ax, "y", ends, scale_of(diff))
    ax.plot(ends, ends, color=colour("faint", theme), linewidth=0.8)
    if diff.model is not None:
        _add_band(ax, diff.model, ends, theme)
    # Draw the dots that changed over those that did not.
    even = _add_dots(
        ax, dots, dots.even, {"color": colour("base", theme), "alpha": 0.45}, kwargs
    )
    less = _add_dots(ax, dots, dots.less, {"color": colour("better", theme)}, kwargs)
    more = _add_dots(ax, dots, dots.more, {"color": colour("worse", theme)}, kwargs)
    labels = [f"{words}: {count:,}" for words, count in dots.counts().items()]
    add_legend(ax, [more, less, even], labels)
    _add_names(ax, diff, by, dots, theme)
    ax.set_xlabel(shortened(diff.base.label), parse_math=False)
    ax.set_ylabel(shortened(diff.new.label), parse_math=False)
    add_title(ax, f"{diff.name}: functions, {by}, in {unit_words(diff)}", theme)
    return ax


def scatter_in_words(
    diff: ProfileDiff | Plottable[ProfileDiff], *, by: By = "flat"
) -> str:
    """Return how many functions changed, and how many did not, in a sentence."""
    diff = data_of(diff)
    counts = _dots(diff, by).counts()
    listed = ", ".join(f"{count:,} {words}" for words, count in counts.items())
    labels = f"{shortened(diff.base.label)} against {shortened(diff.new.label)}"
    return f"{diff.name}: functions by {by}, {labels}: {listed}."


def _dots(diff: ProfileDiff, by: By) -> _Dots:
    table = diff.table("functions")
    base, new = table.scaled(by)
    judged = table.judge(by)
    noise = np.zeros(len(base), np.bool_) if judged is None else judged.noise
    some = (base > 0) | (new > 0)
    least = np.concatenate((base[base > 0], new[new > 0])).min(initial=np.inf)
    return _Dots(
        base=base,
        new=new,
        more=some & ~noise & (new > base),
        less=some & ~noise & (new < base),
        even=some & (noise | (new == base)),
        floor=float(least) / 2 if np.isfinite(least) else 0.5,
    )


def _add_dots(
    ax: Axes, dots: _Dots, chosen: Mask, look: dict[str, Any], kwargs: dict[str, Any]
) -> Line2D:
    """Draw the chosen functions; return the artist of those on both sides."""
    both = chosen & (dots.base > 0) & (dots.new > 0)
    one = chosen & ~both
    plain = {"linestyle": "", "marker": "o", "markersize": 4.5, "alpha": 0.9, **look}
    filled = artist_style({**plain, "markeredgewidth": 0}, kwargs)
    (drawn,) = ax.plot(dots.x[both], dots.y[both], **filled)
    ring = artist_style({**plain, "markerfacecolor": "none"}, kwargs)
    ax.plot(dots.x[one], dots.y[one], **ring, clip_on=False)
    return drawn


def _add_band(
    ax: Axes, model: CountModel, ends: tuple[float, float], theme: Theme
) -> None:
    """Draw the noise range of new around the line of no change."""
    places = np.geomspace(*ends, _BAND)
    # Raw values that scale to these places on both sides.
    base, new = (
        np.rint(places / factor).astype(np.int64) for factor in model.by.factors
    )
    reach = model.reach(Runs.single(base, new))
    low, high = np.maximum(places - reach, ends[0] / 10), places + reach
    shade = colour("neutral", theme)
    ax.fill_between(places, low, high, color=shade, alpha=0.6, linewidth=0, zorder=0)


def _add_names(ax: Axes, diff: ProfileDiff, by: By, dots: _Dots, theme: Theme) -> None:
    """Name the functions that changed most, except those without room."""
    table = diff.table("functions")
    moved = [
        i for i in table.order(by)[:_NAMED].tolist() if dots.more[i] | dots.less[i]
    ]
    names = distinct_names(table.names[i] for i in moved)
    written: list[Box] = []
    for i, name in zip(moved, names, strict=True):
        more, words = bool(dots.more[i]), shortened(name, 40)
        place = float(dots.x[i]), float(dots.y[i])
        box = _box(ax, words, place, more=more)
        if any(map(box.overlaps, written)):
            continue
        written.append(box)
        add_note(
            ax,
            words,
            place,
            (-6, 3) if more else (6, -3),
            ha="right" if more else "left",
            va="bottom" if more else "top",
            size="x-small",
            color=colour("worse" if more else "better", theme),
        )


def _box(ax: Axes, words: str, place: tuple[float, float], *, more: bool) -> Box:
    """Return the box of a function's name, from the corner of the plot."""
    width, height = (_AROUND + size for size in text_size(words, "x-small"))
    ends = np.log(ax.get_xlim()), np.log(ax.get_ylim())
    x, y = (
        size * (np.log(at) - low) / (high - low)
        for size, at, (low, high) in zip(room(ax), place, ends, strict=True)
    )
    if more:
        return Box(x - 6 - width, y + 3, width, height)
    return Box(x + 6, y - 3 - height, width, height)


def _mark_decades(
    ax: Axes, which: Which, ends: tuple[float, float], scale: Scale
) -> None:
    """Put one tick per decade on a log axis, in the report's unit."""

    def word(place: float) -> str:
        return tick_words(place, scale.unit)

    low, high = (end / scale.size for end in ends)
    places = decades(ax, which, (low, high), word)
    if which == "y":
        # Where the axes meet, the x label stands for both.
        corner = ends[0] / scale.size * (ends[1] / ends[0]) ** _CORNER
        places = [place for place in places if place > corner]
    sizes = [place * scale.size for place in places]
    set_ticks(ax, which, sizes, [word(place) for place in places])
