"""Go releases: which one built a program, and what changed from one to the next.

Runtime functions come and go with releases: those in a profile show which built it.
"""

from __future__ import annotations

import os
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.goruntime.names import lookup
from pprofdiff.goruntime.rules import rules

if TYPE_CHECKING:
    from collections.abc import Collection

Span = tuple[str | None, str | None]
"""The first and last Go release, such as "1.22"; None is an open end."""

_NAMES_CACHED = 1 << 16


def infer_go_version(names: Collection[str]) -> tuple[str | None, str | None]:
    """Return the first and last Go release, such as "1.22", with all of `names`.

    None is an open end. Both are None if the names contradict each other, as in a
    profile merged from two builds.
    """
    table = rules()
    bounds = {_bounds(name) for _, name in table.release_heads.matching(names)}
    first = max((begin for begin, _ in bounds), default=-1)
    last = min((end for _, end in bounds), default=len(table.releases))
    if first > last:
        return None, None
    return (
        table.releases[first] if first >= 0 else None,
        table.releases[last] if last < len(table.releases) else None,
    )


def number(release: str) -> tuple[int, int]:
    """Return a release such as "1.22" as comparable numbers."""
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


def lacks(span: Span, name: str) -> bool:
    """Return whether no release in a span has the function `name`.

    A closure exists where the function that wrote it does.
    """
    begin, end = _bounds(name)
    if (begin, end) == (-1, len(rules().releases)):
        begin, end = _bounds(lookup(name)[0])
    first, last = _ends(span)
    return last < begin or end < first


def disjoint(one: Span, other: Span) -> bool:
    """Return whether two spans share no release."""
    (first, last), (begin, end) = _ends(one), _ends(other)
    return last < begin or end < first


def _ends(span: Span) -> tuple[int, int]:
    """Return the positions of a span's releases; open ends are out of range."""
    releases = rules().releases
    first = -1 if span[0] is None else releases.index(span[0])
    return first, len(releases) if span[1] is None else releases.index(span[1])


@lru_cache(_NAMES_CACHED)
def _bounds(name: str) -> tuple[int, int]:
    table = rules()
    end = table.last_release.find(name)
    return table.first_release.find(name), end if end >= 0 else len(table.releases)


def format_go_version(first: str | None, last: str | None) -> str:
    """Return an interval of releases as text: go1.24, go1.22-1.23, go1.27+, ""."""
    if first is None and last is None:
        return ""
    if first is None:
        return f"go{last} or older"
    if last is None:
        return f"go{first}+"
    return f"go{first}" if first == last else f"go{first}-{last}"


def parse_go_version(text: str) -> Span:
    """Parse the interval of releases that `format_go_version` wrote."""
    releases = text.removeprefix("go")
    if releases.endswith(" or older"):
        return None, releases.removesuffix(" or older")
    if releases.endswith("+"):
        return releases.removesuffix("+"), None
    first, _, last = releases.partition("-")
    return first or None, last or first or None


class Change(NamedTuple):
    """One change: the first release with it, its name, and where it shows."""

    release: str
    name: str
    packages: tuple[str, ...]
    groups: tuple[str, ...]
    categories: tuple[str, ...]
    source: str


@cache
def _changes() -> tuple[Change, ...]:
    import tomllib

    # Not `importlib.resources`: importing it takes longer than parsing the table.
    with open(os.path.join(os.path.dirname(__file__), "changes.toml"), "rb") as file:
        rows = tomllib.load(file)["change"]
    return tuple(
        Change(
            row["release"],
            row["name"],
            tuple(row.get("packages", ())),
            tuple(row.get("groups", ())),
            tuple(row.get("categories", ())),
            row["source"],
        )
        for row in rows
    )


def changes_between(last: str, first: str) -> tuple[Change, ...]:
    """Return changes after release `last`, up to and including release `first`."""
    after, until = number(last), number(first)
    return tuple(c for c in _changes() if after < number(c.release) <= until)
