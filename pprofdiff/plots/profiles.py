"""Two profiles: how base's total becomes new's, and which functions moved.

Numbers are scaled as in the report (per second, per operation …), which the title says.
More is orange, less is blue; what chance explains is grey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tables import ValueColumn
from pprofdiff.analysis.stats.counts import LIMIT
from pprofdiff.goruntime.rules import rules
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import (
    Ticks,
    as_is,
    framed,
    looks,
    numbered,
    place_in_words,
    round_places,
    shown,
    titled,
    unit_in_words,
)
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["movers", "movers_in_words", "waterfall", "waterfall_in_words"]

Column = NDArray[np.int64]
_NAMED = 8
_TOLD = 5


class _Rows(NamedTuple):
    """Rows of a plot: shown names, raw sums, scaled deltas, and which are no change."""

    names: list[str]
    base: Column
    new: Column
    delta: NDArray[np.float64]
    noise: NDArray[np.bool_]


def waterfall(
    diff: ProfileDiff,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw how base's total becomes new's, one bar a group of runtime costs.

    Profiles whose stacks have no groups are drawn by package: those that moved most,
    and all others in one. The bars add up to the difference of the totals.
    """
    ax = framed(ax, theme)
    scale, rows = scale_of(diff), _parts(diff)
    base, new = _totals(diff)
    ends = base + np.cumsum(rows.delta)
    starts = ends - rows.delta
    places = np.arange(1, len(rows.names) + 1)
    style = looks({"height": 0.62, "linewidth": 0}, kwargs, "bar")
    ax.barh(places, rows.delta, left=starts, color=_shades(rows, theme), **style)
    levels = np.concatenate(([base], ends))
    for level, top in zip(levels.tolist(), range(len(levels)), strict=True):
        ax.plot([level] * 2, [top, top + 1], color=colour("border", theme), zorder=0)
    for total, place, name in ((base, 0, "base"), (new, len(places) + 1, "new")):
        ax.plot(total, place, marker="o", markersize=7, color=colour(name, theme))
    _written(ax, scale, rows, np.maximum(starts, ends), theme)
    words = [scale.text(base), scale.text(new)]
    _noted(ax, base, 0, words[0], colour("base", theme))
    _noted(ax, new, len(places) + 1, words[1], colour("new", theme))
    labels = [shown(side.label, 32) for side in (diff.base, diff.new)]
    _listed(ax, [labels[0], *rows.names, labels[1]])
    _across(ax, scale, float(levels.min()), float(levels.max()), theme)
    titled(ax, f"{diff.name} by {_by(diff)}, {unit_in_words(diff)}", theme)
    return ax


def movers(
    diff: ProfileDiff,
    ax: Axes | None = None,
    *,
    n: int = 12,
    by: Literal["flat", "cum"] = "cum",
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw the `n` functions whose ``flat`` or ``cum`` changed most.

    Whiskers reach as far as chance does (three standard deviations of the count model);
    there are none where chance has no model.
    """
    ax = framed(ax, theme)
    scale, rows = scale_of(diff), _moved(diff, n, by)
    places = np.arange(len(rows.names))
    style = looks({"height": 0.62, "linewidth": 0}, kwargs, "bar")
    ax.barh(places, rows.delta, color=_shades(rows, theme), **style)
    reach = np.zeros(len(rows.names))
    if diff.model is not None:
        reach = LIMIT * diff.model.sigma(rows.base, rows.new)
        faint = colour("faint", theme)
        ax.errorbar(
            rows.delta, places, xerr=reach, fmt="none", ecolor=faint, elinewidth=1.0
        )
    ax.axvline(0, color=colour("faint", theme), linewidth=0.8)
    _written(ax, scale, rows, np.maximum(rows.delta + reach, 0), theme, first=0)
    _listed(ax, rows.names)
    ends = np.concatenate(([0.0], rows.delta - reach, rows.delta + reach))
    _across(ax, scale, float(ends.min()), float(ends.max()), theme)
    titled(ax, f"{diff.name}: what moved most, {by}, {unit_in_words(diff)}", theme)
    return ax


def waterfall_in_words(diff: ProfileDiff) -> str:
    """Return what `waterfall` draws, in a sentence."""
    scale, rows = scale_of(diff), _parts(diff)
    base, new = (scale.text(total) for total in _totals(diff))
    what = f"{shown(diff.base.label)} {base}, {shown(diff.new.label)} {new}"
    return f"{diff.name} by {_by(diff)}. {what}; {_listing(rows, scale)}."


def movers_in_words(
    diff: ProfileDiff, *, n: int = 12, by: Literal["flat", "cum"] = "cum"
) -> str:
    """Return the first of what `movers` draws, in a sentence."""
    rows = _moved(diff, min(n, _TOLD), by)
    return f"{diff.name}: what moved most, {by}. {_listing(rows, scale_of(diff))}."


def _listing(rows: _Rows, scale: Scale) -> str:
    told = [
        f"{name} {scale.text(delta, signed=True)}" + (" (noise)" if noise else "")
        for name, delta, noise in zip(
            rows.names, rows.delta.tolist(), rows.noise.tolist(), strict=True
        )
    ]
    return "; ".join(told) or "nothing moved"


def _totals(diff: ProfileDiff) -> tuple[float, float]:
    base, new = diff.totals
    by = diff.normalization
    return base * by.base_factor, new * by.new_factor


def _by(diff: ProfileDiff) -> str:
    return "package" if diff.category_sums is None else "group of runtime costs"


def _parts(diff: ProfileDiff) -> _Rows:
    """Return groups, or packages, that add up to both totals; none that is 0."""
    sums = diff.category_sums
    if sums is None:
        return _packages(diff)
    labels = {group.id: group.label for group in rules().groups}
    held = [(labels[name], base, new) for name, base, new in sums.groups()]
    return _rows(diff, [row for row in held if row[1] or row[2]])


def _packages(diff: ProfileDiff) -> _Rows:
    table = diff.table("packages")
    order = table.order("flat").tolist()
    raw = [
        (table.names[i], int(table.base_flat[i]), int(table.new_flat[i])) for i in order
    ]
    first = [row for row in raw[:_NAMED] if row[1] or row[2]]
    totals = diff.totals
    rest = tuple(totals[i] - sum(row[i + 1] for row in first) for i in (0, 1))
    if any(rest):
        first.append((f"{len(raw) - len(first)} others", rest[0], rest[1]))
    return _rows(diff, first)


def _rows(diff: ProfileDiff, raw: list[tuple[str, int, int]]) -> _Rows:
    base = np.array([row[1] for row in raw], np.int64)
    new = np.array([row[2] for row in raw], np.int64)
    by = diff.normalization
    judged = diff.judge(base.tolist(), new.tolist())
    noise = np.zeros(len(raw), np.bool_) if judged is None else judged.noise
    delta = new * by.new_factor - base * by.base_factor
    return _Rows([shown(row[0]) for row in raw], base, new, delta, noise)


def _moved(diff: ProfileDiff, n: int, by: ValueColumn) -> _Rows:
    """Return the functions that moved most; their noise is judged among all."""
    table = diff.table("functions")
    order = table.order(by)
    order = order[table.scaled_delta(by)[order] != 0][:n]
    judged = table.judge(by)
    noise = np.zeros(len(order), np.bool_) if judged is None else judged.noise[order]
    base, new = (column[order] for column in table.raw(by))
    marks = ("", " +new", " -gone")
    names = [
        shown(table.names[i]) + marks[status]
        for i, status in zip(
            order.tolist(), table.status()[order].tolist(), strict=True
        )
    ]
    return _Rows(names, base, new, table.scaled_delta(by)[order], noise)


def _shades(rows: _Rows, theme: Theme) -> list[str]:
    """Return each bar's colour: worse, better, or neither."""
    names = np.where(
        rows.noise, "border", np.where(rows.delta > 0, "worse_4", "better_4")
    )
    return [colour(name, theme) for name in names.tolist()]


def _written(
    ax: Axes,
    scale: Scale,
    rows: _Rows,
    right: NDArray[np.float64],
    theme: Theme,
    *,
    first: int = 1,
) -> None:
    """Write each delta right of its bar, and whether it is noise."""
    for i, delta in enumerate(rows.delta.tolist()):
        name = "faint" if rows.noise[i] else "worse" if delta > 0 else "better"
        words = scale.number(delta, signed=True)
        words = f"{words}, noise" if rows.noise[i] else words
        _noted(ax, float(right[i]), first + i, words, colour(name, theme))


def _noted(ax: Axes, x: float, y: float, words: str, shade: str) -> None:
    text = ax.annotate(
        words,
        (x, y),
        xytext=(7, 0),
        textcoords="offset points",
        va="center",
        size="small",
        color=shade,
    )
    as_is(text)


def _listed(ax: Axes, names: list[str]) -> None:
    """Name the rows, the first on top; rows need no lines."""
    numbered(ax, "y", Ticks(range(len(names)), names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")


def _across(ax: Axes, scale: Scale, low: float, high: float, theme: Theme) -> None:
    """Mark x in the report's unit; leave room for numbers right of bars."""
    room = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    ax.set_xlim(low - room, high + 3 * room)
    ax.grid(visible=True, axis="x", color=colour("grid", theme), linewidth=0.8)
    places = round_places(low / scale.size, high / scale.size)
    words = [place_in_words(place, scale.unit) for place in places]
    numbered(ax, "x", Ticks([place * scale.size for place in places], words))
