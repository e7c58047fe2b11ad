"""Names in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from pprofdiff.analysis.policy import NAMED
from pprofdiff.goruntime.readable import distinct_names, short

__all__ = [
    "listed",
    "listed_functions",
    "lists_apart",
    "parts_inside",
    "short",
]


def parts_inside(whole: str, parts: Sequence[str], *, new: bool) -> str:
    """Return a clause saying that functions are new inside another, or gone from it."""
    whole, *named = distinct_names([whole, *parts])
    if len(named) > NAMED:
        named = [*named[:NAMED], f"{len(named) - NAMED} more"]
    verb = "are" if len(parts) > 1 else "is"
    return f"{listed(named)} {verb} {'new inside' if new else 'gone from'} {whole}"


def listed_functions(names: Sequence[str]) -> str:
    """Return functions as one list in which no two read the same, see `short`."""
    return listed(distinct_names(names))


def lists_apart(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """Return base's and new's functions as lists in which no two read the same."""
    names = distinct_names([*before, *after])
    return listed(names[: len(before)]), listed(names[len(before) :])


def listed(words: Sequence[str]) -> str:
    """Return words as one list, such as ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
