"""``stacks.txt``: what real Go programs have above and below their own code."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Chain(NamedTuple):
    """Functions that call each other, root first: how often they occur, and as what."""

    weight: int
    kind: str
    functions: tuple[str, ...]


def chains(section: str) -> list[Chain]:
    """Return the chains of ``entries``, ``endings`` or ``runtime``."""
    text = Path(__file__).with_name("stacks.txt").read_text("utf-8")
    body = text.split(f"[{section}]", 1)[1].split("\n\n", 1)[0]
    found = []
    for line in body.splitlines()[1:]:
        weight, kind, functions = [*line.split(maxsplit=2), ""][:3]
        names = tuple(functions.split("|")) if functions else ()
        found.append(Chain(int(weight), kind, names))
    return found
