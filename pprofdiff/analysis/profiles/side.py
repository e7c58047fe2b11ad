"""One side's profile of one kind: its runs, their merge, and how much work each did."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.judge.run_spread import RunCounts
from pprofdiff.analysis.judge.scaling import weighted_median
from pprofdiff.analysis.profiles.tables import STOPPED
from pprofdiff.analysis.work import Work
from pprofdiff.errors import FormatError, IncompatibleProfilesError, UsageError
from pprofdiff.goruntime.versions import Span, infer_go_version
from pprofdiff.model.csr import expand, offsets_of
from pprofdiff.model.profiles.merge import base_samples, merge, merge_apart, with_names
from pprofdiff.model.profiles.profile import Profile, largest_sum, operations_of
from pprofdiff.model.side import Capture

_TOO_LARGE = float(1 << 63)


class ProfileSide(Struct, frozen=True, eq=False, dict=True):
    """One side's profile of one kind.

    `profile` merges all runs by pprof's rules, without the frames it says to drop.
    `by_run` holds its values per run: int64 of shape (samples, runs, sample types),
    summing over runs to the profile's values.
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
    """Return the side made up of these runs.

    Raises FormatError if the values of a sample type overflow 64 bits,
    IncompatibleProfilesError if the runs measure different things, UsageError without
    runs.
    """
    if not runs:
        raise UsageError(f"{label}: there is no profile on this side")
    _must_fit(runs)
    try:
        profiles = with_names([run.content for run in runs])
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


# Fewer samples on both sides together leave a ratio uncertain by over 30%; fewer
# functions have no majority; more samples get no more weight.
_TELLING, _SEVERAL, _CAPPED = 40, 5, 200

Exposure = NDArray[np.float64] | None
"""The operations of each run (float64), None if unknown."""


def counts_by_run(
    side: ProfileSide,
    column: int,
    worth: float,
    exposure: Exposure,
    functions: Sequence[str] | None = None,
) -> RunCounts:
    """Return a side's samples of one sample type by leaf function and run.

    Functions of the same name share a row, in the order of `Profile.function_names` or
    of `functions`. The last row is for samples without a leaf function. One sample adds
    `worth` to a value. Without `exposure`, runs are compared by duration.
    """
    names = side.profile.function_names()
    known = dict.fromkeys(names if functions is None else functions)
    rows = {name: row for row, name in enumerate(known)}
    row_of = np.array([*(rows[name] for name in names), len(rows)], np.int64)
    of_sample = row_of[_leaves(side.profile, names)]
    values = np.abs(side.by_run[:, :, column]) / worth
    counts = np.stack(
        [np.bincount(of_sample, run, len(rows) + 1) for run in values.T], axis=1
    ).astype(np.float64, copy=False)
    if exposure is None or len(exposure) != len(side.runs):
        spans = [capture.content.duration_ns or 0 for capture in side.runs]
        exposure = np.array(spans if all(spans) else [1] * len(spans), np.float64)
    return RunCounts(counts, exposure)


def shared_ratio(
    base: ProfileSide,
    new: ProfileSide,
    columns: tuple[int, int],
    worth: tuple[float, float],
) -> float | None:
    """Return the ratio of new to base, in samples, that most functions share.

    It is the median over functions, weighted by flat samples but capped at a few
    hundred: the largest function may be what changed. None if too few functions have
    enough samples.
    """
    of_sides = []
    for side, column, one in zip((base, new), columns, worth, strict=True):
        counts = counts_by_run(side, column, one, None).counts[:-1].sum(axis=1)
        names = dict.fromkeys(side.profile.function_names())
        of_sides.append(dict(zip(names, counts.tolist(), strict=True)))
    pairs = np.array(
        [
            (old, of_sides[1][name])
            for name, old in of_sides[0].items()
            if name in of_sides[1]
        ],
        np.float64,
    ).reshape(-1, 2)
    pairs = pairs[(pairs.sum(axis=1) >= _TELLING) & (pairs.min(axis=1) > 0)]
    if len(pairs) < _SEVERAL:
        return None
    ratios = pairs[:, 1] / pairs[:, 0]
    return weighted_median(ratios, np.minimum(pairs.sum(axis=1), _CAPPED))


def _leaves(profile: Profile, names: Sequence[str]) -> NDArray[np.int64]:
    """Return each sample's leaf function, -1 for none.

    A preempted stack counts towards the preempted function: how often preemption is
    sampled depends on how busy the machine is.
    """
    stopping = np.array([*(name == STOPPED for name in names), False], np.bool_)
    # Only the first two frames matter, and a location has at least one.
    counts = np.minimum(np.diff(profile.stack_offsets), 2)
    first_two = profile.stack_locations[expand(profile.stack_offsets[:-1], counts)]
    offsets = offsets_of(counts)
    tops = replace(profile, stack_offsets=offsets, stack_locations=first_two)
    frames = tops.frames()
    function = np.append(profile.locations.line_function, -1)
    first, ends = frames.offsets[:-1], frames.offsets[1:]
    lines = np.append(frames.line, -1)
    top = np.where(ends > first, function[lines[first]], -1)
    deeper = stopping[top] & (first + 1 < ends)
    below = function[lines[np.where(deeper, first + 1, first)]]
    return np.where(deeper, below, top).astype(np.int64)


def operations_of_both(base: ProfileSide, new: ProfileSide) -> tuple[int, int] | None:
    """Return the operations in all runs of each side, None if not counted."""
    counted = counted_exposures(base, new)
    return None if counted is None else (int(counted[0].sum()), int(counted[1].sum()))


def counted_exposures(
    base: ProfileSide, new: ProfileSide
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the operations of each run, None if a profile does not count them."""
    sides = []
    for side in (base, new):
        done = [operations_of(capture.content) for capture in side.runs]
        counts = [one.number for one in done if one is not None]
        if not counts or len(counts) < len(done):
            return None
        sides.append(np.array(counts, np.float64))
    return sides[0], sides[1]


def exposures_of(
    work: Work | None, base: ProfileSide, new: ProfileSide
) -> tuple[Exposure, Exposure]:
    """Return the operations of each run on each side, as far as known."""
    counted = counted_exposures(base, new)
    if counted is not None or work is None:
        return counted or (None, None)
    return _exposure(work, 0, base), _exposure(work, 1, new)


def _exposure(work: Work, number: int, side: ProfileSide) -> Exposure:
    rates = work.by_run[number]
    done = [
        rates.get(capture.run, 0.0) * (capture.content.duration_ns or 0) / 1e9
        for capture in side.runs
    ]
    return np.array(done) if done and min(done) > 0 else None
