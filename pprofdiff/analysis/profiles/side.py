"""One side's profile of one kind: its runs, and their merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import FormatError, IncompatibleProfilesError, UsageError
from pprofdiff.goruntime.versions import Span, infer_go_version
from pprofdiff.model.profiles.merge import base_samples, merge, merge_apart
from pprofdiff.model.profiles.profile import Profile, largest_sum
from pprofdiff.model.side import Capture

_TOO_LARGE = float(1 << 63)


@dataclass(frozen=True, eq=False)
class ProfileSide:
    """One side's profile of one kind.

    `profile` merges all runs by pprof's rules, without the frames it says to drop.
    `by_run` holds its values per run: int64 of shape (samples, runs, sample types),
    summing over runs to the profile's values. `label` names this side in tables.
    """

    label: str
    runs: tuple[Capture[Profile], ...]
    profile: Profile
    by_run: NDArray[np.int64]

    @cached_property
    def releases(self) -> Span:
        """The first and last Go release that have all of its functions."""
        return infer_go_version(self.profile.function_names())


def side(label: str, runs: Sequence[Capture[Profile]]) -> ProfileSide:
    """Return the side made up of these runs (at least one).

    Raises
    ------
    FormatError
        The values of a sample type overflow 64 bits.
    IncompatibleProfilesError
        The runs measure different things.
    UsageError
        There are no runs.

    """
    if not runs:
        raise UsageError(f"{label}: there is no profile on this side")
    _must_fit(runs)
    try:
        profiles = [run.content for run in runs]
        merged = merge_apart(profiles) if len(profiles) > 1 else merge(profiles)
    except IncompatibleProfilesError as error:
        paths = ", ".join(run.path for run in runs)
        raise IncompatibleProfilesError(f"{paths}: {error}") from error
    if merged.drop_frames:
        from pprofdiff.analysis.profiles.filters import pruned_frames

        merged = pruned_frames(merged)
    if len(runs) == 1:
        return ProfileSide(label, tuple(runs), merged, merged.values[:, None])
    types = merged.sample_types[: len(merged.sample_types) // (1 + len(runs))]
    values = merged.values.reshape(len(merged), 1 + len(runs), len(types))
    own = np.ascontiguousarray(values[:, 0])
    profile = replace(merged, sample_types=types, values=own)
    return ProfileSide(label, tuple(runs), profile, values[:, 1:])


def _must_fit(runs: Sequence[Capture[Profile]]) -> None:
    """Raise FormatError if the sum of all values does not fit in 64 bits."""
    size = 0.0
    for run in runs:
        size += largest_sum(run.content)
        if size >= _TOO_LARGE:
            raise FormatError(
                f"{run.path}: its values add up to more than 64 bits hold; "
                "it is damaged, or not a profile of one program"
            )


def halves(profile: Profile) -> tuple[Profile, Profile]:
    """Return (base, new) of a diff profile, which labels base with ``pprof::base``.

    A diff holds the sum of both durations, so each half's duration is unknown.
    """
    profile = replace(profile, duration_ns=None)
    marked = base_samples(profile)
    base = profile.take(np.flatnonzero(marked))
    return base.with_values(-base.values), profile.take(np.flatnonzero(~marked))
