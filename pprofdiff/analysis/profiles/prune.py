"""Frames that a profile says are of no interest: drop_frames and keep_frames."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.profiles.filters import cut_stacks, keep_lines
from pprofdiff.analysis.profiles.regexp import Matches, matcher
from pprofdiff.errors import UsageError
from pprofdiff.model.csr import last_in_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pprofdiff.model.profiles.profile import Profile

__all__ = ["pruned_frames"]

_PARENTHESIS = re.compile(r"\(anonymous namespace\)|operator\(\)|\(")


def pruned_frames(profile: Profile) -> Profile:
    """Return the profile without frames beneath those that ``drop_frames`` names.

    As ``go tool pprof`` does when it loads a profile: from the root, below the first
    frame that is not itself dropped, the next dropped frame takes itself and all it
    called away. A pattern that cannot be read drops nothing.
    """
    if not profile.drop_frames:
        return profile
    try:
        drop = matcher(f"^({profile.drop_frames})$", "drop_frames")
        keep: Matches = _never
        if profile.keep_frames:
            keep = matcher(f"^({profile.keep_frames})$", "keep_frames")
    except UsageError:
        return profile
    return _pruned(profile, _dropped_lines(profile, drop, keep))


def _never(_: str) -> bool:
    """Match nothing."""
    return False


def _simple(name: str) -> str:
    """Return the name without its argument list, as pprof shortens it."""
    name = name.removeprefix(".")
    for found in _PARENTHESIS.finditer(name):
        if found[0] == "(":
            return name[: found.start()]
    return name


def _dropped_lines(profile: Profile, drop: Matches, keep: Matches) -> NDArray[np.bool_]:
    """Return which location lines (bool) are of functions to drop."""
    strings, names = profile.strings, profile.functions.name
    found = np.zeros(len(strings), np.bool_)
    for i in set(names.tolist()):
        simple = _simple(strings[i])
        found[i] = bool(strings[i]) and drop(simple) and not keep(simple)
    return np.append(found[names], False)[profile.locations.line_function]


def _pruned(profile: Profile, dropped: NDArray[np.bool_]) -> Profile:
    """Cut lines and stacks at the dropped lines."""
    offsets = profile.locations.line_offsets
    last = last_in_row(dropped, offsets)
    beneath = last >= 0
    whole = last == offsets[1:] - 1
    shortest = np.where(beneath & ~whole, last, offsets[:-1] - 1)
    lines = np.arange(len(dropped)) > np.repeat(shortest, np.diff(offsets))
    cut = beneath[profile.stack_locations]
    starts = profile.stack_offsets[:-1]
    user = last_in_row(~cut, profile.stack_offsets)
    cuts = np.append(np.flatnonzero(cut), -1)
    hit = cuts[np.searchsorted(cuts[:-1], user) - 1]
    found = (user >= 0) & (hit >= starts)
    gone = (
        whole[profile.stack_locations[np.where(found, hit, 0)]] if len(cut) else found
    )
    profile = replace(profile, locations=keep_lines(profile.locations, lines))
    return cut_stacks(
        profile, np.where(found, hit + gone, starts), profile.stack_offsets[1:]
    )
