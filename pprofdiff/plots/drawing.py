"""Drawings as files: themable SVG for the page, standalone SVG and PNG.

The same drawing always gives the same bytes: no dates, no random ids, and no settings
(`rcParams`) from a notebook or a user's configuration.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

from pprofdiff.palette import GROUPS, Theme, colour, css_name
from pprofdiff.plots.compact import Compaction, root
from pprofdiff.units import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[["Figure"], object]
Size = tuple[float, float]

SIZE: Size = (680, 250)
"""Width and height of a chart, in view box units; text is 11 units high."""

FORMATS = ("svg", "png")
"""The formats that `image` makes."""

CLASSES = (
    "background",
    "border",
    "grid",
    "text",
    "faint",
    "base",
    "new",
    "worse",
    "better",
    "neutral",
    *(f"group_{name}" for name in GROUPS),
)
"""Chart colours that are classes: ``c-base`` is a fill, ``s-base`` a stroke."""

_FONT = 11.0
_SCALE = 2
_ID = re.compile(r"[^A-Za-z0-9_-]+")
_NO_DATES = {"Date": None, "Creator": None, "Format": None, "Type": None}


def svg(
    draw: Draw, *, title: str, description: str, prefix: str, size: Size = SIZE
) -> str:
    """Return a drawing as an ``<svg>`` element that takes its colours from the page.

    `chart_css` supplies size, font family and colours. `title` and `description` are
    the text alternative; ids begin with `prefix`.
    """
    prefix = _ID.sub("-", prefix) + "-"
    classes = {colour(name): name for name in reversed(CLASSES)}
    ids = {"title": f"{prefix}title", "desc": f"{prefix}desc"}
    attributes = {
        "class": "chart",
        "role": "img",
        "aria-labelledby": " ".join(ids.values()),
    }
    top = root(size, attributes)
    for tag, text in (("title", title), ("desc", description)):
        SubElement(top, tag, {"id": ids[tag]}).text = printable(text)
    drawn = _drawn(draw, size, "light", transparent=True)
    Compaction(prefix, _FONT, classes).copy(drawn, top)
    return tostring(top, encoding="unicode")


def image(
    draw: Draw,
    form: Literal["svg", "png"],
    *,
    theme: Theme = "light",
    size: Size = SIZE,
    description: str = "",
) -> bytes:
    """Return a drawing in `theme` as a standalone file, of text 11 units high.

    A PNG has two pixels per unit. `description` is the text alternative.
    """
    if form == "png":
        file = BytesIO()
        with _figure(draw, size, theme) as figure:
            dots = 72 * _SCALE
            metadata = {"Software": None, "Description": printable(description) or None}
            figure.savefig(file, format="png", dpi=dots, metadata=metadata)
        return file.getvalue()
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "width": f"{size[0]:g}",
        "height": f"{size[1]:g}",
        "font-family": "system-ui, sans-serif",
        "font-size": f"{_FONT:g}",
    }
    top = root(size, attributes)
    if description:
        SubElement(top, "title").text = printable(description)
    Compaction("c", _FONT, {}).copy(_drawn(draw, size, theme), top)
    return tostring(top, encoding="unicode").encode() + b"\n"


def chart_css() -> str:
    """Return the CSS that pages need for `svg`, on top of `palette.css_variables`."""
    rules = [
        f".chart{{width:100%;height:auto;font-size:{_FONT:g}px}}",
        *(f".c-{name}{{fill:var({css_name(name)})}}" for name in CLASSES),
        *(f".s-{name}{{stroke:var({css_name(name)})}}" for name in CLASSES),
    ]
    return "\n".join(rules) + "\n"


@contextmanager
def _figure(draw: Draw, size: Size, theme: Theme) -> Iterator[Figure]:
    """Yield a figure with the drawing, made under matplotlib's default settings."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from pprofdiff.plots.layout import RoundedLayout

    with mpl.rc_context(), warnings.catch_warnings():
        # Characters that DejaVu Sans has no glyph for are written anyway.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        mpl.rcdefaults()
        mpl.rc("svg", fonttype="none", hashsalt="pprofdiff")
        mpl.rc("font", size=_FONT)
        inches = size[0] / 72, size[1] / 72
        figure = Figure(inches, dpi=72, layout=RoundedLayout())
        figure.set_facecolor(colour("background", theme))
        draw(figure)
        yield figure


def _drawn(
    draw: Draw, size: Size, theme: Theme, *, transparent: bool = False
) -> Element:
    file = StringIO()
    with _figure(draw, size, theme) as figure:
        if transparent:
            figure.patch.set_visible(False)
            for axes in figure.axes:
                axes.patch.set_visible(False)
        figure.savefig(file, format="svg", metadata=_NO_DATES)
    # matplotlib wrote this text: it has no entities, and names are escaped.
    return fromstring(file.getvalue())  # noqa: S314
