"""Profiles of one run's units of work, added up: one profile of each kind a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pprofdiff.analysis.side import measure
from pprofdiff.errors import IncompatibleProfilesError
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.operations import (
    Operations,
    operations_of,
    with_operations,
)
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side

__all__ = ["added_up", "operations_by_unit"]

# The kind of profile whose operations make the mix that others are scaled to.
_MIX = "cpu"

_Captures = Sequence[Capture[Profile]]


def operations_by_unit(side: Side) -> Mapping[str, int]:
    """Return how many operations of each name the CPU profiles of all runs cover.

    Empty where a profile of a unit does not say it.
    """
    sums: dict[str, int] = {}
    for capture in side.of("profile"):
        if capture.unit and measure(capture) == _MIX:
            done = operations_of(capture.content)
            if done is None:
                return {}
            sums[done.name] = sums.get(done.name, 0) + done.number
    return sums


def added_up(side: Side) -> Side:
    """Return the side with the profiles of one kind and run added up over units.

    An allocs profile that covers other operations than the CPU profiles of its unit is
    scaled to theirs, so that all kinds are of one mix of operations. The sum covers the
    operations of its parts. Raises IncompatibleProfilesError.
    """
    if not any(capture.unit for capture in side.captures):
        return side
    mix = operations_by_unit(side)
    groups: dict[tuple[str, int], list[Capture[Profile]]] = {}
    captures = []
    for capture in side.captures:
        if capture.kind == "profile" and capture.unit:
            groups.setdefault((measure(capture), capture.run), []).append(capture)
        else:
            captures.append(capture)
    sums = [_sum(kind, group, mix) for (kind, _), group in groups.items()]
    return replace(side, captures=(*captures, *sums))


def _sum(kind: str, group: _Captures, mix: Mapping[str, int]) -> Capture[Profile]:
    """Return one capture that is the sum of a kind's units in one run."""
    parts = [capture.content for capture in group]
    known = [done for part in parts if (done := operations_of(part)) is not None]
    counts = [done.number for done in known]
    if kind != _MIX and len(parts) > 1 and len(known) == len(parts):
        wanted = [mix.get(done.name, done.number) for done in known]
        factors = (want / own for want, own in zip(wanted, counts, strict=True))
        parts = [_scaled(part, by) for part, by in zip(parts, factors, strict=True)]
        counts = wanted
    try:
        whole = merge(parts)
    except IncompatibleProfilesError as error:
        paths = ", ".join(capture.path for capture in group)
        raise IncompatibleProfilesError(f"{paths}: {error}") from error
    if len(known) == len(parts):
        whole = with_operations(whole, Operations(sum(counts)))
    first = group[0]
    folder, _, name = first.path.rpartition("/")
    path = first.path if len(group) == 1 else f"{folder.rpartition('/')[0]}/*/{name}"
    return replace(first, path=path, content=whole, unit="")


def _scaled(profile: Profile, factor: float) -> Profile:
    """Return the profile with its values times a factor, rounded to integers."""
    return profile.with_values(np.rint(profile.values * factor).astype(np.int64))
