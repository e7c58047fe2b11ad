"""Several builds side by side: each one's total, by group of runtime costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.scaling import MODES, scale_in_mode
from pprofdiff.analysis.profiles.single import ProfileSums
from pprofdiff.goruntime.rules import rules
from pprofdiff.palette import Theme, colour, group
from pprofdiff.plots.axes import (
    add_leaders,
    add_note,
    add_title,
    artist_style,
    mark_axis,
    set_ticks,
    shortened,
    themed,
)
from pprofdiff.plots.fitting import room, text_size
from pprofdiff.units import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


class Many(Protocol):
    """Several builds in order, such as `pprofdiff.Builds`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The builds' names."""

    @property
    def mode(self) -> str:
        """How builds are compared: a key of `MODES`."""

    @property
    def factors(self) -> tuple[float, ...]:
        """Factors for raw values, one per build."""

    @property
    def kind(self) -> str:
        """Go's name for these profiles, such as cpu."""

    @property
    def unit(self) -> str:
        """The unit of raw values."""

    @property
    def costs(self) -> tuple[ProfileSums, ...]:
        """The costs of each build, raw."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """A part of each bar: its label, its colour, its scaled value in each bar."""

    label: str
    fill: str
    values: Floats


def builds(
    many: Many,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.bar takes
) -> Axes:
    """Draw one bar per build, stacked by group of runtime costs.

    Profiles without groups have bars in one colour. x counts builds; y is the scaled
    value, in the unit given in the title; `kwargs` go to `Axes.bar`.
    """
    ax = themed(ax, theme)
    groups, scale = _groups(many, theme), scale_of_builds(many)
    names = [shortened(name, 16) for name in many.names]
    stack_bars(ax, groups, names, scale, theme, kwargs)
    title = f"{many.kind} by build, in {scale.unit} ({MODES[many.mode]})"
    add_title(ax, title, theme)
    return ax


def stack_bars(
    ax: Axes,
    parts: Sequence[Stacked],
    names: Sequence[str],
    scale: Scale,
    theme: Theme,
    given: dict[str, Any],
) -> None:
    """Draw one bar per name: the parts on each other, their names next to the last."""
    places = np.arange(len(names), dtype=np.float64)
    below = np.zeros(len(places))
    edge = colour("background", theme)
    for one in parts:
        plain = {"width": 0.72, "color": one.fill, "edgecolor": edge, "linewidth": 0.8}
        style = artist_style(plain, given, "bar")
        ax.bar(places, one.values, bottom=below, **style)
        below = below + one.values
    top = float(below.max(initial=0.0)) or 1.0
    faint = colour("faint", theme)
    for place, total in zip(places.tolist(), below.tolist(), strict=True):
        words = scale.number(total)
        add_note(
            ax, words, (place, total), (0, 3), ha="center", va="bottom", color=faint
        )
    _add_names(ax, parts, top, theme)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylim(0, top * 1.08)
    set_ticks(ax, "x", places.tolist(), names)
    mark_axis(ax, "y", (0.0, top), scale)


def scale_of_builds(many: Many) -> Scale:
    """Return a readable scale for the scaled totals of all builds."""
    totals = [c.total * by for c, by in zip(many.costs, many.factors, strict=True)]
    return scale_in_mode(totals, many.unit, many.mode, cpu=many.kind == "cpu")


def _groups(many: Many, theme: Theme) -> list[Stacked]:
    """Return the groups that any build has, user code at the bottom."""
    factors = np.array(many.factors)
    if any(cost.categories is None for cost in many.costs):
        totals = np.array([cost.total for cost in many.costs]) * factors
        return [Stacked("total", colour("base", theme), totals)]
    raw = np.array([cost.of_groups() for cost in many.costs], np.float64)
    return [
        Stacked(one.label, group(one.id, theme), values * factors)
        for one, values in reversed(list(zip(rules().groups, raw.T, strict=True)))
        if values.any()
    ]


def _add_names(ax: Axes, groups: Sequence[Stacked], top: float, theme: Theme) -> None:
    if len(groups) < 2:
        return
    middles, low = [], 0.0
    for one in groups:
        high = low + float(one.values[-1])
        middles.append((low + high) / 2)
        low = high
    gap = 1.08 * top * max(text_size("")[1] / room(ax)[1], 0.054)
    x = len(groups[0].values) - 1 + 0.36
    ends = [
        (one.label, middle, one.fill)
        for one, middle in zip(groups, middles, strict=True)
    ]
    add_leaders(ax, ends, (x, x + 0.32), gap, theme, linewidth=1.4, shrinkA=2)
