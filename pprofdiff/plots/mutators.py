"""What GC leaves to the program: minimum mutator utilization by window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pprofdiff.analysis.traces.catalogue import MMU
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.mutators import mmu_curve
from pprofdiff.analysis.traces.side import TraceSide
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
    round_time,
    set_ticks,
    shortened,
    themed,
    time_words,
)
from pprofdiff.units import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_SHORTEST_NS = 100_000
_FEWEST, _MOST, _WORK = 2, 8, 200_000
# Below this share, text does not fit under a dot.
_LOW = 0.1


def windows(wall_ns: int, rows: int = 0) -> list[int]:
    """Return the window lengths, in ns, at which to compute a curve, ascending.

    The longest is the traced time, `wall_ns`, if that is over 100 µs. Each window scans
    all `rows` of the utilization series, so a long series gets fewer.
    """
    decades = np.log10(max(wall_ns, _SHORTEST_NS) / _SHORTEST_NS)
    each = min(max(_WORK // max(rows, 1), _FEWEST), _MOST)
    steps = np.arange(int(decades * each) + 1) / each
    even = {round(_SHORTEST_NS * 10.0**step) for step in steps.tolist()}
    marked = {window for window in MMU if window <= wall_ns}
    return sorted({*even, *marked, max(wall_ns, _SHORTEST_NS)})


def mmu(
    diff: TraceDiff | Plottable[TraceDiff],
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.plot takes
) -> Axes:
    """Draw the minimum mutator utilization (MMU) of base and new by window length.

    Dots mark the windows in the report's table. x is the window length in ns,
    logarithmic; y is the least share of the Ps (0 to 1) left to the program in any such
    window; `kwargs` go to `Axes.plot`.
    """
    diff = data_of(diff)
    ax = themed(ax, theme, "both")
    ax.set_ylim(0, 1.04)
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    set_ticks(ax, "y", shares, [f"{share:.0%}" for share in shares])
    longest = max(side.longest.wall_ns for side in diff.sides)
    mark_log_times(ax, 0.7 * _SHORTEST_NS, max(longest, 10 * _SHORTEST_NS) * 1.12)
    # Keep the shortest window's label below the 0% label next to it.
    ax.tick_params(axis="x", pad=8)
    lines = []
    for side, name in zip(diff.sides, SIDES, strict=True):
        lines.append(_add_curve(ax, side, colour(name, theme), kwargs))
    _add_dots(ax, diff, theme)
    add_legend(ax, lines, [_legend_label(side) for side in diff.sides])
    add_title(ax, "Minimum mutator utilization (MMU), by window", theme)
    return ax


def mmu_in_words(diff: TraceDiff) -> str:
    """Return the minimum mutator utilization at the marked windows, in a sentence."""
    labels = [shortened(side.label, 20) for side in diff.sides]
    marked = []
    for window, shares in diff.mmu.items():
        words = ["–" if share is None else percent(share, 1) for share in shares]
        sides = ", ".join(map(" ".join, zip(labels, words, strict=True)))
        marked.append(f"{round_time(window)}: {sides}")
    what = "Minimum mutator utilization, by window length"
    if not marked:
        return f"{what}: the traces are too short."
    return f"{what}. {'; '.join(marked)}."


def _legend_label(side: TraceSide) -> str:
    return f"{shortened(side.label, 20)}: {time_words(side.longest.wall_ns)} traced"


def _add_curve(ax: Axes, side: TraceSide, shade: str, kwargs: dict[str, Any]) -> Line2D:
    lengths = windows(side.longest.wall_ns, len(side.utilisation.share))
    least = mmu_curve(side.utilisation, np.array(lengths, np.int64))
    x = lengths if len(least) else []
    style = artist_style({"color": shade, "linewidth": 1.8}, kwargs)
    (line,) = ax.plot(x, least, **style)
    return line


def _add_dots(ax: Axes, diff: TraceDiff, theme: Theme) -> None:
    """Mark the table's windows, with the higher curve's text to the left."""
    for window, shares in diff.mmu.items():
        higher = int((shares[1] or 0) > (shares[0] or 0))
        for i, share in enumerate(shares):
            if share is None:
                continue
            shade = colour(SIDES[i], theme)
            ax.plot(window, share, marker="o", markersize=5, color=shade)
            if share == 0:
                continue
            upper = i == higher
            above = upper or share < _LOW
            add_note(
                ax,
                percent(share, 1),
                (window, share),
                (-5 if upper else 5, 4 if above else -4),
                ha="right" if upper else "left",
                va="bottom" if above else "top",
                color=shade,
            )
