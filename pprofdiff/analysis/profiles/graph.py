"""Frames summed into nodes: flat and cum by function, file or line.

Nodes are identified as ``go tool pprof`` identifies them (internal/graph of
github.com/google/pprof): by the printed attributes alone, so that two functions of
one name are one node unless the granularity tells their files apart.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import UsageError
from pprofdiff.model.csr import Offsets, offsets_of, once_per_row
from pprofdiff.model.csr import chunks as row_chunks
from pprofdiff.model.profiles.profile import Frames, Profile

__all__ = [
    "GRANULARITIES",
    "FrameKey",
    "Nodes",
    "flat_and_cum",
    "frame_keys",
    "identify",
    "outermost",
    "walk",
]

# What each granularity keeps of a frame: function, file, line, address and column.
GRANULARITIES = {
    "functions": (True, False, False, False),
    "filefunctions": (True, True, False, False),
    "files": (False, True, False, False),
    "lines": (True, True, True, False),
    "addresses": (True, True, True, True),
}

# What looks on while stacks are summed: gets offsets, and the key of each frame.
Watch = Callable[[Offsets, NDArray[np.int64]], None]

# A frame as people read it: function (or "[binary]", "<unknown>"), file, line.
FrameKey = tuple[str, str, int]
Ids = NDArray[np.int32]
Values = NDArray[np.int64]

# Frames worked on at a time: temporaries stay within a few megabytes.
_FRAMES_AT_ONCE = 1 << 18
# Sums of float64 integers are exact below this bound (IEEE 754 binary64); larger
# values are summed in two parts, of which the lower has this many bits.
_EXACT = float(1 << 52)
_HALF = 26
_SELF = ("/proc/self/cwd/./", "/proc/self/cwd/")


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The distinct nodes of a profile at one granularity, one row each.

    `name`, `file`, `binary` are tuples of str; `line`, `column`, `start_line` int64
    and `address` uint64, 0 where the granularity leaves them out. `binary` and
    `start_line` are known only where there is no function name.
    """

    name: tuple[str, ...]
    file: tuple[str, ...]
    binary: tuple[str, ...]
    start_line: Values
    line: Values
    column: Values
    address: NDArray[np.uint64]

    def __len__(self) -> int:
        """Return the number of nodes."""
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
    """Return how a frame without function or file is called."""
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


def _clean(path: str) -> str:
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
    """Return the distinct texts in order of first appearance, and each one's place."""
    places: dict[str, int] = {}
    ids = [places.setdefault(text, len(places)) for text in texts]
    return list(places), np.array(ids, np.int64)


def _ranked(column: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return small numbers, from 0 up, that are equal where the column is."""
    _, ranks = np.unique(column, return_inverse=True)
    ranks = ranks.astype(np.int64)
    return ranks, int(ranks.max(initial=-1)) + 1


def _grouped(columns: list[NDArray[Any]]) -> tuple[Values, Ids]:
    """Group rows equal in all columns: (a row of each group, group of each row)."""
    keys, size = _ranked(columns[0])
    for column in columns[1:]:
        if len(column) and (column == column[0]).all():
            continue
        ranks, more = _ranked(column)
        keys, size = _ranked(keys * more + ranks)
    examples = np.zeros(size, np.int64)
    examples[keys] = np.arange(len(keys))
    return examples, keys.astype(np.int32)


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
    # The last entry of each list stands for "none", which the lines spell as -1.
    names, name = _dense(
        [*([strings[i] if named else "" for i in functions.name.tolist()]), ""]
    )
    cleaned = {i: _clean(strings[i]) for i in set(functions.filename.tolist())}
    files, file = _dense(
        [*([cleaned[i] if filed else "" for i in functions.filename.tolist()]), ""]
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
    examples, ids = _grouped(columns)
    picked = [column[examples] for column in columns]
    nodes = Nodes(
        tuple(names[i] for i in picked[0].tolist()),
        tuple(files[i] for i in picked[1].tolist()),
        tuple(binaries[i] for i in picked[2].tolist()),
        *picked[3:],
    )
    return nodes, ids


def _lines(profile: Profile) -> tuple[NDArray[Any], ...]:
    """Return by line: function, line number, column, mapping, address."""
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
    """Return what people read of each frame, and which of them each line is.

    The keys are distinct; ids are int32, one per location line. pprof's own rows are
    those of `identify`, which may list one key twice (two binaries of one name, or
    with ``files`` two functions of one file).
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


def walk(profile: Profile) -> Iterator[tuple[int, int, Frames]]:
    """Yield (start, stop, frames of samples start..stop), about 2**18 frames a time.

    The frames' offsets begin at 0, and their lines are int64.
    """
    starts = profile.locations.line_offsets[:-1]
    counts = np.diff(profile.locations.line_offsets)
    plain = bool((counts == 1).all())
    for start, stop in row_chunks(profile.stack_offsets, _FRAMES_AT_ONCE):
        offsets = profile.stack_offsets[start : stop + 1]
        items = profile.stack_locations[int(offsets[0]) : int(offsets[-1])]
        offsets = offsets - offsets[0]
        if plain:
            yield start, stop, Frames(offsets, items.astype(np.int64))
            continue
        inlined = counts[items]
        ends = offsets_of(inlined)
        lines = np.repeat(starts[items] - ends[:-1], inlined)
        lines += np.arange(len(lines))
        yield start, stop, Frames(ends[offsets], lines)


def flat_and_cum(
    profile: Profile,
    line_ids: NDArray[np.integer],
    size: int,
    values: Values,
    watch: Watch | None = None,
) -> tuple[Values, Values]:
    """Return flat and cum of `size` keys for each column of `values`.

    `line_ids` gives the key of each location line, as `frame_keys` returns it;
    `values` is int64 of shape (samples, K); the results are int64 of shape (size, K).
    A sample counts once towards the cum of a key, however often it recurs. `watch`
    is shown (offsets, key of each frame) of all stacks, a chunk of them at a time.
    """
    if float(np.abs(values.astype(np.float64)).sum()) < _EXACT:
        return _flat_and_cum(profile, line_ids, size, values, watch)
    # Halves whose sums are exact in float64, put together again in int64.
    high = _flat_and_cum(profile, line_ids, size, values >> _HALF, watch)
    low = _flat_and_cum(profile, line_ids, size, values & ((1 << _HALF) - 1), None)
    return (high[0] << _HALF) + low[0], (high[1] << _HALF) + low[1]


def _flat_and_cum(
    profile: Profile,
    line_ids: NDArray[np.integer],
    size: int,
    values: Values,
    watch: Watch | None,
) -> tuple[Values, Values]:
    """Return flat and cum of values whose sum is exact in float64."""
    ids_of = line_ids.astype(np.int64)
    columns = [np.ascontiguousarray(c, np.float64) for c in values.T]
    flat = np.zeros((len(columns), size))
    cum = np.zeros_like(flat)
    for start, stop, frames in walk(profile):
        ids = ids_of[frames.line]
        if watch is not None:
            watch(frames.offsets, ids)
        kept = once_per_row(frames.offsets, ids, size)
        depths = np.diff(frames.offsets)
        filled = np.flatnonzero(depths)
        leaves = ids[frames.offsets[filled]]
        for i, column in enumerate(columns):
            part = column[start:stop]
            flat[i] += np.bincount(leaves, part[filled], size)
            cum[i] += np.bincount(ids, np.repeat(part, depths) * kept, size)
    return flat.T.astype(np.int64), cum.T.astype(np.int64)
