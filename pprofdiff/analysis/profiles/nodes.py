"""Maps frames to nodes: functions, files, source lines or addresses.

Nodes are identified by printed attributes alone, as in ``go tool pprof``
(internal/graph of github.com/google/pprof): two functions of the same name are one node
unless the granularity includes the file.
"""

from __future__ import annotations

import posixpath
from itertools import compress
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.errors import UsageError
from pprofdiff.model.csr import first_places, unique_tuples
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import Profile

# Parts of a frame that each granularity keeps: function, file, line, address/column.
GRANULARITIES: dict[str, tuple[bool, bool, bool, bool]] = {
    "functions": (True, False, False, False),
    "filefunctions": (True, True, False, False),
    "files": (False, True, False, False),
    "lines": (True, True, True, False),
    "addresses": (True, True, True, True),
}

# A frame for display: function (or "[binary]", "<unknown>"), file, line.
FrameKey = tuple[str, str, int]
Ids = NDArray[np.int32]
Values = NDArray[np.int64]

_SELF = ("/proc/self/cwd/./", "/proc/self/cwd/")


class Nodes(Struct, frozen=True, eq=False):
    """The distinct nodes of a profile at one granularity, one row each.

    What the granularity omits is 0. `binary` and `start_line` are set only if there is
    no function name.
    """

    name: tuple[str, ...]
    file: tuple[str, ...]
    binary: tuple[str, ...]
    start_line: Values
    line: Values
    column: Values
    address: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.name)

    def printable(self, node: int) -> str:
        """Return the node's name as pprof prints it."""
        parts = [f"{self.address[node]:016x}"] if self.address[node] else []
        name, file, line = self.name[node], self.file[node], int(self.line[node])
        if name:
            parts.append(name)
        if line:
            column = f":{self.column[node]}" if self.column[node] else ""
            parts.append(f"{file}:{line}{column}")
        elif file:
            parts.append(file)
        elif not name:
            parts.append(_binary_name(self.binary[node]))
        return " ".join(parts)


def _binary_name(path: str) -> str:
    return f"[{posixpath.basename(path.rstrip('/')) or '/'}]" if path else "<unknown>"


def outermost(profile: Profile) -> Profile:
    """Return the profile without inlined frames: the last line of each location."""
    locations = profile.locations
    last = locations.line_offsets[1:] - 1
    if len(last) == len(locations.line_function):
        return profile
    return replace(
        profile,
        locations=replace(
            locations,
            line_offsets=np.arange(len(last) + 1, dtype=np.int64),
            line_function=locations.line_function[last],
            line_number=locations.line_number[last],
            line_column=locations.line_column[last],
        ),
    )


def cleaned_path(path: str) -> str:
    """Return the path as pprof prints it (Go's filepath.Clean, on slashes)."""
    for prefix in _SELF:
        if path.startswith(prefix):
            path = path[len(prefix) :]
            break
    if not path:
        return ""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def _dense(texts: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    distinct, (places,) = numbered(texts)
    return list(distinct), places.astype(np.int64)


def identify(profile: Profile, granularity: str) -> tuple[Nodes, Ids]:
    """Return the nodes of all lines, and the node (int32) of each location line.

    Raises UsageError for a granularity that is not in `GRANULARITIES`.
    """
    if granularity not in GRANULARITIES:
        known = ", ".join(GRANULARITIES)
        raise UsageError(f"no granularity {granularity!r}; there are: {known}")
    named, filed, lined, addressed = GRANULARITIES[granularity]
    strings, functions = profile.strings, profile.functions
    function, number, column, mapping, address = _lines(profile)
    # The last entry of each list stands for "none", which lines refer to as -1.
    names, name = _dense(
        [*([strings[i] if named else "" for i in functions.name.tolist()]), ""]
    )
    paths = functions.filename.tolist() if filed else []
    cleaned = {i: cleaned_path(strings[i]) for i in set(paths)}
    files, file = _dense(
        [*([cleaned[i] for i in paths] or [""] * len(functions.filename)), ""]
    )
    binaries, binary = _dense([*(m.file for m in profile.mappings), ""])
    nameless = np.array([not text for text in names])[name[function]]
    start_line = np.append(functions.start_line, 0)[function]
    columns: list[NDArray[Any]] = [
        name[function],
        file[function],
        np.where(nameless, binary[mapping], binary[-1]),
        np.where(nameless, start_line, 0),
        number * (lined and function >= 0),
        column * (addressed and function >= 0),
        address * np.uint64(addressed),
    ]
    examples, ids = unique_tuples(columns)
    picked = [column[examples] for column in columns]
    nodes = Nodes(
        tuple(names[i] for i in picked[0].tolist()),
        tuple(files[i] for i in picked[1].tolist()),
        tuple(binaries[i] for i in picked[2].tolist()),
        *picked[3:],
    )
    return nodes, ids.astype(np.int32)


def function_keys(profile: Profile) -> tuple[list[str], list[str], Ids]:
    """Return the distinct functions for display, their files, and each line's function.

    A name's file is its first function's, ``""`` if unknown.
    """
    number, (ids,) = numbered([*profile.function_names(), ""])
    of_line = ids[profile.locations.line_function]
    used = np.bincount(of_line, minlength=len(number)) > 0
    first = np.append(first_places(ids[:-1], len(number)), -1)
    if used[number[""]]:
        keys, of_line = frame_keys(profile, "functions")
        names = [name for name, _, _ in keys]
        rows = np.array([number.get(name, -1) for name in names], np.int64)
    else:
        names = list(compress(number, used.tolist()))
        rows = np.flatnonzero(used)
        of_line = (np.cumsum(used, dtype=np.int32) - 1)[of_line]
    # The last one stands for names that are no function's, and have no file.
    files = np.append(profile.functions.filename, 0)[first[rows]].tolist()
    return names, list(map(profile.strings.__getitem__, files)), of_line


def _lines(profile: Profile) -> tuple[NDArray[Any], ...]:
    locations = profile.locations
    counts = np.diff(locations.line_offsets)
    return (
        locations.line_function,
        locations.line_number,
        locations.line_column,
        np.repeat(locations.mapping, counts),
        np.repeat(locations.address, counts),
    )


def frame_keys(profile: Profile, granularity: str) -> tuple[list[FrameKey], Ids]:
    """Return the distinct frames for display, and the frame (int32) of each line.

    pprof's own rows (`identify`) may list a key twice: two binaries of one name, or
    with ``files`` two functions of one file.
    """
    nodes, ids = identify(profile, granularity)
    places: dict[FrameKey, int] = {}
    folded = np.array(
        [
            places.setdefault(
                (name or ("" if file else _binary_name(binary)), file, line),
                len(places),
            )
            for name, file, binary, line in zip(
                nodes.name, nodes.file, nodes.binary, nodes.line.tolist(), strict=True
            )
        ],
        np.int32,
    )
    return list(places), folded[ids]
