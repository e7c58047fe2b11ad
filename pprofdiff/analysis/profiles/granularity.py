"""What a row of a table stands for: a function, source line, file or package."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.nodes import frame_keys
from pprofdiff.goruntime.names import canonical_user, match_keys, package_of
from pprofdiff.identity.names import Pairing, pair_names
from pprofdiff.model.profiles.profile import Profile

__all__ = ["NO_STACK", "Granularity", "SideRows", "pair_side_rows", "side_rows"]

NO_STACK = "<no stack>"

Granularity = Literal["functions", "lines", "files", "packages"]

Key = Callable[[int], Hashable | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SideRows:
    """One side's rows at a granularity.

    `names` are shown to people. `files` is the source file of each row, ``""`` where
    a row is not in one file. `exact` are distinct keys: rows of two sides with equal
    keys are the same. Each function of `loose` gives a row number a looser key, by
    which rows without such a partner are paired (None: no key). `ids` (int32) gives
    each row of `Locations.line_function` its row here.
    """

    names: list[str]
    files: list[str]
    exact: Sequence[Hashable]
    loose: tuple[Key, ...]
    ids: NDArray[np.int32]


def side_rows(profile: Profile, granularity: Granularity) -> SideRows:
    """Return a profile's rows: its functions, lines, files or packages.

    One more row, the last, is named `NO_STACK`: it stands for samples that have no
    frame, so that flat adds up to the total.
    """
    rows = _ROWS[granularity](profile)
    return replace(
        rows,
        names=[*rows.names, NO_STACK],
        files=[*rows.files, ""],
        # A tuple: no function, file or package can be it, whatever its name.
        exact=[*rows.exact, (NO_STACK,)],
    )


def pair_side_rows(base: SideRows, new: SideRows) -> Pairing:
    """Pair two sides' rows: by their exact keys first, then by each looser key."""
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


_ROWS: dict[Granularity, Callable[[Profile], SideRows]] = {
    "functions": _functions,
    "lines": _lines,
    "files": _files,
    "packages": _packages,
}
