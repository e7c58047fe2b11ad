"""What a row of a table stands for: a function, source line, file or package."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.nodes import frame_keys
from pprofdiff.goruntime.names import (
    alias,
    canonical_parts,
    canonical_user,
    is_runtime_like,
    lookup,
    moved_key,
    package_of,
    strip_type_arguments,
)
from pprofdiff.goruntime.versions import Span, apart, infer_go_version, lacks
from pprofdiff.identity.moves import NO_MOVES
from pprofdiff.identity.names import Pairing, pair_names
from pprofdiff.model.profiles.profile import Profile

__all__ = [
    "NO_STACK",
    "Granularity",
    "Packages",
    "SideRows",
    "files_of_functions",
    "pair_side_rows",
    "side_rows",
]

NO_STACK = "<no stack>"

Granularity = Literal["functions", "lines", "files", "packages"]

Key = Callable[[int], Hashable | None]
Packages = Mapping[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SideRows:
    """One side's rows at a granularity.

    `names` are shown to people. `files` is the source file of each row, ``""`` where
    a row is not in one file. `exact` are distinct keys: rows of two sides with equal
    keys are the same. Each function of `loose` gives a row number a looser key, by
    which rows without such a partner are paired (None: no key). `ids` (int32) gives
    each row of `Locations.line_function` its row here. `functions` tells that `names`
    are those of functions, of which the runtime's have other names in other releases.
    """

    names: list[str]
    files: list[str]
    exact: Sequence[Hashable]
    loose: tuple[Key, ...]
    ids: NDArray[np.int32]
    functions: bool = False


def side_rows(
    profile: Profile,
    granularity: Granularity,
    packages: Packages = NO_MOVES.of_new,
) -> SideRows:
    """Return a profile's rows: its functions, lines, files or packages.

    `packages` are those that moved, with the import paths under which their rows are
    paired: `Moves.of_base` or `Moves.of_new`.

    One more row, the last, is named `NO_STACK`: it stands for samples that have no
    frame, so that flat adds up to the total.
    """
    rows = _ROWS[granularity](profile, packages)
    return replace(
        rows,
        names=[*rows.names, NO_STACK],
        files=[*rows.files, ""],
        # A tuple: no function, file or package can be it, whatever its name.
        exact=[*rows.exact, (NO_STACK,)],
    )


def pair_side_rows(base: SideRows, new: SideRows) -> Pairing:
    """Pair two sides' rows: by their exact keys first, then by each looser key.

    Functions of the runtime are paired by `alias` where the releases that can have
    built a side lack the name on the other one, so that a release has renamed it.
    """
    keys = list(zip(base.loose, new.loose, strict=True))
    if base.functions and new.functions:
        keys += _renamed(base.names, new.names)
    return pair_names(base.exact, new.exact, keys)


def _renamed(base: list[str], new: list[str]) -> list[tuple[Key, Key]]:
    """Return keys of functions of the runtime that another release has renamed."""
    spans = infer_go_version(base), infer_go_version(new)

    def present(names: list[str]) -> Key:
        return lambda row: alias(names[row]) if is_runtime_like(names[row]) else None

    def gone(names: list[str], other: Span) -> Key:
        key = present(names)
        return lambda row: key(row) if lacks(other, names[row]) else None

    def plain(names: list[str]) -> Key:
        return lambda row: (
            lookup(names[row])[0] if is_runtime_like(names[row]) else None
        )

    keys = [
        (gone(base, spans[1]), present(new)),
        (present(base), gone(new, spans[0])),
    ]
    # Closures and inlined copies of one function are named anew in each release.
    return [*keys, (plain(base), plain(new))] if apart(*spans) else keys


def _functions(profile: Profile, packages: Packages) -> SideRows:
    keys, ids = frame_keys(profile, "functions")
    names = [key[0] for key in keys]
    files = files_of_functions(profile)

    def moved(row: int) -> Hashable | None:
        return moved_key(names[row], packages)

    def moved_generic(row: int) -> Hashable | None:
        return moved_key(strip_type_arguments(names[row]), packages)

    def key(row: int) -> Hashable | None:
        name = names[row]
        return None if is_runtime_like(name) else canonical_user(name, packages)

    shown = [files.get(name, "") for name in names]
    return SideRows(
        names, shown, names, (moved, moved_generic, key), ids, functions=True
    )


def files_of_functions(profile: Profile) -> dict[str, str]:
    """Return the source file of the first function of each name, `""` if unknown."""
    strings, functions = profile.strings, profile.functions
    files: dict[str, str] = {}
    for name, file in zip(
        functions.name.tolist(), functions.filename.tolist(), strict=True
    ):
        files.setdefault(strings[name], strings[file])
    return files


def _lines(profile: Profile, packages: Packages) -> SideRows:
    keys, ids = frame_keys(profile, "lines")
    names = [f"{name} {file}:{line}" for name, file, line in keys]

    def place(row: int) -> Hashable:
        # The same line, built in another directory.
        name, file, line = keys[row]
        return name, basename(file), line

    def user_place(row: int) -> Hashable:
        name, file, line = keys[row]
        path, rest = canonical_parts(name)
        return packages.get(path, path), rest, basename(file), line

    return SideRows(
        names, [file for _, file, _ in keys], keys, (place, user_place), ids
    )


def _files(profile: Profile, moved: Packages) -> SideRows:
    keys, ids = frame_keys(profile, "files")
    names = [file or name for name, file, _ in keys]
    packages: dict[str, str] = {}
    for name, file in files_of_functions(profile).items():
        packages.setdefault(file, package_of(name))

    def place(row: int) -> Hashable | None:
        # A file is the same in another build directory: package and name tell it.
        package = packages.get(names[row])
        name = basename(names[row])
        return (moved.get(package, package), name) if package else None

    return SideRows(names, names, names, (place,), ids)


def _packages(profile: Profile, moved: Packages) -> SideRows:
    keys, ids = frame_keys(profile, "functions")
    place: dict[str, int] = {}
    packages = [package_of(key[0]) or "<no package>" for key in keys]
    rows = [place.setdefault(package, len(place)) for package in packages]
    names = list(place)

    def key(row: int) -> Hashable | None:
        return moved.get(names[row])

    return SideRows(
        names, [""] * len(names), names, (key,), np.array(rows, np.int32)[ids]
    )


_ROWS: dict[Granularity, Callable[[Profile, Packages], SideRows]] = {
    "functions": _functions,
    "lines": _lines,
    "files": _files,
    "packages": _packages,
}
