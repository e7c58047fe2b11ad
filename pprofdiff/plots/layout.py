"""A reproducible layout; imports matplotlib.

kiwisolver orders its variables by memory address, so the last digits of positions
differ from run to run: enough to change the shade of pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from matplotlib.figure import Figure, FigureBase

# Decimals of figure-relative positions: far below a pixel, far above the error.
_DECIMALS = 7


class RoundedLayout(ConstrainedLayoutEngine):
    """Constrained layout with rounded positions."""

    def execute(self, fig: Figure) -> None:
        """Place the subfigures and Axes of a figure."""
        super().execute(fig)
        _round_subfigures(fig)
        for ax in fig.axes:
            placed = ax.get_in_layout()
            points = ax.get_position(original=True).get_points()
            ax.set_position(Bbox(points.round(_DECIMALS)))
            # `set_position` takes Axes out of the layout.
            ax.set_in_layout(placed)


def _round_subfigures(figure: FigureBase) -> None:
    for part in figure.subfigs:
        box = part.bbox_relative
        box.set_points(box.get_points().round(_DECIMALS))
        _round_subfigures(part)
