"""Name functions that lack a name in one of several profiles of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pprofdiff.model.profiles.profile import Profile


def with_names(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the profiles with names for functions that another one names.

    Go's runtime/pprof has no name for the function that the linker placed first, but
    its file and first line. Where the linker lays out functions in different orders,
    other runs have its name.
    """
    lacking = [_nameless(profile) for profile in profiles]
    if len(profiles) < 2 or not any(map(len, lacking)):
        return list(profiles)
    names: dict[tuple[str, int], set[str]] = {}
    for profile in profiles:
        for name, file, line in _declared(profile, range(len(profile.functions))):
            if name:
                names.setdefault((file, line), set()).add(name)
    found = []
    for profile, rows in zip(profiles, lacking, strict=True):
        strings, functions = list(profile.strings), profile.functions
        column = functions.name.copy()
        declared = _declared(profile, rows.tolist())
        for row, (_, file, line) in zip(rows.tolist(), declared, strict=True):
            known = names.get((file, line), set())
            if len(known) == 1:
                column[row] = len(strings)
                strings += known
        named = replace(functions, name=column, system_name=column)
        changed = len(strings) > len(profile.strings)
        found.append(
            replace(profile, strings=tuple(strings), functions=named)
            if changed
            else profile
        )
    return found


def _nameless(profile: Profile) -> NDArray[np.int64]:
    """Return the functions without a name whose first line is known, as rows."""
    functions = profile.functions
    empty = [i for i, text in enumerate(profile.strings) if not text]
    nameless = np.isin(functions.name, empty) & ~np.isin(functions.filename, empty)
    return np.flatnonzero(nameless & (functions.start_line > 0))


def _declared(profile: Profile, rows: Sequence[int]) -> list[tuple[str, str, int]]:
    """Return functions' names, files and first lines."""
    functions, strings = profile.functions, profile.strings
    return [
        (
            strings[functions.name[row]],
            strings[functions.filename[row]],
            int(functions.start_line[row]),
        )
        for row in rows
    ]
