"""Several builds side by side: each one's total, by group of runtime costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.single import ProfileSums
from pprofdiff.goruntime.rules import rules
from pprofdiff.palette import Theme, colour, group
from pprofdiff.plots.frame import (
    Ticks,
    as_is,
    framed,
    looks,
    numbered,
    place_in_words,
    round_places,
    shown,
    titled,
)
from pprofdiff.units import Scale, scale_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Many", "builds", "builds_in_words", "scale_of_builds"]

Floats = NDArray[np.float64]

_NANOSECONDS = ("nanoseconds", "ns")
_MODES = {
    "absolute": "absolute",
    "per_second": "per second",
    "per_work": "per operation",
}
_TOLD = 3


class Many(Protocol):
    """Several builds in order, as `pprofdiff.Builds` holds them."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the builds are called."""

    @property
    def mode(self) -> str:
        """In what they are compared."""

    @property
    def factors(self) -> tuple[float, ...]:
        """What raw values are multiplied by."""

    @property
    def kind(self) -> str:
        """What Go calls these profiles."""

    @property
    def unit(self) -> str:
        """The unit of raw values."""

    @property
    def costs(self) -> tuple[ProfileSums, ...]:
        """What each build costs."""


class _Part(NamedTuple):
    """One group: its label, its fill, its scaled value in each build."""

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
    """Draw one bar a build, stacked by group of runtime costs.

    Profiles without such groups have bars in one colour. Groups are named beside the
    last bar, in its order.
    """
    ax = framed(ax, theme)
    parts, scale = _parts(many, theme), scale_of_builds(many)
    places = np.arange(len(many.names), dtype=np.float64)
    below = np.zeros(len(places))
    for part in parts:
        edge = colour("background", theme)
        plain = {"width": 0.72, "color": part.fill, "edgecolor": edge, "linewidth": 0.8}
        ax.bar(places, part.values, bottom=below, **looks(plain, kwargs, "bar"))
        below = below + part.values
    top = float(below.max(initial=0.0)) or 1.0
    for place, total in zip(places.tolist(), below.tolist(), strict=True):
        _noted(ax, (place, total), scale.number(total), colour("faint", theme))
    _named(ax, parts, top, theme)
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.set_ylim(0, top * 1.08)
    numbered(ax, "x", Ticks(places.tolist(), [shown(name, 16) for name in many.names]))
    rounds = round_places(0.0, top / scale.size)
    words = [place_in_words(place, scale.unit) for place in rounds]
    numbered(ax, "y", Ticks([place * scale.size for place in rounds], words))
    titled(ax, f"{many.kind} by build, in {scale.unit} ({_MODES[many.mode]})", theme)
    return ax


def builds_in_words(many: Many) -> str:
    """Return the first and last totals, and the groups that moved most between them."""
    parts, scale = _parts(many, "light"), scale_of_builds(many)
    whole = np.sum([part.values for part in parts], axis=0)
    moved = [(part.label, float(part.values[-1] - part.values[0])) for part in parts]
    moved.sort(key=lambda row: -abs(row[1]))
    told = [f"{name} {scale.text(by, signed=True)}" for name, by in moved[:_TOLD]]
    ends = f"{shown(many.names[0])} {scale.text(float(whole[0]))}"
    if len(many.names) > 1:
        ends += f", {shown(many.names[-1])} {scale.text(float(whole[-1]))}"
    return f"{many.kind} of {len(many.names)} builds. {ends}; {'; '.join(told)}."


def scale_of_builds(many: Many) -> Scale:
    """Return the scale in which the totals read well."""
    totals = [c.total * by for c, by in zip(many.costs, many.factors, strict=True)]
    if many.mode == "per_second" and many.unit in _NANOSECONDS:
        return Scale(1e9, "cores" if many.kind == "cpu" else "s/s", 2)
    scale = scale_for(totals, many.unit)
    suffix = {"per_second": "/s", "per_work": "/op"}.get(many.mode, "")
    return scale._replace(unit=scale.unit + suffix)


def _parts(many: Many, theme: Theme) -> list[_Part]:
    """Return the groups that any build has, the user's code at the bottom."""
    factors = np.array(many.factors)
    held = [cost.categories for cost in many.costs]
    if any(sums is None for sums in held):
        totals = np.array([cost.total for cost in many.costs]) * factors
        return [_Part("total", colour("base", theme), totals)]
    known = rules()
    ids = list(known.categories)
    parts = []
    for one in reversed(known.groups):
        rows = [ids.index(category) for category in one.categories]
        raw = np.array([0 if s is None else s[rows].sum() for s in held], np.float64)
        if raw.any():
            parts.append(_Part(one.label, group(one.id, theme), raw * factors))
    return parts


def _named(ax: Axes, parts: Sequence[_Part], top: float, theme: Theme) -> None:
    """Name the groups right of the last bar, apart enough to be read."""
    if len(parts) < 2:
        return
    ends, low = [], 0.0
    for part in parts:
        high = low + float(part.values[-1])
        ends.append((low + high) / 2)
        low = high
    spread = _apart(ends, top * 0.058)
    x = len(parts[0].values) - 1 + 0.36
    for part, middle, place in zip(parts, ends, spread, strict=True):
        text = ax.annotate(
            part.label,
            (x, middle),
            xytext=(x + 0.32, place),
            textcoords="data",
            va="center",
            size="small",
            color=colour("text", theme),
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": part.fill,
                "linewidth": 1.4,
                "shrinkA": 2,
                "relpos": (0.0, 0.5),
                "shrinkB": 0,
            },
        )
        as_is(text)


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """Return rising places moved apart by at least `gap`, as little as may be."""
    found = list(places)
    for _ in range(50):
        for i in range(len(found) - 1):
            short = gap - (found[i + 1] - found[i])
            if short > 0:
                found[i] -= short / 2
                found[i + 1] += short / 2
    return found


def _noted(ax: Axes, place: tuple[float, float], words: str, shade: str) -> None:
    text = ax.annotate(
        words,
        place,
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        size="small",
        color=shade,
    )
    as_is(text)
