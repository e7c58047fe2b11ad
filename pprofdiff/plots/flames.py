"""Both sides' stacks as one graph: a frame is as wide as the larger of base and new.

Frames hang from what calls them. More is orange, less is blue, the stronger the more a
frame changed for its own size; what chance explains is grey. What is gone is hatched,
what is new has an outline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of
from pprofdiff.analysis.profiles.tree import call_tree, inclusive, noise_limit
from pprofdiff.palette import BETTER, WORSE, Theme, colour
from pprofdiff.plots.frame import framed, keyed, shown, titled, unit_in_words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from pprofdiff.units import Scale

__all__ = ["Width", "flame_rows", "flamegraph", "flamegraph_in_words"]

Floats = NDArray[np.float64]
Width = Literal["larger", "new", "base"]

BUDGET = 4_000
# Least own change of each shade, as on the page.
_STEPS = (0.0, 0.05, 0.2, 0.5)
_DEEPEST = 40
# Frames of less than this share of the whole are not drawn; labels need more.
_THIN, _NAMED = 1 / 1600, 1 / 60
_GAP = 0.06
_TOLD = 3


class _Frames(NamedTuple):
    """What is drawn, the whole first: places, scaled values, shades and names."""

    row: NDArray[np.int64]
    left: Floats
    width: Floats
    base: Floats
    new: Floats
    shade: NDArray[np.int64]
    names: list[str]

    def tails(self, scale: Scale) -> list[str]:
        """Return what is said after each name: how the frame changed, if it did."""
        return [
            f"  {scale.text(new - base, signed=True)}" if shade else ""
            for base, new, shade in zip(
                self.base.tolist(), self.new.tolist(), self.shade.tolist(), strict=True
            )
        ]

    def take(self, kept: NDArray[np.bool_]) -> _Frames:
        rows = np.flatnonzero(kept)
        return _Frames(
            self.row[rows],
            self.left[rows],
            self.width[rows],
            self.base[rows],
            self.new[rows],
            self.shade[rows],
            [self.names[i] for i in rows.tolist()],
        )

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.row.max(initial=0)) + 1


def flamegraph(
    diff: ProfileDiff,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    width: Width = "larger",
    budget: int = BUDGET,
    rows: int = _DEEPEST,
    **kwargs: Any,  # noqa: ANN401 - whatever PolyCollection takes
) -> Axes:
    """Draw the stacks of both sides, the whole on top and what it calls below.

    `width` is that of a frame: the ``larger`` of base and new with all that it calls
    (so that what is gone stays to be seen), ``new`` or ``base``. Of the call tree the
    `budget` heaviest functions are drawn, `rows` deep at most.
    """
    from pprofdiff.plots.flamenames import name_frames

    ax = framed(ax, theme)
    frames = _frames(diff, width, budget, rows)
    _painted(ax, frames, theme, kwargs)
    wide = frames.take(frames.width >= _NAMED * max(float(frames.width[0]), 1e-300))
    scale = scale_of(diff)
    names = list(zip(wide.names, wide.tails(scale), strict=True))
    name_frames(ax, names, (wide.row, wide.left, wide.width), theme)
    ax.set_xlim(0, float(frames.width[0]) or 1.0)
    ax.set_ylim(max(frames.rows, 2), 0)
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines["bottom"].set_visible(False)
    keyed(ax, *_key(theme, diff))
    sides = " → ".join(shown(side.label, 20) for side in (diff.base, diff.new))
    titled(ax, f"{diff.name}: stacks, {sides}, {unit_in_words(diff)}", theme)
    return ax


def flame_rows(diff: ProfileDiff, *, budget: int = BUDGET, rows: int = _DEEPEST) -> int:
    """Return how many rows `flamegraph` draws."""
    return _frames(diff, "larger", budget, rows).rows


def flamegraph_in_words(diff: ProfileDiff) -> str:
    """Return the whole, and the functions that moved most with all they call."""
    scale, by = scale_of(diff), diff.normalization
    base, new = (
        scale.text(total * factor)
        for total, factor in zip(
            diff.totals, (by.base_factor, by.new_factor), strict=True
        )
    )
    table = diff.table("functions")
    delta = table.scaled_delta("cum")
    judged = table.judge("cum")
    told = [
        f"{shown(table.names[i])} {scale.text(float(delta[i]), signed=True)}"
        for i in table.order("cum").tolist()
        if delta[i] and (judged is None or not judged.noise[i])
    ]
    labels = f"{shown(diff.base.label)} {base}, {shown(diff.new.label)} {new}"
    rest = "; ".join(told[:_TOLD]) or "nothing moved beyond noise"
    return f"Flame graph of {diff.name}. {labels}; cum: {rest}."


def _frames(diff: ProfileDiff, width: Width, budget: int, rows: int) -> _Frames:
    """Return the frames that can be seen."""
    tree = call_tree(diff, budget)
    by = diff.normalization
    held = inclusive(tree)
    raw = [np.append(total, own) for total, own in zip(diff.totals, held, strict=True)]
    base, new = raw[0] * by.base_factor, raw[1] * by.new_factor
    sizes = {
        "larger": np.maximum(np.abs(base), np.abs(new)),
        "base": np.abs(base),
        "new": np.abs(new),
    }[width]
    depth = np.append(0, tree.depth.astype(np.int64) + 1)
    left, wide = _layout(depth, sizes)
    names = diff.paired_functions.names
    folded = tree.folded.tolist()
    frames = _Frames(
        depth,
        left,
        wide,
        base,
        new,
        _shades(diff, raw, (base, new)),
        [
            _whole(diff),
            *(
                names[name] if name >= 0 else f"{count} smaller"
                for name, count in zip(tree.name.tolist(), folded, strict=True)
            ),
        ],
    )
    return frames.take((wide > _THIN * wide[0]) & (depth < rows) | (depth == 0))


def _whole(diff: ProfileDiff) -> str:
    scale, by = scale_of(diff), diff.normalization
    base, new = diff.totals[0] * by.base_factor, diff.totals[1] * by.new_factor
    return f"all  {scale.number(base)} → {scale.text(new)}"


def _layout(depth: NDArray[np.int64], sizes: Floats) -> tuple[Floats, Floats]:
    """Return left edges and widths; a frame is as wide as its callees at least."""
    count = len(depth)
    parent = np.zeros(count, np.int64)
    last = np.zeros(int(depth.max(initial=0)) + 1, np.int64)
    for i, level in enumerate(depth.tolist()):
        last[level] = i
        parent[i] = last[level - 1] if level else 0
    above = parent.tolist()
    width, inside = sizes.tolist(), [0.0] * count
    for i in range(count - 1, 0, -1):
        width[i] = max(width[i], inside[i])
        inside[above[i]] += width[i]
    width[0] = max(width[0], inside[0])
    left, used = [0.0] * count, [0.0] * count
    for i in range(1, count):
        left[i] = left[above[i]] + used[above[i]]
        used[above[i]] += width[i]
    return np.array(left), np.array(width)


def _shades(
    diff: ProfileDiff,
    raw: list[NDArray[np.int64]],
    scaled: tuple[Floats, Floats],
) -> NDArray[np.int64]:
    """Return each frame's shade: 0 neutral, 1 to 4 more, −1 to −4 less."""
    base, new = scaled
    delta = new - base
    largest = np.maximum(np.abs(base), np.abs(new))
    part = np.abs(delta) / np.where(largest == 0, 1.0, largest)
    step = np.searchsorted(np.array(_STEPS), part, "right")
    beyond = delta != 0
    if diff.model is not None:
        limit = noise_limit(diff)
        z = np.abs(delta) / diff.model.sigma(raw[0], raw[1])
        beyond &= (z >= limit) if limit is not None else False
    return np.where(beyond, np.sign(delta) * step, 0).astype(np.int64)


def _painted(ax: Axes, frames: _Frames, theme: Theme, kwargs: dict[str, Any]) -> None:
    """Draw the frames: one artist for all, one for what is gone, one for the new."""
    from matplotlib.collections import PolyCollection

    fills = [colour(name, theme) for name in (*reversed(BETTER), "neutral", *WORSE)]
    corners = _corners(frames)
    style = {"linewidths": 0.5, "edgecolors": colour("frame_edge", theme)}
    shades = [fills[4 + shade] for shade in frames.shade.tolist()]
    ax.add_collection(
        PolyCollection(list(corners), facecolors=shades, **{**style, **kwargs})
    )
    # Too narrow a frame would be all hatching.
    visible = frames.width > 4 * _THIN * frames.width[0]
    gone = (frames.new == 0) & (frames.base != 0) & visible
    fresh = (frames.base == 0) & (frames.new != 0) & visible
    faint, ink = colour("faint", theme), colour("text", theme)
    marks: dict[str, Any] = {"facecolors": "none", "linewidths": 0}
    ax.add_collection(
        PolyCollection(list(corners[gone]), hatch="/////", edgecolors=faint, **marks)
    )
    marks["linewidths"] = 0.9
    ax.add_collection(
        PolyCollection(
            list(_corners(frames.take(fresh), 0.05)), edgecolors=ink, **marks
        )
    )


def _corners(frames: _Frames, inset: float = 0.0) -> Floats:
    """Return the corners of frames, shape (frames, 4, 2)."""
    top = frames.row + inset
    bottom = frames.row + 1.0 - _GAP - inset
    right = frames.left + frames.width
    xs = np.stack((frames.left, right, right, frames.left), axis=1)
    return np.stack((xs, np.stack((top, top, bottom, bottom), axis=1)), axis=2)


def _key(theme: Theme, diff: ProfileDiff) -> tuple[list[Artist], list[str]]:
    """Return what fills and lines mean."""
    from matplotlib.patches import Patch

    edge = colour("faint", theme)
    even = "no change beyond noise" if diff.model is not None else "no change"
    handles: list[Artist] = [
        Patch(facecolor=colour("better_3", theme)),
        Patch(facecolor=colour("neutral", theme)),
        Patch(facecolor=colour("worse_3", theme)),
        Patch(facecolor="none", edgecolor=edge, hatch="/////", linewidth=0),
        Patch(facecolor="none", edgecolor=colour("text", theme), linewidth=0.9),
    ]
    return handles, ["less", even, "more", "gone", "new"]
