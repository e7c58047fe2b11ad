"""Names of a side's runs: their numbers, and their folders or files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pprofdiff.analysis.profiles.kinds import is_cpu
from pprofdiff.analysis.side import number_in
from pprofdiff.model.side import Capture, Side

__all__ = ["RunName", "run_names"]

_SEPARATOR = re.compile(r"[/\\]")


class RunName(NamedTuple):
    """How people know a run.

    `number` is that of its folder or files if the side's runs have different ones, else
    its position, from 1. `place` is its folder; for files without one, its CPU profile
    or the first of them.
    """

    number: int
    place: str


def run_names(side: Side) -> dict[int, RunName]:
    """Return the names of a side's runs by `Capture.run`, in run order.

    The side is as returned by `analysis.side.numbered`.
    """
    captures: dict[int, list[Capture[Any]]] = {}
    for capture in sorted(side.captures, key=lambda one: one.run):
        captures.setdefault(capture.run, []).append(capture)
    places = {run: _place(of_run) for run, of_run in captures.items()}
    numbers = [number_in(_SEPARATOR.split(places[run])[-1]) for run in captures]
    stated = [number for number in numbers if number is not None]
    if len(set(stated)) < len(captures):
        stated = list(range(1, len(captures) + 1))
    return {
        run: RunName(number, places[run])
        for run, number in zip(captures, stated, strict=True)
    }


def _place(captures: Sequence[Capture[Any]]) -> str:
    """Return the folder of captures known to be of one run, else a file."""
    profiles = (c for c in captures if c.kind == "profile" and is_cpu(c.content))
    first = next(profiles, captures[0])
    parts = _SEPARATOR.split(first.path)
    if not first.run_known or len(parts) == 1:
        return first.path
    return first.path[: -len(parts[-1]) - 1]
