"""Names in frames, cut to what fits when they are drawn; imports matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from numpy.typing import NDArray

from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import as_is
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase

__all__ = ["FrameName", "name_frames"]

Floats = NDArray[np.float64]

_PAD = 3.0
_FEWEST = 5
# A row must be this much higher than its letters.
_LEADING = 1.25


class FrameName(Text):
    """A frame's name and how it changed, as much of it as fits the frame as drawn.

    Nothing is drawn where not even five letters of the name fit.
    """

    def __init__(
        self,
        row: float,
        ends: tuple[float, float],
        words: tuple[str, str],
        **kwargs: Any,  # noqa: ANN401 - whatever Text takes
    ) -> None:
        super().__init__(ends[0], row + 0.47, "", va="center_baseline", **kwargs)
        self.name, self.tail = (printable(word) for word in words)
        self._ends = ends

    def draw(self, renderer: RendererBase) -> None:
        """Draw what fits."""
        axes = self.axes
        if axes is None:
            return
        corners = np.array([(self._ends[0], 0.0), (self._ends[1], 1.0)])
        placed = axes.transData.transform(corners)
        (left, top), (right, bottom) = np.asarray(placed, np.float64).tolist()
        dots = float(np.asarray(renderer.points_to_pixels(1.0)))
        size = min(9.0, abs(top - bottom) / dots / _LEADING)
        self.set_fontsize(max(size, 1.0))
        font = self.get_fontproperties()
        text = ""
        if size >= 5:
            room = right - left - 2 * _PAD * dots
            text = fitted((self.name, self.tail), room, _measure(renderer, font))
        shift = axes.transData.inverted().transform((left + _PAD * dots, top))[0]
        self.set_text(text)
        self.set_x(float(shift))
        super().draw(renderer)


def name_frames(
    ax: Axes,
    names: list[tuple[str, str]],
    places: tuple[NDArray[np.int64], Floats, Floats],
    theme: Theme,
) -> None:
    """Write names into frames: `places` are rows, left edges and widths."""
    ink = colour("frame_text", theme)
    for words, row, left, width in zip(
        names, *(column.tolist() for column in places), strict=True
    ):
        text = FrameName(row, (left, left + width), words, color=ink, clip_on=True)
        # The frame it stands in is what limits it.
        text.set_in_layout(False)
        ax.add_artist(as_is(text))


def fitted(words: tuple[str, str], room: float, measure: Callable[[str], float]) -> str:
    """Return the longest spelling of a name, with its tail, that fits, or ``""``.

    Where even the shortest does not fit, the tail is left out and the name cut.
    """
    name, tail = words
    spellings = list(_spellings(name))
    for end in dict.fromkeys((tail, "")):
        for spelling in spellings:
            # No letter is narrower than this: much too long names are not measured.
            text = spelling + end
            if len(text) < room and measure(text) <= room:
                return text
    shortest = spellings[-1]
    low, high = 0, min(len(shortest), max(int(room), 0))
    while low < high:
        middle = (low + high + 1) // 2
        if measure(shortest[:middle] + "…") <= room:
            low = middle
        else:
            high = middle - 1
    return shortest[:low] + "…" if low >= _FEWEST else ""


def _spellings(name: str) -> Iterator[str]:
    """Yield a Go function's name: whole, without the path, without the package."""
    yield name
    bracket = name.find("[")
    head = name if bracket < 0 else name[:bracket]
    package = name[head.rfind("/") + 1 :]
    if package != name:
        yield package
    _, dot, rest = package.partition(".")
    if dot and rest:
        yield rest


def _measure(renderer: RendererBase, font: FontProperties) -> Callable[[str], float]:
    def width(text: str) -> float:
        return float(
            renderer.get_text_width_height_descent(text, font, ismath=False)[0]
        )

    return width
