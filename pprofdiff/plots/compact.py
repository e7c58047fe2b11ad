"""Rewrites matplotlib's SVG for a page: smaller, and without ``style``.

A page whose Content-Security-Policy allows its style sheet by hash ignores every
``style`` attribute, so properties become presentation attributes and colours become
classes. Coordinates are rounded to tenths of a unit and made relative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_URL = re.compile(r"(?<=url\(#)[^)]+")
_COMMAND = re.compile(r"([MLQCz])([^MLQCz]*)")
_NO_ROTATION = re.compile(r"rotate\(-?0\b[^)]*\)")
# How matplotlib before 3.10 writes a font: "700 13.2px 'DejaVu Sans', sans-serif".
_FONT = re.compile(r"(?:(\d+) )?([\d.]+px)")
_LENGTHS = frozenset({"x", "y", "width", "height"})
_NOT_COPIED = frozenset({"id", "style", "font", "font-family"})
_CLASS = {"fill": "c", "stroke": "s"}
# Defaults that need not be written: SVG's own, and `root`'s.
_DEFAULTS = {
    "font-weight": "400",
    "opacity": "1",
    "stroke": "none",
    "stroke-dashoffset": "0",
    "stroke-linecap": "butt",
    "stroke-linejoin": "round",
    "stroke-width": "1",
    "text-anchor": "start",
}


@dataclass(slots=True)
class Compaction:
    """Rewrites one drawing.

    Ids are a `prefix` and a number. Texts of `font_size` pixels do not repeat it.
    `classes` are names of colours (``#rrggbb``): a fill in such a colour becomes the
    class ``c-name``, a stroke ``s-name``.
    """

    prefix: str
    font_size: float
    classes: Mapping[str, str]
    _ids: dict[str, str] = field(default_factory=dict)

    def copy(self, source: Element, target: Element) -> None:
        """Append the children of `source` to `target`, rewritten.

        Metadata, style sheets and groups without attributes are left out. Only elements
        in ``<defs>`` keep an id; nothing else is referenced.
        """
        for child in source:
            tag = child.tag.removeprefix(_SVG)
            if tag in ("metadata", "style"):
                continue
            attributes = dict(self._attributes(child))
            if source.tag == f"{_SVG}defs":
                attributes["id"] = self._id(child.attrib["id"])
            if tag == "g" and not attributes:
                self.copy(child, target)
                continue
            copied = SubElement(target, tag, attributes)
            if child.text and not child.text.isspace():
                copied.text = child.text
            self.copy(child, copied)
            if tag == "defs" and not len(copied):
                target.remove(copied)

    def _attributes(self, element: Element) -> Iterator[tuple[str, str]]:
        """Yield an element's attributes and style properties, except its id."""
        classes = []
        for name, value in _stated(element):
            if name in _CLASS and value in self.classes:
                classes.append(f"{_CLASS[name]}-{self.classes[value]}")
            elif name == "href" and value.startswith("#"):
                yield name, f"#{self._id(value[1:])}"
            elif name == "d":
                yield name, path_data(value)
            elif name in _LENGTHS:
                yield name, _written(_tenths(value))
            elif name == "transform":
                yield from _transform(value)
            elif name != "font-size" or value != f"{self.font_size:g}px":
                yield name, _URL.sub(lambda match: self._id(match[0]), value)
        if classes:
            yield "class", " ".join(classes)

    def _id(self, name: str) -> str:
        return self._ids.setdefault(name, f"{self.prefix}{len(self._ids)}")


def _stated(element: Element) -> Iterator[tuple[str, str]]:
    """Yield an element's attributes and style properties that are not defaults."""
    style = element.get("style", "")
    # No property that matplotlib writes has a quoted semicolon or colon.
    declared = [part.partition(":") for part in style.split(";") if part.strip()]
    properties = {name.strip(): value.strip() for name, _, value in declared}
    font = _FONT.search(properties.get("font", ""))
    if font is not None:
        properties |= {"font-weight": font[1] or "400", "font-size": font[2]}
    for name, value in (*element.attrib.items(), *properties.items()):
        plain = name.removeprefix(_XLINK)
        if plain not in _NOT_COPIED and _DEFAULTS.get(plain) != value:
            yield plain, value


def _transform(value: str) -> Iterator[tuple[str, str]]:
    """Yield a transform without the zero rotation that every text has."""
    kept = _NO_ROTATION.sub("", value).strip()
    if kept:
        yield "transform", kept


def _tenths(number: str) -> int:
    return round(float(number) * 10)


def _written(tenths: int) -> str:
    """Return a number of tenths in SVG's shortest form: ``-.5``."""
    whole, part = divmod(abs(tenths), 10)
    digits = f"{whole or ''}.{part}" if part else str(whole)
    return f"-{digits}" if tenths < 0 else digits


def path_data(data: str) -> str:
    """Return path data in tenths, relative, without zero-length lines.

    The input is what matplotlib writes: absolute M, L, Q, C and z. Each point is
    rounded on its own, so errors do not accumulate.
    """
    out = []
    at = first = (0, 0)
    for letter, numbers in _COMMAND.findall(data):
        places = [_tenths(number) for number in numbers.split()]
        points = list(zip(places[::2], places[1::2], strict=True)) or [first]
        steps = [n - at[i] for point in points for i, n in enumerate(point)]
        if letter == "M":
            first = points[0]
            out.append(_command("M", places))
        elif letter == "z":
            out.append("z")
        elif letter != "L":
            out.append(_command(letter.lower(), steps))
        elif steps[1] == 0 and steps[0]:
            out.append(_command("h", steps[:1]))
        elif steps[0] == 0 and steps[1]:
            out.append(_command("v", steps[1:]))
        elif any(steps):
            out.append(_command("l", steps))
        at = points[-1]
    return "".join(out)


def _command(letter: str, tenths: list[int]) -> str:
    return letter + " ".join(map(_written, tenths)).replace(" -", "-")


def root(size: tuple[float, float], attributes: Mapping[str, str]) -> Element:
    """Return an ``<svg>`` of the given size, with drawing-wide attributes."""
    width, height = size
    box = {"viewBox": f"0 0 {width:g} {height:g}", "stroke-linejoin": "round"}
    return Element("svg", {**attributes, **box})
