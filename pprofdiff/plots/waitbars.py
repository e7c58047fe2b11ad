"""What goroutines waited for in the end: a bar for base, one for new, by end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.wait_chains import EndKind
from pprofdiff.analysis.traces.waited import by_end, waited
from pprofdiff.goruntime.readable import short
from pprofdiff.palette import Theme, colour, group
from pprofdiff.plots.axes import (
    Plottable,
    add_leaders,
    add_note,
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
from pprofdiff.units import Scale, scale_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class EndStyle(NamedTuple):
    """How an end of waits is called, and the group of costs that has its fill."""

    words: str
    group: str


END_STYLES: dict[EndKind, EndStyle] = {
    "running": EndStyle("code running", "sched"),
    "processor": EndStyle("a processor", "locks"),
    "syscall": EndStyle("system calls", "syscall"),
    "network": EndStyle("the network", "alloc"),
    "timer": EndStyle("timers", "gc_tax"),
    "gc": EndStyle("GC", "gc"),
    "blocked": EndStyle("ended by no goroutine", "user"),
    "created": EndStyle("goroutines not created yet", "runtime"),
}
"""The words and the fill of each kind of end."""

# The longest ends have names, those with this part of the longest bar at least.
_NAMED, _LEAST = 6, 0.01
_IN_WORDS = 3
# The part of the room that a bar and the space next to it have at least.
_BAR = 1 / 6


class _End(NamedTuple):
    """An end: its words, its fill's group, its scaled ns in base and new."""

    words: str
    group: str
    base: float
    new: float


def waits(
    diff: TraceDiff | Plottable[TraceDiff],
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.bar takes
) -> Axes:
    """Draw what goroutines waited for in the end: base and new, stacked by end.

    Waits of the goroutines that do the work are followed through the goroutines that
    ended them (`TraceDiff.waited`). x counts sides; y is time in ns, per second of wall
    time or per op; `kwargs` go to `Axes.bar`.
    """
    diff = data_of(diff)
    ax = themed(ax, theme)
    ends = _ends(diff)
    scale = _scale(ends)
    parts = [
        Stacked(
            f"{end.words}: {_values(scale, end)}",
            group(end.group, theme) if end.group else colour("neutral", theme),
            np.array([end.base, end.new]),
        )
        for end in reversed(ends)
    ]
    stack_bars(ax, parts, _labels(ax, diff), scale, theme, kwargs)
    add_title(ax, f"Waited for, {per(diff)}", theme)
    return ax


def _labels(ax: Axes, diff: TraceDiff) -> list[str]:
    """Return the words below the bars: long ones on two lines, new's below base's."""
    labels = [shortened(side.label, 20) for side in diff.sides]
    widest = max(text_size(label)[0] for label in labels)
    gap = "" if widest <= _BAR * room(ax)[0] else "\n"
    return [labels[0], f"{gap}{labels[1]}"]


def waits_in_words(diff: TraceDiff) -> str:
    """Return the times of all waits and of the longest ends, in a sentence."""
    ends = _ends(diff)
    scale = _scale(ends)
    base, new = (shortened(side.label, 20) for side in diff.sides)
    whole = _End("", "", sum(end.base for end in ends), sum(end.new for end in ends))
    longest = [f"{end.words} {_values(scale, end)}" for end in ends[:_IN_WORDS]]
    return (
        f"Goroutines that do the work waited {_values(scale, whole)} {per(diff)}, "
        f"{base} → {new}; for {'; '.join(longest) or 'nothing'}."
    )


def _values(scale: Scale, end: _End) -> str:
    base, new = (scale.number(ns) if ns else "0" for ns in (end.base, end.new))
    return f"{base} → {new} {scale.unit}"


def _scale(ends: list[_End]) -> Scale:
    return scale_for(
        [sum(end.base for end in ends), sum(end.new for end in ends)], "ns"
    )


def _ends(diff: TraceDiff) -> list[_End]:
    """Return the ends, longest first, those too short to be named as one."""
    times: dict[tuple[str, str], list[int]] = {}
    for end, (base, new) in by_end(waited(diff)).items():
        style = END_STYLES[end.kind]
        words = short(end.call) if end.kind == "syscall" and end.call else style.words
        own = times.setdefault((words, style.group), [0, 0])
        own[0] += base
        own[1] += new
    ends = [
        _End(*named, *diff.normalization.scaled(*own)) for named, own in times.items()
    ]
    ends.sort(key=lambda end: -max(end.base, end.new))
    least = _LEAST * max(sum(end.base for end in ends), sum(end.new for end in ends))
    shown = [end for end in ends[:_NAMED] if max(end.base, end.new) >= least]
    left = ends[len(shown) :]
    if left:
        rest = sum(end.base for end in left), sum(end.new for end in left)
        words = "another end" if len(left) == 1 else f"{len(left)} other ends"
        shown.append(_End(words, "", *rest))
    return shown


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stacked:
    """A part of each bar: its label, its colour, its scaled value in each bar."""

    label: str
    fill: str
    values: Floats


def stack_bars(
    ax: Axes,
    parts: Sequence[Stacked],
    names: Sequence[str],
    scale: Scale,
    theme: Theme,
    given: dict[str, Any],
) -> None:
    """Draw one bar per name: the parts on each other, their names next to the last."""
    places = np.arange(len(names), dtype=np.float64)
    below = np.zeros(len(places))
    edge = colour("background", theme)
    for one in parts:
        plain = {"width": 0.72, "color": one.fill, "edgecolor": edge, "linewidth": 0.8}
        style = artist_style(plain, given, "bar")
        ax.bar(places, one.values, bottom=below, **style)
        below = below + one.values
    top = float(below.max(initial=0.0)) or 1.0
    faint = colour("faint", theme)
    for place, total in zip(places.tolist(), below.tolist(), strict=True):
        words = scale.number(total)
        add_note(
            ax, words, (place, total), (0, 3), ha="center", va="bottom", color=faint
        )
    _add_names(ax, parts, top, theme)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylim(0, top * 1.08)
    set_ticks(ax, "x", places.tolist(), names)
    mark_axis(ax, "y", (0.0, top), scale)


def _add_names(ax: Axes, groups: Sequence[Stacked], top: float, theme: Theme) -> None:
    if len(groups) < 2:
        return
    middles, low = [], 0.0
    for one in groups:
        high = low + float(one.values[-1])
        middles.append((low + high) / 2)
        low = high
    gap = 1.08 * top * max(text_size("")[1] / room(ax)[1], 0.054)
    x = len(groups[0].values) - 1 + 0.36
    ends = [
        (one.label, middle, one.fill)
        for one, middle in zip(groups, middles, strict=True)
    ]
    add_leaders(ax, ends, (x, x + 0.32), gap, theme, linewidth=1.4, shrinkA=2)
