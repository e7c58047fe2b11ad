"""One picture of a comparison: what ``-o x.svg`` and ``-o x.png`` write.

From the top: the answer, then for profiles how the total changed, what moved most and
the stacks, for GC logs heaps and pauses, for traces latency, MMU and states.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.errors import UsageError
from pprofdiff.palette import Theme, colour
from pprofdiff.plots.drawing import image
from pprofdiff.plots.flames import flame_rows, flamegraph, flamegraph_in_words
from pprofdiff.plots.frame import as_is, shown
from pprofdiff.plots.goroutines import states, states_in_words
from pprofdiff.plots.heaps import heap_in_words, heaps_of
from pprofdiff.plots.mutators import mmu, mmu_in_words
from pprofdiff.plots.page import charts_worth
from pprofdiff.plots.profiles import movers, waterfall, waterfall_in_words
from pprofdiff.plots.tails import latency, latency_in_words, pauses, pauses_in_words
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

__all__ = ["picture"]

_WIDTH = 1000
_HEAD, _LINE = 30, 20
_ROW = 15
_DEEPEST = 22
_LONGEST_LINE = 105


class Comparing(Protocol):
    """What holds a comparison."""

    @property
    def comparison(self) -> Comparison:
        """The comparison."""


class _Strip(NamedTuple):
    """A band of the picture: its height, what draws it, and that in words."""

    height: float
    draw: Callable[[SubFigure, Theme], object]
    words: str


def picture(
    compared: Comparison | Comparing,
    form: Literal["svg", "png"],
    *,
    answer: str = "",
    theme: Theme = "light",
) -> bytes:
    """Return one picture of a comparison as SVG or PNG, the same bytes every time.

    `compared` is what `pprofdiff.diff` or `pprofdiff.compare` return, or a report.
    `answer` is the sentence on top: that of the report. Of profiles the most telling
    one is drawn; of what the inputs do not have, nothing is. Raises UsageError where
    there is nothing to draw.
    """
    comparison = compared if isinstance(compared, Comparison) else compared.comparison
    strips = _strips(comparison)
    if not strips:
        raise UsageError(
            f"-o x.{form}: there is nothing to draw: a picture is of profiles, GC logs "
            "and execution traces; -o x.html has everything"
        )
    labels = [shown(side.label, 40) for side in (comparison.base, comparison.new)]
    lines = wrap(printable(answer), _LONGEST_LINE, max_lines=3, placeholder=" …")
    head = _HEAD + _LINE * len(lines)
    heights = [head, *(strip.height for strip in strips)]

    def draw(figure: Figure) -> None:
        parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)
        for part in parts[:, 0]:
            part.set_facecolor(colour("background", theme))
        _headed(parts[0, 0], labels, lines, (head, theme))
        for part, strip in zip(parts[1:, 0], strips, strict=True):
            strip.draw(part, theme)

    told = " ".join([f"{labels[0]} → {labels[1]}.", answer, *(s.words for s in strips)])
    return image(draw, form, theme=theme, size=(_WIDTH, sum(heights)), description=told)


def _headed(
    part: SubFigure,
    labels: list[str],
    lines: list[str],
    look: tuple[float, Theme],
) -> None:
    """Write the labels and the answer."""
    head, theme = look
    words = [
        (" → ".join(labels), "faint", "medium"),
        *((x, "text", "large") for x in lines),
    ]
    at = 16.0
    for line, name, size in words:
        text = part.text(
            8 / _WIDTH, 1 - at / head, line, va="center", size=size,
            color=colour(name, theme), weight="bold" if name == "text" else "normal",
        )  # fmt: skip
        as_is(text)
        at += _LINE


def _strips(comparison: Comparison) -> list[_Strip]:
    strips: list[_Strip] = []
    if comparison.profiles:
        strips += _of_profile(comparison.profiles[0])
    gc, trace = comparison.gc, comparison.trace
    if gc is not None:
        strips += [
            _Strip(230, lambda p, theme: heaps_of(gc, p, theme), heap_in_words(gc)),
            _Strip(
                230,
                lambda p, theme: pauses(gc, p.subplots(), theme=theme),
                pauses_in_words(gc),
            ),
        ]
    if trace is not None:
        worth = charts_worth(trace)
        if "latency" in worth:
            strips.append(
                _Strip(
                    230,
                    lambda p, theme: latency(trace, p.subplots(), theme=theme),
                    latency_in_words(trace),
                )
            )
        if "mmu" in worth:
            strips.append(
                _Strip(
                    230,
                    lambda p, theme: mmu(trace, p.subplots(), theme=theme),
                    mmu_in_words(trace),
                )
            )
        strips.append(
            _Strip(
                330,
                lambda p, theme: states(trace, p.subplots(), theme=theme),
                states_in_words(trace),
            )
        )
    return strips


def _of_profile(diff: ProfileDiff) -> list[_Strip]:
    """Return the strips of a profile: how the total changed, what moved, the stacks."""
    rows = flame_rows(diff, rows=_DEEPEST)

    def moved(part: SubFigure, theme: Theme) -> None:
        left, right = part.subplots(1, 2, width_ratios=(1, 1.15))
        waterfall(diff, left, theme=theme)
        movers(diff, right, n=10, theme=theme)

    def stacks(part: SubFigure, theme: Theme) -> None:
        flamegraph(diff, part.subplots(), rows=_DEEPEST, theme=theme)

    return [
        _Strip(330, moved, waterfall_in_words(diff)),
        _Strip(_ROW * max(rows, 2) + 44, stacks, flamegraph_in_words(diff)),
    ]
