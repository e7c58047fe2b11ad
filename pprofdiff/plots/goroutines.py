"""Where goroutines spend their time, by root function, base above new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.traces.compare import GroupPair, TraceDiff
from pprofdiff.analysis.traces.groups import Groups
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.frame import (
    Ticks,
    as_is,
    drawable,
    framed,
    keyed,
    looks,
    numbered,
    shown,
    sized,
    titled,
)
from pprofdiff.units import scaled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["states", "states_in_words"]

_TOLD = 3
_HEIGHT = 0.36
# States that a goroutine can be in: what they are called, their column and colour.
_STATES = {
    "running": ("exec_ns", "group_sched"),
    "runnable": ("sched_wait_ns", "worse_4"),
    "syscall": ("syscall_ns", "group_syscall"),
    "syscall, no processor": ("syscall_block_ns", "group_alloc"),
}
_BLOCKED = "blocked"


class _Root(NamedTuple):
    """One root function: its name, and scaled ns by state, a row a side."""

    name: str
    times: NDArray[np.float64]


def states(
    diff: TraceDiff,
    ax: Axes | None = None,
    *,
    n: int = 8,
    blocked: bool = False,
    theme: Theme = "light",
    **kwargs: Any,  # noqa: ANN401 - whatever Axes.barh takes
) -> Axes:
    """Draw the time of goroutines by state, the `n` root functions that moved most.

    Each function has two bars, base above new; they are per second of wall time or by
    operation. Time blocked is most of many lives and says little: it is left out
    unless asked for. Goroutines that are there because of the trace are left out.
    """
    diff = drawable(diff)
    ax = framed(ax, theme)
    roots, names = _roots(diff, n, blocked=blocked), _names(blocked=blocked)
    handles = _stacked(ax, roots, names, theme, kwargs)
    top = max((float(root.times.sum(axis=1).max()) for root in roots), default=0.0) or 1
    ax.set_xlim(0, top * 1.12)
    sized(ax, "x", top * 1.12, "ns")
    ax.grid(visible=True, axis="x", color=colour("grid", theme), linewidth=0.8)
    ax.grid(visible=False, axis="y")
    numbered(ax, "y", Ticks(range(len(roots)), [root.name for root in roots]))
    ax.set_ylim(len(roots) - 0.4, -0.6)
    keyed(ax, handles, names)
    per = "per second" if diff.rates is None else "per operation"
    titled(ax, f"Goroutine time {per} by root function, {_sides(diff)}", theme)
    return ax


def states_in_words(diff: TraceDiff, *, n: int = _TOLD, blocked: bool = False) -> str:
    """Return the first of what `states` draws, in a sentence."""
    diff = drawable(diff)
    names = _names(blocked=blocked)
    told = []
    for root in _roots(diff, n, blocked=blocked):
        held = [
            f"{name} {scaled(old, 'ns')} → {scaled(fresh, 'ns')}"
            for name, (old, fresh) in zip(names, root.times.T.tolist(), strict=True)
            if old or fresh
        ]
        told.append(f"{root.name}: {', '.join(held)}")
    per = "per second" if diff.rates is None else "per operation"
    return f"Goroutine time {per}, {_sides(diff)}. {'; '.join(told) or 'None'}."


def _sides(diff: TraceDiff) -> str:
    base, new = (shown(side.label, 20) for side in diff.sides)
    return f"{base} above {new}"


def _names(*, blocked: bool) -> list[str]:
    return [*_STATES, *([_BLOCKED] if blocked else [])]


def _roots(diff: TraceDiff, n: int, *, blocked: bool) -> list[_Root]:
    """Return the root functions that moved most, in the report's order."""
    found: list[_Root] = []
    for pair in diff.groups:
        if len(found) == n:
            break
        root = _root(diff, pair, blocked=blocked)
        if root is not None and root.times.any():
            found.append(root)
    return found


def _root(diff: TraceDiff, pair: GroupPair, *, blocked: bool) -> _Root | None:
    """Return one root function's times, None for one that the trace makes."""
    times = []
    for side, row, factor in zip(
        diff.sides, (pair.base, pair.new), diff.factors, strict=True
    ):
        if row >= 0 and bool(side.groups.tracing[row]):
            return None
        times.append([ns * factor for ns in _times(side.groups, row, blocked=blocked)])
    return _Root(shown(pair.name, 36), np.array(times, np.float64))


def _times(held: Groups, row: int, *, blocked: bool) -> list[int]:
    """Return raw ns by state, zeros for no row."""
    if row < 0:
        return [0] * len(_names(blocked=blocked))
    times = [int(getattr(held, column)[row]) for column, _ in _STATES.values()]
    return [*times, int(held.block_ns[row].sum())] if blocked else times


def _stacked(
    ax: Axes, roots: list[_Root], names: list[str], theme: Theme, kwargs: dict[str, Any]
) -> list[Artist]:
    """Draw the bars and their sums; return what stands for each state."""
    from matplotlib.patches import Rectangle

    times = np.array([root.times for root in roots]).reshape(len(roots), 2, len(names))
    places = np.arange(len(roots))
    shades = [shade for _, shade in _STATES.values()] + ["neutral"]
    handles: list[Artist] = []
    for i, shade in zip(range(len(names)), shades, strict=False):
        for side, shift in ((0, -0.5), (1, 0.5)):
            plain = {"height": _HEIGHT, "linewidth": 0, "color": colour(shade, theme)}
            bars = ax.barh(
                places + shift * (_HEIGHT + 0.04),
                times[:, side, i],
                left=times[:, side, :i].sum(axis=1),
                **looks(plain, kwargs, "bar"),
            )
        handles.append(bars.patches[0] if bars.patches else Rectangle((0, 0), 0, 0))
    _summed(ax, times.sum(axis=2), theme)
    return handles


def _summed(ax: Axes, sums: NDArray[np.float64], theme: Theme) -> None:
    """Write each bar's sum right of it, in its side's colour."""
    for row, pair in enumerate(sums.tolist()):
        for side, shift in ((0, -0.5), (1, 0.5)):
            text = ax.annotate(
                scaled(pair[side], "ns") if pair[side] else "0",
                (pair[side], row + shift * (_HEIGHT + 0.04)),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                size="x-small",
                color=colour(("base", "new")[side], theme),
            )
            as_is(text)
