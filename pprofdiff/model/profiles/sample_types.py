"""Convert several profiles to common sample types and units."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError
from pprofdiff.model.profiles.profile import Profile, ValueType
from pprofdiff.units import common_unit, comparable, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pprofdiff.model.arrays import Column


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
    """Return the types that each profile has once, in the first's order."""
    seen = Counter(t.type for p in profiles for t in p.sample_types)
    return [k.type for k in profiles[0].sample_types if seen[k.type] == len(profiles)]


def _cut(profile: Profile, names: list[str]) -> Profile:
    """Return the profile with these sample types only, in this order."""
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
