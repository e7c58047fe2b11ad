"""The heap over time: how it fills, what stays live, and the goal it is held to.

GC logs tell three sizes a cycle: H0 where it starts, H1 where marking ends, H2 what was
marked live. The heap is drawn from one to the next; allocation in between is taken as
even. Traces tell the heap and the goal whenever they change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.compare import GCDiff, GCSide
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.traces.timeline import Series
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import (
    SERIES,
    as_is,
    banded,
    drawable,
    framed,
    keyed,
    looks,
    shown,
    sized,
    thinned,
    titled,
)
from pprofdiff.units import scaled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["heap", "heap_in_words", "heaps_of"]

Floats = NDArray[np.float64]
_Data = GCDiff | GCSide | TraceDiff | TraceSide

_MIB = 1 << 20
_NS = 1e9
# With more cycles than this, teeth are drawn as the band that they cover.
_CROWD = 150
_POINTS, _COLUMNS = 200, 100
# Words at the ends of lines are at least so far apart, as a share of the axis.
_APART = 0.075
_ROOM = 1.06
_LOOKS: dict[str, dict[str, Any]] = {
    "goal": {"linewidth": 1.0, "linestyle": "--"},
    "live": {"linewidth": 2.0},
}


class _Line(NamedTuple):
    """A size over time: ns since the begin, bytes; both float64, times rise."""

    time_ns: Floats
    size: Floats


class _Heap(NamedTuple):
    """One side's lines, the heap itself and by name what else is known of it."""

    label: str
    cycles: int
    wall_ns: float
    heap: _Line
    known: dict[str, _Line]

    @property
    def what(self) -> str:
        """Whose heap it is, how many cycles in how long."""
        cycles = f"{self.cycles:,} GC cycle{'' if self.cycles == 1 else 's'}"
        return f"{shown(self.label, 20)}: {cycles} in {scaled(self.wall_ns, 'ns')}"

    @property
    def top(self) -> float:
        """The largest size of all."""
        lines = self.heap, *self.known.values()
        return max(float(line.size.max(initial=0)) for line in lines)


def heap(
    data: _Data,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw the heap over time, with its goal and, from GC logs, what stays live.

    One side takes the colour of new unless ``color`` says otherwise; both sides of a
    comparison are drawn one over the other. `heaps_of` draws them beside each other.
    Over 150 GC cycles are drawn as the band that they cover, with medians of goal
    and live. `kwargs` are of the line that is the heap, where it is a line.
    """
    data = drawable(data)
    ax = framed(ax, theme)
    diff = isinstance(data, GCDiff | TraceDiff)
    held = [_held(side) for side in _sides(data)]
    _limited(ax, held)
    drawn = []
    for one, name in zip(held, SERIES if diff else SERIES[1:], strict=True):
        style = looks({"color": colour(name, theme)}, kwargs)
        drawn.append(_draw(ax, one, style, theme))
    if diff:
        keyed(ax, drawn, [one.what for one in held])
    _named(ax, held, theme)
    titled(ax, "Heap over time" if diff else f"Heap, {held[0].what}", theme)
    return ax


def heaps_of(
    diff: GCDiff | TraceDiff, figure: Figure | SubFigure, theme: Theme = "light"
) -> None:
    """Draw base and new beside each other on a figure, in one scale."""
    diff = drawable(diff)
    left, right = figure.subplots(1, 2)
    held = [_held(side) for side in (diff.base, diff.new)]
    for ax, one, name in zip((left, right), held, SERIES, strict=True):
        framed(ax, theme)
        _limited(ax, held)
        _draw(ax, one, {"color": colour(name, theme)}, theme)
        _named(ax, [one], theme)
        titled(ax, f"Heap, {one.what}", theme)
    right.tick_params(labelleft=False)


def heap_in_words(diff: GCDiff | TraceDiff) -> str:
    """Return what `heap` draws, in a sentence."""
    diff = drawable(diff)
    return f"Heap over time. {'; '.join(map(_words, (diff.base, diff.new)))}."


def _words(side: GCSide | TraceSide) -> str:
    held = _held(side)
    told = [held.what]
    if isinstance(side, GCSide):
        sizes = side.steady.heap
        means = {
            "live": sizes.mean_live,
            "peak": sizes.mean_peak,
            "goal": sizes.mean_goal,
        }
        told += [
            f"mean {name} {scaled(mb * _MIB, 'bytes')}" for name, mb in means.items()
        ]
    else:
        told += [
            f"{name} at most {scaled(float(line.size.max()), 'bytes')}"
            for name, line in {"heap": held.heap, **held.known}.items()
            if len(line.size)
        ]
    return ", ".join(told)


def _sides(data: _Data) -> tuple[GCSide | TraceSide, ...]:
    if isinstance(data, GCDiff | TraceDiff):
        return data.base, data.new
    return (data,)


def _held(side: GCSide | TraceSide) -> _Heap:
    """Return the lines of one side."""
    return _of_log(side) if isinstance(side, GCSide) else _of_trace(side)


def _of_log(side: GCSide) -> _Heap:
    cycles = side.run.cycles
    start = cycles.start_ms.astype(np.float64) * 1e6
    took_us = (
        cycles.sweep_termination_wall_us
        + cycles.mark_wall_us
        + cycles.mark_termination_wall_us
    )
    marked = start + took_us * 1e3
    sizes = cycles.heap_start_mb, cycles.heap_end_mb, cycles.heap_live_mb
    heap_line = _Line(
        np.column_stack((start, marked, marked)).astype(np.float64).ravel(),
        np.column_stack(sizes).astype(np.float64).ravel() * _MIB,
    )
    known = {
        "goal": _Line(start, cycles.goal_mb.astype(np.float64) * _MIB),
        "live": _Line(marked, cycles.heap_live_mb.astype(np.float64) * _MIB),
    }
    wall = float(marked.max(initial=0))
    return _Heap(side.label, len(cycles), wall, heap_line, known)


def _of_trace(side: TraceSide) -> _Heap:
    trace = side.trace

    def line(series: Series) -> _Line:
        # The last value holds to the trace's end.
        times = np.append(series.time_ns, trace.end_ns) - trace.start_ns
        return _Line(
            times.astype(np.float64),
            np.append(series.value, series.value[-1:]).astype(np.float64),
        )

    goal, live = trace.heap_goal_bytes, trace.heap_live_bytes
    known = {"goal": line(goal)} if len(goal.value) else {}
    whole = line(live) if len(live.value) else _Line(np.zeros(0), np.zeros(0))
    return _Heap(side.label, side.collections.begun, side.wall_ns, whole, known)


def _draw(ax: Axes, held: _Heap, style: dict[str, Any], theme: Theme) -> Artist:
    """Draw one side's lines; return what stands for it in a legend."""
    shade, ink = style["color"], colour("text", theme)
    if held.cycles > _CROWD:
        return _draw_crowd(ax, held, shade, ink)
    whole = thinned(*held.heap, _POINTS)
    ax.fill_between(*whole, color=shade, alpha=0.14, linewidth=0)
    (line,) = ax.plot(*whole, **{"linewidth": 1.0, "alpha": 0.8, **style})
    if "goal" in held.known:
        # A GC log's goal is that of the cycle which ends, a trace's of what follows.
        steps = "steps-pre" if "live" in held.known else "steps-post"
        dashed = _LOOKS["goal"] | {"color": ink, "drawstyle": steps}
        ax.plot(*held.known["goal"], **dashed)
    if "live" in held.known:
        (line,) = ax.plot(*held.known["live"], **_LOOKS["live"], color=shade)
    return line


def _draw_crowd(ax: Axes, held: _Heap, shade: str, ink: str) -> Artist:
    """Draw the band that the heap covers, and the median of what else is known."""
    # Every column holds a cycle or more: else it had a trigger without its end.
    x, low, _, high = banded(*held.heap, min(_COLUMNS, held.cycles // 2))
    ax.fill_between(x, low, color=shade, alpha=0.14, linewidth=0)
    band = ax.fill_between(x, low, high, color=shade, alpha=0.4, linewidth=0)
    for name, line in held.known.items():
        tint = ink if name == "goal" else shade
        found = banded(*line, _COLUMNS)
        ax.plot(found.x, found.middle, **_LOOKS[name], color=tint)
    return band


def _named(ax: Axes, held: list[_Heap], theme: Theme) -> None:
    """Write names right of where lines end, never one over the other."""
    ends: list[tuple[float, str]] = []
    for one in held:
        for name, line in one.known.items():
            crowded = one.cycles > _CROWD
            drawn = banded(*line, _COLUMNS).middle if crowded else line.size
            ends.append((float(drawn[-1]), name))
    apart = _APART * ax.get_ylim()[1]
    least = 0.0
    for size, name in sorted(ends):
        place = max(size, least)
        least = place + apart
        text = ax.annotate(
            name,
            (1.0, place),
            xycoords=ax.get_yaxis_transform(),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            size="small",
            color=colour("faint", theme),
        )
        as_is(text)


def _limited(ax: Axes, held: list[_Heap]) -> None:
    """Give axes room for all sides, sizes in one unit, times in another."""
    top = max(one.top for one in held) * _ROOM or 1.0
    longest = max(one.wall_ns for one in held) or 1.0
    ax.set_ylim(0, top)
    ax.set_xlim(0, longest)
    sized(ax, "y", top, "bytes")
    sized(ax, "x", longest, "ns")
