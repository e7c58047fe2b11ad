"""Cost of each source line on each side, by function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.graph import flat_and_cum
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.nodes import cleaned_path, frame_keys
from pprofdiff.model.profiles.profile import Profile

__all__ = ["FunctionLines", "SideLines", "side_lines"]

Column = NDArray[np.int64]


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
