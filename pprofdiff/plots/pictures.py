"""One picture of a comparison: what ``-o x.svg`` and ``-o x.png`` write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.gclogs.compare import GCDiff
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.analysis.traces.waited import waited
from pprofdiff.errors import UsageError
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.axes import (
    HasComparison,
    add_title,
    comparison_of,
    literal,
    shortened,
)
from pprofdiff.plots.drawing import image
from pprofdiff.plots.flames import flame_rows, flamegraph, flamegraph_in_words
from pprofdiff.plots.goroutines import states, states_in_words
from pprofdiff.plots.pagecharts import chart_kinds
from pprofdiff.plots.profiles import movers, waterfall, waterfall_in_words
from pprofdiff.plots.waitbars import waits, waits_in_words
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Width of the picture and heights of its parts, in units.
_WIDTH = 1000
_LABELS, _FIRST_LINE, _LINE = 30, 16, 20
_CHART, _BARS = 230, 330
_FLAME_ROW, _FLAME_LEGEND = 15, 44
_DEEPEST = 22
_LONGEST_LINE = 105


class _Strip(NamedTuple):
    """A band across the picture: its height, how to draw it, and its text."""

    height: float
    draw: Callable[[SubFigure, Theme], object]
    words: str


def picture(
    compared: Comparison | HasComparison,
    form: Literal["svg", "png"],
    *,
    answer: str = "",
    causes: Sequence[Finding] = (),
    theme: Theme = "light",
) -> bytes:
    """Return one picture of a comparison, always as the same bytes.

    Of several profiles, only the first in report order is drawn. `answer` is the
    sentence at the top; functions of `causes` are marked in the stacks. Raises
    UsageError if there is no profile, GC log or execution trace.
    """
    comparison = comparison_of(compared)
    strips = _strips(comparison, causes)
    if not strips:
        raise UsageError(
            f"-o x.{form}: nothing to draw: a picture needs profiles, GC logs or "
            "execution traces; -o x.html has everything"
        )
    base, new = (
        shortened(side.label, 40) for side in (comparison.base, comparison.new)
    )
    lines = wrap(printable(answer), _LONGEST_LINE, max_lines=3, placeholder=" …")
    head = _LABELS + _LINE * len(lines)
    heights = [head, *(strip.height for strip in strips)]

    def draw(figure: Figure) -> None:
        parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)
        for part in parts[:, 0]:
            part.set_facecolor(colour("background", theme))
        _write_head(parts[0, 0], f"{base} → {new}", lines, head, theme)
        for part, strip in zip(parts[1:, 0], strips, strict=True):
            strip.draw(part, theme)

    words = " ".join([f"{base} → {new}.", answer, *(strip.words for strip in strips)])
    size = (_WIDTH, sum(heights))
    return image(draw, form, theme=theme, size=size, description=words)


def _write_head(
    part: SubFigure, labels: str, lines: Sequence[str], height: float, theme: Theme
) -> None:
    faint: dict[str, Any] = {"size": "medium", "color": colour("faint", theme)}
    bold = {"size": "large", "weight": "bold", "color": colour("text", theme)}
    rows = [(labels, faint), *((line, bold) for line in lines)]
    for row, (line, style) in enumerate(rows):
        y = 1 - (_FIRST_LINE + _LINE * row) / height
        literal(part.text(8 / _WIDTH, y, line, va="center", **style))


def _strips(comparison: Comparison, causes: Sequence[Finding]) -> list[_Strip]:
    strips: list[_Strip] = []
    if comparison.profiles:
        strips += _of_profile(comparison.profiles[0], causes)
    if comparison.gc is not None:
        strips += _of_charts(comparison.gc)
    if comparison.trace is not None:
        strips += _of_waits(comparison.trace)
        strips += _of_charts(comparison.trace)
        strips.append(_of_states(comparison.trace))
    return strips


def _of_profile(diff: ProfileDiff, causes: Sequence[Finding]) -> list[_Strip]:
    def moved(part: SubFigure, theme: Theme) -> None:
        left, right = part.subplots(1, 2, width_ratios=(1, 1.15))
        waterfall(diff, left, theme=theme)
        movers(diff, right, n=10, theme=theme)
        # The unit is in the left title; long names leave no room for it here.
        add_title(right, f"{diff.name}: what changed most, cum", theme)

    def stacks(part: SubFigure, theme: Theme) -> None:
        flamegraph(diff, part.subplots(), rows=_DEEPEST, causes=causes, theme=theme)

    rows = flame_rows(diff, _DEEPEST)
    return [
        _Strip(_BARS, moved, waterfall_in_words(diff)),
        _Strip(
            _FLAME_ROW * max(rows, 2) + _FLAME_LEGEND, stacks, flamegraph_in_words(diff)
        ),
    ]


def _of_charts(diff: GCDiff | TraceDiff) -> list[_Strip]:
    """Return the page's charts but waits, with the heap only for logs."""
    return [
        _Strip(_CHART, partial(kind.draw, diff), kind.words(diff))
        for kind in chart_kinds(diff)
        if kind.id not in ("heap", "waits") or isinstance(diff, GCDiff)
    ]


def _of_waits(diff: TraceDiff) -> list[_Strip]:
    """Return the strip of what goroutines waited for: its ends, then the chains."""
    if not waited(diff):
        return []

    def draw(part: SubFigure, theme: Theme) -> None:
        left, right = part.subplots(1, 2, width_ratios=(1, 1.6))
        waits(diff, left, theme=theme)
        flamegraph(diff, right, rows=_DEEPEST, theme=theme)

    return [_Strip(_CHART, draw, waits_in_words(diff))]


def _of_states(diff: TraceDiff) -> _Strip:
    def draw(part: SubFigure, theme: Theme) -> None:
        states(diff, part.subplots(), theme=theme)

    return _Strip(_BARS, draw, states_in_words(diff))
