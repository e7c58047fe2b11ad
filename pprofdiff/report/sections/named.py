"""How rows are named: short and distinct, with the full name as tooltip."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.profiles.tables import STATUSES, Table
from pprofdiff.goruntime.readable import (
    HELD,
    distinct_names,
    path_before,
    short_before,
    with_path,
)
from pprofdiff.report.rows import Cell

# What runtime.sigprof writes if it finds no stack: functions that nothing calls.
_STAND_INS = {
    "runtime._ExternalCode": "no function: non-Go code, generated or C",
    "runtime._GC": "no function: stacks not unwound during GC",
    "runtime._LostExternalCode": "no function: samples lost in non-Go code",
    "runtime._LostSIGPROFDuringAtomic64": "no function: samples lost in atomics",
    "runtime._System": "no function: non-Go code, or stacks not unwound",
    "runtime._VDSO": "no function: kernel code for reading clocks",
}


class _Line(Struct, frozen=True):
    """A row's function, file and line; rows of lines are ``function file:line``."""

    function: str
    file: str
    number: str


def named_cell(text: str, name: str) -> Cell:
    """Return a cell with a text for a name; the whole name is the tooltip."""
    return Cell(text, full="" if text == name else name)


def function_cells(names: Sequence[str]) -> list[Cell]:
    """Return cells that name a table's functions: different ones read differently."""
    return list(map(named_cell, distinct_names(names), names))


def site_of(names: Sequence[str], called: int, owner: int) -> tuple[str, ...]:
    """Return a call site's function, and its caller in the program if it is another."""
    return (names[called],) if owner in (called, -1) else (names[called], names[owner])


def call_site_cells(sites: Sequence[tuple[str, ...]]) -> list[Cell]:
    """Return cells that name call sites: a function, and its caller if given."""
    names = list(dict.fromkeys(name for site in sites for name in site))
    spelled = dict(zip(names, distinct_names(names), strict=True))
    return [
        Cell(
            called_by([spelled[name] for name in site]),
            remark=f"({HELD[site[0]]})" if site[0] in HELD else "",
            full=called_by(site),
        )
        for site in sites
    ]


def called_by(site: Sequence[str]) -> str:
    """Return a function and its caller, if given, as one text."""
    return " ← ".join(site)


def row_cells(table: Table, rows: Sequence[int]) -> list[Cell]:
    """Return cells that name rows of a table: functions, lines, files or packages.

    The remark says that a function is a placeholder, what differs visibly in base's
    name, or what a removed function may be now.
    """
    texts = _texts(table, rows)
    gone = (table.status()[np.array(rows, np.int64)] == STATUSES.index("gone")).tolist()
    cells = []
    for i, shown, alone in zip(rows, texts, gone, strict=True):
        name, before = table.names[i], table.base_names[i]
        several = table.choices.get(name, ()) if alone else ()
        if before is not None:
            cells.append(_renamed(table, i, shown, before))
        elif table.noun == "function" and name in _STAND_INS:
            cells.append(Cell(shown, remark=f"({_STAND_INS[name]})", full=name))
        elif several:
            now = " or ".join(distinct_names(several))
            cells.append(Cell(shown, remark=f"(perhaps {now} now)", full=name))
        else:
            cells.append(named_cell(shown, name))
    return cells


def _renamed(table: Table, row: int, shown: str, before: str) -> Cell:
    """Return the cell of a function that had another name in base."""
    name = table.names[row]
    was = _before(table.noun, before, name)
    verb = "probably was" if table.probable[row] else "was"
    # `sync` and `internal/sync` have the same short name.
    alike = table.noun == "function" and shown.startswith(f"{was}.")
    text = with_path(name) if was and alike else shown
    remark = f"({verb} {was})" if was else ""
    full = f"{name} ({verb} {before})"
    return Cell(text, remark=remark, full=full)


def _texts(table: Table, rows: Sequence[int]) -> list[str]:
    names = [table.names[i] for i in rows]
    if table.noun == "function":
        return distinct_names(names)
    if table.noun != "line":
        return names
    lines = [_line(table.names[i], table.files[i]) for i in rows]
    functions = distinct_names(line.function for line in lines)
    texts = [
        f"{function} {basename(line.file)}:{line.number}" if line.file else function
        for function, line in zip(functions, lines, strict=True)
    ]
    return [
        name if texts.count(text) > 1 else text
        for text, name in zip(texts, names, strict=True)
    ]


def _before(noun: str, before: str, now: str) -> str:
    """Return what differs in base's name, in a few words."""
    if noun == "line":
        return short_before(_line(before).function, _line(now).function)
    return short_before(before, now) if noun == "function" else path_before(before, now)


def _line(name: str, file: str = "") -> _Line:
    """Return a row's function, file and line; Go names have spaces only in brackets."""
    at = name.rfind(f" {file}:") if file else _space(name)
    if at < 0:
        return _Line(name, "", "")
    place, _, number = name[at + 1 :].rpartition(":")
    return _Line(name[:at], place, number)


def _space(name: str) -> int:
    """Return the position of the first space outside brackets, -1 without one."""
    depth = 0
    for at, char in enumerate(name):
        depth += (char in "[{(") - (char in "]})")
        if char == " " and depth <= 0:
            return at
    return -1
