"""Base against new, a dot a function: what is off the line moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import ValueColumn
from pprofdiff.analysis.stats.counts import LIMIT, CountModel
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import (
    Ticks,
    as_is,
    framed,
    keyed,
    looks,
    numbered,
    place_in_words,
    shown,
    titled,
    unit_in_words,
)
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["scatter", "scatter_in_words"]

Floats = NDArray[np.float64]
_NAMED = 6
_BAND = 60


class _Dots(NamedTuple):
    """Functions by what became of them: scaled base and new, and which are which.

    What one side lacks is put at `floor`, under the least value that there is.
    """

    base: Floats
    new: Floats
    floor: float
    kinds: dict[str, NDArray[np.bool_]]


def scatter(
    diff: ProfileDiff,
    ax: Axes | None = None,
    *,
    by: Literal["flat", "cum"] = "flat",
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw each function's ``flat`` or ``cum`` in new against base, both logarithmic.

    The band holds what chance explains of one function (three standard deviations of
    the count model). Functions of one side alone are rings on the axes. The six that
    moved most are named.
    """
    ax = framed(ax, theme)
    ax.grid(visible=True, axis="x", color=colour("grid", theme), linewidth=0.8)
    scale, dots = scale_of(diff), _dots(diff, by)
    top = float(max(dots.base.max(initial=0), dots.new.max(initial=0))) or 1.0
    ends = dots.floor / 1.5, top * 2
    for which in ("x", "y"):
        _log_axis(ax, which, ends, scale)
    line = np.array(ends)
    ax.plot(line, line, color=colour("faint", theme), linewidth=0.8)
    if diff.model is not None:
        _band(ax, diff.model, ends, theme)
    handles = _dotted(ax, dots, theme, kwargs)
    labels = [f"{name}: {int(mask.sum()):,}" for name, mask in dots.kinds.items()]
    keyed(ax, handles, labels)
    _named(ax, diff, by, dots, theme)
    ax.set_xlabel(shown(diff.base.label), parse_math=False)
    ax.set_ylabel(shown(diff.new.label), parse_math=False)
    titled(ax, f"{diff.name}: functions, {by}, {unit_in_words(diff)}", theme)
    return ax


def scatter_in_words(diff: ProfileDiff, *, by: Literal["flat", "cum"] = "flat") -> str:
    """Return what `scatter` draws, in a sentence."""
    counts = {name: int(mask.sum()) for name, mask in _dots(diff, by).kinds.items()}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    labels = f"{shown(diff.base.label)} against {shown(diff.new.label)}"
    return f"{diff.name}: functions by {by}, {labels}: {told}."


def _dots(diff: ProfileDiff, by: ValueColumn) -> _Dots:
    table = diff.table("functions")
    base, new = table.scaled(by)
    judged = table.judge(by)
    noise = np.zeros(len(base), np.bool_) if judged is None else judged.noise
    some = (base > 0) | (new > 0)
    least = np.concatenate((base[base > 0], new[new > 0])).min(initial=np.inf)
    floor = float(least) / 2 if np.isfinite(least) else 0.5
    kinds = {
        "more": some & ~noise & (new > base),
        "less": some & ~noise & (new < base),
        "within noise": some & (noise | (new == base)),
    }
    return _Dots(base, new, floor, kinds)


def _dotted(
    ax: Axes, dots: _Dots, theme: Theme, kwargs: dict[str, Any]
) -> list[Line2D]:
    """Draw the dots, what is within noise first; return them in the legend's order."""
    shades = {"more": "worse", "less": "better", "within noise": "base"}
    x, y = np.maximum(dots.base, dots.floor), np.maximum(dots.new, dots.floor)
    handles = {}
    for name in reversed(dots.kinds):
        mask = dots.kinds[name]
        both = mask & (dots.base > 0) & (dots.new > 0)
        shade = colour(shades[name], theme)
        faded = 0.45 if name == "within noise" else 0.9
        style = {"color": shade, "linestyle": "", "markersize": 4.5, "alpha": faded}
        (handles[name],) = ax.plot(
            x[both],
            y[both],
            **looks({"marker": "o", "markeredgewidth": 0, **style}, kwargs),
        )
        ringed = looks({"marker": "o", "markerfacecolor": "none", **style}, kwargs)
        ax.plot(x[mask & ~both], y[mask & ~both], **ringed, clip_on=False)
    return [handles[name] for name in dots.kinds]


def _band(ax: Axes, model: CountModel, ends: tuple[float, float], theme: Theme) -> None:
    """Draw how far new may be from base by chance, along the line."""
    places = np.geomspace(*ends, _BAND)
    # Raw values that would be scaled to these places on both sides.
    base, new = (
        np.rint(places / factor).astype(np.int64) for factor in model.by.factors
    )
    reach = LIMIT * model.sigma(base, new)
    low, high = np.maximum(places - reach, ends[0] / 10), places + reach
    shade = colour("neutral", theme)
    ax.fill_between(places, low, high, color=shade, alpha=0.6, linewidth=0, zorder=0)


def _named(
    ax: Axes, diff: ProfileDiff, by: ValueColumn, dots: _Dots, theme: Theme
) -> None:
    """Name those that moved most."""
    table = diff.table("functions")
    for i in table.order(by)[:_NAMED].tolist():
        if dots.kinds["within noise"][i] or dots.base[i] == dots.new[i]:
            continue
        more = dots.new[i] > dots.base[i]
        text = ax.annotate(
            shown(table.names[i], 40),
            (max(dots.base[i], dots.floor), max(dots.new[i], dots.floor)),
            xytext=(-6, 3) if more else (6, -3),
            textcoords="offset points",
            ha="right" if more else "left",
            va="bottom" if more else "top",
            size="x-small",
            color=colour("worse" if more else "better", theme),
        )
        as_is(text)


def _log_axis(ax: Axes, which: str, ends: tuple[float, float], scale: Scale) -> None:
    """Make an axis logarithmic, with a mark a decade in the report's unit."""
    if which == "x":
        ax.set_xscale("log")
        ax.set_xlim(*ends)
    else:
        ax.set_yscale("log")
        ax.set_ylim(*ends)
    first, last = (np.log10(end / scale.size) for end in ends)
    powers = range(int(np.ceil(first)), int(np.floor(last)) + 1)
    places = [10.0**power for power in powers]
    words = [place_in_words(place, scale.unit) for place in places]
    numbered(ax, which, Ticks([place * scale.size for place in places], words))
