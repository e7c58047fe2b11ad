"""How rows of profiles are named: short and distinct, with the whole name beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import basename
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.profiles.tables import STATUSES, Table
from pprofdiff.goruntime.readable import (
    distinct_names,
    path_before,
    short_before,
    with_path,
)
from pprofdiff.report.rows import Cell

# What runtime.sigprof writes where it finds no stack: functions that nothing calls.
_STAND_INS = {
    "runtime._ExternalCode": "no function: non-Go code, generated or C",
    "runtime._GC": "no function: stacks not unwound during GC",
    "runtime._LostExternalCode": "no function: samples lost in non-Go code",
    "runtime._LostSIGPROFDuringAtomic64": "no function: samples lost in atomics",
    "runtime._System": "no function: non-Go code, or stacks not unwound",
    "runtime._VDSO": "no function: kernel code for reading clocks",
}

__all__ = ["row_cells"]


class _Line(NamedTuple):
    """A row's function, file and line; of rows of lines ``function file:line``."""

    function: str
    file: str
    number: str


def row_cells(
    table: Table, rows: Sequence[int], wholes: Mapping[str, str]
) -> list[Cell]:
    """Return cells that name rows of a table: functions, lines, files or packages.

    Their remark says what stands for no function; what of the base's name is another
    one, where people see that;
    what a function that is gone may be now, where that is one of several; and of which
    function one is a part on one side alone, by the names in `wholes`.
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
        elif name in wholes:
            (whole,) = distinct_names([wholes[name]])
            cells.append(Cell(shown, remark=f"(part of {whole})", full=name))
        elif several:
            now = " or ".join(distinct_names(several))
            cells.append(Cell(shown, remark=f"(perhaps {now} now)", full=name))
        else:
            cells.append(Cell(shown, full="" if name == shown else name))
    return cells


def _renamed(table: Table, row: int, shown: str, before: str) -> Cell:
    """Return the cell of a function that had another name in base."""
    name = table.names[row]
    was = _before(table.noun, before, name)
    verb = "probably was" if table.probable[row] else "was"
    # Of `sync` and `internal/sync` the same is left.
    alike = table.noun == "function" and shown.startswith(f"{was}.")
    text = with_path(name) if was and alike else shown
    remark = f"({verb} {was})" if was else ""
    full = f"{name} ({verb} {before})"
    return Cell(text, remark=remark, full=full)


def _texts(table: Table, rows: Sequence[int]) -> list[str]:
    """Return what rows are called, different words for different rows."""
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
    """Return what is another one in base's name, in few words."""
    if noun == "line":
        return short_before(_line(before).function, _line(now).function)
    return short_before(before, now) if noun == "function" else path_before(before, now)


def _line(name: str, file: str = "") -> _Line:
    """Return the parts of a row's name; the file is looked for where it is not given.

    The names of Go's functions have spaces within brackets only.
    """
    at = name.rfind(f" {file}:") if file else _space(name)
    if at < 0:
        return _Line(name, "", "")
    place, _, number = name[at + 1 :].rpartition(":")
    return _Line(name[:at], place, number)


def _space(name: str) -> int:
    """Return where the first space outside brackets is, -1 without one."""
    depth = 0
    for at, char in enumerate(name):
        depth += (char in "[{(") - (char in "]})")
        if char == " " and depth <= 0:
            return at
    return -1
