"""Text measurement, in points, so that labels do not overlap.

The size of Axes is only known when they are drawn; until then it is assumed a little
smaller than now, to allow for the layout.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
