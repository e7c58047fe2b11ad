"""What a row stands for: a function, source line, file or package."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.nodes import frame_keys
from pprofdiff.goruntime.names import package_of
from pprofdiff.identity.model import SAME_NAMES, SideKeys
from pprofdiff.identity.rows import Pairing, pair_names
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import Profile

NO_STACK = "<no stack>"

Granularity = Literal["functions", "lines", "files", "packages"]

Key = Callable[[int], Hashable | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SideRows:
    """One side's rows at a granularity.

    `names` are for display. `files` is the source file of each row, ``""`` if it is not
    in a single file. `exact` holds distinct keys: rows with equal keys on both sides
    are the same. Each function in `loose` maps a row number to a looser key (None: no
    key) for pairing the remaining rows. `ids` (int32) maps each row of
    `Locations.line_function` to its row here.
    """

    names: list[str]
    files: list[str]
    exact: Sequence[Hashable]
    loose: tuple[Key, ...]
    ids: NDArray[np.int32]


def side_rows(
    profile: Profile,
    granularity: Granularity,
    keys: SideKeys = SAME_NAMES.sides[1],
) -> SideRows:
    """Return a profile's functions, lines, files or packages as rows.

    `keys` identify functions and packages across both sides.

    The last row, named `NO_STACK`, stands for samples without frames, so that flat adds
    up to the total.
    """
    rows = _ROWS[granularity](profile, keys)
    return replace(
        rows,
        names=[*rows.names, NO_STACK],
        files=[*rows.files, ""],
        # A tuple differs from the name of any function, file or package.
        exact=[*rows.exact, (NO_STACK,)],
    )


def pair_side_rows(base: SideRows, new: SideRows) -> Pairing:
    """Pair two sides' rows by exact key first, then by each looser key."""
    return pair_names(
        base.exact, new.exact, list(zip(base.loose, new.loose, strict=True))
    )


def _functions(profile: Profile, keys: SideKeys) -> SideRows:
    nodes, ids = frame_keys(profile, "functions")
    names = [node[0] for node in nodes]
    files = _files_of_functions(profile)
    shown = [files.get(name, "") for name in names]
    return SideRows(names, shown, [keys.function(name) for name in names], (), ids)


def _files_of_functions(profile: Profile) -> dict[str, str]:
    """Return the source file of the first function of each name, `""` if unknown."""
    strings, functions = profile.strings, profile.functions
    names = [strings[i] for i in functions.name.tolist()]
    files = [strings[i] for i in functions.filename.tolist()]
    first = dict.fromkeys(names, "")
    first.update(zip(reversed(names), reversed(files), strict=True))
    return first


def _lines(profile: Profile, keys: SideKeys) -> SideRows:
    nodes, ids = frame_keys(profile, "lines")
    names = [f"{name} {file}:{line}" for name, file, line in nodes]
    exact = [(keys.function(name), file, line) for name, file, line in nodes]

    def place(row: int) -> Hashable:
        # The same line when built in another directory.
        function, file, line = exact[row]
        return function, basename(file), line

    return SideRows(names, [file for _, file, _ in nodes], exact, (place,), ids)


def _files(profile: Profile, keys: SideKeys) -> SideRows:
    nodes, ids = frame_keys(profile, "files")
    names = [file or name for name, file, _ in nodes]
    packages: dict[str, str] = {}
    for name, file in _files_of_functions(profile).items():
        packages.setdefault(file, package_of(name))

    def place(row: int) -> Hashable | None:
        # Package and base name identify a file across build directories.
        package = packages.get(names[row])
        name = basename(names[row])
        return (keys.packages.get(package, package), name) if package else None

    return SideRows(names, names, names, (place,), ids)


def _packages(profile: Profile, keys: SideKeys) -> SideRows:
    nodes, ids = frame_keys(profile, "functions")
    distinct, (rows,) = numbered(
        [package_of(node[0]) or "<no package>" for node in nodes]
    )
    names = list(distinct)

    def key(row: int) -> Hashable | None:
        return keys.packages.get(names[row])

    return SideRows(names, [""] * len(names), names, (key,), rows[ids])


_ROWS: dict[Granularity, Callable[[Profile, SideKeys], SideRows]] = {
    "functions": _functions,
    "lines": _lines,
    "files": _files,
    "packages": _packages,
}


def first_lines(profile: Profile) -> dict[tuple[str, str], int]:
    """Return the start line of each (function, file), if the profile has it."""
    strings, functions = profile.strings, profile.functions
    begins = np.flatnonzero(functions.start_line > 0)
    columns = (functions.name, functions.filename, functions.start_line)
    return {
        (strings[name], strings[file]): line
        for name, file, line in zip(*(c[begins].tolist() for c in columns), strict=True)
    }
