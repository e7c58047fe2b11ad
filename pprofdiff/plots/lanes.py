"""The worst moments of two traces as lanes: base above new on one time scale.

Each side has a heading, a bar as long as the moment, and lanes: GC with stop-the-world
pauses, Ps, and the goroutines involved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pprofdiff.analysis.traces.moments import (
    PROCESSORS,
    WINDOW_NS,
    Lane,
    Look,
    Moment,
    MomentId,
    MomentPair,
    thinned,
)
from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.palette import colour
from pprofdiff.plots.axes import (
    SIDES,
    add_legend,
    add_title,
    literal,
    mark_axis,
    points_wide,
    set_ticks,
    shortened,
    themed,
    time_words,
)
from pprofdiff.units import percent, scale_for

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

TITLES: dict[MomentId, str] = {
    "wait": "Longest scheduling latency",
    "stop": "Longest stop-the-world",
    "mutator": "10 ms with the lowest mutator utilization",
}
"""The title of each moment."""

# Heights in points: a lane, the gap below it, a line of text, the moment's bar.
_LANE, _GAP, _LINE, _BAR, _BETWEEN = 8.0, 2.0, 12.0, 4.0, 8.0
# A side starts with its heading and its bar.
_HEAD = _LINE + _BAR + _GAP
# Height of title, legend and axis together.
_AROUND = 88.0
# Minimum width of a slice, in points; narrower ones are merged.
_NARROWEST = 0.5
# Maximum number of slices in a chart: with its text, that is 20 kB of SVG.
_MOST = 480
# Width of a letter in small text, and of lane labels, in points.
_LETTER, _LABELS = 5.2, 30.0
_LIGHTER = 0.45


class _Style(NamedTuple):
    """How a look is drawn: its legend text, its colour, its share of a lane's height.

    A look without legend text is explained by the label of the only lane that has it.
    """

    words: str
    colour: str
    height: float = 1.0


# The program is drawn in its side's colour.
_STYLES = {
    Look.PROGRAM: _Style("program", ""),
    Look.GC: _Style("GC", "group_gc"),
    Look.RUNTIME: _Style("runtime", "group_sched"),
    Look.SYSCALL: _Style("system call", "group_syscall"),
    Look.WAITING: _Style("waiting", "text", 0.3),
    Look.MARKING: _Style("", "group_gc", 0.3),
    Look.STOPPED: _Style("stopped", "text"),
}


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A lane, its middle in points from the top, and the name above it, if new."""

    lane: Lane
    side: int
    y: float
    name: str


def moment(pair: MomentPair, ax: Axes) -> Axes:
    """Draw what Ps and goroutines did around the worst moment of each side.

    Lighter slices stand for many that are too short to draw. x is time in ns from the
    start of each side's moment; y is lanes, base above new.
    """
    ax = themed(ax, "light", "")
    rows, end = _rows(pair)
    ax.set_xlim(pair.low_ns, pair.high_ns)
    ax.set_ylim(end, 0)
    scale = scale_for((pair.high_ns - pair.low_ns,), "ns")
    mark_axis(ax, "x", (pair.low_ns, pair.high_ns), scale)
    set_ticks(ax, "y", [row.y for row in rows], [row.lane.label for row in rows])
    _add_sides(ax, pair, rows)
    seen = _add_slices(ax, rows, pair)
    looks = [look for look in seen if _STYLES[look].words]
    handles = [_swatch(look) for look in looks]
    add_legend(ax, handles, [_STYLES[look].words for look in looks])
    add_title(ax, TITLES[pair.id], "light")
    return ax


def lanes_height(pair: MomentPair) -> float:
    """Return the height of a figure for a pair of moments, in points."""
    return _rows(pair)[1] + _AROUND


def moment_in_words(pair: MomentPair) -> str:
    """Return what `moment` shows, in a sentence or two."""
    parts = [_words(pair, side) for side in pair.sides if side is not None]
    words = f"{TITLES[pair.id]}: {'; '.join(parts)}."
    left = [
        f"{PROCESSORS} of {side.processors} processors of {shortened(side.label, 20)}"
        for side in pair.sides
        if side is not None and side.processors > PROCESSORS
    ]
    return f"{words} Shown are the busiest {' and '.join(left)}." if left else words


def moment_in_short(pair: MomentPair) -> str:
    """Return what `moment` is about, and its figure for base and new."""
    figures = [
        "none"
        if side is None
        else time_words(side.duration_ns)
        if side.share is None
        else percent(side.share, 1)
        for side in pair.sides
    ]
    return f"{TITLES[pair.id][:1].lower()}{TITLES[pair.id][1:]} {' → '.join(figures)}"


def _words(pair: MomentPair, side: Moment) -> str:
    """Return one side's moment in words: how long, whose, what the Ps did."""
    label = shortened(side.label, 20)
    if pair.id == "mutator":
        left = percent(side.share or 0.0, 1)
        stopped = time_words(side.stopped_ns) if side.stopped_ns else ""
        of = f", the world stopped for {stopped} of it" if stopped else ""
        window = time_words(min(side.duration_ns, WINDOW_NS))
        return f"{label} {left} of {window}{of}"
    name = side.name
    if pair.id == "wait":
        (name,) = distinct_names([name])
    text = f"{label} {time_words(side.duration_ns)} ({shortened(name, 60)})"
    shares = ((side.program, "the program"), (side.gc, "GC"), (side.other, "others"))
    known = [f"{percent(share, 1)} {who}" for share, who in shares if share]
    return f"{text}, meanwhile processors: {', '.join(known)}" if known else text


def _rows(pair: MomentPair) -> tuple[list[_Row], float]:
    """Return all lanes with their positions, and the bottom of the last one."""
    rows: list[_Row] = []
    y = 0.0
    for number, side in enumerate(pair.sides):
        y += _BETWEEN * number + _HEAD
        above = ""
        for lane in () if side is None else side.lanes:
            if lane.kind == "gc" and not len(lane.slices):
                continue
            name = "" if lane.name == above else lane.name
            y += _LINE if name else 0
            rows.append(_Row(lane, number, y + _LANE / 2, name))
            y += _LANE + _GAP
            above = lane.name
    return rows, y


def _add_sides(ax: Axes, pair: MomentPair, rows: list[_Row]) -> None:
    """Write each side's heading, a bar as long as its moment, and names of lanes.

    Vertical lines mark the start and end of a moment, and of a trace if in view.
    """
    from matplotlib.patches import Rectangle

    letters = int((points_wide(ax) - _LABELS) / _LETTER)
    top = 0.0
    for number, side in enumerate(pair.sides):
        shade = colour(SIDES[number])
        top += _BETWEEN * number
        heading = shortened(_heading(pair, number), letters)
        _write(ax, pair.low_ns, top + _LINE / 2, heading, shade)
        top += _LINE
        own = [row for row in rows if row.side == number]
        bottom = own[-1].y + _LANE / 2 if own else top + _BAR
        if side is not None:
            # A moment is visible even if it is much shorter than the other one.
            long = max(side.duration_ns, _narrowest(ax, pair))
            ax.add_patch(Rectangle((0, top), long, _BAR, color=shade, linewidth=0))
            for at in (0, side.duration_ns, *side.traced_ns):
                if pair.low_ns < at < pair.high_ns:
                    edge = colour("border")
                    line = [top, bottom]
                    ax.plot([at, at], line, color=edge, linewidth=0.8, zorder=0)
        top = bottom + _GAP
        named = [row for row in own if row.name]
        names = distinct_names([row.name for row in named])
        for row, name in zip(named, names, strict=True):
            y = row.y - _LANE / 2 - _LINE / 2
            text = shortened(name, letters)
            _write(ax, pair.low_ns, y, text, colour("faint"))


def _narrowest(ax: Axes, pair: MomentPair) -> float:
    """Return the duration of the narrowest slice drawn, in ns."""
    wide = max(points_wide(ax) - _LABELS, 1)
    return _NARROWEST * (pair.high_ns - pair.low_ns) / wide


def _heading(pair: MomentPair, number: int) -> str:
    side = pair.sides[number]
    if side is None:
        return f"{SIDES[number]}: none"
    label = shortened(side.label, 20)
    if pair.id == "mutator":
        return f"{label}: {percent(side.share or 0.0, 1)} left to the program"
    reason = f", {side.name}" if pair.id == "stop" else ""
    return f"{label}: {time_words(side.duration_ns)}{reason}"


def _write(ax: Axes, x: float, y: float, words: str, shade: str) -> None:
    literal(ax.text(x, y, words, size="small", color=shade, va="center"))


def _add_slices(ax: Axes, rows: list[_Row], pair: MomentPair) -> list[Look]:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    narrowest = _narrowest(ax, pair)
    lanes = [thinned(row.lane.slices, narrowest) for row in rows]
    while sum(map(len, lanes)) > _MOST:
        narrowest *= 1.5
        lanes = [thinned(row.lane.slices, narrowest) for row in rows]
    seen = set()
    for row, slices in zip(rows, lanes, strict=True):
        for look in map(Look, np.unique(slices.look).tolist()):
            seen.add(look)
            known = _STYLES[look]
            half = known.height * _LANE / 2
            for several in (False, True):
                some = (slices.look == look) & (slices.several == several)
                if not some.any():
                    continue
                start = slices.start_ns[some].astype(np.float64)
                end = np.maximum(slices.end_ns[some], start + narrowest)
                corners = np.empty((len(start), 5, 2))
                corners[:, (0, 3, 4), 0] = start[:, np.newaxis]
                corners[:, 1:3, 0] = end[:, np.newaxis]
                corners[:, (0, 1, 4), 1] = row.y - half
                corners[:, 2:4, 1] = row.y + half
                one = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY]
                path = Path(corners.reshape(-1, 2), one * len(start))
                shade = colour(known.colour or SIDES[row.side])
                alpha = _LIGHTER if several else None
                drawn = PathPatch(path, facecolor=shade, linewidth=0, alpha=alpha)
                drawn.set_clip_on(False)
                ax.add_patch(drawn)
    return [look for look in _STYLES if look in seen]


def _swatch(look: Look) -> Artist | tuple[Artist, ...]:
    """Return the legend handle of a look: both sides' colours if it has none."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    known = _STYLES[look]
    if not known.colour:
        both = (colour(side) for side in SIDES)
        return tuple(Patch(facecolor=shade, linewidth=0) for shade in both)
    shade = colour(known.colour)
    if known.height < 1:
        return Line2D([], [], color=shade, linewidth=known.height * _LANE)
    return Patch(facecolor=shade, linewidth=0)
