"""Files of a series: picks the writer by extension."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

from pprofdiff.errors import UsageError
from pprofdiff.report.files import written_by
from pprofdiff.report.series.sentences import SeriesReport
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Writer = Callable[[SeriesReport], bytes]

_WIDTH, _ROW = 1000, 300


def _picture(report: SeriesReport, form: Literal["svg", "png"]) -> bytes:
    """Return the curves of each kind of profile as an image, one row per kind."""
    from pprofdiff.plots.curveplot import curves, curves_in_words, drawable
    from pprofdiff.plots.drawing import image

    kinds = [(kind.measured.kind, drawable(kind)) for kind in report.judged.kinds]
    rows = [(name, some) for name, some in kinds if some]
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
    ".html": written_by("series.page"),
    ".json": written_by("series.document"),
    ".csv": written_by("series.document", name="render_csv"),
    ".svg": partial(_picture, form="svg"),
    ".png": partial(_picture, form="png"),
}


def series_writer_for(path: str) -> Writer:
    """Return the writer of a file with this name; UsageError for other extensions."""
    for ending, writer in _WRITERS.items():
        if path.endswith(ending):
            return writer
    raise UsageError(f"-o {printable(path)}: of --over there are {', '.join(_WRITERS)}")
