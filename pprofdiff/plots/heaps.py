"""The heap over time: its size, the live heap, and the heap goal.

GC logs give three sizes per cycle: heap at GC start, at the end of marking, and live
heap. The heap is drawn from one to the next, as if allocation were even. Traces record
the heap and its goal whenever they change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.traces.trace import Series
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    SIDES,
    Plottable,
    add_note,
    add_title,
    data_of,
    mark_sizes,
    shortened,
    themed,
)
from pprofdiff.units import many, scaled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Floats = NDArray[np.float64]
ProfileSide = GCSide | TraceSide
Diff = GCDiff | TraceDiff

_MIB = 1 << 20
# Above this many cycles, the heap is drawn as the band that it covers.
_CROWD = 150
_POINTS, _COLUMNS = 200, 100
# Minimum distance between names at the ends of lines, in points.
_APART = 12.0
_ROOM = 1.06
# In figures narrower than this, in points, two Axes do not fit side by side.
_NARROW = 420.0


@dataclass(frozen=True, eq=False)
class _Line:
    """A size in bytes over time in ns since the start, ascending; float64."""

    time_ns: Floats
    size: Floats

    def end(self, *, crowded: bool) -> float:
        """Return the size at the end of the line as drawn."""
        drawn = self.middle() if crowded else self
        return float(drawn.size[-1])

    def middle(self) -> _Line:
        """Return the median of each column of time."""
        band = banded(self.time_ns, self.size, _COLUMNS)
        return _Line(band.x, band.middle)


@dataclass(frozen=True, eq=False)
class _Heap:
    """One side's heap over time, with its goal and live heap if known.

    `goal_steps` says whether a goal holds before its time (``pre``) or from then on.
    """

    label: str
    cycles: int
    wall_ns: float
    size: _Line
    goal: _Line | None
    goal_steps: Literal["steps-pre", "steps-post"]
    live: _Line | None

    @property
    def crowded(self) -> bool:
        """Whether there are too many cycles to draw each."""
        return self.cycles > _CROWD

    @property
    def summary(self) -> str:
        cycles = many(self.cycles, "GC cycle")
        return f"{shortened(self.label, 20)}: {cycles} in {scaled(self.wall_ns, 'ns')}"

    def named(self) -> Iterator[tuple[str, _Line]]:
        if self.goal is not None:
            yield "goal", self.goal
        if self.live is not None:
            yield "live", self.live

    @property
    def top(self) -> float:
        lines = [self.size, *(line for _, line in self.named())]
        return max(float(line.size.max(initial=0)) for line in lines)


def heaps_of(
    diff: Diff | Plottable[Diff], figure: Figure | SubFigure, theme: Theme = "light"
) -> None:
    """Draw the heaps of base and new on two Axes of an empty figure, on one scale."""
    diff = data_of(diff)
    narrow = figure.bbox.width * 72 / figure.dpi < _NARROW
    first, second = figure.subplots(*((2, 1) if narrow else (1, 2)))
    heaps = [_heap(side) for side in (diff.base, diff.new)]
    for ax, one, name in zip((first, second), heaps, SIDES, strict=True):
        themed(ax, theme)
        _set_limits(ax, heaps)
        _add_heap(ax, one, colour(name, theme), colour("text", theme))
        _add_names(ax, one, theme)
        add_title(ax, f"Heap, {one.summary}", theme)
    if narrow:
        first.tick_params(labelbottom=False)
    else:
        second.tick_params(labelleft=False)


def heap_in_words(diff: Diff) -> str:
    """Return each side's GC cycles and sizes: means for logs, maxima for traces."""
    sides = [
        ", ".join([_heap(side).summary, *_sizes_in_words(side)])
        for side in (diff.base, diff.new)
    ]
    return f"Heap over time. {'; '.join(sides)}."


def _sizes_in_words(side: ProfileSide) -> list[str]:
    if isinstance(side, GCSide):
        sizes = side.steady.heap
        means = {
            "live": sizes.mean_live,
            "peak": sizes.mean_peak,
            "goal": sizes.mean_goal,
        }
        return [
            f"mean {name} {scaled(mb * _MIB, 'bytes')}" for name, mb in means.items()
        ]
    one = _heap(side)
    return [
        f"{name} at most {scaled(float(line.size.max()), 'bytes')}"
        for name, line in (("heap", one.size), *one.named())
        if len(line.size)
    ]


def _heap(side: ProfileSide) -> _Heap:
    return _heap_of_log(side) if isinstance(side, GCSide) else _heap_of_trace(side)


def _heap_of_log(side: GCSide) -> _Heap:
    cycles = side.shown.run.cycles
    start = cycles.start_ms.astype(np.float64) * 1e6
    took_us = (
        cycles.sweep_termination_wall_us
        + cycles.mark_wall_us
        + cycles.mark_termination_wall_us
    )
    marked = start + took_us * 1e3
    sizes = cycles.heap_start_mb, cycles.heap_end_mb, cycles.heap_live_mb
    return _Heap(
        label=side.label,
        cycles=len(cycles),
        wall_ns=float(marked.max(initial=0)),
        size=_Line(
            np.column_stack((start, marked, marked)).astype(np.float64).ravel(),
            np.column_stack(sizes).astype(np.float64).ravel() * _MIB,
        ),
        goal=_Line(start, cycles.goal_mb.astype(np.float64) * _MIB),
        goal_steps="steps-pre",
        live=_Line(marked, cycles.heap_live_mb.astype(np.float64) * _MIB),
    )


def _heap_of_trace(side: TraceSide) -> _Heap:
    side = side.longest
    trace = side.trace

    def line(series: Series) -> _Line:
        # The last value holds until the end of the trace.
        times = np.append(series.time_ns, trace.end_ns) - trace.start_ns
        sizes = np.append(series.value, series.value[-1:])
        return _Line(times.astype(np.float64), sizes.astype(np.float64))

    goal, size = trace.heap_goal_bytes, trace.heap_live_bytes
    return _Heap(
        label=side.label,
        cycles=side.collections.started,
        wall_ns=side.wall_ns,
        size=line(size) if len(size.value) else _Line(np.zeros(0), np.zeros(0)),
        goal=line(goal) if len(goal.value) else None,
        goal_steps="steps-post",
        live=None,
    )


def _add_heap(ax: Axes, one: _Heap, shade: str, ink: str) -> None:
    """Draw the heap, its goal and the live heap, cycle by cycle if there are few."""
    goal, live = one.goal, one.live
    if one.crowded:
        # Each column must hold a whole cycle, or it might have a start without its end.
        columns = min(_COLUMNS, one.cycles // 2)
        band = banded(one.size.time_ns, one.size.size, columns)
        ax.fill_between(band.x, band.low, color=shade, alpha=0.14, linewidth=0)
        ax.fill_between(
            band.x, band.low, band.high, color=shade, alpha=0.4, linewidth=0
        )
        goal, live = (None if line is None else line.middle() for line in (goal, live))
    else:
        x, y = thinned(one.size.time_ns, one.size.size, _POINTS)
        ax.fill_between(x, y, color=shade, alpha=0.14, linewidth=0)
        ax.plot(x, y, color=shade, linewidth=1.0, alpha=0.8)
    if goal is not None:
        steps = None if one.crowded else one.goal_steps
        ax.plot(
            goal.time_ns,
            goal.size,
            color=ink,
            linewidth=1.0,
            linestyle="--",
            drawstyle=steps,
        )
    if live is not None:
        ax.plot(live.time_ns, live.size, color=shade, linewidth=2.0)


def _add_names(ax: Axes, one: _Heap, theme: Theme) -> None:
    ends = [(line.end(crowded=one.crowded), name) for name, line in one.named()]
    tall = ax.bbox.height * 72 / ax.figure.dpi
    apart = _APART / tall * ax.get_ylim()[1]
    least = 0.0
    for size, name in sorted(ends):
        place = max(size, least)
        least = place + apart
        add_note(
            ax,
            name,
            (1.0, place),
            (4, 0),
            xycoords=ax.get_yaxis_transform(),
            color=colour("faint", theme),
        )


def _set_limits(ax: Axes, heaps: Sequence[_Heap]) -> None:
    """Set limits that fit all sides, with sizes in one unit and times in another."""
    top = max(one.top for one in heaps) * _ROOM or 1.0
    longest = max(one.wall_ns for one in heaps) or 1.0
    ax.set_ylim(0, top)
    ax.set_xlim(0, longest)
    mark_sizes(ax, "y", top, "bytes")
    mark_sizes(ax, "x", longest, "ns")


@dataclass(frozen=True, eq=False)
class Band:
    """The range of a line, column by column: float64 arrays of one length.

    `x` is the middle of a column; `low`, `middle` and `high` are the line's lowest
    value in the column, its median (the lower of two) and its highest value.
    """

    x: Floats
    low: Floats
    middle: Floats
    high: Floats


def banded(x: Floats, y: Floats, columns: int) -> Band:
    """Return the range of a line in each of `columns` of x that holds a point.

    `x` and `y` are the line's points, float64, in any order.
    """
    if not len(x):
        return Band(x, x, x, x)
    start = float(x.min())
    width = max(float(x.max()) - start, 1e-12) / columns
    column = np.minimum(((x - start) / width).astype(np.int64), columns - 1)
    order = np.lexsort((y, column))
    ranked, columns_in_order = y[order], column[order]
    first = np.flatnonzero(np.diff(columns_in_order, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    low, middle, high = (ranked[i] for i in (first, (first + last) // 2, last))
    return Band(start + (columns_in_order[first] + 0.5) * width, low, middle, high)


def thinned(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return a line's lowest and highest point in each of `columns` of x, and its ends.

    Points are as in `banded`, x ascending. Short lines stay as they are.
    """
    if len(x) <= 2 * columns:
        return x, y
    start = float(x.min())
    column = ((x - start) * (columns / max(x.max() - start, 1e-12))).astype(np.int64)
    order = np.lexsort((y, column))
    first = np.flatnonzero(np.diff(column[order], prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    kept = np.unique(np.concatenate(([0, len(x) - 1], order[first], order[last])))
    return x[kept], y[kept]
