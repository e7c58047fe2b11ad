"""Files of a series: picks the writer by extension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pprofdiff.errors import UsageError
from pprofdiff.report.series.model import SeriesReport
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["series_writer_for"]

Writer = Callable[[SeriesReport], bytes]

_WIDTH, _ROW = 1000, 300


def _json(report: SeriesReport) -> bytes:
    from pprofdiff.report.series.document import render

    return render(report).encode()


def _csv(report: SeriesReport) -> bytes:
    from pprofdiff.report.series.document import render_csv

    return render_csv(report).encode()


def _html(report: SeriesReport) -> bytes:
    from pprofdiff.report.series.page import render

    return render(report).encode()


def _svg(report: SeriesReport) -> bytes:
    return _picture(report, "svg")


def _png(report: SeriesReport) -> bytes:
    return _picture(report, "png")


def _picture(report: SeriesReport, form: Literal["svg", "png"]) -> bytes:
    """Return the curves of each kind of profile as an image, one row per kind."""
    from pprofdiff.plots.curveplot import CurvesOf, curves, curves_in_words
    from pprofdiff.plots.drawing import image

    rows: list[tuple[str, list[CurvesOf]]] = []
    for kind in report.judged.kinds:
        some: list[CurvesOf] = ["functions"] if kind.functions else []
        some += ["groups"] if kind.groups else []
        if some:
            rows.append((kind.measured.kind, some))
    if not rows:
        raise UsageError(f"-o x.{form}: there is nothing to draw")

    def draw(figure: Figure) -> None:
        parts = figure.subfigures(len(rows), 1, squeeze=False)
        for part, (name, some) in zip(parts[:, 0], rows, strict=True):
            part.set_facecolor(figure.get_facecolor())
            axes = part.subplots(1, len(some), squeeze=False)
            for ax, which in zip(axes[0], some, strict=True):
                curves(report.judged, ax, which=which, kind=name)

    words = " ".join(
        curves_in_words(report.judged, which=which, kind=name)
        for name, some in rows
        for which in some
    )
    size = (_WIDTH, _ROW * len(rows))
    return image(draw, form, size=size, description=words)


_WRITERS: dict[str, Writer] = {
    ".html": _html,
    ".json": _json,
    ".csv": _csv,
    ".svg": _svg,
    ".png": _png,
}


def series_writer_for(path: str) -> Writer:
    """Return the writer of a file with this name; UsageError for other extensions."""
    for ending, writer in _WRITERS.items():
        if path.endswith(ending):
            return writer
    raise UsageError(f"-o {printable(path)}: of --over there are {', '.join(_WRITERS)}")
