"""What Go releases changed that shows in profiles: `changes.toml` as values."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Change", "changes_between", "number"]


class Change(NamedTuple):
    """One change: the first release that has it, its name, and where it shows."""

    release: str
    name: str
    packages: tuple[str, ...]
    groups: tuple[str, ...]
    categories: tuple[str, ...]
    source: str


@cache
def _changes() -> tuple[Change, ...]:
    text = files("pprofdiff.goruntime").joinpath("changes.toml").read_text("utf-8")
    return tuple(
        Change(
            row["release"],
            row["name"],
            tuple(row.get("packages", ())),
            tuple(row.get("groups", ())),
            tuple(row.get("categories", ())),
            row["source"],
        )
        for row in tomllib.loads(text)["change"]
    )


def number(release: str) -> tuple[int, int]:
    """Return a release such as "1.22" as numbers that compare."""
    major, minor = release.split(".")[:2]
    return int(major), int(minor)


def changes_between(last: str, first: str) -> tuple[Change, ...]:
    """Return what came after release `last`, up to and with release `first`."""
    after, until = number(last), number(first)
    return tuple(c for c in _changes() if after < number(c.release) <= until)
