"""Tables of functions: which got slower (cum), which cost more (flat), renamed ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.causes.places import is_taken_back, of_harness
from pprofdiff.analysis.ledger.views import merged
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.dimensions import owners_in_both
from pprofdiff.analysis.profiles.harness import is_testing
from pprofdiff.analysis.profiles.own_code import FLAT_WITH_LIBRARY, named
from pprofdiff.analysis.profiles.rows import Granularity
from pprofdiff.analysis.profiles.tables import Table as FunctionTable
from pprofdiff.analysis.profiles.tables import ValueColumn, chains, plumbing
from pprofdiff.goruntime.names import is_runtime_like, shown
from pprofdiff.goruntime.readable import with_path
from pprofdiff.report.rows import Cell, Column, Row, Sentence, Table, name_column
from pprofdiff.report.sections.named import named_cell, row_cells
from pprofdiff.report.sections.profiles.cells import (
    compared,
    compared_columns,
    ratio_cell,
)
from pprofdiff.units import percent

_ROWS = 8
# Without a noise model, changes below this share of the larger total are left out.
_SMALL = 0.01

_TITLES = {
    ("cum", True): "Got slower (cum)",
    ("cum", False): "Got faster (cum)",
    ("flat", True): "Costs more (flat)",
    ("flat", False): "Costs less (flat)",
}

# In the title of a table whose functions have callees that the other side lacks.
_AND_OTHERS = " and callees that only one side has"


def movers(
    diff: ProfileDiff,
    labels: tuple[str, str],
    column: ValueColumn,
    granularity: Granularity = "functions",
    rows: int | None = None,
    *,
    measured: bool = False,
) -> Iterator[Table | Sentence]:
    """Yield the functions (or lines, files) that changed most, costlier ones first.

    Functions in one call chain with the same cum on both sides share a row; costlier
    and cheaper ones have up to `rows` each. For benchmarks that were `measured`, their
    harness is left out.
    """
    table = diff.table(granularity)
    delta = table.scaled_delta(column)
    kept = _moved(diff, table, column)
    if measured:
        kept = kept & _of_program(diff, table)
    order = table.order(column)
    most = _ROWS if rows is None else rows
    shown = False
    for costlier in (True, False):
        moved = (delta > 0) if costlier else (delta < 0)
        chosen = chains(table, order[(moved & kept)[order]], column)
        chosen = _without_runtime(diff, table, chosen)
        if chosen:
            shown = True
            rows_of = _rows(diff, table, column, chosen[:most])
            made = _table(diff, labels, column, table.noun, rows_of, len(chosen))
            yield replace(made, title=_title(diff, column, costlier=costlier))
    if not shown:
        yield _nothing(diff, table, column)


def _nothing(diff: ProfileDiff, table: FunctionTable, column: ValueColumn) -> Sentence:
    how = " significantly" if diff.model else ""
    return Sentence(f"No {table.noun}'s {column} changed{how}.", key=column)


def _of_program(diff: ProfileDiff, table: FunctionTable) -> NDArray[np.bool_]:
    """Return the rows that are not part of what runs benchmarks."""
    flat, cum = (np.maximum(*table.raw(column)) for column in ("flat", "cum"))
    called = _in_tests(diff, table.names) & (2 * flat < cum)
    return ~(called | np.array([*map(is_testing, table.names)], np.bool_))


def _in_tests(diff: ProfileDiff, names: list[str]) -> NDArray[np.bool_]:
    paired = diff.paired_functions
    harness = {paired.names[i] for i in np.flatnonzero(of_harness(paired)).tolist()}
    return np.array([name in harness for name in names], np.bool_)


def moved_most(
    diff: ProfileDiff,
    labels: tuple[str, str],
    granularity: Granularity,
    rows: int,
    *,
    brief: bool = False,
) -> Table | Sentence | None:
    """Return the functions (or lines, files) that changed most, in either direction.

    If samples are attributed, a function of the program has the cost of itself and of
    the library and runtime below it. If none changed that way, and for lines and files,
    it is their cum, but not in a `brief` table of measured benchmarks, None.
    """
    owned = next(owned_most(diff, labels, granularity, rows, measured=brief), None)
    if owned is not None:
        return owned
    table = diff.table(granularity)
    if brief and granularity == "functions" and diff.attributions is not None:
        # Samples have the same owners: what changed by cum are paths to them.
        return None
    delta = np.abs(table.scaled_delta("cum"))
    order = np.argsort(-delta, kind="stable")
    moved = order[(_moved(diff, table, "cum") & (delta > 0))[order]]
    # Binaries' names stand for frames without symbols, such as roots, and are paths.
    moved = moved[named([table.names[row] for row in moved.tolist()])]
    chosen = _without_runtime(diff, table, chains(table, moved, "cum"))
    if not chosen:
        return _nothing(diff, table, "cum")
    rows_of = _rows(diff, table, "cum", chosen[:rows])
    made = _table(diff, labels, "cum", table.noun, rows_of, len(chosen))
    return replace(made, title="What changed most (cum)")


def owned_most(
    diff: ProfileDiff,
    labels: tuple[str, str],
    granularity: Granularity = "functions",
    rows: int = _ROWS,
    *,
    measured: bool = False,
) -> Iterator[Table]:
    """Yield the functions that own samples and changed most, if any changed.

    A sample's owner is the frame nearest the leaf that is not in the standard library;
    lines and files own nothing. For benchmarks that were `measured`, their harness is
    left out, and the owner is one that both sides have.
    """
    if granularity != "functions" or diff.attributions is None:
        return
    table = diff.table(granularity)
    paired = diff.paired_functions
    nearest = base_rows, new_rows = tuple(
        np.where(one.owner >= 0, paired.union[side][one.owner], -1)
        for side, one in enumerate(diff.attributions)
    )
    if measured:
        profiles = diff.base.profile, diff.new.profile
        base_rows, new_rows = owners_in_both(paired, profiles)
    runs = diff.runs_of((base_rows, new_rows), len(paired.names))
    base, new = merged(runs)
    some = np.flatnonzero((base != 0) | (new != 0))
    delta = np.abs(diff.normalization.delta(base[some], new[some]))
    judged = diff.judge_runs(runs.map(lambda run: run[some]))
    still = delta == 0 if judged is None else judged.noise
    if measured:
        # A function that only one side has is noise here if it is in all tables.
        named = np.searchsorted(paired.tabled, some)
        still = still | (
            ((base[some] == 0) | (new[some] == 0))
            & _still(diff, table, "cum")[named]
            & _still(diff, table, "flat")[named]
        )
        # What callees take back only moved into them, such as inlined code.
        own = diff.normalization.delta(base[some], new[some])
        whole = diff.normalization.delta(*(side[some] for side in paired.raw("cum")))
        still = still | is_taken_back(own, whole)
        # What a benchmark's loop does itself is shown only if nothing else changed.
        program = ~still & ~_in_tests(diff, [paired.names[i] for i in some.tolist()])
        still = ~program if program.any() else still
    order = np.argsort(-delta, kind="stable")
    order = order[~still[order]]
    if not len(order):
        return
    moved, cum = some[order], paired.raw("cum")
    chance = [None] * len(some) if judged is None else judged.chance
    shown = moved[:rows].tolist()
    cells = row_cells(table, np.searchsorted(paired.tabled, shown).tolist())
    rows_of = tuple(
        _figures(
            diff,
            (paired.names[i], int(base[i]), int(new[i])),
            cell,
            noise=chance[at],
            there=(bool(cum[0][i]), bool(cum[1][i])),
        )
        for i, at, cell in zip(shown, order[:rows].tolist(), cells, strict=True)
    )
    made = _table(diff, labels, "owned", table.noun, rows_of, len(moved))
    others = any(
        np.any(np.isin(rows, shown) & (rows != own))
        for rows, own in zip((base_rows, new_rows), nearest, strict=True)
    )
    what = f"{FLAT_WITH_LIBRARY} calls{_AND_OTHERS if others else ''}"
    yield replace(made, title=f"What changed most ({what})")


def _without_runtime(
    diff: ProfileDiff, table: FunctionTable, chosen: list[list[int]]
) -> list[list[int]]:
    """Return chains with more than the runtime's functions, or all if there are none.

    All stacks of waiting goroutines, of locks and of threads end in functions such as
    runtime.gopark. In CPU profiles, the runtime's own work is a result.
    """
    if diff.grouped:
        return chosen
    left = [group for group in chosen if not is_runtime_like(table.names[group[0]])]
    return left or chosen


def _moved(
    diff: ProfileDiff, table: FunctionTable, column: ValueColumn
) -> NDArray[np.bool_]:
    """Return which rows changed, as far as known, and are not on every stack."""
    moved: NDArray[np.bool_] = ~_still(diff, table, column) & ~plumbing(table)
    return moved


def _title(diff: ProfileDiff, column: ValueColumn, *, costlier: bool) -> str:
    """Return a table's title: only CPU time that is judged makes anything slower."""
    if diff.is_cpu and diff.model is not None:
        return _TITLES[column, costlier]
    return f"{'More' if costlier else 'Less'} ({column})"


def _still(
    diff: ProfileDiff, table: FunctionTable, column: ValueColumn
) -> NDArray[np.bool_]:
    """Return which rows did not change, as far as known."""
    judged = table.judge(column)
    if judged is not None:
        return judged.noise & judged.known
    whole = max(map(abs, diff.normalization.scaled(*diff.totals)))
    return np.abs(table.scaled_delta(column)) < _SMALL * whole


def _table(
    diff: ProfileDiff,
    labels: tuple[str, str],
    key: str,
    noun: str,
    rows: tuple[Row, ...],
    total: int,
) -> Table:
    columns = (
        *compared_columns(diff, labels),
        Column("ratio", "ratio"),
        Column(f"of {labels[1]}", "share"),
        name_column(noun),
    )
    return Table(key, columns, rows, total=total, code=True, one_unit=True)


def _rows(
    diff: ProfileDiff, table: FunctionTable, column: ValueColumn, rows: list[list[int]]
) -> tuple[Row, ...]:
    """Return a row for each chain; none of them is within noise."""
    base, new = (values.tolist() for values in table.raw(column))
    cum = table.raw("cum")
    judged = table.judge(column)
    chance = [None] * len(base) if judged is None else judged.chance
    cells = row_cells(table, [first for first, *_ in rows])
    return tuple(
        _figures(
            diff,
            (table.names[i], base[i], new[i]),
            _in_chain(cell, len(rest)),
            noise=chance[i],
            there=(bool(cum[0][i]), bool(cum[1][i])),
        )
        for cell, (i, *rest) in zip(cells, rows, strict=True)
    )


def _figures(
    diff: ProfileDiff,
    sums: tuple[str, int, int],
    name: Cell,
    *,
    noise: bool | None,
    there: tuple[bool, bool],
) -> Row:
    """Return the row of a key and raw values; `there` is as for `ratio_cell`."""
    key, base, new = sums
    cells = (
        *compared(diff, base, new, noise=noise),
        ratio_cell(diff, base, new, there),
        Cell(percent(new, diff.totals[1]), float(new)),
        name,
    )
    return Row(key, "function", cells)


def _in_chain(name: Cell, others: int) -> Cell:
    if not others:
        return name
    more = f"(+{others} in its chain)"
    return replace(name, remark=f"{name.remark}  {more}" if name.remark else more)


def renamed(diff: ProfileDiff) -> Iterator[Table | Sentence]:
    """Yield the functions that were paired although their names differ."""
    table = diff.table("functions")
    rows = tuple(
        Row(name, "renamed", _pair(before, name))
        for name, before in zip(table.names, table.base_names, strict=True)
        if before is not None
    )
    if not rows:
        text = "No functions were paired under two names."
        yield Sentence(text, key="renamed")
        return
    columns = Column("base", "text", "<"), Column("", "text", "<"), name_column("new")
    yield Table("renamed", columns, rows, title="Paired under two names", code=True)


def _pair(before: str, now: str) -> tuple[Cell, Cell, Cell]:
    """Return both names with their paths, which may be all that differs."""
    texts = with_path(before), with_path(now)
    if texts[0] == texts[1]:
        texts = shown(before), shown(now)
    return named_cell(texts[0], before), Cell("→"), named_cell(texts[1], now)
