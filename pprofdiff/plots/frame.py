"""What all plots share: a quiet frame, labels shown as they are, units on axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import in_words
from pprofdiff.palette import Theme, colour
from pprofdiff.units import printable, scale_for, scaled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = [
    "SERIES",
    "Band",
    "Ticks",
    "as_is",
    "banded",
    "drawable",
    "framed",
    "keyed",
    "log_times",
    "looks",
    "numbered",
    "place_in_words",
    "round_places",
    "round_time",
    "shown",
    "sized",
    "thinned",
    "time_in_words",
    "titled",
    "unit_in_words",
]

Floats = NDArray[np.float64]

SERIES = ("base", "new")
"""The colours of the two sides."""

_LONGEST = 48


class Ticks(NamedTuple):
    """Where an axis has marks, and their words."""

    places: Sequence[float]
    words: Sequence[str]


def framed(ax: Axes | None, theme: Theme) -> Axes:
    """Return the Axes to draw on, styled: thin lines, nothing that is not needed.

    Without one it is pyplot's current one, whose figure gets the theme's background.
    """
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.gca()
        ax.figure.set_facecolor(colour("background", theme))
    ax.set_facecolor(colour("background", theme))
    ax.set_axisbelow(True)
    for name, spine in ax.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(colour("border", theme))
    ax.grid(visible=True, axis="y", color=colour("grid", theme), linewidth=0.8)
    faint = colour("faint", theme)
    ax.tick_params(which="both", length=0, colors=faint, labelsize="small")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=faint, size="small")
    return ax


def drawable(data: Any) -> Any:  # noqa: ANN401 - whatever a plot takes
    """Return what is drawn of an object of `pprofdiff`'s own, such as a `Trace`."""
    return getattr(data, "drawable", data)


def titled(ax: Axes, title: str, theme: Theme) -> None:
    """Write a plot's title: what it shows, in what, and by what.

    It stands above the legend that `keyed` makes, if there is one.
    """
    pad = 20.0 if ax.get_legend() is not None else 6.0
    shade = colour("text", theme)
    as_is(ax.set_title(title, loc="left", size="medium", color=shade, pad=pad))


def as_is(text: Text) -> Text:
    """Return a text that is shown as it is written: ``$x$`` is no formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def shown(label: str, longest: int = _LONGEST) -> str:
    """Return a label in which what cannot be printed is escaped, and not too long."""
    text = printable(label)
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def keyed(ax: Axes, handles: Sequence[Artist], labels: Sequence[str]) -> None:
    """Say what lines are, in their colours, above the plot.

    Labels are written after the legend is made, which drops those that begin with
    ``_`` and reads formulas in the others.
    """
    legend = ax.legend(
        list(handles),
        ["x" * len(label) for label in labels],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(handles),
        frameon=False,
        fontsize="small",
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=1.4,
        columnspacing=1.4,
    )
    faint = ax.xaxis.label.get_color()
    for text, label in zip(legend.get_texts(), labels, strict=True):
        as_is(text).set(text=label, color=faint)


def numbered(ax: Axes, which: str, ticks: Ticks) -> None:
    """Mark an axis (``x`` or ``y``) at these places alone, with these words."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(
        list(ticks.places), list(ticks.words), parse_math=False, usetex=False
    )
    axis.set_ticks([], minor=True)


def log_times(ax: Axes, low_ns: float, high_ns: float) -> None:
    """Make x a logarithmic axis of times, a mark a decade, such as ``10 µs``."""
    ax.set_xscale("log")
    ax.set_xlim(low_ns, high_ns)
    first, last = np.ceil(np.log10(low_ns)), np.floor(np.log10(high_ns))
    places = [10.0**power for power in range(int(first), int(last) + 1)]
    numbered(ax, "x", Ticks(places, [round_time(place) for place in places]))


def round_time(ns: float) -> str:
    """Return a round time, such as ``10 µs``."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def sized(ax: Axes, which: str, top: float, unit: str) -> None:
    """Mark an axis (``x`` or ``y``) from 0 to `top` at round places, with the unit.

    Sizes are round in the unit that is shown: 2 GB, not 2,000,000,000 bytes.
    """
    scale = scale_for((top,), unit)
    places = round_places(0.0, top / scale.size)
    words = [place_in_words(place, scale.unit) for place in places]
    numbered(ax, which, Ticks([place * scale.size for place in places], words))


def looks(
    defaults: Mapping[str, Any], given: Mapping[str, Any], artist: str = "line"
) -> dict[str, Any]:
    """Return defaults, changed by what a caller gave, under whatever alias (``lw``).

    `artist` is ``line`` or ``bar``.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    kind = Line2D if artist == "line" else Rectangle
    return {**defaults, **normalize_kwargs(dict(given), kind)}


def place_in_words(place: float, unit: str) -> str:
    """Return what a mark of an axis says, such as ``−0.2 cores``; 0 needs no unit."""
    if not place:
        return "0"
    return f"{place:,.6g} {unit}".rstrip().replace("-", "−")


def unit_in_words(diff: ProfileDiff) -> str:
    """Return what a plot's numbers are in, as the report says but for the reason."""
    words, _, reason = in_words(diff).partition(";")
    return f"{words})" if reason else words


def round_places(low: float, high: float) -> list[float]:
    """Return four to seven round numbers from `low` to `high`."""
    rough = max((high - low) / 5, 1e-12)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(s for s in (1, 2, 2.5, 5, 10, 20) if s * power >= rough) * power
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


class Band(NamedTuple):
    """What a line covers, column by column: float64 arrays of one length.

    `x` is the middle of a column, `low`, `middle` and `high` are values of the line:
    its lowest, the median (the lower of two) and its highest there.
    """

    x: Floats
    low: Floats
    middle: Floats
    high: Floats


def banded(x: Floats, y: Floats, columns: int) -> Band:
    """Return the range of a line in each of so many columns of x that hold a point."""
    if not len(x):
        return Band(x, x, x, x)
    start = float(x.min())
    width = max(float(x.max()) - start, 1e-12) / columns
    column = np.minimum(((x - start) / width).astype(np.int64), columns - 1)
    order = np.lexsort((y, column))
    ranked, held = y[order], column[order]
    first = np.flatnonzero(np.diff(held, prepend=-1))
    last = np.append(first[1:], len(x)) - 1
    low, middle, high = (ranked[i] for i in (first, (first + last) // 2, last))
    return Band(start + (held[first] + 0.5) * width, low, middle, high)


def thinned(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return a line with at most two points a column of x: its lowest and highest.

    A line of no more than twice as many points stays as it is; so do its ends.
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


def time_in_words(ns: float | None) -> str:
    """Return a time in its own scale, ``–`` for none."""
    return "–" if ns is None else scaled(ns, "ns")
