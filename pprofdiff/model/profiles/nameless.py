"""Name functions that lack a name in one of several profiles of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pprofdiff.model.arrays import Column
    from pprofdiff.model.profiles.profile import Profile


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
    """Return a profile with names for `rows` where only one is known."""
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
