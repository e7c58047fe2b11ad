"""A profile as columns: strings, functions, locations, stacks and values.

The fields are as in profile.proto
(https://github.com/google/pprof/blob/main/proto/profile.proto), with ids replaced by
positions, and strings by positions in `Profile.strings`.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column, Index, Integers, Mask, Table
from pprofdiff.model.csr import (
    Offsets,
    expand,
    offsets_of,
    row_of_item,
    take_rows,
    transposed,
)

if TYPE_CHECKING:
    import pandas as pd

_UNKNOWN = "<unknown>"
# float64 holds all smaller integers exactly.
_EXACT = 1 << 53
_COMMENT = r"operations: ([1-9]\d{0,17})(?: of (.+))?"


class ValueType(Struct, frozen=True):
    """What a number counts and its unit, such as cpu in nanoseconds."""

    type: str
    unit: str


class Mapping(Struct, frozen=True):
    """One mapped file of the process: the program itself comes first."""

    start: int = 0
    limit: int = 0
    offset: int = 0
    file: str = ""
    build_id: str = ""
    has_functions: bool = False
    has_filenames: bool = False
    has_line_numbers: bool = False
    has_inline_frames: bool = False


class Functions(Table, frozen=True):
    """Functions, one row each.

    `name`, `system_name`, `filename` are int32 positions in `Profile.strings`;
    `start_line` is int64, 0 if unknown.
    """

    name: Index
    system_name: Index
    filename: Index
    start_line: Column


class Locations(Struct, frozen=True, eq=False):
    """Program locations with their lines, innermost inlined function first.

    `address` uint64; `mapping` int32 position in `Profile.mappings` or -1; `folded`
    bool. The lines of location i are rows ``line_offsets[i]:line_offsets[i+1]`` of
    `line_function` (int32 position in functions, or -1), `line_number` and
    `line_column` (int64). A location without lines in the file has one line with
    function -1 and number 0, so that every location is at least one frame.
    """

    address: NDArray[np.uint64]
    mapping: Index
    folded: Mask
    line_offsets: Offsets
    line_function: Index
    line_number: Column
    line_column: Column

    def __len__(self) -> int:
        return len(self.address)


class Labels(Table, frozen=True):
    """The samples' labels, one row each, in sample order.

    `sample` int64, increasing; `key`, `text`, `unit` int32 positions in
    `Profile.strings`; `number` int64. A label is text if `text` is not 0
    (profile.proto: position 0 is the empty string), else a number with a unit.
    """

    sample: Column
    key: Index
    text: Index
    number: Column
    unit: Index


class Frames(Struct, frozen=True, eq=False):
    """Stacks as frames, leaf first; an inlined function is a separate frame.

    Frame j of stack i is ``line[offsets[i] + j]``: the row of one line in
    `Locations.line_function`, `Locations.line_number` and `Locations.line_column`
    (int32 from `Profile.frames`). `offsets` is int64, of length stacks + 1.
    """

    offsets: Offsets
    line: Index


class Profile(Struct, frozen=True, eq=False, dict=True):
    """One profile: samples of stacks with an int64 value for each sample type.

    Stack i is ``stack_locations[stack_offsets[i]:stack_offsets[i+1]]``, leaf first
    (int32 positions in `locations`); `values` is int64 of shape (samples, sample
    types). `default_sample_type`, `time_ns`, `duration_ns` and `period` are None if the
    file does not set them; the last two are positive. `strings[0]` is the empty string.
    """

    strings: tuple[str, ...]
    sample_types: tuple[ValueType, ...]
    functions: Functions
    locations: Locations
    mappings: tuple[Mapping, ...]
    stack_offsets: Offsets
    stack_locations: Index
    values: Column
    labels: Labels
    period_type: ValueType | None = None
    period: int | None = None
    time_ns: int | None = None
    duration_ns: int | None = None
    default_sample_type: str | None = None
    drop_frames: str = ""
    keep_frames: str = ""
    comments: tuple[str, ...] = ()
    doc_url: str = ""

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        types = ", ".join(f"{t.type}/{t.unit}" for t in self.sample_types)
        span = "" if self.duration_ns is None else f", {self.duration_ns / 1e9:.1f} s"
        return (
            f"<Profile {types}: {len(self)} samples, "
            f"{len(self.functions)} functions{span}>"
        )

    def sample_index(self, name: str | int | None = None) -> int:
        """Return the column of `values` for a sample type.

        `name` is as in ``-sample_index`` of ``go tool pprof``: a type's name, with or
        without a leading ``inuse_``; or a position, as an int or in digits. None and
        ``""`` mean the profile's default type, or the last if it has none. Raises
        UsageError for unknown names and positions.
        """
        names = [t.type for t in self.sample_types]
        if not names:
            raise UsageError("the profile has no sample types: there is no value")
        if name is None or name == "":
            default = self.default_sample_type
            return names.index(default) if default in names else len(names) - 1
        if isinstance(name, int) or name.isdecimal():
            if 0 <= int(name) < len(names):
                return int(name)
        else:
            for candidate in (name, name.removeprefix("inuse_"), f"inuse_{name}"):
                if candidate in names:
                    return names.index(candidate)
        known = ", ".join(names)
        raise UsageError(f"no sample type {name!r} in the profile; it has: {known}")

    def total(self) -> int:
        """Return the sum of the default sample type, the column of `sample_index()`."""
        return int(self.values[:, self.sample_index()].sum())

    def frames(self) -> Frames:
        """Return all stacks as frames; a location gives one frame per line."""
        return self.frames_of(self.stack_offsets, self.stack_locations)

    def frames_of(self, offsets: Offsets, places: Index) -> Frames:
        """Return stacks of the profile's locations (`places`) as frames."""
        counts = np.diff(self.locations.line_offsets)
        if (counts == 1).all():
            return Frames(offsets, places)
        starts = self.locations.line_offsets[:-1].astype(np.int32)
        located = counts.astype(np.int32)[places]
        ends = np.zeros(len(located) + 1, np.int64)
        np.cumsum(located, out=ends[1:])
        shift = starts[places]
        shift -= ends[:-1].astype(np.int32)
        lines = np.repeat(shift, located)
        lines += np.arange(int(ends[-1]), dtype=np.int32)
        return Frames(ends[offsets], lines)

    @cached_property
    def samples_at(self) -> tuple[Offsets, Index]:
        """(offsets, samples): those with each location on their stack, by its position.

        A sample is repeated as often as it has the location.
        """
        size = len(self.locations.line_offsets) - 1
        return transposed(self.stack_offsets, self.stack_locations, size)

    def function_names(self) -> list[str]:
        """Return the name of each function, by position; not to be changed."""
        return self._function_names

    @cached_property
    def _function_names(self) -> list[str]:
        return list(map(self.strings.__getitem__, self.functions.name.tolist()))

    def files(self) -> list[str]:
        """Return the distinct source files of functions; ``""`` is an unknown one."""
        used = np.flatnonzero(np.bincount(self.functions.filename))
        return list(map(self.strings.__getitem__, used.tolist()))

    def take(self, samples: Integers) -> Profile:
        """Return the profile with the chosen samples only, in that order."""
        offsets, items = take_rows(self.stack_offsets, self.stack_locations, samples)
        label_counts = np.bincount(self.labels.sample, minlength=len(self))
        label_offsets = offsets_of(label_counts)
        chosen = label_counts[samples]
        rows = expand(label_offsets[:-1][samples], chosen)
        labels = self.labels.take(rows)
        return replace(
            self,
            stack_offsets=offsets,
            stack_locations=items,
            values=self.values[samples],
            labels=replace(labels, sample=row_of_item(offsets_of(chosen))),
        )

    def with_values(self, values: Column) -> Profile:
        """Return the profile with other values: int64, one row per sample."""
        return replace(self, values=values)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per sample, its stack named root first, joined with ``;``.

        Columns: ``stack``, ``leaf``, one int64 column per sample type, and one
        ``label:KEY`` per label key: several values are joined with a comma.
        """
        import pandas as pd

        stacks, leaves = stack_names(self)
        columns: dict[str, object] = {"stack": stacks, "leaf": leaves}
        for i, sample_type in enumerate(self.sample_types):
            columns[sample_type.type] = self.values[:, i]
        return pd.DataFrame({**columns, **_label_columns(self)})


def largest_sum(profile: Profile) -> float:
    """Return the largest sum of absolute values of any sample type, 0 for none."""
    values = profile.values
    if not values.size:
        return 0.0
    bound = max(abs(int(values.max())), abs(int(values.min())))
    if bound * len(values) < _EXACT:
        return float(np.abs(values).sum(axis=0).max())
    return float(np.abs(values.astype(np.float64)).sum(axis=0).max())


def stack_names(profile: Profile) -> tuple[list[str], list[str]]:
    """Return each sample's stack as text, and the name of its leaf function.

    A stack is named root first, its functions joined with ``;``. A frame without a
    function is ``<unknown>``; a sample without frames has ``""`` in both lists.
    """
    frames = profile.frames()
    names = np.array([*profile.function_names(), _UNKNOWN], object)
    words = names[profile.locations.line_function[frames.line]].tolist()
    bounds = frames.offsets.tolist()
    rows = [words[a:b] for a, b in pairwise(bounds)]
    stacks = [";".join(reversed(row)) for row in rows]
    return stacks, [row[0] if row else "" for row in rows]


def _label_columns(profile: Profile) -> dict[str, list[str | None]]:
    """Return, by ``label:KEY``, each sample's labels as text, None for none."""
    strings, labels = profile.strings, profile.labels
    columns: dict[str, list[str | None]] = {}
    for sample, key, text, number, unit in zip(
        labels.sample.tolist(),
        labels.key.tolist(),
        labels.text.tolist(),
        labels.number.tolist(),
        labels.unit.tolist(),
        strict=True,
    ):
        name = f"label:{strings[key]}"
        column = columns.setdefault(name, [None] * len(profile))
        word = strings[text] if text else f"{number}{strings[unit]}"
        earlier = column[sample]
        column[sample] = word if earlier is None else f"{earlier},{word}"
    return columns


class Operations(NamedTuple):
    """The number of operations, and a name such as a package and its benchmark."""

    number: int
    name: str = ""


def operations_of(profile: Profile) -> Operations | None:
    """Return the operations that the profile covers, None if unknown.

    They are also unknown if several comments disagree.
    """
    found = {
        Operations(int(match[1]), match[2] or "")
        for comment in profile.comments
        if (match := re.fullmatch(_COMMENT, comment))
    }
    return found.pop() if len(found) == 1 else None


def with_operations(profile: Profile, operations: Operations) -> Profile:
    """Return the profile with a comment that records its operations."""
    others = (c for c in profile.comments if not re.fullmatch(_COMMENT, c))
    name = f" of {operations.name}" if operations.name else ""
    said = f"operations: {operations.number}{name}"
    return replace(profile, comments=(*others, said))
