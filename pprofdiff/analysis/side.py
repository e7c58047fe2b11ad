"""What a side's captures measured, of which run each is, and how long they took."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from pprofdiff.kinds import KINDS, resolve
from pprofdiff.model.side import Capture, Side

__all__ = ["cpu_seconds", "measure", "numbered"]


def measure(capture: Capture[Any]) -> str:
    """Return what a capture measured: cpu, allocs …, or the id of its kind."""
    named = KINDS[capture.kind].measures
    return str(resolve(named)(capture.content)) if named else capture.kind


def numbered(side: Side) -> Side:
    """Return the side with `Capture.run` set.

    Nothing in the inputs says which were captured together, so captures of the same
    measure are of runs 0, 1, 2 … in the order they were given.
    """
    before: Counter[str] = Counter()
    captures = []
    for capture in side.captures:
        measured = measure(capture)
        captures.append(replace(capture, run=before[measured]))
        before[measured] += 1
    return replace(side, captures=tuple(captures))


def cpu_seconds(side: Side) -> float | None:
    """Return how long a side's CPU profiles lasted, None where one does not say."""
    durations = [
        capture.content.duration_ns
        for capture in side.of("profile")
        if measure(capture) == "cpu"
    ]
    known = [duration for duration in durations if duration]
    return sum(known) / 1e9 if known and len(known) == len(durations) else None
