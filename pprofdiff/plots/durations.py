"""Distributions of pauses and waits, with room for the tail.

The axis of quantiles is logarithmic in the share above, so p99 is as far from p90 as
p99.9 is from p99. Every point of a curve is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.gclogs.side import GCSide
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.quantiles import Quantiles, quantiles
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.arrays import Column
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    SIDES,
    Plottable,
    add_legend,
    add_note,
    add_title,
    artist_style,
    data_of,
    mark_log_times,
    room,
    set_ticks,
    shortened,
    text_size,
    themed,
    time_words,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


# The share of durations above each quantile.
_SHARES = {"p50": 0.5, "p90": 0.1, "p99": 0.01, "p99.9": 0.001, "p99.99": 0.0001}
# Space before the shortest duration and after the longest, relative to the axis.
_ROOM = 0.14, 0.15
_COLUMNS = 240
# Largest share of an axis's length that text at its end may take.
_MOST_FOR_WORDS = 0.35
# Iterations to find the ends of an axis; each leaves a quarter of the error or less.
_ENDS = 5
# Up to this many durations, each is a dot.
_FEW = 60


@dataclass(frozen=True, eq=False)
class _Durations:
    """One side's durations: int64 ns, ascending; `noun` says what they are."""

    label: str
    noun: str
    ranked: Column

    @property
    def count_words(self) -> str:
        """The side's label, and how many durations of what."""
        return f"{shortened(self.label, 20)}: {len(self.ranked):,} {self.noun}"

    @property
    def legend_label(self) -> str:
        """The count and the longest duration, which is the dot at the curve's end."""
        if not len(self.ranked):
            return f"{shortened(self.label, 20)}: no {self.noun}"
        return f"{self.count_words}, longest {time_words(int(self.ranked[-1]))}"

    @property
    def quantiles(self) -> Quantiles:
        return quantiles(self.ranked)


_Sides = tuple[_Durations, _Durations]


def pauses(
    diff: GCDiff | Plottable[GCDiff],
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw the distribution of stop-the-world pauses of base and new, in wall time.

    Each GC cycle has two: sweep termination and mark termination. x is a duration in
    ns, y the share of pauses at least that long (1 at the bottom), both logarithmic;
    `kwargs` go to `Axes.plot`.
    """
    ax = _draw(_pauses(data_of(diff)), ax, theme, kwargs)
    add_title(ax, "Stop-the-world pauses, wall time", theme)
    return ax


def latency(
    diff: TraceDiff | Plottable[TraceDiff],
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw the distribution of scheduling latency: time from runnable to running.

    Waits that a trace shows only in part are left out. Axes are as in `pauses`.
    """
    ax = _draw(_latencies(data_of(diff)), ax, theme, kwargs)
    add_title(ax, "Scheduling latency, runnable to running", theme)
    return ax


def pauses_in_words(diff: GCDiff) -> str:
    """Return each side's number of pauses, p50, p99 and longest, in a sentence."""
    return _in_words("Stop-the-world pauses", _pauses(diff))


def latency_in_words(diff: TraceDiff) -> str:
    """Return each side's number of waits, p50, p99 and longest, in a sentence."""
    return _in_words("Scheduling latency", _latencies(diff))


def _pauses(diff: GCDiff) -> _Sides:
    def of(side: GCSide) -> _Durations:
        return _Durations(side.label, "pauses", np.sort(side.shown.pauses_ns))

    return of(diff.base), of(diff.new)


def _latencies(diff: TraceDiff) -> _Sides:
    def of(side: TraceSide) -> _Durations:
        return _Durations(side.label, "waits", np.sort(side.latencies_ns))

    return of(diff.base), of(diff.new)


def survival(
    ranked: Column, columns: int = _COLUMNS
) -> tuple[Column, NDArray[np.float64]]:
    """Return durations, and the share of all durations that are at least as long.

    `ranked` are durations, int64, ascending. More distinct ones than twice the
    `columns` are reduced to about as many, evenly spaced in share and time on log axes.
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


def _draw(sides: _Sides, ax: Axes | None, theme: Theme, kwargs: dict[str, Any]) -> Axes:
    ax = themed(ax, theme, "both")
    most = max(len(side.ranked) for side in sides)
    lowest = 1 / max(most, 10)
    ax.set_yscale("log")
    shares = {name: share for name, share in _SHARES.items() if share >= lowest}
    set_ticks(ax, "y", list(shares.values()), list(shares))
    ax.set_ylim(_bottom(ax, lowest / 1.6), lowest / 1.6)
    mark_log_times(ax, *_span(ax, sides))
    lines = [
        _add_curve(ax, side, colour(name, theme), kwargs)
        for side, name in zip(sides, SIDES, strict=True)
    ]
    _add_longest(ax, sides, theme)
    both = [side.quantiles for side in sides]
    _add_quantile(ax, "p50", [side.p50_ns for side in both], sides, theme)
    _add_quantile(ax, "p99", [side.p99_ns for side in both], sides, theme)
    add_legend(ax, lines, [side.legend_label for side in sides])
    return ax


def _bottom(ax: Axes, top: float) -> float:
    """Return the share at the lower end, which leaves room for text below p50."""
    part = (text_size("")[1] + 2) / room(ax)[1]
    if part >= _MOST_FOR_WORDS:
        return 1.0
    low = (np.log(_SHARES["p50"]) - part * np.log(top)) / (1 - part)
    return max(float(np.exp(low)), 1.0)


def _span(ax: Axes, sides: _Sides) -> tuple[float, float]:
    """Return the ends of the time axis: all but the shortest tenth, with margins."""
    longer = [side.ranked[len(side.ranked) // 10 :] for side in sides]
    positive = [ranked[ranked > 0] for ranked in longer]
    ends = [(float(ranked[0]), float(ranked[-1])) for ranked in positive if len(ranked)]
    if not ends:
        return 1e3, 1e6
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    whole = max(high / low, 10.0)
    # Text for a quantile near the longest duration goes to the right of it.
    low, high = low / whole ** _ROOM[0], high * whole ** _ROOM[1]
    halves = [ns for ns in (side.quantiles.p50_ns for side in sides) if ns]
    most = [ns for ns in (side.quantiles.p99_ns for side in sides) if ns]
    if halves and most:
        # Moving one end moves the other.
        for _ in range(_ENDS):
            low = min(low, _room_for_label(ax, "p50", min(halves), high))
            high = max(high, _room_for_label(ax, "p99", max(most), low))
    return low, high


def _room_for_label(ax: Axes, name: str, ns: int, other: float) -> float:
    """Return the end of a time axis, with room there for a quantile's text.

    `other` is the axis's other end.
    """
    part = _needs(f"{name} {time_words(ns)}") / room(ax)[0]
    if part >= _MOST_FOR_WORDS:
        return ns
    return float(np.exp((np.log(ns) - part * np.log(other)) / (1 - part)))


def _add_curve(
    ax: Axes, side: _Durations, shade: str, kwargs: dict[str, Any]
) -> Line2D:
    """Draw one side, each duration as a dot if there are few."""
    x, y = survival(side.ranked)
    few = {"marker": "o", "markersize": 3.5} if len(side.ranked) <= _FEW else {}
    plain = {"color": shade, "linewidth": 1.8, "drawstyle": "steps-pre", **few}
    (line,) = ax.plot(x, y, **artist_style(plain, kwargs))
    return line


def _add_longest(ax: Axes, sides: _Sides, theme: Theme) -> None:
    for side, name in zip(sides, SIDES, strict=True):
        if len(side.ranked):
            share = np.mean(side.ranked == side.ranked[-1])
            _add_dot(ax, int(side.ranked[-1]), float(share), colour(name, theme))


def _add_quantile(
    ax: Axes, name: str, values: Sequence[int | None], sides: _Sides, theme: Theme
) -> None:
    """Mark a quantile of each side, the slower side's text below and to the right.

    A side needs enough durations to resolve the quantile.
    """
    share = _SHARES[name]
    base, new = values
    slower = int((new or 0) >= (base or 0))
    rights = [
        _is_right(
            ax, max(value or 1, 1), f"{name} {time_words(value)}", wanted=i == slower
        )
        for i, value in enumerate(values)
    ]
    for i, value in enumerate(values):
        if value is None or share < 1 / max(len(sides[i].ranked), 1):
            continue
        shade, right = colour(SIDES[i], theme), rights[i]
        # Curves rise to the right, so the space below and right of them is free. Texts
        # on the same side are stacked.
        below = right if rights[0] != rights[1] else i == slower
        _add_dot(ax, value, share, shade)
        words = f"{name} {time_words(value)}"
        add_note(
            ax,
            words,
            (max(value, 1), share),
            (7 if right else -7, -2 if below else 2),
            ha="left" if right else "right",
            va="top" if below else "bottom",
            color=shade,
        )


def _is_right(ax: Axes, ns: float, words: str, *, wanted: bool) -> bool:
    """Return whether text goes to the right of a dot: as wanted if there is room."""
    low, high = np.log(ax.get_xlim())
    wide = room(ax)[0]
    at = wide * (np.log(ns) - low) / (high - low)
    needs = _needs(words)
    # Rounding must not reject text that just fits.
    fits = at + needs <= wide + 1 if wanted else at - needs >= -1
    return wanted if fits else not wanted


def _needs(words: str) -> float:
    """Return the width that text next to a dot takes, in points."""
    return text_size(words)[0] + 8


def _add_dot(ax: Axes, ns: int, share: float, shade: str) -> None:
    # A log axis has no place for 0.
    ax.plot(max(ns, 1), share, marker="o", markersize=5, color=shade)


def _in_words(what: str, sides: _Sides) -> str:
    parts = []
    for side in sides:
        known = side.quantiles
        times = {"p50": known.p50_ns, "p99": known.p99_ns, "longest": known.max_ns}
        words = [f"{name} {time_words(ns)}" for name, ns in times.items()]
        parts.append(", ".join([side.count_words, *(words if known.count else [])]))
    return f"{what}. {'; '.join(parts)}."
