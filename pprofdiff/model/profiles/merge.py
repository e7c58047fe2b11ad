"""Add and subtract profiles by the rules of ``go tool pprof``.

Equality follows profile/merge.go of github.com/google/pprof: functions with the same
start line, name, system name and file; mappings with the same size (in pages), offset
and build ID or file; locations at the same address of a mapping, with equal lines;
samples with the same stack and labels. Samples whose values are all 0 are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.model.csr import (
    offsets_of,
    sums,
    unique_rows,
)
from pprofdiff.model.profiles.profile import Labels, Profile
from pprofdiff.model.profiles.sample_types import scaled, with_common_types
from pprofdiff.model.profiles.tables import header_of, joined, pruned, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pprofdiff.model.arrays import Column, Mask

# The label, with value "true", that pprof's -diff_base gives the base's samples.
BASE_LABEL = "pprof::base"


def merge(profiles: Sequence[Profile]) -> Profile:
    """Return the sum of the profiles; for a single one, drop repeated sample types.

    Raises UsageError without profiles, IncompatibleProfilesError for types that cannot
    be compared.
    """
    alike = _alike(profiles)
    if len(alike) == 1:
        return alike[0]
    return pruned(_summed(joined(alike)))


def merge_apart(profiles: Sequence[Profile]) -> Profile:
    """Return the sum of the profiles, with the values of each profile appended.

    The columns are the T sample types of `merge`, then the same T of each of the K
    profiles: int64 of shape (samples, T + K T), one column after the other in memory.
    Raises what `merge` raises.
    """
    alike = _alike(profiles)
    types, count = alike[0].sample_types, len(alike)
    if shared(alike):
        return _stacked(alike)
    own = np.repeat(np.arange(count), [len(profile) for profile in alike])
    profile = joined(alike)
    some = np.flatnonzero(profile.values.any(axis=1))
    profile, own = _taken(profile, some), own[some]
    first, group = equal_samples(profile)
    # Allocate only now: all profiles' samples far outnumber the distinct ones.
    values = np.empty((1 + count, len(types), len(first)), np.int64)
    cells = own * len(first) + group
    for column in range(len(types)):
        summed = sums(cells, profile.values[:, column], len(first) * count)
        values[1:, column] = summed.reshape(count, len(first))
    values[0] = values[1:].sum(axis=0)
    left = np.flatnonzero(values[0].any(axis=0))
    columns = values.reshape((1 + count) * len(types), len(first))
    flat = columns[:, left] if len(left) < len(first) else columns
    merged = _taken(profile, first[left])
    return pruned(
        replace(merged, sample_types=types * (1 + count), values=flat.T),
    )


def _stacked(profiles: Sequence[Profile]) -> Profile:
    """Like `merge_apart`, for profiles that share tables and stacks."""
    types, count = profiles[0].sample_types, len(profiles)
    values = np.empty((1 + count, len(types), len(profiles[0])), np.int64)
    np.stack([profile.values.T for profile in profiles], out=values[1:])
    values[0] = values[1:].sum(axis=0)
    whole = replace(
        profiles[0],
        sample_types=types * (1 + count),
        values=values.reshape((1 + count) * len(types), len(profiles[0])).T,
        **header_of(profiles),
    )
    left = np.flatnonzero(values[0].any(axis=0))
    return whole if len(left) == len(whole) else pruned(whole.take(left))


def with_shared_added(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles, with those that share stacks and sample types summed."""
    groups: list[list[Profile]] = []
    for profile in profiles:
        for several in groups:
            alike = several[0].sample_types == profile.sample_types
            if alike and shared([several[0], profile]):
                several.append(profile)
                break
        else:
            groups.append([profile])
    return [
        several[0]
        if len(several) == 1
        else several[0].with_values(np.sum([p.values for p in several], axis=0))
        for several in groups
    ]


def _alike(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles with common types; raises what `merge` raises."""
    if not profiles:
        raise UsageError("there is no profile to merge; name at least one")
    return with_common_types(profiles)


def subtract(new: Profile, base: Profile, *, label: bool) -> Profile:
    """Return new minus base, both of one kind.

    `label` adds ``pprof::base`` = ``true`` to base's samples, which keeps them separate
    from new's, as with pprof's ``-diff_base``. Without it equal stacks cancel, as with
    ``-base``. Raises IncompatibleProfilesError for types that cannot be compared.
    """
    negated = base.with_values(-base.values)
    return merge([new, _labelled(negated) if label else negated])


def normalized(new: Profile, base: Profile) -> Profile:
    """Return `new` scaled so that each sample type's total is the base's.

    Values are rounded half away from zero; a type with total 0 becomes 0. Raises
    IncompatibleProfilesError unless sample types, period types and units are the same.
    """
    if (new.sample_types, new.period_type) != (base.sample_types, base.period_type):
        raise IncompatibleProfilesError(
            "to normalize, both sides need the same sample types and units, but they "
            f"have {_types_of(new)} and {_types_of(base)}"
        )
    totals = base.values.sum(axis=0).tolist(), new.values.sum(axis=0).tolist()
    ratios = [b / n if n else 0.0 for b, n in zip(*totals, strict=True)]
    return scaled(new, ratios)


def base_samples(profile: Profile) -> Mask:
    """Return which samples (bool, one each) are marked as the base of a diff."""
    marked = np.zeros(len(profile), np.bool_)
    if BASE_LABEL in profile.strings:
        strings, labels = profile.strings, profile.labels
        keys = [i for i, s in enumerate(strings) if s == BASE_LABEL]
        texts = [i for i, s in enumerate(strings) if s == "true"]
        rows = np.isin(labels.key, keys) & np.isin(labels.text, texts)
        marked[labels.sample[rows]] = True
    return marked


def is_diff(profile: Profile) -> bool:
    """Return whether a labelled diff wrote the profile (see `subtract`)."""
    return bool(base_samples(profile).any())


def _types_of(profile: Profile) -> str:
    types = " ".join(f"{t.type}/{t.unit}" for t in profile.sample_types)
    period = profile.period_type
    return f"{types} (period {period.type}/{period.unit})" if period else types


def _labelled(profile: Profile) -> Profile:
    """Return the profile with every sample marked as the base's."""
    size, labels = len(profile), profile.labels
    strings = [*profile.strings, BASE_LABEL, "true"]
    key, text = len(strings) - 2, len(strings) - 1
    older = [i for i, s in enumerate(profile.strings) if s == BASE_LABEL]
    others = np.flatnonzero(~np.isin(labels.key, older) | (labels.text == 0))
    samples = np.concatenate((np.arange(size), labels.sample[others]))
    order = np.argsort(samples, kind="stable")

    def column(mark: int, column: NDArray[Any]) -> NDArray[Any]:
        marks = np.full(size, mark, column.dtype)
        return np.concatenate((marks, column[others]))[order]

    marked = Labels(
        samples[order],
        column(key, labels.key),
        column(text, labels.text),
        column(0, labels.number),
        column(0, labels.unit),
    )
    return replace(profile, strings=tuple(strings), labels=marked)


def equal_samples(profile: Profile) -> tuple[Column, Column]:
    """Group samples with equal stacks and labels; (first, group) as `unique_rows`."""
    stacks = profile.stack_offsets, (profile.stack_locations,)
    return unique_rows(*stacks, _label_sets(profile))


def _summed(profile: Profile) -> Profile:
    """Return the profile with equal samples summed, and all-zero ones removed."""
    profile = _taken(profile, np.flatnonzero(profile.values.any(axis=1)))
    first, group = equal_samples(profile)
    if len(first) == len(group):
        return profile
    values = np.empty((len(first), profile.values.shape[1]), np.int64)
    for column in range(values.shape[1]):
        values[:, column] = sums(group, profile.values[:, column], len(first))
    left = np.flatnonzero(values.any(axis=1))
    return _taken(profile, first[left]).with_values(values[left])


def _taken(profile: Profile, samples: Column) -> Profile:
    """Return the chosen samples, in increasing order; the profile itself if all."""
    return profile if len(samples) == len(profile) else profile.take(samples)


def _label_sets(profile: Profile) -> tuple[Column, ...]:
    """Return a column of equal numbers (int64) for samples' equal labels, if any.

    The order of keys does not matter; the order of one key's values does.
    """
    labels = profile.labels
    if not len(labels):
        return ()
    numeric = labels.text == 0
    order = np.lexsort((labels.key, numeric, labels.sample))
    columns = (labels.key, labels.text, labels.number, labels.unit)
    counts = np.bincount(labels.sample, minlength=len(profile))
    _, sets = unique_rows(offsets_of(counts), [column[order] for column in columns])
    return (sets,)
