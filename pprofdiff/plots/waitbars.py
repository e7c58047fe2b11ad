"""What goroutines waited for in the end: a bar for base, one for new, by end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.wait_chains import EndKind
from pprofdiff.analysis.traces.waited import by_end, waited
from pprofdiff.goruntime.readable import short
from pprofdiff.palette import Theme, colour, group
from pprofdiff.plots.axes import (
    Plottable,
    add_title,
    data_of,
    shortened,
    themed,
)
from pprofdiff.plots.buildbars import Stacked, stack_bars
from pprofdiff.plots.fitting import room, text_size
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
