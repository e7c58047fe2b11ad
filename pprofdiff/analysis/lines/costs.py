"""Cost of each source line on each side, by function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.graph import flat_and_cum, walk_some
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.nodes import cleaned_path, frame_keys
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import first_in_row, last_in_row, row_of_item
from pprofdiff.model.profiles.profile import Profile


@dataclass(frozen=True, slots=True, eq=False)
class FunctionLines:
    """The lines of a function in one file, in ascending order.

    `line`, `flat` and `cum` (raw) are int64 with one element per line, as is `row`, its
    row in `SideLines`. `start` is the line where the function starts, 0 if unknown.
    """

    function: str
    file: str
    start: int
    line: Column
    flat: Column
    cum: Column
    row: Column

    @property
    def size(self) -> int:
        """The sum of absolute cum, which ranks several files."""
        return int(np.abs(self.cum).sum())


@dataclass(frozen=True, slots=True, eq=False)
class SideLines:
    """All lines of one side, `rows` of them, by the name of their function.

    `ids` (int32) maps rows of `Locations.line_function` to rows here. A function with
    code in several files has several entries, the largest first.
    """

    rows: int
    ids: NDArray[np.int32]
    functions: dict[str, tuple[FunctionLines, ...]]

    def of_file(self, file: str) -> tuple[Column, Column]:
        """Return the lines of a file, of all its functions, and their rows here."""
        own = [
            one for some in self.functions.values() for one in some if one.file == file
        ]
        none = np.zeros(0, np.int64)
        return (
            np.concatenate([none, *(one.line for one in own)]),
            np.concatenate([none, *(one.row for one in own)]),
        )


def side_lines(diff: ProfileDiff, side: int) -> SideLines:
    """Sum a side (0 base, 1 new) by function, file and line, like pprof's ``-list``."""
    profile = (diff.base, diff.new)[side].profile
    keys, ids = frame_keys(profile, "lines")
    values = diff.values[side]
    flat, cum = flat_and_cum(profile, ids, len(keys), values[:, None])
    starts = _starts(profile)
    places: dict[tuple[str, str], list[int]] = {}
    for row, (name, file, _) in enumerate(keys):
        places.setdefault((name, file), []).append(row)
    numbers = np.array([line for *_, line in keys], np.int64)
    found: dict[str, list[FunctionLines]] = {}
    for (name, file), own in places.items():
        rows = np.array(own, np.int64)
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        found.setdefault(name, []).append(
            FunctionLines(
                function=name,
                file=file,
                start=starts.get((name, file), 0),
                line=numbers[rows],
                flat=flat[rows, 0],
                cum=cum[rows, 0],
                row=rows,
            )
        )
    return SideLines(
        len(keys),
        ids,
        {
            name: tuple(sorted(some, key=lambda one: -one.size))
            for name, some in found.items()
        },
    )


def _starts(profile: Profile) -> dict[tuple[str, str], int]:
    """Return where functions start, by name and file; 0 if their records differ."""
    strings, functions = profile.strings, profile.functions
    starts: dict[tuple[str, str], int] = {}
    for name, file, start in zip(
        functions.name.tolist(),
        functions.filename.tolist(),
        functions.start_line.tolist(),
        strict=True,
    ):
        key = strings[name], cleaned_path(strings[file])
        if starts.setdefault(key, start) != start:
            starts[key] = 0
    return starts


# The number of steps with one function in between.
_THROUGH = 2


class OnStacks(NamedTuple):
    """A function on stacks with another one, as a row of the union.

    It `calls` the other one, or is called by it, in `steps`: 1 if no function is in
    between. With two steps `through` is the row of that function, else -1.
    """

    row: int
    calls: bool
    steps: int
    through: int = -1

    @property
    def far(self) -> bool:
        """Whether there is more than one function in between."""
        return self.steps > _THROUGH


def on_stacks(diff: ProfileDiff, row: int, wanted: NDArray[np.bool_]) -> list[OnStacks]:
    """Return the wanted functions on stacks with another one, nearest first, each once.

    `row` and the mask `wanted` refer to the union of functions. Frames between two
    recursive ones of the function itself are not its callers.
    """
    found: dict[int, OnStacks] = {}
    for side in (0, 1):
        for one in _on_side(diff, side, row, wanted):
            known = found.get(one.row)
            if known is None or one.steps < known.steps:
                found[one.row] = one
    return sorted(found.values(), key=lambda one: one.steps)


def _on_side(
    diff: ProfileDiff, side: int, row: int, wanted: NDArray[np.bool_]
) -> Iterator[OnStacks]:
    """Yield the nearest of each wanted function, for each batch of a side's samples."""
    functions = diff.paired_functions
    profile = (diff.base, diff.new)[side].profile
    of_line = functions.of_lines[side]
    alone = np.arange(len(functions.names)) == row
    samples = np.flatnonzero(diff.having_on(side, alone))
    for _, frames in walk_some(profile, samples):
        rows = of_line[frames.line]
        place, stack = np.arange(len(rows)), row_of_item(frames.offsets)
        own = rows == row
        first, last = (
            where(own, frames.offsets)[stack] for where in (first_in_row, last_in_row)
        )
        # Leaf first: callers follow the last frame, callees precede the first.
        steps = np.where(place > last, place - last, first - place)
        hits = np.flatnonzero(wanted[rows] & ((place > last) | (place < first)))
        hits = hits[np.argsort(steps[hits], kind="stable")]
        _, nearest = np.unique(rows[hits], return_index=True)
        for hit in hits[nearest].tolist():
            calls, far = bool(hit > last[hit]), int(steps[hit])
            between = hit - 1 if calls else hit + 1
            through = int(rows[between]) if far == _THROUGH else -1
            yield OnStacks(int(rows[hit]), calls, far, through)
