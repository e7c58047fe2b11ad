"""Where goroutines spend their time, by root function, base above new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.causes.traces import of_tracer, per, sides_of
from pprofdiff.analysis.traces.catalogue import BY_KEY
from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
from pprofdiff.analysis.traces.goroutines import STATE_TIMES, Groups
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    SIDES,
    Plottable,
    add_legend,
    add_note,
    add_title,
    artist_style,
    data_of,
    mark_sizes,
    name_rows,
    room,
    shortened,
    text_size,
    themed,
)
from pprofdiff.units import scaled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_TOLD = 3
_HEIGHT = 0.42
# Width of a side's mark, in points; half of it is visible.
_EDGE = 8.0
# Offsets of the bars of base and new from the middle of their row.
_SHIFTS = (-0.5 * (_HEIGHT + 0.04), 0.5 * (_HEIGHT + 0.04))


_COLOURS = {
    "running": "group_sched",
    "runnable": "worse_4",
    "syscall": "group_syscall",
    "syscall_block": "group_alloc",
    "blocked": "neutral",
}


@dataclass(frozen=True, eq=False)
class _Root:
    """A root function: its name, and scaled ns, float64 of shape (sides, states)."""

    name: str
    times: Floats


def states(
    diff: TraceDiff | Plottable[TraceDiff],
    ax: Axes | None = None,
    *,
    n: int = 8,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw goroutine time by state, two stacked bars per root function.

    The `n` root functions that changed most are drawn, without those that exist only
    because of the trace. x is goroutine time in ns, per second of wall time or per op;
    y counts root functions from the top, base above new in each; `kwargs` go to
    `Axes.barh`.
    """
    diff = data_of(diff)
    ax = themed(ax, theme, "x")
    roots = _roots(diff, n)
    handles = _add_bars(ax, roots, theme, kwargs)
    top = max((float(root.times.sum(axis=1).max()) for root in roots), default=0.0) or 1
    labels = [shortened(side.label, 16) for side in diff.sides]
    wide = _add_sums(ax, roots, labels, theme)
    end = top / max(1 - wide / room(ax)[0], 0.3)
    ax.set_xlim(0, end)
    mark_sizes(ax, "x", end, "ns")
    name_rows(ax, [root.name for root in roots])
    add_legend(ax, handles, [BY_KEY[state].title for state in _COLOURS])
    title = f"Goroutine time {per(diff)} by root function, {_sides(diff)}"
    add_title(ax, title, theme)
    return ax


def states_in_words(diff: TraceDiff) -> str:
    """Return the times of the root functions that changed most, in a sentence."""
    roots = []
    for root in _roots(diff, _TOLD):
        times = [
            f"{BY_KEY[state].title} {scaled(base, 'ns')} → {scaled(new, 'ns')}"
            for state, (base, new) in zip(_COLOURS, root.times.T.tolist(), strict=True)
            if base or new
        ]
        roots.append(f"{root.name}: {', '.join(times)}")
    return f"Goroutine time {per(diff)}, {_sides(diff)}. {'; '.join(roots) or 'None'}."


def _sides(diff: TraceDiff) -> str:
    base, new = (shortened(side.label, 20) for side in diff.sides)
    return f"{base} above {new}"


def _ns(groups: Groups, row: int, state: str) -> int:
    if state == "blocked":
        return int(groups.block_ns[row].sum())
    return int(getattr(groups, STATE_TIMES[state])[row])


def _roots(diff: TraceDiff, n: int) -> list[_Root]:
    found: list[tuple[str, Floats]] = []
    for pair in diff.groups:
        if len(found) == n:
            break
        if not of_tracer(diff, pair):
            times = _times(diff, pair)
            if times.any():
                found.append((pair.name, times))
    names = distinct_names(name for name, _ in found)
    return [
        _Root(shortened(name, 36), times)
        for name, (_, times) in zip(names, found, strict=True)
    ]


def _times(diff: TraceDiff, pair: GroupPair) -> Floats:
    """Return scaled ns by side and state, zeros if a side lacks the function."""
    times = [
        [
            _ns(side.groups, row, state) * factor if row >= 0 else 0.0
            for state in _COLOURS
        ]
        for (side, row), factor in zip(sides_of(diff, pair), diff.factors, strict=True)
    ]
    return np.array(times, np.float64)


def _add_bars(
    ax: Axes, roots: Sequence[_Root], theme: Theme, kwargs: dict[str, Any]
) -> list[Artist]:
    """Draw the bars; return a swatch for each state."""
    from matplotlib.patches import Patch

    shape = len(roots), 2, len(_COLOURS)
    times = np.array([root.times for root in roots]).reshape(shape)
    handles: list[Artist] = []
    for i, name in enumerate(_COLOURS.values()):
        shade = colour(name, theme)
        plain = {"height": _HEIGHT, "linewidth": 0, "color": shade}
        style = artist_style(plain, kwargs, "bar")
        for side, shift in enumerate(_SHIFTS):
            places = np.arange(len(roots)) + shift
            left = times[:, side, :i].sum(axis=1)
            bars = ax.barh(places, times[:, side, i], left=left, **style)
        handles.append(bars.patches[0] if bars.patches else Patch(color=shade))
    return handles


def _words(times: Floats) -> str:
    """Return the sum of a bar, with blocked time, which comes last, on its own."""
    *awake, blocked = times.tolist()
    words = scaled(sum(awake), "ns") if any(awake) else "0"
    return f"{words}, {scaled(blocked, 'ns')} blocked" if blocked else words


def _add_sums(
    ax: Axes, roots: Sequence[_Root], labels: Sequence[str], theme: Theme
) -> float:
    """Write each bar's side and sum; return the width of the longest, in points."""
    widest = 0.0
    for row, root in enumerate(roots):
        for times, shift, name, label in zip(
            root.times, _SHIFTS, SIDES, labels, strict=True
        ):
            total, words = float(times.sum()), f"{label} {_words(times)}"
            y, shade = row + shift, colour(name, theme)
            add_note(ax, words, (total, y), (4, 0), size="x-small", color=shade)
            edge = y - _HEIGHT / 2, y + _HEIGHT / 2
            ax.plot((0, 0), edge, color=shade, linewidth=_EDGE, solid_capstyle="butt")
            widest = max(widest, text_size(words, "x-small")[0])
    return widest + 8
