"""Both sides' stacks as one flame graph, the total on top, callees below.

Chains of waits are drawn like stacks: a place of waiting calls what it waits for. More
is orange, less is blue, and stronger the more a frame changed for its size. Changes
within noise are faint. Frames that are gone are hatched, new ones are outlined, those
of a cause have a bar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.call_tree import CallTree, call_tree, inclusive
from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.causes.frames import functions_of, needed_next_to, numbered
from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.chain_tree import chain_tree, without_packages
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.scaling import scale_of, unit_words
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.model.csr import distinct
from pprofdiff.palette import BETTER, FAINT, WORSE, Theme, colour
from pprofdiff.plots.axes import (
    Plottable,
    add_legend,
    add_title,
    data_of,
    literal,
    shortened,
    themed,
    value_words,
)
from pprofdiff.plots.profiles import totals_in_words
from pprofdiff.plots.waitbars import waits_in_words
from pprofdiff.units import Scale, scale_for

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Subject = ProfileDiff | TraceDiff | Plottable[ProfileDiff] | Plottable[TraceDiff]

BUDGET = 4_000
# Least relative change of each shade: of changes within noise, of significant ones.
_FAINT_STEPS, _STEPS = (0.0, 0.1), (0.0, 0.1, 0.4)
_DEEPEST = 40
# Least share of the total for a frame to be drawn, to be marked (a narrower one would
# be all hatching), and to be named.
_THIN, _MARKED, _NAMED = 1 / 1600, 1 / 400, 1 / 60
_GAP = 0.06
# Width of the bar of a cause, of the whole.
_BAR = 1 / 300
_HATCH = "/////"
_TOLD = 3


@dataclass(frozen=True, eq=False)
class _Frames:
    """The frames to draw, one element of each array per frame; the first is the total.

    `row` (int64) is 0 for the total. `left` and `width` (float64) place a frame on the
    x axis; `base` and `new` (float64) are its scaled values. `shade` (int64) is 0 for
    no change, up to 2 for more within noise, 3 to 5 for significantly more, negative
    for less. `names` are lists of spellings, longest first.
    """

    row: NDArray[np.int64]
    left: Floats
    width: Floats
    base: Floats
    new: Floats
    shade: NDArray[np.int64]
    caused: NDArray[np.bool_]
    names: NDArray[np.object_]

    def take(self, rows: NDArray[np.bool_]) -> _Frames:
        return _Frames(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def rows(self) -> int:
        return int(self.row.max(initial=0)) + 1

    @property
    def whole(self) -> float:
        return float(self.width[0])

    @property
    def gone(self) -> NDArray[np.bool_]:
        """Which frames only base has."""
        gone: NDArray[np.bool_] = (self.new == 0) & (self.base != 0)
        return gone

    @property
    def added(self) -> NDArray[np.bool_]:
        """Which frames only new has."""
        added: NDArray[np.bool_] = (self.base == 0) & (self.new != 0)
        return added


@dataclass(frozen=True, eq=False)
class _Stacks:
    """What is drawn: the nodes, the names that they refer to, and how to scale them.

    `spell` returns the spellings of a name, longest first. A change from `needs` on
    (float64, one for the total and each node) is significant, any if that is None.
    `caused` are the functions of causes, as the tree names them.
    """

    tree: CallTree
    names: Sequence[str]
    spell: Callable[[str], list[str]]
    normalization: Normalization
    needs: Floats | None
    scale: Scale
    title: str
    caused: Sequence[int] = ()


def flamegraph(  # noqa: PLR0913 - the options of a plot
    diff: Subject,
    ax: Axes | None = None,
    *,
    theme: Theme = "light",
    budget: int = BUDGET,
    rows: int = _DEEPEST,
    only_significant: bool = False,
    causes: Sequence[Finding] = (),
    **kwargs: Any,  # noqa: ANN401 - whatever PolyCollection takes
) -> Axes:
    """Draw the stacks of both sides as one flame graph, of traces the chains of waits.

    A frame's width (including callees) shows the larger of both sides, in which frames
    that are gone keep their place. The `budget` heaviest functions of the call tree are
    drawn, in up to `rows` rows. x is the scaled value, in the unit given in the title;
    y counts rows from the top. With `only_significant`, changes within noise are grey.
    Frames of `causes` have a bar. `kwargs` go to the `PolyCollection`.
    """
    stacks = _stacks(data_of(diff), budget, causes)
    ax = themed(ax, theme, "")
    frames = _frames(stacks, rows)
    if only_significant:
        frames.shade[np.abs(frames.shade) <= FAINT] = 0
    fills = _fills(frames, theme)
    _add_frames(ax, frames, fills, theme, kwargs)
    _add_names(ax, frames, fills, stacks.scale, theme)
    ax.set_xlim(0, frames.whole or 1.0)
    ax.set_ylim(max(frames.rows, 2), 0)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines["bottom"].set_visible(False)
    handles = _legend_handles(theme)
    if stacks.needs is None or only_significant:
        del handles["within noise"]
    if not frames.caused.any():
        del handles["of a cause"]
    add_legend(ax, list(handles.values()), list(handles))
    add_title(ax, stacks.title, theme)
    return ax


def flame_rows(diff: Subject, rows: int) -> int:
    """Return how many rows `flamegraph` draws for a diff, at most `rows`."""
    return _frames(_stacks(data_of(diff), BUDGET), rows).rows


def flamegraph_in_words(diff: Subject) -> str:
    """Return totals and the three largest significant changes; of traces, waits."""
    drawn = data_of(diff)
    if isinstance(drawn, TraceDiff):
        return f"Chains of waits. {waits_in_words(drawn)}"
    scale = scale_of(drawn)
    table = drawn.table("functions")
    delta = table.scaled_delta("cum")
    judged = table.judge("cum")
    moved = [
        i
        for i in table.order("cum").tolist()
        if delta[i] and (judged is None or not judged.noise[i])
    ][:_TOLD]
    names = distinct_names(table.names[i] for i in moved)
    changes = [
        f"{shortened(name)} {value_words(scale, float(delta[i]), signed=True)}"
        for i, name in zip(moved, names, strict=True)
    ]
    rest = "; ".join(changes) or "nothing changed beyond noise"
    return f"Flame graph of {drawn.name}. {totals_in_words(drawn)}; cum: {rest}."


def _stacks(
    diff: ProfileDiff | TraceDiff, budget: int, causes: Sequence[Finding] = ()
) -> _Stacks:
    from pprofdiff.plots.flamenames import spellings

    sides = " → ".join(shortened(side.label, 20) for side in (diff.base, diff.new))
    if isinstance(diff, TraceDiff):
        chains = chain_tree(diff, budget)
        scaled = diff.normalization.scaled(*chains.totals)
        return _Stacks(
            chains.tree,
            chains.texts,
            lambda text: [text, without_packages(text)],
            diff.normalization,
            None,
            scale_for(scaled, "ns"),
            f"Who waited for whom, {sides}, {per(diff)}",
        )
    tree, ends = call_tree(diff, budget)
    of_causes = functions_of(diff, tree, ends, numbered(causes))
    return _Stacks(
        tree,
        _names_of(diff, tree),
        spellings,
        diff.normalization,
        needed_next_to(diff, causes, np.append(-1, tree.name), inclusive(tree)),
        scale_of(diff),
        f"{diff.name}: stacks, {sides}, in {unit_words(diff)}",
        [row for _, rows in of_causes for row in rows],
    )


def _frames(stacks: _Stacks, rows: int) -> _Frames:
    """Return the frames of the topmost rows that are wide enough to be seen."""
    tree, needs = stacks.tree, stacks.needs
    base, new = stacks.normalization.scaled(*merged(inclusive(tree)))
    depth = np.append(0, tree.depth.astype(np.int64) + 1)
    left, wide = _layout(depth, np.maximum(np.abs(base), np.abs(new)))
    delta = new - base
    sure = np.abs(delta) >= (0 if needs is None else needs)
    scale = stacks.scale
    whole = f"all  {scale.number(float(base[0]))} → {value_words(scale, float(new[0]))}"
    names = np.empty(len(tree) + 1, np.object_)
    names[0] = [whole]
    rows_of = zip(tree.name.tolist(), tree.folded.tolist(), strict=True)
    for i, (row, folded) in enumerate(rows_of, 1):
        smaller = [f"{folded} smaller"]
        names[i] = smaller if row < 0 else stacks.spell(stacks.names[row])
    frames = _Frames(
        row=depth,
        left=left,
        width=wide,
        base=base,
        new=new,
        shade=_shades(base, new, sure),
        caused=np.append(False, np.isin(tree.name, stacks.caused)),
        names=names,
    )
    return frames.take((wide > _THIN * wide[0]) & (depth < rows) | (depth == 0))


def _names_of(diff: ProfileDiff, tree: CallTree) -> list[str]:
    names = list(diff.paired_functions.names)
    drawn = distinct(tree.name[tree.name >= 0]).tolist()
    for i, name in zip(drawn, distinct_names(names[i] for i in drawn), strict=True):
        names[i] = name
    return names


def _layout(depth: NDArray[np.int64], sizes: Floats) -> tuple[Floats, Floats]:
    """Return left edges and widths; a frame is at least as wide as its callees."""
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


def _shades(base: Floats, new: Floats, sure: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return shades by the relative change of frames; `sure` ones are strong."""
    delta = new - base
    largest = np.maximum(np.abs(base), np.abs(new))
    part = np.abs(delta) / np.where(largest == 0, 1.0, largest)
    strong = FAINT + np.searchsorted(np.array(_STEPS), part, "right")
    faint = np.searchsorted(np.array(_FAINT_STEPS), part, "right")
    return (np.sign(delta) * np.where(sure, strong, faint)).astype(np.int64)


def _fills(frames: _Frames, theme: Theme) -> list[str]:
    names = (*reversed(BETTER), "neutral", *WORSE)
    return [
        colour(names[len(BETTER) + shade], theme) for shade in frames.shade.tolist()
    ]


def _add_frames(
    ax: Axes,
    frames: _Frames,
    fills: Sequence[str],
    theme: Theme,
    kwargs: dict[str, Any],
) -> None:
    """Add all frames, hatching over gone ones, outlines in new ones, and bars."""
    from matplotlib.collections import PolyCollection

    style = {"linewidths": 0.5, "edgecolors": colour("frame_edge", theme)}
    drawn = PolyCollection(
        list(_corners(frames)), facecolors=fills, **{**style, **kwargs}
    )
    wide = frames.width > _MARKED * frames.whole
    hatching = PolyCollection(
        list(_corners(frames.take(frames.gone & wide))),
        facecolors="none",
        linewidths=0,
        hatch=_HATCH,
        edgecolors=colour("faint", theme),
    )
    outlines = PolyCollection(
        list(_corners(frames.take(frames.added & wide), 0.05)),
        facecolors="none",
        linewidths=0.9,
        edgecolors=colour("text", theme),
    )
    of_causes = frames.take(frames.caused)
    thin = np.minimum(of_causes.width, _BAR * frames.whole)
    bars = PolyCollection(
        list(_corners(replace(of_causes, width=thin))),
        facecolors=colour("text", theme),
        linewidths=0,
    )
    for artist in (drawn, hatching, outlines, bars):
        ax.add_collection(artist)


def _corners(frames: _Frames, inset: float = 0.0) -> Floats:
    """Return the corners of frames, of shape (frames, 4, 2)."""
    top = frames.row + inset
    bottom = frames.row + 1.0 - _GAP - inset
    right = frames.left + frames.width
    xs = np.stack((frames.left, right, right, frames.left), axis=1)
    return np.stack((xs, np.stack((top, top, bottom, bottom), axis=1)), axis=2)


def _add_names(
    ax: Axes, frames: _Frames, fills: Sequence[str], scale: Scale, theme: Theme
) -> None:
    """Write names and changes into frames that are wide enough for five letters."""
    from pprofdiff.plots.flamenames import FrameName

    rows, left, right = (
        column.tolist()
        for column in (
            frames.row,
            frames.left + np.where(frames.caused, _BAR * frames.whole, 0.0),
            frames.left + frames.width,
        )
    )
    sure = np.abs(frames.shade) > FAINT
    delta, gone = (frames.new - frames.base).tolist(), frames.gone.tolist()
    for i in np.flatnonzero(frames.width >= _NAMED * frames.whole).tolist():
        text = FrameName(
            rows[i],
            left[i],
            right[i],
            frames.names[i],
            value_words(scale, delta[i], signed=True) if sure[i] else "",
            color=colour("frame_text", theme),
            # Text on hatching would be unreadable.
            bbox={"facecolor": fills[i], "linewidth": 0, "pad": 0.6}
            if gone[i]
            else None,
            clip_on=True,
        )
        # Names stay within their frames, so the layout can ignore them.
        text.set_in_layout(False)
        ax.add_artist(literal(text))


def _legend_handles(theme: Theme) -> dict[str, Artist | tuple[Artist, ...]]:
    """Return swatches by what they mean, painted like frames, the strongest outside."""
    from matplotlib.patches import Patch

    hatching, outline = colour("faint", theme), colour("text", theme)
    even = colour("neutral", theme)

    def filled(*names: str) -> tuple[Artist, ...]:
        return tuple(Patch(facecolor=colour(name, theme)) for name in names)

    return {
        "less": filled(*reversed(BETTER[FAINT:])),
        "no change": Patch(facecolor=even),
        "more": filled(*WORSE[FAINT:]),
        "within noise": filled(*reversed(BETTER[:FAINT]), *WORSE[:FAINT]),
        "gone": Patch(facecolor="none", edgecolor=hatching, hatch=_HATCH, linewidth=0),
        "new": Patch(facecolor=even, edgecolor=outline, linewidth=0.9),
        "of a cause": Patch(facecolor=outline),
    }
