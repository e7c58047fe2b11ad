"""The flame graph in a notebook: the page's own in an iframe, over its picture.

Viewers show ``text/html`` if an output has it. GitHub and, for untrusted notebooks,
JupyterLab then remove the iframe, and GitHub removes ``style`` too. So the HTML has the
picture, and the iframe covers it; inside ``<iframe>`` some parsers would make text of
it. ``image/png`` serves only nbconvert's LaTeX: it is included on request.

A sandboxed iframe does not see the notebook's style sheet, but gets the color scheme of
the ``iframe`` element as its preferred one. A rule on JupyterLab's theme attribute, or
VS Code's class, sets it: the graph follows theme changes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np

from pprofdiff.analysis.causes.finding import Finding
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.notebook import cut, environment, wanted
from pprofdiff.palette import FILLS, colour
from pprofdiff.plots.drawing import image
from pprofdiff.plots.flames import flame_rows, flamegraph, flamegraph_in_words

# The picture: width, height of a row, height above the rows, maximum rows.
_WIDE, _ROW, _ABOVE, _ROWS = 900, 15, 40, 26
# A fallback picture needs fewer pixels and colours than one to print.
_COLOURS, _DOTS = 32, 1200
_KINDS = ("text/plain", "text/html")


@dataclass(frozen=True, eq=False, repr=False)
class FlameGraph:
    """A flame graph that Jupyter shows, with at most `budget` functions.

    Of traces, it has the chains of waits. `height` is in CSS pixels.
    """

    diff: ProfileDiff | TraceDiff
    height: int = 560
    budget: int = 1_500
    causes: Sequence[Finding] = ()

    def __repr__(self) -> str:
        return f"<FlameGraph of {self.diff!r}>"

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        rows = flame_rows(self.diff, _ROWS)
        drawn = image(
            lambda figure: flamegraph(
                self.diff, figure.subplots(), rows=_ROWS, causes=self.causes
            ),
            "png",
            size=(_WIDE, _ROW * max(rows, 2) + _ABOVE),
            description=self.words,
        )
        return _few_colours(drawn)

    @property
    def words(self) -> str:
        """What the graph shows, in a sentence."""
        return flamegraph_in_words(self.diff)

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        makers: dict[str, Callable[[], str]] = {
            "text/plain": lambda: self.words,
            "text/html": self._html,
            "image/png": lambda: b64encode(self.png).decode("ascii"),
        }
        kinds = (*_KINDS, "image/png") if include else _KINDS
        return {kind: makers[kind]() for kind in wanted(kinds, include, exclude)}

    def _html(self) -> str:
        from pprofdiff.report.html.graphs import flame_page

        text: str = (
            environment()
            .get_template("flames.html.j2")
            .render(
                page=flame_page(self.diff, self.budget, self.causes),
                picture=b64encode(self.png).decode("ascii"),
                words=cut(self.words, 600),
                height=self.height,
            )
        )
        return text


def _few_colours(png: bytes) -> bytes:
    """Return a picture in its most common colours, at a fifth of its size.

    Palettes found by averaging would change fills; colours of the legend are kept.
    """
    from PIL import Image

    file = BytesIO()
    with Image.open(BytesIO(png)) as drawn:
        size = _DOTS, round(drawn.height * _DOTS / drawn.width)
        small = drawn.convert("RGB").resize(size, Image.Resampling.BOX)
    dots = np.asarray(small, np.uint8).reshape(-1, 3)
    colours, counts = np.unique(dots, axis=0, return_counts=True)
    meant = {bytes.fromhex(colour(name)[1:]) for name in (*FILLS, "text")}
    named = np.array([row.tobytes() in meant for row in colours], np.bool_)
    commonest = colours[np.lexsort((-counts, ~named))[:_COLOURS]]
    chosen = Image.new("P", (1, 1))
    chosen.putpalette(commonest.tobytes())
    plain = small.quantize(palette=chosen, dither=Image.Dither.NONE)
    plain.save(file, format="png", optimize=True)
    return file.getvalue()
