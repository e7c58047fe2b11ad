"""The plots of `pprofdiff.plots` as methods: ``ax=None`` means ``plt.gca()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pprofdiff import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plotted(name: str, what: str) -> Callable[..., Axes]:
    """Return a method that plots its object with `plots.<name>`; `what` it shows."""

    def method(self: object, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        drawn: Axes = getattr(plots, name)(self, ax, **options)
        return drawn

    method.__doc__ = f"Plot {what}; see `plots.{name}`."
    return method
