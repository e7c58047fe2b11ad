"""Assign profiles to steps of a series: windows of time, or builds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pprofdiff.errors import UsageError
from pprofdiff.fleets.hosts import HostRule, host_rule
from pprofdiff.fleets.partial import shares_by
from pprofdiff.model.profiles.profile import Profile

MOST_WINDOWS = 48
"""Maximum number of windows if no width is given.

A day in half hours; more would be narrower than a character of a terminal's curve.
"""

MOST_STEPS = 400
"""Maximum number of steps: finding changes takes quadratic time."""

# Seconds, each a multiple of the previous one, so that windows can be joined later.
WIDTHS = (
    *(1, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 3 * 3_600, 6 * 3_600),
    *(12 * 3_600, 86_400, 7 * 86_400, 28 * 86_400, 364 * 86_400),
)
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class StepRule:
    """How to find a profile's step: by `builds`, or by its time if that is None.

    `width_s` is a window's width in seconds, 0 if it is to be chosen.
    """

    builds: HostRule | None = None
    width_s: int = 0

    def shares(
        self, profile: Profile, path: str
    ) -> list[tuple[str | int, Profile]] | None:
        """Return (step, its samples), a window as its Unix seconds; None if unknown."""
        if self.builds is not None:
            shares = shares_by(profile, path, self.builds)
            return None if shares is None else [*shares]
        if profile.time_ns is None or profile.time_ns <= 0:
            return None
        width = self.width_s or WIDTHS[0]
        return [(profile.time_ns // _SECOND // width * width, profile)]

    @property
    def lacking(self) -> str:
        """Why a profile without a step is left out."""
        return "without a time" if self.builds is None else "without a build"


def step_rule(over: str, every: float | None) -> StepRule:
    """Return the rule for finding steps.

    `over` is ``time``, or a key or pattern as for hosts. `every` is a window's width in
    seconds, None to choose one. Raises UsageError for invalid ones.
    """
    if over == "time":
        if every is None:
            return StepRule()
        if every < 1 or every != int(every):
            raise UsageError("--every is a whole number of seconds or more, as 15m")
        return StepRule(None, int(every))
    if every is not None:
        raise UsageError("--every is the width of windows: it goes with --over time")
    return StepRule(host_rule(over, flag="--over"))


def in_seconds(width: float | timedelta | None) -> float | None:
    """Return the width of a window in seconds; None stays None."""
    return width.total_seconds() if isinstance(width, timedelta) else width


def width_for(starts: Iterable[int], width: int) -> int:
    """Return the smallest of `WIDTHS`, at least `width`, with few enough windows.

    `starts` are in seconds. A subset of them never needs a larger width.
    """
    seconds = list(starts)
    if not seconds:
        return width
    low, high = min(seconds), max(seconds)
    for wider in WIDTHS:
        if wider >= width and high // wider - low // wider < MOST_WINDOWS:
            return wider
    return WIDTHS[-1]


def in_order(steps: Iterable[str], ranks: dict[str, int]) -> list[str]:
    """Return builds sorted by rank, then by the numbers in their names."""
    return sorted(steps, key=lambda name: (ranks.get(name, len(ranks)), _numbers(name)))


def _numbers(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that puts 1.9 before 1.10."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]


def window_name(start_s: int, width_s: int, *, one_day: bool) -> str:
    """Return the name of a window: its start in UTC."""
    start = datetime.fromtimestamp(start_s, UTC)
    if width_s % 86_400 == 0:
        return f"{start:%Y-%m-%d}"
    clock = f"{start:%H:%M}" if width_s % 60 == 0 else f"{start:%H:%M:%S}"
    return clock if one_day else f"{start:%m-%d} {clock}"
