"""Names in the frames of a flame graph, cut to fit; imports matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from pprofdiff.goruntime.names import package_end, package_of
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase

_PAD = 3.0
_FEWEST = 5
_LARGEST, _SMALLEST = 9.0, 5.0
# Minimum height of a row relative to its letters.
_LEADING = 1.25


class FrameName(Text):
    """A frame's name and change, as much as fits the frame when drawn.

    The frame spans `row` to ``row + 1`` of the y axis, `left` to `right` of the x axis.
    `names` are spellings of the name, longest first; `change` is the text after it.
    """

    def __init__(
        self,
        row: int,
        left: float,
        right: float,
        names: Sequence[str],
        change: str,
        **kwargs: Any,  # noqa: ANN401 - whatever Text takes
    ) -> None:
        super().__init__(left, row + 0.47, "", va="center_baseline", **kwargs)
        self.left, self.right = left, right
        self.names = [printable(name) for name in names]
        self.change = printable(change)

    def draw(self, renderer: RendererBase) -> None:
        """Choose the spelling and size that fit, and draw them."""
        axes = self.axes
        if axes is None:
            return
        corners = np.array([(self.left, 0.0), (self.right, 1.0)])
        placed = axes.transData.transform(corners)
        (left, top), (right, bottom) = np.asarray(placed, np.float64).tolist()
        dots = float(np.asarray(renderer.points_to_pixels(1.0)))
        size = min(_LARGEST, abs(top - bottom) / dots / _LEADING)
        self.set_fontsize(max(size, 1.0))
        text = ""
        if size >= _SMALLEST:
            room = right - left - 2 * _PAD * dots
            measure = _measure(renderer, self.get_fontproperties())
            text = fitted(self.names, self.change, room, measure)
        shift = axes.transData.inverted().transform((left + _PAD * dots, top))[0]
        self.set_text(text)
        self.set_x(float(shift))
        super().draw(renderer)


def spellings(name: str) -> list[str]:
    """Return a function's full name, and the name without its package."""
    end = package_end(name) if package_of(name) else 0
    return [name, name[end + 1 :]] if end else [name]


def fitted(
    names: Sequence[str], change: str, room: float, measure: Callable[[str], float]
) -> str:
    """Return the longest name that fits with its change, else without, else cut.

    `room` is the width in the unit of `measure`. Returns "" if not even five letters of
    the shortest spelling fit.
    """
    tails = [f"  {change}", ""] if change else [""]
    for tail in tails:
        for name in names:
            # No letter is narrower than 1, which spares measuring far too long names.
            text = name + tail
            if len(text) < room and measure(text) <= room:
                return text
    shortest = names[-1]
    low, high = 0, min(len(shortest), max(int(room), 0))
    while low < high:
        middle = (low + high + 1) // 2
        if measure(shortest[:middle] + "…") <= room:
            low = middle
        else:
            high = middle - 1
    return shortest[:low] + "…" if low >= _FEWEST else ""


def _measure(renderer: RendererBase, font: FontProperties) -> Callable[[str], float]:
    def width(text: str) -> float:
        return float(
            renderer.get_text_width_height_descent(text, font, ismath=False)[0]
        )

    return width
