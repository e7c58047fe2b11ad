"""Changes in Go releases that show in profiles, from `changes.toml`."""

from __future__ import annotations

import os
from functools import cache
from typing import NamedTuple

from pprofdiff.goruntime.versions import number


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
