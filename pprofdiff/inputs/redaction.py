"""Names of inputs that say nothing of the machine or server they come from, or less."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from pprofdiff.inputs.model import SideInputs, Skipped

__all__ = ["from_within", "without_places"]

_URL = re.compile(r"https?://[^/?#]*([^?#]*)", re.IGNORECASE)
_NAMELESS = "profile from a URL"


def without_places(side: SideInputs) -> SideInputs:
    """Return a side whose inputs are called by the last part of their path or URL.

    Several of one name are numbered: ``cpu.pb.gz``, ``cpu.pb.gz (2)``. Copies of what
    was fetched are not mentioned.
    """
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    for one in side.inputs:
        if one.path not in names:
            name = _last_part(one.path)
            counts[name] = counts.get(name, 0) + 1
            number = counts[name]
            names[one.path] = name if number == 1 else f"{name} ({number})"
    return side._replace(
        inputs=tuple(
            replace(one, argument=names[one.path], path=names[one.path], saved_to=None)
            for one in side.inputs
        ),
        skipped=tuple(
            entry._replace(path=_last_part(entry.path), reason=_without_place(entry))
            for entry in side.skipped
        ),
    )


def from_within(side: SideInputs, folder: str) -> SideInputs:
    """Return a side whose inputs in a folder are called by their path from there."""
    before = os.path.join(folder, "")
    return side._replace(
        inputs=tuple(
            replace(
                one,
                argument=one.argument.removeprefix(before),
                path=one.path.removeprefix(before),
            )
            for one in side.inputs
        ),
        skipped=tuple(
            entry._replace(
                path=entry.path.removeprefix(before),
                reason=entry.reason.replace(before, ""),
            )
            for entry in side.skipped
        ),
    )


def _without_place(entry: Skipped) -> str:
    """Return why an entry was left out, which begins with its path or says nothing."""
    if not entry.reason.startswith(f"{entry.path}: "):
        return ""
    return _last_part(entry.path) + entry.reason.removeprefix(entry.path)


def _last_part(path: str) -> str:
    """Return the last part of a path, or of a URL's path."""
    url = _URL.match(path)
    parts = re.split(r"[/\\]", url[1] if url else path)
    return next(filter(None, reversed(parts)), _NAMELESS if url else path)
