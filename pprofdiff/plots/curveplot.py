"""A fleet's shares step by step: how far each one drifted, and where it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.analysis.series.judged import Curve, JudgedSeries, KindCurves
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    Plottable,
    add_leaders,
    add_title,
    artist_style,
    data_of,
    mark_axis,
    room,
    set_ticks,
    shortened,
    text_size,
    themed,
)
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CurvesOf = Literal["groups", "functions"]
Floats = NDArray[np.float64]

_FUNCTIONS, _NAMED, _LONGEST = 10, 5, 26
_POINTS = Scale(0.01, "pp", 2)
# Space between tick labels of x, in points.
_BETWEEN = 8.0


def curves(
    series: JudgedSeries | Plottable[JudgedSeries],
    ax: Axes | None = None,
    *,
    which: CurvesOf = "functions",
    kind: str = "",
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw how far shares of the total drifted from their start, step by step.

    `which` are groups of runtime costs, or the ten functions that changed most; `kind`
    is the kind of profile, "" for the first. Raises UsageError without such curves.

    Curves whose largest change is up are orange, down blue, with their share between
    changes as a thick line; others, within the variation between hosts, are grey. x
    counts steps, y is a share of the total; `kwargs` go to `Axes.plot`.
    """
    judged = data_of(series)
    chosen = _kind(judged, kind)
    some = _curves_of(chosen, which)
    ax = themed(ax, theme)
    grey = {"color": colour("base", theme), "linewidth": 0.9, "alpha": 0.5}
    for curve in some:
        if not curve.changes:
            values = curve.shares - float(np.nanmean(curve.shares))
            ax.plot(values, **artist_style(grey, kwargs))
    named: list[tuple[Curve, float, str]] = []
    for curve in reversed([curve for curve in some if curve.changes]):
        shade = colour("worse" if curve.largest > 0 else "better", theme)
        named.append((curve, _draw_changed(ax, curve, shade, kwargs), shade))
    for step in sorted({one.step for curve in some for one in curve.changes}):
        ax.axvline(
            step - 0.5, color=colour("faint", theme), linewidth=1, linestyle=(0, (4, 3))
        )
    count = len(judged.series.steps)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high)
    ax.set_xlim(-0.5, count - 0.5)
    mark_axis(ax, "y", (low, high), _POINTS)
    _name(ax, named[::-1][:_NAMED], theme)
    _mark_steps(ax, [step.name for step in judged.series.steps])
    of = "group" if which == "groups" else "function (flat)"
    add_title(ax, f"{chosen.measured.kind} by {of}: share of the total, pp", theme)
    return ax


def _draw_changed(ax: Axes, curve: Curve, shade: str, given: dict[str, Any]) -> float:
    """Draw a curve that changed; return where it ends."""
    start = curve.levels[0][1]
    places = np.arange(len(curve.shares))
    values = curve.shares - start
    plain = {"color": shade, "linewidth": 1.2, "marker": ".", "markersize": 4}
    ax.plot(places, values, **artist_style(plain, given))
    spread = NORMAL.of_95 * curve.deviation
    ax.fill_between(
        places, values - spread, values + spread, color=shade, alpha=0.15, linewidth=0
    )
    ends = [*(step for step, _ in curve.levels[1:]), len(places)]
    for (first, level), end in zip(curve.levels, ends, strict=True):
        height = [level - start] * 2
        ax.plot([first - 0.5, end - 0.5], height, color=shade, linewidth=2.2)
    return float(curve.levels[-1][1] - start)


def _name(ax: Axes, named: Sequence[tuple[Curve, float, str]], theme: Theme) -> None:
    if not named:
        return
    rows = sorted(named, key=lambda one: one[1])
    functions = [curve.key for curve, _, _ in rows if curve.sort == "function"]
    spelled = dict(zip(functions, distinct_names(functions), strict=True))
    words = [
        shortened(spelled.get(curve.key, curve.label), _LONGEST) for curve, _, _ in rows
    ]
    wide, high = room(ax)
    widest = max(text_size(word)[0] for word in words) + 10
    left, right = ax.get_xlim()
    part = min(widest / wide, 0.6)
    ax.set_xlim(left, left + (right - left) / (1 - part))
    low, top = ax.get_ylim()
    gap = (top - low) * max(text_size("")[1] / high, 0.05)
    ends = [
        (word, end, shade) for word, (_, end, shade) in zip(words, rows, strict=True)
    ]
    xs = right, right + (right - left) * 0.03
    add_leaders(ax, ends, xs, gap, theme, linewidth=1.2, shrinkA=1)


def _mark_steps(ax: Axes, names: Sequence[str]) -> None:
    words = [shortened(name, _LONGEST) for name in names]
    left, right = ax.get_xlim()
    each = room(ax)[0] / (right - left)
    widest = max(text_size(word)[0] for word in words) + _BETWEEN
    every = max(int(np.ceil(widest / each)), 1)
    places = list(range(0, len(words), every))
    set_ticks(ax, "x", [float(i) for i in places], [words[i] for i in places])


def curves_in_words(
    judged: JudgedSeries, *, which: CurvesOf = "functions", kind: str = ""
) -> str:
    """Return what `curves` shows: which curves changed, where and by how much."""
    chosen = _kind(judged, kind)
    some = _curves_of(chosen, which)
    names = [step.name for step in judged.series.steps]
    changed = [curve for curve in some if curve.changes]
    noun = which.removesuffix("s")
    head = (
        f"Shares of the {chosen.measured.kind} total from {names[0]} to {names[-1]}, "
        f"{len(some)} {which if len(some) != 1 else noun}"
    )
    if not changed:
        return f"{head}: none changed."
    spelled = distinct_names([curve.key for curve in changed])
    labels = spelled if which == "functions" else [curve.label for curve in changed]
    listed = "; ".join(
        f"{label} "
        + ", ".join(
            f"{_POINTS.text(one.delta, signed=True)} at {names[one.step]}"
            for one in curve.changes
        )
        for curve, label in zip(changed, labels, strict=True)
    )
    return f"{head}. Changed: {listed}."


def _kind(judged: JudgedSeries, name: str) -> KindCurves:
    for kind in judged.kinds:
        if name in ("", kind.measured.kind):
            return kind
    known = ", ".join(kind.measured.kind for kind in judged.kinds)
    raise UsageError(f"kind={name!r}: there are {known}")


def drawable(kind: KindCurves) -> tuple[CurvesOf, ...]:
    """Return which curves a kind of profile has."""
    chosen: dict[CurvesOf, tuple[Curve, ...]] = {
        "functions": kind.functions,
        "groups": kind.groups,
    }
    return tuple(which for which, some in chosen.items() if some)


def _curves_of(kind: KindCurves, which: CurvesOf) -> tuple[Curve, ...]:
    some = kind.groups if which == "groups" else kind.functions[:_FUNCTIONS]
    if not some:
        raise UsageError(f"{kind.measured.kind} profiles have no {which} to draw")
    return some
