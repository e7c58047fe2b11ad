"""One build's profile of one kind: its runs, and all of them merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.model.profiles.merge import base_samples, merge
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture

__all__ = ["ProfileSide", "halves", "side"]


class ProfileSide(NamedTuple):
    """One build's profile of one kind.

    `runs` stay apart for statistics over sets; `profile` is all of them merged by
    pprof's rules, without the frames that the profile says to drop; `label` is the
    word for this side in tables.
    """

    label: str
    runs: tuple[Capture[Profile], ...]
    profile: Profile


def side(label: str, runs: Sequence[Capture[Profile]]) -> ProfileSide:
    """Return the side that these runs (at least one) make."""
    if not runs:
        raise UsageError(f"{label}: there is no profile on this side")
    try:
        merged = merge([run.content for run in runs])
    except IncompatibleProfilesError as error:
        paths = ", ".join(run.path for run in runs)
        raise IncompatibleProfilesError(f"{paths}: {error}") from error
    if merged.drop_frames:
        from pprofdiff.analysis.profiles.prune import pruned_frames

        merged = pruned_frames(merged)
    return ProfileSide(label, tuple(runs), merged)


def halves(profile: Profile) -> tuple[Profile, Profile]:
    """Return (base, new) of a profile that a diff wrote with ``pprof::base`` labels.

    A diff holds the sum of both durations, which says nothing of either side.
    """
    profile = replace(profile, duration_ns=None)
    marked = base_samples(profile)
    base = profile.take(np.flatnonzero(marked))
    return base.with_values(-base.values), profile.take(np.flatnonzero(~marked))
