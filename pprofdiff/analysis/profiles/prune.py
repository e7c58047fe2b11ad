"""Drops the frames that a profile's drop_frames and keep_frames specify."""

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
    """Return the profile without the frames that its ``drop_frames`` matches.

    This is what ``go tool pprof`` does on loading a profile (profile/prune.go of
    github.com/google/pprof): a dropped frame is removed with all frames below it.
    Dropped frames at the root stay. A name that ``keep_frames`` matches is not dropped;
    an invalid pattern drops nothing. Raises UsageError for one that takes too long to
    search for.
    """
    if not profile.drop_frames:
        return profile
    try:
        drop = matcher(f"^({profile.drop_frames})$", "drop_frames of a profile")
        keep: Matches = _never
        if profile.keep_frames:
            keep = matcher(f"^({profile.keep_frames})$", "keep_frames of a profile")
    except UsageError:
        return profile
    return _pruned(profile, _dropped_lines(profile, drop, keep))


def _never(_: str) -> bool:
    return False


def _simple(name: str) -> str:
    """Return the name without its argument list, as pprof simplifies it."""
    name = name.removeprefix(".")
    for parenthesis in _PARENTHESIS.finditer(name):
        if parenthesis[0] == "(":
            return name[: parenthesis.start()]
    return name


def _dropped_lines(profile: Profile, drop: Matches, keep: Matches) -> NDArray[np.bool_]:
    """Return which location lines (bool) belong to dropped functions."""
    strings, names = profile.strings, profile.functions.name
    dropped = np.zeros(len(strings), np.bool_)
    for i in set(names.tolist()):
        simple = _simple(strings[i])
        dropped[i] = bool(strings[i]) and drop(simple) and not keep(simple)
    return np.append(dropped[names], False)[profile.locations.line_function]


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
    pruned = (user >= 0) & (hit >= starts)
    gone = (
        whole[profile.stack_locations[np.where(pruned, hit, 0)]] if len(cut) else pruned
    )
    profile = replace(profile, locations=keep_lines(profile.locations, lines))
    return cut_stacks(
        profile, np.where(pruned, hit + gone, starts), profile.stack_offsets[1:]
    )
