"""How much room words take, so that no two of them are written over each other.

Widths are those of the letters, in points. The size of Axes is known when they are
drawn; before, it is taken to be a little smaller than it is now, for what a layout may
take. Words that do not touch in small Axes do not in larger ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Box", "legend_columns", "legend_rows", "room", "text_size"]

# What a layout leaves of Axes as they are made, of width and of height.
_LEFT = (0.95, 0.85)
# Of a legend's entry, in font sizes: handle, gap, and what is between entries.
_HANDLE, _GAP, _BETWEEN = 1.4, 0.8, 1.4
_LINE = 1.25


class Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    bottom: float
    width: float
    height: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two rectangles have more than an edge in common."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.bottom < other.bottom + other.height
            and other.bottom < self.bottom + self.height
        )


def text_size(words: str, size: str = "small") -> tuple[float, float]:
    """Return the width and height of words in the settings' font, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size)
    with warnings.catch_warnings():
        # What the font has no glyph for takes room all the same.
        warnings.simplefilter("ignore", UserWarning)
        width, _, _ = text_to_path.get_text_width_height_descent(
            printable(words), font, ismath=False
        )
    return float(width), _LINE * font.get_size_in_points()


def room(ax: Axes) -> tuple[float, float]:
    """Return the width and height that Axes have at least, in points.

    Names of rows that are longer than the margin take from the width.
    """
    box = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    widest = max((text_size(name)[0] for name in names), default=0.0)
    margin = (box.x0 - ax.figure.bbox.x0) * points
    over = max(widest - margin, 0.0)
    wide = (box.width * points - over) * _LEFT[0]
    return max(wide, 1.0), box.height * points * _LEFT[1]


def legend_columns(ax: Axes, labels: Sequence[str]) -> int:
    """Return how many entries of a legend stand beside each other above Axes."""
    if not labels:
        return 1
    widths = [text_size(label)[0] for label in labels]
    em = text_size("")[1] / _LINE
    entry = (_HANDLE + _GAP + _BETWEEN) * em
    wide = room(ax)[0]
    if sum(widths) + entry * len(widths) <= wide:
        return len(labels)
    # Columns are as wide as the widest of their entries.
    return max(int(wide / (max(widths) + entry)), 1)


def legend_rows(ax: Axes) -> int:
    """Return in how many lines the legend above Axes stands, 0 without one."""
    legend = ax.get_legend()
    if legend is None:
        return 0
    labels = [text.get_text() for text in legend.get_texts()]
    return ceil(len(labels) / legend_columns(ax, labels))
