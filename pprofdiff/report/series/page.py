"""A series as one page: what changed, the curves, and their tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.series.judged import JudgedSeries, KindCurves
from pprofdiff.plots.curveplot import CurvesOf, curves, curves_in_words, drawable
from pprofdiff.plots.drawing import Size, svg
from pprofdiff.report.html.parts import Drawn, drawn
from pprofdiff.report.html.shell import shell, template
from pprofdiff.report.rows import Sentence
from pprofdiff.report.series.sentences import (
    SeriesReport,
    headline,
    kind_tables,
    over_words,
    step_sentences,
)
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Two fit side by side on a screen, one on a phone, where text stays large enough.
_SIZE: Size = (360, 240)


class Drawing(NamedTuple):
    """A chart, and its description."""

    svg: str
    words: str


class KindPart(NamedTuple):
    """What the page has for one kind of profile; links to it lead to `anchor`."""

    anchor: str
    name: str
    charts: tuple[Drawing, ...]
    tables: list[Drawn]


def render(report: SeriesReport) -> str:
    """Return the page, the same bytes for the same report."""
    series = report.judged.series
    text = template("series.html.j2").render(
        **shell(),
        ends=[printable(series.steps[i].name) for i in (0, -1)],
        answer=printable(headline(report)),
        sentences=[printable(words) for words in step_sentences(report)],
        kinds=[
            KindPart(
                f"part{i}",
                printable(kind.measured.kind),
                tuple(_charts(report, kind, f"part{i}")),
                drawn(kind_tables(report, kind)),
            )
            for i, kind in enumerate(report.judged.kinds)
        ],
        place=printable(series.place),
        over=over_words(series),
        warnings=drawn(Sentence(one.text, "warning") for one in report.warnings),
    )
    return text.lstrip() + "\n"


def _draw(judged: JudgedSeries, which: CurvesOf, kind: str, figure: Figure) -> None:
    curves(judged, figure.subplots(), which=which, kind=kind)


def _charts(report: SeriesReport, kind: KindCurves, prefix: str) -> Iterator[Drawing]:
    name = kind.measured.kind
    for which in drawable(kind):
        words = curves_in_words(report.judged, which=which, kind=name)
        made = svg(
            partial(_draw, report.judged, which, name),
            title=f"{name} by {which.removesuffix('s')}",
            description=words,
            prefix=f"{prefix}-{which}",
            size=_SIZE,
        )
        yield Drawing(made, words)
