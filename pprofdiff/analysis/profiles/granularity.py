"""What a row of a table stands for: a function, source line, file or package."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from posixpath import basename
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.graph import frame_keys
from pprofdiff.goruntime.names import canonical_user, match_keys, package_of
from pprofdiff.identity.names import Pairing, pair_names
from pprofdiff.model.profiles.profile import Profile

__all__ = ["GRANULARITIES", "NO_STACK", "SideRows", "pair_side_rows", "side_rows"]

NO_STACK = "<no stack>"

GRANULARITIES = ("functions", "lines", "files", "packages")

Key = Callable[[int], Hashable | None]


class SideRows(NamedTuple):
    """One side's rows at a granularity.

    `ids` (int32) gives each location line its row. `names` are shown; `exact` tells
    rows of two builds apart, and each of `loose` gives a row a looser key (None: no
    key) to pair what has no partner. `files` is "" where a row is not in one file.
    """

    names: list[str]
    files: list[str]
    exact: Sequence[Hashable]
    loose: tuple[Key, ...]
    ids: NDArray[np.int32]


def side_rows(profile: Profile, granularity: str) -> SideRows:
    """Return the rows of one of `GRANULARITIES`.

    The last one, `NO_STACK`, is for samples without a frame: so flat adds up.
    """
    rows = _LEVELS[granularity](profile)
    return rows._replace(
        names=[*rows.names, NO_STACK],
        files=[*rows.files, ""],
        # A tuple: no function, file or package can be it, whatever its name.
        exact=[*rows.exact, (NO_STACK,)],
    )


def pair_side_rows(base: SideRows, new: SideRows) -> Pairing:
    """Pair two sides' rows: exact names first, then each looser key in turn."""
    return pair_names(
        base.exact, new.exact, list(zip(base.loose, new.loose, strict=True))
    )


def _functions(profile: Profile) -> SideRows:
    keys, ids = frame_keys(profile, "functions")
    names = [key[0] for key in keys]
    files = _files_of_functions(profile)

    def key(row: int) -> Hashable:
        return match_keys(names[row])

    shown = [files.get(name, "") for name in names]
    return SideRows(names, shown, names, (key,), ids)


def _files_of_functions(profile: Profile) -> dict[str, str]:
    """Return the file of the first function of each name."""
    strings, functions = profile.strings, profile.functions
    files: dict[str, str] = {}
    for name, file in zip(
        functions.name.tolist(), functions.filename.tolist(), strict=True
    ):
        files.setdefault(strings[name], strings[file])
    return files


def _lines(profile: Profile) -> SideRows:
    keys, ids = frame_keys(profile, "lines")
    names = [f"{name} {file}:{line}" for name, file, line in keys]

    def place(row: int) -> Hashable:
        # The same line, built in another directory.
        name, file, line = keys[row]
        return name, basename(file), line

    def user_place(row: int) -> Hashable:
        name, file, line = keys[row]
        return canonical_user(name), basename(file), line

    return SideRows(
        names, [file for _, file, _ in keys], keys, (place, user_place), ids
    )


def _files(profile: Profile) -> SideRows:
    keys, ids = frame_keys(profile, "files")
    names = [file or name for name, file, _ in keys]
    packages: dict[str, str] = {}
    for name, file in _files_of_functions(profile).items():
        packages.setdefault(file, package_of(name))

    def place(row: int) -> Hashable | None:
        # A file is the same in another build directory: package and name tell it.
        package = packages.get(names[row])
        return (package, basename(names[row])) if package else None

    return SideRows(names, names, names, (place,), ids)


def _packages(profile: Profile) -> SideRows:
    keys, ids = frame_keys(profile, "functions")
    place: dict[str, int] = {}
    packages = [package_of(key[0]) or "<no package>" for key in keys]
    rows = [place.setdefault(package, len(place)) for package in packages]
    names = list(place)
    return SideRows(names, [""] * len(names), names, (), np.array(rows, np.int32)[ids])


_LEVELS = {
    "functions": _functions,
    "lines": _lines,
    "files": _files,
    "packages": _packages,
}
