"""Both sides' functions, lines, files or packages: paired rows, with flat and cum."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from posixpath import basename
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.analysis.ledger.codes import (
    Attribution,
    Classifier,
    Ends,
    Marker,
    allocator,
)
from pprofdiff.analysis.ledger.graph import flat_and_cum
from pprofdiff.analysis.ledger.views import keyed_by_run, merged
from pprofdiff.analysis.profiles.kinds import is_heap, is_of_go
from pprofdiff.analysis.profiles.nodes import frame_keys, function_keys
from pprofdiff.analysis.profiles.own_code import allocators, own_code
from pprofdiff.analysis.profiles.tables import Table, ValueColumn
from pprofdiff.goruntime.names import package_of
from pprofdiff.identity.model import SAME_NAMES, SideKeys
from pprofdiff.identity.rows import Pairing, pair_names
from pprofdiff.model.csr import unique_rows
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.parallel import both

NO_STACK = "<no stack>"

Granularity = Literal["functions", "lines", "files", "packages"]

Key = Callable[[int], Hashable | None]


class SideRows(Struct, frozen=True, eq=False):
    """One side's rows at a granularity.

    `files` is the source file of each row, ``""`` if it is not in a single file. Rows
    with equal keys in `exact` on both sides are the same. Each function in `loose` maps
    a row number to a looser key (None: no key) for pairing the remaining rows. `ids`
    maps each row of `Locations.line_function` to its row here.
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

    The last row, named `NO_STACK`, is for samples without frames, so that flat adds up
    to the total.
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
    names, files, ids = function_keys(profile)
    return SideRows(names, files, list(map(keys.function, names)), (), ids)


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
    for name, file in zip(*function_keys(profile)[:2], strict=True):
        packages.setdefault(file, package_of(name))

    def place(row: int) -> Hashable | None:
        # Package and base name identify a file across build directories.
        package = packages.get(names[row])
        name = basename(names[row])
        return (keys.packages.get(package, package), name) if package else None

    return SideRows(names, names, names, (place,), ids)


def _packages(profile: Profile, keys: SideKeys) -> SideRows:
    functions, _, ids = function_keys(profile)
    distinct, (rows,) = numbered(
        [package_of(name) or "<no package>" for name in functions]
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


class SampleValues(Struct, frozen=True, eq=False):
    """One side's samples and their values per run: int64 of shape (samples, runs)."""

    profile: Profile
    values: NDArray[np.int64]
    keys: SideKeys = SAME_NAMES.sides[1]


class PairedRows(Struct, frozen=True, eq=False, dict=True):
    """The rows of both sides as one list, their union, and its table.

    Rows that are paired are one row of the union. `sides` are the (base, new) rows
    themselves, and `union` maps each of them to its row of the union. `table` leaves
    out rows without a value; `tabled` are the union rows that it has. `own` marks the
    program's own functions. `ends` says where the stacks of (base, new) end, None
    unless rows are functions.
    """

    names: list[str]
    sides: tuple[SideRows, SideRows]
    union: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: Table
    tabled: NDArray[np.int64]
    own: NDArray[np.bool_]
    ends: tuple[Ends, Ends] | None

    @property
    def attributions(self) -> tuple[Attribution, Attribution] | None:
        """The attribution of the samples of (base, new), None unless requested."""
        if self.ends is None:
            return None
        base, new = self.ends
        if isinstance(base, Attribution) and isinstance(new, Attribution):
            return base, new
        return None

    @cached_property
    def of_lines(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The row of the union of each line of base's and new's profile (int64)."""
        base, new = self.sides
        return self.union[0][base.ids], self.union[1][new.ids]

    def raw(self, column: ValueColumn) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return raw flat or cum of the union's rows, base and new (int64)."""
        return merged(self.runs(column))

    def runs(self, column: ValueColumn) -> Runs[NDArray[np.int64]]:
        """Return raw flat or cum of the union's rows per run (int64)."""

        def of_union(run: NDArray[np.int64]) -> NDArray[np.int64]:
            values = np.zeros(len(self.names), np.int64)
            values[self.tabled] = run
            return values

        return self.table.runs(column).map(of_union)

    def scaled_by(
        self, normalization: Normalization, model: CountModel | None
    ) -> PairedRows:
        """Return the same rows in another scaling."""
        table = replace(self.table, normalization=normalization, model=model)
        return replace(self, table=table)


def pair_rows(
    base: SampleValues,
    new: SampleValues,
    granularity: Granularity,
    normalization: Normalization,
    model: CountModel | None,
    *,
    classified: bool = False,
) -> PairedRows:
    """Sum both sides by row, in one pass over each side's samples, and pair the rows.

    With `classified`, for functions, samples are classified too.
    """
    size = len(base.profile.stack_locations) + len(new.profile.stack_locations)
    base_sums, new_sums = both(
        lambda side: summed_rows(side, granularity, classified=classified),
        base,
        new,
        size=size,
    )
    sides = base_sums.rows, new_sums.rows
    pairing = pair_side_rows(*sides)
    names, base_names, files = _shown(sides, pairing)
    table = Table(
        noun=granularity.removesuffix("s"),
        names=names,
        base_names=base_names,
        probable=list(map(new.keys.probable.__contains__, names)),
        files=files,
        flat=pairing.spread(base_sums.flat, new_sums.flat),
        cum=pairing.spread(base_sums.cum, new_sums.cum),
        normalization=normalization,
        model=model,
        choices=base.keys.choices,
    )
    sums = *table.raw("flat"), *table.raw("cum")
    valued = np.flatnonzero(np.logical_or.reduce([column != 0 for column in sums]))
    ends = None
    if base_sums.ends is not None and new_sums.ends is not None:
        ends = base_sums.ends, new_sums.ends
    union = pairing.union_of_base(), pairing.union_of_new()
    own = np.zeros(len(names), np.bool_)
    for rows, of_side in zip(union, (base_sums.own, new_sums.own), strict=True):
        if of_side is not None:
            own[rows] |= of_side
    return PairedRows(names, sides, union, table.take(valued), valued, own, ends)


class _SummedRows(Struct, frozen=True, eq=False):
    """One side's rows with flat and cum: int64 of shape (rows, runs).

    `own` and `ends` are as in `PairedRows`, None unless rows are functions.
    """

    rows: SideRows
    flat: NDArray[np.int64]
    cum: NDArray[np.int64]
    own: NDArray[np.bool_] | None
    ends: Ends | None


def summed_rows(
    side: SampleValues, granularity: Granularity, *, classified: bool
) -> _SummedRows:
    """Sum one side's values by row, and mark or classify the stacks of functions."""
    rows = side_rows(side.profile, granularity, side.keys)
    own, marker = None, None
    if granularity == "functions":
        of_go = is_of_go(side.profile)
        own = _own(side.profile, rows, of_go=of_go)
        own[-1] = False  # the samples without frames
        if not of_go and not any(rows.files):
            own[_only_root(side.profile, rows)] = False
        marker = _marker(side.profile, own, rows, classified=classified)
    flat, cum = flat_and_cum(
        side.profile, rows.ids, len(rows.names), side.values, marker
    )
    ends = marker.result() if marker is not None else None
    frameless = np.diff(side.profile.stack_offsets) == 0
    flat[-1] = cum[-1] = side.values[frameless].sum(axis=0)
    return _SummedRows(rows, flat, cum, own, ends)


def _own(profile: Profile, rows: SideRows, *, of_go: bool) -> NDArray[np.bool_]:
    """Return which rows, which are functions, are the program's own code.

    Functions of one name in several files, such as Python's ``<module>``, are one row:
    it is own code if one of them is.
    """
    own = own_code(rows.names, rows.files, of_go=of_go)
    if of_go or not any(rows.files):
        return own
    functions, of_line = profile.functions, profile.locations.line_function
    row = np.full(len(functions.name), -1, np.int64)
    row[of_line[of_line >= 0]] = rows.ids[of_line >= 0]
    used = np.flatnonzero(row >= 0)
    row = row[used]
    names = [rows.names[i] for i in row.tolist()]
    files = [profile.strings[i] for i in functions.filename[used].tolist()]
    own[row[own_code(names, files, of_go=False)]] = True
    return own


def _marker(
    profile: Profile, own: NDArray[np.bool_], rows: SideRows, *, classified: bool
) -> Marker:
    if classified:
        return Classifier(own, rows.names)
    if not is_heap(profile):
        return Marker(own)
    of_go = is_of_go(profile)
    return Marker(
        own, allocator(rows.names) if of_go else allocators(rows.names, rows.files)
    )


def _only_root(profile: Profile, rows: SideRows) -> NDArray[np.int32]:
    """Return the row that all stacks begin with, if there is one.

    In folded stacks of ``perf script`` that is the process's name, no function.
    """
    ends = profile.stack_offsets[1:][np.diff(profile.stack_offsets) > 0]
    last = profile.locations.line_offsets[1:] - 1
    roots = rows.ids[last[profile.stack_locations[ends - 1]]]
    return roots[:1] if (roots == roots[:1]).all() else roots[:0]


def _shown(
    sides: tuple[SideRows, SideRows], pairing: Pairing
) -> tuple[list[str], list[str | None], list[str]]:
    """Return the union's names, base's names where they differ, and files.

    A function that only base has samples of may be new's by another name: in another
    profile, or to the source.
    """
    base, new = sides
    partner = pairing.base_row.tolist()
    gone = partner[len(new.names) :]
    names = [*new.names, *map(base.names.__getitem__, gone)]
    files = [*new.files, *map(base.files.__getitem__, gone)]
    base_names: list[str | None] = [None] * len(names)
    for row, old in enumerate(partner[: len(new.names)]):
        if old >= 0 and base.names[old] != names[row]:
            base_names[row] = base.names[old]
    for row, old in enumerate(gone, len(new.names)):
        known = base.exact[old]
        if isinstance(known, str) and known != names[row]:
            names[row], base_names[row] = known, base.names[old]
    return names, base_names, files


def stack_table(
    functions: PairedRows,
    base: SampleValues,
    new: SampleValues,
    normalization: Normalization,
    model: CountModel | None,
) -> Table:
    """Return a table with one row per distinct stack that has a value.

    Stacks of the two sides are one row if their functions are paired. A row's name
    lists its functions root first, joined with ``;``, or is `NO_STACK`. Both flat and
    cum are the stack's value.
    """
    frames = [side.profile.frames() for side in (base, new)]
    offsets = np.concatenate(
        (frames[0].offsets, frames[1].offsets[1:] + frames[0].offsets[-1])
    )
    rows = np.concatenate(
        [
            functions.union[i][functions.sides[i].ids[stacks.line]]
            for i, stacks in enumerate(frames)
        ]
    )
    first, group = unique_rows(offsets, (rows,))
    split = len(base.values)
    places = group[:split], group[split:]
    rows_of, runs = keyed_by_run((base.values, new.values), places)
    first = first[rows_of]
    names = functions.names
    titles = [
        ";".join(names[row] for row in rows[low:high][::-1].tolist()) or NO_STACK
        for low, high in zip(
            offsets[first].tolist(), offsets[first + 1].tolist(), strict=True
        )
    ]
    values = np.stack(runs.base, axis=1), np.stack(runs.new, axis=1)
    return Table(
        noun="stack",
        names=titles,
        base_names=[None] * len(titles),
        probable=[False] * len(titles),
        files=[""] * len(titles),
        flat=values,
        cum=values,
        normalization=normalization,
        model=model,
    )
