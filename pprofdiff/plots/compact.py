"""matplotlib's SVG made small and themable: classes for colours, attributes for styles.

What comes out has no ``style``, no ``<style>``, no metadata and no font family; numbers
are in tenths of a unit. It is what a page with a strict Content-Security-Policy may
hold, and its colours are the page's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

__all__ = ["Compaction", "path_data"]

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_URL = re.compile(r"url\(#(.+)\)")
_TOKENS = re.compile(r"[A-Za-z]|-?[\d.]+(?:e-?\d+)?")
_FONT_SIZE = re.compile(r"([\d.]+)px")
_TRANSFORMS = re.compile(r"(\w+)\(([^)]*)\)")
# What an SVG element has anyway; strokes are joined as the root says.
_DEFAULTS = {
    "stroke-dashoffset": "0",
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "stroke-width": "1",
    "opacity": "1",
    "text-anchor": "start",
}
_KEPT = (
    "stroke-width",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linejoin",
    "stroke-linecap",
    "fill-opacity",
    "stroke-opacity",
    "opacity",
    "text-anchor",
)
# How many numbers follow each letter of path data that matplotlib writes.
_POINTS = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}


@dataclass(slots=True)
class Compaction:
    """How one drawing is rewritten.

    `classes` gives the class that stands for a colour; other colours stay as they are.
    `font_size` (pixels) is the root's. Ids get `prefix` and a number, in order.
    """

    prefix: str
    font_size: float
    classes: Mapping[str, str]
    ids: dict[str, str] = field(default_factory=dict)

    def copy(self, source: Element, target: Element) -> None:
        """Append what `source` holds to `target`, rewritten; groups are dissolved."""
        for child in source:
            tag = child.tag.removeprefix(_SVG)
            if tag in ("metadata", "style"):
                continue
            attributes = dict(self._attributes(child, tag))
            if tag == "g" and not attributes:
                self.copy(child, target)
                continue
            made = SubElement(target, tag, attributes)
            if tag == "text":
                made.text = child.text
            self.copy(child, made)
            if tag in ("defs", "g") and not len(made):
                target.remove(made)

    def _attributes(self, element: Element, tag: str) -> Iterator[tuple[str, str]]:
        """Yield an element's attributes: places first, then looks."""
        held = element.attrib
        if tag in ("path", "clipPath") and "id" in held:
            yield "id", self._id(held["id"])
        if "d" in held:
            yield "d", path_data(held["d"])
        if _HREF in held:
            yield "href", "#" + self._id(held[_HREF].removeprefix("#"))
        for name in ("x", "y", "width", "height"):
            if name in held:
                yield name, _tenths(held[name])
        if "transform" in held:
            yield from _transform(held["transform"])
        clip = _URL.match(held.get("clip-path", ""))
        if clip is not None:
            yield "clip-path", f"url(#{self._id(clip[1])})"
        style = dict(_declarations(held.get("style", "")))
        yield from self._looks(style, tag)

    def _looks(self, style: dict[str, str], tag: str) -> Iterator[tuple[str, str]]:
        """Yield what a style says, as presentation attributes and classes."""
        classes = []
        for name, letter in (("fill", "c"), ("stroke", "s")):
            value = style.get(name)
            known = self.classes.get(value or "")
            if known is not None:
                classes.append(f"{letter}-{known}")
            elif value is not None and (name, value) != ("stroke", "none"):
                yield name, value
        if classes:
            yield "class", " ".join(classes)
        if tag == "text":
            size = _FONT_SIZE.search(style.get("font-size") or style.get("font", ""))
            if size is not None and float(size[1]) != self.font_size:
                yield "font-size", _tenths(size[1])
            if "bold" in style.get("font-weight", "") or "bold" in style.get(
                "font", ""
            ):
                yield "font-weight", "bold"
        for name in _KEPT:
            value = style.get(name)
            if value is not None and value != _DEFAULTS.get(name):
                yield name, value

    def _id(self, name: str) -> str:
        return self.ids.setdefault(name, f"{self.prefix}{len(self.ids)}")


def _declarations(style: str) -> Iterator[tuple[str, str]]:
    """Yield a style's properties; none of matplotlib's hold a quoted semicolon."""
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            yield name.strip(), value.strip()


def _transform(text: str) -> Iterator[tuple[str, str]]:
    """Yield a transform, but for a rotation by nothing."""
    parts = []
    for name, numbers in _TRANSFORMS.findall(text):
        values = [float(n) for n in numbers.replace(",", " ").split()]
        if name == "rotate" and values[0] == 0:
            continue
        parts.append(f"{name}({' '.join(_tenths(v) for v in values)})")
    if parts:
        yield "transform", " ".join(parts)


def _tenths(value: str | float) -> str:
    """Return a number in tenths, as short as it can be written."""
    return _written(round(float(value) * 10))


def _written(tenths: int) -> str:
    whole, part = divmod(abs(tenths), 10)
    digits = f"{whole or ''}.{part}" if part else str(whole)
    return f"-{digits}" if tenths < 0 else digits


def path_data(data: str) -> str:
    """Return path data in tenths, relative, without the segments that are of no length.

    Takes what matplotlib writes: absolute M, L, Q, C and z. Each point is rounded for
    itself, so that errors do not add up.
    """
    out: list[str] = []
    at = first = (0, 0)
    last = ""
    for letter, points in _segments(data):
        if letter == "z":
            out.append("z")
            at, last = first, ""
            continue
        moves = [(x - at[0], y - at[1]) for x, y in points]
        if letter == "M":
            first = points[0]
            words = ["M", *map(_written, points[0])]
        elif letter == "L":
            if moves[0] == (0, 0):
                continue
            words = _line(*moves[0])
        else:
            words = [letter.lower(), *(_written(n) for move in moves for n in move)]
        out.append(_joined(words, last))
        # After a move to a place, further pairs would be lines.
        last = "" if letter == "M" else words[0]
        at = points[-1]
    return "".join(out)


def _line(dx: int, dy: int) -> list[str]:
    if dy == 0:
        return ["h", _written(dx)]
    if dx == 0:
        return ["v", _written(dy)]
    return ["l", _written(dx), _written(dy)]


def _joined(words: list[str], last: str) -> str:
    """Return a command; its letter is left out where it repeats the `last` one."""
    letter, *numbers = words
    text = "" if letter == last else letter
    for i, number in enumerate(numbers):
        needed = (i > 0 or not text) and not number.startswith("-")
        text += f" {number}" if needed else number
    return text


def _segments(data: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield each command's letter and points, in whole tenths."""
    tokens = iter(_TOKENS.findall(data))
    for letter in tokens:
        numbers = [round(float(next(tokens)) * 10) for _ in range(_POINTS[letter])]
        yield letter, list(zip(numbers[::2], numbers[1::2], strict=True))


def root(size: tuple[float, float], attributes: Mapping[str, str]) -> Element:
    """Return an ``<svg>`` of that size, with what holds for all that is in it."""
    width, height = size
    held = {"viewBox": f"0 0 {width:g} {height:g}", "stroke-linejoin": "round"}
    return Element("svg", {**attributes, **held})
