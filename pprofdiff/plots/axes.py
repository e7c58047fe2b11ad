"""Helpers shared by all plots: themed Axes, literal text, legends, axis units."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

import numpy as np

from pprofdiff.palette import Theme, colour
from pprofdiff.units import Scale, printable, scale_for, scaled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from pprofdiff.analysis.comparison import Comparison


Which = Literal["x", "y"]
Data = TypeVar("Data")
Data_co = TypeVar("Data_co", covariant=True)

SIDES = ("base", "new")
"""The colour names of the two sides."""

_LONGEST = 48
# Average width of a letter in a title, in points.
_TITLE_LETTER = 6.3
# Share of a figure's width that axis labels leave.
_OF_FIGURE = 0.85


class Plottable(Protocol[Data_co]):
    """A public API object whose `data` is plotted, such as `TraceDiff`."""

    @property
    def data(self) -> Data_co:
        """The data to plot."""


class HasComparison(Protocol):
    """An object with a comparison, such as `pprofdiff.Comparison` or a report."""

    @property
    def comparison(self) -> Comparison:
        """The comparison."""


@overload
def data_of(subject: Plottable[Data]) -> Data: ...
@overload
def data_of(subject: Data) -> Data: ...
def data_of(subject: object) -> object:
    """Return the data of a `Plottable`; anything else is returned unchanged."""
    return getattr(subject, "data", subject)


def comparison_of(compared: Comparison | HasComparison) -> Comparison:
    """Return the comparison of an object, or the comparison itself."""
    whole: Any = compared
    comparison: Comparison = getattr(whole, "comparison", whole)
    return comparison


def themed(
    ax: Axes | None, theme: Theme, grid: Literal["", "x", "y", "both"] = "y"
) -> Axes:
    """Return Axes in a theme's colours: a bottom line, a faint grid, no tick marks.

    Without `ax`, these are pyplot's current Axes, and their figure is themed too.
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
    ax.grid(visible=False)
    if grid:
        ax.grid(visible=True, axis=grid, color=colour("grid", theme), linewidth=0.8)
    faint = colour("faint", theme)
    ax.tick_params(which="both", length=0, colors=faint, labelsize="small")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=faint, size="small")
    return ax


def literal(text: Text) -> Text:
    """Return the text, set to be drawn verbatim: ``$x$`` is not a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)
    return text


def shortened(label: str, longest: int = _LONGEST) -> str:
    """Return a label with control characters escaped, its middle cut if too long."""
    text = printable(label)
    if len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def points_wide(ax: Axes) -> float:
    """Return the width of the figure that contains the Axes, in points."""
    figure = ax.figure
    return float(figure.bbox.width * 72 / figure.dpi)


def add_title(ax: Axes, title: str, theme: Theme) -> None:
    """Write a title above the plot and its legend, wrapped to the figure's width."""
    pad = 6.0 + 14.0 * legend_rows(ax)
    shade = colour("text", theme)
    letters = max(int(_OF_FIGURE * points_wide(ax) / _TITLE_LETTER), 20)
    title = "\n".join(wrap(title, letters)) if len(title) > letters else title
    literal(ax.set_title(title, loc="left", size="medium", color=shade, pad=pad))


def add_legend(
    ax: Axes, handles: Sequence[Artist | tuple[Artist, ...]], labels: Sequence[str]
) -> None:
    """Write a legend above the plot, on one line if that fits."""
    from matplotlib.legend_handler import HandlerTuple

    # Legends drop labels that start with "_" and parse formulas in others, so
    # placeholders of the same length stand in until the legend exists.
    legend = ax.legend(
        list(handles),
        ["x" * len(label) for label in labels],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=legend_columns(ax, labels),
        frameon=False,
        fontsize="small",
        borderaxespad=0.0,
        borderpad=0.2,
        handlelength=1.4,
        columnspacing=1.4,
        # Keep the swatches of one entry close together.
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)},
    )
    faint = ax.xaxis.label.get_color()
    for text, label in zip(legend.get_texts(), labels, strict=True):
        literal(text).set(text=label, color=faint)


def add_note(
    ax: Axes,
    words: str,
    place: tuple[float, float],
    shift: tuple[float, float],
    **style: Any,  # noqa: ANN401 - whatever Axes.annotate takes
) -> None:
    """Write small text at a data point, shifted by a number of points."""
    plain = {"textcoords": "offset points", "va": "center", "size": "small"}
    literal(ax.annotate(words, place, xytext=shift, **{**plain, **style}))


def add_leaders(
    ax: Axes,
    ends: Sequence[tuple[str, float, str]],
    xs: tuple[float, float],
    gap: float,
    theme: Theme,
    **line: float,
) -> None:
    """Name places at ``xs[0]`` by words at ``xs[1]``, each with a line to its place.

    `ends` are (words, y, colour of the line), y ascending; words are `gap` apart.
    """
    heights = spread_out([y for _, y, _ in ends], gap)
    for (words, y, shade), height in zip(ends, heights, strict=True):
        arrow = {"arrowstyle": "-", "relpos": (0.0, 0.5), "shrinkB": 0, "color": shade}
        note = ax.annotate(
            words, (xs[0], y), xytext=(xs[1], height), va="center", size="small",
            color=colour("text", theme), annotation_clip=False,
            arrowprops={**arrow, **line},
        )  # fmt: skip
        literal(note)


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places at least `gap` apart, shifted little, none below 0."""
    moved = list(places)
    for _ in range(50):
        for i in range(len(moved) - 1):
            short = gap - (moved[i + 1] - moved[i])
            if short > 0:
                moved[i] -= short / 2
                moved[i + 1] += short / 2
    moved[:1] = [max(place, 0.0) for place in moved[:1]]
    for i in range(len(moved) - 1):
        moved[i + 1] = max(moved[i + 1], moved[i] + gap)
    return moved


def artist_style(
    defaults: Mapping[str, Any],
    given: Mapping[str, Any],
    artist: Literal["line", "bar"] = "line",
) -> dict[str, Any]:
    """Return default properties of an artist, overridden by the caller's."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    kind = Line2D if artist == "line" else Rectangle
    return {**defaults, **normalize_kwargs(dict(given), kind)}


def set_ticks(
    ax: Axes, which: Which, places: Sequence[float], words: Sequence[str]
) -> None:
    """Set an axis's ticks to exactly these places, with these labels."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(list(places), list(words), parse_math=False, usetex=False)
    axis.set_ticks([], minor=True)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Make y the rows of these names, the first on top."""
    set_ticks(ax, "y", range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def mark_axis(
    ax: Axes, which: Which, ends: tuple[float, float], scale: Scale, *, steps: int = 5
) -> None:
    """Set ticks at round numbers in the unit of a scale, labelled with that unit.

    2 GiB is round in GiB, 2,000,000,000 bytes is not. `steps` is as in `round_places`.
    """
    low, high = (end / scale.size for end in ends)
    for fewer in range(steps, 0, -1):
        places = round_places(low, high, fewer)
        words = [tick_words(place, scale.unit) for place in places]
        if which == "y" or marks_apart(ax, words):
            break
    set_ticks(ax, which, [place * scale.size for place in places], words)


def marks_apart(ax: Axes, words: Sequence[str]) -> bool:
    """Return whether tick labels fit on an x axis without touching each other."""
    between = text_size("0")[0]
    widest = max((text_size(word)[0] for word in words), default=0.0)
    return (widest + between) * (len(words) + 1) <= room(ax)[0]


def mark_sizes(ax: Axes, which: Which, top: float, unit: str) -> None:
    """Set ticks from 0 to `top`, a raw value in `unit`, in the scale of `top`."""
    mark_axis(ax, which, (0.0, top), scale_for((top,), unit))


def mark_log_times(ax: Axes, low_ns: float, high_ns: float) -> None:
    """Make x a log axis of times in ns, with a tick per decade such as ``10 µs``.

    There is one every few decades if their labels would touch.
    """
    ax.set_xscale("log")
    ax.set_xlim(low_ns, high_ns)
    first, last = int(np.ceil(np.log10(low_ns))), int(np.floor(np.log10(high_ns)))
    for several in range(1, max(last - first, 0) + 2):
        places = [10.0**power for power in range(first, last + 1, several)]
        words = [round_time(place) for place in places]
        if marks_apart(ax, words):
            break
    set_ticks(ax, "x", places, words)


def round_places(low: float, high: float, steps: int = 5) -> list[float]:
    """Return the round numbers from `low` to `high`, in about `steps` steps.

    They are multiples of 1, 2, 2.5 or 5 times a power of ten, at most ``steps + 1``.
    """
    rough = max((high - low) / steps, 1e-12)
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(s for s in (1, 2, 2.5, 5, 10, 20) if s * power >= rough) * power
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [i * step for i in range(first, last + 1)]


def tick_words(place: float, unit: str) -> str:
    """Return a tick label: ``−0.2 cores``, ``50%``; 0 has no unit."""
    if not place:
        return "0"
    gap = "" if unit == "%" else " "
    return f"{place:,.6g}{gap}{unit}".rstrip().replace("-", "−")


def value_words(scale: Scale, value: float, *, signed: bool = False) -> str:
    """Return a value with its unit; percent has no space, as in tables."""
    return scale.text(value, signed=signed).replace(" %", "%")


def round_time(ns: float) -> str:
    """Return a round time in its largest unit, such as ``10 µs``."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def time_words(ns: float | None) -> str:
    """Return a time in a readable unit, ``–`` for None."""
    return "–" if ns is None else scaled(ns, "ns")


# Share of the initial width and height of Axes that a layout leaves.
_LEFT = (0.95, 0.85)
# Parts of a legend entry, in font sizes: handle, gap, space between entries.
_HANDLE, _GAP, _BETWEEN = 1.4, 0.8, 1.4
_LINE = 1.25


def text_size(words: str, size: str = "small") -> tuple[float, float]:
    """Return the width and height of text in the current font, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    with warnings.catch_warnings():
        # Characters that the font has no glyph for still take room.
        warnings.simplefilter("ignore", UserWarning)
        width, _, _ = text_to_path.get_text_width_height_descent(
            printable(words), font, ismath=False
        )
    return float(width), _LINE * font.get_size_in_points()


def room(ax: Axes) -> tuple[float, float]:
    """Return the least width and height of Axes, in points, less row names' width."""
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    widest = max((text_size(name)[0] for name in names), default=0.0)
    margin = (box.x0 - ax.figure.bbox.x0) * points
    over = max(widest - margin, 0.0)
    wide = (box.width * points - over) * _LEFT[0]
    return max(wide, 1.0), box.height * points * _LEFT[1]


def legend_columns(ax: Axes, labels: Sequence[str]) -> int:
    """Return how many legend entries fit side by side above the Axes."""
    if not labels:
        return 1
    widths = [text_size(label)[0] for label in labels]
    em = text_size("")[1] / _LINE
    entry = (_HANDLE + _GAP + _BETWEEN) * em
    wide = room(ax)[0]
    if sum(widths) + entry * len(widths) <= wide:
        return len(labels)
    # Columns are as wide as the widest entry.
    return max(int(wide / (max(widths) + entry)), 1)


def legend_rows(ax: Axes) -> int:
    """Return how many lines the legend above the Axes has, 0 without one."""
    legend = ax.get_legend()
    if legend is None:
        return 0
    labels = [text.get_text() for text in legend.get_texts()]
    return ceil(len(labels) / legend_columns(ax, labels))
