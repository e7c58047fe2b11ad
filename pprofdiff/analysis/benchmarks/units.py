"""Benchmark units: benchstat's tidy form of each, and which direction is better."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

THROUGHPUT = "B/s"
"""The tidy unit of MB/s, which goes by the clock."""

ALLOCATED = {"alloc_space": "B/op", "alloc_objects": "allocs/op"}
"""The units that -benchmem prints, by sample type of allocs profiles."""

Better = Literal["higher", "lower"]

# A run of separators, then a part of the unit's name.
_PART = re.compile(r"([*/\-\s]*)([^*/\-\s]+)")
_TIDY = {"ns": ("sec", 1e-9), "MB": ("B", 1e6)}


class Tidy(NamedTuple):
    """A unit without prefixes, and the factor that converts values to it."""

    unit: str
    factor: float


class _Part(NamedTuple):
    before: str
    name: str
    divides: bool


def _parts(unit: str) -> Iterator[_Part]:
    """Yield a unit's parts, as golang.org/x/perf/benchunit splits them."""
    divides = False
    for before, name in _PART.findall(unit):
        for mark in before:
            divides = {"*": False, "/": True}.get(mark, divides)
        yield _Part(before, name, divides)


@lru_cache(maxsize=1024)
def tidy(unit: str) -> Tidy:
    """Return the unit with ns as sec and MB (1e6 B) as B, except below a ``/``.

    So ``ns/op`` is ``sec/op``, ``MB/s`` is ``B/s``, and ``p99-ns`` is ``p99-sec``.
    """
    factor, words = 1.0, []
    for before, name, divides in _parts(unit):
        shown, size = (name, 1.0) if divides else _TIDY.get(name, (name, 1.0))
        words += [before, shown]
        factor *= size
    return Tidy("".join(words) or unit, factor)


def in_bytes(unit: str) -> bool:
    """Return whether values of a tidy unit are printed with binary prefixes (1024)."""
    return any(
        name in ("B", "bytes") and not divides for _, name, divides in _parts(unit)
    )


def better(unit: str) -> Better | None:
    """Return which values of a tidy unit are better, None if unknown.

    Apart from what benchstat knows (``sec/op``, ``B/s``, ``B/op``, ``allocs/op``),
    lower is better for any time, and higher for anything per second except a time.
    """
    parts = list(_parts(unit))
    if unit in ALLOCATED.values():
        return "lower"
    if any(name == "sec" and not divides for _, name, divides in parts):
        return "lower"
    if any(name in ("s", "sec") and divides for _, name, divides in parts):
        return "higher"
    return None
