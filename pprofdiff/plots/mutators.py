"""What the GC leaves to the program: minimum mutator utilisation by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pprofdiff.analysis.traces.compare import WINDOWS_NS, TraceDiff
from pprofdiff.analysis.traces.mutators import mmu_curve
from pprofdiff.analysis.traces.side import TraceSide
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
    round_time,
    shown,
    time_in_words,
    titled,
)
from pprofdiff.units import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["mmu", "mmu_in_words", "windows"]

_SHORTEST_NS = 100_000
_FEWEST, _MOST, _WORK = 2, 8, 200_000
# Below this share there is no room for words under a dot.
_LOW = 0.1


def windows(wall_ns: int, rows: int = 0) -> list[int]:
    """Return the windows of a curve, in ns, from 100 µs to the whole.

    There are eight a decade; of a long series of utilisation (so many `rows`) fewer,
    since each window goes through all of it.
    """
    decades = np.log10(max(wall_ns, _SHORTEST_NS) / _SHORTEST_NS)
    each = min(max(_WORK // max(rows, 1), _FEWEST), _MOST)
    steps = np.arange(int(decades * each) + 1) / each
    held = {round(_SHORTEST_NS * 10.0**step) for step in steps.tolist()}
    told = {window for window in WINDOWS_NS if window <= wall_ns}
    return sorted({*held, *told, max(wall_ns, _SHORTEST_NS)})


def mmu(
    diff: TraceDiff,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw the least share of the processors left to the program, by length of window.

    Dots are at the windows of the report's table: 1, 10, 100 ms and 1 s.
    """
    diff = drawable(diff)
    ax = framed(ax, theme)
    ax.grid(visible=True, axis="x", color=colour("grid", theme), linewidth=0.8)
    ax.set_ylim(0, 1.04)
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    numbered(ax, "y", Ticks(shares, [f"{share:.0%}" for share in shares]))
    longest = max(side.wall_ns for side in diff.sides)
    log_times(ax, 0.7 * _SHORTEST_NS, max(longest, 10 * _SHORTEST_NS) * 1.12)
    lines = []
    for side, name in zip(diff.sides, SERIES, strict=True):
        lines.append(_curve(ax, side, colour(name, theme), kwargs))
    _marks(ax, diff, theme)
    keyed(ax, lines, [_labelled(side) for side in diff.sides])
    titled(ax, "Least share left to the program in any window (MMU)", theme)
    return ax


def mmu_in_words(diff: TraceDiff) -> str:
    """Return the dots that `mmu` draws, in a sentence."""
    diff = drawable(diff)
    labels = [shown(side.label, 20) for side in diff.sides]
    told = []
    for window, shares in diff.mmu.items():
        words = ["–" if share is None else percent(share, 1) for share in shares]
        pairs = ", ".join(map(" ".join, zip(labels, words, strict=True)))
        told.append(f"{round_time(window)}: {pairs}")
    what = "Least share of the processors left to the program, by length of window"
    return (
        f"{what}. {'; '.join(told)}." if told else f"{what}: the traces are too short."
    )


def _labelled(side: TraceSide) -> str:
    return f"{shown(side.label, 20)}: {time_in_words(side.wall_ns)} traced"


def _curve(ax: Axes, side: TraceSide, shade: str, kwargs: dict[str, Any]) -> Line2D:
    places = windows(side.wall_ns, len(side.utilisation.share))
    found = mmu_curve(side.utilisation, np.array(places, np.int64))
    x = places if len(found) else []
    (line,) = ax.plot(x, found, **looks({"color": shade, "linewidth": 1.8}, kwargs))
    return line


def _marks(ax: Axes, diff: TraceDiff, theme: Theme) -> None:
    """Mark the windows of the table; the words of the higher curve are left of it."""
    for window, shares in diff.mmu.items():
        higher = int((shares[1] or 0) > (shares[0] or 0))
        for i, share in enumerate(shares):
            if share is None:
                continue
            shade = colour(SERIES[i], theme)
            ax.plot(window, share, marker="o", markersize=5, color=shade)
            if share == 0:
                continue
            upper = i == higher
            above = upper or share < _LOW
            text = ax.annotate(
                percent(share, 1),
                (window, share),
                xytext=(-5 if upper else 5, 4 if above else -4),
                textcoords="offset points",
                ha="right" if upper else "left",
                va="bottom" if above else "top",
                size="small",
                color=shade,
            )
            as_is(text)
