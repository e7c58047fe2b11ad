"""Add and subtract profiles by the rules of ``go tool pprof``.

Equality follows profile/merge.go of github.com/google/pprof: functions with the same
start line, name, system name and file; mappings with the same size (in pages), offset
and build ID or file; locations at the same address of a mapping, with equal lines;
samples with the same stack and labels. Samples whose values are all 0 are dropped.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.model.csr import (
    offsets_of,
    sums,
    unique_rows,
)
from pprofdiff.model.profiles.profile import Labels, Profile, ValueType
from pprofdiff.model.profiles.tables import header_of, joined, pruned, shared
from pprofdiff.units import common_unit, comparable, scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from pprofdiff.model.arrays import Column, Mask
    from pprofdiff.model.profiles.profile import Profile

# The label, with value "true", that pprof's -diff_base gives the base's samples.
BASE_LABEL = "pprof::base"


def with_common_types(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles with only the sample types that all of them have.

    Types are matched by name and keep the first profile's order. Values and periods are
    scaled to the finest unit that any profile uses for them. Raises
    IncompatibleProfilesError if none is common, or units or period types differ.
    """
    names = _common_names(profiles)
    if not names:
        spelled = "; ".join(_spelled(p.sample_types) for p in profiles)
        raise IncompatibleProfilesError(
            f"the profiles have no sample type in common ({spelled}); "
            "compare profiles of one kind"
        )
    cut = [_cut(profile, names) for profile in profiles]
    if len(cut) == 1:
        return cut
    units = [_common([p.sample_types[i] for p in cut]) for i in range(len(names))]
    period_types = [p.period_type or ValueType("", "") for p in cut]
    period_unit = _common(period_types)
    return [_in_units(p, units, period_unit) for p in cut]


def _spelled(types: Sequence[ValueType]) -> str:
    return " ".join(f"{t.type}/{t.unit}" for t in types) or "none"


def _common_names(profiles: Sequence[Profile]) -> list[str]:
    seen = Counter(t.type for p in profiles for t in p.sample_types)
    return [k.type for k in profiles[0].sample_types if seen[k.type] == len(profiles)]


def _cut(profile: Profile, names: list[str]) -> Profile:
    types = [t.type for t in profile.sample_types]
    if types == names:
        return profile
    places = [types.index(name) for name in names]
    default = profile.default_sample_type
    return replace(
        profile,
        sample_types=tuple(profile.sample_types[i] for i in places),
        values=profile.values[:, places],
        default_sample_type=default if default in names else names[0],
    )


def _common(types: Sequence[ValueType]) -> str:
    first = types[0]
    for other in types[1:]:
        if other.type != first.type or not comparable(other.unit, first.unit):
            raise IncompatibleProfilesError(
                f"{_spelled([first])} and {_spelled([other])} cannot be compared; "
                "compare profiles of one kind"
            )
    return common_unit([t.unit for t in types])


def _in_units(profile: Profile, units: list[str], period_unit: str) -> Profile:
    pairs = list(zip(profile.sample_types, units, strict=True))
    ratios = [scale(1, t.unit, unit)[0] for t, unit in pairs]
    sample_types = tuple(ValueType(t.type, unit) for t, unit in pairs)
    if sample_types != profile.sample_types:
        profile = replace(scaled(profile, ratios), sample_types=sample_types)
    sampled = profile.period_type
    if sampled is not None and sampled.unit != period_unit:
        period = int(scale(profile.period or 0, sampled.unit, period_unit)[0])
        sampled = ValueType(sampled.type, period_unit)
        profile = replace(profile, period_type=sampled, period=period or None)
    return profile


def rounded(values: Column, ratio: float) -> Column:
    """Return ``values * ratio`` (int64), rounded half away from zero as in Go."""
    products = values.astype(np.float64) * ratio
    whole = np.trunc(products)
    whole += np.copysign(np.abs(products - whole) >= 0.5, products)
    return whole.astype(np.int64)


def scaled(profile: Profile, ratios: Sequence[float]) -> Profile:
    """Return the profile with each sample type multiplied by its ratio, rounded.

    Unlike ``go tool pprof``, this keeps every sample that has a nonzero value.
    """
    if all(ratio == 1 for ratio in ratios):
        return profile
    values = profile.values.copy()
    for column, ratio in enumerate(ratios):
        if ratio != 1:
            values[:, column] = rounded(profile.values[:, column], ratio)
    return profile.with_values(values)


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


def with_names(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles with names for functions that another one names.

    Go's runtime/pprof has no name for the function that the linker placed first, but
    its file and first line. Where the linker lays out functions in different orders,
    other runs have its name.
    """
    lacking = [_nameless(profile) for profile in profiles]
    if len(profiles) == 1 or not any(map(len, lacking)):
        return list(profiles)
    names: dict[tuple[str, int], set[str]] = {}
    for profile in profiles:
        functions, strings = profile.functions, profile.strings
        for row in np.flatnonzero(functions.name).tolist():
            known = names.setdefault(_declared(profile, row), set())
            known.add(strings[functions.name[row]])
    return [
        _named(profile, rows.tolist(), names)
        for profile, rows in zip(profiles, lacking, strict=True)
    ]


def _named(
    profile: Profile, rows: Sequence[int], names: Mapping[tuple[str, int], set[str]]
) -> Profile:
    strings, functions = list(profile.strings), profile.functions
    name, system_name = functions.name.copy(), functions.system_name.copy()
    for row in rows:
        known = names.get(_declared(profile, row), set())
        if len(known) == 1:
            name[row] = system_name[row] = len(strings)
            strings += known
    named = replace(functions, name=name, system_name=system_name)
    return replace(profile, strings=tuple(strings), functions=named)


def _nameless(profile: Profile) -> Column:
    """Return the functions without a name whose first line is known, as rows."""
    functions = profile.functions
    known = (functions.filename > 0) & (functions.start_line > 0)
    return np.flatnonzero(known & (functions.name == 0))


def _declared(profile: Profile, row: int) -> tuple[str, int]:
    functions = profile.functions
    return profile.strings[functions.filename[row]], int(functions.start_line[row])
