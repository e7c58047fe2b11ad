"""How long pauses and waits are: their distribution, with room for its tail.

Both curves tell, for each duration, which quantile it is. The axis of quantiles is
logarithmic in what is above them, so that p99 is as far from p90 as p99.9 from p99.
Every point of a curve is exact; no curve goes further than its longest duration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.compare import GCDiff, GCSide
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.quantiles import Quantiles, quantiles
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import (
    SERIES,
    Ticks,
    as_is,
    drawable,
    framed,
    keyed,
    log_times,
    looks,
    numbered,
    shown,
    time_in_words,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["latency", "latency_in_words", "pauses", "pauses_in_words", "survival"]

Column = NDArray[np.int64]

# The share of durations that a quantile leaves above it, by its name.
_LEVELS = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99.9": 0.001, "p99.99": 0.0001}
_MARKED = {"p50": "p50_ns", "p99": "p99_ns"}
_COLUMNS = 240
# With no more than this each duration is a dot.
_FEW = 60


class _Tail(NamedTuple):
    """One side: its label, how many durations of what, and these, rising (ns)."""

    label: str
    what: str
    ranked: Column

    @property
    def words(self) -> str:
        return f"{shown(self.label, 20)}: {len(self.ranked):,} {self.what}"

    @property
    def key(self) -> str:
        """What the legend says: the dot at the curve's end is the longest."""
        if not len(self.ranked):
            return f"{shown(self.label, 20)}: no {self.what}"
        return f"{self.words}, longest {time_in_words(int(self.ranked[-1]))}"

    @property
    def quantiles(self) -> Quantiles:
        return quantiles(self.ranked)


def pauses(
    diff: GCDiff,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw how long the world was stopped, each stop by itself, as quantiles.

    The stops are those of all lines of the GC logs (of the windows, where asked for):
    sweep termination and mark termination of each cycle, wall time.
    """
    diff = drawable(diff)
    sides = _pauses(diff.base), _pauses(diff.new)
    ax = _drawn(sides, ax, theme, kwargs)
    titled(ax, "Stop-the-world pauses, wall time", theme)
    return ax


def latency(
    diff: TraceDiff,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw how long goroutines that could run waited for a processor, as quantiles.

    The waits are those that the traces show from begin to end.
    """
    diff = drawable(diff)
    ax = _drawn(_latencies(diff), ax, theme, kwargs)
    titled(ax, "Scheduling latency, runnable to running", theme)
    return ax


def pauses_in_words(diff: GCDiff) -> str:
    """Return what `pauses` draws, in a sentence."""
    diff = drawable(diff)
    return _in_words("Stop-the-world pauses", (_pauses(diff.base), _pauses(diff.new)))


def latency_in_words(diff: TraceDiff) -> str:
    """Return what `latency` draws, in a sentence."""
    diff = drawable(diff)
    return _in_words("Scheduling latency", _latencies(diff))


def _pauses(side: GCSide) -> _Tail:
    cycles = side.cycles if side.asked else side.run.cycles
    stops = cycles.sweep_termination_wall_us, cycles.mark_termination_wall_us
    return _Tail(side.label, "pauses", np.sort(np.concatenate(stops)) * 1000)


def _latencies(diff: TraceDiff) -> tuple[_Tail, _Tail]:
    base, new = (
        _Tail(side.label, "waits", np.sort(side.waits.latencies_ns))
        for side in diff.sides
    )
    return base, new


def survival(
    ranked: Column, columns: int = _COLUMNS
) -> tuple[Column, NDArray[np.float64]]:
    """Return durations, and the share of all that is at least as long as each.

    Of many durations those are chosen that are evenly apart, as shares and as times
    (both on logarithmic axes); both ends are among them.
    """
    count = len(ranked)
    places = np.flatnonzero(np.diff(ranked, prepend=-1))
    if len(places) > 2 * columns:
        values = np.maximum(ranked[places], 1)
        wanted_x = np.geomspace(values[0], values[-1], columns)
        by_time = np.searchsorted(values, wanted_x)
        wanted_y = np.geomspace(1 / count, 1, columns)
        by_share = np.searchsorted(places, (1 - wanted_y) * count)
        chosen = np.unique(np.concatenate((by_time, by_share, [0, len(places) - 1])))
        places = places[np.minimum(chosen, len(places) - 1)]
    return ranked[places], (count - places) / max(count, 1)


def _drawn(
    sides: tuple[_Tail, _Tail], ax: Axes | None, theme: Theme, kwargs: dict[str, Any]
) -> Axes:
    ax = framed(ax, theme)
    ax.grid(visible=True, axis="x", color=colour("grid", theme), linewidth=0.8)
    most = max(len(side.ranked) for side in sides)
    lowest = 1 / max(most, 10)
    ax.set_yscale("log")
    ax.set_ylim(1.0, lowest / 1.6)
    levels = {name: level for name, level in _LEVELS.items() if level >= lowest}
    numbered(ax, "y", Ticks(list(levels.values()), list(levels)))
    log_times(ax, *_span(sides))
    lines = [
        _curve(ax, side, colour(name, theme), kwargs)
        for side, name in zip(sides, SERIES, strict=True)
    ]
    _marks(ax, sides, theme)
    keyed(ax, lines, [side.key for side in sides])
    return ax


def _span(sides: tuple[_Tail, _Tail]) -> tuple[float, float]:
    """Return the ends of the axis of times: all but the shortest tenth, with room."""
    held = [side.ranked[len(side.ranked) // 10 :] for side in sides]
    held = [ranked[ranked > 0] for ranked in held]
    ends = [(float(ranked[0]), float(ranked[-1])) for ranked in held if len(ranked)]
    if not ends:
        return 1e3, 1e6
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    room = (max(high / low, 10.0)) ** 0.06
    return low / room, high * room


def _curve(ax: Axes, side: _Tail, shade: str, kwargs: dict[str, Any]) -> Line2D:
    """Draw one side, each duration as a dot where there are few."""
    x, y = survival(side.ranked)
    few = {"marker": "o", "markersize": 3.5} if len(side.ranked) <= _FEW else {}
    plain = {"color": shade, "linewidth": 1.8, "drawstyle": "steps-pre", **few}
    (line,) = ax.plot(x, y, **looks(plain, kwargs))
    return line


def _marks(ax: Axes, sides: tuple[_Tail, _Tail], theme: Theme) -> None:
    """Mark p50, p99 and the longest, the slower side's words below, right of it.

    A quantile is marked where a side has as many durations as its name tells apart.
    """
    for side, name in zip(sides, SERIES, strict=True):
        if len(side.ranked):
            end = max(int(side.ranked[-1]), 1), np.mean(side.ranked == side.ranked[-1])
            ax.plot(*end, marker="o", markersize=5, color=colour(name, theme))
    held = [side.quantiles for side in sides]
    fewest = [1 / max(len(side.ranked), 1) for side in sides]
    for name, field in _MARKED.items():
        values = [getattr(one, field) for one in held]
        slower = int((values[1] or 0) >= (values[0] or 0))
        for i, value in enumerate(values):
            if value is None or _LEVELS[name] < fewest[i]:
                continue
            words = f"{name} {time_in_words(value)}"
            shade = colour(SERIES[i], theme)
            _mark(ax, (max(value, 1), _LEVELS[name]), words, shade, right=i == slower)


def _mark(
    ax: Axes, place: tuple[float, float], words: str, shade: str, *, right: bool
) -> None:
    ax.plot(*place, marker="o", markersize=5, color=shade)
    text = ax.annotate(
        words,
        place,
        xytext=(7, -2) if right else (-7, 2),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top" if right else "bottom",
        size="small",
        color=shade,
    )
    as_is(text)


def _in_words(what: str, sides: tuple[_Tail, _Tail]) -> str:
    """Return counts, p50, p99 and the longest of both sides."""
    parts = []
    for side in sides:
        found = side.quantiles
        times = {"p50": found.p50_ns, "p99": found.p99_ns, "longest": found.max_ns}
        told = ", ".join(f"{n} {time_in_words(ns)}" for n, ns in times.items())
        parts.append(f"{side.words}" + (f", {told}" if found.count else ""))
    return f"{what}. {'; '.join(parts)}."
